//! Firmware as some machines have it and QEMU's has not: OVMF, after a program for UEFI that QEMU hands it before it looks at disks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use super::judge::Expected;
use super::screen_text;
use super::serial_line::{self, Reader};
use super::special::strings;
use lwk::packages;
use lwk::qemu::Node;
use lwk::screen::{self, Picture};
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::RunFolder;

/// Where the programs are, the head of each, and how they are put together.
const FOLDER: &str = "qemu-tests/c/arch";
const HEAD: &str = "uefi-head.S";
const LAYOUT: &str = "uefi.ld";
const COMPILED: &str = "-Os -std=c11 -Wall -Wextra -Werror -mabi=ms -mgeneral-regs-only -mno-red-zone -ffreestanding -fpie \
     -fno-stack-protector -fno-asynchronous-unwind-tables";
const LINKED: &str = "-nostdlib -static -Wl,--oformat=binary,--build-id=none";

/// Firmware that has left five-level paging on hears so in one line, and goes on.
pub fn refuses_five_levels(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let program = compile(lwk, &folder, "five-levels.S", &[])?;
    let mut machine = boot(lwk, &folder, &program, &["-accel", "tcg", "-cpu", "max,la57=on"])?;
    let wanted = [
        "margay: the firmware has left five-level paging (LA57) on",
        "switch it off in the firmware's set-up",
    ];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)
}

/// A machine with memory behind all that the kernel can map is refused, and says how far that reaches. The map's end would be where the boot loader has put
/// what it tells the kernel, and further on where cores have their stacks.
pub fn refuses_far_memory(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    // The first page behind 64 TiB.
    let program = compile(lwk, &folder, "odd-firmware.c", &["-DSUBSYSTEM=11", "-DFAR_PAGE=0x400000000000"])?;
    let mut machine = boot(lwk, &folder, &program, &[])?;
    let wanted = ["this machine has memory up to 0x400000001000, and Margay uses at most 64 TiB"];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)
}

/// A breakpoint that firmware has left on the boot core, here where the program begins, does not strike.
pub fn leaves_no_breakpoint(lwk: &Lwk) -> Result<(), String> {
    /// Of the first instruction's address in an ELF file.
    const ENTRY: std::ops::Range<usize> = 24..32;
    let folder = lwk.folder()?;
    let hello = lwk.program(&Program::named("hello"));
    let file = std::fs::read(&hello).map_err(|error| format!("{}: {error}", hello.display()))?;
    let entry = file.get(ENTRY).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let entry = entry.ok_or("hello is no program")?;
    let defines = ["-DSUBSYSTEM=11", &format!("-DBREAKPOINT={entry}")];
    let program = compile(lwk, &folder, "odd-firmware.c", &defines)?;
    let mut machine = boot(lwk, &folder, &program, &[])?;
    serial_line::hear(
        &mut machine,
        Reader::Quick,
        &["hello from rank 0 of 1", "the job has ended with status 0"],
    )
}

/// A screen whose colours are not bytes, as in pixels of 16 bits, is left alone: the node boots without one.
pub fn boots_without_colours(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let mut machine = boot_with_masks(lwk, &folder, [0xf800, 0x7e0, 0x1f])?;
    let wanted = ["screen None", "hello from rank 0 of 1", "the job has ended with status 0"];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)
}

/// One whose masks are bytes is drawn on.
pub fn draws_by_masks(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let mut machine = boot_with_masks(lwk, &folder, [0xff_0000, 0xff00, 0xff])?;
    let wanted = ["screen Some(", "hello from rank 0 of 1", "the job has ended with status 0"];
    serial_line::hear(&mut machine, Reader::Quick, &wanted)?;
    let png = folder.file("screen.png");
    screen::dump(&mut machine.monitor, &folder.file("screen.ppm"), &png)
        .map_err(|failure| failure.message)?;
    let picture = Picture::read_png(&png).map_err(|failure| failure.message)?;
    let text = screen_text::read(&picture).join("\n");
    if text.contains("hello from rank 0 of 1") { Ok(()) } else { Err(format!("the screen shows\n{text}")) }
}

/// A machine whose firmware gives the bits of red, green and blue for all of its screens.
fn boot_with_masks(lwk: &Lwk, folder: &RunFolder, masks: [u32; 3]) -> Result<Node, String> {
    let [red, green, blue] = masks;
    let masks = [format!("-DRED={red}"), format!("-DGREEN={green}"), format!("-DBLUE={blue}")];
    let mut defines = vec!["-DSUBSYSTEM=11"];
    defines.extend(masks.iter().map(String::as_str));
    let program = compile(lwk, folder, "odd-firmware.c", &defines)?;
    boot(lwk, folder, &program, &[])
}

/// Makes a program for UEFI of a source in [`FOLDER`].
fn compile(lwk: &Lwk, folder: &RunFolder, source: &str, defines: &[&str]) -> Result<PathBuf, String> {
    let from = lwk.tree().root().join(FOLDER);
    let program = folder.file("program.efi");
    let mut compiler = Command::new(packages::find_command("gcc").ok_or("gcc is not in PATH")?);
    compiler.args(COMPILED.split_whitespace()).args(LINKED.split_whitespace()).args(defines);
    compiler.arg("-T").arg(from.join(LAYOUT)).arg("-o").arg(&program);
    compiler.args([HEAD, source].map(|file| from.join(file)));
    lwk_bench::linux_guest::run_compiler(&mut compiler).map_err(|failure| failure.message)?;
    Ok(program)
}

/// A machine whose firmware runs `program` and then boots an image that says hello.
fn boot(lwk: &Lwk, folder: &RunFolder, program: &std::path::Path, more: &[&str]) -> Result<Node, String> {
    let image = folder.file("stick.img");
    let words = ["image", "--log", "debug", "hello", "-o"].map(OsString::from).into_iter();
    let words: Vec<OsString> = words.chain([image.clone().into()]).collect();
    Expected { stdout: strings(&["dd if="]), ..Expected::default() }
        .judge(&lwk.command(&words, PATIENCE)?)?;
    let program = program.to_str().ok_or("the run's folder has a strange name")?;
    let more: Vec<&str> = more.iter().copied().chain(["-kernel", program]).collect();
    super::real_machine::start(lwk.tree(), &image, folder, &more)
}
