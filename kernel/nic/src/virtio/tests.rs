//! The driver on a card made of memory, which works through the queues when it is told to (virtio 1.2, section 2.7).

mod interrupts;

use std::alloc::{Layout, alloc_zeroed};
use std::boxed::Box;
use std::sync::{Arc, Mutex, MutexGuard};
use std::vec::Vec;

use virtio_drivers::PhysAddr;
use virtio_drivers::transport::{DeviceType, InterruptStatus};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::*;
use crate::{Platform, Registers};

/// Memory whose address for the card is that for the driver.
struct Host;

// SAFETY: fresh memory for each call, zeroed and of whole pages, which stays for ever.
unsafe impl Platform for Host {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        let layout = Layout::from_size_align(pages * 4096, 4096).unwrap();
        // SAFETY: a layout of some bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
        (start.as_ptr().expose_provenance() as u64, start)
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        0
    }

    unsafe fn mmio_phys_to_virt(_: PhysAddr, _: usize) -> NonNull<u8> {
        unreachable!("the tests have the registers")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        buffer.cast::<u8>().as_ptr().expose_provenance() as u64
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}

const OWN: [u8; 6] = [2, 1, 2, 3, 4, 5];
/// Flags of a descriptor.
const NEXT: u16 = 1;

/// A queue as the card sees it: descriptors, what the driver offers, what the card gives back; how far it has come.
#[derive(Clone, Copy, Default)]
struct Queue {
    areas: [u64; 3],
    done: u16,
}

#[derive(Default)]
struct Card {
    status: u32,
    queues: [Queue; 2],
    /// It does nothing, or stays in its reset.
    hung: bool,
    stuck: bool,
    resets: u32,
    sent: Vec<Vec<u8>>,
    /// It has no event indices.
    plain: bool,
    interrupts: u64,
}

/// A half word of memory that both sides know.
fn half(address: u64) -> *mut u16 {
    core::ptr::with_exposed_provenance_mut(address as usize)
}

impl Card {
    /// The next chain of a queue that the driver offers: its first descriptor, and its pieces.
    fn next(&self, queue: usize) -> Option<(u16, Vec<(u64, u32)>)> {
        let Queue { areas: [descriptors, driver, _], done } = self.queues[queue];
        // SAFETY: areas that the driver has named, as the card is to read them; one thread has both sides.
        unsafe {
            if driver == 0 || half(driver + 2).read_volatile() == done {
                return None;
            }
            let first = half(driver + 4 + 2 * u64::from(done % PLACES as u16)).read_volatile();
            let (mut pieces, mut at) = (Vec::new(), first);
            loop {
                let place = descriptors + 16 * u64::from(at);
                let address: *const u64 = core::ptr::with_exposed_provenance(place as usize);
                let (start, length) = (address.read_volatile(), address.add(1).cast::<u32>().read_volatile());
                pieces.push((start, length));
                if half(place + 12).read_volatile() & NEXT == 0 {
                    return Some((first, pieces));
                }
                at = half(place + 14).read_volatile();
            }
        }
    }

    /// Gives a chain back with so many bytes written to it.
    fn give_back(&mut self, queue: usize, first: u16, bytes: u32) {
        let Queue { areas: [_, _, device], done } = &mut self.queues[queue];
        let entry = *device + 4 + 8 * u64::from(*done % PLACES as u16);
        *done = done.wrapping_add(1);
        let words: *mut u32 = core::ptr::with_exposed_provenance_mut(entry as usize);
        // SAFETY: as above.
        unsafe {
            words.write_volatile(first.into());
            words.add(1).write_volatile(bytes);
            half(*device + 2).write_volatile(*done);
        }
        if queue == 0 && self.must_interrupt() {
            self.interrupts += 1;
        }
    }

    /// Whether the driver is to be told of the frame that it has just been given (sections 2.7.7 and 2.7.10).
    fn must_interrupt(&self) -> bool {
        let Queue { areas: [_, driver, _], done } = self.queues[0];
        // SAFETY: as above.
        let (flags, event) =
            unsafe { (half(driver).read_volatile(), half(driver + 4 + 2 * PLACES as u64).read_volatile()) };
        if self.plain { flags & 1 == 0 } else { event.wrapping_add(1) == done }
    }

