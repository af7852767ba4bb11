//! One-sided communication of rank 0 with rank 1, by OSU's names and, behind the name, the synchronisation: latency of puts, gets and
//! accumulates, bandwidth of puts and gets. The floor is the same without the library: loads, stores and atomics in the peer's memory.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use super::point_to_point::table;
use super::{Bench, Row, Table, microseconds, pattern};
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering, fence};
use lwk_copy::copy;
use lwk_mpi_rt::abi::{COMM_WORLD, datatype, op};
use lwk_mpi_rt::path::WorldRank;
use lwk_mpi_rt::{Handle, Result};
use lwk_mpi_window::{self as window, Buffer, LockKind, TargetBuffer, Windows, with};

/// The largest message, in bytes.
const LARGEST: usize = 4 << 20;
/// Operations between two flushes of the bandwidth tests, as OSU has it.
const WINDOW: u32 = 64;
/// Bytes of an element that is updated.
const WORD: usize = 8;

/// The operation that is measured (MPI 5.0, chapter 12): of bytes if put or get, else of 64-bit integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Put,
    Get,
    Accumulate,
    GetAccumulate,
    FetchAndOp,
    CompareAndSwap,
}

/// What comes after each operation, or around it; locks are shared ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Synchronisation {
    Flush,
    Lock,
    LockAll,
    Fence,
    /// Post, start, complete, wait.
    General,
}

/// A window, this rank's buffers, and the target's memory as this rank reaches it.
struct Setting {
    window: Handle,
    here: Vec<u8>,
    result: Vec<u8>,
    own: *mut u8,
    target: *mut u8,
    /// Who is accessed: rank 1, or the only rank.
    rank: i32,
}

impl Setting {
    fn new(bench: &Bench, bytes: usize) -> Result<Setting> {
        let room = bytes.max(WORD);
        let (window, own) = with(|windows| windows.win_allocate(room as i64, 1, Handle(COMM_WORLD)))?;
        let rank = 1.min(bench.size as i32 - 1);
        let target = with(|windows| windows.win_shared_query(window, rank))?.base;
        let here = (0..room).map(|index| pattern(bench.rank, index)).collect();
        Ok(Setting { window, here, result: vec![0; room], own, target, rank })
    }

    fn perform(&mut self, windows: &mut Windows, operation: Operation, bytes: usize) -> Result<()> {
        let kind = if matches!(operation, Operation::Put | Operation::Get) {
            (datatype::BYTE, bytes)
        } else {
            (datatype::INT64, bytes / WORD)
        };
        let (datatype, count) = (kind.0, kind.1 as i64);
        let place = TargetBuffer { rank: self.rank, displacement: 0, count, datatype };
        let origin = Buffer { address: self.here.as_mut_ptr(), count, datatype };
        let result = Buffer { address: self.result.as_mut_ptr(), ..origin };
        let (window, rank) = (self.window, self.rank);
        // SAFETY: both buffers and the window hold `bytes` bytes, and at least one word.
        unsafe {
            match operation {
                Operation::Put => windows.put(&origin, &place, window),
                Operation::Get => windows.get(&result, &place, window),
                Operation::Accumulate => windows.accumulate(&origin, &place, op::SUM, window),
                Operation::GetAccumulate => windows.get_accumulate(&origin, &result, &place, op::SUM, window),
                Operation::FetchAndOp => {
                    windows.fetch_and_op(origin.address, result.address, datatype, rank, 0, op::SUM, window)
                }
                Operation::CompareAndSwap => {
                    let (new, old) = (origin.address, result.address);
                    windows.compare_and_swap(new, old, old, datatype, rank, 0, window)
                }
            }
        }
    }

    /// The same without the library.
    fn raw(&mut self, operation: Operation, bytes: usize) {
        let (here, result) = (self.here.as_ptr(), self.result.as_mut_ptr());
        // SAFETY: as in `perform`; the window's memory is aligned to lines, and only rank 0 accesses it.
        unsafe {
            match operation {
                Operation::Put => copy(here, self.target, bytes),
                Operation::Get => copy(self.target, result, bytes),
                Operation::CompareAndSwap => {
                    let word = AtomicU64::from_ptr(self.target.cast());
                    let old = result.cast::<u64>().read_unaligned();
                    // Both orders: as the library's, for comparison.
                    let seen = word.compare_exchange(old, 1, Ordering::AcqRel, Ordering::Acquire);
                    result.cast::<u64>().write_unaligned(seen.unwrap_or_else(|seen| seen));
                }
                _ => {
                    for index in 0..bytes / WORD {
                        let word = AtomicU64::from_ptr(self.target.cast::<u64>().add(index));
                        let value = here.cast::<u64>().add(index).read_unaligned();
                        // Both orders: as the library's, for comparison.
                        let old = word.fetch_add(value, Ordering::AcqRel);
                        result.cast::<u64>().add(index).write_unaligned(old);
                    }
                }
            }
        }
    }

