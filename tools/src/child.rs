//! Child processes that end: bound to the life of this command, and waited for with a limit.
//!
//! The standard library can do neither; both are plain Linux calls (`prctl(2)`, `pidfd_open(2)`).

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// Starts `command`; the host kills it when this process dies, however that happens (prctl(2), `PR_SET_PDEATHSIG`).
///
/// Call it on a thread that lives as long as the child: the host's kernel takes that thread for the parent.
pub fn spawn_bound(command: &mut Command) -> io::Result<Child> {
    let parent = rustix::process::getpid();
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are sound: it
    // makes two plain system calls through rustix, allocates nothing and takes no lock. What it captures is a number.
    unsafe { command.pre_exec(move || die_with(parent)) };
    command.spawn()
}

/// Starts `command` in a session of its own, which no terminal and no signal to this process's group reaches.
pub fn spawn_apart(command: &mut Command) -> io::Result<Child> {
    // SAFETY: the closure runs in the child between fork and exec, where only async-signal-safe calls are sound: it makes one plain system
    // call through rustix, allocates nothing and takes no lock.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from)) };
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

/// Waits at most `limit` for a child that leads a process group of its own ([`CommandExt::process_group`]). One that does not end is asked
/// to, and has `grace` for it. Whatever is left of the group then is killed. `None`: it did not end by itself.
pub fn wait_for_group(child: &mut Child, limit: Duration, grace: Duration) -> io::Result<Option<ExitStatus>> {
    let group = Pid::from_child(child);
    let ended = ends_within(child, limit)?;
    // These fail only if nothing is left of the group, which is what is wanted. Until the child is collected, nothing else has its number.
    if !ended {
        let _ = kill_process_group(group, Signal::TERM);
        ends_within(child, grace)?;
    }
    let _ = kill_process_group(group, Signal::KILL);
    let status = child.wait()?;
    Ok(ended.then_some(status))
}

/// Waits at most `limit` for a child to end by itself. `None`: it has not.
fn wait_for(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    if ends_within(child, limit)? { child.wait().map(Some) } else { Ok(None) }
}

/// Whether a child ends within `limit`; it is neither killed nor collected.
pub fn ends_within(child: &Child, limit: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills a child by `SIGKILL` and collects it. Harmless if it has ended.
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
        let status = wait_within(&mut ends, Duration::from_secs(300)).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(7));
        let mut stays = spawn_bound(Command::new("sleep").arg("1000")).unwrap();
        assert_eq!(wait_within(&mut stays, Duration::from_millis(20)).unwrap(), None);
        assert!(stays.try_wait().unwrap().is_some());
    }

    #[test]
    fn nothing_of_a_group_outlives_its_leader() {
        for (last, limit) in [("exit 3", 300_000), ("sleep 1000", 100)] {
            let script = format!("sleep 1000 & echo $!; exec >&-; {last}");
            let mut command = Command::new("sh");
            command.args(["-c", &script]).process_group(0).stdout(std::process::Stdio::piped());
            let mut leader = spawn_bound(&mut command).unwrap();
            let mut line = String::new();
            io::BufRead::read_line(&mut io::BufReader::new(leader.stdout.take().unwrap()), &mut line)
                .unwrap();
            let other = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
            let handle = pidfd_open(other, PidfdFlags::empty()).unwrap();
            let second = Duration::from_secs(1);
            let status = wait_for_group(&mut leader, Duration::from_millis(limit), second).unwrap();
            assert_eq!(status.and_then(|status| status.code()), (last == "exit 3").then_some(3));
            let soon = Timespec { tv_sec: 300, tv_nsec: 0 };
            assert_eq!(poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&soon)).unwrap(), 1);
        }
    }
}
