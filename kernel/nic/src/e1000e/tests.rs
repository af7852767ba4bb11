//! The driver on a card made of memory and a thread, which works through the queues as the datasheet says.

mod interrupts;

use std::alloc::{Layout, alloc_zeroed};
use std::boxed::Box;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::vec::Vec;

use super::descriptors::{Incoming, Outgoing, after};
use super::registers::Queue;
use super::transmit::FRAMES;
use virtio_drivers::BufferDirection;

use super::*;

/// Memory whose address for the card is that for the driver.
struct Host;

// SAFETY: fresh memory for each call, zeroed and of whole pages, which stays for ever.
unsafe impl Hal for Host {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (u64, NonNull<u8>) {
        let layout = Layout::from_size_align(pages * 4096, 4096).unwrap();
        // SAFETY: a layout of some bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
        (start.as_ptr().expose_provenance() as u64, start)
    }

    unsafe fn dma_dealloc(_: u64, _: NonNull<u8>, _: usize) -> i32 {
        0
    }

    unsafe fn mmio_phys_to_virt(_: u64, _: usize) -> NonNull<u8> {
        unreachable!("the tests have the registers")
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> u64 {
        buffer.cast::<u8>().as_ptr().expose_provenance() as u64
    }

    unsafe fn unshare(_: u64, _: NonNull<[u8]>, _: BufferDirection) {}
}

const OWN: [u8; 6] = [2, 1, 2, 3, 4, 5];

/// The card's side.
struct Card {
    registers: &'static [AtomicU32],
    switches: Arc<Switches>,
    sent: Sender<Vec<u8>>,
    arriving: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    waiting: Option<Vec<u8>>,
}

struct Switches {
    over: AtomicBool,
    hung: AtomicBool,
    up: AtomicBool,
}

impl Card {
    // SeqCst throughout: a device sees one order of all accesses.
    fn get(&self, register: usize) -> u32 {
        self.registers[register / 4].load(Ordering::SeqCst)
    }

    fn set(&self, register: usize, value: u32) {
        self.registers[register / 4].store(value, Ordering::SeqCst);
    }

    fn run(mut self) {
        while !self.switches.over.load(Ordering::SeqCst) {
            if self.get(registers::CONTROL) & Control::RESET.bits() != 0 {
                self.reset();
            }
            let up = if self.switches.up.load(Ordering::SeqCst) { Status::LINK_UP.bits() } else { 0 };
            self.set(registers::STATUS, up);
            let hung = self.switches.hung.load(Ordering::SeqCst);
            // Some of each in turn.
            let _ = (0..64).all(|_| !hung && self.transmit());
            let _ = (0..64).all(|_| self.receive());
            std::thread::yield_now();
        }
    }

    fn reset(&mut self) {
        for register in (8..registers::BYTES).step_by(4) {
            self.set(register, 0);
        }
        self.piece.clear();
        self.set(registers::ADDRESS_LOW, u32::from_le_bytes([OWN[0], OWN[1], OWN[2], OWN[3]]));
        self.set(registers::ADDRESS_HIGH, u32::from_le_bytes([OWN[4], OWN[5], 0, 0]));
        self.set(registers::CONTROL, 0);
    }

    /// The next descriptor of a queue, as two words in memory that the driver has named.
    fn descriptor(&self, queue: Queue) -> *mut u64 {
        let base = u64::from(self.get(queue.base_high())) << 32 | u64::from(self.get(queue.base_low()));
        let start: *mut u64 = std::ptr::with_exposed_provenance_mut(base as usize);
        start.wrapping_add(2 * self.get(queue.head()) as usize)
    }

