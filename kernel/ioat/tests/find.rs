//! The finder over configuration spaces: devices behind bridges, such as are none, such as are broken, and such as say anything at all; and the driver on what has been found.
#![allow(clippy::disallowed_types, reason = "registers of a device; ranks do not see them")]

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use lwk_ioat::registers::{CHANCNT, Descriptor, REGISTER_BYTES, VERSION_3, Window};
use lwk_ioat::{ChannelState, Found, Ioat, Memory, Model, Ring, Wrong, find};
use lwk_pci::{BaseAddress, Configuration, Function};
use proptest::prelude::*;

/// Words of configuration spaces, by function; of the first base address as many bits can be written as a device of `bytes` bytes has.
#[derive(Clone, Debug, Default, PartialEq)]
struct Machine {
    functions: BTreeMap<Function, [u32; 64]>,
    bytes: u32,
}

impl Machine {
    fn add(&mut self, function: Function, words: &[(u8, u32)]) {
        let space = self.functions.entry(function).or_insert([0; 64]);
        for (at, word) in words {
            space[usize::from(*at) / 4] = *word;
        }
    }
}

impl Configuration for Machine {
    fn read(&self, function: Function, offset: u8) -> u32 {
        self.functions.get(&function).map_or(u32::MAX, |words| words[usize::from(offset) / 4])
    }

    fn write(&mut self, function: Function, offset: u8, value: u32) {
        let Some(words) = self.functions.get_mut(&function) else { return };
        let word = &mut words[usize::from(offset) / 4];
        *word = match offset {
            0x04 => *word & 0xffff_0000 | value & 0xffff,
            0x10 => value & !(self.bytes - 1) | *word & 0xf,
            _ => value,
        };
    }
}

const FIRST: Function = Function { bus: 0, device: 4, function: 0 };
const SECOND: Function = Function { bus: 0, device: 4, function: 1 };
const BEHIND: Function = Function { bus: 5, device: 0, function: 0 };
/// Command, class, header type with several functions, first base address.
const HEAD: [(u8, u32); 4] =
    [(0x04, 0x0010_0002), (0x08, 0x0880_0007), (0x0c, 0x0080_0000), (0x10, 0xfbff_0004)];

/// An E5 of the third generation, with two functions and a bridge.
fn machine() -> Machine {
    let mut machine = Machine { bytes: 0x4000, ..Machine::default() };
    machine.add(Function { function: 0, device: 1, bus: 0 }, &[(0, 0x2f02_8086), (0x08, 0x0604_0000)]);
    machine.add(Function { function: 0, device: 1, bus: 0 }, &[(0x0c, 0x0001_0000), (0x18, 0x0000_0500)]);
    machine.add(FIRST, &HEAD);
    machine.add(FIRST, &[(0, 0x2f20_8086), (0x14, 0x0000_3800)]);
    machine.add(SECOND, &HEAD);
    machine.add(SECOND, &[(0, 0x2f21_8086), (0x10, 0xfbfe_0004), (0x14, 0x0000_3800)]);
    machine
}

fn found(function: Function, address: u64) -> Option<Found> {
    Some(Found { function, registers: BaseAddress { address, bytes: 0x4000 } })
}

#[test]
fn the_first_device_is_found_and_the_space_is_left_as_it_was() {
    let mut all = machine();
    assert_eq!(find(&mut all), found(FIRST, 0x3800_fbff_0000));
    assert_eq!(all, machine());
    let mut behind = machine();
    behind.functions.retain(|function, _| *function != FIRST && *function != SECOND);
    assert_eq!(find(&mut behind), None);
    behind.add(BEHIND, &HEAD);
    behind.add(BEHIND, &[(0, 0x0b00_8086)]);
    assert_eq!(find(&mut behind), found(BEHIND, 0xfbff_0000));
}

#[test]
fn what_is_no_such_device_is_passed_over() {
    // Another vendor, another device, another class.
    for word in [(0, 0x2f20_1022), (0, 0x2f28_8086), (0x08, 0x0200_0007)] {
        let mut other = machine();
        other.add(FIRST, &[word]);
        assert_eq!(find(&mut other), found(SECOND, 0x3800_fbfe_0000), "{word:x?}");
    }
}

#[test]
fn a_device_without_registers_that_can_be_used_is_passed_over() {
    // I/O ports, a width that there is not, not placed, not aligned.
    for (low, high) in [(0xe001, 0), (0xfbff_0002, 0), (0x4, 0), (0xfbff_1004, 0x3800)] {
        let mut broken = machine();
        broken.add(FIRST, &[(0x10, low), (0x14, high)]);
        assert_eq!(find(&mut broken), found(SECOND, 0x3800_fbfe_0000), "{low:x}");
    }
    // Too small for the registers of a channel.
    let mut small = machine();
    small.bytes = 0x100;
    assert_eq!(find(&mut small), None);
}

/// A bus without memory.
struct Nothing;

impl Memory for Nothing {
    fn descriptor(&self, _: u64) -> Option<&Descriptor> {
        None
    }

    fn word(&self, _: u64) -> Option<&AtomicU64> {
        None
    }

    fn copy(&self, _: u64, _: u64, _: u64) -> Result<(), Wrong> {
        Err(Wrong::Source)
    }
}

#[test]
fn the_driver_takes_registers_that_were_found_as_it_takes_the_models() {
    let registers = Box::leak(vec![0u64; REGISTER_BYTES / 8].into_boxed_slice());
    // SAFETY: leaked, aligned to words, and used by this window alone.
    let window = unsafe { Window::new(NonNull::from(registers).cast()) };
    // The address stands for where the firmware has put the registers: what is mapped there is a device of version 3.
    let Some(Found { registers, .. }) = find(&mut machine()) else { panic!("there are two") };
    assert!(registers.bytes >= REGISTER_BYTES as u64);
    let (rings, mut states) = ([Ring::new()], [ChannelState::new()]);
    assert!(Ioat::attach(window, &rings, 0x10_0000, &mut states, || false).is_none());
    Model::new(window, Nothing, 1, 20);
    assert_eq!((window.read8(CHANCNT), window.read8(lwk_ioat::registers::CBVER)), (1, VERSION_3));
    assert!(Ioat::attach(window, &rings, 0x10_0000, &mut states, || false).is_some());
}

proptest! {
    /// Whatever a machine says, the search ends, and what it finds has registers enough at a place that is aligned.
    #[test]
    fn any_configuration_space_is_searched(
        words in prop::collection::vec((0..3u8, 0..4u8, 0..2u8, 0..16u8, any::<u32>()), 0..60),
        known in prop::collection::vec((0..3u8, 0..4u8), 0..4),
        power in 4..30u32,
    ) {
        let mut machine = Machine { bytes: 1 << power, ..Machine::default() };
        for (bus, device) in known {
            machine.add(Function { bus, device, function: 0 }, &HEAD);
            machine.add(Function { bus, device, function: 0 }, &[(0, 0x2f20_8086)]);
        }
        for (bus, device, function, at, word) in words {
            machine.add(Function { bus, device, function }, &[(at * 4, word)]);
        }
        if let Some(Found { registers, .. }) = find(&mut machine) {
            prop_assert!(registers.bytes >= REGISTER_BYTES as u64);
            prop_assert!(registers.address != 0 && registers.address.is_multiple_of(registers.bytes));
        }
    }
}
