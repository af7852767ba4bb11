//! Boots an image as a real machine would: UEFI, no debug-exit device in play, plain text on the serial line.

use std::path::Path;

use super::serial_line::{self, Reader};
use lwk::accel::Choice;
use lwk::emulator;
use lwk::qemu::{Boot, Machine, Node};
use lwk::run;
use lwk::tree::{RunFolder, Tree};

/// Boots `image` with two cores until all of `wanted` stand on the serial line.
pub fn boots(tree: &Tree, image: &Path, folder: &RunFolder, wanted: &[&str]) -> Result<(), String> {
    let plain = |failure: lwk::failure::Failure| failure.message;
    let machine = Machine {
        boot: Boot::Disk(image.to_path_buf()),
        uefi_code: Some(emulator::find_ovmf(false).map_err(plain)?),
        cores: 2,
        memory_mib: 1024,
        accelerator: Choice::Auto.settle(),
        cpu: None,
        more: Vec::new(),
        gdb: false,
        host_cores: run::host_cores(),
        card: None,
    };
    let qemu = emulator::find_qemu(tree, false).map_err(plain)?;
    let mut node = Node::start(&qemu, &machine, folder.file("qemu.log")).map_err(plain)?;
    serial_line::hear(&mut node, Reader::Quick, wanted)
}