    /// Has the driver tell of the next frame that is to be sent.
    fn wait_for_frames(&self) {
        let Queue { areas: [_, _, device], done } = self.queues[1];
        // SAFETY: as above.
        unsafe { half(device + 4 + 8 * PLACES as u64).write_volatile(done) };
    }

    /// Sends what there is to be sent, unless it hangs.
    fn work(&mut self) {
        while !self.hung
            && let Some((first, pieces)) = self.next(1)
        {
            let mut frame = Vec::new();
            for (start, length) in pieces {
                let start: *const u8 = core::ptr::with_exposed_provenance(start as usize);
                // SAFETY: as above.
                frame.extend_from_slice(unsafe { core::slice::from_raw_parts(start, length as usize) });
            }
            self.sent.push(frame.split_off(PREFIX));
            self.give_back(1, first, 0);
        }
        self.wait_for_frames();
    }

    /// Has a frame come in.
    fn arrive(&mut self, frame: &[u8]) {
        let (first, pieces) = self.next(0).expect("the driver has given buffers");
        let start: *mut u8 = core::ptr::with_exposed_provenance_mut(pieces[0].0 as usize);
        // SAFETY: as above; the buffer is longer.
        unsafe { start.add(PREFIX).copy_from_nonoverlapping(frame.as_ptr(), frame.len()) };
        self.give_back(0, first, (PREFIX + frame.len()) as u32);
    }
}

#[derive(Clone)]
struct Wire(Arc<Mutex<Card>>);

impl Wire {
    fn card(&self) -> MutexGuard<'_, Card> {
        self.0.lock().unwrap()
    }
}

impl Transport for Wire {
    fn device_type(&self) -> DeviceType {
        DeviceType::Network
    }

    fn read_device_features(&mut self) -> u64 {
        let without = if self.card().plain { Features::EVENT_INDEX } else { Features::empty() };
        (Features::all() - without).bits()
    }

    fn write_driver_features(&mut self, _: u64) {}

    fn max_queue_size(&mut self, _: u16) -> u32 {
        PLACES as u32
    }

    fn notify(&mut self, _: u16) {}

    fn get_status(&self) -> DeviceStatus {
        DeviceStatus::from_bits_retain(self.card().status)
    }

    fn set_status(&mut self, status: DeviceStatus) {
        let mut card = self.card();
        if status == DeviceStatus::empty() {
            card.resets += 1;
            if card.stuck {
                return;
            }
            (card.queues, card.hung) = ([Queue::default(); 2], false);
        }
        card.status = status.bits();
    }

    fn set_guest_page_size(&mut self, _: u32) {}

    fn requires_legacy_layout(&self) -> bool {
        false
    }

    fn queue_set(&mut self, queue: u16, _: u32, descriptors: u64, driver: u64, device: u64) {
        self.card().queues[usize::from(queue)] = Queue { areas: [descriptors, driver, device], done: 0 };
    }

    fn queue_unset(&mut self, _: u16) {}

    fn queue_used(&mut self, queue: u16) -> bool {
        self.card().queues[usize::from(queue)].areas[0] != 0
    }

    fn ack_interrupt(&mut self) -> InterruptStatus {
        InterruptStatus::empty()
    }

    fn read_config_generation(&self) -> u32 {
        0
    }

    fn read_config_space<V: FromBytes + IntoBytes>(&self, offset: usize) -> virtio_drivers::Result<V> {
        let mut space = [0; 12];
        space[..6].copy_from_slice(&OWN);
        space[CARD_STATUS] = 1;
        space[CARD_MTU..].copy_from_slice(&9000u16.to_le_bytes());
        Ok(V::read_from_bytes(&space[offset..offset + size_of::<V>()]).expect("within the space"))
    }

    fn write_config_space<V: IntoBytes + Immutable>(&mut self, _: usize, _: V) -> virtio_drivers::Result<()> {
        Ok(())
    }
}

