//! Debian packages unpacked in a folder under `target/`: nothing is installed on this machine, and no rights are needed.
//!
//! `apt-get` resolves and downloads (and checks signatures). A process that needs the same folder waits for the one that fills it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Doing, Failure, Outcome};
use crate::packages::{self, Refusal};
use crate::progress::Step;

/// Written when everything is unpacked; what it says is what is there.
const COMPLETE: &str = "complete";

/// Debian packages to unpack, with all that they need.
#[derive(Clone, Copy, Debug)]
pub struct Packages<'a> {
    /// What they are, for messages: "the Linux guest".
    pub what: &'a str,
    /// What is asked for; the rest follows.
    pub names: &'a [&'a str],
    /// Take what is installed on this machine for granted, instead of unpacking all that the packages need.
    pub on_this_system: bool,
    /// Take the later versions that Debian makes for a release (its backports), which this machine need not have in its lists.
    pub backports: bool,
}

impl Packages<'_> {
    /// Downloads and unpacks, below `folder`, what is not there yet. Returns the root folder.
    ///
    /// # Errors
    /// This is no Debian system, the packages cannot be had, or the folder cannot be written to.
    pub fn fetch(&self, folder: &Path, verbose: bool) -> Outcome<PathBuf> {
        let (root, mark) = (Self::root(folder), folder.join(COMPLETE));
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
        let lock = folder.join("lock");
        let what = || format!("lock {}", lock.display());
        let held = File::create(&lock).doing(what)?;
        held.lock().doing(what)?;
        if self.there(folder) {
            return Ok(root);
        }
        for command in ["apt-get", "dpkg-deb"] {
            if packages::find_command(command).is_none() {
                return Err(Failure::host(format!(
                    "Debian packages are needed for {}, and there is no {command} here; run this on Debian or Ubuntu",
                    self.what
                )));
            }
        }
        let archives = folder.join("archives");
        make_empty(&root)?;
        make_empty(&archives.join("partial"))?;
        self.download(folder, &archives, verbose)?;
        self.unpack(&archives, &root, verbose)?;
        remove(&archives)?;
        fs::write(&mark, self.names.join(" ")).doing(|| format!("write {}", mark.display()))?;
        Ok(root)
    }

    /// Whether all of these packages are unpacked below `folder`.
    pub fn there(&self, folder: &Path) -> bool {
        fs::read_to_string(folder.join(COMPLETE)).is_ok_and(|there| there == self.names.join(" "))
    }

    /// The root folder of what is unpacked below `folder`.
    pub fn root(folder: &Path) -> PathBuf {
        folder.join("root")
    }

    fn download(&self, folder: &Path, archives: &Path, verbose: bool) -> Outcome<()> {
        let _step = Step::begin(format!("downloading the packages of {}", self.what), verbose);
        let option = |name: &str, value: &dyn std::fmt::Display| format!("{name}={value}");
        let mut options = vec![
            option("Dir::Cache::archives", &archives.display()),
            // The downloads are this user's own, in a folder of this tree.
            option("APT::Sandbox::User", &""),
            option("Debug::NoLocking", &1),
        ];
        if self.backports {
            options.extend(read_backports(folder, verbose)?);
        }
        if !self.on_this_system {
            let status = folder.join("no-packages");
            fs::write(&status, "").doing(|| format!("write {}", status.display()))?;
            options.push(option("Dir::State::status", &status.display()));
        }
        let mut command = Command::new("apt-get");
        command.args(["-q", "--yes", "--no-install-recommends", "--download-only"]).args(packages::SETTINGS);
        for option in options {
            command.args(["-o", &option]);
        }
        command.arg("install").args(self.names).stdin(Stdio::null());
        let attempt = || {
            let why = match command.output() {
                Ok(output) if output.status.success() => return Ok(()),
                Ok(output) => packages::reason(&String::from_utf8_lossy(&output.stderr)),
                Err(error) => error.to_string(),
            };
            Err(Refusal { update: None, install: why })
        };
        packages::try_again(attempt, verbose).map_err(|refusal| {
            Failure::host(format!(
                "apt-get cannot download the packages of {} ({}); if the package lists are old, run: sudo apt-get update",
                self.what, refusal.install
            ))
        })
    }

    fn unpack(&self, archives: &Path, root: &Path, verbose: bool) -> Outcome<()> {
        let _step = Step::begin(format!("unpacking the packages of {}", self.what), verbose);
        let what = || format!("list {}", archives.display());
        for entry in fs::read_dir(archives).doing(what)? {
            let file = entry.doing(what)?.path();
            if file.extension().is_none_or(|extension| extension != "deb") {
                continue;
            }
            let status =
                Command::new("dpkg-deb").arg("-x").arg(&file).arg(root).stdin(Stdio::null()).status();
            if !status.doing(|| "run dpkg-deb".into())?.success() {
                return Err(Failure::host(format!("dpkg-deb cannot unpack {}", file.display())));
            }
        }
        Ok(())
    }
}

