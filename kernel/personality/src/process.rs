//! What the system keeps for a rank between its calls.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::EINVAL;
use lwk_files::NodeId;
use lwk_mm::heap::Heap;
use lwk_mm::layout::Layout;

use crate::descriptors::Descriptors;
use crate::machine::Machine;
use crate::pipes::Pipes;
use crate::signals::Signals;
use crate::{Answer, Errno};

/// The most areas apart from each other that a rank can map; more is `ENOMEM`, as with Linux's `vm.max_map_count`.
pub const AREAS_MAX: usize = 512;
/// What stands for no limit (`RLIM_INFINITY`).
pub(crate) const UNLIMITED: u64 = u64::MAX;
/// Permission bits that new files lack unless the program says otherwise (Linux's usual `umask`).
const UMASK: u16 = 0o022;

/// What the calls of one rank remember: heap, descriptors, pipes, current folder, limits and signals.
#[derive(Debug)]
pub struct Process {
    pub(crate) heap: Heap<AREAS_MAX>,
    pub(crate) descriptors: Descriptors,
    pub(crate) pipes: Pipes,
    /// The current folder; open as far as the file system is concerned, unless it is the root.
    pub(crate) folder: NodeId,
    pub(crate) umask: u16,
    /// How long the files that it writes may become, in bytes: soft and hard limit (`RLIMIT_FSIZE`).
    pub(crate) file_bytes_limits: [u64; 2],
    pub(crate) signals: Signals,
    /// When the call that the program keeps making has waited long enough, in nanoseconds of [`crate::Clock::Monotonic`].
    pub(crate) deadline: Option<u64>,
    /// Peers count on this rank ([`lwk_abi::syscall::JOB_HOLD`]).
    holds_job: bool,
    /// Address of the word where peers look whether the rank has exited.
    last_word: Option<u64>,
}

impl Process {
    /// A rank that has not run, in a segment that has been cleared.
    pub fn new(layout: &Layout) -> Process {
        Process {
            heap: Heap::new(layout.heap_start, layout.heap_end),
            descriptors: Descriptors::standard(),
            pipes: Pipes::none(),
            folder: NodeId::ROOT,
            umask: UMASK,
            file_bytes_limits: [UNLIMITED; 2],
            signals: Signals::new(),
            deadline: None,
            holds_job: false,
            last_word: None,
        }
    }

    /// A rank that has not run starts in a folder other than the root, which the caller has opened for it.
    pub fn start_in(&mut self, folder: NodeId) {
        self.folder = folder;
    }

    /// Whether peers count on this rank from now on ([`lwk_abi::syscall::JOB_HOLD`]).
    pub(crate) fn hold_job(&mut self, on: bool) {
        self.holds_job = on;
    }

    /// Whether they do.
    pub(crate) fn holds_job(&self) -> bool {
        self.holds_job
    }

    /// [`lwk_abi::syscall::JOB_LEAVE`]. Errors: `EINVAL` for an address that is no multiple of 8, `EFAULT`.
    pub(crate) fn leave<M: Machine>(&mut self, machine: &M, word: u64) -> Answer {
        if !word.is_multiple_of(8) {
            return Err(Errno(EINVAL));
        }
        machine.check_writable(word, 8)?;
        self.last_word = Some(word);
        self.holds_job = false;
        Ok(0)
    }

    /// The rank exits with status 0: what it has open is closed, and whoever looks at the word of [`Process::leave`] sees it, and all that the rank has stored.
    pub(crate) fn exited<M: Machine>(&mut self, machine: &M) {
        for fd in 0..DESCRIPTORS_MAX as u32 {
            // Most are not open; what cannot be closed stays as it is.
            let _ = self.close(machine, fd);
        }
        if let Some(word) = self.last_word {
            // It has been checked, and memory is never taken away.
            let _ = machine.tell(word, 1);
        }
    }

    /// Sets the permission bits that new files lack, and returns the former ones.
    pub(crate) fn set_umask(&mut self, mask: u64) -> u64 {
        u64::from(core::mem::replace(&mut self.umask, mask as u16 & 0o777))
    }
}
