//! Latency of a cache line and of an 8-byte put between two ranks, and bandwidth of put, get and a local copy
//!
//! Rank 0 measures with one peer (`--peer`, default 1); other ranks wait. Two latencies, each half a round trip:
//! * `line`: both ranks poll and write one and the same cache line, in the peer's memory: the floor of the machine;
//! * `put8`: each polls a line of its own, into which the other puts 8 bytes: what a message costs at least.
//!
//! Bandwidth is that of rank 0 copying alone: `put` into the peer's memory, `get` out of it, and `copy` within its own, all three
//! between buffers of the same size, in turn within each repetition, so that a machine that changes its mind affects all
//! alike. Each repetition moves at least [`BATCH_BYTES`]; the median is printed. What was put and got is verified.
//!
//! The whole takes about `--time` seconds (default 5): half of it for the latencies, half for all sizes; where time is short
//! there are fewer repetitions, at least [`REPETITIONS_MIN`].
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use lwk_apps::cli::{Argument, Cli, fail};
use lwk_apps::json;
use lwk_apps::statistics::Summary;
use lwk_user::abi::exit::USAGE as USAGE_STATUS;
use lwk_user::barrier::node_barrier;
use lwk_user::clock::{self, Instant, ticks_ordered};
use lwk_user::copy::copy;
use lwk_user::smartmap::{CacheLine, Peer, Symmetric, remote_address};
use lwk_user::wait::spin_until;
use lwk_user::{Env, eprintln, job, println};

const USAGE: &str = "smap-latency [--peer RANK] [--time SECONDS] [--max-size BYTES] [--json]";

/// Round trips in one sample: enough that reading the clock does not count, few enough that an interruption stands out.
const ROUND_TRIPS: u64 = 16;
/// Most samples of a latency.
const SAMPLES_MAX: usize = 10_000;
/// Round trips before the first sample.
const WARM_UP: u64 = 100;
/// Least bytes that a repetition of a bandwidth moves, so that the clock does not count.
const BATCH_BYTES: usize = 64 << 10;
/// Most and least repetitions of a bandwidth.
const REPETITIONS_MAX: usize = 1000;
const REPETITIONS_MIN: usize = 3;
/// Sizes go from the smallest to the largest by powers of two, in bytes.
const SIZE_MIN: usize = 8;
const SIZE_MAX: usize = 16 << 20;
/// Told to the peer instead of a count: no more round trips.
const STOP: u64 = u64::MAX;

/// The line that both ranks poll (the peer's copy) or that each polls (its own copy).
static LINE: Symmetric<CacheLine<AtomicU64>> = Symmetric::new(CacheLine(AtomicU64::new(0)));
/// Where a rank's source and target buffers are, published before a barrier.
static SOURCE: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
static TARGET: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
/// In the peer: the largest size for which it has memory.
static LARGEST: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));
/// In rank 0: wrong bytes that either has found.
static WRONG: Symmetric<AtomicU64> = Symmetric::new(AtomicU64::new(0));

struct Options {
    json: bool,
    peer: Peer,
    time: Duration,
    largest: usize,
}

struct Document {
    program: &'static str,
    cores: [u16; 2],
    ticks_per_second: u64,
    latency: [Latency; 2],
    bandwidth: Vec<Bandwidth>,
    largest_size: usize,
    wrong_bytes: u64,
}
lwk_apps::json_object!(Document {
    program,
    cores,
    ticks_per_second,
    latency,
    bandwidth,
    largest_size,
    wrong_bytes
});

struct Latency {
    name: &'static str,
    ns: Summary,
    cycles: Summary,
}
lwk_apps::json_object!(Latency { name, ns, cycles });

