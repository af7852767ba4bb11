//! Virtio's network card (virtio 1.2, section 5.1), modern, over PCI: one queue each way, frames up to 9014 bytes. A card that sends no more, or
//! asks for it, is reset: features, queues and buffers begin anew, and frames that had not gone are lost, as on a bad wire.

mod pci;
mod queues;
mod split_queue;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;
use core::ptr::NonNull;

use bitflags::bitflags;
use lwk_pci::Identity;
use queues::{Bell, Structures, negotiate, ring};
use split_queue::{PLACES, Piece, SplitQueue, Used};
use virtio_drivers::transport::pci::PciTransport;
use virtio_drivers::transport::{DeviceStatus, Transport};
use virtio_drivers::{BufferDirection, Hal};

use crate::{Counts, FRAME_BYTES, FRAME_BYTES_MAX, HEAD_BYTES_MAX, Nic, Received, Unusable, memory};

bitflags! {
    /// Features that the driver knows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Features: u64 {
        const MTU = 1 << 3;
        const ADDRESS = 1 << 5;
        const STATUS = 1 << 16;
        const EVENT_INDEX = 1 << 29;
        const VERSION_1 = 1 << 32;
    }
}

bitflags! {
    /// The status in the card's own registers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Status: u16 {
        const LINK_UP = 1;
    }
}

const VENDOR: u16 = 0x1af4;
/// The card as old and as new drivers see it.
const DEVICES: [u16; 2] = [0x1000, 0x1041];

pub(crate) fn is_it(identity: Identity) -> bool {
    identity.vendor == VENDOR && DEVICES.contains(&identity.device)
}

/// Queues.
const RECEIVE: u16 = 0;
const TRANSMIT: u16 = 1;
/// Frames on their way out, at most: each takes two places.
const FRAMES: usize = PLACES / 2;
/// Virtio's own head before each frame: all zeros, since the driver uses nothing of it.
const PREFIX: usize = 12;
/// Bytes of a buffer for a frame that comes in. A page and a cache line's multiple.
const BUFFER_BYTES: usize = (PREFIX + FRAME_BYTES_MAX).next_multiple_of(64);
/// Bytes of a buffer for a frame's head that goes out.
const HEAD_BYTES: usize = PREFIX + HEAD_BYTES_MAX;
const _: () = assert!(HEAD_BYTES.is_multiple_of(64));

/// With the link up, a card that sends nothing for so many microseconds although there is something hangs.
const HUNG_US: u64 = 1_000_000;
/// Looks at a card until its reset is over; each takes a microsecond or so.
const RESET_LOOKS: u32 = 100_000;
/// Offsets in the card's own.
const CARD_STATUS: usize = 6;
const CARD_MTU: usize = 10;

/// A frame on its way out: what follows its head, at the card's address and at the driver's.
#[derive(Clone, Copy)]
struct Outgoing {
    body: Option<(u64, NonNull<[u8]>)>,
}

/// A card.
pub struct VirtioNet<H: Hal, T: Transport = PciTransport> {
    transport: T,
    structures: Structures,
    receive: SplitQueue,
    transmit: SplitQueue,
    receive_bell: Bell,
    transmit_bell: Bell,
    features: Features,
    address: [u8; 6],
    frame_bytes: usize,
    /// Buffers of frames that come in, one after the other, each with a place of the queue; at the card's address and at the driver's.
    buffers_address: u64,
    buffers: NonNull<u8>,
    /// Of heads that go out, each with two places.
    heads_address: u64,
    heads: NonNull<u8>,
    free_heads: [u16; FRAMES],
    free_count: usize,
    /// By their heads.
    outgoing: [Option<Outgoing>; FRAMES],
    up: bool,
    /// The driver wants interrupts.
    interrupts: bool,
    /// Frames that the card has sent, and how many they were, since when, when somebody looked last and frames were on their way.
    gone: u64,
    waiting: Option<(u64, u64)>,
    /// A reset did not end; nothing goes and nothing comes.
    broken: bool,
    /// Buffers have gone back to the card that it has not been told of.
    refilled: bool,
    counts: Counts,
    platform: PhantomData<H>,
}

// SAFETY: pointers to memory of the driver's own, and to memory that it only tells the card of.
unsafe impl<H: Hal, T: Transport + Send> Send for VirtioNet<H, T> {}

