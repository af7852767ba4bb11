//! The console: the serial line and the screen, as records of `lwk_abi::console` or as plain text. A record is written as
//! a whole under one lock, so records never interleave.

use core::fmt::{self, Write};

use lwk_abi::console::{
    END, FAILURE, FRAME, KERNEL, PANIC, PANIC_FRAME, REPORT, START, STDERR_PART, STDOUT_PART,
};
use lwk_acpi::{SerialConsole, SerialPlace};
use lwk_console::{Header, one_line};

use crate::arch::clock;
use crate::arch::features::features;
use crate::arch::serial::{self, Registers, Serial};
use crate::boot::Screen;
use crate::drivers::screen::{self, TextScreen};
use crate::memory;

struct Console {
    serial: Option<Serial>,
    screen: Option<TextScreen>,
    /// The serial line carries text for a person instead of records for the host tool.
    plain: bool,
}

static CONSOLE: spin::Mutex<Console> = spin::Mutex::new(Console { serial: None, screen: None, plain: false });

/// Registers of a serial port.
const SERIAL_REGISTERS: u64 = 8;

/// How long a core waits for the console, while nothing is being sent, before it takes it by force where it must speak: in
/// ticks, 2 s or more. In a virtual machine the owner's core may have to wait for its turn on a busy host.
const PATIENCE_TICKS: u64 = 10_000_000_000;

/// Opens the first serial line there is. On a machine that has none, what is written to it goes nowhere.
pub fn open_serial() {
    CONSOLE.lock().serial = Serial::open_first();
}

/// Changes to the serial line that the firmware calls the console. Before ranks exist.
pub fn change_serial(named: SerialConsole) {
    let registers = match named.place {
        SerialPlace::Ports(first) => Some(Registers::Ports(first)),
        SerialPlace::Memory { address, stride } => {
            // SAFETY: the firmware says that a serial port is there.
            let place = unsafe { memory::map_device(address, u64::from(stride) * SERIAL_REGISTERS) };
            place.map(|place| Registers::Memory(place, stride))
        }
    };
    let mut console = CONSOLE.lock();
    if let Some(old) = console.serial.as_mut() {
        if registers == Some(old.registers()) {
            return;
        }
        old.drain();
    }
    // SAFETY: the firmware says that a serial port is there; this console alone uses it, and what was mapped stays so.
    match registers.and_then(|registers| unsafe { Serial::open(registers, named.baud_rate) }) {
        Some(serial) => console.serial = Some(serial),
        None => {
            drop(console);
            log::warn!(
                "nothing answers where the firmware says that the serial console is: {:x?}",
                named.place
            );
        }
    }
}

/// Says what the console is.
pub fn describe() {
    let (serial, screen) = {
        let console = CONSOLE.lock();
        (console.serial.as_ref().map(Serial::registers), console.screen.as_ref().map(TextScreen::size))
    };
    let stores = if features().combining { "combine" } else { "go one by one" };
    match serial {
        Some(registers) => {
            log::debug!("serial line at {registers}, screen {screen:?}, whose stores {stores}")
        }
        None => log::debug!("no serial line, screen {screen:?}, whose stores {stores}"),
    }
}

/// Opens the screen, if the firmware gives one whose pixels are of a kind that is known.
pub fn open_screen(screen: Option<Screen>) {
    if let Some(screen) = screen {
        CONSOLE.lock().screen = screen::open(screen.pixels, screen.info);
    }
}

/// Lets the screen's stores combine from now on. When the kernel's memory and this core's features are set up, before ranks exist.
pub fn combine_screen() {
    if features().combining
        && let Some(screen) = &mut CONSOLE.lock().screen
    {
        screen.change_pixels(screen::combining);
    }
}

/// Chooses the form of the serial line: text for a person, or records for the host tool, as it is until then.
pub fn set_plain(plain: bool) {
    CONSOLE.lock().plain = plain;
}

/// Writes a record whose text is raw bytes, without a line feed among them. `kind` and `number` are those of [`lwk_abi::console`].
pub fn record(kind: u8, number: usize, text: &[u8]) {
    CONSOLE.lock().record(kind, number, |out| out.send(text));
}

/// As [`record`] for text that is formatted; a line feed in it becomes a blank in a framed record.
pub fn record_text(kind: u8, number: usize, text: fmt::Arguments<'_>) {
    CONSOLE.lock().record(kind, number, |out| out.print(text));
}

