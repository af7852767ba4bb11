//! Signals that a rank raises itself.

use lwk_abi::address::USER_END;
use lwk_abi::exit::signal::{SIGFPE, SIGSEGV};
use lwk_abi::syscall::errno::{EFAULT, EINVAL, ENOMEM, EPERM, ESRCH};
use lwk_abi::syscall::linux;
use lwk_failure::{End, Reason};
use lwk_personality::{Ending, Fatal, Information, Machine, Outcome, Registers};

use super::home::{NOWHERE, Program, RANK, error};

const SIGKILL: u64 = 9;
const SIGUSR1: u64 = 10;
const SIGTERM: u64 = 15;
const SIGCHLD: u64 = 17;
const SIGSTOP: u64 = 19;
/// `SA_RESTORER`, `SA_ONSTACK`, `SA_RESETHAND`, `SA_NODEFER`.
const RESTORER: u64 = 0x0400_0000;
const ON_STACK: u64 = 0x0800_0000;
const RESET: u64 = 0x8000_0000;
const NO_DEFER: u64 = 0x4000_0000;
const HANDLER: u64 = 0x40_0100;
const WAY_BACK: u64 = 0x40_0200;
const OWN: u64 = RANK as u64 + 1;

fn set(program: &mut Program, signal: u64, handler: u64, flags: u64) {
    let action = program.put_words(&[handler, flags, WAY_BACK, 0]);
    assert_eq!(program.call(linux::RT_SIGACTION, &[signal, action, 0, 8]), Ok(0));
}

fn registers(program: &Program) -> Registers {
    Registers { rsp: program.node.stack_pointer.get(), rip: 0x40_0010, rax: 77, ..Registers::default() }
}

/// What the program goes on with after a call; or how it ends.
fn after(program: &mut Program) -> Result<Registers, Fatal> {
    let mut registers = registers(program);
    program.process.take_signals(&program.node, &mut registers).map(|()| registers)
}

#[test]
fn a_handler_runs_and_the_program_goes_on_where_it_was() {
    let mut program = Program::new();
    set(&mut program, SIGUSR1, HANDLER, RESTORER);
    assert_eq!(program.call(linux::KILL, &[OWN, SIGUSR1]), Ok(0));
    assert!(program.process.has_pending_signal());
    let mut there = after(&mut program).expect("there is a handler");
    assert_eq!((there.rip, there.rdi), (HANDLER, SIGUSR1));
    assert_eq!(program.word(there.rsp), WAY_BACK);
    // As at the entry of a function, below what compiled code may use.
    assert_eq!(there.rsp % 16, 8);
    assert!(there.rsp < program.node.stack_pointer.get() - 128);
    // Blocked while it is handled.
    assert_eq!(program.call(linux::TGKILL, &[OWN, OWN, SIGUSR1]), Ok(0));
    assert!(!program.process.has_pending_signal());
    // The handler returns: its return address is gone.
    there.rsp += 8;
    let Program { process, node, .. } = &mut program;
    process.return_from_handler(node, &mut there).expect("the frame is whole");
    let before = registers(&program);
    assert_eq!((there.rip, there.rsp, there.rax), (before.rip, before.rsp, before.rax));
    assert!(program.process.has_pending_signal());
}

#[test]
fn a_call_comes_back_in_the_handler_of_the_signal_that_it_has_raised() {
    let mut program = Program::new();
    set(&mut program, SIGUSR1, HANDLER, RESTORER);
    program.node.registers.set(registers(&program));
    let Outcome::Resume(mut there) = program.whole(linux::KILL, &[OWN, SIGUSR1]) else { panic!("a handler") };
    assert_eq!((there.rip, there.rdi), (HANDLER, SIGUSR1));
    there.rsp += 8;
    program.node.registers.set(there);
    let Outcome::Resume(back) = program.whole(linux::RT_SIGRETURN, &[]) else { panic!("it goes on") };
    // The call's own answer is there.
    assert_eq!((back.rip, back.rax), (0x40_0010, 0));
    let killed = End::by_signal(9, Reason::Raised(9));
    assert_eq!(program.whole(linux::KILL, &[OWN, SIGKILL]), Outcome::End(Ending::Failure(killed)));
    program.node.registers.set(Registers { rsp: NOWHERE, ..Registers::default() });
    let lost = End::by_signal(SIGSEGV, Reason::Raised(SIGSEGV));
    assert_eq!(program.whole(linux::RT_SIGRETURN, &[]), Outcome::End(Ending::Failure(lost)));
}

#[test]
fn a_signal_without_a_handler_does_what_linux_does_by_default() {
    for (signal, end) in [(SIGTERM, Some(15)), (SIGKILL, Some(9)), (SIGCHLD, None), (SIGSTOP, None)] {
        let mut program = Program::new();
        assert_eq!(program.call(linux::TKILL, &[OWN, signal]), Ok(0));
        assert_eq!(after(&mut program).err(), end.map(Fatal));
    }
}

#[test]
fn what_cannot_be_a_handler_ends_the_rank() {
    for (handler, flags) in [(HANDLER, 0), (USER_END, RESTORER)] {
        let mut program = Program::new();
        set(&mut program, SIGUSR1, handler, flags);
        assert_eq!(program.call(linux::KILL, &[0, SIGUSR1]), Ok(0));
        assert_eq!(after(&mut program), Err(Fatal(SIGSEGV)));
    }
    // No stack for its frame.
    let mut program = Program::new();
    set(&mut program, SIGUSR1, HANDLER, RESTORER);
    assert_eq!(program.call(linux::KILL, &[0, SIGUSR1]), Ok(0));
    let mut registers = Registers { rsp: NOWHERE, ..Registers::default() };
    assert_eq!(program.process.take_signals(&program.node, &mut registers), Err(Fatal(SIGSEGV)));
}