struct Bandwidth {
    bytes: usize,
    repetitions: usize,
    put_mb_s: f64,
    get_mb_s: f64,
    copy_mb_s: f64,
}
lwk_apps::json_object!(Bandwidth { bytes, repetitions, put_mb_s, get_mb_s, copy_mb_s });

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let options = parse(env);
    let me = Peer::me();
    let in_pair = me == Peer::root() || me == options.peer;
    let buffers = if in_pair { Buffers::new(options.largest) } else { Buffers::none() };
    buffers.publish();
    node_barrier();
    let mut latency = [Summary::default(); 2];
    for (summary, line) in latency.iter_mut().zip([Pong::SharedLine, Pong::OwnLine]) {
        if me == Peer::root() {
            *summary = ping(line, options.peer, options.time / 4);
        } else if me == options.peer {
            pong(line);
        }
        // The next one begins with fresh counts. Relaxed: ordered by the barrier.
        LINE.here().store(0, Ordering::Relaxed);
        node_barrier();
    }
    // Relaxed: ordered by the barrier after `publish`.
    let largest = buffers.largest.min(LARGEST.at(options.peer).get().load(Ordering::Relaxed) as usize);
    let rows = if me == Peer::root() { bandwidths(&buffers, &options, largest) } else { Vec::new() };
    node_barrier();
    if me == options.peer {
        // What rank 0 has put here last is its largest buffer.
        buffers.check("put", largest, Peer::root());
    }
    node_barrier();
    if me == Peer::root() { report(&options, latency, rows, largest) } else { 0 }
}

fn parse(env: &Env) -> Options {
    let mut cli = Cli::new(env, USAGE);
    if Peer::count() < 2 {
        fail(USAGE_STATUS, &"smap-latency: measures between two ranks: run it with -n 2 or more");
    }
    let mut options =
        Options { json: false, peer: Peer::root().right(), time: Duration::from_secs(5), largest: SIZE_MAX };
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("json") => options.json = true,
            Argument::Option("peer") => {
                let rank = cli.number("peer", 1..=Peer::count() - 1);
                options.peer = Peer::root().ahead(rank);
            }
            Argument::Option("time") => options.time = Duration::from_secs(cli.number("time", 1..=3600)),
            Argument::Option("max-size") => options.largest = cli.number("max-size", SIZE_MIN..=SIZE_MAX),
            other => cli.unknown(other),
        }
    }
    options
}

/// Which line a rank polls.
#[derive(Clone, Copy)]
enum Pong {
    /// The one in the memory of the peer: both the same.
    SharedLine,
    /// The one in its own memory.
    OwnLine,
}

impl Pong {
    /// The lines that rank `me` polls and writes, for the pair of rank 0 and `peer`.
    fn lines(self, me: Peer, peer: Peer) -> [&'static AtomicU64; 2] {
        let (mine, theirs) = if me == peer { (peer, Peer::root()) } else { (Peer::root(), peer) };
        let at = |rank| -> &'static AtomicU64 { &LINE.at(rank).get().0 };
        match self {
            Pong::SharedLine => [at(peer), at(peer)],
            Pong::OwnLine => [at(mine), at(theirs)],
        }
    }
}

/// Rank 0's side: sends odd counts, waits for the even ones. Half round trips in ticks.
fn ping(pong: Pong, peer: Peer, time: Duration) -> Summary {
    let [polled, written] = pong.lines(Peer::root(), peer);
    let mut count = 0;
    let mut round_trips = |number: u64| {
        let start = ticks_ordered();
        for _ in 0..number {
            // Release and acquire, here and in `pong`: each store is seen by the other side's load; there is no other data.
            written.store(count + 1, Ordering::Release);
            spin_until(|| polled.load(Ordering::Acquire) == count + 2);
            count += 2;
        }
        ticks_ordered() - start
    };
    round_trips(WARM_UP);
    let end = Instant::now().after(time);
    let mut samples = Vec::with_capacity(SAMPLES_MAX);
    while samples.len() < SAMPLES_MAX && (samples.len() < REPETITIONS_MIN || Instant::now() < end) {
        samples.push(round_trips(ROUND_TRIPS) as f64 / (2 * ROUND_TRIPS) as f64);
    }
    // Release: as above; it is the last that `pong` sees.
    written.store(STOP, Ordering::Release);
    Summary::of(samples)
}

