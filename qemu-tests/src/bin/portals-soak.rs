//! Pairs of ranks put and get pieces of random length at random places in each other's memory, and compare every byte
//!
//! Rank r of the first half works with rank r plus half the job's ranks, both at once. All ranks have the same bytes in [`Soak::pattern`], so a piece is told by
//! where it begins; a put's header data says that. The target compares what has come and gives the place back by an empty put. At the end the node keeps
//! as much for its ranks as at the beginning, or the job fails.
#![no_std]
#![no_main]
#![allow(
    clippy::disallowed_types,
    reason = "a program of its own: what its ranks share is what it shows or measures"
)]

extern crate alloc;

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, Ordering};

use lwk_apps::cli::{Argument, Cli};
use lwk_user::clock::Instant;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, Event, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TableOptions, ack, event, failure, operation,
};
use lwk_user::portals::{Counter, DescriptorHandle, Interface, Queue, Result};
use lwk_user::wait::Poll;
use lwk_user::{Env, eprintln, job, println, start};

const USAGE: &str = "portals-soak [--megabytes N] [--seed N]";

/// Puts under way to a peer, and the place of each: the longest piece fits wherever in it that begins.
const PLACES: u64 = 8;
const PLACE_BYTES: usize = 256 << 10;
/// A piece is no longer than this.
const PIECE_BYTES: u64 = (PLACE_BYTES - 64) as u64;
const PATTERN_BYTES: usize = 1 << 20;
/// Match bits: pieces that are put, the pattern, places given back, and the word that all has been sent.
const DATA: u64 = 1;
const PATTERN: u64 = 2;
const BACK: u64 = 3;
const LAST: u64 = 4;
/// What is under way at the end has gone after so long: a peer that has ended and acknowledges nothing any more is given up after 6 s. The rest is
/// for a busy machine.
const REST_S: u64 = 120;

lwk_user::entry!(main);

fn main(env: &Env) -> i32 {
    let (mut megabytes, mut seed) = (50, 1);
    let mut cli = Cli::new(env, USAGE);
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("megabytes") => megabytes = cli.number("megabytes", 1..=1_000_000),
            Argument::Option("seed") => seed = cli.number("seed", 1..=u64::MAX),
            other => cli.unknown(other),
        }
    }
    let (me, size) = (job().rank().0, job().size());
    if !size.is_multiple_of(2) {
        cli.refuse(&format_args!("an even number of ranks (-n) makes pairs"));
    }
    let half = size / 2;
    let peer = if me < half { me + half } else { me - half };
    let share = megabytes * 1_000_000 / u64::from(size);
    match Soak::new(peer, seed + u64::from(me)).and_then(|soak| soak.run(share)) {
        Ok(()) => 0,
        Err(error) => fail(&format_args!("a call of Portals failed: {error}")),
    }
}

fn fail(message: &dyn core::fmt::Display) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

/// Memory of atomics: the other node writes and reads it at any time.
fn memory(bytes: usize, of: impl Fn(usize) -> u8) -> Vec<AtomicU8> {
    (0..bytes).map(|at| AtomicU8::new(of(at))).collect()
}

fn address(memory: &[AtomicU8]) -> u64 {
    memory.as_ptr().expose_provenance() as u64
}

/// A number at random (Marsaglia's xorshift64).
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A rank's part of a pair.
struct Soak {
    it: Interface,
    peer: u32,
    state: u64,
    pattern: Vec<AtomicU8>,
    landing: Vec<AtomicU8>,
    fetched: Vec<AtomicU8>,
    /// Pieces that have come.
    came: Queue,
    /// Answers to puts, and what has been fetched.
    told: Queue,
    fetches: Counter,
    /// Places that the peer has given back, and its word that it has sent all.
    back: Counter,
    last: Counter,
    from: DescriptorHandle,
    into: DescriptorHandle,
    /// Answers that have not come yet, pieces and bytes that have been put, got and compared.
    unanswered: u64,
    puts: u64,
    gets: u64,
    bytes: u64,
    compared: u64,
}

