//! Virtio's network card (virtio 1.2, section 5.1), modern, over PCI: one queue each way, frames up to 9014 bytes.

use core::ptr::NonNull;
use core::sync::atomic::{Ordering, fence};

use bitflags::bitflags;
use lwk_pci::{Configuration, Function, Identity, base_address, capability};
use virtio_drivers::queue::VirtQueue;
use virtio_drivers::transport::Transport;
use virtio_drivers::transport::pci::PciTransport;
use virtio_drivers::transport::pci::bus::{ConfigurationAccess, DeviceFunction, PciRoot};
use virtio_drivers::{BufferDirection, Hal};

use crate::{
    Counts, FRAME_BYTES, FRAME_BYTES_MAX, HEAD_BYTES_MAX, Nic, Received, Registers, Unusable, memory,
};

bitflags! {
    /// Features that the driver knows.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Features: u64 {
        const MTU = 1 << 3;
        const ADDRESS = 1 << 5;
        const STATUS = 1 << 16;
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
/// Places of each queue: what QEMU's card has. Several peers' windows of frames are received, and about a hundred frames are on their way out.
const PLACES: usize = 256;
/// Frames on their way out, at most: each takes two places.
const FRAMES: usize = PLACES / 2;
/// Virtio's own head before each frame: all zeros, since the driver uses nothing of it.
const PREFIX: usize = 12;
/// Bytes of a buffer for a frame that comes in. A page and a cache line's multiple.
const BUFFER_BYTES: usize = (PREFIX + FRAME_BYTES_MAX).next_multiple_of(64);
/// Bytes of a buffer for a frame's head that goes out.
const HEAD_BYTES: usize = PREFIX + HEAD_BYTES_MAX;
const _: () = assert!(HEAD_BYTES.is_multiple_of(64));

/// Offsets in the common structure (virtio 1.2, section 4.1.4.3).
const MESSAGE_OF_CHANGES: usize = 0x10;
const QUEUE_SELECT: usize = 0x16;
const QUEUE_MESSAGE: usize = 0x1a;
const QUEUE_NOTIFY: usize = 0x1e;
const NO_MESSAGE: u16 = 0xffff;
/// Offsets in the card's own.
const CARD_STATUS: usize = 6;
const CARD_MTU: usize = 10;

/// Words that a queue's notification is written to.
#[derive(Clone, Copy)]
struct Bell {
    registers: Registers,
    at: usize,
}

/// What is on its way out: its head's buffer, and what follows it.
#[derive(Clone, Copy)]
struct Outgoing {
    head: u16,
    head_bytes: u16,
    body: Option<NonNull<[u8]>>,
}

/// A card.
pub struct VirtioNet<H: Hal> {
    transport: PciTransport,
    receive: VirtQueue<H, PLACES>,
    transmit: VirtQueue<H, PLACES>,
    receive_bell: Bell,
    transmit_bell: Bell,
    features: Features,
    address: [u8; 6],
    frame_bytes: usize,
    /// Buffers of frames that come in, one after the other.
    buffers: NonNull<u8>,
    heads: NonNull<u8>,
    free_heads: [u16; FRAMES],
    free_count: usize,
    /// By the first of their places in the queue.
    outgoing: [Option<Outgoing>; PLACES],
    /// Buffers by their place in the queue.
    incoming: [u16; PLACES],
    up: bool,
    /// Buffers have gone back to the card that it has not been told of.
    refilled: bool,
    counts: Counts,
}

// SAFETY: pointers to memory of the driver's own, and to memory that it only tells the card of.
unsafe impl<H: Hal> Send for VirtioNet<H> {}

/// The configuration space as the crate of virtio sees it.
struct Access<C>(core::cell::RefCell<C>);

impl<C: Configuration> ConfigurationAccess for Access<&mut C> {
    fn read_word(&self, function: DeviceFunction, offset: u8) -> u32 {
        self.0.borrow().read(function_of(function), offset)
    }

    fn write_word(&mut self, function: DeviceFunction, offset: u8, data: u32) {
        self.0.borrow_mut().write(function_of(function), offset, data);
    }

    unsafe fn unsafe_clone(&self) -> Self {
        unreachable!("only listing a bus clones it, which this crate does itself")
    }
}

fn function_of(function: DeviceFunction) -> Function {
    Function { bus: function.bus, device: function.device, function: function.function }
}

impl<H: Hal> VirtioNet<H> {
    /// Starts a card that has been switched on. It interrupts by its message 0 if it has `messages`.
    ///
    /// # Errors
    /// It is no such card, lacks something, or there is no memory.
    pub fn start(
        configuration: &mut impl Configuration,
        function: Function,
        messages: bool,
    ) -> Result<Self, Unusable> {
        let common = structure::<H>(configuration, function, 1)?.0;
        let (notification, step) = structure::<H>(configuration, function, 2)?;
        let mut root = PciRoot::new(Access(core::cell::RefCell::new(configuration)));
        let place =
            DeviceFunction { bus: function.bus, device: function.device, function: function.function };
        let transport = PciTransport::new::<H, _>(&mut root, place);
        let mut transport = transport.map_err(|_| Unusable::Lacks("modern interface of virtio"))?;
        let wanted = Features::MTU | Features::ADDRESS | Features::STATUS | Features::VERSION_1;
        let features = transport.begin_init(wanted);
        let lacks = [(Features::VERSION_1, "modern interface of virtio"), (Features::ADDRESS, "address")];
        if let Some((_, what)) = lacks.iter().find(|(feature, _)| !features.contains(*feature)) {
            return Err(Unusable::Lacks(what));
        }
        let address = transport.read_consistent(|| transport.read_config_space::<[u8; 6]>(0));
        let mtu = match features.contains(Features::MTU) {
            true => transport.read_config_space::<u16>(CARD_MTU).map_or(FRAME_BYTES - 14, usize::from),
            false => FRAME_BYTES - 14,
        };
        let queue = |transport: &mut PciTransport, number| {
            VirtQueue::new(transport, number, false, false)
                .map_err(|_| Unusable::Lacks("queues of 256 places"))
        };
        let receive = queue(&mut transport, RECEIVE)?;
        let mut transmit: VirtQueue<H, PLACES> = queue(&mut transport, TRANSMIT)?;
        // What has been sent is taken back when the next frame goes.
        transmit.set_dev_notify(false);
        let message = if messages { 0 } else { NO_MESSAGE };
        common.half(MESSAGE_OF_CHANGES).write(message);
        if common.half(MESSAGE_OF_CHANGES).read() != message {
            return Err(Unusable::Lacks("message interrupts"));
        }
        let bell = |queue: u16, message: u16| {
            common.half(QUEUE_SELECT).write(queue);
            common.half(QUEUE_MESSAGE).write(message);
            let at = usize::from(common.half(QUEUE_NOTIFY).read()) * step;
            (at + 2 <= notification.bytes() && common.half(QUEUE_MESSAGE).read() == message)
                .then_some(Bell { registers: notification, at })
                .ok_or(Unusable::Lacks("message interrupts or notifications"))
        };
        let receive_bell = bell(RECEIVE, message)?;
        let transmit_bell = bell(TRANSMIT, NO_MESSAGE)?;
        transport.finish_init();
        let mut card = VirtioNet {
            transport,
            receive,
            transmit,
            receive_bell,
            transmit_bell,
            features,
            address: address.map_err(|_| Unusable::Lacks("address"))?,
            frame_bytes: (mtu + 14).clamp(FRAME_BYTES, FRAME_BYTES_MAX),
            buffers: memory::<H>(PLACES * BUFFER_BYTES, BufferDirection::DeviceToDriver)?.1,
            heads: memory::<H>(FRAMES * HEAD_BYTES, BufferDirection::DriverToDevice)?.1,
            free_heads: core::array::from_fn(|head| head as u16),
            free_count: FRAMES,
            outgoing: [None; PLACES],
            incoming: [0; PLACES],
            up: false,
            refilled: false,
            counts: Counts::default(),
        };
        for buffer in 0..PLACES as u16 {
            card.offer(buffer);
        }
        card.tell_refilled();
        card.up = card.reads_up();
        Ok(card)
    }

    fn reads_up(&self) -> bool {
        if !self.features.contains(Features::STATUS) {
            return true;
        }
        let status = self.transport.read_config_space::<u16>(CARD_STATUS).unwrap_or(0);
        Status::from_bits_retain(status).contains(Status::LINK_UP)
    }

    fn buffer(&self, buffer: u16) -> NonNull<u8> {
        // SAFETY: there are so many buffers.
        unsafe { self.buffers.add(usize::from(buffer) * BUFFER_BYTES) }
    }

    /// Gives the card a buffer for a frame.
    fn offer(&mut self, buffer: u16) {
        let start = self.buffer(buffer).as_ptr();
        // SAFETY: a buffer of the driver's, in which the card has no part now, and nobody else.
        let bytes = unsafe { core::slice::from_raw_parts_mut(start, BUFFER_BYTES) };
        // SAFETY: nobody looks at it before the card has given it back.
        let place = unsafe { self.receive.add(&[], &mut [bytes]) };
        let place = place.expect("each buffer has its place in the queue");
        self.incoming[usize::from(place)] = buffer;
        self.refilled = true;
    }

    fn tell_refilled(&mut self) {
        if !core::mem::take(&mut self.refilled) {
            return;
        }
        // SeqCst: the card sees the buffers, or the driver sees that it wants to be told.
        fence(Ordering::SeqCst);
        if self.receive.should_notify() {
            ring(self.receive_bell, RECEIVE);
        }
    }

    /// Takes back what has been sent.
    fn reclaim(&mut self) {
        while let Some(place) = self.transmit.peek_used() {
            let sent = self.outgoing.get_mut(usize::from(place)).and_then(Option::take);
            let sent = sent.expect("the card gives back what it was given");
            let head = self.head(sent.head, sent.head_bytes.into());
            // SAFETY: the same pieces as were given.
            let taken = unsafe {
                match sent.body {
                    Some(body) => self.transmit.pop_used(place, &[head, body.as_ref()], &mut []),
                    None => self.transmit.pop_used(place, &[head], &mut []),
                }
            };
            taken.expect("the place is that of the next");
            self.free_heads[self.free_count] = sent.head;
            self.free_count += 1;
        }
    }

    fn head(&self, head: u16, bytes: usize) -> &'static mut [u8] {
        // SAFETY: there are so many heads, of so many bytes; the driver uses each for one frame at a time.
        unsafe {
            let start = self.heads.add(usize::from(head) * HEAD_BYTES);
            core::slice::from_raw_parts_mut(start.as_ptr(), bytes)
        }
    }
}

