//! Tests between PE 0 and PE 1: put and get, latency and bandwidth. Other PEs wait at the barriers.
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

use crate::measure::{Bench, Compared, LARGEST, Table};
use crate::raw::{self, Flag};
use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use lwk_shmem::engine::{self, CMP_EQ, barrier_all, my_pe};
use lwk_user::copy;
use lwk_user::smartmap::{CacheLine, Symmetric};

const LATENCY: &[&str] = &["size_bytes", "latency_us", "floor_us", "ratio"];
const BANDWIDTH: &[&str] = &["size_bytes", "MB/s", "memcpy_MB/s", "ratio"];
/// How far from a power of two the sizes of the sweep are, in bytes, as in NetPIPE.
const PERTURBATION: usize = 3;
/// Puts or gets between two `quiet` calls of a bandwidth test.
const WINDOW: u64 = 64;

/// The flag, of the library and of the floor: the same line, as the way between two cores differs from line to line.
static FLAG: Flag = Symmetric::new(CacheLine(AtomicU64::new(0)));

/// Two symmetric buffers of the same size: what is sent, and where it arrives.
pub struct Buffers {
    pub source: *mut u8,
    pub dest: *mut u8,
}

impl Buffers {
    /// Two blocks of `bytes` bytes, the source with its PE's pattern. Collective. Ends the job if the symmetric heap is too small.
    pub fn new(bytes: usize) -> Buffers {
        let (source, dest) = (engine::malloc(bytes), engine::malloc(bytes));
        if source.is_null() || dest.is_null() {
            lwk_apps::cli::fail(
                lwk_user::abi::exit::USAGE,
                &"the symmetric heap is too small for two buffers: give each rank more memory (--mem)",
            );
        }
        for index in 0..bytes {
            // SAFETY: both blocks hold `bytes` bytes, and no PE uses them before the barrier.
            unsafe {
                source.add(index).write(pattern(my_pe(), index));
                dest.add(index).write(0);
            }
        }
        barrier_all();
        Buffers { source, dest }
    }

    /// Gives both blocks back. Collective.
    pub fn free(self) {
        engine::free(self.dest);
        engine::free(self.source);
    }

    /// How many of the first `bytes` bytes of `dest` are not what `pe` has in its source.
    pub fn wrong(&self, pe: i32, bytes: usize) -> u64 {
        // SAFETY: inside the block; the caller has waited for whoever writes it.
        (0..bytes).filter(|i| unsafe { self.dest.add(*i).read() } != pattern(pe, *i)).count() as u64
    }
}

/// What PE `pe`'s source has at an index.
fn pattern(pe: i32, index: usize) -> u8 {
    (index as u32).wrapping_mul(2_654_435_761).wrapping_add(pe as u32 * 97 + 1).to_be_bytes()[0]
}

/// One transfer of each power of two, checked: PE 0 puts to PE 1 or gets from it.
fn verify(bench: &Bench, table: &mut Table, buffers: &Buffers, put: bool) {
    for size in bench.sizes() {
        // SAFETY: this PE's own block, and no PE touches it until the barrier.
        unsafe { buffers.dest.write_bytes(0, size) };
        barrier_all();
        if my_pe() == 0 {
            // SAFETY: both blocks hold the largest size; PE 1 waits.
            unsafe {
                if put {
                    engine::putmem(buffers.dest, buffers.source, size, 1);
                } else {
                    engine::getmem(buffers.dest, buffers.source, size, 1);
                }
            }
        }
        barrier_all();
        let wrong = match (my_pe(), put) {
            (1, true) => buffers.wrong(0, size),
            (0, false) => buffers.wrong(1, size),
            _ => 0,
        };
        table.count_wrong(wrong);
    }
}

fn by_size(
    bench: &Bench,
    table: &mut Table,
    put: bool,
    figure: impl Fn(usize, Compared) -> [f64; 3],
    mut measure: impl FnMut(&Buffers, usize) -> Compared,
) {
    let buffers = Buffers::new(bench.largest.min(LARGEST));
    verify(bench, table, &buffers, put);
    for size in bench.sizes() {
        let compared = measure(&buffers, size);
        table.row(size, &figure(size, compared));
    }
    buffers.free();
}

