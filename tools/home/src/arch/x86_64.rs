//! The gate: the one piece of code whose `syscall` instructions reach Linux once a rank's dispatch is on.
//!
//! Linux's syscall user dispatch lets a range of addresses make system calls as ever and turns every other `syscall`
//! instruction of the process into `SIGSYS` (kernel documentation, admin-guide/syscall-user-dispatch). The range is
//! `lwk_gate_start..lwk_gate_end`: the loader's own calls, the return from its signal handlers, which libc's would not be, and the program's
//! yield, which is too frequent for a signal. Nothing here uses the thread's FS base, since that is the program's while it runs.

mod checksum;

use std::arch::{asm, global_asm};
use std::sync::atomic::{AtomicU64, Ordering};

pub use checksum::crc32c;

global_asm!(
    r#"
    .pushsection .text.lwk_gate, "ax", @progbits
    .balign 64
    .globl lwk_gate_start, lwk_gate_end, lwk_gate_call, lwk_gate_return, lwk_gate_in_program, lwk_gate_yield
    .hidden lwk_gate_start, lwk_gate_end, lwk_gate_call, lwk_gate_return, lwk_gate_in_program, lwk_gate_yield
lwk_gate_start:

    // i64 lwk_gate_call(number, a, b, c, d, e, f): the C calling convention to Linux's.
    .type lwk_gate_call, @function
lwk_gate_call:
    mov rax, rdi
    mov rdi, rsi
    mov rsi, rdx
    mov rdx, rcx
    mov r10, r8
    mov r8, r9
    mov r9, [rsp + 8]
    syscall
    ret
    .size lwk_gate_call, . - lwk_gate_call

    // Where a signal handler returns to: rt_sigreturn, which never comes back. Debuggers know a signal frame by these
    // very bytes.
    .type lwk_gate_return, @function
lwk_gate_return:
    mov rax, 15
    syscall
    ud2
    .size lwk_gate_return, . - lwk_gate_return

    // A system call of the program's with its own registers, after which the program goes on at `lwk_gate_resume`.
    .type lwk_gate_in_program, @function
lwk_gate_in_program:
    syscall
    jmp qword ptr [rip + lwk_gate_resume]
    .size lwk_gate_in_program, . - lwk_gate_in_program

    // sched_yield, for programs to call (`JobPage::yield_code`): as `lwk_gate_call`, it leaves the stack pointer as it is until it returns.
    .type lwk_gate_yield, @function
lwk_gate_yield:
    mov eax, 24
    syscall
    ret
    .size lwk_gate_yield, . - lwk_gate_yield

lwk_gate_end:

    // i64 lwk_call(number, a, b, c, d): what `JobPage::call_code` names. The C calling convention, but on the handlers' stack, since the program's may be as small
    // as it likes, and without alignment checking (below). While it runs, `lwk_call_frame` is where the caller's frame pointer is saved, with the
    // return address above it.
    .type lwk_call, @function
lwk_call:
    push rbp
    mov rbp, rsp
    pushfq
    pushfq
    and qword ptr [rsp], -0x40001
    popfq
    mov [rip + lwk_call_frame], rbp
    mov rsp, [rip + lwk_call_stack]
    call {on_call}
    mov qword ptr [rip + lwk_call_frame], 0
    lea rsp, [rbp - 8]
    popfq
    pop rbp
    ret
    .size lwk_call, . - lwk_call

    // Where signal handlers begin. A program may have switched on alignment checking, which Linux leaves on in a handler:
    // compiled code does not survive that.
    .macro lwk_handler name, target
    .hidden \name
    .globl \name
    .type \name, @function
\name:
    pushfq
    and qword ptr [rsp], -0x40001
    popfq
    jmp \target
    .size \name, . - \name
    .endm
    lwk_handler lwk_on_system_call, {on_system_call}
    lwk_handler lwk_on_replaced_call, {on_replaced_call}
    lwk_handler lwk_on_fault, {on_fault}
    lwk_handler lwk_on_question, {on_question}
    .popsection

    .pushsection .bss.lwk_gate, "aw", @nobits
    .balign 8
    .globl lwk_gate_resume, lwk_call, lwk_call_frame, lwk_call_stack
    .hidden lwk_gate_resume, lwk_call, lwk_call_frame, lwk_call_stack
lwk_gate_resume:
    .skip 8
lwk_call_frame:
    .skip 8
lwk_call_stack:
    .skip 8
    .popsection
"#,
    on_call = sym crate::calls::on_call,
    on_system_call = sym crate::calls::on_system_call,
    on_replaced_call = sym crate::calls::on_replaced_call,
    on_fault = sym crate::fault::on_fault,
    on_question = sym crate::fault::on_question,
);

unsafe extern "C" {
    static lwk_gate_start: u8;
    static lwk_gate_end: u8;
    fn lwk_gate_call(number: i64, a: u64, b: u64, c: u64, d: u64, e: u64, f: u64) -> i64;
    fn lwk_gate_return();
    fn lwk_gate_in_program();
    fn lwk_gate_yield();
    fn lwk_call();
    static lwk_gate_resume: AtomicU64;
    static lwk_call_frame: AtomicU64;
    static lwk_call_stack: AtomicU64;
    fn lwk_on_system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void);
    fn lwk_on_replaced_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void);
    fn lwk_on_fault(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void);
    fn lwk_on_question(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void);
}

/// A signal handler in Linux's form.
pub type Handler = unsafe extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);

