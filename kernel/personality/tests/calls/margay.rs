//! Margay's own calls, and what becomes of the rank.

use lwk_abi::syscall::errno::{EFAULT, EINVAL, ENOSYS};
use lwk_abi::syscall::{
    CORE_COUNTERS, CoreCounters, JOB_ABORT, JOB_END, JOB_HALT, JOB_HOLD, JOB_LEAVE, JOB_WAITS, REPORT, linux,
    portals,
};
use lwk_failure::{End, LostNode, Reason};
use lwk_personality::{Ending, Outcome};

use crate::home::{NOWHERE, Program, error};

#[test]
fn a_rank_exits_or_ends_its_job() {
    let mut program = Program::new();
    assert_eq!(program.once(linux::EXIT, &[0x100]), Outcome::End(Ending::Rank));
    assert_eq!(program.once(linux::EXIT_GROUP, &[3]), Outcome::End(Ending::Failure(End::by_exit(3))));
    assert_eq!(program.once(JOB_END, &[0]), Outcome::End(Ending::Job));
    assert_eq!(program.once(JOB_END, &[7]), Outcome::End(Ending::Failure(End::by_request(7))));
    for (asked, got) in [(0, 1), (5, 5)] {
        let Outcome::End(Ending::Failure(end)) = program.once(JOB_ABORT, &[asked]) else { panic!("it ends") };
        assert_eq!((end.status, end.reason, end.traced), (got, Reason::Abort(got), true));
    }
    assert_eq!(program.once(linux::SCHED_YIELD, &[]), Outcome::Yield);
    assert_eq!(program.once(JOB_HALT, &[]), Outcome::Halt);
}

#[test]
fn who_is_counted_on_does_not_just_exit() {
    let mut program = Program::new();
    assert_eq!(program.call(JOB_HOLD, &[1]), Ok(0));
    assert_eq!(program.once(linux::EXIT, &[0]), Outcome::End(Ending::Failure(End::by_desertion())));
    let word = program.put(&[0; 8]);
    assert_eq!(program.call(JOB_LEAVE, &[word + 4]), error(EINVAL));
    assert_eq!(program.call(JOB_LEAVE, &[NOWHERE & !7]), error(EFAULT));
    assert_eq!(program.call(JOB_LEAVE, &[word]), Ok(0));
    assert_eq!(program.get(word, 8), [0; 8]);
    assert_eq!(program.once(linux::EXIT, &[0]), Outcome::End(Ending::Rank));
    assert_eq!(program.get(word, 8), [1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn who_waits_for_a_node_that_is_lost_ends_the_job() {
    let mut program = Program::new();
    assert_eq!(program.call(JOB_WAITS, &[]), Ok(0));
    let lost = LostNode { node: 3, silent_us: 8_600_000, restarted: false };
    program.node.lost.set(Some(lost));
    let Outcome::End(Ending::Failure(end)) = program.once(JOB_WAITS, &[]) else { panic!("it ends") };
    assert_eq!((end.status, end.reason, end.traced), (70, Reason::LostNode(lost), false));
}

#[test]
fn reports_are_short_lines() {
    let mut program = Program::new();
    let text = program.put(b"transport name=smartmap");
    assert_eq!(program.call(REPORT, &[text, 23]), Ok(0));
    assert_eq!(program.call(REPORT, &[text, 0]), Ok(0));
    assert_eq!(program.call(REPORT, &[text, 24]), error(EINVAL), "a NUL");
    assert_eq!(program.call(REPORT, &[text, 257]), error(EINVAL));
    assert_eq!(program.call(REPORT, &[text, u64::MAX]), error(EINVAL));
    assert_eq!(program.call(REPORT, &[NOWHERE, 1]), error(EFAULT));
    assert_eq!(*program.node.reports.borrow(), ["transport name=smartmap"]);
}

#[test]
fn counters_are_the_homes() {
    let mut program = Program::new();
    let target = program.put(&[0; 24]);
    assert_eq!(program.call(CORE_COUNTERS, &[target]), error(ENOSYS));
    program.node.counts.set(Some(CoreCounters { interrupts: 1, faults: 2, syscalls: 3, smis: 4 }));
    assert_eq!(program.call(CORE_COUNTERS, &[NOWHERE]), error(EFAULT));
    assert_eq!(program.call(CORE_COUNTERS, &[target]), Ok(0));
    assert_eq!([0, 8, 16].map(|at| program.word(target + at)), [1, 2, 3]);
    assert_eq!(program.call(portals::INTERFACE_OPEN, &[]), error(ENOSYS), "no network");
}
