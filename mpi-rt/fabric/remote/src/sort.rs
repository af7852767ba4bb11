//! Operations of one sort, puts or gets: descriptors of this rank's memory, and how many have begun and ended.

use crate::{Fault, Result};
use core::cell::Cell;
use lwk_user::portals::abi::{Descriptor, DescriptorOptions, NONE, Operation, status};
use lwk_user::portals::{Counter, DescriptorHandle, Error, Interface};
use lwk_user::wait::spin_until;

/// See the module.
pub struct Sort {
    counter: Counter,
    begun: Cell<u64>,
    windows: [Window; 2],
}

/// Memory of this rank that a descriptor names.
struct Window {
    start: u64,
    end: u64,
    descriptor: DescriptorHandle,
}

impl Sort {
    /// For memory of these two ranges. Errors: no room.
    pub fn new(interface: &Interface, ranges: [(u64, u64); 2]) -> core::result::Result<Sort, Error> {
        let counter = interface.counter()?;
        let window = |(start, end): (u64, u64)| {
            let of = Descriptor {
                start,
                bytes: end - start,
                options: DescriptorOptions::VOLATILE
                    | DescriptorOptions::EVENT_CT_ACK
                    | DescriptorOptions::EVENT_CT_REPLY,
                queue: NONE,
                counter: counter.handle(),
                reserved: 0,
            };
            // SAFETY: whoever begins an operation says what it does with the memory that it names.
            let descriptor = unsafe { interface.bind(&of)? };
            Ok::<Window, Error>(Window { start, end, descriptor })
        };
        let windows = [window(ranges[0])?, window(ranges[1])?];
        Ok(Sort { counter, begun: Cell::new(0), windows })
    }

    /// The descriptor that names this memory, and the offset there.
    pub fn window(&self, address: usize, bytes: usize) -> Option<(u32, u64)> {
        let (start, end) = (address as u64, (address as u64).checked_add(bytes as u64)?);
        let it = self.windows.iter().find(|it| it.start <= start && end <= it.end)?;
        Some((it.descriptor.0, start - it.start))
    }

    /// Begins an operation; waits while the kernel has no room for it. Errors: [`Fault::Refused`].
    ///
    /// # Safety
    /// The memory that the operation names is left to it until it has ended; of a put of at most `ATOMIC_BYTES` until this returns.
    pub unsafe fn begin(&self, interface: &Interface, operation: &Operation) -> Result<()> {
        let mut outcome = Ok(());
        spin_until(|| {
            // SAFETY: the memory is left to the operation (this function's contract).
            outcome = unsafe { interface.operate(operation) };
            outcome != Err(Error::Status(status::NO_SPACE))
        });
        outcome.map_err(Fault::Refused)?;
        self.begun.set(self.begun.get() + 1);
        Ok(())
    }

    /// Waits until all have ended; how many of all have failed so far.
    pub fn failures(&self) -> u64 {
        let mut failures = 0;
        spin_until(|| {
            let (good, bad) = self.counter.get();
            failures = bad;
            good + bad >= self.begun.get()
        });
        failures
    }

    /// Waits until all have ended. Errors: [`Fault::Gone`].
    #[inline]
    pub fn end(&self) -> Result<()> {
        if self.failures() == 0 { Ok(()) } else { Err(Fault::Gone) }
    }
}
