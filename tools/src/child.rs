//! Child processes that end: bound to the life of this command, and waited for with a limit.
//!
//! The standard library can do neither; both are plain Linux calls (`prctl(2)`, `pidfd_open(2)`).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Starts `command`; the host kills it when this process dies, however that happens.
///
/// Call it on a thread that lives as long as the child: the host's kernel takes that thread for the parent.
pub fn spawn_bound(command: &mut Command) -> io::Result<Child> {
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are sound: it
    // makes two plain system calls through rustix, allocates nothing and takes no lock.
    unsafe { command.pre_exec(move || die_with(parent)) };
    command.spawn()
}

/// In the child: asks the host's kernel to kill it when its parent dies; fails if that has happened already.
fn die_with(parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

/// Waits at most `limit` for a child to end by itself, then kills it. `None`: it had to be killed.
pub fn wait_within(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let status = wait_for(child, limit)?;
    if status.is_none() {
        kill(child);
    }
    Ok(status)
}

/// As [`wait_within`], but the child is first asked to end, and has `grace` to end its own children. `None`: it was asked.
pub fn wait_or_ask(child: &mut Child, limit: Duration, grace: Duration) -> io::Result<Option<ExitStatus>> {
    let status = wait_for(child, limit)?;
    if status.is_none() {
        // It can only have ended by itself meanwhile, which is what is wanted.
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
        wait_within(child, grace)?;
    }
    Ok(status)
}

/// Waits at most `limit` for a child to end by itself. `None`: it has not.
fn wait_for(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    let process = Pid::from_child(child);
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills a child and collects it. Harmless if it has ended.
pub fn kill(child: &mut Child) {
    // Both fail only if the process is gone already, which is what is wanted.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_ends_gives_its_status_and_one_that_does_not_is_killed() {
        let mut ends = spawn_bound(Command::new("sh").args(["-c", "exit 7"])).unwrap();
        let status = wait_within(&mut ends, Duration::from_secs(20)).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(7));
        let mut stays = spawn_bound(Command::new("sleep").arg("1000")).unwrap();
        assert_eq!(wait_within(&mut stays, Duration::from_millis(20)).unwrap(), None);
        assert!(stays.try_wait().unwrap().is_some());
    }
}