/// As [`record_text`] where waiting for another core could last for ever: in a panic, and in a non-maskable interrupt
/// that may have struck the owner of the console.
pub fn record_urgently(kind: u8, number: usize, text: fmt::Arguments<'_>) {
    lock_urgently().record(kind, number, |out| out.print(text));
}

/// Waits until all that was written has left the serial port: what ends the machine must not overtake it. As urgent as
/// [`record_urgently`].
pub fn drain() {
    if let Some(serial) = &mut lock_urgently().serial {
        serial.drain();
    }
}

/// The console, by force if its owner does not give it back in time.
fn lock_urgently() -> spin::MutexGuard<'static, Console> {
    let mut start = clock::ticks();
    loop {
        if let Some(console) = CONSOLE.try_lock() {
            return console;
        }
        // A host that reads slowly holds up the owner, who is not stopped because of it.
        if serial::is_sending() {
            start = clock::ticks();
        }
        if clock::ticks() - start > PATIENCE_TICKS {
            // SAFETY: whoever holds the lock has had time to finish its record, so it is stopped, and will not touch the
            // console again; at worst its record is cut in two.
            unsafe { CONSOLE.force_unlock() };
            // Whoever takes it next, this core or another, is no such owner.
            start = clock::ticks();
        }
        core::hint::spin_loop();
    }
}

/// Waits until a byte arrives on the serial line, and does `meanwhile` again and again. For ever, if there is none.
pub fn wait_for_byte(meanwhile: impl Fn()) {
    loop {
        let received = match &mut CONSOLE.lock().serial {
            Some(serial) => serial.receive(),
            None => None,
        };
        if received.is_some() {
            return;
        }
        meanwhile();
        core::hint::spin_loop();
    }
}

impl Console {
    fn record(&mut self, kind: u8, number: usize, text: impl Fn(&mut Output<'_>)) {
        let is_piece = matches!(kind, STDOUT_PART | STDERR_PART);
        let outputs = [
            self.serial.as_mut().filter(|_| self.plain).map(Output::PlainSerial),
            self.screen.as_mut().map(Output::Screen),
        ];
        for mut out in outputs.into_iter().flatten().filter(|_| kind != START) {
            print_prefix(&mut out, kind, number);
            text(&mut out);
            match kind {
                _ if is_piece => {}
                END => out.send(b".\n"),
                _ => out.send(b"\n"),
            }
        }
        if let Some(screen) = &mut self.screen {
            screen.flush();
        }
        // Last, because the host tool may act on it: by then the screen shows it.
        if let Some(serial) = self.serial.as_mut().filter(|_| !self.plain) {
            let out = &mut Output::Serial(serial);
            // Ranks, cores, levels, statuses and pages: all fit.
            out.send(Header::new(kind, number as u32).bytes());
            text(out);
            out.send(b"\n");
        }
    }
}

/// What a person sees before the text of a record.
fn print_prefix(out: &mut Output<'_>, kind: u8, number: usize) {
    match kind {
        KERNEL | FAILURE => out.send(b"margay: "),
        PANIC => out.send(b"margay: panic: "),
        FRAME | PANIC_FRAME => out.send(b"    at "),
        REPORT => out.send(b"report: "),
        END => out.print(format_args!("margay: the job has ended with status {number}")),
        _ => {}
    }
}

enum Output<'a> {
    Serial(&'a mut Serial),
    PlainSerial(&'a mut Serial),
    Screen(&'a mut TextScreen),
}

impl Output<'_> {
    fn print(&mut self, text: fmt::Arguments<'_>) {
        // An error could come from a value's own formatting only, and then what it has written so far stands.
        let _ = self.write_fmt(text);
    }

    fn send(&mut self, bytes: &[u8]) {
        match self {
            Output::Serial(serial) => serial.send(bytes),
            Output::PlainSerial(serial) => {
                for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                    serial.send(line.strip_suffix(b"\n").unwrap_or(line));
                    if line.ends_with(b"\n") {
                        serial.send(b"\r\n");
                    }
                }
            }
            Output::Screen(screen) => screen.show(bytes),
        }
    }
}

impl Write for Output<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // A record is one line: a line feed in a message (a panic's, say) must not end it.
        if matches!(self, Output::Serial(_)) {
            one_line(text.as_bytes()).for_each(|piece| self.send(piece));
        } else {
            self.send(text.as_bytes());
        }
        Ok(())
    }
}
