//! Debian packages that the host lacks: installed when the user may, named when not.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::failure::{Failure, Outcome};
use crate::progress::Step;

/// Waits for another package manager at most this many seconds, tries a download this many times again, and says so if one has failed.
pub const SETTINGS: [&str; 6] =
    ["-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=5", "-o", "APT::Update::Error-Mode=any"];
/// What passes, by apt's words: another package manager has a lock that apt does not wait for (those of the lists and of the downloads), or a
/// mirror does not answer now.
const PASSING: [&str; 8] = [
    "Could not get lock",
    "Unable to lock",
    "Unable to acquire",
    "Failed to fetch",
    "Unable to fetch",
    "failed to download",
    "Could not resolve",
    "Hash Sum mismatch",
];
/// What a list says that has not been read for such a reason.
const UNKNOWN: [&str; 2] = ["Unable to locate package", "has no installation candidate"];
/// How long to wait before each further try, in seconds.
const PAUSES: [u64; 6] = [2, 5, 10, 20, 40, 80];

/// The first file `name` in `PATH` or in the administrator's folders, which a user's `PATH` may lack.
pub fn find_command(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The first file `name` in the folders of `PATH` that may be executed.
pub fn find_in_path(name: &OsStr) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let may_run = |file: &PathBuf| {
        file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(may_run)
}

/// Valgrind's command; installs it where it is missing. Errors: it cannot be installed.
pub fn find_valgrind(verbose: bool) -> Outcome<PathBuf> {
    const NAME: &str = "valgrind";
    if let Some(command) = find_command(NAME) {
        return Ok(command);
    }
    install(&[NAME], verbose)?;
    find_command(NAME)
        .ok_or_else(|| Failure::host(format!("{NAME} is installed, but not in PATH; add its folder to PATH")))
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
    let mut arguments = vec!["install", "--yes", "--no-install-recommends", "--no-remove"];
    arguments.extend(packages);
    let attempt = || {
        // Always: lists that are there can be older than what the mirrors have, and offer a compiler that is too old.
        let updated = rights.apt_get(&["update"], "reading Debian's package lists", verbose);
        let step = "downloading and installing packages";
        // One mirror of many that cannot be reached makes the update fail, and what is there may do: what the installation says counts.
        let installed = rights.apt_get(&arguments, step, verbose);
        installed.map_err(|install| Refusal { update: updated.err(), install })
    };
    try_again(attempt, verbose).map_err(|Refusal { update, install }| {
        by_hand(&update.into_iter().chain([install]).collect::<Vec<_>>().join("; "))
    })
}

/// Why packages are not installed: what the update has said, if it has failed as well, and what the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// None if the update went well, or none was made.
    pub update: Option<String>,
    pub install: String,
}

impl Refusal {
    /// Whether it may be over in a while.
    fn passes(&self) -> bool {
        let has = |text: &str, words: &[&str]| words.iter().any(|words| text.contains(words));
        let unread = self.update.as_ref().is_some_and(|update| has(update, &PASSING));
        has(&self.install, &PASSING) || unread && has(&self.install, &UNKNOWN)
    }
}

/// Tries something with apt-get again as long as it fails for a reason that passes.
///
/// # Errors
/// The last one's.
pub fn try_again(attempt: impl FnMut() -> Result<(), Refusal>, verbose: bool) -> Result<(), Refusal> {
    persistently(attempt, |seconds| {
        let _step = Step::begin("waiting before apt-get is tried again", verbose);
        std::thread::sleep(Duration::from_secs(seconds));
    })
}

/// Tries until it succeeds, fails for a reason that does not pass, or has failed too often; waits before each further try.
fn persistently(
    mut attempt: impl FnMut() -> Result<(), Refusal>,
    mut wait: impl FnMut(u64),
) -> Result<(), Refusal> {
    for pause in PAUSES {
        match attempt() {
            Err(why) if why.passes() => wait(pause),
            ended => return ended,
        }
    }
    attempt()
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

    fn apt_get(&self, arguments: &[&str], step: &str, verbose: bool) -> Result<(), String> {
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
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot run apt-get: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(format!("apt-get {} fails ({})", arguments[0], reason(&text)))
    }
}

/// Why apt has failed, by what it has said: its first error, and its last if that is another.
pub fn reason(text: &str) -> String {
    let mut errors = text.lines().filter_map(|line| line.strip_prefix("E: "));
    let first = errors.next().unwrap_or("no reason given");
    errors.next_back().map_or(first.into(), |last| format!("{first}; {last}"))
}

/// Whether `file` is a file or a link that leads to one.
pub fn is_file(file: impl AsRef<Path>) -> bool {
    file.as_ref().is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKED: &str = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)\n\
                          E: Unable to lock directory /var/lib/apt/lists/\n";
    const UNAVAILABLE: &str = "W: odd\nE: Failed to fetch x.deb  503  Service Unavailable\n\
                               E: Unable to fetch some archives, maybe run apt-get update?\n";
    const CONFLICT: &str = "E: Packages need to be removed but remove is disabled.\n";
    const NO_PACKAGE: &str = "E: Unable to locate package x\n";

    /// How it ends if update and installation fail with these texts, one after the other, and then succeed; and how often it was tried.
    fn ended(texts: &[(&str, &str)]) -> (Result<(), String>, usize) {
        let (mut tries, mut waited) = (0, Vec::new());
        let attempt = || {
            tries += 1;
            let Some((update, install)) = texts.get(tries - 1) else { return Ok(()) };
            let update = (!update.is_empty()).then(|| reason(update));
            Err(Refusal { update, install: reason(install) })
        };
        let result = persistently(attempt, |seconds| waited.push(seconds));
        assert_eq!(waited, PAUSES[..tries - 1]);
        (result.map_err(|refusal| refusal.install), tries)
    }

    #[test]
    fn what_passes_is_waited_for_and_what_does_not_is_told_at_once() {
        assert_eq!(ended(&[]), (Ok(()), 1));
        assert_eq!(ended(&[("", LOCKED), ("", UNAVAILABLE), (LOCKED, LOCKED)]), (Ok(()), 4));
        assert_eq!(ended(&[(LOCKED, NO_PACKAGE), (UNAVAILABLE, NO_PACKAGE)]), (Ok(()), 3));
        for (update, install) in [("", CONFLICT), (UNAVAILABLE, CONFLICT), ("", NO_PACKAGE)] {
            assert_eq!(ended(&[("", LOCKED), (update, install)]), (Err(reason(install)), 2));
        }
        let (result, tries) = ended(&[("", LOCKED); 20]);
        assert_eq!((result, tries), (Err(reason(LOCKED)), PAUSES.len() + 1));
    }

    #[test]
    fn reasons_are_the_first_error_and_the_last() {
        assert_eq!(reason(""), "no reason given");
        assert_eq!(reason("E: a\n"), "a");
        assert_eq!(reason("W: x\nE: a\nE: b\nE: c\n"), "a; c");
    }
}
