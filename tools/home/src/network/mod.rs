//! The node's network: Portals (crate `lwk-portals`) in a memory object that node and ranks share, and wires in the place of a card.
//!
//! A rank's system call works on the shared state and sends by itself. Frames are taken in by ranks that wait and by a thread of the node's process, which takes
//! the part of the interrupt ([`interrupt`]): they deliver what comes straight into the ranks' memory, which is mapped in all of them.
//! Everything happens under one spinning lock, as with the files.
//!
//! Ranks come here from a signal handler or a call of its kind: see [`crate::rank`] for what they may use.

mod card;
mod interrupt;
mod wires;

use std::cell::UnsafeCell;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use lwk_failure::LostNode;
use lwk_frames::{Dropped, FRAME_BYTES_MAX, HEAD_BYTES, Identity, JUMBO_BYTES, NodeId};
use lwk_job::Job;
use lwk_mm::layout::Layout;
use lwk_portals::{Call, HomeCounts, Node, Ranks, Settings};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nix::unistd::ftruncate;

use crate::arch::{Gate, time_stamp};
use crate::files::Yield;
use card::{Home, Pieces, peek, receive, receive_placed};
use wires::Named;

pub use interrupt::Cores;
pub(crate) use wires::inherit;
pub use wires::{Plug, Sockets, Wires};

/// Frames that are taken in without giving the lock away.
const BATCH: usize = 64;
/// So many times as much at most before other nodes are looked after.
const TURNS: usize = 64;

/// Least payload that is put where it belongs at once, in bytes: a shorter one is copied in less time than another system call takes.
const PLACED_MIN: usize = 8 << 10;

/// What node and ranks share.
#[repr(C)]
struct Shared {
    lock: spin::mutex::SpinMutex<(), Yield>,
    /// When the timer wakes the interrupt, in microseconds; `u64::MAX` if it is not set. Only under the lock.
    strikes_at: AtomicU64,
    /// The latest time that was told, in microseconds. Only under the lock.
    now: AtomicU64,
    /// When something is due next, whoever sees to it; `u64::MAX` if nothing is. Changed only under the lock.
    due: AtomicU64,
    /// When a rank that waits has last looked for frames, and the longest time without a look since the interrupt has seen to it ([`interrupt`]). Only under
    /// the lock.
    looked_at: AtomicU64,
    absent: AtomicU64,
    /// For how long the interrupt stays away from wires and timer, in microseconds; 0 if they wake it. The interrupt's to change, under the lock.
    away: AtomicU64,
    node: UnsafeCell<Node>,
    /// What is counted below Portals; only under the lock.
    counts: UnsafeCell<HomeCounts>,
    /// A frame that has come; as the node, only under the lock.
    frame: UnsafeCell<[u8; FRAME_BYTES_MAX + 1]>,
}

/// Whether the next frame has been put where it belongs.
enum Placed {
    Yes,
    No,
    NoFrame,
}

/// The lock, held.
type Alone<'a> = spin::mutex::SpinMutexGuard<'a, (), Yield>;

/// The network of a node, for its process and all its ranks.
#[derive(Debug)]
pub struct Network {
    shared: NonNull<Shared>,
    /// Where frames come in, and where they go to each node; none in a job of one node.
    receives: Option<RawFd>,
    sends: Vec<RawFd>,
    /// Wakes the interrupt when time is to be looked after: a timer of Linux's (timerfd_create(2)).
    timer: RawFd,
    /// Whether frames are so long that it is worth a system call to know where their payload goes.
    places: bool,
    layout: Layout,
    ranks: u32,
    /// Microseconds for a tick of the time stamp counter, times 2^64.
    tick: u64,
}

// SAFETY: the mapping belongs to the process; what is behind it is used under its lock only, or is atomic.
unsafe impl Send for Network {}
// SAFETY: a shared reference leads to the mapping under its lock only, or to atomics.
unsafe impl Sync for Network {}

/// Where the ranks of a node are in the job: ranks of the job, and the first of the node's.
pub fn place(job: &Job<'_>) -> (u32, u32) {
    job.network.map_or((job.ranks, 0), |network| {
        let ranks = Ranks { size: network.size, nodes: network.nodes };
        (network.size, ranks.first_of(network.node))
    })
}