fn microseconds(_size: usize, compared: Compared) -> [f64; 3] {
    [compared.library / 1e3, compared.floor / 1e3, compared.ratio]
}

/// Bytes a nanosecond are thousands of megabytes a second. The ratio is that of bandwidths: times inverted.
fn megabytes(size: usize, compared: Compared) -> [f64; 3] {
    [size as f64 / compared.library * 1e3, size as f64 / compared.floor * 1e3, 1.0 / compared.ratio]
}

/// `putmem` and `quiet` of PE 0; the floor is the bare copy and the same fence.
pub fn put_latency(bench: &Bench) -> Table {
    let mut table = Table::new("put_latency", LATENCY);
    by_size(bench, &mut table, true, microseconds, |buffers, size| {
        let target = raw::at(buffers.dest, 1);
        bench.compare(
            bench.repetitions(size),
            |count| {
                for _ in 0..only_first(count) {
                    // SAFETY: both blocks hold the size; PE 1 waits at the barrier.
                    unsafe { engine::putmem(buffers.dest, buffers.source, size, 1) };
                    engine::quiet();
                }
            },
            |count| {
                for _ in 0..only_first(count) {
                    // SAFETY: as above.
                    unsafe { raw::store(buffers.source, target, size) };
                    // SeqCst: what was stored is there before later loads, as after `quiet`.
                    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
                }
            },
        )
    });
    table
}

/// `getmem` of PE 0 from PE 1, in microseconds; the floor is the bare copy.
pub fn get_latency(bench: &Bench) -> Table {
    let mut table = Table::new("get_latency", LATENCY);
    by_size(bench, &mut table, false, microseconds, |buffers, size| {
        let source = raw::at(buffers.source, 1);
        bench.compare(
            bench.repetitions(size),
            |count| {
                for _ in 0..only_first(count) {
                    // SAFETY: both blocks hold the size; PE 1 waits at the barrier.
                    unsafe { engine::getmem(buffers.dest, buffers.source, size, 1) };
                }
            },
            |count| {
                for _ in 0..only_first(count) {
                    // SAFETY: as above.
                    unsafe { raw::store(source, buffers.dest, size) };
                }
            },
        )
    });
    table
}

/// Ping-pong: data, then a flag that the other waits for. Half a round trip of each.
pub fn put_flag(bench: &Bench) -> Table {
    let mut table = Table::new("put_flag", LATENCY);
    let turns = Turns::default();
    by_size(bench, &mut table, true, microseconds, |buffers, size| ping_pong(bench, &turns, buffers, size));
    table
}

/// The same as NetPIPE sweeps it (Snell, Mikler, Gustafson 1996): sizes around the powers of two, so that most are not
/// multiples of anything; and bandwidths.
pub fn netpipe(bench: &Bench) -> Table {
    const COLUMNS: &[&str] = &["size_bytes", "latency_us", "MB/s", "floor_us", "ratio"];
    let mut table = Table::new("netpipe", COLUMNS);
    let turns = Turns::default();
    let buffers = Buffers::new(bench.largest + PERTURBATION);
    verify(bench, &mut table, &buffers, true);
    for size in bench.sizes() {
        // Below 8 bytes the sizes around one power of two would be those around the next.
        let spread = if size < 8 { 0..=0 } else { 0..=2 };
        for size in spread.clone().map(|step| size + step * PERTURBATION - spread.end() / 2 * PERTURBATION) {
            let compared = ping_pong(bench, &turns, &buffers, size);
            let [latency, floor, ratio] = microseconds(size, compared);
            table.row(size, &[latency, size as f64 / latency, floor, ratio]);
        }
    }
    buffers.free();
    table
}

/// The flag's value so far: both PEs count alike.
type Turns = Cell<u64>;

