//! What a rank died of, in one sentence, and the signal a Linux process would have died of.
//!
//! Vectors and page-fault error bits: Intel SDM volume 3, tables 6-1 and 4-12 (section 4.7). Signals: Linux's x86 traps.

use core::fmt;

use lwk_abi::address::SLOT_BYTES;
use lwk_abi::exit::signal::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
use lwk_mm::layout::{Layout, MemoryKind};

/// Page-fault error bit: the page is mapped, its permissions forbid the access.
const PF_PRESENT: u64 = 1 << 0;
/// Page-fault error bit: the access was a write.
const PF_WRITE: u64 = 1 << 1;
/// Page-fault error bit: the access was an instruction fetch.
const PF_FETCH: u64 = 1 << 4;

/// A processor exception that a rank raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Exception vector, 0 to 31.
    pub vector: u8,
    /// Error code the processor pushed; 0 where it pushes none.
    pub error_code: u64,
    /// Faulting address (CR2); only meaningful for a page fault.
    pub address: u64,
}

/// Vector of the page fault.
const PAGE_FAULT: u8 = 14;

impl Fault {
    /// Number of the signal that a Linux process dies of for this exception; `SIGSEGV` for a vector that has none of its own.
    pub fn signal(&self) -> i32 {
        match self.vector {
            0 | 16 | 19 => SIGFPE,
            1 | 3 => SIGTRAP,
            6 => SIGILL,
            12 | 17 => SIGBUS,
            _ => SIGSEGV,
        }
    }

    /// What the exception says, with the place it hit named from the rank's layout; `node_size` is the number of ranks
    /// on the node, whose slots are in use.
    pub fn reason(&self, layout: &Layout, node_size: u32) -> Reason {
        if self.vector != PAGE_FAULT {
            return Reason::Exception(self.vector);
        }
        Reason::Page(PageFault {
            address: self.address,
            error_code: self.error_code,
            place: layout.describe(self.address),
            in_slot: layout.describe(self.address % SLOT_BYTES),
            node_size,
        })
    }
}

/// A page fault with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    address: u64,
    error_code: u64,
    place: MemoryKind,
    /// What is there in the slot it is in.
    in_slot: MemoryKind,
    node_size: u32,
}

/// A node of the job that ranks of this one wait for in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostNode {
    pub node: u32,
    /// Time since something was heard of it, in microseconds.
    pub silent_us: u64,
    /// It has begun anew and knows nothing of the job so far.
    pub restarted: bool,
}

/// What a rank died of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A bad memory access.
    Page(PageFault),
    /// Any other processor exception, by its vector.
    Exception(u8),
    /// A signal from outside the job (host home only).
    Signal(i32),
    /// A signal that the rank has raised itself, or the want of a stack for its handler.
    Raised(i32),
    /// The host had no memory left for a page of the segment (host home only); the address that was touched.
    HostMemory(u64),
    /// The host ran out of memory and has chosen this rank to be killed (host home only).
    OutOfMemory,
    /// The rank ended the job with this status ([`lwk_abi::syscall::JOB_ABORT`]).
    Abort(i32),
    /// The rank exited with this status, not 0, which ends the job.
    Exit(i32),
    /// The rank exited with status 0 while its peers counted on it ([`lwk_abi::syscall::JOB_HOLD`]).
    Desertion,
    /// A node of the job is lost while the rank waits ([`lwk_abi::syscall::JOB_WAITS`]).
    LostNode(LostNode),
    /// The job's time limit passed; not a death by its own hand, but the report says where the rank was.
    Timeout,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reason::Page(fault) => fault.fmt(f),
            Reason::Exception(vector) => f.write_str(exception(vector)),
            Reason::Signal(number) => {
                write!(f, "signal {number} ({}), sent from outside", signal_name(number))
            }
            Reason::Raised(number) => {
                write!(f, "signal {number} ({}), raised by itself", signal_name(number))
            }
            Reason::HostMemory(address) => {
                write!(f, "the host having no memory left for the page at address {address:#x}")
            }
            Reason::OutOfMemory => f.write_str(
                "the host running out of memory: Linux killed it to get some back; use less memory, or fewer ranks",
            ),
            Reason::Abort(status) => write!(f, "its call to abort with status {status}"),
            Reason::Exit(status) => write!(f, "its exit with status {status}"),
            Reason::Desertion => f.write_str("its exit before the runtime was finalized"),
            Reason::LostNode(lost) => lost.fmt(f),
            Reason::Timeout => f.write_str("the time limit"),
        }
    }
}

impl fmt::Display for LostNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostNode { node, silent_us, restarted } = *self;
        if restarted {
            return write!(f, "node {node} is lost, it has begun anew");
        }
        let (seconds, tenths) = (silent_us / 1_000_000, silent_us / 100_000 % 10);
        write!(f, "node {node} is lost, it has said nothing for {seconds}.{tenths} s")
    }
}

impl fmt::Display for PageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (access, right) = if self.error_code & PF_FETCH != 0 {
            ("an instruction fetch from", "executable")
        } else if self.error_code & PF_WRITE != 0 {
            ("a write to", "writable")
        } else {
            ("a read of", "readable")
        };
        write!(f, "{access} address {:#x} (", self.address)?;
        match self.place {
            MemoryKind::PeerSlot(rank) if rank >= self.node_size => write!(f, "empty slot {}", rank + 1)?,
            MemoryKind::PeerSlot(rank) => write!(f, "{} of node rank {rank}", self.in_slot)?,
            MemoryKind::StackGuard => f.write_str("the stack guard: the stack is full")?,
            place => place.fmt(f)?,
        }
        f.write_str("): ")?;
        match (self.place, self.error_code & PF_PRESENT != 0) {
            // Some homes hide whether a kernel page is mapped; the kernel's memory is out of bounds either way.
            (MemoryKind::Kernel, _) => f.write_str("page belongs to the kernel"),
            (_, false) => f.write_str("page not mapped"),
            (_, true) => write!(f, "page not {right}"),
        }
    }
}

