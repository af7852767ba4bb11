//! Intel's e1000e family: the 82574L card, and the Ethernet part of chipsets (I217, I218, I219). One queue each way.

mod descriptors;
mod models;
mod receive;
mod registers;
#[cfg(test)]
mod tests;
mod transmit;

use core::ptr::NonNull;

use lwk_pci::{Configuration, Function, base_address, identity};
use virtio_drivers::Hal;

use crate::{Counts, FRAME_BYTES, FRAME_BYTES_MAX, Nic, Received, Registers, Unusable};
use models::Model;
pub(crate) use models::of as model_of;
use receive::ReceiveQueue;
use registers::{AddressHigh, Causes, Control, ExtendedControl, ReceiveControl, Status, TransmitControl};
use transmit::TransmitQueue;

/// KiB of a buffer for jumbo frames, and bytes of one without.
const LONG_KIB: u32 = FRAME_BYTES_MAX.div_ceil(1024) as u32;
const SHORT_BYTES: usize = 2048;
/// How often the driver looks whether the card has done what it was told, at its start and reset. A look takes longer than 100 ns, so
/// this is 10 ms at least, where the datasheet wants 1. The tests' card is a thread, which may have to wait for its turn.
const LOOKS: u32 = if cfg!(test) { u32::MAX } else { 100_000 };
/// A frame that has been on its way out for so long while the link was up will never go, in microseconds.
const HUNG_US: u64 = 1_000_000;
/// Causes that a frame which comes in may have.
const FRAME_CAUSES: Causes = Causes::RECEIVED.union(Causes::FEW_BUFFERS).union(Causes::OVERRUN);
/// Interrupts are so far apart at least, in nanoseconds: 20,000 a second. An answer to an answer is seldom earlier.
const GAP_NS: u32 = 50_000;
/// The same while frames of this many bytes come, which are the pieces of a long message: ten of 1,514 bytes take 123 us at 1 Gb/s.
const GAP_OF_LONG_NS: u32 = 128_000;
const LONG_FRAME_BYTES: usize = 1_024;

/// A card.
pub struct E1000e<H: Hal> {
    registers: Registers,
    model: Model,
    /// It may interrupt.
    interrupts: bool,
    /// What it has been told of the time between interrupts, and the longest frame since.
    gap_ns: u32,
    longest: usize,
    address: [u8; 6],
    listens_to: [u8; 6],
    up: bool,
    receive: ReceiveQueue<H>,
    transmit: TransmitQueue<H>,
    /// The oldest frame on its way out when somebody looked last, and since when it has been that.
    waiting_for: Option<(u64, u64)>,
    counts: Counts,
}

// SAFETY: pointers to memory of the driver's own, and to memory that it only tells the card of.
unsafe impl<H: Hal> Send for E1000e<H> {}

impl<H: Hal> E1000e<H> {
    /// Starts a card that has been switched on. It interrupts by the message of its registers (MSI).
    ///
    /// # Errors
    /// It is no such card, lacks something, or there is no memory.
    pub fn start(configuration: &mut impl Configuration, function: Function) -> Result<Self, Unusable> {
        let model = identity(configuration, function).and_then(model_of);
        let model = model.ok_or(Unusable::Lacks("PCI number of the e1000e family"))?;
        let base = base_address::memory(configuration, function, 0);
        let base = base.filter(|base| base.bytes >= registers::BYTES as u64);
        let base = base.ok_or(Unusable::Lacks("registers"))?;
        // SAFETY: device memory where the firmware has put it; this driver has it alone.
        let registers = unsafe {
            let start = H::mmio_phys_to_virt(base.address, registers::BYTES);
            Registers::new(start, registers::BYTES)
        };
        Self::on(registers, model)
    }

