//! The doors between user programs and the kernel: a stub for each of the 256 vectors, the system call entry, and the way
//! back. All build a [`TrapFrame`] on the kernel's stack and hand it to a Rust function.
//!
//! Inside the kernel `GS` points to the core's [`CoreBlock`](super::core_block::CoreBlock); outside it belongs to the program. Entries
//! from user mode swap the two. The entries that can strike inside the kernel at any point (non-maskable interrupt, machine
//! check, double fault, debug) come on stacks of their own, whose topmost word names the core, and set `GS` from that.

use core::arch::global_asm;

use x86_64::PrivilegeLevel;
use x86_64::VirtAddr;
use x86_64::registers::model_specific::{LStar, SFMask, Star};
use x86_64::registers::rflags::RFlags;
use x86_64::structures::gdt::SegmentSelector;

use super::core_block::{KERNEL_STACK, USER_STACK};
use super::descriptors::{KERNEL_CODE, USER_CODE, USER_DATA};
use super::exceptions::{early_trap_entered, syscall_entered, trap_entered, trap_entered_anywhere};
use super::trap_frame::{FRAME_BYTES, SYSCALL_VECTOR, TrapFrame};

/// Vectors of exceptions: those below (Intel SDM volume 3, section 6.2).
pub const EXCEPTIONS: usize = 32;
/// Bytes of a vector's stub.
const STUB_BYTES: usize = 16;

global_asm!(
    ".macro push_registers",
    "push rax",
    "push rbx",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "push rbp",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    ".endm",
    ".macro pop_registers",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rbp",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop rbx",
    "pop rax",
    ".endm",
    // One stub a vector. Vectors 8, 10-14, 17, 21, 29 and 30 come with an error code; the others get a zero in its place.
    ".macro push_vector",
    ".balign {stub_bytes}",
    ".if (vector != 8) && ((vector < 10) || (vector > 14)) && (vector != 17) && (vector != 21) && (vector != 29) && (vector != 30)",
    "push 0",
    ".endif",
    "push vector",
    ".endm",
    ".balign 16",
    ".global vector_stubs",
    "vector_stubs:",
    ".set vector, 0",
    ".rept 256",
    "push_vector",
    ".if (vector == 1) || (vector == 2) || (vector == 8) || (vector == 18)",
    "jmp enter_anywhere",
    ".else",
    "jmp enter",
    ".endif",
    ".set vector, vector + 1",
    ".endr",
    // Exceptions of cores that have no structure yet: they end the node.
    ".balign 16",
    ".global early_stubs",
    "early_stubs:",
    ".set vector, 0",
    ".rept {exceptions}",
    "push_vector",
    "jmp enter_early",
    ".set vector, vector + 1",
    ".endr",
    "enter_early:",
    "cld",
    "push_registers",
    "mov rdi, rsp",
    "xor ebp, ebp",
    "call {early_trap_entered}",
    "ud2",
    // Ordinary entries: inside the kernel only a bug or an interrupt that ends a halt brings us here, with GS already set.
    "enter:",
    "cld",
    "test byte ptr [rsp + 24], 3",
    "jz 2f",
    "swapgs",
    "2:",
    "push_registers",
    "mov rdi, rsp",
    "xor ebp, ebp",
    "call {trap_entered}",
    ".global leave",
    "leave:",
    "pop_registers",
    "add rsp, 16",
    "test byte ptr [rsp + 8], 3",
    "jz 2f",
    "swapgs",
    "2:",
    "iretq",
    // Entries on a stack of their own. From user mode they are ordinary; from the kernel, GS may be on either side of a
    // swap, so it is saved, set from the word above the frame, and restored.
    "enter_anywhere:",
    "cld",
    "test byte ptr [rsp + 24], 3",
    "jnz enter",
    "push_registers",
    "mov ecx, 0xc0000101",
    "rdmsr",
    "mov r12d, eax",
    "mov r13d, edx",
    "mov rax, [rsp + {frame_bytes}]",
    "mov rdx, rax",
    "shr rdx, 32",
    "wrmsr",
    "mov rdi, rsp",
    "xor ebp, ebp",
    "call {trap_entered_anywhere}",
    "mov ecx, 0xc0000101",
    "mov eax, r12d",
    "mov edx, r13d",
    "wrmsr",
    "pop_registers",
    "add rsp, 16",
    "iretq",
    // System calls: rcx holds the return address and r11 the flags; the mask has disabled interrupts.
    ".global syscall_entry",
    "syscall_entry:",
    "swapgs",
    "mov gs:[{user_stack}], rsp",
    "mov rsp, gs:[{kernel_stack}]",
    "push {user_data}",
    "push gs:[{user_stack}]",
    "push r11",
    "push {user_code}",
    "push rcx",
    "push 0",
    "push {syscall_vector}",
    "push_registers",
    "mov rdi, rsp",
    "xor ebp, ebp",
    "call {syscall_entered}",
    // The rank may have been exchanged for one that was interrupted elsewhere: only a system call returns by SYSRET. Its
    // return address is canonical, because the last page of every slot is unmapped.
    "cmp qword ptr [rsp + 15 * 8], {syscall_vector}",
    "jne leave",
    "pop_registers",
    "mov rcx, [rsp + 16]",
    "mov r11, [rsp + 32]",
    "mov rsp, [rsp + 40]",
    "swapgs",
    "sysretq",
    // leave_to(frame), leave the kernel with the registers of a frame that is not on the stack.
    ".global leave_to",
    "leave_to:",
    "mov rsp, rdi",
    "jmp leave",
    // on_stack(stack, function): forget the present stack and call a function that does not return.
    ".global on_stack",
    "on_stack:",
    "mov rsp, rdi",
    "xor ebp, ebp",
    "call rsi",
    "ud2",
    stub_bytes = const STUB_BYTES,
    exceptions = const EXCEPTIONS,
    frame_bytes = const FRAME_BYTES,
    user_stack = const USER_STACK,
    kernel_stack = const KERNEL_STACK,
    user_data = const USER_DATA,
    user_code = const USER_CODE,
    syscall_vector = const SYSCALL_VECTOR,
    early_trap_entered = sym early_trap_entered,
    trap_entered = sym trap_entered,
    trap_entered_anywhere = sym trap_entered_anywhere,
    syscall_entered = sym syscall_entered,
);

