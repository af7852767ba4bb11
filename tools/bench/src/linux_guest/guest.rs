//! The Linux guest: its initramfs, its boot, and what it says on the serial line.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::linux_guest::Figures;
use crate::linux_guest::figures::{self, Figure};
use crate::linux_guest::initramfs::Initramfs;
use crate::linux_guest::system::System;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::{Machine, Node};
use lwk::tree::RunFolder;

/// Linux's command line: as quiet as it can be, and no reboot after a panic.
pub const COMMAND_LINE: &str = "console=ttyS0 quiet panic=-1";
/// The commands of busybox that the scripts use.
const COMMANDS: [&str; 5] = ["sh", "cat", "ip", "hostname", "echo"];
/// Printed by the script when all went well; a guest that ends without it has failed.
const DONE: &str = "@done";
/// Lines of the guest's that a failure shows.
const SHOWN: usize = 8;

/// What the guest does.
pub enum Guest<'a> {
    /// Nothing but telling its memory: for its start and its size.
    Bare,
    /// Runs the program under MPICH.
    WithMpi { program: &'a Path, ranks: u32 },
}

/// All that guests have in common.
pub struct Linux<'a> {
    pub qemu: &'a Path,
    pub system: &'a System,
    /// The first program, static.
    pub init: &'a Path,
    pub folder: &'a RunFolder,
    /// Time limit of a boot, in seconds.
    pub limit: u64,
}

impl Linux<'_> {
    /// Boots a guest to its end, and gives its figures: those that its program has printed, and of a bare one its memory in bytes. `machine`
    /// makes the machine for an initramfs and a kernel.
    ///
    /// # Errors
    /// The guest cannot be made, does not end within the limit, or ends badly.
    pub fn boot(&self, guest: Guest<'_>, machine: &dyn Fn(PathBuf, PathBuf) -> Machine) -> Outcome<Figures> {
        let (text, machine) = self.text(&guest, machine)?;
        let mut said = figures::read(&text);
        if matches!(guest, Guest::WithMpi { .. }) {
            // The start and the memory of a guest that carries MPICH say nothing of Linux.
            said.remove(Figure::ENTRY);
            return Ok(said);
        }
        let bytes = |name: &str| -> Outcome<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
            kib.map(|kib| kib * 1024.0)
                .ok_or_else(|| Failure::host(format!("the Linux guest does not tell its {name}")))
        };
        let all = machine.memory_mib as f64 * f64::from(1 << 20);
        said.insert(Figure::MEMORY.into(), all - bytes("MemFree")? - bytes("Cached")?);
        Ok(said)
    }

    /// Boots a guest to its end, and gives all that it has said, and its machine. Errors as [`Linux::boot`].
    pub fn text(
        &self,
        guest: &Guest<'_>,
        machine: &dyn Fn(PathBuf, PathBuf) -> Machine,
    ) -> Outcome<(String, Machine)> {
        let files = self.initramfs(guest)?;
        let archive = self.folder.file("initramfs.cpio");
        fs::write(&archive, files.archive()?).doing(|| format!("write {}", archive.display()))?;
        let machine = machine(archive, self.system.kernel()?);
        let mut node = Node::start(self.qemu, &machine, self.folder.file("guest-qemu.log"))?;
        let text = listen(&mut node, Duration::from_secs(self.limit))?;
        if text.contains(DONE) {
            return Ok((text, machine));
        }
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        let why = node.last_message().unwrap_or_default();
        Err(Failure::host(format!("the Linux guest did not come to its end; its last lines:\n{last}\n{why}")))
    }

    fn initramfs(&self, guest: &Guest<'_>) -> Outcome<Initramfs> {
        let mut files = Initramfs::default();
        let folders = self.system.libraries();
        let root = self.system.root();
        files.add_program("init", self.init, &folders)?;
        files.add_program("bin/busybox", &root.join("bin/busybox"), &folders)?;
        COMMANDS.iter().for_each(|name| files.link(&format!("bin/{name}"), "busybox"));
        files.add("etc/hosts", b"127.0.0.1 localhost node\n".into());
        let script = match guest {
            Guest::Bare => format!("cat /proc/meminfo\necho {DONE}\n"),
            Guest::WithMpi { program, ranks } => {
                files.add_program("guest", program, &folders)?;
                for name in ["mpiexec.hydra", "hydra_pmi_proxy"] {
                    files.add_program(
                        &format!("usr/bin/{name}"),
                        &root.join("usr/bin").join(name),
                        &folders,
                    )?;
                }
                format!(
                    "ip link set lo up\nhostname node\n\
                     mpiexec.hydra -launcher fork -bind-to core -n {ranks} /guest && echo {DONE}\n"
                )
            }
        };
        files.add("job", script.into());
        Ok(files)
    }
}

/// Everything the guest says until it ends. Errors: it does not end within the limit.
pub fn listen(node: &mut Node, limit: Duration) -> Outcome<String> {
    let deadline = Instant::now() + limit;
    let mut text = Vec::new();
    let mut bytes = [0u8; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            node.kill();
            let text = String::from_utf8_lossy(&text);
            let last =
                text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing").to_owned();
            return Err(Failure::host(format!(
                "the guest did not end within {} s (it said last: {last}); give it more with --timeout",
                limit.as_secs()
            )));
        }
        node.serial.set_read_timeout(Some(left)).doing(|| "wait for the guest".into())?;
        match node.serial.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => text.extend(&bytes[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) if lwk::host::is_time_out(error.kind()) => {}
            Err(error) => return Err(error).doing(|| "read the guest's console".into()),
        }
    }
    Ok(String::from_utf8_lossy(&text).replace('\r', ""))
}
