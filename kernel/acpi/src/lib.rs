//! The firmware's ACPI tables (ACPI specification 6.5, chapter 5), as far as a compute node needs them: its cores, which memory is near which
//! of them, a timer to calibrate the clock against, where PCI's configuration space lies, which serial port is the
//! console, and how to switch off.
//!
//! Firmware is input like any other. A table counts only if it lies in memory, is as long as it says and adds up to zero; an entry counts
//! only if it lies in its table. Anything else is as good as not there. So the reader cannot fail, loop or read outside a table, whatever the bytes
//! are. (The crate `acpi` trusts lengths, as its unsafe constructor says; here they are checked.)
#![no_std]
#![forbid(unsafe_code)]

mod affinity;
mod bytes;
mod console;
mod distances;
mod event_timer;
mod fixed;
mod power;
mod processors;
mod root;
mod space;

pub use affinity::{Affinity, Initiator, Range};
pub use console::{SerialConsole, SerialPlace, serial_console};
pub use distances::{Distances, NODES_MAX};
pub use event_timer::{EVENT_TIMER_BYTES, event_timer};
pub use fixed::{Timer, timer};
pub use power::{PowerOff, Reset, power_off, reset};
pub use processors::processors;
pub use root::{Problem, Table, Tables};
pub use space::{ConfigurationSpace, configuration_spaces};

/// The physical memory that tables lie in.
pub trait Memory<'m>: Copy {
    /// The `bytes` bytes from physical address `address` on; `None` if not all of them can be read.
    fn read(self, address: u64, bytes: usize) -> Option<&'m [u8]>;
}