    /// As [`E1000e::start`], with the card's registers.
    fn on(registers: Registers, model: Model) -> Result<Self, Unusable> {
        let buffer_bytes = match model {
            Model::Card82574 => LONG_KIB as usize * 1024,
            Model::Chipset => SHORT_BYTES,
        };
        let mut card = E1000e {
            registers,
            model,
            interrupts: true,
            gap_ns: 0,
            longest: 0,
            address: [0; 6],
            listens_to: [0; 6],
            up: false,
            receive: ReceiveQueue::new(registers, buffer_bytes)?,
            transmit: TransmitQueue::new(registers)?,
            waiting_for: None,
            counts: Counts::default(),
        };
        if !card.reset() {
            return Err(Unusable::Lacks("end of its reset"));
        }
        card.address = card.own_address();
        card.listens_to = card.address;
        if card.address == [0; 6] {
            return Err(Unusable::Lacks("address"));
        }
        card.begin();
        Ok(card)
    }

    fn write(&self, register: usize, value: u32) {
        self.registers.word(register).write(value);
    }

    fn read(&self, register: usize) -> u32 {
        self.registers.word(register).read()
    }

    fn change(&self, register: usize, clear: u32, set: u32) {
        self.write(register, self.read(register) & !clear | set);
    }

    /// Stops the card and brings its registers to what they are at power-on (82574 datasheet, section 4.6.3): interrupts off, queues off, no
    /// further access to memory, reset. False: the reset does not end.
    fn reset(&mut self) -> bool {
        let all = Causes::all().bits();
        self.write(registers::MASK_CLEAR, all);
        self.write(registers::RECEIVE_CONTROL, 0);
        self.write(registers::TRANSMIT_CONTROL, 0);
        self.change(registers::CONTROL, 0, Control::NO_MASTER.bits());
        // A card that goes on reaching memory is reset all the same, as the datasheet says.
        let _ = self.wait_for(registers::STATUS, Status::MASTER.bits());
        self.change(registers::CONTROL, 0, Control::RESET.bits());
        let done = self.wait_for(registers::CONTROL, Control::RESET.bits());
        self.write(registers::MASK_CLEAR, all);
        self.write(registers::CAUSES, all);
        done
    }

    /// Waits for bits of a register to be cleared, a limited time.
    fn wait_for(&self, register: usize, bits: u32) -> bool {
        (0..LOOKS).any(|_| self.read(register) & bits == 0)
    }

    /// The address that the card takes frames for: at first what it has read from its own memory.
    fn own_address(&self) -> [u8; 6] {
        let [a, b, c, d] = self.read(registers::ADDRESS_LOW).to_le_bytes();
        let [e, f, ..] = self.read(registers::ADDRESS_HIGH).to_le_bytes();
        [a, b, c, d, e, f]
    }

    fn tell_address(&self) {
        let [a, b, c, d, e, f] = self.listens_to;
        self.write(registers::ADDRESS_LOW, u32::from_le_bytes([a, b, c, d]));
        self.write(registers::ADDRESS_HIGH, u32::from_le_bytes([e, f, 0, 0]) | AddressHigh::VALID.bits());
    }

    /// Sets a card that has been reset up, and switches it on.
    fn begin(&mut self) {
        let loaded = ExtendedControl::DRIVER_LOADED.bits();
        self.change(registers::EXTENDED_CONTROL, ExtendedControl::MASK_WHEN_READ.bits(), loaded);
        for word in 0..registers::GROUP_WORDS {
            self.write(registers::GROUPS + 4 * word, 0);
        }
        self.tell_address();
        self.receive.begin();
        self.transmit.begin();
        self.write(registers::TRANSMIT.descriptors(), registers::WRITE_BACK_EACH);
        let forced = Control::FORCE_SPEED | Control::FORCE_DUPLEX | Control::NO_MASTER;
        self.change(registers::CONTROL, forced.bits(), Control::LINK_UP.bits());
        let transmit = TransmitControl::ON | TransmitControl::PAD_SHORT | TransmitControl::COLLISIONS;
        self.write(registers::TRANSMIT_CONTROL, transmit.bits());
        let long = match self.model {
            Model::Card82574 => ReceiveControl::LONG_FRAMES | registers::buffer_kib(LONG_KIB),
            Model::Chipset => ReceiveControl::empty(),
        };
        let receive = ReceiveControl::ON | ReceiveControl::BROADCAST | ReceiveControl::STRIP_CHECKSUM;
        self.write(registers::RECEIVE_CONTROL, (receive | long).bits());
        self.receive.tell();
        self.up = self.reads_up();
        self.gap_ns = 0;
        self.space_interrupts();
        self.interrupt(self.interrupts);
    }

