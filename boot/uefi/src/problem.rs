//! What the boot loader says: one line by the firmware's console, or after that is gone, on the first serial port.

use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use bootloader_x86_64_common::serial::SerialPort;
use uefi::prelude::{Boot, Status, SystemTable};

/// Why the kernel is not started.
#[derive(Clone, Copy, Debug)]
pub enum Problem {
    /// The firmware has left five levels of page tables on, which can be changed in 32-bit mode only.
    FiveLevels,
    /// The volume that this program was started from.
    Volume(Status),
    /// A file of it, by name.
    File(&'static str, Status),
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::FiveLevels => out.write_str(
                "the firmware has left five-level paging (LA57) on, which Margay does not use; switch it off in the firmware's set-up",
            ),
            Problem::Volume(status) => {
                write!(out, "the boot volume cannot be read: {status:?}; write the image to the disk as a whole")
            }
            Problem::File(name, status) => {
                write!(out, "{name} cannot be read from the boot volume: {status:?}; write the image to the disk as a whole")
            }
        }
    }
}

/// The firmware's table while its console can be used. One processor runs, so relaxed suffices.
static CONSOLE: AtomicPtr<SystemTable<Boot>> = AtomicPtr::new(ptr::null_mut());

/// A panic is printed by the firmware's console from now on. `system` stays where it is until [`close`].
pub fn open(system: &mut SystemTable<Boot>) {
    CONSOLE.store(system, Ordering::Relaxed);
}

/// The firmware's console is gone from now on.
pub fn close() {
    CONSOLE.store(ptr::null_mut(), Ordering::Relaxed);
}

/// Prints a line by the firmware's console.
pub fn say(system: &mut SystemTable<Boot>, line: fmt::Arguments<'_>) {
    // A console that does not work leaves nowhere to say so.
    let _ = writeln!(system.stdout(), "margay: {line}");
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it is null, or what `open` was given, which stays until `close`; this program's only thread is here and goes no further.
    match unsafe { CONSOLE.swap(ptr::null_mut(), Ordering::Relaxed).as_mut() } {
        Some(system) => say(system, format_args!("{info}")),
        None => {
            // SAFETY: the kernel has not yet begun, so nobody else uses the port.
            let mut port = unsafe { SerialPort::init() };
            let _ = writeln!(port, "margay: {info}");
        }
    }
    loop {
        x86_64::instructions::interrupts::disable();
        x86_64::instructions::hlt();
    }
}