    fn transmit(&mut self) -> bool {
        let (queue, on) = (registers::TRANSMIT, TransmitControl::ON.bits());
        if self.get(registers::TRANSMIT_CONTROL) & on == 0 || self.get(queue.head()) == self.get(queue.tail())
        {
            return false;
        }
        let words = self.descriptor(queue);
        // SAFETY: a descriptor that the driver has handed over, and the bytes that it names.
        let about = unsafe {
            let (address, about) = (words.read_volatile(), words.add(1).read_volatile());
            let bytes: *const u8 = std::ptr::with_exposed_provenance(address as usize);
            let bytes = std::slice::from_raw_parts(bytes, (about & 0xffff) as usize);
            self.piece.extend_from_slice(bytes);
            Outgoing::from_bits_retain(about)
        };
        if about.contains(Outgoing::END_OF_FRAME) {
            assert!(about.contains(Outgoing::REPORT | Outgoing::INSERT_CHECKSUM));
            // The test may be over.
            let _ = self.sent.send(std::mem::take(&mut self.piece));
            // SAFETY: as above.
            unsafe { words.add(1).write_volatile((about | Outgoing::DONE).bits()) };
        }
        self.set(queue.head(), after(self.get(queue.head()) as usize) as u32);
        true
    }

    fn receive(&mut self) -> bool {
        let (queue, control) = (registers::RECEIVE, self.get(registers::RECEIVE_CONTROL));
        if control & ReceiveControl::ON.bits() == 0 {
            return false;
        }
        if self.waiting.is_none() {
            match self.arriving.try_recv() {
                Ok(frame) => self.waiting = Some(frame),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return false,
            }
        }
        if self.get(queue.head()) == self.get(queue.tail()) {
            return false;
        }
        let mut frame = self.waiting.take().unwrap();
        let room = (control >> 27 & 15) as usize * 1024;
        let rest = frame.split_off(room.min(frame.len()));
        let words = self.descriptor(queue);
        let end = if rest.is_empty() { Incoming::END_OF_FRAME } else { Incoming::empty() };
        // SAFETY: a descriptor that the driver has handed over, with a buffer of the size that it has set.
        unsafe {
            let buffer: *mut u8 = std::ptr::with_exposed_provenance_mut(words.read_volatile() as usize);
            buffer.copy_from_nonoverlapping(frame.as_ptr(), frame.len());
            words.add(1).write_volatile(frame.len() as u64 | (Incoming::DONE | end).bits());
        }
        self.set(queue.head(), after(self.get(queue.head()) as usize) as u32);
        self.waiting = (!rest.is_empty()).then_some(rest);
        true
    }
}

struct Bench {
    driver: E1000e<Host>,
    switches: Arc<Switches>,
    sent: Receiver<Vec<u8>>,
    arriving: Sender<Vec<u8>>,
    card: Option<JoinHandle<()>>,
}

impl Bench {
    fn new() -> Bench {
        let words = registers::BYTES.next_multiple_of(8) / 4;
        let memory: &'static [AtomicU32] =
            Box::leak((0..words).map(|_| AtomicU32::new(0)).collect::<Vec<_>>().into_boxed_slice());
        let switches = Switches {
            over: AtomicBool::new(false),
            hung: AtomicBool::new(false),
            up: AtomicBool::new(true),
        };
        let switches = Arc::new(switches);
        let ((say_sent, sent), (arriving, hear)) = (channel(), channel());
        let card = Card {
            registers: memory,
            switches: switches.clone(),
            sent: say_sent,
            arriving: hear,
            piece: Vec::new(),
            waiting: None,
        };
        let card = std::thread::spawn(|| card.run());
        let start = NonNull::from(&memory[0]).cast();
        // SAFETY: so many words, which stay for ever; atomics on one side and volatile accesses on the other stand for the bus.
        let registers = unsafe { Registers::new(start, registers::BYTES) };
        let driver = E1000e::on(registers, Model::Card82574).unwrap();
        Bench { driver, switches, sent, arriving, card: Some(card) }
    }

    fn send(&mut self, head: &[u8], body: &'static [u8]) -> bool {
        let body = NonNull::from(body);
        // SAFETY: a static.
        unsafe { self.driver.send(head, &[], Some(body)) }
    }

    /// The next frame that comes, waited for.
    fn take(&mut self) -> Vec<u8> {
        let frame = within(|| self.driver.receive());
        let bytes = frame.bytes().to_vec();
        self.driver.give_back(frame);
        bytes
    }

    /// Waits until the card has seen a switch and the driver its link.
    fn look_until_up(&mut self, up: bool) {
        within(|| {
            self.driver.look_after(0);
            (self.driver.is_up() == up).then_some(())
        });
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.switches.over.store(true, Ordering::SeqCst);
        let ended = self.card.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_some_and(|ended| ended.is_ok()), "the card panicked");
    }
}

