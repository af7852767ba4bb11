//! The driver: a ring of descriptors for each channel, linked in a circle once; a copy fills the next ones and rings the doorbell.
//!
//! It trusts the device with nothing but the copies: what the device says is checked, and a channel that says what it should not is as one that has halted.

use core::sync::atomic::{AtomicU64, Ordering};

use bytemuck::{Pod, Zeroable};
use lwk_engine::{Completion, Cookie, CopyEngine, Halt, Limits, Refused};

use crate::registers::{
    ANY_ERR_ABORT_EN, CBVER, CHAINADDR, CHANCMD, CHANCMP, CHANCNT, CHANCTRL, CHANERR, CHANNELS_MOST, CHANSTS,
    COMPLETION_UPDATE, DESCRIPTOR_BYTES, DMACOUNT, DONE_DESCRIPTOR, Descriptor, ERR_COMPLETION_EN, HALTED,
    INT_ENABLE, INT_REARM, INTRCTRL, MASTER_INT_EN, NULL, RESET, STATE, VERSION_3, Window, XFERCAP,
};

/// Descriptors of a ring; one is always left free, so that a full ring is no empty one.
pub const DESCRIPTORS: usize = 64;
/// What [`Halt::why`] says of a channel that has told nonsense.
pub const NONSENSE: u32 = u32::MAX;

/// A channel's descriptors, and the word that the device tells. Memory of zeros.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Ring {
    pub descriptors: [Descriptor; DESCRIPTORS],
    pub completion: AtomicU64,
    unused: [AtomicU64; 7],
}

impl Default for Ring {
    fn default() -> Ring {
        Ring::new()
    }
}

impl Ring {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Ring {
        Ring {
            descriptors: [const { Descriptor::new() }; DESCRIPTORS],
            completion: AtomicU64::new(0),
            unused: [const { AtomicU64::new(0) }; 7],
        }
    }

    /// The descriptor at an address, of rings that the device finds at `bus`.
    #[must_use]
    pub fn descriptor(rings: &[Ring], bus: u64, address: u64) -> Option<&Descriptor> {
        let offset = usize::try_from(address.checked_sub(bus)?).ok()?;
        let ring = rings.get(offset / size_of::<Ring>())?;
        ring.descriptors.get(offset % size_of::<Ring>() / size_of::<Descriptor>())
    }

    /// The word at an address that the device tells, of the same.
    #[must_use]
    pub fn told(rings: &[Ring], bus: u64, address: u64) -> Option<&AtomicU64> {
        let offset = usize::try_from(address.checked_sub(bus)?).ok()?;
        let ring = rings.get(offset / size_of::<Ring>())?;
        (offset % size_of::<Ring>() == DESCRIPTORS * size_of::<Descriptor>()).then_some(&ring.completion)
    }
}

/// What the driver keeps of a channel. Memory of zeros is a channel that has not been started.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct ChannelState {
    /// Descriptors given to the channel before its last start, and since the first.
    first: u64,
    issued: u64,
    /// Those that are done, or were forgotten by a reset.
    done: u64,
    /// Not 0: it has been started and has not halted since.
    is_alive: u64,
}

impl ChannelState {
    /// One that has not been started.
    #[must_use]
    pub const fn new() -> ChannelState {
        ChannelState { first: 0, issued: 0, done: 0, is_alive: 0 }
    }
}

/// A device with its driver. `P` passes some time while the driver waits for a reset; false when it has been too long.
#[derive(Debug)]
pub struct Ioat<'m, P> {
    window: Window,
    rings: &'m [Ring],
    /// Where the device finds the first ring.
    bus: u64,
    channels: &'m mut [ChannelState],
    bytes_most: u64,
    pause: P,
}

impl<'m, P: FnMut() -> bool> Ioat<'m, P> {
    /// The device behind these registers, with as many channels as all of it, rings and states have. `bus` is the address of the rings as the device calls it. None if the
    /// device is none of version 3, or says what cannot be.
    pub fn attach(
        window: Window,
        rings: &'m [Ring],
        bus: u64,
        channels: &'m mut [ChannelState],
        pause: P,
    ) -> Option<Ioat<'m, P>> {
        let count =
            usize::from(window.read8(CHANCNT)).min(CHANNELS_MOST).min(rings.len()).min(channels.len());
        let power = match window.read8(XFERCAP) {
            0 => 32,
            power @ 12..=32 => power,
            _ => return None,
        };
        if window.read8(CBVER) < VERSION_3 || count == 0 || !bus.is_multiple_of(DESCRIPTOR_BYTES) {
            return None;
        }
        // A descriptor counts bytes in 32 bits.
        let bytes_most = (1u64 << power).min(1 << 31);
        let (rings, channels) = (rings.get(..count)?, channels.get_mut(..count)?);
        Some(Ioat { window, rings, bus, channels, bytes_most, pause })
    }

    /// Starts all channels; how many have come up. `interrupts`: the device may interrupt.
    pub fn start(&mut self, interrupts: bool) -> usize {
        self.window.write8(INTRCTRL, if interrupts { MASTER_INT_EN } else { 0 });
        (0..self.channels.len()).filter(|channel| self.reset(*channel)).count()
    }

    fn bus_of(&self, channel: usize, descriptor: u64) -> u64 {
        let ring = self.bus + (channel * size_of::<Ring>()) as u64;
        ring + descriptor % DESCRIPTORS as u64 * DESCRIPTOR_BYTES
    }

    /// Writes the next descriptor of a channel.
    fn put(&mut self, channel: usize, bytes: u64, control: u32, source: u64, target: u64) {
        let state = &mut self.channels[channel];
        let descriptor =
            &self.rings[channel].descriptors[(state.issued - state.first) as usize % DESCRIPTORS];
        // Relaxed, all: the doorbell orders them.
        descriptor.source.store(source, Ordering::Relaxed);
        descriptor.target.store(target, Ordering::Relaxed);
        descriptor.head.store(u64::from(control) << 32 | bytes, Ordering::Relaxed);
        state.issued += 1;
    }

    fn ring_doorbell(&self, channel: usize) {
        let ChannelState { first, issued, .. } = self.channels[channel];
        self.window.channel(channel).write16(DMACOUNT, (issued - first) as u16);
    }

    /// Takes what the device has told of a channel. Errors: it has told nonsense.
    fn look(&mut self, channel: usize) -> Result<u64, ()> {
        // Acquire: pairs with the device's store; what it has copied is there.
        let word = self.rings[channel].completion.load(Ordering::Acquire);
        let start = self.bus_of(channel, 0);
        let state = &mut self.channels[channel];
        let last = word & DONE_DESCRIPTOR;
        if last == 0 {
            return Ok(word & STATE);
        }
        let index = last.checked_sub(start).map(|offset| offset / DESCRIPTOR_BYTES);
        let index = index.filter(|index| *index < DESCRIPTORS as u64).ok_or(())?;
        let before = state.done - state.first;
        let more = (index + 1).wrapping_sub(before) % DESCRIPTORS as u64;
        if before + more > state.issued - state.first {
            return Err(());
        }
        state.done += more;
        Ok(word & STATE)
    }
}

