//! A model of the device in software: it looks at the registers that the driver writes, follows the chain of descriptors, copies, and tells as the device does.
//!
//! Somebody calls [`Model::turn`] again and again, on a core that has nothing else to do.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::registers::{
    ACTIVE, ARMED, CBVER, CHAINADDR, CHANCMD, CHANCMP, CHANCNT, CHANERR, CHANNELS_MOST, CHANSTS,
    COMPLETION_UPDATE, CONTROL, Channel as Registers, DATA_INTEGRITY, DMACOUNT, Descriptor, HALTED, IDLE,
    LENGTH, NEXT_ADDRESS, NEXT_ALIGNMENT, NULL, OPERATION, RESET, SOURCE_ADDRESS, TARGET_ADDRESS, VERSION_3,
    Window, XFERCAP,
};

/// The bus of a modelled device.
pub trait Memory {
    /// The descriptor at an aligned address; none if there is no memory.
    fn descriptor(&self, address: u64) -> Option<&Descriptor>;
    /// The aligned word at an address; none if there is no memory.
    fn word(&self, address: u64) -> Option<&AtomicU64>;
    /// Copies. Errors: which address is none; nothing has been copied.
    fn copy(&self, source: u64, target: u64, bytes: u64) -> Result<(), Wrong>;
}

/// An address where no memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    Source,
    Target,
}

/// What goes wrong with a descriptor; numbered, for tests that ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The channel halts before it copies.
    Halt = 1,
    /// The source is taken for no memory.
    BadAddress = 2,
    /// The descriptor is not found: the chain leads nowhere.
    BrokenChain = 3,
    /// The channel halts without a word to memory.
    SilentHalt = 4,
}

impl Fault {
    /// The one with this number.
    #[must_use]
    pub fn of(number: u64) -> Option<Fault> {
        let all = [Fault::Halt, Fault::BadAddress, Fault::BrokenChain, Fault::SilentHalt];
        all.into_iter().find(|fault| *fault as u64 == number)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    /// Descriptors taken since the last reset, as [`DMACOUNT`] counts.
    taken: u16,
    /// Address of the next descriptor; 0 before the first.
    next: u64,
    last: u64,
    /// The address of a chain has been seen since the last reset.
    is_armed: bool,
    is_halted: bool,
}

/// The device.
#[derive(Debug)]
pub struct Model<M> {
    window: Window,
    memory: M,
    channels: [Channel; CHANNELS_MOST],
    count: usize,
    /// Descriptors until the next fault, and which it is.
    fault: Option<(u64, Fault)>,
}

impl<M: Memory> Model<M> {
    /// A device of `channels` channels, [`CHANNELS_MOST`] at most, that copies `1 << power` bytes by a descriptor. It sets up registers that are zeros.
    pub fn new(window: Window, memory: M, channels: usize, power: u8) -> Model<M> {
        let count = channels.min(CHANNELS_MOST);
        window.write8(CHANCNT, count as u8);
        window.write8(XFERCAP, power);
        window.write8(CBVER, VERSION_3);
        Model { window, memory, channels: [Channel::default(); CHANNELS_MOST], count, fault: None }
    }

    /// Its bus.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// The descriptor after `after` more goes wrong.
    pub fn inject(&mut self, after: u64, fault: Fault) {
        self.fault = Some((after, fault));
    }

    /// Does one thing for each channel; whether there was anything to do.
    pub fn turn(&mut self) -> bool {
        let mut has_worked = false;
        for channel in 0..self.count {
            has_worked |= self.turn_of(channel);
        }
        has_worked
    }

    fn turn_of(&mut self, number: usize) -> bool {
        let registers = self.window.channel(number);
        let channel = &mut self.channels[number];
        if registers.read8(CHANCMD) & RESET != 0 {
            *channel = Channel::default();
            reset(&registers);
            return true;
        }
        if !channel.is_armed && registers.read64(CHAINADDR) != 0 {
            channel.is_armed = true;
            registers.write64(CHANSTS, ARMED);
            return true;
        }
        if channel.is_halted || registers.read16(DMACOUNT) == channel.taken {
            return false;
        }
        if channel.next == 0 {
            channel.next = registers.read64(CHAINADDR);
        }
        let fault = match &mut self.fault {
            Some((0, _)) => self.fault.take().map(|(_, fault)| fault),
            Some((after, _)) => {
                *after -= 1;
                None
            }
            None => None,
        };
        match self.execute(number, fault) {
            Ok(tells) => {
                let channel = &self.channels[number];
                let is_last = registers.read16(DMACOUNT) == channel.taken;
                self.tell(number, if is_last { IDLE } else { ACTIVE }, tells);
            }
            Err(error) => {
                self.channels[number].is_halted = true;
                registers.write32(CHANERR, error);
                self.tell(number, HALTED, fault != Some(Fault::SilentHalt));
            }
        }
        true
    }

    /// Carries the next descriptor of a channel out; whether memory is to be told. Errors: bits of [`CHANERR`].
    fn execute(&mut self, number: usize, fault: Option<Fault>) -> Result<bool, u32> {
        let channel = &mut self.channels[number];
        let address = channel.next;
        if !address.is_multiple_of(size_of::<Descriptor>() as u64) {
            return Err(NEXT_ALIGNMENT);
        }
        let descriptor = self.memory.descriptor(address).filter(|_| fault != Some(Fault::BrokenChain));
        let descriptor = descriptor.ok_or(NEXT_ADDRESS)?;
        // Relaxed, all: the doorbell, read before, orders them.
        let head = descriptor.head.load(Ordering::Relaxed);
        let (bytes, control) = (head & u64::from(u32::MAX), (head >> 32) as u32);
        if control & OPERATION != 0 {
            return Err(CONTROL);
        }
        if bytes == 0 {
            return Err(LENGTH);
        }
        match fault {
            Some(Fault::Halt | Fault::SilentHalt) => return Err(DATA_INTEGRITY),
            Some(Fault::BadAddress) => return Err(SOURCE_ADDRESS),
            _ if control & NULL != 0 => {}
            _ => {
                let (source, target) =
                    (descriptor.source.load(Ordering::Relaxed), descriptor.target.load(Ordering::Relaxed));
                self.memory.copy(source, target, bytes).map_err(|wrong| match wrong {
                    Wrong::Source => SOURCE_ADDRESS,
                    Wrong::Target => TARGET_ADDRESS,
                })?;
            }
        }
        (channel.last, channel.next) = (address, descriptor.next.load(Ordering::Relaxed));
        channel.taken = channel.taken.wrapping_add(1);
        Ok(control & COMPLETION_UPDATE != 0)
    }

    /// Tells the registers, and memory if wanted.
    fn tell(&self, number: usize, state: u64, memory: bool) {
        let registers = self.window.channel(number);
        let word = self.channels[number].last | state;
        registers.write64(CHANSTS, word);
        if memory && let Some(completion) = self.memory.word(registers.read64(CHANCMP)) {
            // Release: pairs with the driver's acquire; what has been copied is there.
            completion.store(word, Ordering::Release);
        }
    }
}

/// Leaves a channel as a reset does: halted, without a chain, and with nothing counted.
fn reset(registers: &Registers) {
    registers.write16(DMACOUNT, 0);
    registers.write32(CHANERR, 0);
    registers.write64(CHAINADDR, 0);
    registers.write64(CHANSTS, HALTED);
    registers.write8(CHANCMD, 0);
}
