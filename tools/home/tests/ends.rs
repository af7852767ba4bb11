//! Ends of jobs in the host home: whoever dies, the report says of what, and nothing is left behind.

mod common;

use std::io::Write;

use common::{Node, Said, Spinning, assert_nothing_left, descendants, job, run, runs, signal, wait_for};
use nix::sys::signal::Signal::{SIGINT, SIGKILL, SIGSEGV, SIGSTOP, SIGTERM};

#[test]
fn a_fault_ends_the_job_and_is_reported_after_what_was_printed() {
    let said = run(job("last-dies", 3, &[]));
    assert_eq!(said.status(), 139);
    let report = said.texts('f');
    let core = report[0].1.split(' ').nth(4).unwrap();
    let sentence =
        format!("rank 2 on core {core} died of a write to address 0x8 (the null page): page not mapped");
    assert_eq!(report[0], (2, &sentence[..]));
    assert_eq!(report.len(), 6, "registers");
    assert!(said.texts('b').len() >= 2, "{said:?}");
    assert!(said.texts('b').iter().all(|(rank, text)| *rank == 2 && text.starts_with("0x40")), "{said:?}");
    let before = said.records.iter().position(|r| r.kind == 'o' && r.number == 2).unwrap();
    assert!(before < said.records.iter().position(|r| r.kind == 'f').unwrap());
}

#[test]
fn an_abort_ends_the_job_with_its_status() {
    let said = run(job("last-aborts", 2, &[]));
    assert_eq!(said.status(), 7);
    assert!(said.texts('f')[0].1.ends_with("aborted the job with status 7"), "{said:?}");
}

#[test]
fn an_exit_that_is_not_zero_ends_the_job() {
    let said = run(job("last-exits", 2, &[]));
    assert_eq!(said.status(), 9);
    assert!(said.texts('f')[0].1.ends_with("exited with status 9"), "{said:?}");
}

/// The first failure is the job's: it is reported, and the status is its own, however many ranks fail at the same time. Run often, since it is a
/// matter of who is interrupted where.
#[test]
fn when_all_fail_at_once_the_status_is_that_of_the_failure_that_is_reported() {
    for _ in 0..40 {
        let said = run(job("all-fail", 12, &["mem=4194304"]));
        let reports: Vec<&str> =
            said.texts('f').iter().map(|(_, text)| *text).filter(|text| text.starts_with("rank ")).collect();
        let [report] = reports[..] else { panic!("{reports:?} in {said:?}") };
        let ways =
            [("(the null page)", 139), ("aborted the job with status 7", 7), ("exited with status 9", 9)];
        let told = ways.iter().find(|(words, _)| report.contains(words)).map(|(_, status)| *status);
        assert_eq!(told, Some(said.status()), "{said:?}");
    }
}

#[test]
fn a_rank_killed_from_outside_is_reported() {
    for (by, name) in
        [(SIGKILL, "signal 9 (SIGKILL)"), (SIGTERM, "signal 15 (SIGTERM)"), (SIGSEGV, "signal 11 (SIGSEGV)")]
    {
        let mut job = Spinning::start(2);
        signal(job.ranks[1], by);
        let said = job.said();
        assert_eq!(said.status(), 128 + by as u32);
        assert!(said.texts('f')[0].1.starts_with("rank 1 on core "), "{said:?}");
        assert!(said.texts('f')[0].1.ends_with(&format!("{name}, sent from outside")), "{said:?}");
        assert_nothing_left(&job.processes());
    }
}

#[test]
fn nothing_is_left_of_a_killed_host_tool() {
    for by in [SIGKILL, SIGINT] {
        let mut job = Spinning::start(3);
        signal(job.home.id(), by);
        job.wait();
        assert_nothing_left(&job.processes());
    }
}

#[test]
fn nothing_is_left_of_a_killed_node() {
    let mut job = Spinning::start(3);
    signal(job.node, SIGKILL);
    let said = job.said();
    assert!(said.texts('x').is_empty(), "a dead node cannot tell the job's end: {said:?}");
    assert_nothing_left(&job.processes());
}

#[test]
fn nothing_is_left_when_tool_and_node_are_killed_together() {
    let mut job = Spinning::start(2);
    // Stopped, the node cannot clean up: its ranks must go by themselves.
    signal(job.node, SIGSTOP);
    signal(job.home.id(), SIGKILL);
    job.wait();
    signal(job.node, SIGKILL);
    assert_nothing_left(&job.processes());
}

#[test]
fn an_ended_job_leaves_no_process() {
    let home = job("peers", 2, &[]).spawn().unwrap();
    let process = home.id();
    assert_eq!(Said::of(&home.wait_with_output().unwrap()).status(), 0);
    assert_eq!(descendants(process), []);
}

/// Another node's failure ends the job, while this node has not yet read what its rank has written.
#[test]
fn what_a_rank_had_written_is_said_when_the_job_is_ended_from_elsewhere() {
    let mut node = Node::start("told");
    assert_eq!(node.next(), "\x1eo0\x1fbefore\n");
    let ranks = descendants(node.process.id());
    let [rank] = ranks[..] else { panic!("one rank is expected, not {ranks:?}") };
    signal(node.process.id(), SIGSTOP);
    wait_for("the stop of the node", || is_stopped(node.process.id()));
    node.input.write_all(b"!").unwrap();
    wait_for("the end of the rank", || !runs(rank));
    // A node that sees the end of its rank first says the job's end, too.
    let said = node.release();
    assert!(said.starts_with("\x1eo0\x1fafter\n"), "{said:?}");
}

fn is_stopped(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}
