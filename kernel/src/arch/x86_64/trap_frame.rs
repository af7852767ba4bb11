//! The registers of whatever was running when the kernel was entered, in the order the entry code pushes them.

use lwk_abi::address::USER_END;
use lwk_failure::{Position, Registers};
use lwk_personality::{FIXED_FLAGS, OWN_FLAGS};

/// `vector` of a frame that a system call made; all others are interrupt vectors (0 to 255).
pub const SYSCALL_VECTOR: u64 = 0x100;

/// `vector` of a frame that a program goes on with from elsewhere than it entered.
const RESUME_VECTOR: u64 = 0x101;

/// Bytes of the `syscall` instruction.
const SYSCALL_BYTES: u64 = 2;

/// A saved context: general registers, the cause of entry, and the part that `iretq` restores.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrapFrame {
    r15: u64,
    r14: u64,
    r13: u64,
    r12: u64,
    r11: u64,
    r10: u64,
    r9: u64,
    r8: u64,
    rbp: u64,
    rdi: u64,
    rsi: u64,
    rdx: u64,
    rcx: u64,
    rbx: u64,
    rax: u64,
    /// Interrupt vector, or [`SYSCALL_VECTOR`].
    pub(super) vector: u64,
    /// The processor's error code; 0 where it has none.
    pub(super) error: u64,
    pub(super) rip: u64,
    cs: u64,
    rflags: u64,
    rsp: u64,
    ss: u64,
}

/// Bytes of a frame; the entry code counts on it.
pub const FRAME_BYTES: usize = core::mem::size_of::<TrapFrame>();
const _: () = assert!(FRAME_BYTES == 176 && FRAME_BYTES.is_multiple_of(16));

impl TrapFrame {
    /// Whether a user program was running: the privilege level of the code segment is 3.
    pub fn is_of_user(&self) -> bool {
        self.cs & 3 == 3
    }

    /// A frame that starts a program at `entry` with its stack pointer at `stack` and every other register zero.
    pub fn start_of_program(entry: u64, stack: u64) -> TrapFrame {
        TrapFrame {
            rip: entry,
            cs: super::descriptors::USER_CODE.into(),
            rflags: FIXED_FLAGS,
            rsp: stack,
            ss: super::descriptors::USER_DATA.into(),
            ..TrapFrame::default()
        }
    }

    /// The general registers, for reports.
    pub fn registers(&self) -> Registers {
        Registers {
            rip: self.rip,
            rsp: self.rsp,
            rflags: self.rflags,
            rax: self.rax,
            rbx: self.rbx,
            rcx: self.rcx,
            rdx: self.rdx,
            rsi: self.rsi,
            rdi: self.rdi,
            rbp: self.rbp,
            r8: self.r8,
            r9: self.r9,
            r10: self.r10,
            r11: self.r11,
            r12: self.r12,
            r13: self.r13,
            r14: self.r14,
            r15: self.r15,
        }
    }

    /// The registers as Linux tells them to a signal's handler; `address` is that of a page fault.
    pub fn to_linux(self, address: u64) -> lwk_personality::Registers {
        let is_call = self.vector == SYSCALL_VECTOR;
        lwk_personality::Registers {
            r8: self.r8,
            r9: self.r9,
            r10: self.r10,
            r11: self.r11,
            r12: self.r12,
            r13: self.r13,
            r14: self.r14,
            r15: self.r15,
            rdi: self.rdi,
            rsi: self.rsi,
            rbp: self.rbp,
            rbx: self.rbx,
            rdx: self.rdx,
            rax: self.rax,
            rcx: self.rcx,
            rsp: self.rsp,
            rip: self.rip,
            rflags: self.rflags,
            error: self.error,
            vector: if is_call { 0 } else { self.vector },
            address,
        }
    }

    /// Has the program go on with these registers, all of them: not by the way of a system call, which loses two. Of the flags it gets
    /// those that a program may have.
    ///
    /// # Panics
    /// If the address is none of a program's.
    pub fn resume_at(&mut self, registers: &lwk_personality::Registers) {
        assert!(registers.rip < USER_END, "a program goes on at an address of its own half");
        self.r8 = registers.r8;
        self.r9 = registers.r9;
        self.r10 = registers.r10;
        self.r11 = registers.r11;
        self.r12 = registers.r12;
        self.r13 = registers.r13;
        self.r14 = registers.r14;
        self.r15 = registers.r15;
        self.rdi = registers.rdi;
        self.rsi = registers.rsi;
        self.rbp = registers.rbp;
        self.rbx = registers.rbx;
        self.rdx = registers.rdx;
        self.rax = registers.rax;
        self.rcx = registers.rcx;
        self.rsp = registers.rsp;
        self.rip = registers.rip;
        self.rflags = registers.rflags & OWN_FLAGS | FIXED_FLAGS;
        self.vector = RESUME_VECTOR;
    }

    /// Where the context stands, for back traces.
    pub fn position(&self) -> Position {
        Position { rip: self.rip, rsp: self.rsp, rbp: self.rbp }
    }

    /// The program's stack pointer.
    pub fn stack_pointer(&self) -> u64 {
        self.rsp
    }

    /// Gives the system call that this frame holds its answer.
    pub fn set_answer(&mut self, answer: u64) {
        self.rax = answer;
    }

    /// Has the program make the system call that this frame holds again.
    pub fn repeat_call(&mut self) {
        self.rip -= SYSCALL_BYTES;
    }

    /// System call number (`rax`) and arguments, in their order, by Linux's convention (syscall(2)).
    pub fn syscall(&self) -> (u64, [u64; 6]) {
        (self.rax, [self.rdi, self.rsi, self.rdx, self.r10, self.r8, self.r9])
    }
}
