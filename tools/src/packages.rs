//! Debian packages that the host lacks: installed when the user may, named when not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Doing, Failure, Outcome};
use crate::progress::Step;

/// Waits for another package manager at most this many seconds, and tries a download this many times again.
pub const SETTINGS: [&str; 4] = ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=5"];

/// The first file `name` in `PATH` or in the administrator's folders, which a user's `PATH` may lack.
pub fn find_command(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Installs `packages`, saying so. Without the right to, the failure names the one command to run.
///
/// Nothing is ever removed for it: where a package conflicts with an installed one, the user decides.
pub fn install(packages: &[&str], verbose: bool) -> Outcome<()> {
    let names = packages.join(" ");
    let by_hand =
        |why: &str| Failure::host(format!("{why}; run: sudo apt-get update && sudo apt-get install {names}"));
    if find_command("apt-get").is_none() {
        return Err(Failure::host(format!(
            "this is not a Debian system; install what Debian calls {names} and try again"
        )));
    }
    let Some(rights) = Rights::find() else {
        return Err(by_hand("some packages are missing and installing them needs root"));
    };
    tell!("lwk: installing Debian packages: {names}");
    // Always: lists that are there can be older than what the mirrors have, and offer a compiler that is too old.
    let updated = rights.apt_get(&["update"], "reading Debian's package lists", verbose);
    let mut arguments = vec!["install", "--yes", "--no-install-recommends", "--no-remove"];
    arguments.extend(packages);
    let step = "downloading and installing packages";
    // One mirror of many that cannot be reached makes the update fail, and what is there may do: what the installation says counts.
    rights.apt_get(&arguments, step, verbose).map_err(|error| {
        let before = updated.err().map(|update| update.message + "; ").unwrap_or_default();
        by_hand(&(before + &error.message))
    })
}

/// How this user becomes root.
enum Rights {
    Root,
    Sudo,
}

impl Rights {
    fn find() -> Option<Self> {
        if rustix::process::geteuid().is_root() {
            return Some(Self::Root);
        }
        find_command("sudo")?;
        let mut command = Command::new("sudo");
        command.args(["-n", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success()).then_some(Self::Sudo)
    }

    fn apt_get(&self, arguments: &[&str], step: &str, verbose: bool) -> Outcome<()> {
        let _step = Step::begin(step, verbose);
        let mut command = match self {
            Self::Root => Command::new("env"),
            Self::Sudo => {
                let mut sudo = Command::new("sudo");
                sudo.args(["-n", "env"]);
                sudo
            }
        };
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]).args(SETTINGS).args(arguments);
        let output = command.stdin(Stdio::null()).output().doing(|| "run apt-get".into())?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let why = text.lines().rev().find(|line| line.starts_with("E:")).unwrap_or("E: no reason given");
        Err(Failure::host(format!("apt-get {} fails ({})", arguments[0], why.trim_start_matches("E: "))))
    }
}

/// Whether `file` is there and not a dangling link.
pub fn is_file(file: impl AsRef<Path>) -> bool {
    file.as_ref().is_file()
}
