//! Latency, bandwidth and message rate between pairs of ranks: the lower half of the ranks with the upper half.

use super::{Bench, Row, Table, microseconds, pattern};
use alloc::vec;
use alloc::vec::Vec;
use lwk_copy::copy;
use lwk_mpi::Operation;
use lwk_mpi_generalized::completion;
use lwk_mpi_rt::abi::COMM_WORLD;
use lwk_mpi_rt::abi::datatype::BYTE;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::receive::ReceiveArguments;
use lwk_mpi_rt::request::Mode;
use lwk_mpi_rt::send::SendArguments;
use lwk_mpi_rt::wait::NULL;
use lwk_mpi_rt::{Handle, Result};
use lwk_user::job;

/// The tag of all messages of these tests.
pub const TAG: i32 = 1;
/// Messages in flight, as OSU has it.
pub const WINDOW: u32 = 64;
const WORLD: Handle = Handle(COMM_WORLD);
/// Message size in bytes from which on the floor is copying, no more bare rings.
pub const COPY_FLOOR_FROM: usize = 512;

/// This rank's part in a test of pairs.
pub struct Pair {
    /// The other rank; none that exists if this one is idle.
    pub partner: i32,
    /// In the lower half: begins, and sends where messages go one way.
    pub first: bool,
    /// Ranks beyond the pairs only take part in barriers.
    pub idle: bool,
}

/// Pairs rank `r` with rank `r + pairs`, for `r` below `pairs`.
pub fn pair(bench: &Bench, pairs: u32) -> Pair {
    let rank = bench.rank;
    let first = rank < pairs;
    let partner = if first { rank + pairs } else { rank.wrapping_sub(pairs) };
    Pair { partner: partner as i32, first, idle: rank >= 2 * pairs }
}

/// Half round trip of a message (`osu_latency`), of rank 0 with rank 1.
pub fn latency(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let mut rows = Vec::new();
    let mut wrong = 0;
    for bytes in bench.sizes(0, 4 << 20) {
        let (mut send, mut receive) = (Lines::new(bytes, 0), Lines::new(bytes, 3072));
        send.copy_from_slice(&filled(bench.rank, bytes));
        if !pair.idle {
            ping_pong(bench, &pair, &send, &mut receive, 1)?;
            wrong += mismatches(&receive, pair.partner as u32);
        }
        let iterations = bench.iterations(bytes);
        let (ours, floor) = bench.compare(
            || if pair.idle { Ok(()) } else { ping_pong(bench, &pair, &send, &mut receive, iterations) },
            || match (pair.idle, bytes < COPY_FLOOR_FROM) {
                (true, _) => Ok(()),
                (_, true) => bench.floor.ping_pong(pair.partner as u32, pair.first, iterations),
                (_, false) => copies(&send, iterations),
            },
        )?;
        // A ping-pong is two messages; a copy is one.
        let floor_messages = if bytes < COPY_FLOOR_FROM { 2 * iterations } else { iterations };
        let value = microseconds(ours) / (2 * iterations) as f64;
        let floor = microseconds(floor) / floor_messages as f64;
        let has_floor = bytes >= COPY_FLOOR_FROM || bench.floor.is_there();
        rows.push(Row::beside(bytes, value, has_floor.then_some(floor)));
    }
    table(bench, "latency", "Latency (us)", "bare ring below 512 B, local copy from there", rows, wrong)
}

/// `iterations` messages there and back. Errors: those of sending and receiving.
pub fn ping_pong(bench: &Bench, pair: &Pair, send: &[u8], receive: &mut [u8], iterations: u32) -> Result<()> {
    let (world, partner) = (&bench.world, pair.partner);
    for _ in 0..iterations {
        if pair.first {
            world.send(send, partner, TAG)?;
            world.receive(receive, partner, TAG)?;
        } else {
            world.receive(receive, partner, TAG)?;
            world.send(send, partner, TAG)?;
        }
    }
    Ok(())
}

/// A window of messages, then an answer (`osu_bw`), of rank 0 with rank 1.
pub fn bandwidth(bench: &Bench) -> Result<Table> {
    let pair = pair(bench, 1);
    let mut rows = Vec::new();
    let mut wrong = 0;
    for bytes in bench.sizes(1, 4 << 20) {
        let (mut send, mut receive) = (Lines::new(bytes, 0), Lines::new(bytes, 3072));
        send.copy_from_slice(&filled(bench.rank, bytes));
        if !pair.idle {
            windows(bench, &pair, &send, &mut receive, 1)?;
            wrong += if pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
        }
        let rounds = (bench.iterations(bytes) / WINDOW).max(1);
        let (ours, floor) = bench.compare(
            || if pair.idle { Ok(()) } else { windows(bench, &pair, &send, &mut receive, rounds) },
            || match (pair.idle, bytes < COPY_FLOOR_FROM) {
                (true, _) => Ok(()),
                (_, true) => bench.floor.stream(pair.partner as u32, pair.first, rounds, WINDOW),
                (_, false) => copies(&send, rounds * WINDOW),
            },
        )?;
        let volume = bytes as f64 * (rounds * WINDOW) as f64;
        let (value, floor) = (volume / microseconds(ours), volume / microseconds(floor));
        let has_floor = bytes >= COPY_FLOOR_FROM || bench.floor.is_there();
        rows.push(Row::beside(bytes, value, has_floor.then_some(floor)));
    }
    table(bench, "bw", "Bandwidth (MB/s)", "bare ring below 512 B, local copy from there", rows, wrong)
}

