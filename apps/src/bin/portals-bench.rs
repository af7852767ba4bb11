//! Latency and bandwidth of Portals puts and gets between pairs of ranks, on one node or several
//!
//! Rank r of the first half works with rank r plus half the job's ranks: with as many ranks on each of two nodes every pair is on both. All
//! pairs work at once, and rank 0 prints what its own sees. Half a round trip is that of a put into memory that the peer polls. Bandwidth is that of puts,
//! each acknowledged, and of gets, [`WINDOW`] under way at a time. Everything that arrives is compared with what was to come; a wrong
//! byte ends the job. With `--floors` rank 0 then measures raw frames of the same driver, if its peer is on another node: see `floor`. With `--peers N`
//! ranks 0 and 1 are the pair, whatever ranks there are, and begin when their nodes have had to do with N others.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

#[path = "portals-bench/floor.rs"]
mod floor;

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, Ordering};
use lwk_apps::cli::{self, Argument, Cli};
use lwk_apps::json;
use lwk_user::abi::exit::USAGE as USAGE_STATUS;
use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, event, failure, operation,
};
use lwk_user::portals::{Counter, DescriptorHandle, Interface, Queue, Result};
use lwk_user::{Env, eprintln, job, println, start, wait};

const USAGE: &str = "portals-bench [--rounds N] [--max-size BYTES] [--peers N] [--floors] [--json]";

/// Operations under way at a time when bandwidth is measured.
const WINDOW: u64 = 8;
/// Sizes go from 8 bytes by powers of two to this, in bytes, unless asked for less.
const SIZE_MAX: usize = 1 << 20;
/// Bytes that a row moves at least, so that the clock does not count.
const ROW_BYTES: usize = 4 << 20;
/// The portal-table entry of everything here.
const TABLE: u32 = 0;
/// Match bits of what is put and got, and of barriers.
const DATA: u64 = 1;
const BARRIER: u64 = 2;

struct Document {
    program: &'static str,
    ranks: u32,
    nodes: u32,
    /// Half a round trip of an 8-byte put, median, in nanoseconds.
    latency_ns: u64,
    /// Frames that rank 0's node has sent for each put of that.
    frames_a_put: f64,
    bandwidth: Vec<Row>,
    /// With `--floors`, of rank 0, if its peer is on another node.
    floors: Option<floor::Floors>,
}
lwk_apps::json_object!(Document { program, ranks, nodes, latency_ns, frames_a_put, bandwidth, floors });

struct Row {
    bytes: usize,
    /// Half a round trip of a put, median, in nanoseconds; with `--peers`.
    latency_ns: Option<u64>,
    /// Million bytes a second.
    put_mb_s: f64,
    get_mb_s: f64,
}
lwk_apps::json_object!(Row { bytes, latency_ns, put_mb_s, get_mb_s });

struct Options {
    rounds: u64,
    largest: usize,
    peers: Option<u64>,
    floors: bool,
    json: bool,
}

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let options = parse(env);
    let job = job();
    if !job.size().is_multiple_of(2) && options.peers.is_none() {
        cli::fail(USAGE_STATUS, &"portals-bench works with pairs of ranks; ask for an even number (-n)");
    }
    match measure(&options) {
        Ok(document) => {
            if job.rank().0 == 0 {
                print(&options, &document);
            }
            0
        }
        Err(error) => fail(&format!("a call of Portals failed: {error}")),
    }
}

fn parse(env: &Env) -> Options {
    let mut options = Options { rounds: 200, largest: SIZE_MAX, peers: None, floors: false, json: false };
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("rounds") => options.rounds = cli.number("rounds", 1..=1_000_000),
            Argument::Option("max-size") => options.largest = cli.number("max-size", 8..=64 << 20),
            Argument::Option("peers") => options.peers = Some(cli.number("peers", 1..=1_000)),
            Argument::Option("floors") => options.floors = true,
            Argument::Option("json") => options.json = true,
            other => cli.unknown(other),
        }
    }
    options
}

fn fail(message: &str) -> ! {
    eprintln!("portals-bench: rank {}: {message}", job().rank());
    start::exit(1)
}