    /// `iterations` operations of rank 0, each synchronised.
    fn run(
        &mut self,
        bench: &Bench,
        operation: Operation,
        by: Synchronisation,
        bytes: usize,
        iterations: u32,
    ) -> Result<()> {
        let (window, rank, origin) = (self.window, self.rank, bench.rank == 0);
        match by {
            Synchronisation::Fence => {
                with(|windows| windows.win_fence(0, window))?;
                for _ in 0..iterations {
                    if origin {
                        with(|windows| self.perform(windows, operation, bytes))?;
                    }
                    with(|windows| windows.win_fence(0, window))?;
                }
            }
            Synchronisation::General => {
                for _ in 0..iterations {
                    if bench.rank == rank as u32 {
                        with(|windows| windows.win_post(&[WorldRank(0)], 0, window))?;
                    }
                    if origin {
                        with(|windows| windows.win_start(&[WorldRank(rank as u32)], 0, window))?;
                        with(|windows| self.perform(windows, operation, bytes))?;
                        with(|windows| windows.win_complete(window))?;
                    }
                    if bench.rank == rank as u32 {
                        with(|windows| windows.win_wait(window))?;
                    }
                }
            }
            _ if !origin => {}
            Synchronisation::Flush => {
                with(|windows| windows.win_lock(LockKind::Shared, rank, 0, window))?;
                for _ in 0..iterations {
                    with(|windows| self.perform(windows, operation, bytes))?;
                    with(|windows| windows.win_flush(rank, window))?;
                }
                with(|windows| windows.win_unlock(rank, window))?;
            }
            Synchronisation::Lock => {
                for _ in 0..iterations {
                    with(|windows| windows.win_lock(LockKind::Shared, rank, 0, window))?;
                    with(|windows| self.perform(windows, operation, bytes))?;
                    with(|windows| windows.win_unlock(rank, window))?;
                }
            }
            Synchronisation::LockAll => {
                for _ in 0..iterations {
                    with(|windows| windows.win_lock_all(0, window))?;
                    with(|windows| self.perform(windows, operation, bytes))?;
                    with(|windows| windows.win_unlock_all(window))?;
                }
            }
        }
        Ok(())
    }

    /// Bytes that are wrong after one operation on a window of known content.
    fn verify(
        &mut self,
        bench: &Bench,
        operation: Operation,
        by: Synchronisation,
        bytes: usize,
    ) -> Result<u64> {
        let target = self.rank as u32;
        // What the target has before: its own pattern.
        // SAFETY: this rank's part of the window, which nobody accesses before the barrier; it holds `bytes` bytes.
        unsafe { copy(self.here.as_ptr(), self.own, bytes) };
        self.result.fill(0);
        bench.world.barrier()?;
        self.run(bench, operation, by, bytes, 1)?;
        bench.world.barrier()?;
        let word = |rank: u32, index: usize| {
            let byte = |at| u64::from(pattern(rank, index * WORD + at)) << (8 * at);
            (0..WORD).map(byte).sum::<u64>()
        };
        let arrived = |index: usize| match operation {
            Operation::Put => pattern(0, index),
            Operation::Get | Operation::CompareAndSwap => pattern(target, index),
            _ => {
                let sum = word(0, index / WORD).wrapping_add(word(target, index / WORD));
                (sum >> (8 * (index % WORD))) as u8
            }
        };
        let mut wrong = 0;
        for index in 0..bytes {
            // SAFETY: as above, after the barrier; volatile, since the origin has written it.
            let found = unsafe { self.own.add(index).read_volatile() };
            wrong += u64::from(bench.rank == target && found != arrived(index));
            let fetches = !matches!(operation, Operation::Put | Operation::Accumulate);
            let fetched = self.result[index] == pattern(target, index);
            wrong += u64::from(bench.rank == 0 && fetches && !fetched);
        }
        bench.world.barrier()?;
        Ok(wrong)
    }

    fn free(self) -> Result<()> {
        window::free(self.window)
    }
}

