//! One QEMU process: its command line, its serial line and monitor, and its end.
//!
//! The serial line and the monitor are socket pairs handed to QEMU as its descriptors 0 and 1, so no path, port or
//! other process is involved. QEMU never outlives the command: it is killed when [`Node`] is dropped, and the kernel
//! of the host kills it when the command dies without a word.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use lwk_frames::NodeId;

use crate::accel::Accelerator;
use crate::child;
use crate::failure::{Doing, Outcome};
use crate::first_word;
use crate::qmp::Monitor;

/// TCP port of this machine on which QEMU waits for a debugger with `--gdb` (its option `-s`).
pub const GDB_PORT: u16 = 1234;

/// Firmware of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Firmware {
    /// QEMU's default, starts within a second
    Bios,
    /// As on real hardware (OVMF), starts within seconds
    Uefi,
    /// UEFI by another implementation (U-Boot), without a screen
    UBoot,
}

impl Firmware {
    /// The name of its feature of the image builder (`boot/`).
    pub fn name(self) -> &'static str {
        match self {
            Self::Bios => "bios",
            Self::Uefi | Self::UBoot => "uefi",
        }
    }
}

/// The file of a firmware that is not QEMU's own.
#[derive(Clone, Debug)]
pub enum FirmwareFile {
    /// Code in flash memory.
    Flash(PathBuf),
    /// What the processor starts in, instead of the BIOS.
    Rom(PathBuf),
}

/// What the machine boots from.
#[derive(Clone, Debug)]
pub enum Boot {
    /// A whole-disk image.
    Disk(PathBuf),
    /// A Linux kernel with its initramfs and command line, by QEMU's own loader.
    Linux { kernel: PathBuf, initramfs: PathBuf, command_line: String },
    /// A Multiboot kernel with its command line, in the same way.
    Kernel { file: PathBuf, command_line: String },
}

/// The machine that QEMU shall be: a q35 with serial line, monitor, screen and debug-exit device.
#[derive(Clone, Debug)]
pub struct Machine {
    pub boot: Boot,
    /// QEMU's BIOS if none.
    pub firmware: Option<FirmwareFile>,
    pub cores: u32,
    pub memory_mib: u64,
    pub accelerator: Accelerator,
    /// Processor model under emulation; all that QEMU can emulate if none.
    pub cpu: Option<String>,
    /// Further words of QEMU's command line, the last.
    pub more: Vec<String>,
    /// Wait for a debugger before the first instruction.
    pub gdb: bool,
    /// Cores of the host.
    pub host_cores: u32,
    pub card: Option<Card>,
}

/// Kinds of network cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CardKind {
    /// virtio-net, frames up to 9014 bytes
    Virtio,
    /// Intel's 82574L, frames up to 9014 bytes
    E1000e,
}

/// QEMU's names of a node's card and of its end of the wire.
pub const CARD: &str = "card";
const WIRE: &str = "wire";

/// A network card, with its end of a wire: a datagram socket that QEMU inherits.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    pub kind: CardKind,
    pub wire: RawFd,
    pub address: [u8; 6],
}

impl Card {
    /// The card of a node of a job, at the end of a wire, which QEMU will inherit.
    ///
    /// # Errors
    /// The wire cannot be handed on.
    pub fn new(kind: CardKind, node: u16, wire: &UnixDatagram) -> Outcome<Self> {
        rustix::io::fcntl_setfd(wire, rustix::io::FdFlags::empty())
            .map_err(std::io::Error::from)
            .doing(|| "hand a wire to QEMU".into())?;
        Ok(Self { kind, wire: wire.as_raw_fd(), address: NodeId(node).address() })
    }

    fn arguments(&self) -> [String; 4] {
        let address = self.address.map(|byte| format!("{byte:02x}")).join(":");
        // Without its ROM, from which the firmware would try to boot.
        let device = match self.kind {
            CardKind::Virtio => "virtio-net-pci,disable-legacy=on,host_mtu=9000,romfile=",
            CardKind::E1000e => "e1000e,romfile=",
        };
        [
            "-netdev".into(),
            format!("dgram,id={WIRE},local.type=fd,local.str={}", self.wire),
            "-device".into(),
            format!("{device},id={CARD},netdev={WIRE},mac={address}"),
        ]
    }
}

