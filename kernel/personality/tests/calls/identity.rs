//! Who and where a program is.

use lwk_abi::address::{SEGMENT_START, USER_END};
use lwk_abi::syscall::errno::{EFAULT, EINVAL, ENOSYS, EPERM, ESRCH};
use lwk_abi::syscall::linux;
use lwk_personality::Machine;

use super::home::{CORE, MEMORY_NODE, NOWHERE, Program, RANK, error};

#[test]
fn a_process_number_is_the_rank_and_one() {
    let mut program = Program::new();
    for call in [linux::GETPID, linux::GETTID, linux::GETPGRP] {
        assert_eq!(program.call(call, &[]), Ok(u64::from(RANK) + 1));
    }
    assert_eq!(program.call(linux::GETPPID, &[]), Ok(0));
}

#[test]
fn a_process_may_be_named_by_its_number_or_by_zero_and_no_other() {
    const FILES: u64 = 7;
    let mut program = Program::new();
    let (limits, all) = (program.put_words(&[0, 0]), program.put_words(&[!0]));
    let own = u64::from(RANK) + 1;
    for (process, answer) in [(0, Ok(0)), (own, Ok(0)), (own + 1, error(ESRCH))] {
        assert_eq!(program.call(linux::PRLIMIT64, &[process, FILES, 0, limits]), answer);
        assert_eq!(program.call(linux::SCHED_GETAFFINITY, &[process, 8, limits]).map(|_| 0), answer);
        assert_eq!(program.call(linux::SCHED_SETAFFINITY, &[process, 8, all]), answer);
    }
}

#[test]
fn limits_are_what_there_is_and_cannot_be_raised() {
    const STACK: u64 = 3;
    const RESOURCES: u64 = 16;
    let mut program = Program::new();
    let stack = program.node.layout().stack_end - program.node.layout().stack_start;
    let old = program.put_words(&[0, 0]);
    assert_eq!(program.call(linux::GETRLIMIT, &[STACK, old]), Ok(0));
    assert_eq!((program.word(old), program.word(old + 8)), (stack, stack));
    let mut set = |soft, hard| {
        let new = program.put_words(&[soft, hard]);
        program.call(linux::PRLIMIT64, &[0, STACK, new, 0])
    };
    assert_eq!(set(stack, stack), Ok(0));
    assert_eq!(set(stack - 1, stack), Ok(0));
    assert_eq!(set(stack, stack + 1), error(EPERM));
    assert_eq!(set(stack, stack - 1), error(EINVAL));
    assert_eq!(program.call(linux::GETRLIMIT, &[RESOURCES, old]), error(EINVAL));
    assert_eq!(program.call(linux::GETRLIMIT, &[RESOURCES - 1, NOWHERE]), error(EFAULT));
}

#[test]
fn the_one_core_of_a_rank_is_where_it_stays() {
    let mut program = Program::new();
    let set = program.put_words(&[!0, !0]);
    assert_eq!(program.call(linux::SCHED_GETAFFINITY, &[0, 16, set]), Ok(8));
    assert_eq!((program.word(set), program.word(set + 8)), (1 << CORE, !0));
    assert_eq!(program.call(linux::SCHED_GETAFFINITY, &[0, 4, set]), error(EINVAL));
    assert_eq!(program.call(linux::SCHED_GETAFFINITY, &[0, 12, set]), error(EINVAL));
    assert_eq!(program.call(linux::SCHED_SETAFFINITY, &[0, 8, set]), Ok(0));
    let others = program.put_words(&[!(1 << CORE)]);
    assert_eq!(program.call(linux::SCHED_SETAFFINITY, &[0, 8, others]), error(EINVAL));
    assert_eq!(program.call(linux::SCHED_SETAFFINITY, &[0, 0, set]), error(EINVAL));
    let (core, node) = (program.put_words(&[!0]), program.put_words(&[!0]));
    assert_eq!(program.call(linux::GETCPU, &[core, node]), Ok(0));
    assert_eq!((program.word(core) as u32, program.word(node) as u32), (CORE, MEMORY_NODE));
}

