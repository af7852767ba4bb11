//! Texts about the rank and its node, in the words of Linux's `proc(5)`, as far as programs read them. A text is written anew for
//! each read, and only the part that is asked for is kept.

use core::fmt::{self, Write};

use lwk_abi::address::{JOB_PAGE, PAGE_BYTES};
use lwk_files::Special;
use lwk_mm::Access;

use crate::machine::Machine;
use crate::process::Process;
use crate::{Answer, identity};

/// Bytes that one read gives at most.
const WINDOW_BYTES: usize = 1024;

/// Keeps what falls between two offsets of a text.
struct Window {
    bytes: [u8; WINDOW_BYTES],
    used: usize,
    /// Offset of the first byte to keep.
    start: u64,
    /// Bytes to keep at most.
    most: usize,
    /// Offset of the next byte of the text.
    at: u64,
}

impl Write for Window {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.at >= self.start
                && self.used < self.most
                && let Some(place) = self.bytes.get_mut(self.used)
            {
                *place = byte;
                self.used += 1;
            }
            self.at += 1;
        }
        Ok(())
    }
}

/// Reads a part of a text, from byte `offset` on, into memory at `target` that has been checked. The answer is the bytes read, 1024 at most;
/// 0 at its end.
pub fn read<M: Machine>(
    process: &Process,
    machine: &M,
    special: Special,
    offset: u64,
    target: u64,
    bytes: u64,
) -> Answer {
    let most = bytes.min(WINDOW_BYTES as u64) as usize;
    let mut window = Window { bytes: [0; WINDOW_BYTES], used: 0, start: offset, most, at: 0 };
    // The window takes everything, and numbers format without fail.
    let _ = match special {
        Special::Maps => maps(process, machine, &mut window),
        Special::Status => status(machine, &mut window),
        Special::Processors => processors(machine, &mut window),
        Special::Memory => memory(machine, &mut window),
        Special::Online => online(machine, &mut window),
        _ => Ok(()),
    };
    machine.write(target, window.bytes.get(..window.used).unwrap_or_default())?;
    Ok(window.used as u64)
}

fn maps<M: Machine>(process: &Process, machine: &M, out: &mut Window) -> fmt::Result {
    let layout = machine.layout();
    line(out, JOB_PAGE, JOB_PAGE + PAGE_BYTES, Access::R, "[job]")?;
    for region in &layout.regions {
        // Variables and heap are one region.
        if region.start <= layout.heap_start && layout.heap_start < region.end {
            line(out, region.start, layout.heap_start, region.access, "/program")?;
            line(out, layout.heap_start, process.heap.break_end(), region.access, "[heap]")?;
            for area in process.heap.areas() {
                line(out, area.start(), area.end(), region.access, "")?;
            }
        } else {
            let name = if region.start == layout.stack_start { "[stack]" } else { "/program" };
            line(out, region.start, region.end, region.access, name)?;
        }
    }
    Ok(())
}

fn line(out: &mut Window, start: u64, end: u64, access: Access, name: &str) -> fmt::Result {
    if start >= end {
        return Ok(());
    }
    let gap = if name.is_empty() { "" } else { "                          " };
    writeln!(out, "{start:08x}-{end:08x} {access}p 00000000 00:00 0 {gap}{name}")
}

fn status<M: Machine>(machine: &M, out: &mut Window) -> fmt::Result {
    let facts = machine.facts();
    let kib = machine.layout().segment_bytes >> 10;
    let number = identity::process_number(machine);
    writeln!(
        out,
        "Name:\trank{}\nState:\tR (running)\nTgid:\t{number}\nPid:\t{number}\nPPid:\t0",
        facts.rank
    )?;
    writeln!(out, "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0")?;
    for name in ["VmPeak", "VmSize", "VmLck", "VmHWM", "VmRSS"] {
        writeln!(out, "{name}:\t{kib:8} kB")?;
    }
    writeln!(out, "Threads:\t1\nCpus_allowed_list:\t{}\nMems_allowed_list:\t0", facts.core)
}

fn processors<M: Machine>(machine: &M, out: &mut Window) -> fmt::Result {
    let facts = machine.facts();
    let khz = facts.ticks_a_second / 1000;
    for core in 0..facts.cores {
        writeln!(out, "processor\t: {core}\nmodel name\t: x86-64")?;
        writeln!(out, "cpu MHz\t\t: {}.{:03}\ncpu cores\t: {}\n", khz / 1000, khz % 1000, facts.cores)?;
    }
    Ok(())
}

fn memory<M: Machine>(machine: &M, out: &mut Window) -> fmt::Result {
    let facts = machine.facts();
    let (total, free) = (facts.memory_bytes >> 10, facts.free_bytes >> 10);
    for (name, kib) in [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
    ] {
        writeln!(out, "{name}:{kib:>width$} kB", width = 23 - name.len())?;
    }
    Ok(())
}

fn online<M: Machine>(machine: &M, out: &mut Window) -> fmt::Result {
    match machine.facts().cores {
        0 | 1 => writeln!(out, "0"),
        cores => writeln!(out, "0-{}", cores - 1),
    }
}
