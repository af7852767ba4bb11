//! The Linux guest: its initramfs, its boot, and what it says on the serial line.

use std::fs;
use std::io::Read;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
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
const COMMANDS: [&str; 8] = ["sh", "cat", "ip", "hostname", "echo", "insmod", "nc", "usleep"];
/// What `mpiexec` starts its helper on another guest by: that guest waits for one line, and runs it.
const LAUNCHER: &str =
    "#!/bin/sh\nhost=$1\nshift\nuntil echo \"$*\" | nc -w 5 $host 7000; do usleep 100000; done\n";
/// Printed by the script when all went well; a guest that ends without it has failed.
const DONE: &str = "@done";
/// Modules of the card's driver, in the order in which they need each other.
const DRIVERS: [&str; 8] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
];
/// Lines of the guest's that a failure shows.
const SHOWN: usize = 16;

/// What the guest does.
pub enum Guest<'a> {
    /// Nothing but telling its memory: for its start and its size.
    Bare,
    /// Runs the program under MPICH, with one argument or none.
    WithMpi { program: &'a Path, argument: &'a str, ranks: u32 },
    /// The same with a rank on each of several guests of one Ethernet, of which this is number `node`. The first starts the others' ranks.
    OfNodes { program: &'a Path, node: u32, nodes: u32 },
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
        let mut node = self.start(guest, 0, machine)?;
        let text = listen(&mut node.0, Duration::from_secs(self.limit));
        Ok((whole(text?, &node.0)?, node.1))
    }

    /// Boots guests that need each other, to their ends, and gives all that each has said. `machine` makes the machine of the guest of a number.
    ///
    /// # Errors
    /// As [`Linux::boot`].
    pub fn together(
        &self,
        guests: &[Guest<'_>],
        machine: &dyn Fn(u32, PathBuf, PathBuf) -> Machine,
    ) -> Outcome<Vec<String>> {
        let start = |(number, guest)| {
            let machine = |initramfs, kernel| machine(number, initramfs, kernel);
            self.start(guest, number, &machine).map(|(node, _)| node)
        };
        let mut nodes = (0..).zip(guests).map(start).collect::<Outcome<Vec<Node>>>()?;
        let limit = Duration::from_secs(self.limit);
        let (mut first, mut texts) = (None, vec![String::new(); nodes.len()]);
        let consoles = nodes.iter().map(|node| node.serial.try_clone());
        let consoles = consoles.collect::<Result<Vec<_>, _>>().doing(|| "listen to the guests".into())?;
        let (say, hear) = channel();
        std::thread::scope(|scope| {
            for (number, node) in nodes.iter_mut().enumerate() {
                let say = say.clone();
                // The receiver stays until all have said how it went.
                scope.spawn(move || {
                    let _ = say.send((number, listen(node, limit).and_then(|text| whole(text, node))));
                });
            }
            drop(say);
            for (number, text) in hear {
                match text {
                    Ok(text) => texts[number] = text,
                    // The others would wait for this one in vain; what they die of is a consequence.
                    Err(why) if first.is_none() => {
                        first = Some(why);
                        // A guest that has ended hears nothing.
                        consoles.iter().for_each(|console| drop(console.shutdown(Shutdown::Both)));
                    }
                    Err(_) => {}
                }
            }
        });
        first.map_or(Ok(texts), Err)
    }

    fn start(
        &self,
        guest: &Guest<'_>,
        number: u32,
        machine: &dyn Fn(PathBuf, PathBuf) -> Machine,
    ) -> Outcome<(Node, Machine)> {
        let files = self.initramfs(guest)?;
        let archive = self.folder.file(&format!("initramfs{number}.cpio"));
        fs::write(&archive, files.archive()?).doing(|| format!("write {}", archive.display()))?;
        let machine = machine(archive, self.system.kernel()?);
        let messages = self.folder.file(&format!("guest{number}-qemu.log"));
        Ok((Node::start(self.qemu, &machine, messages)?, machine))
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
            Guest::WithMpi { program, argument, ranks } => {
                self.add_mpi(&mut files, program)?;
                format!(
                    "ip link set lo up\nhostname node\n\
                     mpiexec.hydra -launcher fork -bind-to core -n {ranks} /guest {argument} && echo {DONE}\n"
                )
            }
            Guest::OfNodes { program, node, nodes } => {
                self.add_mpi(&mut files, program)?;
                self.add_network(&mut files, *nodes)?;
                of_nodes(*node, *nodes)
            }
        };
        files.add("job", script.into());
        Ok(files)
    }

    /// The program, MPICH's `mpiexec`, and its helper.
    fn add_mpi(&self, files: &mut Initramfs, program: &Path) -> Outcome<()> {
        let folders = self.system.libraries();
        files.add_program("guest", program, &folders)?;
        for name in ["mpiexec.hydra", "hydra_pmi_proxy"] {
            let file = self.system.root().join("usr/bin").join(name);
            files.add_program(&format!("usr/bin/{name}"), &file, &folders)?;
        }
        Ok(())
    }

    /// The card's driver, and the names of all guests.
    fn add_network(&self, files: &mut Initramfs, nodes: u32) -> Outcome<()> {
        for (name, file) in DRIVERS.iter().zip(self.system.drivers(&DRIVERS)?) {
            let bytes = fs::read(&file).doing(|| format!("read {}", file.display()))?;
            files.add(&format!("drivers/{name}.ko"), bytes);
        }
        let hosts = (0..nodes).map(|node| format!("{} node{node}\n", address(node)));
        files.add("etc/hosts", format!("127.0.0.1 localhost\n{}", hosts.collect::<String>()).into());
        files.add("etc/nsswitch.conf", b"hosts: files\n".into());
        files.add("bin/launch", LAUNCHER.into());
        Ok(())
    }
}

