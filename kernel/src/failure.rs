//! Failure reports: which rank, on which core, died of what, with registers and a back trace; then its job ends.

use core::fmt;

use lwk_abi::address::{SLOT_BYTES, slot_of};
use lwk_abi::console::{FAILURE, FRAME};
use lwk_abi::exit::SIGNAL_BASE;
use lwk_mm::layout::Place;

use crate::arch::back_trace;
use crate::arch::exceptions::{Cause, PageFault};
use crate::arch::trap_frame::TrapFrame;
use crate::console;
use crate::core_local::Core;
use crate::job;
use crate::rank::Rank;
use crate::scheduler;
use crate::user_memory::UserSlice;

/// Ends the rank whose program this core runs, and with it its job.
pub fn rank_faulted(core: &'static Core, frame: &TrapFrame, cause: Cause) -> ! {
    let rank = core.running().expect("an exception in user mode comes from the rank that runs on the core");
    let reason = Reason { rank, cause };
    end_job(core, rank, Some(frame), SIGNAL_BASE + cause.signal(), format_args!("died of {reason}"))
}

/// Ends the rank that runs on this core because its program asked for it with a status other than 0.
pub fn rank_exited(core: &'static Core, rank: &'static Rank, status: i32) -> ! {
    end_job(core, rank, None, status, format_args!("exited with status {status}"))
}

/// Ends the whole job because a program asked for it.
pub fn rank_aborted(core: &'static Core, rank: &'static Rank, frame: &TrapFrame, status: i32) -> ! {
    end_job(core, rank, Some(frame), status, format_args!("aborted the job with status {status}"))
}

fn end_job(
    core: &'static Core,
    rank: &'static Rank,
    frame: Option<&TrapFrame>,
    status: i32,
    what: fmt::Arguments<'_>,
) -> ! {
    let job = rank.job();
    // Only the first failure is reported: the others are often its consequences.
    if job.fail(status) {
        rank.flush_lines();
        say(rank, format_args!("rank {} on core {} {what}", rank.number(), core.index()));
        if let Some(frame) = frame {
            registers(frame).into_iter().for_each(|line| say(rank, format_args!("  {line}")));
            trace(rank, frame);
        }
        job.stop_everywhere(core);
    }
    rank.end(status);
    scheduler::abandon_stack_and_run(core)
}

fn say(rank: &Rank, text: fmt::Arguments<'_>) {
    console::record_urgently(FAILURE, rank.number(), text);
}

/// A cause, with what the address it names is.
struct Reason<'a> {
    rank: &'a Rank,
    cause: Cause,
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.cause)?;
        let Cause::Page(PageFault { address, present, .. }) = self.cause else { return Ok(()) };
        write!(out, " (")?;
        match self.rank.layout().describe(address) {
            Place::PeerSlot(_) => {
                let peer = slot_of(address) - 1;
                match self.rank.job().rank(peer as usize) {
                    None => write!(out, "an empty slot")?,
                    Some(owner) => {
                        write!(out, "rank {peer}: {}", owner.layout().describe(address % SLOT_BYTES))?
                    }
                }
            }
            Place::StackGuard => write!(out, "the stack guard: the stack is full")?,
            place => write!(out, "{place}")?,
        }
        write!(out, "): {}", if present { "not allowed" } else { "not mapped" })
    }
}

/// The registers of a frame, four a line.
pub fn registers(frame: &TrapFrame) -> [RegisterLine; 5] {
    [
        RegisterLine([("rip", frame.rip), ("rsp", frame.rsp), ("rbp", frame.rbp), ("flags", frame.rflags)]),
        RegisterLine([("rax", frame.rax), ("rbx", frame.rbx), ("rcx", frame.rcx), ("rdx", frame.rdx)]),
        RegisterLine([("rsi", frame.rsi), ("rdi", frame.rdi), ("r8", frame.r8), ("r9", frame.r9)]),
        RegisterLine([("r10", frame.r10), ("r11", frame.r11), ("r12", frame.r12), ("r13", frame.r13)]),
        RegisterLine([("r14", frame.r14), ("r15", frame.r15), ("cs", frame.cs), ("error", frame.error)]),
    ]
}

/// Four registers by name.
pub struct RegisterLine([(&'static str, u64); 4]);

impl fmt::Display for RegisterLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            write!(out, "{gap}{name:>5} {value:016x}")?;
        }
        Ok(())
    }
}

/// Prints the back trace of a program interrupted at `frame`.
pub fn trace(rank: &Rank, frame: &TrapFrame) {
    let say_frame = |address: u64| {
        console::record_urgently(FRAME, rank.number(), format_args!("{address:#x}"));
    };
    let read = |address: u64| {
        let mut word = [0; 8];
        UserSlice::new(address, 8).readable(rank).ok()?.copy_to(&mut word);
        Some(u64::from_le_bytes(word))
    };
    say_frame(frame.rip);
    // A jump into nowhere has not built a frame yet: the caller's address is on top of the stack.
    if frame.rip < lwk_abi::address::SEGMENT_START
        && let Some(caller) = read(frame.rsp)
    {
        say_frame(caller);
    }
    back_trace::walk(frame.rbp, read, say_frame);
}

/// Prints the back traces of ranks that share this core and wait for their turn. For the time limit's report: a rank whose
/// state is being changed at this moment is left out.
pub fn trace_waiting_ranks(core: &Core) {
    let Some(job) = job::current() else { return };
    let running = core.running().map(Rank::number);
    for rank in
        job.ranks_of_core(core.index()).filter(|rank| Some(rank.number()) != running && !rank.has_ended())
    {
        if let Some(frame) = rank.waiting_frame() {
            say(rank, format_args!("rank {} waited for core {} here:", rank.number(), core.index()));
            trace(rank, &frame);
        }
    }
}