    fn reads_up(&self) -> bool {
        Status::from_bits_retain(self.read(registers::STATUS)).contains(Status::LINK_UP)
    }

    /// Tells the card of the time between interrupts that suits the frames which have come.
    fn space_interrupts(&mut self) {
        let longest = core::mem::take(&mut self.longest);
        let gap_ns = if longest >= LONG_FRAME_BYTES { GAP_OF_LONG_NS } else { GAP_NS };
        if gap_ns != self.gap_ns {
            self.gap_ns = gap_ns;
            self.write(registers::GAP, gap_ns.div_ceil(registers::GAP_UNIT_NS));
        }
    }

    /// Whether a frame has been on its way out for too long.
    fn hangs(&mut self, now: u64) -> bool {
        let oldest = self.transmit.oldest();
        let Some(oldest) = oldest.filter(|_| self.up) else {
            self.waiting_for = None;
            return false;
        };
        match self.waiting_for {
            Some((before, since)) if before == oldest => now.saturating_sub(since) >= HUNG_US,
            _ => {
                self.waiting_for = Some((oldest, now));
                false
            }
        }
    }
}

impl<H: Hal> Nic for E1000e<H> {
    fn name(&self) -> &'static str {
        match self.model {
            Model::Card82574 => "e1000e (82574)",
            Model::Chipset => "e1000e (chipset)",
        }
    }

    fn address(&self) -> [u8; 6] {
        self.address
    }

    fn listen(&mut self, address: [u8; 6]) {
        self.listens_to = address;
        self.tell_address();
    }

    fn frame_bytes(&self) -> usize {
        match self.model {
            Model::Card82574 => FRAME_BYTES_MAX,
            Model::Chipset => FRAME_BYTES,
        }
    }

    fn is_up(&self) -> bool {
        self.up
    }

    unsafe fn send(&mut self, head: &[u8], middle: &[u8], body: Option<NonNull<[u8]>>) -> bool {
        if !self.up {
            // As on a wire that is cut.
            self.counts.no_link += 1;
            return true;
        }
        // SAFETY: this function's contract.
        let goes = unsafe { self.transmit.send(head, middle, body) };
        if goes {
            self.counts.sent += 1;
            self.counts.doorbells += 1;
            self.counts.copied += (head.len() + middle.len()) as u64;
        } else {
            self.counts.no_room += 1;
        }
        goes
    }

    fn receive(&mut self) -> Option<Received> {
        let frame = self.receive.take(&mut self.counts)?;
        self.longest = self.longest.max(frame.bytes);
        Some(frame)
    }

    fn give_back(&mut self, frame: Received) {
        self.receive.put_back(frame.buffer);
    }

    fn interrupt(&mut self, on: bool) {
        self.interrupts = on;
        let causes = (FRAME_CAUSES | Causes::LINK_CHANGE).bits();
        if on {
            self.space_interrupts();
            // What has been served; a frame that comes from now on is a new cause.
            self.write(registers::CAUSES, FRAME_CAUSES.bits());
            self.write(registers::MASK_SET, causes);
        } else {
            self.write(registers::MASK_CLEAR, causes);
        }
    }

    fn look_after(&mut self, now: u64) {
        self.write(registers::CAUSES, (Causes::LINK_CHANGE | Causes::OVERRUN).bits());
        let up = self.reads_up();
        if up != self.up {
            self.up = up;
            self.counts.link_changes += 1;
        }
        self.counts.missed += u64::from(self.read(registers::MISSED));
        if self.hangs(now) {
            self.counts.resets += 1;
            self.waiting_for = None;
            // A card that does not end its reset is tried again when it hangs the next time.
            let _ = self.reset();
            self.begin();
        }
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}
