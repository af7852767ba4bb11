//! Limits of resources (`getrlimit(2)`, `prlimit(2)`). All are the layout's and cannot be changed, but for the size of the files that the
//! rank makes (`RLIMIT_FSIZE`): beyond it nothing is written, which is `EFBIG` and the signal `SIGXFSZ`.

use lwk_abi::syscall::DESCRIPTORS_MAX;
use lwk_abi::syscall::errno::{EFBIG, EINVAL, EPERM, ESRCH};

use crate::identity::is_own;
use crate::machine::{Machine, read_u64, write_words};
use crate::process::{Process, UNLIMITED};
use crate::{Answer, Errno};

/// Linux's numbers of the resources that have limits here, and how many numbers there are.
const FILE_BYTES: u32 = 1;
const DATA: u32 = 2;
const STACK: u32 = 3;
const CORE: u32 = 4;
const PROCESSES: u32 = 6;
const FILES: u32 = 7;
const MEMORY: u32 = 9;
const RESOURCES: u32 = 16;

/// The signal of a rank that would make a file longer than it may.
const SIGXFSZ: u32 = 25;

impl Process {
    /// `prlimit64(2)` and, with no new limits, `getrlimit(2)`. For limits that cannot be changed, what they are, or less, is accepted without
    /// effect. Errors: `ESRCH` for another process, `EINVAL`, `EPERM` for more than the hard limit, `EFAULT`.
    pub(crate) fn limits<M: Machine>(
        &mut self,
        machine: &M,
        process: u64,
        resource: u32,
        new: u64,
        old: u64,
    ) -> Answer {
        if !is_own(machine, process) {
            return Err(Errno(ESRCH));
        }
        let layout = machine.layout();
        let limit = match resource {
            FILE_BYTES => self.file_bytes_limits[1],
            DATA => layout.heap_end - layout.heap_start,
            STACK => layout.stack_end - layout.stack_start,
            CORE => 0,
            PROCESSES => 1,
            FILES => DESCRIPTORS_MAX as u64,
            MEMORY => layout.segment_bytes,
            _ if resource < RESOURCES => UNLIMITED,
            _ => return Err(Errno(EINVAL)),
        };
        let before = if resource == FILE_BYTES { self.file_bytes_limits } else { [limit; 2] };
        if new != 0 {
            let (soft, hard) = (read_u64(machine, new)?, read_u64(machine, new.wrapping_add(8))?);
            if soft > hard {
                return Err(Errno(EINVAL));
            }
            if hard > limit {
                return Err(Errno(EPERM));
            }
            if resource == FILE_BYTES {
                self.file_bytes_limits = [soft, hard];
            }
        }
        if old != 0 {
            write_words(machine, old, before)?;
        }
        Ok(0)
    }

    /// How many bytes may be written to a regular file from `offset` on, of so many. Errors: `EFBIG`, and the signal, if none.
    pub(crate) fn limited_write(&mut self, offset: u64, bytes: u64) -> Result<u64, Errno> {
        let limit = self.file_bytes_limits[0];
        if bytes == 0 || offset < limit {
            return Ok(bytes.min(limit.saturating_sub(offset)));
        }
        self.too_large()
    }

    /// Whether a file of `size` bytes may have `new` bytes. Errors: as for [`Process::limited_write`].
    pub(crate) fn limited_size(&mut self, size: u64, new: u64) -> Result<(), Errno> {
        if new <= size || new <= self.file_bytes_limits[0] { Ok(()) } else { self.too_large() }
    }

    fn too_large<T>(&mut self) -> Result<T, Errno> {
        self.signals.raise_own(SIGXFSZ);
        Err(Errno(EFBIG))
    }
}