impl<H: Hal, T: Transport> VirtioNet<H, T> {
    /// Starts the card behind a transport.
    fn on(mut transport: T, structures: Structures) -> Result<Self, Unusable> {
        let features = negotiate(&mut transport)?;
        let address = transport.read_consistent(|| transport.read_config_space::<[u8; 6]>(0));
        let mtu = match features.contains(Features::MTU) {
            true => transport.read_config_space::<u16>(CARD_MTU).map_or(FRAME_BYTES - 14, usize::from),
            false => FRAME_BYTES - 14,
        };
        let (receive_bell, transmit_bell) = structures.bells()?;
        let (buffers_address, buffers) = memory::<H>(PLACES * BUFFER_BYTES, BufferDirection::DeviceToDriver)?;
        let (heads_address, heads) = memory::<H>(FRAMES * HEAD_BYTES, BufferDirection::DriverToDevice)?;
        let mut card = VirtioNet {
            transport,
            structures,
            receive: SplitQueue::new::<H>()?,
            transmit: SplitQueue::new::<H>()?,
            receive_bell,
            transmit_bell,
            features,
            address: address.map_err(|_| Unusable::Lacks("address"))?,
            frame_bytes: (mtu + 14).clamp(FRAME_BYTES, FRAME_BYTES_MAX),
            buffers_address,
            buffers,
            heads_address,
            heads,
            free_heads: core::array::from_fn(|head| head as u16),
            free_count: FRAMES,
            outgoing: [None; FRAMES],
            up: false,
            interrupts: true,
            gone: 0,
            waiting: None,
            broken: false,
            refilled: false,
            counts: Counts::default(),
            platform: PhantomData,
        };
        card.begin()?;
        Ok(card)
    }

    /// Has a card that has agreed on its features send and receive.
    ///
    /// # Errors
    /// Its queues are too short.
    fn begin(&mut self) -> Result<(), Unusable> {
        let events = self.features.contains(Features::EVENT_INDEX);
        self.receive.begin(&mut self.transport, RECEIVE, events)?;
        self.transmit.begin(&mut self.transport, TRANSMIT, events)?;
        // What has been sent is taken back when the next frame goes.
        self.transmit.interrupt(false);
        self.receive.interrupt(self.interrupts);
        self.transport.finish_init();
        for buffer in 0..PLACES {
            let address = self.buffers_address + (buffer * BUFFER_BYTES) as u64;
            self.receive.describe(buffer, address, BUFFER_BYTES, Piece::INCOMING);
            self.offer(buffer as u16);
        }
        self.tell_refilled();
        self.up = self.reads_up();
        Ok(())
    }

    /// Resets the card and begins anew. What is on its way out is lost; no frame that has come may be in the driver's hands.
    ///
    /// # Errors
    /// The card does not end its reset, or has changed; nothing goes and nothing comes then.
    fn reset(&mut self) -> Result<(), Unusable> {
        self.counts.resets += 1;
        (self.waiting, self.broken) = (None, true);
        self.transport.set_status(DeviceStatus::empty());
        // Until it reads 0 the card may still use the queues (virtio 1.2, section 4.1.4.3.2).
        if !(0..RESET_LOOKS).any(|_| self.transport.get_status() == DeviceStatus::empty()) {
            return Err(Unusable::Lacks("end of its reset"));
        }
        self.features = negotiate(&mut self.transport)?;
        (self.receive_bell, self.transmit_bell) = self.structures.bells()?;
        (0..FRAMES).for_each(|head| self.forget(head));
        self.begin()?;
        self.broken = false;
        Ok(())
    }

    /// Whether the card must be reset: it says so, or has sent nothing for a while although it should.
    fn hangs(&mut self, now: u64) -> bool {
        if self.broken || self.transport.get_status().contains(DeviceStatus::DEVICE_NEEDS_RESET) {
            // Not at every look, in case that it does not help.
            return self.waiting.is_none_or(|(_, since)| now.saturating_sub(since) >= HUNG_US);
        }
        self.reclaim();
        if self.untaken() == 0 || !self.up {
            self.waiting = None;
            return false;
        }
        match self.waiting {
            Some((gone, since)) if gone == self.gone => {
                self.tell_of_frames();
                now.saturating_sub(since) >= HUNG_US
            }
            _ => {
                self.waiting = Some((self.gone, now));
                false
            }
        }
    }

    fn reads_up(&self) -> bool {
        if !self.features.contains(Features::STATUS) {
            return true;
        }
        let status = self.transport.read_config_space::<u16>(CARD_STATUS).unwrap_or(0);
        Status::from_bits_retain(status).contains(Status::LINK_UP)
    }

    /// Gives the card a buffer for a frame.
    fn offer(&mut self, buffer: u16) {
        self.receive.offer(usize::from(buffer));
        self.refilled = true;
    }

    fn tell_refilled(&mut self) {
        if core::mem::take(&mut self.refilled) && self.receive.must_tell() {
            ring(self.receive_bell, RECEIVE);
        }
    }