unsafe extern "C" {
    static vector_stubs: [u8; 256 * STUB_BYTES];
    static early_stubs: [u8; EXCEPTIONS * STUB_BYTES];
    fn syscall_entry();
    fn leave_to(frame: *const TrapFrame) -> !;
    /// Calls a function on the empty stack that ends at `stack`, which is a mapped one of this core's that holds nothing still needed.
    pub(super) fn on_stack(stack: u64, function: extern "C" fn() -> !) -> !;
}

/// Address of the stub that handles `vector`, 0 to 255.
pub fn stub_address(vector: usize) -> u64 {
    (&raw const vector_stubs) as u64 + (vector * STUB_BYTES) as u64
}

/// Address of the stub that handles exception `vector`, below [`EXCEPTIONS`], on a core that has no structure yet.
pub fn early_stub_address(vector: usize) -> u64 {
    (&raw const early_stubs) as u64 + (vector * STUB_BYTES) as u64
}

/// Prepares this core for system calls. Entering clears the interrupt, direction, trap, nested-task and
/// alignment-check flags.
pub(super) fn enable_syscalls() {
    let ring = |selector: u16, level| SegmentSelector::new(selector >> 3, level);
    Star::write(
        ring(USER_CODE, PrivilegeLevel::Ring3),
        ring(USER_DATA, PrivilegeLevel::Ring3),
        ring(KERNEL_CODE, PrivilegeLevel::Ring0),
        ring(KERNEL_CODE + 8, PrivilegeLevel::Ring0),
    )
    .expect("the selectors of `descriptors` stand where SYSRET computes them");
    LStar::write(VirtAddr::new(syscall_entry as *const () as u64));
    SFMask::write(
        RFlags::INTERRUPT_FLAG
            | RFlags::DIRECTION_FLAG
            | RFlags::TRAP_FLAG
            | RFlags::NESTED_TASK
            | RFlags::ALIGNMENT_CHECK,
    );
}

/// Leaves the kernel with the registers of `frame`, which must be a user context.
pub fn leave(frame: &TrapFrame) -> ! {
    assert!(frame.is_of_user(), "only user contexts leave the kernel");
    // SAFETY: the frame is a whole user context, since only `arch` writes its fields; interrupts are disabled in the kernel, so nothing uses the stack while
    // the frame stands in for it.
    unsafe { leave_to(frame) }
}