/// This rank's part of a pair.
struct Side {
    interface: Interface,
    /// Counts of operations that have ended at this rank, and of data and barriers that have arrived.
    ended: Counter,
    arrived: Counter,
    barrier: Counter,
    acknowledged: Queue,
    /// What is sent and fetched into, and what the peer puts into and gets from. Others read and write it, so it is reached by pointers only.
    source: Vec<AtomicU8>,
    landing: Vec<AtomicU8>,
    from: DescriptorHandle,
    nothing: DescriptorHandle,
    peer: u32,
    /// Ranks that take part.
    ranks: u32,
    /// Operations begun, data expected, barriers passed.
    begun: u64,
    expected: u64,
    barriers: u64,
}

/// Memory whose content others change.
fn memory(bytes: usize) -> Vec<AtomicU8> {
    (0..bytes).map(|_| AtomicU8::new(0)).collect()
}

/// The byte at `at` of what has the number `number`.
fn pattern(number: u64, at: usize) -> u8 {
    (number.wrapping_mul(31) as usize).wrapping_add(at).wrapping_add(at >> 8) as u8
}

fn address(memory: &[AtomicU8]) -> u64 {
    memory.as_ptr().expose_provenance() as u64
}

fn fill(memory: &[AtomicU8], number: u64, bytes: usize) {
    for (at, byte) in memory.iter().enumerate().take(bytes) {
        // Relaxed: the operation that sends it is a system call behind it.
        byte.store(pattern(number, at), Ordering::Relaxed);
    }
}

fn check(what: &str, memory: &[AtomicU8], number: u64, bytes: usize) {
    // Relaxed: the counter that told of its arrival was read with acquire.
    let wrong = memory
        .iter()
        .enumerate()
        .take(bytes)
        .find(|(at, byte)| byte.load(Ordering::Relaxed) != pattern(number, *at));
    if let Some((at, byte)) = wrong {
        let (is, should) = (byte.load(Ordering::Relaxed), pattern(number, at));
        fail(&format!("wrong data: byte {at} of a {what} of {bytes} bytes is {is}, not {should}"));
    }
}

impl Side {
    fn new(largest: usize, ranks: u32) -> Result<Side> {
        let interface = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
        let (ended, arrived, barrier) = (interface.counter()?, interface.counter()?, interface.counter()?);
        let acknowledged = interface.queue(64)?;
        interface.table(TableOptions::empty(), None, TABLE)?;
        let (source, landing) = (memory(largest), memory(largest));
        let open = |bits, start, bytes: usize, counter: &Counter| Entry {
            start,
            bytes: bytes as u64,
            counter: counter.handle(),
            uid: ANY,
            options: EntryOptions::OP_PUT | EntryOptions::OP_GET | EntryOptions::EVENT_CT_COMM,
            node: ANY,
            process: ANY,
            bits,
            ..Entry::default()
        };
        // SAFETY: memory of atomics, which lives as long as the interface; it is reached in no other way.
        unsafe {
            interface.append(TABLE, &open(DATA, address(&landing), largest, &arrived), PRIORITY_LIST)?;
            interface.append(TABLE, &open(BARRIER, address(&landing), 0, &barrier), PRIORITY_LIST)?;
        }
        let counting = Descriptor {
            start: address(&source),
            bytes: largest as u64,
            options: DescriptorOptions::EVENT_CT_ACK | DescriptorOptions::EVENT_CT_REPLY,
            queue: NONE,
            counter: ended.handle(),
            reserved: 0,
        };
        let telling = Descriptor {
            bytes: 0,
            options: DescriptorOptions::EVENT_SEND_DISABLE,
            queue: acknowledged.handle(),
            counter: NONE,
            ..counting
        };
        // SAFETY: as above.
        let (from, nothing) = unsafe { (interface.bind(&counting)?, interface.bind(&telling)?) };
        let half = ranks / 2;
        let me = job().rank().0;
        let peer = if me < half { me + half } else { me - half };
        Ok(Side {
            interface,
            ended,
            arrived,
            barrier,
            acknowledged,
            source,
            landing,
            from,
            nothing,
            peer,
            ranks,
            begun: 0,
            expected: 0,
            barriers: 0,
        })
    }

