//! A rank: the process that was forked for it, on its way to the program's first instruction, and what its signal handlers
//! need to know after that.
//!
//! From the moment the program runs, libc is out of bounds: the thread's FS base is the program's. So the handlers
//! ([`crate::calls`], [`crate::fault`]) use the gate, atomics and what is prepared here, and nothing else.

use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};

use lwk_mm::Access;
use lwk_mm::layout::Layout;
use lwk_personality::Process;
use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, raise};
use nix::unistd::{Pid, getppid, setsid};

use crate::arch::{self, Gate};
use crate::board::{Board, RankEntry};
use crate::call_sites::CallSite;
use crate::files::Volume;
use crate::handlers::{LOW_STACK, default_action, dispatch, handler_stack, install};
use crate::network::Network;
use crate::pages::{self, Collapsed, Pages};
use crate::peer_memory;
use crate::segment;
use crate::setup::Setup;
use crate::tool::{self, Valgrind};

/// What a rank's process is given.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    pub setup: &'a Setup,
    pub board: &'static Board,
    /// The board's memory object.
    pub board_object: RawFd,
    /// Rank on the node, from 0.
    pub rank: u32,
    /// The node's process, its parent.
    pub node: Pid,
    /// `/dev/null` or the caller's standard input to read from, standard output and standard error.
    pub streams: [RawFd; 3],
    /// Where its failure report goes.
    pub report: RawFd,
    /// Stop before the first instruction, for a debugger.
    pub hold: bool,
    /// The node's files.
    pub volume: &'static Volume,
    /// The node's network.
    pub network: &'static Network,
    /// Its files are this machine's; the program's file.
    pub own_files: Option<&'a Path>,
    /// Run under valgrind; the program's system calls.
    pub valgrind: Option<(&'a Valgrind, &'a [CallSite])>,
}

/// What a rank is made of once its memory is mapped.
#[derive(Debug)]
pub struct Life {
    pub rank: u32,
    pub core: u32,
    /// Cores of the node.
    pub cores: u32,
    pub ranks: u32,
    pub layout: Layout,
    pub board: &'static Board,
    pub node: Pid,
    pub report: RawFd,
    pub pages: Pages,
    /// Ranks on this core.
    pub sharing: u64,
    /// Address of the first instruction, and the stack pointer there.
    pub entry: u64,
    pub stack_pointer: u64,
    pub hold: bool,
    /// The node's files.
    pub volume: &'static Volume,
    /// The node's network, where there is one.
    pub network: Option<&'static Network>,
    /// Its files are this machine's; the program's file, empty if it is not known.
    pub own_files: Option<Vec<u8>>,
    /// The program's system calls, if they raise `SIGILL` and are not dispatched.
    pub sites: Option<Vec<CallSite>>,
}

/// What the handlers know.
#[derive(Debug)]
pub struct Rank {
    pub rank: u32,
    pub core: u32,
    /// Cores of the node.
    pub cores: u32,
    pub ranks: u32,
    pub layout: Layout,
    pub board: &'static Board,
    /// The program's first argument.
    pub program_name: Vec<u8>,
    /// The program's file, if calls on files are Linux's; may be empty then.
    pub program_file: Vec<u8>,
    /// Calls on files are Linux's.
    pub own_files: bool,
    /// The node's files.
    pub volume: &'static Volume,
    /// The node's network, where there is one.
    pub network: Option<&'static Network>,
    /// The node's process, the only one whose `SIGQUIT` asks where the rank is.
    pub node: i32,
    /// Where the failure report goes: no more open to the program than any other descriptor, since its `write` knows
    /// only the standard streams.
    report: RawFd,
    /// Instructions that stand for system calls, by address.
    sites: Vec<CallSite>,
    /// What the system keeps for the program's calls.
    process: UnsafeCell<Process>,
    collapsed: UnsafeCell<Collapsed>,
}

/// The process's one rank.
static CURRENT: AtomicPtr<Rank> = AtomicPtr::new(std::ptr::null_mut());

