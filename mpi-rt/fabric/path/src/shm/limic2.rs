//! `limic2`: the dissertation's kernel copy, second generation (section 6.1, "Introduction of LiMIC2"). Short messages go through shared memory as in [`super::basic`]. Of
//! a longer one only a description of its buffer travels, in the *request to send*; when the library has matched it, the receiver's system call
//! copies the content, once, from buffer to buffer. The *complete* message is one word of the descriptor by which the receiver has taken the message
//! ([`lwk_rendezvous::Descriptor::finish`]): its sender polls that in its own memory, and neither of them needs the FIFO for it.
//!
//! The threshold is that of section 4.3.1, 4 KiB. `hybrid` has one for each kind of peer instead, by the caches and packages of the cores (section 6.3.1),
//! and raises it for a receiver that is late ([`super::skew`], section 6.3.2).
//!
//! LiMIC2 describes one block: a message of several goes through shared memory, packed, and is
//! unpacked by its receiver from a buffer of [`STAGE`] bytes where only the receiver's is of several. In `smartmap`, which needs no description, both are one copy.

use super::link::{Link, Plan};
use super::packet::{CELLS_MAX, CellList, HEADER, Header, Kind};
use super::skew::Watch;
use super::{Design, Entered, Tunables, basic};
use crate::region::{Region, copy_part};
use crate::setting::{Bad, refuse};
use crate::{Fault, Result};
use crate::{Outgoing, WorldRank};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use lwk_place::{Peer, distance};
use lwk_shm::{CellNumber, Cells};
use lwk_user::abi::address::{JOB_PAGE, SLOT_BYTES, remote, slot_of};
use lwk_user::abi::runtime::DISTANCES;
use lwk_user::clock::ns_to_ticks;
use lwk_user::job;
use lwk_user::limic::{self, Descriptor};

/// Bytes of a message that are copied at a time where they must be unpacked. Not measured: half of the usual second-level cache.
const STAGE: usize = 256 << 10;

/// `limic2`: one threshold for all peers.
pub type Limic2 = KernelCopy<false>;
/// `hybrid`: thresholds by topology (section 6.3.1).
pub type Hybrid = KernelCopy<true>;

/// The state of the design: its thresholds, and where content is unpacked from.
pub struct KernelCopy<const BY_TOPOLOGY: bool> {
    /// By rank of the job: messages of more bytes are described.
    short: Vec<usize>,
    /// The same where the receiver keeps up, and the least where it is late: see [`super::skew`].
    usual: Vec<usize>,
    raised: usize,
    watch: Watch,
    stage: Box<[u8]>,
}

/// The threshold for a peer at a distance, an index of [`DISTANCES`]: a peer on the same core has its caches in common, too.
fn threshold(tunables: &Tunables, by_topology: bool, distance: usize) -> usize {
    let [cache, package, node] = tunables.hybrid_above;
    match distance {
        _ if !by_topology => tunables.kernel_above,
        0 | 1 => cache,
        2 => package,
        _ => node,
    }
}

const _: () = assert!(DISTANCES.len() == 4);

/// What a described request has in the place of cell numbers.
const WORDS: usize = size_of::<Descriptor>() / size_of::<CellNumber>();
const _: () = assert!(WORDS <= CELLS_MAX);

/// A descriptor as it travels.
fn to_cells(descriptor: &Descriptor) -> CellList {
    let mut cells = CellList::default();
    let words = [descriptor.address, descriptor.length, descriptor.offset];
    for (pair, word) in cells.chunks_exact_mut(2).zip(words) {
        pair.copy_from_slice(&[word as CellNumber, (word >> CellNumber::BITS) as CellNumber]);
    }
    cells
}

fn from_cells(cells: &CellList) -> Descriptor {
    let word = |at: usize| u64::from(cells[2 * at]) | u64::from(cells[2 * at + 1]) << CellNumber::BITS;
    Descriptor { address: word(0), length: word(1), offset: word(2) }
}

/// Ends the job, in one line, if the system does not copy between ranks: called by every rank, when its peers have started.
pub fn require(name: &str) {
    let mut word = 0u64;
    let there = remote(JOB_PAGE, Peer::me().right().node_rank().0) as usize;
    let there = core::ptr::with_exposed_provenance::<u8>(there);
    let copied = limic::tx_init(there, size_of::<u64>()).and_then(|descriptor| {
        // SAFETY: the word is this function's; nobody writes a job page.
        unsafe { limic::rx_comp((&raw mut word).cast(), size_of::<u64>(), &descriptor) }
    });
    if let Err(error) = copied {
        refuse(&Bad(format!(
            "{name}: this system does not let ranks copy from each other ({error}); choose another transport"
        )));
    }
}

impl<const BY_TOPOLOGY: bool> Design for KernelCopy<BY_TOPOLOGY> {
    fn new(tunables: &Tunables, _: Option<Cells<'static>>, _: usize) -> Result<KernelCopy<BY_TOPOLOGY>> {
        let mut stage = Vec::new();
        stage.try_reserve_exact(STAGE).map_err(|_| Fault::NoMemory)?;
        stage.resize(STAGE, 0);
        let stage = stage.into_boxed_slice();
        let me = job().rank();
        let ranks = (0..job().size()).map(WorldRank);
        let usual: Vec<usize> = ranks
            .map(|rank| match rank == me {
                // Messages of a rank to itself go another way.
                true => usize::MAX,
                false => threshold(tunables, BY_TOPOLOGY, distance(me, rank)),
            })
            .collect();
        let raised = if BY_TOPOLOGY { tunables.skew_above } else { 0 };
        let watch = Watch::new(usual.len(), ns_to_ticks);
        Ok(KernelCopy { short: usual.clone(), usual, raised, watch, stage })
    }

