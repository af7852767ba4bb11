//! The node's network: Portals (crate `lwk-portals`) in a memory object that node and ranks share, and wires in the place of a card.
//!
//! A wire is a pair of datagram sockets without a name: a node receives at one end, and whoever sends to it writes into the other, which all
//! nodes have inherited from the host tool. So nobody else can send, and nothing is left behind. A rank's system call works on the shared
//! state and sends by itself; the node's process takes the part of the interrupt ([`Network::interrupts`]): it delivers what comes straight into
//! the ranks' memory, which is mapped there as in every rank. Everything happens under one spinning lock, as with the files.
//!
//! Ranks come here from a signal handler: see [`crate::rank`] for what they may use.

use std::cell::UnsafeCell;
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lwk_abi::address::{SLOT_BYTES, USER_END, remote, slot_of};
use lwk_frames::{FRAME_BYTES_MAX, Identity, NodeId};
use lwk_job::Job;
use lwk_mm::Access;
use lwk_mm::layout::Layout;
use lwk_portals::region::IOVECS_MAX;
use lwk_portals::{HomeCounts, Memory, Nic, Node, Ranks, Settings, Span};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nix::unistd::{Pid, ftruncate};

use crate::arch::{self, Gate};
use crate::files::Yield;
use crate::rank::monotonic_ns;

/// The environment variable by which a node learns of its wires: the descriptor to receive at, then those to send to each node.
const WIRES: &str = "MARGAY_HOST_WIRES";
/// Frames that are taken in without giving the lock away.
const BATCH: usize = 64;
/// What a wire may hold, if Linux allows.
const WIRE_BYTES: libc::c_int = 8 << 20;

/// The wires between the nodes of a job: by node, where it receives, and where others send to it. At a switch both are the node's end of its only wire, and
/// it sends there, whoever is meant.
#[derive(Debug)]
pub struct Wires {
    ends: Vec<(UnixDatagram, UnixDatagram)>,
    at_switch: bool,
}

impl Wires {
    /// A wire to each of `nodes` nodes.
    ///
    /// # Errors
    /// Linux refuses the sockets.
    pub fn new(nodes: u32) -> io::Result<Arc<Wires>> {
        let wire = |_| {
            let (receives, sends) = UnixDatagram::pair()?;
            for socket in [&receives, &sends] {
                nonblocking(socket)?;
            }
            widen(&sends);
            Ok((receives, sends))
        };
        let ends = (0..nodes).map(wire).collect::<io::Result<_>>()?;
        Ok(Arc::new(Wires { ends, at_switch: false }))
    }

    /// The wires of nodes that a switch joins, by their ends there.
    ///
    /// # Errors
    /// Linux refuses descriptors.
    pub fn at_switch(stations: Vec<UnixDatagram>) -> io::Result<Arc<Wires>> {
        let wire = |station: UnixDatagram| {
            let same = station.try_clone()?;
            for socket in [&station, &same] {
                nonblocking(socket)?;
            }
            widen(&station);
            Ok((station, same))
        };
        let ends = stations.into_iter().map(wire).collect::<io::Result<_>>()?;
        Ok(Arc::new(Wires { ends, at_switch: true }))
    }

    /// Puts any bytes on the wire to a node, as a card would: for tests, without a switch. False if the wire is full.
    pub fn inject(&self, node: usize, frame: &[u8]) -> bool {
        self.ends[node].1.send(frame).is_ok()
    }
}

/// Lets a wire hold more, if Linux allows. Less is slower, and no error.
fn widen(sends: &UnixDatagram) {
    // SAFETY: the call reads one number.
    unsafe {
        let bytes = std::ptr::from_ref(&WIRE_BYTES).cast();
        let length = size_of::<libc::c_int>() as libc::socklen_t;
        libc::setsockopt(sends.as_raw_fd(), libc::SOL_SOCKET, libc::SO_SNDBUF, bytes, length);
    }
}

