//! Boots an image as a real machine would: UEFI, no debug-exit device in play, plain text on the serial line.

use std::path::Path;

use lwk::accel::Choice;
use lwk::emulator;
use lwk::qemu::{Boot, Machine, Node};
use lwk::run;
use lwk::tree::{RunFolder, Tree};

/// A machine with two cores that boots `image`, and boots again when it is reset; `more` are words of QEMU's command line.
pub fn start(tree: &Tree, image: &Path, folder: &RunFolder, more: &[&str]) -> Result<Node, String> {
    let plain = |failure: lwk::failure::Failure| failure.message;
    let machine = Machine {
        boot: Boot::Disk(image.to_path_buf()),
        uefi_code: Some(emulator::find_ovmf(false).map_err(plain)?),
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
