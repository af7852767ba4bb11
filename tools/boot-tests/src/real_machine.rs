//! Boots an image as a real machine would: UEFI, no debug-exit device in play, plain text on the serial line.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::judge::Expected;
use super::screen_text;
use super::serial_line::{self, Reader};
use super::special::strings;
use lwk::accel::Choice;
use lwk::emulator;
use lwk::qemu::{Boot, Firmware, Machine, Node};
use lwk::run;
use lwk::screen::{self, Picture};
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::{RunFolder, Tree};

/// A machine with two cores that boots `image`, and boots again when it is reset; `more` are words of QEMU's command line.
pub fn start(tree: &Tree, image: &Path, folder: &RunFolder, more: &[&str]) -> Result<Node, String> {
    let plain = |failure: lwk::failure::Failure| failure.message;
    let machine = Machine {
        boot: Boot::Disk(image.to_path_buf()),
        firmware: emulator::firmware(tree, Firmware::Uefi, false).map_err(plain)?,
        cores: 2,
        memory_mib: 1024,
        accelerator: Choice::Auto.settle(),
        cpu: None,
        more: ["-action", "reboot=reset"].iter().chain(more).map(|word| (*word).to_owned()).collect(),
        gdb: false,
        host_cores: run::host_cores(),
        card: None,
    };
    let qemu = emulator::find_qemu(tree, false).map_err(plain)?;
    Node::start(&qemu, &machine, folder.file("qemu.log")).map_err(plain)
}

/// The image for real machines boots from UEFI, shows the job in plain text, and ends the machine as it was told.
pub fn runs_an_image(lwk: &Lwk, options: &[&str]) -> Result<(), String> {
    let folder = lwk.folder()?;
    let image = folder.file("stick.img");
    let mut words: Vec<std::ffi::OsString> =
        vec!["image".into(), "-n".into(), "2".into(), "hello".into(), "-o".into()];
    words.push(image.clone().into_os_string());
    words.extend(options.iter().map(Into::into));
    let ended = lwk.command(&words, PATIENCE)?;
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }.judge(&ended)?;
    let mut machine = start(lwk.tree(), &image, &folder, &[])?;
    let wanted = ["hello from rank 0 of 2", "hello from rank 1 of 2"];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)?;
    // Told to reset, it boots a second time.
    if options.contains(&"reset") { serial_line::hear(&mut machine, Reader::Quick, &wanted) } else { Ok(()) }
}

/// A machine that keeps a time limit says where its ranks are when that is over, and switches itself off if it was told to.
pub fn keeps_a_limit(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let image = folder.file("stick.img");
    let mut words: Vec<std::ffi::OsString> =
        ["image", "-n", "2", "--timeout", "1", "--at-end", "off", "-o"].map(Into::into).to_vec();
    words
        .extend([image.clone().into_os_string(), lwk.program(&Program::named("test:hang")).into_os_string()]);
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words, PATIENCE)?)?;
    let mut machine = start(lwk.tree(), &image, &folder, &[])?;
    let wanted = ["the job has run into its time limit", "rank 0 on core ", "rank 1 on core "];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)?;
    is_off(&mut machine)
}

/// An image that checks its machine says all that it is to say, shows the latencies in colours if there is a screen, and switches the machine off if it
/// is told to.
pub fn checks_itself(lwk: &Lwk, has_screen: bool) -> Result<(), String> {
    let folder = lwk.folder()?;
    let image = folder.file("stick.img");
    let mut words: Vec<std::ffi::OsString> =
        ["image", "smap-ring", "--check", "--at-end", if has_screen { "halt" } else { "off" }, "-o"]
            .map(Into::into)
            .to_vec();
    words.push(image.clone().into_os_string());
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words, PATIENCE)?)?;
    // More cores than the image was told of: it has a rank on each.
    let more: &[&str] = if has_screen { &["-smp", "3"] } else { &["-smp", "3", "-vga", "none"] };
    let mut machine = start(lwk.tree(), &image, &folder, more)?;
    let wanted = [
        // The kernel's part.
        "3 cores, 1",
        "time stamp counter runs at ",
        "core 2: ",
        // The program's.
        "# check: ranks 3, pairs 3",
        "runs            under TCGTCGTCGTCG",
        "features        sse3 ",
        "add                        6         0",
        "lock                      12         0",
        "put-and-get               48         0",
        "store-order               90         0",
        "# latency: half a round trip of 8 bytes between two ranks, median, ns",
        "rank 2 core 2 interrupts 0 faults 0 ",
        "# results verified",
        "# latency by pair of ranks: 1 in a cell",
        "# check: every result is right",
        "the job has ended with status 0",
    ];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)?;
    if !has_screen {
        return is_off(&mut machine);
    }
    let png = folder.file("screen.png");
    screen::dump(&mut machine.monitor, &folder.file("screen.ppm"), &png)
        .map_err(|failure| failure.message)?;
    let picture = Picture::read_png(&png).map_err(|failure| failure.message)?;
    let text = screen_text::read(&picture).join("\n");
    // The coolest and the hottest cell; there is no other colour on a screen of grey text.
    let has = |colour: [u8; 3]| picture.rgb.chunks_exact(3).any(|pixel| pixel == colour);
    let coloured = has([0, 255, 0]) && has([255, 0, 0]);
    let told = text.contains("# check: every result is right");
    if told && coloured { Ok(()) } else { Err(format!("colours: {coloured}; the screen shows\n{text}")) }
}