/// Bytes of the messages of an operation's tests.
fn sizes(bench: &Bench, operation: Operation) -> Vec<usize> {
    match operation {
        Operation::FetchAndOp | Operation::CompareAndSwap => vec![WORD],
        Operation::Put | Operation::Get => bench.sizes(1, LARGEST),
        _ => bench.sizes(WORD, LARGEST),
    }
}

const FLOOR: &str = "the same in the peer's memory without the library, and a fence";

/// Time of an operation and its synchronisation (`osu_put_latency`, `osu_get_latency`, `osu_acc_latency`, `osu_get_acc_latency`,
/// `osu_fop_latency`, `osu_cas_latency`).
pub fn latency(
    bench: &Bench,
    name: &'static str,
    operation: Operation,
    by: Synchronisation,
) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    let collective = matches!(by, Synchronisation::Fence | Synchronisation::General);
    for bytes in sizes(bench, operation) {
        let mut setting = Setting::new(bench, bytes)?;
        wrong += setting.verify(bench, operation, by, bytes)?;
        let iterations = bench.iterations(bytes);
        let setting = core::cell::RefCell::new(setting);
        let (ours, floor) = bench.compare(
            || setting.borrow_mut().run(bench, operation, by, bytes, iterations),
            || {
                for _ in 0..iterations {
                    if bench.rank == 0 {
                        setting.borrow_mut().raw(operation, bytes);
                        // Orders what was stored before later loads, as a flush does.
                        fence(Ordering::SeqCst);
                    }
                    if collective && bench.rank < 2 && bench.size > 1 {
                        bench.floor.exchange(bench.rank, 1)?;
                    }
                }
                Ok(())
            },
        )?;
        setting.into_inner().free()?;
        let each = |ticks| microseconds(ticks) / iterations as f64;
        let has_floor = !collective || bench.floor.is_there();
        rows.push(Row::beside(bytes, each(ours), has_floor.then_some(each(floor))));
    }
    let floor = if collective { "the same without the library, and a line exchanged" } else { FLOOR };
    table(bench, name, "Latency (us)", floor, rows, wrong)
}

/// Bandwidth of windows of operations with a flush after each window (`osu_put_bw`, `osu_get_bw`); with `both`, of rank 1 as well
/// (`osu_put_bibw`).
pub fn bandwidth(bench: &Bench, name: &'static str, operation: Operation, both: bool) -> Result<Table> {
    let (mut rows, mut wrong) = (Vec::new(), 0);
    let works = bench.rank == 0 || (both && bench.rank == 1);
    for bytes in bench.sizes(1, LARGEST) {
        let mut setting = Setting::new(bench, bytes)?;
        wrong += setting.verify(bench, operation, Synchronisation::Flush, bytes)?;
        if bench.rank == 1 && bench.size > 1 {
            setting.rank = 0;
            setting.target = with(|windows| windows.win_shared_query(setting.window, 0))?.base;
        }
        let rounds = (bench.iterations(bytes) / WINDOW).max(1);
        let setting = core::cell::RefCell::new(setting);
        let (ours, floor) = bench.compare(
            || if works { windows(&mut setting.borrow_mut(), operation, bytes, rounds) } else { Ok(()) },
            || {
                if works {
                    for _ in 0..rounds {
                        (0..WINDOW).for_each(|_| setting.borrow_mut().raw(operation, bytes));
                        // As in `latency`.
                        fence(Ordering::SeqCst);
                    }
                }
                Ok(())
            },
        )?;
        setting.into_inner().free()?;
        let ways = if both && bench.size > 1 { 2.0 } else { 1.0 };
        let volume = ways * bytes as f64 * (rounds * WINDOW) as f64;
        rows.push(Row::new(bytes, volume / microseconds(ours), volume / microseconds(floor)));
    }
    table(bench, name, "Bandwidth (MB/s)", FLOOR, rows, wrong)
}

fn windows(setting: &mut Setting, operation: Operation, bytes: usize, rounds: u32) -> Result<()> {
    let (window, rank) = (setting.window, setting.rank);
    with(|windows| windows.win_lock(LockKind::Shared, rank, 0, window))?;
    for _ in 0..rounds {
        for _ in 0..WINDOW {
            with(|windows| setting.perform(windows, operation, bytes))?;
        }
        with(|windows| windows.win_flush(rank, window))?;
    }
    with(|windows| windows.win_unlock(rank, window))
}