impl Machine {
    /// QEMU's arguments. Serial line and monitor are its descriptors 0 and 1.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        add(&[
            "-nodefaults",
            "-no-user-config",
            "-machine",
            "q35",
            "-vga",
            "std",
            "-display",
            "none",
            "-no-reboot",
        ]);
        match self.accelerator {
            // Nothing of ours needs system management mode, which SeaBIOS enters at every read of the disk; emulated virtualisation has taken its first
            // instruction there for an undefined one (QEMU 10, one boot in five).
            Accelerator::Kvm => add(&["-accel", "kvm", "-cpu", "host", "-machine", "smm=off"]),
            Accelerator::Tcg => {
                // QEMU has one thread where instructions are counted.
                let counted = self.more.iter().any(|word| word == "-icount");
                let thread = if self.threads_fit() && !counted { "multi" } else { "single" };
                let cpu = self.cpu.as_deref().unwrap_or("max");
                add(&["-accel", &format!("tcg,thread={thread}"), "-cpu", cpu]);
            }
        }
        add(&["-smp", &self.cores.to_string(), "-m", &format!("{}M", self.memory_mib)]);
        add(&["-chardev", "socket,id=serial,fd=0"]);
        // Who names a serial line says where it is; else it is the first.
        if !self.more.iter().any(|word| word == "-serial" || word.starts_with("isa-serial")) {
            add(&["-serial", "chardev:serial"]);
        }
        add(&["-chardev", "socket,id=monitor,fd=1", "-mon", "chardev=monitor,mode=control"]);
        add(&["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
        match &self.firmware {
            None => {}
            Some(FirmwareFile::Flash(code)) => {
                add(&["-drive"]);
                arguments.push(drive("if=pflash,format=raw,readonly=on,file=", code));
            }
            Some(FirmwareFile::Rom(file)) => arguments.extend(["-bios".into(), file.into()]),
        }
        match &self.boot {
            Boot::Disk(image) => {
                arguments.push("-drive".into());
                arguments.push(drive("if=ide,format=raw,cache=unsafe,file=", image));
            }
            Boot::Linux { kernel, initramfs, command_line } => {
                arguments.extend(["-kernel".into(), kernel.into(), "-initrd".into(), initramfs.into()]);
                arguments.extend(["-append".into(), command_line.into()]);
            }
            Boot::Kernel { file, command_line } => {
                arguments.extend(["-kernel".into(), file.into(), "-append".into(), command_line.into()]);
            }
        }
        arguments.extend(self.card.iter().flat_map(Card::arguments).map(OsString::from));
        if self.gdb {
            arguments.extend(["-s".into(), "-S".into()]);
        }
        arguments.extend(self.more.iter().map(OsString::from));
        arguments
    }

    /// Whether each virtual core can have a host core of its own.
    fn threads_fit(&self) -> bool {
        self.cores <= self.host_cores.max(1)
    }
}

/// A value of `-drive` that ends in a path; QEMU reads a comma twice as one.
fn drive(options: &str, path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let mut value = options.as_bytes().to_vec();
    for &byte in path.as_os_str().as_bytes() {
        value.push(byte);
        if byte == b',' {
            value.push(byte);
        }
    }
    OsString::from_vec(value)
}

/// A running QEMU; killed when dropped.
#[derive(Debug)]
pub struct Node {
    child: Child,
    /// The host's end of the serial line. End of file: QEMU has ended.
    pub serial: UnixStream,
    pub monitor: Monitor,
    /// What QEMU itself says.
    messages: PathBuf,
    /// It has been ended from here.
    pub is_killed: bool,
}

impl Node {
    /// Starts QEMU. Its own messages go to the file `messages`.
    ///
    /// Call it on a thread that lives as long as the node: the host kills QEMU when that thread ends.
    ///
    /// Where virtualisation is emulated, a node that comes to nothing before its first word is started again ([`first_word`]), which one line says.
    pub fn start(qemu: &Path, machine: &Machine, messages: PathBuf) -> Outcome<Self> {
        let mut tries = if first_word::is_in_doubt(machine) { first_word::TRIES } else { 1 };
        loop {
            let serial = UnixStream::pair().doing(|| format!("start {}", qemu.display()))?;
            let node = Self::start_on(serial, qemu, machine, messages.clone())?;
            tries -= 1;
            if tries == 0 || first_word::comes(&node.serial, first_word::LIMIT)? {
                return Ok(node);
            }
            tell!(
                "lwk: the node came to nothing before its first word, as some do where virtualisation is emulated; it is started again"
            );
        }
    }

    /// As [`Node::start`] with a given pair of sockets for the serial line: the host's end and QEMU's.
    pub fn start_on(
        (serial, serial_end): (UnixStream, UnixStream),
        qemu: &Path,
        machine: &Machine,
        messages: PathBuf,
    ) -> Outcome<Self> {
        let what = || format!("start {}", qemu.display());
        let (monitor, monitor_end) = UnixStream::pair().doing(what)?;
        let log = File::create(&messages).doing(|| format!("write {}", messages.display()))?;
        let mut command = Command::new(qemu);
        command
            .args(machine.arguments())
            .stdin(Stdio::from(OwnedFd::from(serial_end)))
            .stdout(Stdio::from(OwnedFd::from(monitor_end)))
            .stderr(Stdio::from(log));
        let child = child::spawn_bound(&mut command).doing(what)?;
        Ok(Self { child, serial, monitor: Monitor::new(monitor)?, messages, is_killed: false })
    }

    /// Waits at most `limit` for QEMU to end by itself, then kills it. `None`: it had to be killed.
    pub fn end_within(&mut self, limit: Duration) -> Outcome<Option<ExitStatus>> {
        child::wait_within(&mut self.child, limit).doing(|| "wait for QEMU".into())
    }

    /// QEMU's process number.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The last line QEMU itself has said, if any.
    pub fn last_message(&self) -> Option<String> {
        let text = std::fs::read(&self.messages).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned)
    }

    /// Kills QEMU and collects it. Harmless if it has ended.
    pub fn kill(&mut self) {
        child::kill(&mut self.child);
        self.is_killed = true;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: u32, host_cores: u32) -> Vec<String> {
        let machine = Machine {
            boot: Boot::Disk("a,b/disk".into()),
            firmware: None,
            cores,
            memory_mib: 100,
            accelerator: Accelerator::Tcg,
            cpu: None,
            more: Vec::new(),
            gdb: false,
            host_cores,
            card: None,
        };
        machine.arguments().into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn more_cores_than_the_host_has_take_turns() {
        assert!(machine(2, 2).contains(&"tcg,thread=multi".into()));
        assert!(machine(3, 2).contains(&"tcg,thread=single".into()));
    }

    #[test]
    fn commas_in_paths_are_doubled() {
        assert!(machine(1, 1).iter().any(|word| word.ends_with("file=a,,b/disk")));
    }
}