    /// Frames that the card has not been seen to take. At each power of two of them, it is told of them again although it asks for nothing: a card that
    /// has lost a notification would take no more.
    fn untaken(&self) -> usize {
        FRAMES - self.free_count
    }

    fn tell_of_frames(&mut self) {
        ring(self.transmit_bell, TRANSMIT);
        self.counts.doorbells += 1;
    }

    /// Takes back what has been sent.
    fn reclaim(&mut self) {
        while let Some(sent) = self.transmit.take() {
            self.forget(sent.place / 2);
            self.gone += 1;
        }
    }

    /// Takes back the head of a frame that is not on its way any more, if it was.
    fn forget(&mut self, head: usize) {
        let Some(sent) = self.outgoing.get_mut(head).and_then(Option::take) else { return };
        if let Some((address, body)) = sent.body {
            // SAFETY: shared when it was sent; the card is done with it.
            unsafe { H::unshare(address, body, BufferDirection::DriverToDevice) };
        }
        self.free_heads[self.free_count] = head as u16;
        self.free_count += 1;
    }

    fn head(&self, head: u16, bytes: usize) -> &'static mut [u8] {
        // SAFETY: there are so many heads, of so many bytes; the driver uses each for one frame at a time.
        unsafe {
            let start = self.heads.add(usize::from(head) * HEAD_BYTES);
            core::slice::from_raw_parts_mut(start.as_ptr(), bytes)
        }
    }
}

impl<H: Hal, T: Transport + Send> Nic for VirtioNet<H, T> {
    fn name(&self) -> &'static str {
        "virtio-net"
    }

    fn address(&self) -> [u8; 6] {
        self.address
    }

    fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    fn is_up(&self) -> bool {
        self.up
    }

    /// The card passes all frames, since no filter is asked for.
    fn listen(&mut self, _: [u8; 6]) {}

    unsafe fn send(&mut self, head: &[u8], middle: &[u8], body: Option<NonNull<[u8]>>) -> bool {
        if !self.up || self.broken {
            // As on a wire that is cut.
            self.counts.no_link += 1;
            return true;
        }
        self.reclaim();
        if self.free_count == 0 {
            self.counts.no_room += 1;
            return false;
        }
        self.free_count -= 1;
        let number = self.free_heads[self.free_count];
        let bytes = PREFIX + head.len() + middle.len();
        let whole = self.head(number, bytes);
        whole[PREFIX..PREFIX + head.len()].copy_from_slice(head);
        whole[PREFIX + head.len()..].copy_from_slice(middle);
        let body = body.filter(|body| !body.is_empty()).map(|body| {
            // SAFETY: memory that the card can be told of (this function's contract).
            (unsafe { H::share(body, BufferDirection::DriverToDevice) }, body)
        });
        let number = usize::from(number);
        let place = 2 * number;
        let piece = if body.is_some() { Piece::NEXT } else { Piece::empty() };
        self.transmit.describe(place, self.heads_address + (number * HEAD_BYTES) as u64, bytes, piece);
        if let Some((address, body)) = body {
            self.transmit.describe(place + 1, address, body.len(), Piece::empty());
        }
        self.outgoing[number] = Some(Outgoing { body });
        self.transmit.offer(place);
        // Not `||`: the queue notes up to which frame it has been asked.
        if self.transmit.must_tell() | self.untaken().is_power_of_two() {
            self.tell_of_frames();
        }
        self.counts.sent += 1;
        self.counts.copied += (head.len() + middle.len()) as u64;
        true
    }

    fn receive(&mut self) -> Option<Received> {
        if self.broken {
            return None;
        }
        while let Some(Used { place, bytes }) = self.receive.take() {
            if place >= PLACES {
                // A broken card's.
                self.counts.dropped += 1;
                continue;
            }
            self.counts.received += 1;
            // SAFETY: there are so many buffers, of so many bytes.
            let start = unsafe { self.buffers.add(place * BUFFER_BYTES + PREFIX) };
            let bytes = bytes.clamp(PREFIX, BUFFER_BYTES) - PREFIX;
            return Some(Received { buffer: place as u16, start, bytes });
        }
        self.tell_refilled();
        None
    }

    fn give_back(&mut self, frame: Received) {
        self.offer(frame.buffer);
    }

    fn interrupt(&mut self, on: bool) {
        self.interrupts = on;
        self.receive.interrupt(on);
    }

    fn look_after(&mut self, now: u64) {
        if self.hangs(now) {
            // A card that does not end its reset is tried again.
            let _ = self.reset();
            self.waiting = Some((self.gone, now));
        }
        let up = self.reads_up();
        if up != self.up {
            self.up = up;
            self.counts.link_changes += 1;
        }
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}