fn nonblocking(socket: &UnixDatagram) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    // The nodes inherit them.
    // SAFETY: clears the flags of a descriptor, of which there is one.
    match unsafe { libc::fcntl(socket.as_raw_fd(), libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A node's place at the wires.
#[derive(Clone, Debug)]
pub struct Plug {
    pub wires: Arc<Wires>,
    pub node: usize,
}

impl Plug {
    /// The environment variable that tells the node's process of it.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        let Wires { ends, at_switch } = &*self.wires;
        let (receives, own) = &ends[self.node];
        let receives = receives.as_raw_fd();
        let ends = ends.iter().map(|(_, sends)| if *at_switch { own } else { sends }.as_raw_fd());
        let words: Vec<String> = std::iter::once(receives).chain(ends).map(|fd| fd.to_string()).collect();
        (WIRES, words.join(","))
    }
}

/// What node and ranks share.
#[repr(C)]
struct Shared {
    lock: spin::mutex::SpinMutex<(), Yield>,
    /// When the timer wakes the interrupt, in microseconds; `u64::MAX` if it is not set. Only under the lock.
    strikes_at: AtomicU64,
    node: UnsafeCell<Node>,
    /// What is counted below Portals; only under the lock.
    counts: UnsafeCell<HomeCounts>,
    /// A frame that has come; as the node, only under the lock.
    frame: UnsafeCell<[u8; FRAME_BYTES_MAX + 1]>,
}

/// The network of a node, for its process and all its ranks.
#[derive(Debug)]
pub struct Network {
    shared: NonNull<Shared>,
    /// Where frames come in, and where they go to each node; none in a job of one node.
    receives: Option<RawFd>,
    sends: Vec<RawFd>,
    /// Wakes the interrupt when time is to be looked after: a timer of Linux's (timerfd_create(2)).
    timer: RawFd,
    layout: Layout,
    ranks: u32,
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
    /// A node's network, for it and for the ranks that it forks from now on; it lives as long as they do.
    ///
    /// # Errors
    /// Linux refuses memory or a descriptor, or the wires are not those of the job.
    pub fn new(job: &Job<'_>, layout: &Layout) -> io::Result<&'static Network> {
        let object = memfd_create(c"margay-network", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&object, size_of::<Shared>() as libc::off_t)?;
        let bytes = NonZeroUsize::MIN.saturating_add(size_of::<Shared>() - 1);
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping wherever the system likes harms nothing.
        let memory = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, &object, 0)? };
        let (receives, sends) = wires(job)?;
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
            layout: layout.clone(),
            ranks: job.ranks,
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
            frame_bytes: FRAME_BYTES_MAX,
        };
        it.with(|node, _| node.start(&Settings { identity, size: place(job).0 }));
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
        let shared = self.shared();
        let _alone = shared.lock.lock();
        // SAFETY: the lock is held, and no reference into the node or the counts outlives `work`.
        let (node, counts) = unsafe { (&mut *shared.node.get(), &mut *shared.counts.get()) };
        work(node, &mut Home { network: self, counts })
    }

    /// Takes frames in that have come, at most [`BATCH`]; how many. The caller has the lock.
    fn take_frames(&self, node: &mut Node, home: &mut Home<'_>, now: u64) -> usize {
        let Some(receives) = self.receives else { return 0 };
        // SAFETY: the lock is held (`Network::with` has made the references given here), and this is the only use of the buffer.
        let buffer = unsafe { &mut *self.shared().frame.get() };
        let mut taken = 0;
        while taken < BATCH
            && let Some(length) = receive(receives, buffer)
        {
            home.counts.frames_received += 1;
            node.receive(&buffer[..length], now, home);
            taken += 1;
        }
        taken
    }

    /// A system call of one of Portals' (`lwk_abi::syscall::portals`), by node rank: what it answers.
    pub fn call(&self, rank: u32, number: u64, arguments: [u64; 6]) -> i64 {
        self.with(|node, home| {
            // Under the lock, so that nobody comes with an earlier time than who was there before.
            let now = monotonic_ns() / 1000;
            // Before the call takes frames for lost: their answers may be here, and the thread of the interrupt without a core.
            if node.deadline(now).is_some_and(|at| at <= now) {
                self.take_frames(node, home, now);
            }
            let answer = node.call(home, rank, number, arguments, now);
            self.set_timer(node, now);
            answer
        })
    }

    /// Has the timer wake the interrupt when time is to be looked after, unless it will wake earlier anyway. The caller has the lock.
    ///
    /// Setting a timer costs more than a message (a virtual machine traps), so one that is set stays, even if what it was set for has come.
    fn set_timer(&self, node: &Node, now: u64) {
        let (Some(_), Some(at)) = (self.receives, node.deadline(now)) else { return };
        // Relaxed, as below: used under the lock only.
        let strikes_at = &self.shared().strikes_at;
        if at >= strikes_at.load(Ordering::Relaxed) {
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

    /// The interrupt of a job of several nodes: takes frames in and looks after time, on this core if one is named, until the process ends.
    pub fn interrupts(&self, core: Option<usize>) {
        let Some(receives) = self.receives else { return };
        if let Some(core) = core {
            let mut set = CpuSet::new();
            // Without a place of its own the interrupt is slower, and no less right.
            let _ = set.set(core).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
        }
        let mut struck = false;
        loop {
            let more = self.with(|node, home| {
                let now = monotonic_ns() / 1000;
                if struck {
                    self.shared().strikes_at.store(u64::MAX, Ordering::Relaxed);
                }
                let taken = self.take_frames(node, home, now);
                home.counts.interrupts += u64::from(taken > 0);
                home.counts.timer += u64::from(struck);
                node.work(now, home);
                self.set_timer(node, now);
                taken == BATCH
            });
            struck = !more && wait(receives, self.timer);
        }
    }
}

/// The wires that the environment names.
fn wires(job: &Job<'_>) -> io::Result<(Option<RawFd>, Vec<RawFd>)> {
    let Some(network) = job.network else { return Ok((None, Vec::new())) };
    let text = std::env::var(WIRES).map_err(io::Error::other)?;
    let descriptors: Vec<RawFd> = text.split(',').filter_map(|word| word.parse().ok()).collect();
    match descriptors.split_first() {
        Some((receives, sends)) if sends.len() == network.nodes as usize => {
            Ok((Some(*receives), sends.to_vec()))
        }
        _ => Err(io::Error::other("the wires are not those of the job")),
    }
}

/// Receives a frame, if there is one. A longer one than any frame is cut, but one byte too long, by which it is known.
fn receive(socket: RawFd, buffer: &mut [u8]) -> Option<usize> {
    let arguments =
        [socket as u64, buffer.as_mut_ptr() as u64, buffer.len() as u64, libc::MSG_DONTWAIT as u64, 0, 0];
    // SAFETY: the call writes into the buffer.
    usize::try_from(unsafe { Gate::call(libc::SYS_recvfrom, arguments) }).ok()
}

/// Waits for a frame or the timer; whether the timer has struck.
fn wait(receives: RawFd, timer: RawFd) -> bool {
    let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polled = [entry(receives), entry(timer)];
    let mut count = 0u64;
    // SAFETY: the calls write into these variables.
    unsafe {
        libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, -1);
        polled[1].revents != 0 && libc::read(timer, (&raw mut count).cast(), size_of::<u64>()) > 0
    }
}

