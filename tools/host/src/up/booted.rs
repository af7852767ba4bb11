//! A job's part on a node in QEMU: a machine that boots with the job, has just its cores, and ends with it.
//!
//! A relay carries frames between the machine's card and the sockets of the job's other nodes, which are such machines, too.

use std::fs;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};

use lwk_abi::exit::DEBUG_EXIT_ENDED;
use lwk_abi::portals::KERNEL_BYTES;
use lwk_job::{End, Job, Network, Writer};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::json;

use super::relay::Relay;
use lwk::accel;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::{Boot, Card, CardKind, Machine, Node};
use lwk::session::EXIT_LIMIT;
use lwk::{image, memory};

/// What boots a node's jobs.
#[derive(Clone, Debug)]
pub struct Boots {
    qemu: PathBuf,
    image_builder: PathBuf,
    kernel: PathBuf,
    /// For disk images while their machines run.
    folder: PathBuf,
}

/// What a machine boots with.
pub struct Load<'a> {
    pub place: Network,
    pub ranks: u32,
    pub cores: &'a [u16],
    /// The rest of the job file.
    pub records: &'a [u8],
    pub program: Vec<u8>,
    pub files: Vec<u8>,
}

impl Boots {
    /// With QEMU, the command that makes disk images, and the kernel. What an earlier node has left in the folder goes.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn new([qemu, image_builder, kernel]: [PathBuf; 3], folder: PathBuf) -> Outcome<Boots> {
        // It may not be there.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).doing(|| format!("make the folder {}", folder.display()))?;
        Ok(Boots { qemu, image_builder, kernel, folder })
    }

    /// Boots a machine with a job, whose frames come in at the socket and go to these addresses, by the nodes' numbers.
    ///
    /// # Errors
    /// This machine lacks memory, or the image or QEMU's process cannot be made.
    pub fn boot(
        &self,
        id: u32,
        load: Load<'_>,
        socket: UdpSocket,
        addresses: Vec<SocketAddr>,
    ) -> Outcome<Booted> {
        let folder = Folder(self.folder.join(format!("job-{id}")));
        fs::create_dir_all(&folder.0).doing(|| format!("make the folder {}", folder.0.display()))?;
        let Load { place, ranks, cores, records, program, files } = load;
        let (job, of_rank, file_space) = job_file(ranks, &place, records)?;
        let given_bytes = files.len() as u64;
        let ram_disk = image::archive(job, program, Some(files))?;
        let disk = folder.0.join("disk.img");
        let ram_disk_file = folder.0.join("ramdisk.tar");
        image::write_file(&ram_disk_file, &ram_disk)?;
        image::write(&self.image_builder, &self.kernel, &ram_disk_file, &disk, &folder.0)?;
        let file_space = file_space.unwrap_or_else(|| memory::default_file_mib(ranks, of_rank) << 20);
        let beside = [ram_disk.len() as u64, given_bytes, file_space, KERNEL_BYTES];
        let beside = beside.into_iter().fold(0, u64::saturating_add);
        let memory_mib = memory::node_mib(ranks, of_rank, cores.len() as u32, beside)
            .ok_or_else(|| Failure::usage(format!("--mem {of_rank} is more than any machine has")))?;
        memory::check_host(memory_mib)?;
        let wires = UnixDatagram::pair().doing(|| "make a wire".into())?;
        let several = place.nodes > 1;
        let card =
            if several { Some(Card::new(CardKind::Virtio, place.node as u16, &wires.1)?) } else { None };
        let machine = Machine {
            boot: Boot::Disk(disk),
            firmware: None,
            cores: cores.len() as u32,
            memory_mib,
            accelerator: accel::Choice::Auto.settle(),
            cpu: None,
            more: Vec::new(),
            gdb: false,
            host_cores: cores.len() as u32,
            card,
        };
        let node = on_cores(cores, || Node::start(&self.qemu, &machine, folder.0.join("qemu.log")))?;
        // QEMU alone has the card's end of the wire from here on.
        drop(wires.1);
        let relay = if several { Some(Relay::start(wires.0, socket, addresses)) } else { None };
        let relay = relay.transpose().doing(|| "carry frames".into())?;
        Ok(Booted { node, _relay: relay, several, _folder: folder })
    }
}