/// Reads the lists of Debian's backports for this machine's release, into `folder`. The options by which apt-get takes these and no others.
///
/// Errors: this machine's lists name no release of Debian's, or the backports cannot be read.
fn read_backports(folder: &Path, verbose: bool) -> Outcome<Vec<String>> {
    let _step = Step::begin("reading the lists of Debian's backports", verbose);
    let (address, release) = release()?;
    let (sources, lists) = (folder.join("sources.list"), folder.join("lists"));
    make_empty(&lists.join("partial"))?;
    let entry = |suite: &str| format!("deb {}{address} {suite} main\n", signed());
    let text = entry(&release) + &entry(&format!("{release}-backports"));
    fs::write(&sources, text).doing(|| format!("write {}", sources.display()))?;
    let options = vec![
        format!("Dir::Etc::sourcelist={}", sources.display()),
        "Dir::Etc::sourceparts=-".into(),
        format!("Dir::State::lists={}", lists.display()),
        // Only of these lists, and this user's own.
        "Dir::Cache::pkgcache=".into(),
        "Dir::Cache::srcpkgcache=".into(),
        "APT::Sandbox::User=".into(),
        format!("APT::Default-Release={release}-backports"),
    ];
    let attempt = || {
        let mut command = Command::new("apt-get");
        command.arg("-q").args(packages::SETTINGS);
        for option in &options {
            command.args(["-o", option]);
        }
        let why = match command.arg("update").stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => packages::reason(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => error.to_string(),
        };
        Err(Refusal { update: None, install: why })
    };
    packages::try_again(attempt, verbose).map_err(|refusal| {
        Failure::host(format!("apt-get cannot read the lists of {release}-backports ({})", refusal.install))
    })?;
    Ok(options)
}

/// Names Debian's keys, where they are not apt's for every archive.
fn signed() -> String {
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    if Path::new(KEYS).is_file() { format!("[signed-by={KEYS}] ") } else { String::new() }
}

/// The address of the archive that this machine gets Debian's packages from, and the name of the release.
fn release() -> Outcome<(String, String)> {
    const FORMAT: [&str; 5] =
        ["--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages", "Origin: Debian", "Component: main"];
    let output = Command::new("apt-get").arg("indextargets").args(FORMAT).stdin(Stdio::null()).output();
    let output = output.doing(|| "run apt-get".into())?;
    main_archive(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| Failure::host("apt's lists on this machine name no release of Debian's"))
}

/// The first archive whose release is no part of one: `bookworm`, not `bookworm-security`.
fn main_archive(targets: &str) -> Option<(String, String)> {
    let archives = targets.lines().filter_map(|line| line.split_once(' '));
    let mut whole = archives.filter(|(_, release)| !release.is_empty() && !release.contains(['-', ' ']));
    whole.next().map(|(address, release)| (address.to_owned(), release.to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_that_of_the_main_archive() {
        let targets = "http://a/debian-security/ trixie-security\nhttp://a/debian/ trixie\nhttp://a/debian/ trixie-updates\n";
        assert_eq!(main_archive(targets), Some(("http://a/debian/".into(), "trixie".into())));
        assert_eq!(main_archive("http://a/debian/ trixie-updates\n\n"), None);
    }
}
