//! Copies between ranks by the system.

use lwk_abi::address::{JOB_PAGE, SEGMENT_START, SLOT_BYTES};
use lwk_abi::limic::{
    DONE, Envelope, FAILED, IF_AWAITED, IPROBE, IRECV, ISEND, RANGE, RELOCATE, RX_COMP, TX_COMP, TX_INIT,
    WAIT, WAITS, WITHDRAW,
};
use lwk_abi::syscall::errno::{EAGAIN, EFAULT, EINVAL, ENOSYS};

use crate::home::{NOWHERE, Program, RANK, error};

/// Where the rank's slot begins, as every rank sees it.
const SLOT: u64 = (RANK as u64 + 1) * SLOT_BYTES;

#[test]
fn a_descriptor_means_the_same_in_every_rank() {
    let mut program = Program::new();
    let text = program.put(b"0123456789");
    let descriptor = program.put_words(&[7; 3]);
    for buffer in [text, SLOT + text] {
        assert_eq!(program.call(TX_INIT, &[buffer, 10, descriptor]), Ok(10));
        assert_eq!([0, 8, 16].map(|at| program.word(descriptor + at)), [SLOT + text, 10, 0]);
    }
}

#[test]
fn copies_go_both_ways_from_the_offset_on_and_never_beyond_the_end() {
    let mut program = Program::new();
    let text = program.put(b"0123456789");
    let buffer = program.put(b"abcdefghijkl");
    let whole = program.put_words(&[SLOT + text, 10, 0]);
    let part = program.put_words(&[SLOT + text, 10, 7]);
    let end = program.put_words(&[SLOT + text, 10, 10]);
    assert_eq!(program.call(RX_COMP, &[buffer, 4, whole]), Ok(4));
    assert_eq!(program.get(buffer, 12), b"0123efghijkl");
    assert_eq!(program.call(RX_COMP, &[buffer, 12, part]), Ok(3));
    assert_eq!(program.get(buffer, 12), b"7893efghijkl");
    assert_eq!(program.call(RX_COMP, &[buffer, 12, end]), Ok(0));
    assert_eq!(program.call(TX_COMP, &[buffer + 4, u64::MAX, part]), Ok(3), "no more of the buffer counts");
    assert_eq!(program.get(text, 10), b"0123456efg");
}

#[test]
fn what_is_no_memory_of_the_job_is_never_touched() {
    let mut program = Program::new();
    let buffer = program.put(&[1; 16]);
    let descriptor = program.put_words(&[SLOT + buffer, 16, 0]);
    for bad in [NOWHERE, 2 * SLOT_BYTES + buffer, 1 << 47, u64::MAX - 7, SLOT] {
        assert_eq!(program.call(TX_INIT, &[bad, 16, descriptor]), error(EFAULT));
        assert_eq!(program.call(TX_INIT, &[buffer, 16, bad]), error(EFAULT));
        for copy in [RX_COMP, TX_COMP] {
            assert_eq!(program.call(copy, &[bad, 16, descriptor]), error(EFAULT));
            assert_eq!(program.call(copy, &[buffer, 16, bad]), error(EFAULT));
        }
    }
    assert_eq!(program.call(RX_COMP, &[JOB_PAGE, 16, descriptor]), error(EFAULT), "not to be written");
    assert_eq!(program.call(RX_COMP, &[SEGMENT_START, 16, descriptor]), error(EFAULT), "code");
    let forged = [
        ([SLOT + NOWHERE, 16, 0], EFAULT),
        ([2 * SLOT_BYTES + buffer, 16, 0], EFAULT),
        ([SLOT + SLOT_BYTES - 8, 16, 0], EFAULT),
        ([SLOT + buffer, u64::MAX, u64::MAX - 8], EFAULT),
        ([buffer, 16, 0], EINVAL),
        ([1 << 63, 16, 0], EINVAL),
        ([u64::MAX, 16, 0], EINVAL),
        ([SLOT + buffer, 16, 17], EINVAL),
        ([SLOT + buffer, 0, u64::MAX], EINVAL),
    ];
    for (words, number) in forged {
        let descriptor = program.put_words(&words);
        assert_eq!(program.call(RX_COMP, &[buffer, 16, descriptor]), error(number), "{words:x?}");
        assert_eq!(program.call(TX_COMP, &[buffer, 16, descriptor]), error(number), "{words:x?}");
    }
    let code = program.put_words(&[SLOT + SEGMENT_START, 16, 0]);
    assert_eq!(program.call(TX_COMP, &[buffer, 16, code]), error(EFAULT));
    assert_eq!(program.get(buffer, 16), [1; 16]);
    assert_eq!(program.call(RANGE.end() + 1, &[buffer, 16, code]), error(ENOSYS));
}

/// A request to or from a rank of the node.
fn request(program: &mut Program, peer: u64, tag: Option<i32>, buffer: u64, bytes: u64) -> u64 {
    let label = Envelope { context: 7, tag: tag.unwrap_or(0), bytes }.label();
    program.put_words(&[99, peer, label, tag.is_none().into(), buffer, bytes])
}