impl<P: FnMut() -> bool> CopyEngine for Ioat<'_, P> {
    fn limits(&self) -> Limits {
        let descriptors = DESCRIPTORS as u64 - 1;
        Limits { channels: self.channels.len(), bytes: self.bytes_most, alignment: 1, descriptors }
    }

    fn begin(
        &mut self,
        channel: usize,
        source: u64,
        target: u64,
        bytes: u64,
        how: Completion,
    ) -> Result<Cookie, Refused> {
        let state = *self.channels.get(channel).ok_or(Refused::Unfit)?;
        let (parts, most) = (bytes.div_ceil(self.bytes_most), DESCRIPTORS as u64 - 1);
        let ends = source.checked_add(bytes).is_some() && target.checked_add(bytes).is_some();
        if !(1..=most).contains(&parts) || !ends {
            return Err(Refused::Unfit);
        }
        if state.is_alive == 0 {
            return Err(Refused::Halted);
        }
        if state.issued - state.done + parts > most {
            return Err(Refused::Busy);
        }
        let mut offset = 0;
        while offset < bytes {
            let part = self.bytes_most.min(bytes - offset);
            let is_last = offset + part == bytes;
            let interrupt = if is_last && how == Completion::Interrupt { INT_ENABLE } else { 0 };
            let control = interrupt | if is_last { COMPLETION_UPDATE } else { 0 };
            self.put(channel, part, control, source + offset, target + offset);
            offset += part;
        }
        self.ring_doorbell(channel);
        Ok(Cookie(self.channels[channel].issued))
    }

    fn done(&mut self, channel: usize) -> Result<Cookie, Halt> {
        let Some(before) = self.channels.get(channel).copied() else {
            return Err(Halt { done: Cookie(0), why: NONSENSE });
        };
        let registers = self.window.channel(channel);
        let told = self.look(channel);
        let done = Cookie(self.channels[channel].done);
        let is_stuck = || done.0 == before.done && before.issued != before.done;
        // Who cannot tell its memory that it has halted, says so in its registers.
        let has_halted = before.is_alive == 0
            || told == Ok(HALTED)
            || (is_stuck() && registers.read64(CHANSTS) & STATE == HALTED);
        if told.is_ok() && !has_halted {
            return Ok(done);
        }
        self.channels[channel].is_alive = 0;
        Err(Halt { done, why: if told.is_ok() { registers.read32(CHANERR) } else { NONSENSE } })
    }

    fn reset(&mut self, channel: usize) -> bool {
        let Some(ring) = self.rings.get(channel) else { return false };
        let registers = self.window.channel(channel);
        registers.write8(CHANCMD, RESET);
        while registers.read8(CHANCMD) & RESET != 0 {
            if !(self.pause)() {
                self.channels[channel].is_alive = 0;
                return false;
            }
        }
        registers.write32(CHANERR, registers.read32(CHANERR));
        for (descriptor, number) in ring.descriptors.iter().zip(1..) {
            // Relaxed, here and below: the doorbell orders them.
            descriptor.head.store(0, Ordering::Relaxed);
            descriptor.next.store(self.bus_of(channel, number), Ordering::Relaxed);
        }
        ring.completion.store(0, Ordering::Relaxed);
        let completion = self.bus_of(channel, 0) + DESCRIPTORS as u64 * DESCRIPTOR_BYTES;
        registers.write16(CHANCTRL, ANY_ERR_ABORT_EN | ERR_COMPLETION_EN | INT_REARM);
        registers.write64(CHANCMP, completion);
        registers.write64(CHAINADDR, self.bus_of(channel, 0));
        // A reset leaves the channel halted; the address of a chain arms it, which takes a while.
        while registers.read64(CHANSTS) & STATE == HALTED {
            if !(self.pause)() {
                self.channels[channel].is_alive = 0;
                return false;
            }
        }
        let state = &mut self.channels[channel];
        (state.first, state.done, state.is_alive) = (state.issued, state.issued, 1);
        // The chain begins with a descriptor that copies nothing; its size must not be 0.
        self.put(channel, 1, NULL | COMPLETION_UPDATE, 0, 0);
        self.ring_doorbell(channel);
        true
    }
}