    fn begin(&mut self, kind: u32, bytes: usize, wants: u32) -> Result<()> {
        let handle = self.from.0;
        let (put, get) = if kind == operation::GET { (NONE, handle) } else { (handle, NONE) };
        self.begun += u64::from(kind == operation::GET || wants != ack::NONE);
        let asked = Operation {
            kind,
            put,
            get,
            ack: wants,
            bytes: bytes as u64,
            node: self.peer,
            table: TABLE,
            trigger: NONE,
            bits: DATA,
            ..Operation::default()
        };
        // SAFETY: memory of atomics, which lives as long as the interface.
        unsafe { self.interface.operate(&asked) }
    }

    /// Waits until no more than `left` operations are under way.
    fn finish(&mut self, left: u64) {
        let wanted = self.begun.saturating_sub(left);
        let (_, failures) = self.ended.wait(wanted);
        if failures > 0 {
            fail("an operation failed: the peer is gone, or refused it");
        }
    }

    /// Waits for data that the peer puts.
    fn receive(&mut self) {
        self.expected += 1;
        if self.arrived.wait(self.expected).1 > 0 {
            fail("data did not arrive as a whole: the peer is gone");
        }
    }

    /// Tells a rank of a barrier; tries again as long as the other has not come so far as to take it.
    fn tell(&mut self, rank: u32) -> Result<()> {
        let asked = Operation {
            kind: operation::PUT,
            put: self.nothing.0,
            get: NONE,
            ack: ack::FULL,
            node: rank,
            table: TABLE,
            trigger: NONE,
            bits: BARRIER,
            ..Operation::default()
        };
        loop {
            // SAFETY: no memory is read.
            unsafe { self.interface.operate(&asked)? };
            let told = self.acknowledged.wait();
            match told.failure {
                failure::OK if told.kind == event::ACK => return Ok(()),
                failure::TARGET_INVALID | failure::DROPPED => {}
                other => fail(&format!("rank {rank} cannot be reached (failure {other})")),
            }
        }
    }

    /// Waits for all ranks of the job.
    fn barrier(&mut self) -> Result<()> {
        self.barriers += 1;
        let (me, size) = (job().rank().0, self.ranks);
        if me == 0 {
            self.barrier.wait(self.barriers * u64::from(size - 1));
            for rank in 1..size {
                self.tell(rank)?;
            }
        } else {
            self.tell(0)?;
            self.barrier.wait(self.barriers);
        }
        Ok(())
    }

    /// Waits until this rank's node has had to do with so many others.
    fn wait_for_peers(&self, peers: u64) -> Result<()> {
        while self.interface.node_counts()?.peers < peers {
            wait::give_way();
        }
        Ok(())
    }

    /// Half a round trip of a put, in nanoseconds: the median of `rounds`. Of what comes, eight bytes are compared: more would be most of the time.
    fn latency(&mut self, bytes: usize, rounds: u64) -> Result<u64> {
        const COMPARED: usize = 8;
        let first = job().rank().0 < self.peer;
        let mut times = vec![0; rounds as usize];
        for (number, time) in (0..).zip(&mut times) {
            let begun = Instant::now();
            if first {
                fill(&self.source, number, COMPARED);
                self.begin(operation::PUT, bytes, ack::NONE)?;
                self.receive();
                check("put", &self.landing, number + 1, COMPARED);
            } else {
                self.receive();
                check("put", &self.landing, number, COMPARED);
                fill(&self.source, number + 1, COMPARED);
                self.begin(operation::PUT, bytes, ack::NONE)?;
            }
            *time = begun.elapsed().as_nanos() as u64 / 2;
        }
        Ok(median(&mut times))
    }

    fn interface(&self) -> &Interface {
        &self.interface
    }

    fn peer(&self) -> u32 {
        self.peer
    }

    /// Bytes of the memory that is sent from and fetched into.
    fn largest(&self) -> usize {
        self.source.len()
    }