/// A machine without serial line and screen runs its job all the same: it switches itself off, and without that order it would not.
pub fn ends_in_silence(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let image = folder.file("stick.img");
    let mut words: Vec<std::ffi::OsString> =
        ["image", "-n", "2", "--at-end", "off", "hello", "-o"].map(Into::into).to_vec();
    words.push(image.clone().into_os_string());
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words, PATIENCE)?)?;
    let nothing = ["-serial", "none", "-vga", "none"];
    is_off(&mut start(lwk.tree(), &image, &folder, &nothing)?)
}

/// Bytes of a file that stand for the registers of a serial port in memory, four bytes apart as the firmware's table says
/// (`qemu-tests/tables/console-in-memory`). No machine of QEMU's has such a port.
const PORT_BYTES: usize = 2 << 20;
const PORT_DATA: usize = 0;
const PORT_FORMAT: usize = 3 * 4;
const PORT_MODEM: usize = 4 * 4;
const PORT_STATUS: usize = 5 * 4;
/// The port has sent all that it was given.
const ALL_SENT: u8 = 0x60;
/// Eight data bits, no parity; and what a terminal expects to see switched on.
const EIGHT_BITS: u8 = 3;
const ON: u8 = 0xb;

/// A serial port whose registers lie in memory, where the firmware says so, is set up and written to: what was written last is there.
pub fn speaks_in_memory(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (image, port) = (folder.file("stick.img"), folder.file("port"));
    let mut registers = vec![0; PORT_BYTES];
    registers[PORT_STATUS] = ALL_SENT;
    std::fs::write(&port, &registers).map_err(|error| error.to_string())?;
    let words = ["image", "-n", "2", "--at-end", "off", "hello", "-o"].map(OsString::from).into_iter();
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words.chain([image.clone().into()]).collect::<Vec<_>>(), PATIENCE)?)?;
    let table = lwk.tree().root().join("qemu-tests/tables/console-in-memory");
    let table = format!("sig=SPCR,rev=2,data={}", table.display());
    let backend = format!("memory-backend-file,id=port,size=2M,share=on,mem-path={}", port.display());
    let more = [
        "-serial",
        "none",
        "-vga",
        "none",
        "-acpitable",
        &table,
        "-m",
        "1024M,slots=1,maxmem=2G",
        "-object",
        &backend,
        "-device",
        "pc-dimm,memdev=port,addr=0x100000000",
    ];
    is_off(&mut start(lwk.tree(), &image, &folder, &more)?)?;
    let registers = std::fs::read(&port).map_err(|error| error.to_string())?;
    let seen = [PORT_FORMAT, PORT_MODEM, PORT_DATA].map(|place| registers[place]);
    if seen == [EIGHT_BITS, ON, b'\n'] { Ok(()) } else { Err(format!("format, modem, data: {seen:x?}")) }
}

/// An error of the hardware: words of QEMU's command `mce` (core, bank, status, global status, address, further), whether a non-maskable interrupt
/// follows, and what must be said.
pub struct HardwareError {
    injected: &'static str,
    then_asked: bool,
    said: &'static [&'static str],
}

/// A load from memory that is spoilt.
pub const UNCORRECTED: HardwareError = HardwareError {
    injected: "mce 1 2 0xbd80000000100134 0x5 0x12345000 0x8c",
    then_asked: false,
    said: &[
        "core 1: uncorrected machine check in bank 2: data cache, level 0, data read, at 0x12345000",
        "the kernel died of exception 18",
    ],
};
/// What has been corrected is said when somebody asks where everybody is.
pub const CORRECTED: HardwareError = HardwareError {
    injected: "mce 1 3 0x9c00000000000092 0x0 0x6789000 0x0",
    then_asked: true,
    said: &["core 1: corrected machine check in bank 3: memory controller, read, channel 2, at 0x6789000"],
};

/// A core that has such an error says so.
pub fn decodes_a_check(lwk: &Lwk, error: &HardwareError) -> Result<(), String> {
    let folder = lwk.folder()?;
    let image = folder.file("stick.img");
    let mut words: Vec<std::ffi::OsString> =
        ["image", "-n", "2", "--log", "info", "-o"].map(Into::into).to_vec();
    words
        .extend([image.clone().into_os_string(), lwk.program(&Program::named("test:hang")).into_os_string()]);
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words, PATIENCE)?)?;
    let mut machine = start(lwk.tree(), &image, &folder, &[])?;
    // By then the banks of both cores are enabled.
    serial_line::hear(&mut machine, Reader::Quick, &["2 cores, "])?;
    let plain = |failure: lwk::failure::Failure| failure.message;
    let command = serde_json::json!({ "command-line": error.injected });
    let answer = machine.monitor.command("human-monitor-command", command).map_err(plain)?;
    if answer.as_str() != Some("") {
        return Err(format!("QEMU refuses the error: {answer}"));
    }
    if error.then_asked {
        machine.monitor.command("inject-nmi", serde_json::json!({})).map_err(plain)?;
    }
    serial_line::hear(&mut machine, Reader::Quick, error.said)
}

/// Waits until the machine has switched itself off, which no reset does: it would boot again.
fn is_off(machine: &mut Node) -> Result<(), String> {
    let ended = machine.end_within(Duration::from_secs(PATIENCE)).map_err(|failure| failure.message)?;
    if ended.is_some_and(|status| status.success()) { Ok(()) } else { Err(format!("still on: {ended:?}")) }
}
