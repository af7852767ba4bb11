//! Network cards: raw Ethernet frames in and out, for a kernel that looks after them in an interrupt.
//!
//! [`Nic`] is all that the kernel knows of a card. Frames are received into buffers of the driver's and looked at there; what is sent is gathered by the card from where
//! it lies, but for a short head. A driver never waits, and never allocates after its start.
//!
//! A card reaches memory by itself. What is said to it about memory goes through [`Platform`], so a driver has no pointer but those it has from there.
#![no_std]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "counters of the kernel's cores, and rings that a card shares; ranks do not see them"
)]

#[cfg(test)]
extern crate std;

mod e1000e;
mod registers;
mod virtio;

use core::fmt;
use core::ptr::NonNull;

pub use e1000e::E1000e;
pub use registers::Registers;
pub use virtio::VirtioNet;
pub use virtio_drivers::{BufferDirection, Hal as Platform, PhysAddr};

use lwk_pci::Identity;

/// Longest frame that a driver receives: 9000 bytes behind Ethernet's 14.
pub const FRAME_BYTES_MAX: usize = 9014;
/// Frame without jumbo frames: 1500 bytes behind Ethernet's 14.
pub const FRAME_BYTES: usize = 1514;
/// Bytes at the start of a frame that a driver copies, at most: a whole frame without jumbo frames, as several short messages make one.
pub const HEAD_BYTES_MAX: usize = 1_524;

/// A frame that has come, in a buffer of the driver's.
#[derive(Debug)]
pub struct Received {
    pub(crate) buffer: u16,
    pub(crate) start: NonNull<u8>,
    pub(crate) bytes: usize,
}

impl Received {
    /// The frame with its Ethernet head, without its checksum.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the driver has taken the buffer from the card and gives it back only for this value (`Nic::give_back`).
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }
}

/// What a card has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sent: u64,
    pub received: u64,
    /// Times that the card was told of frames to be sent. While it works through some it sees others by itself, if it can.
    pub doorbells: u64,
    /// Bytes of frames that the driver has copied to send them: heads.
    pub copied: u64,
    /// Frames that found no room to be sent; they are tried again.
    pub no_room: u64,
    /// Frames that were given up since the link was down.
    pub no_link: u64,
    /// Frames that came damaged or longer than any, and such for which no buffer was free, as far as the card says.
    pub dropped: u64,
    pub missed: u64,
    /// Times that the link went down or came up.
    pub link_changes: u64,
    /// Times that the card was reset since it sent no more.
    pub resets: u64,
}

/// A network card.
pub trait Nic: Send {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// Its Ethernet address.
    fn address(&self) -> [u8; 6];

    /// Has the card pass frames for this address, which is its own at first. Those for others may come, too.
    fn listen(&mut self, address: [u8; 6]);

    /// Longest frame of card and link.
    fn frame_bytes(&self) -> usize;

    /// Whether the link was up when somebody looked after it last.
    fn is_up(&self) -> bool;

    /// Sends a frame: `head`, then `middle`, at most [`HEAD_BYTES_MAX`] bytes together and not empty, which are copied; then `body`, which is
    /// not. False: there is no room now.
    ///
    /// # Safety
    /// `body` is memory that [`Platform::share`] can tell the card of, and stays readable for ever. It may change; then
    /// nobody knows which bytes go.
    unsafe fn send(&mut self, head: &[u8], middle: &[u8], body: Option<NonNull<[u8]>>) -> bool;

    /// The next frame that has come.
    fn receive(&mut self) -> Option<Received>;

    /// Gives a frame's buffer back to the card.
    fn give_back(&mut self, frame: Received);

    /// Lets the card interrupt when a frame comes, or not. Off, it may still do so once.
    fn interrupt(&mut self, on: bool);

    /// Looks after the link, and after frames that do not go although it is up: then the card is reset. To be called when the card has
    /// interrupted and no frame has come, and now and then while answers are waited for. `now` is microseconds of a steady clock.
    fn look_after(&mut self, now: u64);

    /// What it has done.
    fn counts(&self) -> &Counts;
}

/// Why a card cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It lacks something that the driver needs.
    Lacks(&'static str),
    /// The kernel has no memory for it.
    NoMemory,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Lacks(what) => write!(f, "it has no {what}"),
            Unusable::NoMemory => write!(f, "there is no memory for its buffers"),
        }
    }
}

/// Drivers that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    VirtioNet,
    E1000e,
}

/// The driver for a function, if there is one.
pub fn driver_of(identity: Identity) -> Option<Driver> {
    let drivers = [
        (virtio::is_it(identity), Driver::VirtioNet),
        (e1000e::model_of(identity).is_some(), Driver::E1000e),
    ];
    drivers.into_iter().find(|(is_it, _)| *is_it).map(|(_, driver)| driver)
}

/// Zeroed memory of a driver's that its card reaches: the card's address, and the driver's.
fn memory<H: Platform>(bytes: usize, direction: BufferDirection) -> Result<(u64, NonNull<u8>), Unusable> {
    let (physical, start) = H::dma_alloc(bytes.div_ceil(virtio_drivers::PAGE_SIZE), direction);
    if physical == 0 { Err(Unusable::NoMemory) } else { Ok((physical, start)) }
}