/// The whole job file, MiB of each rank, and bytes for files if the job says how many.
fn job_file(ranks: u32, place: &Network, records: &[u8]) -> Outcome<(Vec<u8>, u64, Option<u64>)> {
    let wrong = |error| Failure::usage(format!("the job cannot be read: {error}"));
    let mut file = Vec::new();
    Writer::new(&mut file, ranks, None);
    file.extend_from_slice(records);
    let job = Job::parse(&file).map_err(wrong)?;
    let (said, file_space) = (job.memory, job.file_space);
    let memory = said.unwrap_or(memory::DEFAULT_MIB << 20);
    let mut whole = Vec::new();
    // All nodes give their ranks the same.
    let mut writer = Writer::new(&mut whole, ranks, said.is_none().then_some(memory));
    writer.end(End::Wait);
    if place.nodes > 1 {
        writer.network(place);
    }
    whole.extend_from_slice(records);
    Job::parse(&whole).map_err(wrong)?;
    Ok((whole, memory.div_ceil(1 << 20), file_space))
}

/// Does something on these of Linux's cores; what it starts stays there.
fn on_cores<T>(cores: &[u16], what: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let failed = || "choose a node's cores".into();
    let before = sched_getaffinity(None).map_err(io::Error::from).doing(failed)?;
    let mut chosen = CpuSet::new();
    cores.iter().for_each(|core| chosen.set(usize::from(*core)));
    sched_setaffinity(None, &chosen).map_err(io::Error::from).doing(failed)?;
    let done = what();
    sched_setaffinity(None, &before).map_err(io::Error::from).doing(failed)?;
    done
}

/// A machine with its job.
pub struct Booted {
    node: Node,
    /// It waits for its peers, and answers for them at the end.
    several: bool,
    _relay: Option<Relay>,
    /// Goes last: QEMU has the disk open.
    _folder: Folder,
}

impl Booted {
    pub fn console(&self) -> io::Result<UnixStream> {
        self.node.serial.try_clone()
    }

    /// All nodes have booted: the ranks start. A node alone has not waited.
    pub fn begin(&mut self) -> io::Result<()> {
        if self.several { self.go_on() } else { Ok(()) }
    }

    /// The ranks of all nodes have ended. A machine that cannot be told has ended.
    pub fn release(&mut self) {
        let _ = self.go_on();
    }

    fn go_on(&mut self) -> io::Result<()> {
        io::Write::write_all(&mut self.node.serial, b"\n")
    }

    pub fn time_is_up(&mut self) {
        // One that cannot be asked is killed after a while.
        let _ = self.node.monitor.command("inject-nmi", json!({}));
    }

    pub fn kill(&mut self) {
        self.node.kill();
    }

    /// The console is at its end; why, if the machine has neither ended by its own word nor been killed from here.
    pub fn last_words(&mut self) -> Option<String> {
        if self.node.is_killed {
            return None;
        }
        let status = self.node.end_within(EXIT_LIMIT).ok().flatten();
        if status.and_then(|status| status.code()) == Some((DEBUG_EXIT_ENDED * 2 + 1) as i32) {
            return None;
        }
        Some(match (self.node.last_message(), status) {
            (Some(message), _) => format!(" (QEMU says: {message})"),
            (None, Some(status)) => format!(" (QEMU has ended with {status})"),
            (None, None) => " (QEMU had to be killed)".into(),
        })
    }
}

/// A folder that goes with its machine.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // The next node of this folder clears what cannot be removed now.
    let _ = fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_file_is_completed_by_what_the_launcher_does_not_know() {
        let place = Network { node: 1, nodes: 2, size: 3, job: 9 };
        let (file, mib, space) = job_file(2, &place, b"arg=x\0").unwrap();
        let job = Job::parse(&file).unwrap();
        assert_eq!((job.ranks, job.network, job.end), (2, Some(place), End::Wait));
        assert_eq!((job.memory, mib, space), (Some(memory::DEFAULT_MIB << 20), memory::DEFAULT_MIB, None));
        let alone = Network { node: 0, nodes: 1, size: 2, job: 9 };
        let (file, mib, space) = job_file(2, &alone, b"mem=16777216\0arg=x\0file_space=4096\0").unwrap();
        let job = Job::parse(&file).unwrap();
        assert_eq!((job.memory, job.network, mib, space), (Some(16 << 20), None, 16, Some(4096)));
        // A launcher says nothing of what is the node's to say.
        assert!(job_file(2, &place, b"arg=x\0network=0,2,3,9\0").is_err());
        assert!(job_file(2, &place, b"").is_err());
    }
}