/// One of virtio's structures, and the step of its notifications.
fn structure<H: Hal>(
    configuration: &mut impl Configuration,
    function: Function,
    kind: u8,
) -> Result<(Registers, usize), Unusable> {
    let lacks = Unusable::Lacks("modern interface of virtio");
    let found = capability::all(configuration, function)
        .filter_map(|found| capability::vendor_structure(configuration, function, found))
        .find(|found| found.kind == kind)
        .ok_or(lacks)?;
    let base = base_address::memory(configuration, function, found.base).ok_or(lacks)?;
    let (offset, bytes) = (u64::from(found.offset), u64::from(found.bytes));
    if offset + bytes > base.bytes || !offset.is_multiple_of(8) {
        return Err(lacks);
    }
    // SAFETY: device memory where the firmware has put it; the common structure has a second user in the transport, at times of its own.
    let registers = unsafe {
        let start = H::mmio_phys_to_virt(base.address + offset, bytes as usize);
        Registers::new(start, bytes as usize)
    };
    Ok((registers, found.step as usize))
}

fn ring(bell: Bell, queue: u16) {
    bell.registers.half(bell.at).write(queue);
}

impl<H: Hal> Nic for VirtioNet<H> {
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
        if !self.up {
            // As on a wire that is cut.
            self.counts.no_link += 1;
            return true;
        }
        self.reclaim();
        if self.free_count == 0 || self.transmit.available_desc() < 2 {
            self.counts.no_room += 1;
            return false;
        }
        self.free_count -= 1;
        let number = self.free_heads[self.free_count];
        let bytes = PREFIX + head.len() + middle.len();
        let whole = self.head(number, bytes);
        whole[PREFIX..PREFIX + head.len()].copy_from_slice(head);
        whole[PREFIX + head.len()..].copy_from_slice(middle);
        let body = body.filter(|body| !body.is_empty());
        // SAFETY: the head is not touched before it is taken back. The body is only told of: neither this driver nor the queue reads it.
        let place = unsafe {
            match body {
                Some(body) => self.transmit.add(&[whole, body.as_ref()], &mut []),
                None => self.transmit.add(&[whole], &mut []),
            }
        };
        let place = place.expect("room was looked for");
        self.outgoing[usize::from(place)] = Some(Outgoing { head: number, head_bytes: bytes as u16, body });
        // SeqCst: the card sees the frame, or the driver sees that it wants to be told.
        fence(Ordering::SeqCst);
        if self.transmit.should_notify() {
            ring(self.transmit_bell, TRANSMIT);
        }
        self.counts.sent += 1;
        self.counts.copied += (head.len() + middle.len()) as u64;
        true
    }

    fn receive(&mut self) -> Option<Received> {
        let Some(place) = self.receive.peek_used() else {
            self.tell_refilled();
            return None;
        };
        let buffer = *self.incoming.get(usize::from(place))?;
        let start = self.buffer(buffer);
        // SAFETY: the buffer that was given for this place; the card is done with it.
        let length = unsafe {
            let bytes = core::slice::from_raw_parts_mut(start.as_ptr(), BUFFER_BYTES);
            self.receive.pop_used(place, &[], &mut [bytes])
        };
        let length = length.expect("the place is that of the next") as usize;
        self.counts.received += 1;
        // SAFETY: within the buffer.
        let start = unsafe { start.add(PREFIX) };
        Some(Received { buffer, start, bytes: length.clamp(PREFIX, BUFFER_BYTES) - PREFIX })
    }

    fn give_back(&mut self, frame: Received) {
        self.offer(frame.buffer);
    }

    fn interrupt(&mut self, on: bool) {
        self.receive.set_dev_notify(on);
    }

    fn look_after(&mut self, _: u64) {
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