/// Half a round trip between PE 0 and PE 1, by the library and by bare stores.
fn ping_pong(bench: &Bench, turns: &Turns, buffers: &Buffers, size: usize) -> Compared {
    let me = my_pe();
    let peer = (1 - me).max(0);
    let flag = FLAG.as_ptr().cast::<u64>();
    if turns.get() == 0 {
        // A new test: its values begin at 1 again, in both PEs.
        // SAFETY: a static of this PE's own, an atomic; the peer is at the barrier or before it.
        unsafe { engine::atomic_set(flag, 0, me) };
        barrier_all();
    }
    let (target, peer_flag) = (raw::at(buffers.dest, peer), raw::at(FLAG.as_ptr(), peer));
    // SAFETY: a static: the peer has it at the same address, as long as the job runs; an atomic.
    let peer_flag: &CacheLine<AtomicU64> = unsafe { &*peer_flag };
    let mut compared = bench.compare(
        bench.repetitions(size),
        |count| {
            let send = |value| {
                // SAFETY: both blocks hold the size, the flag is a static; the peer waits for the flag and reads nothing
                // before.
                unsafe {
                    engine::putmem(buffers.dest, buffers.source, size, peer);
                    engine::fence();
                    engine::p(flag, value, peer);
                }
            };
            let receive = |value| {
                // SAFETY: the flag is a static that the peer sets by puts of its size.
                unsafe { engine::wait_until(flag, CMP_EQ, value) };
            };
            take_turns(count, turns, send, receive);
        },
        |count| {
            let send = |value| {
                // SAFETY: as for the library.
                unsafe { raw::store(buffers.source, target, size) };
                raw::raise(peer_flag, value);
            };
            take_turns(count, turns, send, |value| raw::await_flag(FLAG.here(), value));
        },
    );
    compared.library /= 2.0;
    compared.floor /= 2.0;
    compared
}

/// `count` round trips; PE 0 begins.
#[inline(always)]
fn take_turns(count: u64, turn: &Cell<u64>, send: impl Fn(u64), receive: impl Fn(u64)) {
    let first = turn.get() + 1;
    turn.set(turn.get() + count);
    for value in first..first + count {
        match my_pe() {
            0 => {
                send(value);
                receive(value);
            }
            1 => {
                receive(value);
                send(value);
            }
            _ => {}
        }
    }
}

/// Windows of puts by PE 0; the floor is a copy between two buffers of its own.
pub fn put_bandwidth(bench: &Bench) -> Table {
    let mut table = Table::new("put_bw", BANDWIDTH);
    bandwidth(bench, &mut table, true);
    table
}

/// Windows of gets by PE 0; the floor is a copy between two buffers of its own.
pub fn get_bandwidth(bench: &Bench) -> Table {
    let mut table = Table::new("get_bw", BANDWIDTH);
    bandwidth(bench, &mut table, false);
    table
}

fn bandwidth(bench: &Bench, table: &mut Table, put: bool) {
    by_size(bench, table, put, megabytes, |buffers, size| {
        let windows = bench.repetitions(size * WINDOW as usize);
        let mut compared = bench.compare(
            windows,
            |count| {
                for _ in 0..only_first(count) {
                    for _ in 0..WINDOW {
                        // SAFETY: both blocks hold the size; PE 1 waits at the barrier.
                        unsafe {
                            if put {
                                engine::putmem_nbi(buffers.dest, buffers.source, size, 1);
                            } else {
                                engine::getmem_nbi(buffers.dest, buffers.source, size, 1);
                            }
                        }
                    }
                    engine::quiet();
                }
            },
            |count| {
                for _ in 0..only_first(count) {
                    for _ in 0..WINDOW {
                        // SAFETY: both blocks hold the size; PE 1 does not use PE 0's.
                        unsafe { copy::copy(buffers.source, buffers.dest, core::hint::black_box(size)) };
                    }
                }
            },
        );
        compared.library /= WINDOW as f64;
        compared.floor /= WINDOW as f64;
        compared
    });
}

/// `count` in PE 0, nothing in the others.
fn only_first(count: u64) -> u64 {
    if my_pe() == 0 { count } else { 0 }
}