#[test]
fn random_bytes_come_or_an_error() {
    const INSECURE_AND_RANDOM: u64 = 6;
    let mut program = Program::new();
    let target = program.put(&[0; 600]);
    assert_eq!(program.call(linux::GETRANDOM, &[target, 599, 0]), Ok(599));
    assert_eq!(program.get(target, 600), [vec![0x5a; 599], vec![0]].concat());
    assert_eq!(program.call(linux::GETRANDOM, &[target, 8, 8]), error(EINVAL));
    assert_eq!(program.call(linux::GETRANDOM, &[target, 8, INSECURE_AND_RANDOM]), error(EINVAL));
    assert_eq!(program.call(linux::GETRANDOM, &[NOWHERE, 8, 0]), error(EFAULT));
    program.node.has_random.set(false);
    assert_eq!(program.call(linux::GETRANDOM, &[target, 8, 0]), error(ENOSYS));
}

#[test]
fn fences_are_made_on_all_cores_where_they_can_be() {
    use lwk_abi::syscall::membarrier::{
        GLOBAL, GLOBAL_EXPEDITED, PRIVATE_EXPEDITED, QUERY, REGISTER_GLOBAL_EXPEDITED,
    };
    let mut program = Program::new();
    let known = program.call(linux::MEMBARRIER, &[QUERY, 0]);
    assert_eq!(known, Ok(0b11111));
    assert_eq!(program.call(linux::MEMBARRIER, &[REGISTER_GLOBAL_EXPEDITED, 0]), Ok(0));
    assert_eq!(program.call(linux::MEMBARRIER, &[PRIVATE_EXPEDITED, 0]), Ok(0));
    assert_eq!(program.node.fences.get(), Some(0));
    assert_eq!(program.call(linux::MEMBARRIER, &[GLOBAL_EXPEDITED, 0]), Ok(0));
    assert_eq!(program.call(linux::MEMBARRIER, &[GLOBAL, 0]), Ok(0));
    assert_eq!(program.node.fences.get(), Some(2));
    assert_eq!(program.call(linux::MEMBARRIER, &[1 << 9, 0]), error(EINVAL));
    assert_eq!(program.call(linux::MEMBARRIER, &[GLOBAL_EXPEDITED, 1]), error(EINVAL));
    program.node.fences.set(None);
    assert_eq!(program.call(linux::MEMBARRIER, &[QUERY, 0]), error(ENOSYS));
    assert_eq!(program.call(linux::MEMBARRIER, &[GLOBAL_EXPEDITED, 0]), error(ENOSYS));
}

#[test]
fn thread_bases_are_the_programs_own_addresses() {
    const SET_GS: u64 = 0x1001;
    const SET_FS: u64 = 0x1002;
    const GET_FS: u64 = 0x1003;
    const GET_GS: u64 = 0x1004;
    let mut program = Program::new();
    let place = program.put_words(&[0]);
    assert_eq!(program.call(linux::ARCH_PRCTL, &[SET_FS, SEGMENT_START]), Ok(0));
    assert_eq!(program.call(linux::ARCH_PRCTL, &[SET_GS, USER_END - 1]), Ok(0));
    assert_eq!(program.call(linux::ARCH_PRCTL, &[SET_FS, USER_END]), error(EPERM));
    for (get, base) in [(GET_FS, SEGMENT_START), (GET_GS, USER_END - 1)] {
        assert_eq!(program.call(linux::ARCH_PRCTL, &[get, place]), Ok(0));
        assert_eq!(program.word(place), base);
        assert_eq!(program.call(linux::ARCH_PRCTL, &[get, NOWHERE]), error(EFAULT));
    }
    assert_eq!(program.call(linux::ARCH_PRCTL, &[0x1005, place]), error(EINVAL));
}

#[test]
fn a_call_that_there_is_not_is_counted_by_its_number() {
    const NONE: u64 = 999;
    let mut program = Program::new();
    assert_eq!(program.call(NONE, &[]), error(ENOSYS));
    assert_eq!(program.call(linux::RSEQ, &[]), error(ENOSYS));
    assert_eq!(*program.node.unsupported.borrow(), [NONE]);
}