    unsafe fn begin(
        &mut self,
        link: &mut Link,
        peer: WorldRank,
        message: &Outgoing,
        number: u32,
        name: impl FnOnce() -> u64,
    ) -> Option<Entered> {
        let bytes = message.source.bytes();
        let described = match message.source.contiguous() {
            // What cannot be read faults in the program's own hands, by the other way.
            Some(buffer) if bytes > self.short[peer.index()] => limic::describe(buffer, bytes).ok(),
            _ => None,
        };
        let Some(descriptor) = described else {
            // SAFETY: this function's contract.
            return unsafe { basic::begin(link, message, number, name) };
        };
        if !link.producer.has_room(HEADER + WORDS * size_of::<CellNumber>()) {
            return None;
        }
        let (kind, label, name) = (Kind::Request, message.label, name());
        let request = Header { kind, label, bytes, cells: WORDS, own_id: number, peer_id: 0, name };
        // SAFETY: `has_room` said yes to header and descriptor.
        unsafe {
            request.write(&mut link.producer, &to_cells(&descriptor));
            link.producer.publish(request.packet_bytes(0));
        }
        Some(Entered::Described)
    }

    unsafe fn copy_out(
        &mut self,
        link: &Link,
        header: &Header,
        cells: &CellList,
        position: usize,
        target: &Region,
    ) -> (usize, Result<()>) {
        if header.kind != Kind::Request || !Self::is_described(header) {
            // SAFETY: this function's contract.
            return unsafe { basic::copy_out(link, header, position, target) };
        }
        let wanted = header.bytes.min(target.bytes());
        let mut descriptor = from_cells(cells);
        // SAFETY: the message has been claimed, so its sender leaves it alone until it is told; the target is writable (this function's contract).
        let outcome = unsafe {
            match target.contiguous() {
                Some(buffer) => receive(buffer, wanted, &mut descriptor),
                None => self.unpack(wanted, &mut descriptor, target),
            }
        };
        (wanted, outcome)
    }

    fn is_described(header: &Header) -> bool {
        header.cells == WORDS
    }

    fn moved(cells: &mut CellList, address: u64) {
        let was = from_cells(cells);
        // The sender's own memory, at its slot.
        let address = remote(address % SLOT_BYTES, slot_of(was.address).saturating_sub(1) as u32);
        *cells = to_cells(&Descriptor { address, ..was });
    }

    fn watch(&mut self, peer: WorldRank, bytes: usize) -> Option<&mut Watch> {
        let usual = *self.usual.get(peer.index())?;
        (bytes > usual && bytes <= self.raised).then_some(&mut self.watch)
    }

    fn pace(&mut self, peer: WorldRank, is_late: bool) {
        let usual = self.usual[peer.index()];
        self.short[peer.index()] = if is_late { usual.max(self.raised) } else { usual };
    }

    fn is_late(&self, peer: WorldRank) -> bool {
        self.short[peer.index()] != self.usual[peer.index()]
    }

    fn eager(&self, plan: &Plan) -> usize {
        self.short.iter().copied().fold(basic::eager(plan), usize::min)
    }
}

impl<const BY_TOPOLOGY: bool> KernelCopy<BY_TOPOLOGY> {
    /// Copies the first `wanted` bytes of a message to a target of several blocks.
    ///
    /// # Safety
    /// The sender leaves the message alone; the target is writable.
    unsafe fn unpack(&mut self, wanted: usize, from: &mut Descriptor, target: &Region) -> Result<()> {
        let mut done = 0;
        while done < wanted {
            let part = self.stage.len().min(wanted - done);
            let stage = Region::block(self.stage.as_ptr(), part);
            // SAFETY: the stage is this design's own; the target is writable (this function's contract).
            unsafe {
                receive(self.stage.as_mut_ptr(), part, from)?;
                copy_part(&stage, 0, target, done, part)?;
            }
            done += part;
        }
        Ok(())
    }
}

/// Has the system copy the next `wanted` bytes of what is described, and moves the offset on.
///
/// # Safety
/// The buffer is writable for them; the sender leaves the message alone.
unsafe fn receive(buffer: *mut u8, wanted: usize, from: &mut Descriptor) -> Result<()> {
    let mut done = 0;
    while done < wanted {
        // SAFETY: the buffer is writable for what is left of it (this function's contract). A program's buffers of one message do not overlap.
        match unsafe { limic::rx_comp(buffer.add(done), wanted - done, from) } {
            // The descriptor is not what the sender made.
            Ok(0) | Err(_) => return Err(Fault::Internal),
            Ok(copied) => {
                done += copied;
                from.offset += copied as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_survives_its_travel() {
        let descriptor = Descriptor { address: 0x7f_1234_5678_9abc, length: u64::MAX - 1, offset: 1 << 40 };
        assert_eq!(from_cells(&to_cells(&descriptor)), descriptor);
    }

    #[test]
    fn thresholds_are_the_dissertations() {
        let by =
            |by_topology| [0, 1, 2, 3].map(|distance| threshold(&Tunables::default(), by_topology, distance));
        assert_eq!(by(false), [4 << 10; 4]);
        assert_eq!(by(true), [32 << 10, 32 << 10, 2 << 10, 1 << 10]);
    }

    #[test]
    fn content_that_has_moved_is_in_the_same_ranks_memory() {
        let was = Descriptor { address: remote(0x40_0000, 3), length: 9000, offset: 0 };
        let mut cells = to_cells(&was);
        Limic2::moved(&mut cells, 0x123_4560);
        assert_eq!(from_cells(&cells), Descriptor { address: remote(0x123_4560, 3), ..was });
    }
}