    /// Half the time that an 8-byte put takes until its acknowledgement is there, in nanoseconds: the median of `rounds`. The other node's interrupt answers,
    /// as it does raw frames.
    fn acknowledged(&mut self, rounds: u64) -> Result<u64> {
        let mut times = vec![0; rounds as usize];
        for time in &mut times {
            let begun = Instant::now();
            self.begin(operation::PUT, 8, ack::FULL)?;
            self.finish(0);
            *time = begun.elapsed().as_nanos() as u64 / 2;
        }
        Ok(median(&mut times))
    }

    /// Begins gets; [`Side::drain`] waits for their end.
    fn fetch(&mut self, bytes: usize, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.begin(operation::GET, bytes, ack::NONE))
    }

    fn drain(&mut self) {
        self.finish(0);
    }

    /// Million bytes a second of one kind of operation; then what has arrived is compared.
    fn bandwidth(&mut self, kind: u32, bytes: usize) -> Result<f64> {
        let number = bytes as u64 + u64::from(kind);
        let count = (ROW_BYTES / bytes).clamp(2, 2_000) as u64;
        let first = job().rank().0 < self.peer;
        let put = kind == operation::PUT;
        fill(if put { &self.source } else { &self.landing }, number, bytes);
        self.barrier()?;
        let begun = Instant::now();
        if first {
            for _ in 0..count {
                self.begin(kind, bytes, if put { ack::FULL } else { ack::NONE })?;
                self.finish(WINDOW - 1);
            }
            self.finish(0);
        }
        let seconds = begun.elapsed().as_secs_f64();
        if !first {
            // Gets of the peer's count as well.
            self.expected += count - 1;
            self.receive();
        }
        if put && !first {
            check("put", &self.landing, number, bytes);
        } else if !put && first {
            check("get", &self.source, number, bytes);
        }
        self.barrier()?;
        Ok(count as f64 * bytes as f64 / seconds / 1e6)
    }
}

/// The middle one of them, 0 if there is none.
fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn measure(options: &Options) -> Result<Document> {
    let ranks = if options.peers.is_some() { 2 } else { job().size() };
    let mut side = Side::new(options.largest.max(8), ranks)?;
    side.barrier()?;
    if let Some(peers) = options.peers {
        side.wait_for_peers(peers)?;
        side.barrier()?;
    }
    let before = side.interface.node_counts()?.frames_sent;
    let latency_ns = side.latency(8, options.rounds)?;
    let frames = side.interface.node_counts()?.frames_sent.saturating_sub(before);
    side.barrier()?;
    let mut bandwidth = Vec::new();
    // Floors are those of each power of two.
    let (mut bytes, step) = if options.floors || options.peers.is_some() { (64, 2) } else { (8, 4) };
    while bytes <= options.largest {
        let latency_ns = match options.peers {
            Some(_) => Some(side.latency(bytes, options.rounds)?),
            None => None,
        };
        // The last put may still be on its way out of memory that is filled anew next.
        side.barrier()?;
        let put_mb_s = side.bandwidth(operation::PUT, bytes)?;
        let get_mb_s = side.bandwidth(operation::GET, bytes)?;
        bandwidth.push(Row { bytes, latency_ns, put_mb_s, get_mb_s });
        bytes *= step;
    }
    let mut floors = None;
    if options.floors && job().rank().0 == 0 {
        let sizes: Vec<usize> = bandwidth.iter().map(|row| row.bytes).collect();
        let source = address(&side.source);
        floors = floor::measure(&mut side, options.rounds, &sizes, source)?;
    }
    side.barrier()?;
    Ok(Document {
        program: "portals-bench",
        ranks: job().size(),
        nodes: job().nodes(),
        latency_ns,
        frames_a_put: frames as f64 / options.rounds as f64,
        bandwidth,
        floors,
    })
}

fn print(options: &Options, document: &Document) {
    if options.json {
        return json::print(document);
    }
    println!("# {} ranks on {} nodes, data verified", document.ranks, document.nodes);
    println!("# put of 8 bytes, half round trip: {} ns", document.latency_ns);
    println!("#   bytes   put MB/s   get MB/s");
    for row in &document.bandwidth {
        println!("{:9} {:10.1} {:10.1}", row.bytes, row.put_mb_s, row.get_mb_s);
    }
    if let Some(floors) = &document.floors {
        floors.print();
    }
}