/// `rounds` windows of [`WINDOW`] messages from the first of the pair, as OSU and the C programs have it: all messages of a window are begun
/// on both sides, then waited for, and all go to one buffer; an answer of 4 bytes follows each window.
pub fn windows(bench: &Bench, pair: &Pair, send: &[u8], receive: &mut [u8], rounds: u32) -> Result<()> {
    let (world, partner) = (&bench.world, pair.partner);
    let mut answer = [0u8; 4];
    let mut requests = [NULL; WINDOW as usize];
    for _ in 0..rounds {
        let (address, count) = (send.as_ptr(), send.len() as i64);
        let sending =
            SendArguments { address, count, datatype: BYTE, target: partner, tag: TAG, communicator: WORLD };
        let (address, count) = (receive.as_mut_ptr(), receive.len() as i64);
        let receiving = ReceiveArguments {
            address,
            count,
            datatype: BYTE,
            source: partner,
            tag: TAG,
            communicator: WORLD,
        };
        for request in &mut requests {
            // SAFETY: the buffers are borrowed until this returns, which is after all have been waited for. All messages have the same
            // content, and nobody reads the buffer meanwhile.
            *request = with(|engine| unsafe {
                if pair.first { engine.isend(&sending, Mode::Standard) } else { engine.irecv(&receiving) }
            })?;
        }
        completion::wait_all(&mut requests, |_, _| ())?;
        if pair.first {
            world.receive(&mut answer, partner, TAG)?;
        } else {
            world.send(&answer, partner, TAG)?;
        }
    }
    Ok(())
}

/// Messages a second of all pairs (`osu_mbw_mr`): 1, 2, … pairs, at the least size asked for (8 bytes).
pub fn message_rate(bench: &Bench) -> Result<Table> {
    let bytes = bench.options.sizes.as_ref().map_or(8, |sizes| *sizes.start());
    let mut rows = Vec::new();
    let mut wrong = 0;
    let pairs = bench.size / 2;
    let pair = pair(bench, pairs);
    let (send, mut receive) = (filled(bench.rank, bytes), vec![0u8; bytes]);
    if !pair.idle {
        windows(bench, &pair, &send, &mut receive, 1)?;
        wrong += if pair.first { 0 } else { mismatches(&receive, pair.partner as u32) };
    }
    let rounds = (bench.iterations(bytes) / WINDOW).max(4);
    for active in 1..=pairs {
        let idle = pair.idle || bench.rank % pairs >= active;
        let (ours, floor) = bench.compare(
            || {
                if !idle {
                    windows(bench, &pair, &send, &mut receive, rounds)?;
                }
                bench.world.barrier()
            },
            || {
                if !idle {
                    bench.floor.stream(pair.partner as u32, pair.first, rounds, WINDOW)?;
                }
                bench.world.barrier()
            },
        )?;
        let messages = (active * rounds * WINDOW) as f64;
        let (value, floor) = (messages / microseconds(ours), messages / microseconds(floor));
        rows.push(Row::beside(active as usize, value, bench.floor.is_there().then_some(floor)));
    }
    let floor = match job().is_oversubscribed() {
        false => "bare rings; first column: pairs",
        // The ranks take turns: more pairs cannot be faster.
        true => {
            "bare rings; first column: pairs, which share cores here, so that the rate cannot grow with them"
        }
    };
    table(bench, "mbw_mr", "Million messages/s", floor, rows, wrong)
}

/// Copies within this rank's own memory, out of a buffer that has been written before.
fn copies(source: &[u8], count: u32) -> Result<()> {
    let mut target = vec![0u8; source.len()];
    for _ in 0..count {
        // SAFETY: distinct vectors of the same length.
        unsafe { copy(source.as_ptr(), target.as_mut_ptr(), source.len()) };
        core::hint::black_box(&mut target);
    }
    Ok(())
}

/// Bytes of memory at a given place within a page. Where the heap happens to put buffers changes what a copy takes by a third: a load of
/// an address whose low 12 bits are those of a store shortly before waits for it.
pub struct Lines {
    memory: Vec<u8>,
    begin: usize,
    bytes: usize,
}

impl Lines {
    const PAGE: usize = 4096;

    /// So many zeros, from the `offset`-th byte of a page.
    pub fn new(bytes: usize, offset: usize) -> Lines {
        let memory = vec![0u8; bytes + 2 * Self::PAGE];
        let begin = memory.as_ptr().align_offset(Self::PAGE) + offset;
        Lines { memory, begin, bytes }
    }
}

impl core::ops::Deref for Lines {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.begin..][..self.bytes]
    }
}

impl core::ops::DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..][..self.bytes]
    }
}

/// What `rank` sends as a message of so many bytes: see [`mismatches`].
pub fn filled(rank: u32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|index| pattern(rank, index)).collect()
}

/// How many bytes are not what [`filled`] gives for `sender`.
pub fn mismatches(received: &[u8], sender: u32) -> u64 {
    received.iter().enumerate().filter(|(index, byte)| **byte != pattern(sender, *index)).count() as u64
}

/// The table of these rows, with the sum of all ranks' `wrong`; every rank must call it. Errors: those of the reduction.
pub fn table(
    bench: &Bench,
    test: &'static str,
    unit: &'static str,
    floor: &'static str,
    rows: Vec<Row>,
    wrong: u64,
) -> Result<Table> {
    let mut all = [0u64];
    bench.world.allreduce(&[wrong], &mut all, Operation::Sum)?;
    Ok(Table { test, ranks: bench.size, unit, floor, rows, wrong: all[0] })
}
