//! The frame that a signal's handler gets: Linux's `struct rt_sigframe` for x86-64 (arch/x86/include/uapi/asm/sigcontext.h,
//! ucontext.h), and the way back from it.

use lwk_abi::address::USER_END;
use lwk_abi::syscall::errno::EFAULT;

use crate::Errno;
use crate::machine::{Machine, read_u64};
use crate::registers::Registers;
use crate::signals::{AlternateStack, Information, alternate_stack};

/// Where and how a frame is built.
pub struct Delivery {
    /// End of the alternate stack if the frame goes there.
    pub top: Option<u64>,
    /// Signals that were blocked before.
    pub blocked: u64,
    /// The alternate stack as in `stack_t`.
    pub stack: [u64; 3],
    /// Address of the handler, and of the code that it returns to.
    pub handler: u64,
    pub restorer: u64,
}

/// Bytes below the stack pointer that compiled code may use (System V ABI, AMD64 supplement, section 3.2.2).
const RED_ZONE_BYTES: u64 = 128;
/// Words of `struct ucontext` with one word for the set of signals.
const CONTEXT_WORDS: usize = 38;
const CONTEXT_BYTES: u64 = 8 * CONTEXT_WORDS as u64;
const INFORMATION_BYTES: u64 = 128;
/// Return address, context, information.
const FRAME_BYTES: u64 = 8 + CONTEXT_BYTES + INFORMATION_BYTES;
/// Alignment of the extended state.
const FLOAT_ALIGN: u64 = 64;
/// Words of the context: the alternate stack's, the general registers', the state's pointer, the set of signals.
const AT_STACK: usize = 2;
const AT_REGISTERS: usize = 5;
const AT_FLOAT: usize = AT_REGISTERS + 23;
const AT_BLOCKED: usize = 37;
/// `UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS`.
const CONTEXT_FLAGS: u64 = 7;
/// Code and stack segments of programs as Linux tells them.
const SEGMENTS: u64 = 0x33 | 0x2b << 48;

/// Flags that a program can set: carry, parity, adjust, zero, sign, trap, direction, overflow, resume, alignment, identification.
pub const OWN_FLAGS: u64 = 0x25_0dd5;
/// Flags that are always set: the reserved one and interrupts.
pub const FIXED_FLAGS: u64 = 0x202;
/// Flags that a handler starts without: trap, direction, resume.
const CLEARED_FLAGS: u64 = 0x1_0500;

impl Registers {
    fn words(&self, blocked: u64) -> [u64; 23] {
        [
            self.r8,
            self.r9,
            self.r10,
            self.r11,
            self.r12,
            self.r13,
            self.r14,
            self.r15,
            self.rdi,
            self.rsi,
            self.rbp,
            self.rbx,
            self.rdx,
            self.rax,
            self.rcx,
            self.rsp,
            self.rip,
            self.rflags,
            SEGMENTS,
            self.error,
            self.vector,
            blocked,
            self.address,
        ]
    }
}

/// Builds the frame below the program's stack pointer and its red zone, or at the alternate stack's end, and sets the registers to the
/// handler's start.
///
/// # Errors
/// `EFAULT` if there is no stack for it.
pub fn build<M: Machine>(
    machine: &M,
    registers: &mut Registers,
    information: Information,
    place: &Delivery,
) -> Result<(), Errno> {
    let top = place.top.unwrap_or(registers.rsp.wrapping_sub(RED_ZONE_BYTES));
    let float_bytes = machine.float_bytes();
    let float = top.wrapping_sub(float_bytes) & !(FLOAT_ALIGN - 1);
    // The handler finds the stack as after a call.
    let frame = (float.wrapping_sub(FRAME_BYTES) & !15).wrapping_sub(8);
    if frame >= top {
        return Err(Errno(EFAULT));
    }
    machine.check_writable(frame, top - frame)?;
    if float_bytes > 0 {
        machine.save_float(float)?;
    }
    let mut context = [0; CONTEXT_WORDS];
    context[0] = CONTEXT_FLAGS;
    context[AT_STACK..AT_REGISTERS].copy_from_slice(&place.stack);
    context[AT_REGISTERS..AT_FLOAT].copy_from_slice(&registers.words(place.blocked));
    context[AT_FLOAT] = if float_bytes > 0 { float } else { 0 };
    context[AT_BLOCKED] = place.blocked;
    machine.write(frame, &place.restorer.to_le_bytes())?;
    let context_at = frame + 8;
    for (index, word) in context.iter().enumerate() {
        machine.write(context_at + 8 * index as u64, &word.to_le_bytes())?;
    }
    let information_at = context_at + CONTEXT_BYTES;
    let mut bytes = [0; INFORMATION_BYTES as usize];
    bytes[..4].copy_from_slice(&information.signal.to_le_bytes());
    bytes[8..12].copy_from_slice(&information.code.to_le_bytes());
    bytes[16..24].copy_from_slice(&information.value.to_le_bytes());
    machine.write(information_at, &bytes)?;
    registers.rdi = information.signal.into();
    registers.rsi = information_at;
    registers.rdx = context_at;
    registers.rax = 0;
    registers.rip = place.handler;
    registers.rsp = frame;
    registers.rflags &= !CLEARED_FLAGS;
    Ok(())
}

/// What a frame says.
pub struct Restored {
    /// What the program goes on with; flags that it may not set are as they must be.
    pub registers: Registers,
    /// Signals to be blocked again, one bit each.
    pub blocked: u64,
    /// The alternate stack, if it says one that `sigaltstack` would take.
    pub stack: Option<AlternateStack>,
}

/// Reads the frame back that the stack pointer leads to, as the handler's return leaves it.
///
/// # Errors
/// `EFAULT` if it cannot be read, or says an address that is no program's.
pub fn restore<M: Machine>(machine: &M, now: &Registers) -> Result<Restored, Errno> {
    let context = now.rsp;
    machine.check_readable(context, CONTEXT_BYTES)?;
    let word = |index: usize| read_u64(machine, context + 8 * index as u64);
    let register = |index: usize| word(AT_REGISTERS + index);
    let registers = Registers {
        r8: register(0)?,
        r9: register(1)?,
        r10: register(2)?,
        r11: register(3)?,
        r12: register(4)?,
        r13: register(5)?,
        r14: register(6)?,
        r15: register(7)?,
        rdi: register(8)?,
        rsi: register(9)?,
        rbp: register(10)?,
        rbx: register(11)?,
        rdx: register(12)?,
        rax: register(13)?,
        rcx: register(14)?,
        rsp: register(15)?,
        rip: register(16)?,
        rflags: register(17)? & OWN_FLAGS | FIXED_FLAGS,
        ..Registers::default()
    };
    // Where no program can be there is nothing to return to.
    if registers.rip >= USER_END {
        return Err(Errno(EFAULT));
    }
    machine.load_float(word(AT_FLOAT)?)?;
    let stack = alternate_stack([word(AT_STACK)?, word(AT_STACK + 1)?, word(AT_STACK + 2)?]).ok();
    Ok(Restored { registers, blocked: word(AT_BLOCKED)?, stack })
}