impl Network {
    /// A node's network, for it and for the ranks that it forks from now on; it lives as long as they do. Time is the counter's, which has
    /// `ticks` in a second.
    ///
    /// # Errors
    /// Linux refuses memory or a descriptor, or the wires are not those of the job.
    pub fn new(job: &Job<'_>, layout: &Layout, ticks: u64) -> io::Result<&'static Network> {
        let object = memfd_create(c"margay-network", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&object, size_of::<Shared>() as libc::off_t)?;
        let bytes = NonZeroUsize::MIN.saturating_add(size_of::<Shared>() - 1);
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping wherever the system likes harms nothing.
        let memory = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, &object, 0)? };
        let Named { frame_bytes, receives, sends } = wires::named(job)?;
        // SAFETY: the call names no memory.
        let timer =
            unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC | libc::TFD_NONBLOCK) };
        if timer < 0 {
            return Err(io::Error::last_os_error());
        }
        let it = Network {
            shared: memory.cast(),
            receives,
            sends,
            timer,
            places: frame_bytes > JUMBO_BYTES,
            layout: layout.clone(),
            ranks: job.ranks,
            tick: ((1_000_000u128 << 64) / u128::from(ticks.max(1_000_001))) as u64,
        };
        let network = job.network;
        let identity = Identity {
            node: NodeId(network.map_or(0, |network| network.node as u16)),
            nodes: network.map_or(1, |network| network.nodes as u16),
            job: network.map_or(1, |network| network.job),
            // A later life of the node has a later time.
            epoch: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(1, |time| time.as_micros() as u64),
            frame_bytes,
        };
        let loops = network.is_some_and(|network| network.is_loop());
        it.with(|node, _| node.start(&Settings { identity, size: place(job).0, loops }));
        it.shared().strikes_at.store(u64::MAX, Ordering::Relaxed);
        Ok(Box::leak(Box::new(it)))
    }

    /// Descriptors that ranks need.
    pub fn descriptors(&self) -> Vec<RawFd> {
        self.sends.iter().copied().chain(self.receives).chain([self.timer]).collect()
    }

    fn shared(&self) -> &Shared {
        // SAFETY: zeroed memory of the right size that is never unmapped: an open lock, a number, a node, for which zeros are sound
        // (`bytemuck::Zeroable`), numbers and bytes; these three are in cells.
        unsafe { self.shared.as_ref() }
    }

    fn with<R>(&self, work: impl FnOnce(&mut Node, &mut Home<'_>) -> R) -> R {
        self.with_guard(self.shared().lock.lock(), work)
    }

    /// As [`Network::with`], if nobody else is at it.
    fn try_with<R>(&self, work: impl FnOnce(&mut Node, &mut Home<'_>) -> R) -> Option<R> {
        Some(self.with_guard(self.shared().lock.try_lock()?, work))
    }

    fn with_guard<R>(&self, _alone: Alone<'_>, work: impl FnOnce(&mut Node, &mut Home<'_>) -> R) -> R {
        let shared = self.shared();
        // SAFETY: the lock is held, and no reference into the node or the counts outlives `work`.
        let (node, counts) = unsafe { (&mut *shared.node.get(), &mut *shared.counts.get()) };
        work(node, &mut Home { network: self, counts })
    }

    /// Microseconds since some moment. Never earlier than whoever asked before. The caller has the lock.
    fn now(&self) -> u64 {
        let latest = &self.shared().now;
        // Relaxed: used under the lock only.
        let now = latest.load(Ordering::Relaxed).max(self.ticked());
        latest.store(now, Ordering::Relaxed);
        now
    }

    /// The same by this core's counter alone, for whoever has not the lock.
    fn ticked(&self) -> u64 {
        ((u128::from(time_stamp()) * u128::from(self.tick)) >> 64) as u64
    }

    /// Sends what is to be sent now that frames have come or time has passed. The caller has the lock.
    fn finish(&self, node: &mut Node, home: &mut Home<'_>) {
        let now = self.now();
        node.work(now, home);
        self.set_timer(node.deadline(now), now);
    }

    /// Takes frames in that have come, `most` and what follows of a message in the middle, [`BATCH`] in all; how many. The caller has the lock.
    fn take_frames(&self, node: &mut Node, home: &mut Home<'_>, most: usize) -> usize {
        let Some(receives) = self.receives else { return 0 };
        // SAFETY: the lock is held (`Network::with` has made the references given here), and this is the only use of the buffer.
        let buffer = unsafe { &mut *self.shared().frame.get() };
        let mut taken = 0;
        while taken < BATCH && (taken < most || node.is_in_the_middle()) {
            let placed = if self.places && node.is_in_the_middle() {
                self.take_placed(receives, node, home)
            } else {
                Placed::No
            };
            match placed {
                Placed::Yes => {}
                Placed::NoFrame => break,
                Placed::No => {
                    let Some(length) = receive(receives, buffer) else { break };
                    node.receive(&buffer[..length], self.now(), home);
                }
            }
            home.counts.frames_received += 1;
            taken += 1;
        }
        taken
    }

    /// Takes in the next frame if its payload can be put where it belongs right away: one copy less. The caller has the lock.
    fn take_placed(&self, receives: RawFd, node: &mut Node, home: &mut Home<'_>) -> Placed {
        let Some((head, frame)) = peek(receives) else { return Placed::NoFrame };
        let payload = frame.saturating_sub(HEAD_BYTES);
        let mut into = Pieces::new();
        if payload < PLACED_MIN || !node.place_of(&head, payload, |span| into.add(span)) {
            return Placed::No;
        }
        // Nobody else takes frames in meanwhile, so it is the frame that was looked at.
        if receive_placed(receives, &into) != Some(frame) {
            return Placed::No;
        }
        home.counts.written += payload as u64;
        node.receive_placed(&head, payload, self.now(), home);
        Placed::Yes
    }

    /// One of Portals' calls of a rank of the node: what it answers.
    pub fn call(&self, rank: u32, call: Call) -> i64 {
        Network::ends_stream();
        self.with(|node, home| {
            let now = self.now();
            // Before the call takes frames for lost: their answers may be here, and the thread of the interrupt without a core.
            if node.deadline(now).is_some_and(|at| at <= now) {
                self.take_frames(node, home, BATCH);
            }
            let now = self.now();
            let answer = node.call(home, rank, call, now);
            self.set_timer(node.deadline(now), now);
            answer
        })
    }

    /// What the network has done, as a record of the exit report; nothing if it has done nothing. The keys are those of the kernel's.
    pub fn report(&self) -> Option<String> {
        self.with(|node, home| {
            let (portals, link) = node.counts();
            let below = &home.counts;
            (self.receives.is_some() || portals.sent > 0).then(|| {
                format!(
                    "network region_bytes={} messages_sent={} messages_arrived={} malformed={} payload_bytes={} written_bytes={} \
                     frames_sent={} frames_received={} retransmitted={} timeouts={} dropped={} damaged={} foreign={} kept={} \
                     interrupts={} timer={} acknowledgements={} bundled={}",
                    size_of::<Shared>(),
                    portals.sent,
                    portals.arrived,
                    portals.malformed,
                    portals.bytes,
                    below.written,
                    below.frames_sent,
                    below.frames_received,
                    link.retransmitted,
                    link.timeouts,
                    link.all_dropped(),
                    link.dropped(Dropped::Checksum),
                    link.dropped(Dropped::Foreign),
                    link.held,
                    below.interrupts,
                    below.timer,
                    link.answers,
                    link.bundled,
                )
            })
        })
    }

    /// Looks after the other nodes for a rank that waits: one that is lost.
    pub fn lost_node(&self) -> Option<LostNode> {
        self.receives?;
        let lost = self.with(|node, home| {
            // Answers may be here, and the thread of the interrupt without a core; noise may be, too, and does not end.
            let _ = (0..TURNS).find(|_| self.take_frames(node, home, BATCH) < BATCH);
            let now = self.now();
            let lost = node.watch(now, home);
            self.set_timer(node.deadline(now), now);
            lost
        })?;
        Some(LostNode { node: lost.node.0.into(), silent_us: lost.silent_us, restarted: lost.restarted })
    }

    /// Notes when something is due, if anything is, and has the timer wake the interrupt then, unless it will wake earlier anyway. The caller has the lock.
    ///
    /// Setting a timer costs more than a message (a virtual machine traps). So one that is set stays, even if what it was set for has come, and none is set while
    /// ranks look.
    fn set_timer(&self, at: Option<u64>, now: u64) {
        let shared = self.shared();
        // Relaxed, all of them: used under the lock only.
        shared.due.store(at.unwrap_or(u64::MAX), Ordering::Relaxed);
        let (Some(_), Some(at)) = (self.receives, at) else { return };
        let strikes_at = &shared.strikes_at;
        if shared.away.load(Ordering::Relaxed) > 0 || at >= strikes_at.load(Ordering::Relaxed) {
            return;
        }
        strikes_at.store(at, Ordering::Relaxed);
        // Zero would stop it.
        let wait = at.saturating_sub(now).max(1);
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let time = libc::itimerspec {
            it_interval: zero,
            it_value: libc::timespec {
                tv_sec: (wait / 1_000_000) as i64,
                tv_nsec: (wait % 1_000_000 * 1000) as i64,
            },
        };
        // SAFETY: the call reads the time.
        unsafe {
            Gate::call(libc::SYS_timerfd_settime, [self.timer as u64, 0, &raw const time as u64, 0, 0, 0])
        };
    }
}