impl Rank {
    /// The rank of this process; in handlers only.
    pub fn current() -> &'static Rank {
        // Relaxed: set before the handlers are, by the same thread.
        // SAFETY: handlers are installed after a rank has been leaked into it, for the life of the process.
        unsafe { &*CURRENT.load(Ordering::Relaxed) }
    }

    /// This rank's entry on the board.
    pub fn entry(&self) -> &RankEntry {
        self.board.rank(self.rank)
    }

    /// What the system keeps for the program's calls.
    ///
    /// # Safety
    /// Only the system call handler may ask, once for each call: it is never interrupted by itself.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn process(&self) -> &mut Process {
        // SAFETY: asked once for each call, by the handler that nothing of its kind interrupts (this function's contract): this is the only
        // reference.
        unsafe { &mut *self.process.get() }
    }

    /// The blocks that are collapsed so far.
    ///
    /// # Safety
    /// As for [`Rank::process`], by one function that keeps no reference.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn collapsed(&self) -> &mut Collapsed {
        // SAFETY: asked once for each call, by one function that keeps no reference (this function's contract): this is the only one.
        unsafe { &mut *self.collapsed.get() }
    }

    /// The system call whose place the instruction at `address` has taken, if it is one.
    pub fn call_at(&self, address: u64) -> Option<&CallSite> {
        let at = self.sites.binary_search_by_key(&address, |site| site.start).ok()?;
        self.sites.get(at)
    }

    /// Descriptor of the channel to the node.
    pub fn report(&self) -> RawFd {
        self.report
    }

    /// Writes a finished report where the node reads it.
    pub fn send(&self, report: &crate::console::Report) {
        let bytes = report.bytes();
        let arguments = [self.report as u64, bytes.as_ptr() as u64, bytes.len() as u64, 0, 0, 0];
        // A pipe takes a report as a whole. If the node is gone so is this process, by its parent's death signal.
        // SAFETY: the call only reads the slice.
        let _ = unsafe { Gate::call(libc::SYS_write, arguments) };
    }

    /// Ends the process with `status`, 0 to 255, by the rank's own doing.
    pub fn exit(&self, status: i32) -> ! {
        // Relaxed: the node reads it after it has waited for this process.
        self.entry().said_why.store(1, Ordering::Relaxed);
        loop {
            // SAFETY: the call does not return.
            unsafe { Gate::call(libc::SYS_exit_group, [status as u64, 0, 0, 0, 0, 0]) };
        }
    }
}

/// Turns the forked process into the rank and enters the program; comes back only to say why it could not.
pub fn run(start: Start<'_>) -> Result<Infallible, String> {
    let Start { setup, board, rank, .. } = start;
    let place = setup.places[rank as usize];
    let say = |what: &'static str| move |error: Errno| format!("cannot {what}: {}", error.desc());

    SigSet::empty().thread_set_mask().map_err(say("unblock signals"))?;
    for (to, from) in start.streams.into_iter().enumerate() {
        redirect(from, to as RawFd).map_err(|error| format!("cannot redirect a stream: {error}"))?;
    }
    die_with(start.node)?;
    if setup.sharing == 1 {
        // Linux shares a core out among sessions first (sched(7), "The autogroup feature"): in one session, ranks that have a core each would all
        // have one process's share of the machine. Ranks that share a core stay in one, since yielding is among those of a session.
        setsid().map_err(say("make a session of its own"))?;
    }
    // When memory runs out Linux shall take a rank, whose end ends the job, and not the command or what else the user runs. Anybody may ask for
    // that (proc(5)); where it cannot be asked Linux chooses itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let mut core = CpuSet::new();
    core.set(usize::from(place.core)).map_err(say("name its core"))?;
    sched_setaffinity(Pid::from_raw(0), &core).map_err(say("pin itself to its core"))?;
    if let Some((valgrind, sites)) = start.valgrind {
        return tool::execute(&start, valgrind, sites);
    }
    setup.segments[rank as usize].map(&setup.layout, 0, false).map_err(say("map the segment at slot 0"))?;
    for code in &setup.code {
        // Not from a file system that forbids to run what is on it; then only tools know less.
        let _ = segment::map_code(code, &setup.file);
    }
    let kept: Vec<RawFd> = start.network.descriptors().into_iter().chain([start.report]).collect();
    close_others(kept).map_err(|error| format!("cannot close descriptors: {error}"))?;
    live(Life {
        rank,
        core: u32::from(place.core),
        ranks: setup.segments.len() as u32,
        layout: setup.layout.clone(),
        board,
        node: start.node,
        report: start.report,
        pages: setup.pages,
        sharing: setup.sharing,
        entry: setup.entry,
        stack_pointer: setup.stack_pointer,
        hold: start.hold,
        cores: cores(setup),
        volume: start.volume,
        network: Some(start.network),
        own_files: start.own_files.map(|file| file.as_os_str().as_bytes().to_vec()),
        sites: None,
    })
}