fn address(node: u32) -> String {
    format!("10.0.0.{}", node + 1)
}

/// The script of one of several guests. The first waits in its launcher until the others listen.
fn of_nodes(node: u32, nodes: u32) -> String {
    let drivers: String =
        DRIVERS.iter().map(|name| format!("insmod /drivers/{name}.ko || exit 1\n")).collect();
    let network = format!(
        "ip link set lo up\nip addr add {}/24 dev eth0 || exit 1\nip link set eth0 up\nhostname node{node}\n\
         until [ \"$(cat /sys/class/net/eth0/operstate)\" = up ]; do usleep 10000; done\n",
        address(node)
    );
    let job = if node == 0 {
        let hosts: Vec<String> = (0..nodes).map(|node| format!("node{node}")).collect();
        format!(
            "mpiexec.hydra -launcher rsh -launcher-exec /bin/launch -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0 \
             -hosts {} -ppn 1 -n {nodes} /guest && echo {DONE}\n",
            hosts.join(",")
        )
    } else {
        format!("nc -l -p 7000 >/tmp/command && sh /tmp/command && echo {DONE}\n")
    };
    [drivers, network, job].concat()
}

/// What a guest has said, if it has come to its end.
fn whole(text: String, node: &Node) -> Outcome<String> {
    if text.contains(DONE) {
        return Ok(text);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
    let why = node.last_message().unwrap_or_default();
    Err(Failure::host(format!("the Linux guest did not come to its end; its last lines:\n{last}\n{why}")))
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
            Err(error) if lwk::session::is_time_out(error.kind()) => {}
            Err(error) => return Err(error).doing(|| "read the guest's console".into()),
        }
    }
    Ok(String::from_utf8_lossy(&text).replace('\r', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_guest_starts_ranks_on_all_and_the_others_wait_for_it() {
        let (first, second) = (of_nodes(0, 2), of_nodes(1, 2));
        assert!(first.contains("10.0.0.1/24") && first.contains("-hosts node0,node1 -ppn 1 -n 2 /guest"));
        assert!(second.contains("10.0.0.2/24") && second.contains("nc -l -p 7000"));
        assert!(
            !second.contains("mpiexec")
                && [first, second].iter().all(|script| script.ends_with("echo @done\n"))
        );
    }
}