/// The machine below Portals, while the lock is held.
struct Home<'a> {
    network: &'a Network,
    counts: &'a mut HomeCounts,
}

/// Where a checked span is: in the memory of its rank, or in the peer's whose slot it names.
fn pointer(span: &Span) -> *mut u8 {
    let address = match slot_of(span.start()) {
        0 => remote(span.start(), span.rank()),
        _ => span.start(),
    };
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Memory for Home<'_> {
    fn check(&self, rank: u32, address: u64, bytes: u64, writable: bool) -> bool {
        let access = if writable { Access::RW } else { Access::R };
        rank < self.network.ranks
            && address < USER_END
            && slot_of(address) <= u64::from(self.network.ranks)
            && self.network.layout.check(address % SLOT_BYTES, bytes, access).is_ok()
    }

    fn read(&self, from: &Span, into: &mut [u8]) {
        assert!(from.bytes() == into.len() as u64, "a span is read as a whole");
        // SAFETY: checked to be readable memory of a rank, mapped at its slot in every process of the node; programs may change it, and any bytes
        // will do. No Rust reference leads there.
        unsafe { into.as_mut_ptr().copy_from_nonoverlapping(pointer(from), into.len()) };
    }

    fn write(&mut self, to: &Span, from: &[u8]) {
        assert!(to.bytes() == from.len() as u64, "a span is written as a whole");
        self.counts.written += to.bytes();
        // SAFETY: checked to be writable memory of a rank, mapped at its slot in every process of the node.
        // No Rust reference leads there.
        unsafe { pointer(to).copy_from_nonoverlapping(from.as_ptr(), from.len()) };
    }

    fn copy(&mut self, to: &Span, from: &Span) {
        assert!(to.bytes() == from.bytes(), "spans of one length");
        self.counts.written += to.bytes();
        // SAFETY: both are checked memory of ranks, `to` writable, mapped at its slot in every process of the
        // node; they may overlap. No Rust reference leads there.
        unsafe { pointer(to).copy_from(pointer(from), to.bytes() as usize) };
    }

    fn publish(&mut self, to: &Span, word: u64) {
        assert!(to.bytes() == 8 && to.start().is_multiple_of(8), "an aligned word");
        // Release: pairs with the acquire by which the program reads the word that tells of what was written before.
        // SAFETY: an aligned word (asserted) of checked, writable memory of a rank, mapped at its slot in
        // every process of the node.
        unsafe { AtomicU64::from_ptr(pointer(to).cast()) }.store(word, Ordering::Release);
    }

    fn checksum(&self, seed: u32, from: &Span) -> u32 {
        // SAFETY: checked to be readable memory of a rank, mapped at its slot in every process of the node.
        unsafe { arch::crc32c(seed, pointer(from), from.bytes() as usize) }
    }

    fn checksum_of(&self, seed: u32, bytes: &[u8]) -> u32 {
        // SAFETY: the bytes of a slice are readable.
        unsafe { arch::crc32c(seed, bytes.as_ptr(), bytes.len()) }
    }
}