fn within<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = what() {
            return value;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the card does not answer");
        std::thread::yield_now();
    }
}

static BODY: [u8; 8_300] = {
    let mut bytes = [0; 8_300];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = (at * 7 + at / 256) as u8;
        at += 1;
    }
    bytes
};

#[test]
fn frames_go_and_come_in_order_many_times_round_the_queues() {
    let mut it = Bench::new();
    assert_eq!((it.driver.address(), it.driver.frame_bytes()), (OWN, 9014));
    let mut came = 0u32;
    for number in 0..3_000u32 {
        let length = number as usize * 37 % BODY.len();
        let head = [&number.to_le_bytes()[..], &[7; 60]].concat();
        within(|| it.send(&head, &BODY[..length]).then_some(()));
        it.arriving.send([&head[..], &BODY[..length]].concat()).unwrap();
        if number % 100 == 99 {
            // More than the card has buffers for is on its way now and then.
            while came <= number {
                let length = came as usize * 37 % BODY.len();
                let expected = [&came.to_le_bytes()[..], &[7; 60], &BODY[..length]].concat();
                assert_eq!(it.take(), expected);
                assert_eq!(it.sent.recv().unwrap(), expected);
                came += 1;
            }
        }
    }
    let counts = *it.driver.counts();
    assert_eq!((counts.sent, counts.received, counts.copied), (3_000, 3_000, 3_000 * 64));
}

#[test]
fn a_frame_longer_than_a_buffer_is_dropped_whole() {
    let mut it = Bench::new();
    for length in [9_217, 16_000, 9_216 * 2 + 1] {
        it.arriving.send(std::vec![1; length]).unwrap();
        it.arriving.send(std::vec![2; 60]).unwrap();
        assert_eq!(it.take(), [2; 60]);
    }
    assert_eq!((it.driver.counts().dropped, it.driver.counts().received), (3, 3));
}

#[test]
fn a_card_that_sends_no_more_is_reset_and_goes_on() {
    let mut it = Bench::new();
    it.driver.listen([2, 9, 9, 9, 9, 9]);
    it.arriving.send(std::vec![3; 100]).unwrap();
    assert_eq!(it.take(), [3; 100]);
    it.switches.hung.store(true, Ordering::SeqCst);
    let mut frames = 0;
    while it.send(&[4; 64], &BODY) {
        frames += 1;
    }
    assert_eq!((frames, it.driver.counts().no_room), (FRAMES, 1));
    it.driver.look_after(5);
    it.driver.look_after(5 + HUNG_US - 1);
    assert_eq!(it.driver.counts().resets, 0, "not yet");
    it.driver.look_after(5 + HUNG_US);
    assert_eq!(it.driver.counts().resets, 1);
    assert_eq!(it.driver.own_address(), [2, 9, 9, 9, 9, 9], "it listens as before");
    it.switches.hung.store(false, Ordering::SeqCst);
    it.look_until_up(true);
    for number in 0..1_000u32 {
        it.arriving.send(number.to_le_bytes().repeat(30)).unwrap();
        assert_eq!(it.take(), number.to_le_bytes().repeat(30));
        assert!(it.send(&number.to_le_bytes(), &BODY));
        assert_eq!(it.sent.recv().unwrap()[..4], number.to_le_bytes());
    }
    it.driver.look_after(9 * HUNG_US);
    assert_eq!(it.driver.counts().resets, 1);
}

#[test]
fn what_is_sent_while_the_link_is_down_is_lost_and_hangs_nothing() {
    let mut it = Bench::new();
    it.switches.up.store(false, Ordering::SeqCst);
    it.look_until_up(false);
    for _ in 0..1_000 {
        assert!(it.send(&[5; 64], &BODY));
    }
    it.driver.look_after(HUNG_US);
    it.driver.look_after(9 * HUNG_US);
    assert_eq!((it.driver.counts().resets, it.driver.counts().no_link), (0, 1_000));
    it.switches.up.store(true, Ordering::SeqCst);
    it.look_until_up(true);
    assert!(it.send(&[6; 64], &BODY));
    assert_eq!(it.sent.recv().unwrap()[..64], [6; 64]);
    assert_eq!(it.driver.counts().link_changes, 2);
}