/// Enters the program in a process that has every slot mapped; comes back only to say why it could not.
pub fn live(life: Life) -> Result<Infallible, String> {
    let Life { rank, board, layout, .. } = life;
    if let Ok(name) = std::ffi::CString::new(format!("margay-rank{rank}")) {
        // A name for ps, top and perf; nothing depends on it.
        let _ = prctl::set_name(&name);
    }
    peer_memory::admit(board, rank, life.node);
    pages::advise(&layout, life.pages);
    let collapsed = Collapsed::new(&layout, life.pages, life.sharing);
    // Relaxed, here and below: the node reads it after it has waited for this process.
    board.rank(rank).huge_bytes.store(collapsed.bytes(), Ordering::Relaxed);
    let process = Process::new(&layout);
    let program_name = first_argument(&layout, life.stack_pointer);
    let dispatched = life.sites.is_none();
    let current = Box::leak(Box::new(Rank {
        rank,
        core: life.core,
        ranks: life.ranks,
        layout,
        board,
        node: life.node.as_raw(),
        report: life.report,
        sites: life.sites.unwrap_or_default(),
        process: UnsafeCell::new(process),
        collapsed: UnsafeCell::new(collapsed),
        cores: life.cores,
        program_name,
        own_files: life.own_files.is_some(),
        program_file: life.own_files.unwrap_or_default(),
        volume: life.volume,
        network: life.network,
    }));
    // Relaxed: the handlers that load it are installed below, in this thread.
    CURRENT.store(current, Ordering::Relaxed);
    // SAFETY: nothing is at `LOW_STACK` before the program is.
    unsafe { handler_stack(if dispatched { 0 } else { LOW_STACK }) }
        .map_err(|error| format!("cannot set up the handlers' stack: {error}"))?;
    install(libc::SIGSYS, arch::ON_SYSTEM_CALL)?;
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGTRAP] {
        install(signal, arch::ON_FAULT)?;
    }
    install(libc::SIGILL, if dispatched { arch::ON_FAULT } else { arch::ON_REPLACED_CALL })?;
    install(libc::SIGQUIT, arch::ON_QUESTION)?;
    // Rust ignores it; a program expects Linux's default.
    default_action(libc::SIGPIPE)?;
    if life.hold {
        raise(Signal::SIGSTOP).map_err(|error| format!("cannot stop for the debugger: {}", error.desc()))?;
    }
    if dispatched {
        dispatch()?;
    }
    enter(current, life.entry, life.stack_pointer)
}

/// Cores of the node: up to the last one that has a rank, by Linux's numbers.
pub fn cores(setup: &Setup) -> u32 {
    setup.places.iter().map(|place| u32::from(place.core) + 1).max().unwrap_or(1)
}

/// The program's first argument, by its initial stack.
fn first_argument(layout: &Layout, stack_pointer: u64) -> Vec<u8> {
    let read = |address: u64, bytes: usize| -> Option<Vec<u8>> {
        layout.check(address, bytes as u64, Access::R).ok()?;
        let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the layout has readable memory there, which is mapped, and the program does not run yet.
        Some(unsafe { std::slice::from_raw_parts(from, bytes) }.to_vec())
    };
    // Above the count of arguments is the first one's address.
    let pointer =
        read(stack_pointer + 8, 8).and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    let Some(start) = pointer else { return Vec::new() };
    let bytes =
        (start..layout.stack_end).map_while(|at| read(at, 1)?.first().copied().filter(|byte| *byte != 0));
    bytes.collect()
}

/// Has Linux kill this process when the node's process dies, also if it has died already.
fn die_with(node: Pid) -> Result<(), String> {
    prctl::set_pdeathsig(Some(Signal::SIGKILL))
        .map_err(|error| format!("cannot tie itself to its node: {error}"))?;
    if getppid() == node { Ok(()) } else { Err("its node is gone".into()) }
}

fn redirect(from: RawFd, to: RawFd) -> io::Result<()> {
    // SAFETY: nobody uses the target descriptors any more in this process.
    check(unsafe { libc::dup2(from, to) })
}

/// Closes all descriptors but the standard streams and those to be kept.
fn close_others(mut kept: Vec<RawFd>) -> io::Result<()> {
    let close = |first: RawFd, last: libc::c_uint| {
        // SAFETY: this process uses none of them any more: memory objects are mapped, pipes are the node's.
        check(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } as i32)
    };
    kept.sort_unstable();
    let mut first = 3;
    for kept in kept {
        if kept > first {
            close(first, kept as libc::c_uint - 1)?;
        }
        first = first.max(kept + 1);
    }
    close(first, libc::c_uint::MAX)
}

pub fn check(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Linux's `ARCH_SET_GS` and `ARCH_SET_FS`.
const ARCH_SET: [u64; 2] = [0x1001, 0x1002];

/// Gives the thread's segment bases to the program and jumps.
fn enter(rank: &Rank, entry: u64, stack_pointer: u64) -> ! {
    // Relaxed: the node reads it after it has waited for this process.
    rank.entry().entered_ns.store(monotonic_ns(), Ordering::Relaxed);
    for base in ARCH_SET {
        // SAFETY: nothing below uses thread-local memory.
        unsafe { Gate::call(libc::SYS_arch_prctl, [base, 0, 0, 0, 0, 0]) };
    }
    // SAFETY: the layout checked that the entry is code, the stack is the program's initial one.
    unsafe { arch::enter(entry, stack_pointer) }
}

/// `CLOCK_MONOTONIC` without libc, in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let arguments = [libc::CLOCK_MONOTONIC as u64, &raw mut time as u64, 0, 0, 0, 0];
    // SAFETY: the call writes one timespec, into this function's variable.
    unsafe { Gate::call(libc::SYS_clock_gettime, arguments) };
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}