#[test]
fn flags_of_a_handler() {
    let mut program = Program::new();
    set(&mut program, SIGUSR1, HANDLER, RESTORER | RESET | NO_DEFER);
    assert_eq!(program.call(linux::KILL, &[OWN, SIGUSR1]), Ok(0));
    after(&mut program).expect("there is a handler");
    // Not blocked, and the handler was for once.
    assert_eq!(program.call(linux::KILL, &[OWN, SIGUSR1]), Ok(0));
    assert_eq!(after(&mut program), Err(Fatal(SIGUSR1 as i32)));
}

#[test]
fn the_alternate_stack_takes_the_frame() {
    let mut program = Program::new();
    let stack = program.node.layout().heap_start;
    let [small, good, old] =
        [[stack, 0, 2047], [stack, 0, 8192], [0; 3]].map(|words| program.put_words(&words));
    assert_eq!(program.call(linux::SIGALTSTACK, &[small, 0]), error(ENOMEM));
    assert_eq!(program.call(linux::SIGALTSTACK, &[good, 0]), Ok(0));
    assert_eq!(program.call(linux::SIGALTSTACK, &[0, old]), Ok(0));
    assert_eq!([0, 8, 16].map(|at| program.word(old + at)), [stack, 0, 8192]);
    set(&mut program, SIGUSR1, HANDLER, RESTORER | ON_STACK);
    assert_eq!(program.call(linux::KILL, &[OWN, SIGUSR1]), Ok(0));
    let there = after(&mut program).expect("there is a handler");
    assert!((stack..stack + 8192).contains(&there.rsp));
    // While it is in use it stays.
    program.node.stack_pointer.set(there.rsp);
    assert_eq!(program.call(linux::SIGALTSTACK, &[good, 0]), error(EPERM));
    assert_eq!(program.call(linux::SIGALTSTACK, &[0, old]), Ok(0));
    assert_eq!(program.word(old + 8), 1, "SS_ONSTACK");
}

#[test]
fn a_fault_is_handled_or_ends_the_rank() {
    let fault = Information { signal: SIGFPE as u32, code: 1, value: 0x40_0010 };
    let mut program = Program::new();
    let mut there = registers(&program);
    let Program { process, node, .. } = &mut program;
    assert_eq!(process.take_fault(node, &mut there, fault), Err(Fatal(SIGFPE)));
    set(&mut program, SIGFPE as u64, HANDLER, RESTORER);
    let Program { process, node, .. } = &mut program;
    assert_eq!(process.take_fault(node, &mut there, fault), Ok(()));
    assert_eq!(there.rip, HANDLER);
    // Its information: the signal, and where it happened.
    assert_eq!(program.word(there.rsi) as u32, fault.signal);
    assert_eq!(program.word(there.rsi + 16), fault.value);
    // It happens again in its handler, where it is blocked.
    let Program { process, node, .. } = &mut program;
    assert_eq!(process.take_fault(node, &mut there, fault), Err(Fatal(SIGFPE)));
}

#[test]
fn wrong_arguments_are_refused() {
    let mut program = Program::new();
    let action = program.put_words(&[HANDLER, RESTORER, WAY_BACK, 0]);
    let mut answer = |number, arguments: &[u64]| program.call(number, arguments);
    for signal in [0, 65, SIGKILL, SIGSTOP] {
        assert_eq!(answer(linux::RT_SIGACTION, &[signal, action, 0, 8]), error(EINVAL));
    }
    assert_eq!(answer(linux::RT_SIGACTION, &[64, action, 0, 4]), error(EINVAL));
    assert_eq!(answer(linux::RT_SIGACTION, &[64, NOWHERE, 0, 8]), error(EFAULT));
    assert_eq!(answer(linux::RT_SIGPROCMASK, &[3, action, 0, 8]), error(EINVAL));
    assert_eq!(answer(linux::KILL, &[OWN, 65]), error(EINVAL));
    assert_eq!(answer(linux::KILL, &[OWN + 1, SIGTERM]), error(ESRCH));
    assert_eq!(answer(linux::TGKILL, &[OWN, OWN + 1, SIGTERM]), error(ESRCH));
    assert_eq!(answer(linux::TKILL, &[0, SIGTERM]), error(EINVAL));
    // Signal 0 only asks.
    assert_eq!(answer(linux::KILL, &[OWN, 0]), Ok(0));
    assert!(!program.process.has_pending_signal());
}

#[test]
fn kill_and_stop_cannot_be_blocked() {
    let mut program = Program::new();
    let (all, old) = (program.put_words(&[!0]), program.put_words(&[0]));
    assert_eq!(program.call(linux::RT_SIGPROCMASK, &[2, all, 0, 8]), Ok(0));
    assert_eq!(program.call(linux::RT_SIGPROCMASK, &[0, 0, old, 8]), Ok(0));
    assert_eq!(program.word(old), !(1 << (SIGKILL - 1) | 1 << (SIGSTOP - 1)));
    assert_eq!(program.call(linux::KILL, &[OWN, SIGTERM]), Ok(0));
    assert!(!program.process.has_pending_signal());
    assert_eq!(program.call(linux::RT_SIGPENDING, &[old, 8]), Ok(0));
    assert_eq!(program.word(old), 1 << (SIGTERM - 1));
    let some = program.put_words(&[1 << (SIGTERM - 1)]);
    assert_eq!(program.call(linux::RT_SIGPROCMASK, &[1, some, 0, 8]), Ok(0));
    assert!(program.process.has_pending_signal());
}