/// The peer's side: answers odd counts with the next even one.
fn pong(pong: Pong) {
    let me = Peer::me();
    let [polled, written] = pong.lines(me, me);
    let mut count = 1;
    loop {
        let mut seen = 0;
        spin_until(|| {
            seen = polled.load(Ordering::Acquire);
            seen == count || seen == STOP
        });
        if seen == STOP {
            return;
        }
        written.store(count + 1, Ordering::Release);
        count += 2;
    }
}

/// A rank's memory for the bandwidths, for the life of the program. Pointers, because a peer reads and writes it as well.
struct Buffers {
    source: *mut u8,
    target: *mut u8,
    largest: usize,
}

impl Buffers {
    fn none() -> Buffers {
        Buffers { source: core::ptr::null_mut(), target: core::ptr::null_mut(), largest: 0 }
    }

    /// `largest` bytes twice, or as many halvings less as there is memory for.
    fn new(largest: usize) -> Buffers {
        let mut bytes = largest;
        while bytes >= SIZE_MIN {
            let (mut source, mut target) = (Vec::new(), Vec::new());
            if source.try_reserve_exact(bytes).is_ok() && target.try_reserve_exact(bytes).is_ok() {
                source.extend((0..bytes).map(|index| byte(Peer::me(), index)));
                target.resize(bytes, 0);
                let [source, target] = [source, target].map(|buffer| buffer.leak().as_mut_ptr());
                return Buffers { source, target, largest: bytes };
            }
            bytes /= 2;
        }
        Buffers::none()
    }

    /// Verifies the first `bytes` bytes of the target, which must be the beginning of `writer`'s source.
    fn check(&self, what: &str, bytes: usize, writer: Peer) {
        // SAFETY: called between barriers, or by rank 0 while the peer waits: nobody writes the target now.
        let wrong =
            (0..bytes).filter(|index| unsafe { self.target.add(*index).read() } != byte(writer, *index));
        let wrong = wrong.count() as u64;
        if wrong > 0 {
            eprintln!("rank {}: {wrong} of {bytes} bytes are wrong after {what}", job().rank());
            // Relaxed: ordered by the barrier before the report.
            WRONG.at(Peer::root()).get().fetch_add(wrong, Ordering::Relaxed);
        }
    }

    /// Tells the others. Relaxed: ordered by the barrier that follows.
    fn publish(&self) {
        SOURCE.here().store(self.source.expose_provenance() as u64, Ordering::Relaxed);
        TARGET.here().store(self.target.expose_provenance() as u64, Ordering::Relaxed);
        LARGEST.here().store(self.largest as u64, Ordering::Relaxed);
    }
}

/// What a rank's source buffer holds at an index.
fn byte(rank: Peer, index: usize) -> u8 {
    (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + rank.node_rank().0 as u64 * 2).to_be_bytes()[0]
}

