//! What the Linux guest is made of: Debian's cloud kernel, busybox and MPICH with all they need, as packages unpacked in a folder.
//!
//! `apt-get` resolves and downloads (and checks signatures) as for an empty system, so nothing is installed on this machine and no
//! rights are needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Doing, Failure, Outcome};
use crate::packages;
use crate::progress::Step;
use crate::tree::Tree;

/// What is asked for; the rest follows.
const PACKAGES: [&str; 5] = ["linux-image-cloud-amd64", "busybox-static", "mpich", "libmpich-dev", "libc6"];
/// Written when everything is unpacked; what it says is what is there.
const COMPLETE: &str = "complete";

/// An unpacked system.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// Downloads and unpacks what is not there yet.
    pub fn fetch(tree: &Tree, verbose: bool) -> Outcome<Self> {
        let folder = tree.root().join("target/lwk/linux-guest");
        let (root, mark, wanted) = (folder.join("root"), folder.join(COMPLETE), PACKAGES.join(" "));
        if fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
            return Ok(Self { root });
        }
        for command in ["apt-get", "dpkg-deb"] {
            if packages::find_command(command).is_none() {
                return Err(Failure::host(format!(
                    "the Linux guest is made of Debian packages, and there is no {command} here; run this on Debian or Ubuntu"
                )));
            }
        }
        let archives = folder.join("archives");
        make_empty(&root)?;
        make_empty(&archives.join("partial"))?;
        download(&folder, &archives, verbose)?;
        unpack(&archives, &root, verbose)?;
        remove(&archives)?;
        fs::write(&mark, wanted).doing(|| format!("write {}", mark.display()))?;
        Ok(Self { root })
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The kernel's file.
    pub fn kernel(&self) -> Outcome<PathBuf> {
        let boot = self.root.join("boot");
        let what = || format!("list {}", boot.display());
        let files: Vec<PathBuf> = fs::read_dir(&boot)
            .doing(what)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .doing(what)?;
        let kernel = |file: &&PathBuf| {
            file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("vmlinuz-"))
        };
        files.iter().find(kernel).cloned().ok_or_else(|| {
            Failure::host(format!("{} has no kernel; remove it and try again", boot.display()))
        })
    }

    /// Folders of shared libraries, the dynamic linker's order.
    pub fn libraries(&self) -> Vec<PathBuf> {
        ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/slurm-wlm", "lib64"]
            .iter()
            .map(|folder| self.root.join(folder))
            .collect()
    }
}

fn download(folder: &Path, archives: &Path, verbose: bool) -> Outcome<()> {
    let _step = Step::begin("downloading the packages of the Linux guest", verbose);
    let status = folder.join("no-packages");
    fs::write(&status, "").doing(|| format!("write {}", status.display()))?;
    let option = |name: &str, value: &dyn std::fmt::Display| format!("{name}={value}");
    let mut command = Command::new("apt-get");
    command.args(["-q", "--yes", "--no-install-recommends", "--download-only"]);
    for option in [
        option("Dir::State::status", &status.display()),
        option("Dir::Cache::archives", &archives.display()),
        // The downloads are this user's own, in a folder of this tree.
        option("APT::Sandbox::User", &""),
        option("Debug::NoLocking", &1),
    ] {
        command.args(["-o", &option]);
    }
    let output = command.arg("install").args(PACKAGES).stdin(Stdio::null()).output();
    let output = output.doing(|| "run apt-get".into())?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().find(|line| line.starts_with("E:")).unwrap_or("E: no reason given");
    Err(Failure::host(format!(
        "apt-get cannot download the Linux guest's packages ({}); if the package lists are old, run: sudo apt-get update",
        why.trim_start_matches("E: ")
    )))
}

fn unpack(archives: &Path, root: &Path, verbose: bool) -> Outcome<()> {
    let _step = Step::begin("unpacking the packages of the Linux guest", verbose);
    let what = || format!("list {}", archives.display());
    for entry in fs::read_dir(archives).doing(what)? {
        let file = entry.doing(what)?.path();
        if file.extension().is_none_or(|extension| extension != "deb") {
            continue;
        }
        let status = Command::new("dpkg-deb").arg("-x").arg(&file).arg(root).stdin(Stdio::null()).status();
        if !status.doing(|| "run dpkg-deb".into())?.success() {
            return Err(Failure::host(format!("dpkg-deb cannot unpack {}", file.display())));
        }
    }
    Ok(())
}

fn make_empty(folder: &Path) -> Outcome<()> {
    remove(folder)?;
    fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))
}

fn remove(folder: &Path) -> Outcome<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