/// Leads to [`crate::calls::on_system_call`].
pub const ON_SYSTEM_CALL: Handler = lwk_on_system_call;
/// Leads to [`crate::calls::on_replaced_call`].
pub const ON_REPLACED_CALL: Handler = lwk_on_replaced_call;
/// Leads to [`crate::fault::on_fault`].
pub const ON_FAULT: Handler = lwk_on_fault;
/// Leads to [`crate::fault::on_question`].
pub const ON_QUESTION: Handler = lwk_on_question;

/// Linux's system calls, for the loader.
#[derive(Clone, Copy, Debug)]
pub struct Gate;

impl Gate {
    /// A system call by Linux's number: the result, or a negated error number (-1 to -4095).
    ///
    /// # Safety
    /// Whatever the call does with the memory its arguments name must be sound.
    pub unsafe fn call(number: i64, arguments: [u64; 6]) -> i64 {
        let [a, b, c, d, e, f] = arguments;
        // SAFETY: the function keeps to the C calling convention and does nothing but the call, whose use of
        // memory is sound (this function's contract).
        unsafe { lwk_gate_call(number, a, b, c, d, e, f) }
    }

    /// Address of the code that is allowed to make system calls, and its length in bytes.
    pub fn range() -> (u64, u64) {
        let (start, end) = (&raw const lwk_gate_start as u64, &raw const lwk_gate_end as u64);
        (start, end - start)
    }

    /// Address of code that makes the system call that is in the program's registers, outside of any handler, and then goes on
    /// at `resume`. For one call at a time of the process's one thread.
    pub fn in_program(resume: u64) -> u64 {
        // Relaxed: read by this very thread when its handler has returned.
        // SAFETY: the symbol is eight bytes, aligned, that only this code and the gate use.
        unsafe { lwk_gate_resume.store(resume, Ordering::Relaxed) };
        lwk_gate_in_program as *const () as u64
    }

    /// Address of the function that a program may call instead of making the system call `sched_yield`
    /// ([`lwk_abi::job_page::JobPage::yield_code`]).
    pub fn yield_code() -> u64 {
        lwk_gate_yield as *const () as u64
    }

    /// Address of the code a signal handler returns to.
    pub fn signal_return() -> u64 {
        lwk_gate_return as *const () as u64
    }
}

/// Address of the function that a program may call instead of making some system calls ([`lwk_abi::job_page::JobPage::call_code`]).
pub fn call_code() -> u64 {
    lwk_call as *const () as u64
}

/// Names the stack of such calls by its end, which is aligned to 16: before the program runs.
pub fn set_call_stack(end: u64) {
    // Relaxed: read by this very thread later.
    // SAFETY: the symbol is eight bytes, aligned, that only this code uses.
    unsafe { lwk_call_stack.store(end, Ordering::Relaxed) };
}

/// Where the program is while such a call runs: instruction, stack and frame pointer behind the call.
pub fn called_from() -> Option<[u64; 3]> {
    // Relaxed: written by this very thread.
    // SAFETY: the symbol is eight bytes, aligned, that only this code uses.
    let frame = unsafe { lwk_call_frame.load(Ordering::Relaxed) };
    if frame == 0 {
        return None;
    }
    let saved = std::ptr::with_exposed_provenance::<u64>(frame as usize);
    // SAFETY: the call, which is not over, has saved the frame pointer there, below the return address.
    let [rbp, rip] = unsafe { [saved.read(), saved.add(1).read()] };
    Some([rip, frame + 16, rbp])
}

/// Tells valgrind of a stack from address `start` to before `end`, so that it knows a change to it from a large frame (valgrind manual, "The Client Request
/// mechanism"). Has no effect elsewhere.
pub fn register_stack(start: u64, end: u64) {
    const STACK_REGISTER: u64 = 0x1501;
    let request = [STACK_REGISTER, start, end - 1, 0, 0, 0];
    // SAFETY: the rotations make one whole turn and the exchange none, so the processor changes flags only; valgrind knows
    // them by their order, reads the request, and leaves its answer in RDX.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const request,
            inout("rdx") 0u64 => _,
            in("rdi") 0u64,
        );
    }
}

/// Starts a program: jumps to `entry` with `stack` in the stack pointer and nothing in the other registers, as the System V
/// ABI's AMD64 supplement (section 3.4.1) and Linux have it.
///
/// # Safety
/// `entry` must be code of a mapped program and `stack` its initial stack; the loader's stack is never used again except by
/// handlers that have their own.
pub unsafe fn enter(entry: u64, stack: u64) -> ! {
    // SAFETY: the entry is code of a program and the stack its own, and the loader's is given up (this function's contract). The entry address passes through the word below the initial stack, which is free.
    unsafe {
        asm!(
            "mov rsp, rsi",
            "push rdi",
            "xor eax, eax",
            "xor ebx, ebx",
            "xor ecx, ecx",
            "xor edx, edx",
            "xor esi, esi",
            "xor edi, edi",
            "xor ebp, ebp",
            "xor r8d, r8d",
            "xor r9d, r9d",
            "xor r10d, r10d",
            "xor r11d, r11d",
            "xor r12d, r12d",
            "xor r13d, r13d",
            "xor r14d, r14d",
            "xor r15d, r15d",
            "cld",
            "ret",
            in("rdi") entry,
            in("rsi") stack,
            options(noreturn),
        )
    }
}

/// The time stamp counter, in ticks; not ordered with the instructions around it.
pub fn time_stamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction; it only reads the counter.
    unsafe { core::arch::x86_64::_rdtsc() }
}