/// All sizes, by rank 0 alone.
fn bandwidths(buffers: &Buffers, options: &Options, largest: usize) -> Vec<Bandwidth> {
    if largest < SIZE_MIN {
        return Vec::new();
    }
    let at = |place: &'static Symmetric<AtomicU64>| -> *mut u8 {
        // Relaxed: ordered by the barrier after `publish`.
        let local = place.at(options.peer).get().load(Ordering::Relaxed);
        remote_address(options.peer, core::ptr::with_exposed_provenance::<u8>(local as usize))
    };
    let (put_target, get_source) = (at(&TARGET), at(&SOURCE));
    let (source, target) = (buffers.source.cast_const(), buffers.target);
    let sizes: Vec<usize> =
        (0..).map(|step| SIZE_MIN << step).take_while(|bytes| *bytes <= largest).collect();
    let time = options.time / 2 / sizes.len() as u32;
    let measure = |bytes: usize| {
        // SAFETY: all buffers hold `largest` bytes and are distinct; the peer, which owns two of them, waits in a barrier.
        let once = |from, to| unsafe { copy(from, to, bytes) };
        let copies = (BATCH_BYTES / bytes).max(1);
        let batch = |from: *const u8, to: *mut u8| {
            let start = ticks_ordered();
            for _ in 0..copies {
                once(core::hint::black_box(from), core::hint::black_box(to));
            }
            (ticks_ordered() - start) as f64 / copies as f64
        };
        let mut samples = [const { Vec::new() }; 3];
        let end = Instant::now().after(time);
        while samples[0].len() < REPETITIONS_MAX
            && (samples[0].len() < REPETITIONS_MIN || Instant::now() < end)
        {
            // The local copy is second, so that the get is last and its data can be verified.
            for (samples, (from, to)) in samples.iter_mut().zip([
                (source, put_target),
                (source, target),
                (get_source.cast_const(), target),
            ]) {
                samples.push(batch(from, to));
            }
        }
        let repetitions = samples[0].len();
        let [put, copy, get] = samples.map(|samples| {
            let ticks = Summary::of(samples).median.max(1.0);
            bytes as f64 * clock::ticks_per_second() as f64 / ticks / 1e6
        });
        buffers.check("get", bytes, options.peer);
        Bandwidth { bytes, repetitions, put_mb_s: put, get_mb_s: get, copy_mb_s: copy }
    };
    let rows = sizes.into_iter().map(measure).collect();
    // So that the peer can verify all of its buffer, also when the largest size is no power of two.
    // SAFETY: as above.
    unsafe { copy(source, put_target, largest) };
    rows
}

fn report(options: &Options, latency: [Summary; 2], bandwidth: Vec<Bandwidth>, largest: usize) -> i32 {
    let ticks_per_second = clock::ticks_per_second();
    let ns = 1e9 / ticks_per_second.max(1) as f64;
    let core = |peer: Peer| job().place(peer.node_rank()).map_or(0, |place| place.core);
    let cores = [core(Peer::root()), core(options.peer)];
    let [line, put8] = latency;
    let latency = [("line", line), ("put8", put8)];
    // Relaxed: ordered by the barrier.
    let wrong_bytes = WRONG.here().load(Ordering::Relaxed);
    let complete = largest == options.largest;
    if options.json {
        json::print(&Document {
            program: "smap-latency",
            cores,
            ticks_per_second,
            latency: latency.map(|(name, cycles)| Latency { name, ns: cycles.scaled(ns), cycles }),
            bandwidth,
            largest_size: largest,
            wrong_bytes,
        });
    } else {
        println!("# smap-latency: ranks 0 and {}, cores {} and {}", options.peer, cores[0], cores[1]);
        println!("# half round trip; a sample is the mean of {ROUND_TRIPS}");
        println!(
            "# {:>6} {:>10} {:>10} {:>10} {:>12} {:>12} {:>12} {:>8}",
            "what", "min_ns", "median_ns", "p99_ns", "min_cycles", "median_cyc", "p99_cycles", "samples"
        );
        for (name, cycles) in latency {
            let time = cycles.scaled(ns);
            println!(
                "{name:>8} {:>10.1} {:>10.1} {:>10.1} {:>12.0} {:>12.0} {:>12.0} {:>8}",
                time.minimum,
                time.median,
                time.p99,
                cycles.minimum,
                cycles.median,
                cycles.p99,
                cycles.samples
            );
        }
        println!("# bandwidth of rank 0, MB/s (1 MB = 1,000,000 bytes), median");
        println!("# {:>8} {:>12} {:>12} {:>12} {:>8}", "bytes", "put", "get", "local_copy", "reps");
        for row in &bandwidth {
            let Bandwidth { bytes, repetitions, put_mb_s, get_mb_s, copy_mb_s } = row;
            println!("{bytes:>10} {put_mb_s:>12.1} {get_mb_s:>12.1} {copy_mb_s:>12.1} {repetitions:>8}");
        }
        if !complete {
            println!("# larger sizes than {largest} bytes need more memory for each rank (--mem)");
        }
    }
    if wrong_bytes == 0 { 0 } else { 1 }
}