#[test]
fn the_one_that_comes_later_copies_and_tells_both() {
    let me = u64::from(RANK);
    for send_first in [true, false] {
        let mut program = Program::new();
        let (text, buffer) = (program.put(b"0123456789"), program.put(&[b'.'; 12]));
        let send = request(&mut program, me, Some(-5), text, 10);
        let receive = request(&mut program, me, None, buffer, 12);
        let [first, second] =
            if send_first { [(ISEND, send), (IRECV, receive)] } else { [(IRECV, receive), (ISEND, send)] };
        assert_eq!(program.call(first.0, &[first.1]), Ok(0));
        assert_eq!(program.word(first.1), WAITS);
        assert_eq!(program.call(WAIT, &[first.1]), Ok(0));
        assert_eq!(program.call(second.0, &[second.1]), Ok(1));
        assert_eq!(program.get(buffer, 12), b"0123456789..");
        for told in [send, receive] {
            let label = Envelope { context: 7, tag: -5, bytes: 0 }.label();
            assert_eq!([0, 16, 40].map(|at| program.word(told + at)), [DONE, label, 10]);
            assert_eq!(program.call(WAIT, &[told]), Ok(1));
        }
    }
}

#[test]
fn a_send_that_waits_for_nobody_finds_the_receive_or_leaves_nothing() {
    let mut program = Program::new();
    let (text, buffer) = (program.put(b"0123456789"), program.put(&[b'.'; 12]));
    let send = request(&mut program, RANK.into(), Some(1), text, 10);
    let receive = request(&mut program, RANK.into(), Some(1), buffer, 12);
    assert_eq!(program.call(ISEND, &[send, IF_AWAITED]), Ok(0));
    assert_eq!(program.word(send), WAITS);
    assert_eq!(program.call(IRECV, &[receive]), Ok(0), "nothing was left");
    assert_eq!(program.call(ISEND, &[send, IF_AWAITED]), Ok(1));
    assert_eq!((program.word(send), program.word(receive)), (DONE, DONE));
    assert_eq!(program.get(buffer, 12), b"0123456789..");
}

#[test]
fn a_receive_that_is_too_short_gets_the_beginning_and_learns_the_length() {
    let mut program = Program::new();
    let (text, buffer) = (program.put(b"0123456789"), program.put(&[b'.'; 12]));
    let send = request(&mut program, RANK.into(), Some(1), text, 10);
    let receive = request(&mut program, RANK.into(), Some(1), buffer, 4);
    assert_eq!(program.call(ISEND, &[send]), Ok(0));
    assert_eq!(program.call(IRECV, &[receive]), Ok(1));
    assert_eq!(program.get(buffer, 6), b"0123..");
    assert_eq!(program.word(receive + 40), 10);
}

#[test]
fn a_probe_sees_what_waits_and_what_was_taken_back_or_moved_does_not_come() {
    let mut program = Program::new();
    let (text, copy, buffer) = (program.put(b"0123"), program.put(b"abcd"), program.put(&[0; 4]));
    let send = request(&mut program, RANK.into(), Some(3), text, 4);
    let receive = request(&mut program, RANK.into(), Some(3), buffer, 4);
    let probe = request(&mut program, RANK.into(), None, 0, 0);
    assert_eq!(program.call(IPROBE, &[probe]), Ok(0));
    assert_eq!(program.call(ISEND, &[send]), Ok(0));
    assert_eq!(program.call(IPROBE, &[probe]), Ok(1));
    let seen = Envelope::of(program.word(probe + 16), program.word(probe + 40));
    assert_eq!(seen, Envelope { context: 7, tag: 3, bytes: 4 });
    assert_eq!(program.call(WITHDRAW, &[send, 1]), Ok(0), "it is no receive");
    assert_eq!(program.call(WITHDRAW, &[send, 0]), Ok(1));
    assert_eq!(program.call(WITHDRAW, &[send, 0]), Ok(0));
    assert_eq!(program.call(IRECV, &[receive]), Ok(0));
    assert_eq!(program.call(WITHDRAW, &[receive, 1]), Ok(1));
    assert_eq!(program.call(ISEND, &[send]), Ok(0));
    assert_eq!(program.call(RELOCATE, &[send, copy]), Ok(1));
    assert_eq!(program.call(IRECV, &[receive]), Ok(1));
    assert_eq!(program.get(buffer, 4), b"abcd");
    assert_eq!(program.call(RELOCATE, &[send, text]), Ok(0));
}

#[test]
fn requests_that_are_none_are_refused_and_full_queues_say_so() {
    let mut program = Program::new();
    let text = program.put(b"0123456789");
    let good = request(&mut program, 0, Some(1), text, 10);
    let stranger = request(&mut program, u64::from(RANK) + 1, Some(1), text, 10);
    let nowhere = request(&mut program, 0, Some(1), NOWHERE, 10);
    for call in [ISEND, IRECV] {
        assert_eq!(program.call(call, &[good + 4]), error(EINVAL), "not aligned");
        assert_eq!(program.call(call, &[NOWHERE]), error(EFAULT));
        assert_eq!(program.call(call, &[JOB_PAGE]), error(EFAULT), "not to be written");
        assert_eq!(program.call(call, &[stranger]), error(EINVAL));
        assert_eq!(program.call(call, &[nowhere]), error(EFAULT));
    }
    assert_eq!(program.call(IPROBE, &[stranger]), error(EINVAL));
    assert_eq!(program.call(RELOCATE, &[good, NOWHERE]), error(EFAULT));
    let failed = program.put_words(&[FAILED, 0, 0, 0, 0, EFAULT as u64]);
    assert_eq!(program.call(WAIT, &[failed]), error(EFAULT));
    let nonsense = program.put_words(&[77, 0, 0, 0, 0, 0]);
    assert_eq!(program.call(WAIT, &[nonsense]), error(EINVAL));
    for _ in 0..lwk_limic::PLACES {
        assert_eq!(program.call(ISEND, &[good]), Ok(0));
    }
    assert_eq!(program.call(ISEND, &[good]), error(EAGAIN));
}