impl Soak {
    fn new(peer: u32, seed: u64) -> Result<Soak> {
        let it = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
        let (came, told) = (it.queue(64)?, it.queue(64)?);
        let (fetches, back, last) = (it.counter()?, it.counter()?, it.counter()?);
        // No period that a piece could be shifted by.
        let pattern =
            memory(PATTERN_BYTES, |at| ((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8);
        let landing = memory(PLACES as usize * PLACE_BYTES, |_| 0);
        let fetched = memory(PLACE_BYTES, |_| 0);
        it.table(TableOptions::empty(), Some(&came), 0)?;
        let open = |bits, memory: &[AtomicU8], options, counter| Entry {
            start: address(memory),
            bytes: memory.len() as u64,
            counter,
            uid: ANY,
            options,
            node: ANY,
            process: ANY,
            bits,
            ..Entry::default()
        };
        let counted = EntryOptions::OP_PUT
            | EntryOptions::EVENT_CT_COMM
            | EntryOptions::EVENT_COMM_DISABLE
            | EntryOptions::EVENT_LINK_DISABLE;
        let listed = EntryOptions::OP_PUT | EntryOptions::EVENT_LINK_DISABLE;
        let read = EntryOptions::OP_GET | EntryOptions::EVENT_COMM_DISABLE | EntryOptions::EVENT_LINK_DISABLE;
        // SAFETY: memory of atomics, which lives as long as the interface; it is reached in no other way.
        unsafe {
            it.append(0, &open(DATA, &landing, listed, NONE), PRIORITY_LIST)?;
            it.append(0, &open(PATTERN, &pattern, read, NONE), PRIORITY_LIST)?;
            it.append(0, &open(LAST, &[], counted, last.handle()), PRIORITY_LIST)?;
            // Last: who gets through to it finds the others.
            it.append(0, &open(BACK, &[], counted, back.handle()), PRIORITY_LIST)?;
        }
        let bind = |memory: &[AtomicU8], options: DescriptorOptions, counter| {
            let (start, bytes) = (address(memory), memory.len() as u64);
            let options = options | DescriptorOptions::EVENT_SEND_DISABLE;
            // SAFETY: as above.
            unsafe {
                it.bind(&Descriptor { start, bytes, options, queue: told.handle(), counter, reserved: 0 })
            }
        };
        let from = bind(&pattern, DescriptorOptions::empty(), NONE)?;
        let into = bind(&fetched, DescriptorOptions::EVENT_CT_REPLY, fetches.handle())?;
        Ok(Soak {
            it,
            peer,
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            pattern,
            landing,
            fetched,
            came,
            told,
            fetches,
            back,
            last,
            from,
            into,
            unanswered: 0,
            puts: 0,
            gets: 0,
            bytes: 0,
            compared: 0,
        })
    }

    fn operate(&mut self, asked: &Operation) -> Result<()> {
        self.unanswered += 1;
        let asked = Operation { node: self.peer, trigger: NONE, ..*asked };
        // SAFETY: memory of atomics, which lives as long as the interface.
        unsafe { self.it.operate(&asked) }
    }

    fn put(&mut self, bits: u64, [from, bytes, to]: [u64; 3]) -> Result<()> {
        let asked = Operation {
            kind: operation::PUT,
            put: self.from.0,
            get: NONE,
            ack: ack::FULL,
            put_offset: from,
            bytes,
            bits,
            remote_offset: to,
            data: from,
            ..Operation::default()
        };
        self.operate(&asked)
    }

    /// A length, short ones as often as long ones, and where a piece of it begins in the pattern.
    fn piece(&mut self) -> (u64, u64) {
        let most = 1 << (random(&mut self.state) % 18 + 1);
        let bytes = (1 + random(&mut self.state) % most).min(PIECE_BYTES);
        (bytes, random(&mut self.state) % (PATTERN_BYTES as u64 - bytes))
    }

    fn compare(&mut self, what: &str, memory: &[AtomicU8], from: u64, bytes: u64) {
        let should = &self.pattern[from as usize..][..bytes as usize];
        // Relaxed: what told of its arrival was read with acquire.
        let wrong = memory
            .iter()
            .zip(should)
            .filter(|(is, should)| is.load(Ordering::Relaxed) != should.load(Ordering::Relaxed));
        let wrong = wrong.count() + should.len().saturating_sub(memory.len());
        if wrong > 0 {
            fail(&format_args!("{wrong} bytes of {bytes} that were {what} are wrong"));
        }
        self.compared += bytes;
    }

    /// Takes an event of a piece that has come: compares it, and gives its place back.
    fn take(&mut self, came: &Event) -> Result<()> {
        if came.kind != event::PUT || came.failure != failure::OK {
            fail(&format_args!("event {} with failure {} instead of a piece", came.kind, came.failure));
        }
        let landing = core::mem::take(&mut self.landing);
        let at = (came.start - address(&landing)) as usize;
        self.compare("put", &landing[at..][..came.done as usize], came.data, came.requested);
        self.landing = landing;
        self.put(BACK, [0; 3])
    }

    fn take_answer(&mut self, answer: &Event) {
        self.unanswered -= 1;
        if answer.failure != failure::OK {
            fail(&format_args!("an operation failed ({}): the peer is gone, or refused it", answer.failure));
        }
    }

    /// Looks for what has come; whether anything has.
    fn look(&mut self) -> Result<bool> {
        let mut found = false;
        while let Some(came) = self.came.get() {
            self.take(&came)?;
            found = true;
        }
        while let Some(answer) = self.told.get() {
            self.take_answer(&answer);
            found = true;
        }
        Ok(found)
    }

    /// Waits until the peer has opened its memory.
    fn meet(&mut self) -> Result<()> {
        loop {
            self.put(BACK, [0; 3])?;
            let answer = self.told.wait();
            self.unanswered -= 1;
            match answer.failure {
                failure::OK => return Ok(()),
                failure::TARGET_INVALID | failure::DROPPED | failure::NO_MATCH => {}
                other => fail(&format_args!("the peer cannot be reached (failure {other})")),
            }
        }
    }

    fn run(mut self, share: u64) -> Result<()> {
        self.meet()?;
        self.back.wait(1);
        let before = self.rests(None)?;
        let mut fetching = None;
        let mut poll = Poll::new();
        let mut told_last = false;
        while self.last.get().0 == 0 || !told_last || self.unanswered > 0 {
            let mut busy = self.look()?;
            // One place was given back to begin with.
            let given_back = self.back.get().0 - 1;
            if let Some((from, bytes)) = fetching.take_if(|_| self.fetches.get().0 == self.gets) {
                let fetched = core::mem::take(&mut self.fetched);
                self.compare("got", &fetched[..bytes as usize], from, bytes);
                self.fetched = fetched;
                busy = true;
            }
            if self.bytes < share && self.puts - given_back < PLACES {
                let (bytes, from) = self.piece();
                let place = self.puts % PLACES * PLACE_BYTES as u64 + random(&mut self.state) % 64;
                self.put(DATA, [from, bytes, place])?;
                (self.puts, self.bytes, busy) = (self.puts + 1, self.bytes + bytes, true);
            }
            if self.bytes < share && fetching.is_none() {
                let (bytes, from) = self.piece();
                let asked = Operation {
                    kind: operation::GET,
                    put: NONE,
                    get: self.into.0,
                    bytes,
                    bits: PATTERN,
                    remote_offset: from,
                    ..Operation::default()
                };
                self.operate(&asked)?;
                fetching = Some((from, bytes));
                (self.gets, self.bytes, busy) = (self.gets + 1, self.bytes + bytes, true);
            }
            if self.bytes >= share && !told_last && given_back == self.puts && fetching.is_none() {
                self.put(LAST, [0; 3])?;
                told_last = true;
            }
            if !busy {
                poll.pause();
            }
        }
        self.rests(Some(before))?;
        let counts = self.it.node_counts()?;
        println!(
            "rank {}: {} bytes in {} puts and {} gets, {} compared, 0 wrong; {} frames of its node went again",
            job().rank(),
            self.bytes,
            self.puts,
            self.gets,
            self.compared,
            counts.retransmitted,
        );
        Ok(())
    }

    /// What the node keeps for its ranks when nothing is under way any more: places of tables, messages, frames. Fails if it stays above `most`.
    fn rests(&self, most: Option<u64>) -> Result<u64> {
        let (since, mut poll) = (Instant::now(), Poll::new());
        let mut least = u64::MAX;
        loop {
            least = least.min(self.it.node_counts()?.kept);
            // At the beginning the least within a moment in which acknowledgements come.
            match most {
                None if since.elapsed().as_millis() >= 20 => return Ok(least),
                Some(most) if least <= most => return Ok(least),
                Some(most) if since.elapsed().as_secs() >= REST_S => {
                    fail(&format_args!("{least} things are kept at the end, {most} were at the beginning"))
                }
                _ => poll.pause(),
            }
        }
    }
}
