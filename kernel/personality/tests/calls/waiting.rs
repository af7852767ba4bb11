//! Clocks, and calls that wait: they are made again until their time has come.

use lwk_abi::syscall::errno::{EAGAIN, EDEADLK, EFAULT, EINVAL, EOPNOTSUPP, ETIMEDOUT};
use lwk_abi::syscall::linux;
use lwk_personality::Outcome;

use super::home::{EPOCH, NOWHERE, Program, error};

const REAL: u64 = 0;
const MONOTONIC: u64 = 1;
const PROCESSOR: u64 = 2;

#[test]
fn clocks_tell_seconds_and_what_is_left_of_them() {
    let mut program = Program::new();
    let time = program.put_words(&[0, 0]);
    for (clock, base) in [(REAL, EPOCH), (MONOTONIC, 0), (PROCESSOR, 0)] {
        assert_eq!(program.call(linux::CLOCK_GETTIME, &[clock, time]), Ok(0));
        assert_eq!((program.word(time), program.word(time + 8)), (base / 1_000_000_000 + 5, 123));
        assert_eq!(program.call(linux::CLOCK_GETRES, &[clock, time]), Ok(0));
        assert_eq!((program.word(time), program.word(time + 8)), (0, 1));
    }
    assert_eq!(program.call(linux::CLOCK_GETTIME, &[99, time]), error(EINVAL));
    assert_eq!(program.call(linux::CLOCK_GETTIME, &[REAL, NOWHERE]), error(EFAULT));
    program.node.now.set(7_654_321_000);
    assert_eq!(program.call(linux::GETTIMEOFDAY, &[time, 0]), Ok(0));
    assert_eq!((program.word(time), program.word(time + 8)), (1007, 654_321));
    assert_eq!(program.call(linux::TIME, &[time]), Ok(1007));
    assert_eq!(program.word(time), 1007);
    assert_eq!(program.call(linux::TIMES, &[0]), Ok(765));
}

#[test]
fn sleep_lasts_as_long_as_it_is_told_and_not_longer() {
    let mut program = Program::new();
    let start = program.node.now.get();
    let time = program.put_words(&[1, 5]);
    assert_eq!(program.once(linux::NANOSLEEP, &[time]), Outcome::Again);
    program.node.now.set(start + 1_000_000_004);
    assert_eq!(program.once(linux::NANOSLEEP, &[time]), Outcome::Again);
    program.node.now.set(start + 1_000_000_005);
    assert_eq!(program.once(linux::NANOSLEEP, &[time]), Outcome::Done(Ok(0)));
    // The next one begins anew.
    assert_eq!(program.once(linux::NANOSLEEP, &[time]), Outcome::Again);
}

/// Every call that waits by a structure of the program's, with the address of that structure: a second, in all forms.
fn waits(program: &mut Program, time: u64) -> Vec<(u64, Vec<u64>)> {
    const WAIT: u64 = 0;
    let word = program.put_words(&[7]);
    vec![
        (linux::NANOSLEEP, vec![time]),
        (linux::CLOCK_NANOSLEEP, vec![MONOTONIC, 0, time]),
        (linux::FUTEX, vec![word, WAIT, 7, time]),
        (linux::PPOLL, vec![0, 0, time]),
        (linux::PSELECT6, vec![0, 0, 0, 0, time]),
    ]
}

#[test]
fn a_wait_that_a_peer_spoils_leaves_nothing_to_the_next() {
    let mut program = Program::new();
    let time = program.put_words(&[1, 0]);
    let set_nanoseconds = |program: &Program, value: u64| {
        lwk_personality::Machine::write(&program.node, time + 8, &value.to_le_bytes())
            .expect("the structure");
    };
    for (number, arguments) in waits(&mut program, time) {
        assert_eq!(program.once(number, &arguments), Outcome::Again, "call {number}");
        set_nanoseconds(&program, 1_000_000_000);
        assert_eq!(program.once(number, &arguments), Outcome::Done(error(EINVAL)), "call {number}");
        set_nanoseconds(&program, 0);
        // The spoilt wait would be over by then; this one has only begun.
        program.node.now.set(program.node.now.get() + 2_000_000_000);
        for (next, arguments) in waits(&mut program, time) {
            assert_eq!(program.once(next, &arguments), Outcome::Again, "call {next} after {number}");
            program.node.now.set(program.node.now.get() + 1_000_000_000);
            let ended = program.once(next, &arguments);
            assert!(matches!(ended, Outcome::Done(_)), "call {next} after {number}");
        }
    }
}

#[test]
fn sleep_until_a_moment() {
    const ABSOLUTE: u64 = 1;
    let mut program = Program::new();
    let until = program.put_words(&[6, 0]);
    assert_eq!(program.once(linux::CLOCK_NANOSLEEP, &[MONOTONIC, ABSOLUTE, until]), Outcome::Again);
    program.node.now.set(6_000_000_000);
    assert_eq!(program.once(linux::CLOCK_NANOSLEEP, &[MONOTONIC, ABSOLUTE, until]), Outcome::Done(Ok(0)));
    // Long ago, by the real clock.
    assert_eq!(program.once(linux::CLOCK_NANOSLEEP, &[REAL, ABSOLUTE, until]), Outcome::Done(Ok(0)));
    assert_eq!(program.call(linux::CLOCK_NANOSLEEP, &[PROCESSOR, 0, until]), error(EOPNOTSUPP));
    assert_eq!(program.call(linux::CLOCK_NANOSLEEP, &[MONOTONIC, 2, until]), error(EINVAL));
    for wrong in [[0, 1_000_000_000], [1 << 63, 0]] {
        let time = program.put_words(&wrong);
        assert_eq!(program.call(linux::NANOSLEEP, &[time]), error(EINVAL));
    }
    assert_eq!(program.call(linux::NANOSLEEP, &[NOWHERE]), error(EFAULT));
}

#[test]
fn a_futex_waits_only_where_something_can_end_it() {
    const WAIT: u64 = 0;
    const WAKE: u64 = 1;
    const PRIVATE: u64 = 128;
    let mut program = Program::new();
    let start = program.node.now.get();
    let word = program.put_words(&[7]);
    let limit = program.put_words(&[0, 100]);
    assert_eq!(program.call(linux::FUTEX, &[word, WAIT, 8, limit]), error(EAGAIN));
    assert_eq!(program.call(linux::FUTEX, &[word, WAIT | PRIVATE, 7, 0]), error(EDEADLK));
    assert_eq!(program.call(linux::FUTEX, &[word + 1, WAIT, 7, limit]), error(EINVAL));
    assert_eq!(program.call(linux::FUTEX, &[word, WAKE, 1, 0]), Ok(0));
    assert_eq!(program.once(linux::FUTEX, &[word, WAIT, 7, limit]), Outcome::Again);
    program.node.now.set(start + 99);
    assert_eq!(program.once(linux::FUTEX, &[word, WAIT, 7, limit]), Outcome::Again);
    program.node.now.set(start + 100);
    assert_eq!(program.once(linux::FUTEX, &[word, WAIT, 7, limit]), Outcome::Done(error(ETIMEDOUT)));
    // A peer may change the word meanwhile: that is what it waits for.
    assert_eq!(program.once(linux::FUTEX, &[word, WAIT, 7, limit]), Outcome::Again);
    let address = word;
    lwk_personality::Machine::write(&program.node, address, &8u32.to_le_bytes()).expect("the word");
    assert_eq!(program.once(linux::FUTEX, &[word, WAIT, 7, limit]), Outcome::Done(Ok(0)));
}
