//! Boots an image as a real machine would: UEFI, no debug-exit device in play, plain text on the serial line.

use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::accel::Choice;
use crate::qemu::{Boot, Machine, Node};
use crate::run;
use crate::tree::RunFolder;

/// Firmware and job together take seconds; this is for a busy host.
const LIMIT: Duration = Duration::from_secs(90);

/// Boots `image` with two cores until all of `wanted` stand on the serial line.
pub fn boots(image: &Path, folder: &RunFolder, wanted: &[&str]) -> Result<(), String> {
    let plain = |failure: crate::failure::Failure| failure.message;
    let machine = Machine {
        boot: Boot::Disk(image.to_path_buf()),
        uefi_code: Some(run::find_ovmf(false).map_err(plain)?),
        cores: 2,
        memory_mib: 1024,
        accelerator: Choice::Auto.settle(),
        cpu: None,
        gdb: false,
        host_cores: run::host_cores(),
    };
    let qemu = run::find_qemu(false).map_err(plain)?;
    let mut node = Node::start(&qemu, &machine, folder.file("qemu.log")).map_err(plain)?;
    let deadline = Instant::now() + LIMIT;
    let (mut heard, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&heard);
        let missing: Vec<_> = wanted.iter().filter(|line| !text.contains(**line)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("not heard: {missing:?}; heard:\n{text}"));
        }
        node.serial.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match node.serial.read(&mut bytes) {
            Ok(0) => return Err(format!("the machine ended; not heard: {missing:?}; heard:\n{text}")),
            Ok(length) => heard.extend_from_slice(&bytes[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}
