//! Jobs that the host home refuses: one line that says what to do, a status, no rank started.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::{job, probe, run};
use nix::sys::resource::{Resource, setrlimit};

fn refusal(command: Command, status: u32, words: &[&str]) {
    let said = run(command);
    assert_eq!(said.status(), status, "{said:?}");
    let errors = said.texts('k');
    assert_eq!(errors.len(), 1, "{said:?}");
    assert_eq!(errors[0].0, 1, "not an error");
    for word in words {
        assert!(errors[0].1.contains(word), "{word:?} is not in {:?}", errors[0].1);
    }
    assert!(said.texts('o').is_empty());
}

#[test]
fn fewer_cores_than_ranks() {
    refusal(
        job("peers", 3, &["cores=2", "oversubscribe=0"]),
        2,
        &["3 ranks need 3 cores", "--oversubscribe"],
    );
}

#[test]
fn segments_of_no_possible_size() {
    refusal(job("peers", 2, &["mem=70368744177664"]), 2, &["memory"]);
    refusal(job("peers", 1, &["mem=4096"]), 2, &["too small", "MiB"]);
}

/// A job in a process with a limit.
fn limited(resource: Resource, limit: u64) -> Command {
    let mut command = job("peers", 2, &["mem=67108864"]);
    // SAFETY: setrlimit is a plain system call, fit for a forked process.
    unsafe { command.pre_exec(move || setrlimit(resource, limit, limit).map_err(Into::into)) };
    command
}

#[test]
fn limits_on_shared_memory() {
    refusal(limited(Resource::RLIMIT_AS, 128 << 20), 2, &["2 segments of 64 MiB", "ulimit -v"]);
    refusal(limited(Resource::RLIMIT_FSIZE, 1 << 20), 2, &["2 segments of 64 MiB", "ulimit -f"]);
    refusal(limited(Resource::RLIMIT_NOFILE, 20), 2, &["ulimit -n"]);
}

/// Has Linux answer `prctl(PR_SET_SYSCALL_USER_DISPATCH)` as one that does not know it, by a seccomp filter.
fn without_dispatch(command: &mut Command) {
    const PRCTL: u32 = libc::SYS_prctl as u32;
    const SET_DISPATCH: u32 = 59;
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let unless_equal = |k: u32, skip: u8| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: skip,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let answer = libc::BPF_RET | libc::BPF_K;
    let filter = [
        // The number, and the low half of the first argument, of struct seccomp_data.
        statement(load, 0),
        unless_equal(PRCTL, 3),
        statement(load, 16),
        unless_equal(SET_DISPATCH, 1),
        statement(answer, libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        statement(answer, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
        // SAFETY: plain system calls on a filter that outlives them.
        let results = unsafe {
            [
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            ]
        };
        if results == [0, 0] { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: the closure only makes system calls, fit for a forked process.
    unsafe { command.pre_exec(install) };
}

#[test]
fn a_linux_without_syscall_user_dispatch() {
    let mut command = job("peers", 1, &[]);
    without_dispatch(&mut command);
    refusal(command, lwk_home::HOST_LACKS as u32, &["syscall user dispatch", "Linux 5.11", "without --host"]);
}

#[test]
fn what_is_not_a_static_program() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let good = fs::read(probe()).unwrap();
    let no_program = folder.join("no-program");
    fs::write(&no_program, "#!/bin/sh\n").unwrap();
    let truncated = folder.join("truncated");
    fs::write(&truncated, &good[..5000]).unwrap();
    let dynamic = Path::new(env!("CARGO_BIN_EXE_lwk-home")).to_path_buf();
    for (program, word) in [
        (no_program, "not an ELF file"),
        (truncated, "truncated"),
        (dynamic, "-static"),
        (folder.join("missing"), "cannot read the program"),
        (folder.to_path_buf(), "cannot read the program"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lwk-home"));
        command.arg(&program).args(["ranks=1", "mem=16777216", "arg=x"]);
        let name = program.display().to_string();
        refusal(command, 2, &[word, &name]);
    }
}

#[test]
fn job_files_that_are_none() {
    for records in [&["ranks=0"][..], &["ranks=256"], &["ranks=1"], &["nonsense"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lwk-home"));
        command.arg(probe()).args(records);
        refusal(command, 2, &["job file"]);
    }
}

#[test]
fn arguments_longer_than_the_stack() {
    let long = format!("arg={}", "x".repeat(100_000));
    let mut command = job("peers", 1, &["mem=4194304"]);
    command.args(std::iter::repeat_n(long, 10));
    refusal(command, 2, &["arguments and environment", "--mem"]);
}

#[test]
fn wrong_use_of_the_command() {
    let output = Command::new(env!("CARGO_BIN_EXE_lwk-home")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("usage: "));
}