impl Nic for Home<'_> {
    fn send(&mut self, to: NodeId, head: &[u8], middle: &[u8], body: &[Span]) -> bool {
        let Some(wire) = self.network.sends.get(usize::from(to.0)) else { return true };
        let piece = |start: *const u8, bytes: usize| libc::iovec {
            iov_base: start.cast_mut().cast(),
            iov_len: bytes,
        };
        let mut pieces = [piece(std::ptr::null(), 0); 2 + IOVECS_MAX as usize];
        let bodies = body.iter().map(|body| piece(pointer(body), body.bytes() as usize));
        let heads = [head, middle].map(|part| piece(part.as_ptr(), part.len()));
        for (to, from) in pieces.iter_mut().zip(heads.into_iter().chain(bodies)) {
            *to = from;
        }
        // SAFETY: zeros are a message with nothing in it.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = pieces.as_mut_ptr();
        message.msg_iovlen = 2 + body.len().min(IOVECS_MAX as usize);
        let flags = (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as u64;
        let arguments = [*wire as u64, &raw const message as u64, flags, 0, 0, 0];
        // SAFETY: the call reads the pieces: slices, and memory of a rank that has been checked.
        let sent = unsafe { Gate::call(libc::SYS_sendmsg, arguments) };
        // A full wire is a card without room; a node that is gone takes frames as a network does, and nobody answers.
        let full = [libc::EAGAIN, libc::ENOBUFS, libc::ENOMEM, libc::EINTR];
        let sent = !full.iter().any(|error| sent == -i64::from(*error));
        self.counts.frames_sent += u64::from(sent);
        if sent {
            self.counts.copied_to_send += (head.len() + middle.len()) as u64;
        }
        sent
    }

    fn counts(&self) -> HomeCounts {
        *self.counts
    }
}