/// The exception of a vector, in words.
fn exception(vector: u8) -> &'static str {
    match vector {
        0 => "an integer division by zero or overflow",
        1 => "a debug trap",
        2 => "a non-maskable interrupt",
        3 => "a breakpoint",
        4 => "an overflow trap",
        5 => "a bound range fault",
        6 => "an invalid instruction",
        7 => "a missing floating-point unit",
        10 => "an invalid task state segment",
        11 => "a missing segment",
        12 => "a stack segment fault (non-canonical stack address)",
        13 => "a general protection fault (privileged instruction or non-canonical address)",
        14 => "a page fault",
        16 => "an x87 floating-point error",
        17 => "a misaligned access with alignment checking on",
        18 => "a machine check",
        19 => "a SIMD floating-point error",
        21 => "a control protection fault",
        _ => "an unknown processor exception",
    }
}

/// Linux's name of a signal by its number (signal(7)), of those that end a rank; "a signal" for any other.
pub fn signal_name(number: i32) -> &'static str {
    match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        SIGILL => "SIGILL",
        SIGTRAP => "SIGTRAP",
        SIGABRT => "SIGABRT",
        SIGBUS => "SIGBUS",
        SIGFPE => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        SIGSEGV => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => "a signal",
    }
}

/// The first sentence of a failure report.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    /// The rank in the job.
    pub rank: u32,
    /// The core it ran on.
    pub core: u32,
    /// What it died of.
    pub reason: Reason,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Death { rank, core, reason } = self;
        match reason {
            Reason::Abort(status) => {
                write!(f, "rank {rank} on core {core} aborted the job with status {status}")
            }
            Reason::Exit(status) => write!(f, "rank {rank} on core {core} exited with status {status}"),
            Reason::Desertion => {
                write!(f, "rank {rank} on core {core} exited without finalizing the message passing runtime")
            }
            Reason::LostNode(lost) => write!(f, "rank {rank} on core {core} waits in vain: {lost}"),
            Reason::Timeout => write!(f, "rank {rank} on core {core} was here when the time limit passed"),
            _ => write!(f, "rank {rank} on core {core} died of {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use lwk_mm::Access;
    use lwk_mm::layout::ImageRange;
    use std::format;
    use std::string::String;

    /// Where GNU ld's programs begin.
    const IMAGE: u64 = 0x40_0000;

    /// What rank 1 of 2, with a page each of code and data and 16 MiB, dies of.
    fn sentence(vector: u8, error_code: u64, address: u64) -> String {
        let image = [
            ImageRange { start: IMAGE, end: IMAGE + 0x1000, access: Access::RX },
            ImageRange { start: IMAGE + 0x1000, end: IMAGE + 0x2000, access: Access::RW },
        ];
        let layout = Layout::new(&image, 16 << 20).unwrap();
        let reason = Fault { vector, error_code, address }.reason(&layout, 2);
        format!("{}", Death { rank: 1, core: 3, reason })
    }

    #[test]
    fn sentences() {
        for (vector, code, address, text) in [
            (14, 0x4, 0, "a read of address 0x0 (the null page): page not mapped"),
            (14, 0x7, 0x40_0000, "a write to address 0x400000 (code): page not writable"),
            (
                14,
                0x15,
                0x13f_fff0,
                "an instruction fetch from address 0x13ffff0 (the stack): page not executable",
            ),
            (
                14,
                0x6,
                0xff_fff8,
                "a write to address 0xfffff8 (the stack guard: the stack is full): page not mapped",
            ),
            (
                14,
                0x5,
                0xffff_8000_0000_0000,
                "a read of address 0xffff800000000000 (kernel memory): page belongs to the kernel",
            ),
            (
                14,
                0x4,
                2 << 39,
                "a read of address 0x10000000000 (the null page of node rank 1): page not mapped",
            ),
            (
                14,
                0x7,
                (1 << 39) + 0x40_0000,
                "a write to address 0x8000400000 (code of node rank 0): page not writable",
            ),
            (14, 0x4, 4 << 39, "a read of address 0x20000000000 (empty slot 4): page not mapped"),
            (6, 0, 0, "an invalid instruction"),
            (0, 0, 0, "an integer division by zero or overflow"),
        ] {
            assert_eq!(sentence(vector, code, address), format!("rank 1 on core 3 died of {text}"));
        }
    }

    #[test]
    fn a_lost_node_is_named_with_the_time_since_it_spoke() {
        let sentence = |restarted| {
            let reason = Reason::LostNode(LostNode { node: 7, silent_us: 8_567_890, restarted });
            format!("{}", Death { rank: 1, core: 3, reason })
        };
        assert_eq!(
            sentence(false),
            "rank 1 on core 3 waits in vain: node 7 is lost, it has said nothing for 8.5 s"
        );
        assert_eq!(sentence(true), "rank 1 on core 3 waits in vain: node 7 is lost, it has begun anew");
    }

    #[test]
    fn signals_are_those_of_linux() {
        for (vector, signal) in [(0, 8), (3, 5), (6, 4), (12, 7), (13, 11), (14, 11), (17, 7), (19, 8)] {
            assert_eq!(Fault { vector, error_code: 0, address: 0 }.signal(), signal, "vector {vector}");
        }
    }
}
