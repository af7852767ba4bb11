//! What a panic does: one line on standard error, then the end of the whole job.
//!
//! `abort` makes the kernel print the rank's registers and back trace, as for a fault, so none is made here.

use crate::print::STDERR;
use crate::{heap, job, print, syscall};
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};
use lwk_abi::exit::{SIGNAL_BASE, signal::SIGABRT};

/// The status of a job in which a rank has panicked: that of a Linux process that called `abort`.
pub const STATUS: i32 = SIGNAL_BASE + SIGABRT;

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    static PANICKING: AtomicBool = AtomicBool::new(false);
    // Relaxed: a rank is one thread; this only stops a panic inside the message's own formatting.
    if !PANICKING.swap(true, Ordering::Relaxed) {
        let mut line = OneLine(print::Output::new(STDERR));
        let _ = match info.location() {
            Some(at) => write!(line, "rank {} panicked at {}:{}: ", job().rank(), at.file(), at.line()),
            None => write!(line, "rank {} panicked: ", job().rank()),
        };
        let _ = write!(line, "{}", info.message());
        if let Some(bytes) = heap::last_refusal() {
            let _ =
                write!(line, " (no room in the heap for {bytes} bytes; give each rank more memory: --mem)");
        }
        let _ = line.0.write_str("\n");
        let _ = line.0.flush();
    }
    syscall::abort(STATUS)
}

/// Keeps a message on one line: `assert_eq!` spreads its own over three.
struct OneLine(print::Output);

impl Write for OneLine {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut parts = text.split('\n');
        if let Some(first) = parts.next() {
            self.0.write_str(first)?;
        }
        for part in parts {
            self.0.write_str(";")?;
            self.0.write_str(part)?;
        }
        Ok(())
    }
}