struct Bench {
    driver: VirtioNet<Host, Wire>,
    wire: Wire,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(Card::default())
    }

    fn with(card: Card) -> Bench {
        let wire = Wire(Arc::new(Mutex::new(card)));
        let registers = || {
            let memory: &'static mut [u64] = Box::leak(std::vec![0u64; 8].into_boxed_slice());
            // SAFETY: so many bytes, which stay for ever and are nobody else's.
            unsafe { Registers::new(NonNull::from(memory).cast(), 64) }
        };
        let structures = Structures { common: registers(), notification: registers(), step: 4, message: 0 };
        let driver = VirtioNet::on(wire.clone(), structures).unwrap();
        Bench { driver, wire }
    }

    fn send(&mut self, head: &[u8], body: &'static [u8]) -> bool {
        // SAFETY: a body that stays for ever.
        unsafe { self.driver.send(head, &[], Some(NonNull::from(body))) }
    }

    /// What has been sent since it was asked last.
    fn sent(&mut self) -> Vec<Vec<u8>> {
        let mut card = self.wire.card();
        card.work();
        core::mem::take(&mut card.sent)
    }

    fn receive(&mut self, frame: &[u8]) {
        self.wire.card().arrive(frame);
        let received = self.driver.receive().expect("a frame has come");
        assert_eq!(received.bytes(), frame);
        self.driver.give_back(received);
        assert!(self.driver.receive().is_none());
    }
}

#[test]
fn frames_go_and_come() {
    let mut bench = Bench::new();
    for round in 0..1_000u32 {
        assert!(bench.send(&round.to_le_bytes(), b"body"));
        assert_eq!(bench.sent(), [[&round.to_le_bytes()[..], b"body"].concat()]);
        bench.receive(&[round as u8; 100]);
        bench.driver.look_after(u64::from(round) * 10_000);
    }
    assert_eq!(bench.driver.counts().resets, 0);
}

#[test]
fn a_card_that_sends_no_more_is_reset() {
    let mut bench = Bench::new();
    bench.driver.interrupt(false);
    bench.wire.card().hung = true;
    let mut sent = 0;
    while bench.send(b"lost", b"with it") {
        sent += 1;
    }
    assert_eq!((sent, bench.driver.counts().no_room), (FRAMES, 1));
    bench.driver.look_after(5_000_000);
    bench.driver.look_after(5_000_000 + HUNG_US - 1);
    assert_eq!(bench.driver.counts().resets, 0, "not before its time");
    bench.driver.look_after(5_000_000 + HUNG_US);
    assert_eq!(bench.driver.counts().resets, 1);
    // All places are free again, and nothing of what was lost goes.
    for round in 0..3 * PLACES as u32 {
        assert!(bench.send(&round.to_le_bytes(), b""));
        assert_eq!(bench.sent(), [round.to_le_bytes().to_vec()]);
        bench.receive(&round.to_le_bytes());
    }
    bench.driver.look_after(20_000_000);
    assert_eq!(bench.driver.counts().resets, 1);
    // The driver's word on interrupts has outlived the reset: none has told of these frames.
    assert_eq!(bench.wire.card().interrupts, 0);
}

#[test]
fn a_card_that_is_slow_is_not_reset() {
    let mut bench = Bench::new();
    for second in 0..10 {
        // One goes before the next comes, and there is always one on its way.
        assert!(bench.send(b"slow", b""));
        bench.driver.look_after(second * HUNG_US);
        assert_eq!(bench.sent().len(), 1);
    }
    assert_eq!(bench.driver.counts().resets, 0);
}

#[test]
fn a_card_that_asks_for_it_is_reset() {
    let mut bench = Bench::new();
    bench.wire.card().status |= DeviceStatus::DEVICE_NEEDS_RESET.bits();
    bench.wire.card().hung = true;
    bench.driver.look_after(7);
    assert_eq!(bench.driver.counts().resets, 1);
    assert!(bench.send(b"here", b"again"));
    assert_eq!(bench.sent(), [b"hereagain"]);
}

#[test]
fn a_reset_that_does_not_end_is_tried_again() {
    let mut bench = Bench::new();
    bench.wire.card().hung = true;
    bench.wire.card().stuck = true;
    assert!(bench.send(b"lost", b""));
    bench.driver.look_after(0);
    bench.driver.look_after(HUNG_US);
    assert!(bench.send(b"lost", b"") && bench.driver.receive().is_none());
    assert_eq!((bench.driver.counts().resets, bench.driver.counts().no_link), (1, 1));
    bench.wire.card().stuck = false;
    bench.driver.look_after(HUNG_US + 1);
    assert_eq!(bench.driver.counts().resets, 1, "not at every look");
    bench.driver.look_after(2 * HUNG_US);
    assert_eq!(bench.driver.counts().resets, 2);
    assert!(bench.send(b"here", b"again"));
    assert_eq!(bench.sent(), [b"hereagain"]);
}
