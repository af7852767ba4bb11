//! x86-64: single instructions that no compiler would write.
//!
//! Nothing here but [`cpuid`] returns unless it says so: each instruction faults, and the rank's job ends. Should one not fault, the function
//! returns and the caller says so.

use core::arch::asm;
use core::arch::x86_64::__cpuid_count;

/// What the processor says of itself: `eax`, `ebx`, `ecx`, `edx` of a leaf and subleaf (Intel SDM volume 2A, CPUID).
pub fn cpuid(leaf: u32, subleaf: u32) -> [u32; 4] {
    let said = __cpuid_count(leaf, subleaf);
    [said.eax, said.ebx, said.ecx, said.edx]
}

/// A function that runs one line of assembly, with a documentation line.
macro_rules! instruction {
    ($($(#[$text:meta])* $name:ident: $($line:literal),+;)*) => {
        $(
            $(#[$text])*
            pub fn $name() {
                // SAFETY: the instructions are meant to fault, which ends the rank; if they do not, they have changed nothing
                // but the registers named, and the flags.
                unsafe {
                    asm!($($line),+, out("rax") _, out("rcx") _, out("rdx") _, out("r11") _);
                }
            }
        )*
    };
}

instruction! {
    /// Halts the processor: ring 0 only.
    halt: "hlt";
    /// Disables interrupts: needs I/O privilege.
    disable_interrupts: "cli";
    /// Reads the port of the system control byte: needs I/O privilege.
    port_input: "mov dx, 0x92", "in al, dx";
    /// Writes the delay port: needs I/O privilege.
    port_output: "mov dx, 0x80", "xor eax, eax", "out dx, al";
    /// Writes the entry point of system calls: ring 0 only.
    write_msr: "mov ecx, 0xc0000082", "xor eax, eax", "xor edx, edx", "wrmsr";
    /// Reads the time stamp counter by its number: ring 0 only.
    read_msr: "mov ecx, 0x10", "rdmsr";
    /// Replaces the page tables: ring 0 only.
    load_cr3: "xor eax, eax", "mov cr3, rax";
    /// Exchanges the GS base with the kernel's: ring 0 only.
    swap_gs: "swapgs";
    /// Returns from a system call that was never made: ring 0 only.
    system_return: "sysretq";
    /// Loads an interrupt table: ring 0 only.
    load_idt: "push 0", "push 0", "lidt [rsp]", "add rsp, 16";
    /// Invalidates the caches: ring 0 only.
    invalidate_caches: "wbinvd";
    /// The instruction that is defined to be undefined.
    undefined: "ud2";
    /// The breakpoint instruction.
    breakpoint: "int3";
    /// The in-circuit emulator's breakpoint: a debug exception.
    debug_trap: ".byte 0xf1";
    /// Sets the trap flag: a debug exception after the next instruction.
    single_step: "pushfq", "or qword ptr [rsp], 0x100", "popfq", "nop";
    /// Sets the trap flag and makes a system call: the exception must come in the program, not in the kernel.
    single_step_syscall: "pushfq", "or qword ptr [rsp], 0x100", "mov eax, 39", "popfq", "syscall", "nop";
    /// The system call gate of 32-bit Linux: no gate for programs.
    interrupt_80: "mov eax, 20", "int 0x80";
    /// A gate that exists, but not for programs.
    interrupt_page_fault: "int 14";
    /// Loads the kernel's data selector.
    load_kernel_selector: "mov eax, 0x10", "mov ss, eax";
    /// Loads a selector beyond the table.
    load_bad_selector: "mov eax, 0xfff8", "mov ds, eax";
    /// Divides by zero.
    divide_by_zero: "xor ecx, ecx", "mov eax, 1", "xor edx, edx", "div ecx";
    /// Divides so that the quotient does not fit.
    divide_overflow: "mov ecx, 1", "xor eax, eax", "mov edx, 2", "div ecx";
}

/// Divides by zero with vector instructions, the exception unmasked.
pub fn vector_divide_by_zero() {
    let mut control = 0u32;
    // SAFETY: the division faults, which ends the rank; if it does not, the control word is as it was.
    unsafe {
        asm!(
            "stmxcsr [{control}]",
            "push qword ptr [{control}]",
            "and dword ptr [{control}], {unmasked}",
            "ldmxcsr [{control}]",
            "mov {one:e}, 1",
            "cvtsi2sd {x}, {one:e}",
            "xorpd {y}, {y}",
            "divsd {x}, {y}",
            "ldmxcsr [rsp]",
            "add rsp, 8",
            control = in(reg) &raw mut control,
            // All but the mask of division by zero.
            unmasked = const !0x200i32,
            one = out(reg) _,
            x = out(xmm_reg) _,
            y = out(xmm_reg) _,
        );
    }
}

/// Divides by zero in the x87 unit, the exception unmasked.
pub fn x87_divide_by_zero() {
    let control: u16 = 0x37b;
    // SAFETY: the wait after the division faults, which ends the rank; the x87 stack is declared lost.
    unsafe {
        asm!(
            "fninit",
            "fldcw [{control}]",
            "fld1",
            "fldz",
            "fdivp st(1), st",
            "fwait",
            control = in(reg) &raw const control,
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
        );
    }
}

/// Loads a word at an odd address with alignment checking on.
pub fn unaligned_load() {
    let words = [0u64; 2];
    // SAFETY: the load, inside the array, faults, which ends the rank; if it does not, the flag is cleared again.
    unsafe {
        asm!(
            "pushfq",
            "or qword ptr [rsp], 0x40000",
            "popfq",
            "mov {value}, [{words} + 1]",
            "pushfq",
            "and qword ptr [rsp], -0x40001",
            "popfq",
            words = in(reg) &raw const words,
            value = out(reg) _,
        );
    }
}

/// Makes a system call with the stack pointer at the address `stack`, then uses the stack: the call must not care, the use faults.
pub fn syscall_on_stack(stack: u64) {
    // SAFETY: the push faults, which ends the rank; if it does not, the stack pointer is put back.
    unsafe {
        asm!(
            "mov {old}, rsp",
            "mov rsp, {stack}",
            "mov eax, 39",
            "syscall",
            "push rax",
            "mov rsp, {old}",
            stack = in(reg) stack,
            old = out(reg) _,
            out("rax") _,
            out("rcx") _,
            out("r11") _,
        );
    }
}

/// Faults with the stack pointer at the address `stack`: the kernel must bring a stack of its own.
pub fn undefined_on_stack(stack: u64) {
    // SAFETY: the instruction faults, which ends the rank; if it does not, the stack pointer is put back.
    unsafe {
        asm!("mov {old}, rsp", "mov rsp, {stack}", "ud2", "mov rsp, {old}", stack = in(reg) stack, old = out(reg) _);
    }
}

/// Sets the nested-task flag, which makes `iretq` fault, and then faults itself: the kernel's handlers must not inherit it.
pub fn undefined_with_nested_task() {
    // SAFETY: the last instruction faults, which ends the rank.
    unsafe {
        asm!("pushfq", "or qword ptr [rsp], 0x4000", "popfq", "ud2");
    }
}

/// Goes on at an address, where no code of this program is.
pub fn jump(address: u64) {
    // SAFETY: the address is one where no code of this program is, so the jump faults, which ends the rank.
    unsafe { asm!("jmp {}", in(reg) address, options(noreturn)) }
}

/// Makes system call 39 (`getpid`) with unusual flags set, returns its result and the flags after it: direction, alignment
/// check, nested task.
pub fn getpid_with_odd_flags() -> (i64, u64) {
    let result: i64;
    let flags: u64;
    // SAFETY: the call touches no memory; the flags are put back before any other instruction could depend on them.
    unsafe {
        asm!(
            "pushfq",
            "pushfq",
            "or qword ptr [rsp], 0x44400",
            "popfq",
            "mov eax, 39",
            "syscall",
            "pushfq",
            "pop {flags}",
            "popfq",
            flags = out(reg) flags,
            out("rax") result,
            out("rcx") _,
            out("r11") _,
        );
    }
    (result, flags)
}

/// Makes a system call with every other register loaded, and returns how many of those that must survive have changed.
pub fn registers_changed_by_getpid() -> u64 {
    let changed: u64;
    // SAFETY: the call touches no memory; rbx and rbp, which cannot be named as operands, are saved around it.
    unsafe {
        asm!(
            "push rbx",
            "push rbp",
            "mov rbx, 0x101",
            "mov rbp, 0x102",
            "mov rdi, 0x103",
            "mov rsi, 0x104",
            "mov rdx, 0x105",
            "mov r8, 0x106",
            "mov r9, 0x107",
            "mov r10, 0x108",
            "mov r12, 0x109",
            "mov r13, 0x10a",
            "mov r14, 0x10b",
            "mov r15, 0x10c",
            "mov eax, 39",
            "syscall",
            "xor eax, eax",
            "sub rbx, 0x101",
            "or rax, rbx",
            "sub rbp, 0x102",
            "or rax, rbp",
            "sub rdi, 0x103",
            "or rax, rdi",
            "sub rsi, 0x104",
            "or rax, rsi",
            "sub rdx, 0x105",
            "or rax, rdx",
            "sub r8, 0x106",
            "or rax, r8",
            "sub r9, 0x107",
            "or rax, r9",
            "sub r10, 0x108",
            "or rax, r10",
            "sub r12, 0x109",
            "or rax, r12",
            "sub r13, 0x10a",
            "or rax, r13",
            "sub r14, 0x10b",
            "or rax, r14",
            "sub r15, 0x10c",
            "or rax, r15",
            "pop rbp",
            "pop rbx",
            out("rax") changed,
            out("rdi") _, out("rsi") _, out("rdx") _, out("rcx") _, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            out("r12") _, out("r13") _, out("r14") _, out("r15") _,
        );
    }
    changed
}
