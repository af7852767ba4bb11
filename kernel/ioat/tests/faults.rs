//! The driver on the model, turn by turn, in one memory: copies come as they should, whatever goes wrong.
#![allow(clippy::disallowed_types, reason = "memory of a device; ranks do not see it")]

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

use lwk_engine::{Completion, CopyEngine, Counts, Flight, Floor, Halt, Offload, Order, Refused};
use lwk_ioat::registers::{
    CBVER, CHANCNT, DESCRIPTOR_BYTES, Descriptor, NEXT_ADDRESS, REGISTER_BYTES, SOURCE_ADDRESS,
    TARGET_ADDRESS, Window, XFERCAP,
};
use lwk_ioat::{ChannelState, DESCRIPTORS, Fault, Ioat, Memory, Model, Ring, Wrong};
use proptest::prelude::*;

/// Where the device finds the rings, and the memory that is copied.
const RINGS: u64 = 0x10_0000;
const MEMORY: u64 = 0x80_0000;
const BYTES: usize = 1 << 16;
/// Bytes of a descriptor at most, as a power of two.
const POWER: u8 = 12;

/// Rings and memory at their places on the bus.
struct Bus<'t> {
    rings: &'t [Ring],
    memory: &'t RefCell<Vec<u8>>,
}

impl Memory for Bus<'_> {
    fn descriptor(&self, address: u64) -> Option<&Descriptor> {
        Ring::descriptor(self.rings, RINGS, address)
    }

    fn word(&self, address: u64) -> Option<&AtomicU64> {
        Ring::told(self.rings, RINGS, address)
    }

    fn copy(&self, source: u64, target: u64, bytes: u64) -> Result<(), Wrong> {
        let mut memory = self.memory.borrow_mut();
        let at = |address: u64| {
            let start = address.checked_sub(MEMORY)?;
            (start + bytes <= BYTES as u64).then_some(start as usize)
        };
        let (from, to) = (at(source).ok_or(Wrong::Source)?, at(target).ok_or(Wrong::Target)?);
        memory.copy_within(from..from + bytes as usize, to);
        Ok(())
    }
}

/// Orders name memory by its offset.
struct Home<'t> {
    memory: &'t RefCell<Vec<u8>>,
    told: RefCell<Vec<u64>>,
}

impl Floor for Home<'_> {
    fn bus(&self, address: u64, _: u64) -> Option<u64> {
        Some(MEMORY + address)
    }

    fn copy(&self, order: &Order) {
        let (from, to, bytes) = (order.from as usize, order.to as usize, order.bytes as usize);
        self.memory.borrow_mut().copy_within(from..from + bytes, to);
    }

    fn tell(&self, order: &Order) {
        self.told.borrow_mut().push(order.told[0]);
    }
}

fn window() -> Window {
    let registers = Box::leak(vec![0u64; REGISTER_BYTES / 8].into_boxed_slice());
    // SAFETY: leaked, aligned to words, and used by this window alone.
    unsafe { Window::new(NonNull::from(registers).cast()) }
}

fn rings(count: usize) -> &'static [Ring] {
    Box::leak((0..count).map(|_| Ring::default()).collect())
}

/// Runs a test with a device of so many channels: its driver waits for the model.
fn with_device<R>(
    channels: usize,
    test: impl FnOnce(&mut dyn CopyEngine, &RefCell<Model<Bus<'_>>>, &RefCell<Vec<u8>>) -> R,
) -> R {
    let (window, rings) = (window(), rings(channels));
    let memory = RefCell::new((0..BYTES).map(|at| (at ^ at >> 8) as u8).collect());
    let model = RefCell::new(Model::new(window, Bus { rings, memory: &memory }, channels, POWER));
    let mut states = vec![ChannelState::default(); channels];
    let mut driver = Ioat::attach(window, rings, RINGS, &mut states, || model.borrow_mut().turn())
        .expect("a device of version 3");
    assert_eq!(driver.start(false), channels);
    test(&mut driver, &model, &memory)
}

fn settle(model: &RefCell<Model<Bus<'_>>>) {
    while model.borrow_mut().turn() {}
}

#[test]
fn copies_of_any_length_come_in_their_order() {
    with_device(1, |engine, model, memory| {
        let limits = engine.limits();
        assert_eq!(
            (limits.channels, limits.bytes, limits.descriptors),
            (1, 1 << POWER, DESCRIPTORS as u64 - 1)
        );
        for bytes in [1, 4095, 4096, 4097, 20_000] {
            let before = memory.borrow().clone();
            let cookie = engine.begin(0, MEMORY, MEMORY + 30_000, bytes, Completion::Poll).unwrap();
            assert!(engine.done(0).unwrap() < cookie);
            settle(model);
            assert_eq!(engine.done(0), Ok(cookie));
            let after = memory.borrow();
            let (from, to) = (0..bytes as usize, 30_000..30_000 + bytes as usize);
            assert!(after[to.clone()] == before[from] && after[to.end..] == before[to.end..]);
        }
    });
}

#[test]
fn a_channel_that_has_just_been_started_is_not_taken_for_halted() {
    with_device(2, |engine, model, _| {
        for channel in 0..2 {
            assert!(engine.done(channel).is_ok());
            assert!(engine.reset(channel) && engine.done(channel).is_ok());
        }
        settle(model);
        assert!(engine.done(1).is_ok());
    });
}

#[test]
fn a_full_ring_is_busy_and_goes_round() {
    with_device(2, |engine, model, _| {
        settle(model);
        for _ in 0..5 {
            engine.done(1).unwrap();
            let mut last = None;
            for _ in 0..DESCRIPTORS - 1 {
                last = Some(engine.begin(1, MEMORY, MEMORY + 100, 8, Completion::Poll).unwrap());
            }
            assert_eq!(engine.begin(1, MEMORY, MEMORY, 8, Completion::Poll), Err(Refused::Busy));
            settle(model);
            assert_eq!(engine.done(1).ok(), last);
        }
        for (bytes, channel) in [(0, 0), (1 << 40, 0), (8, 2)] {
            assert_eq!(engine.begin(channel, MEMORY, MEMORY, bytes, Completion::Poll), Err(Refused::Unfit));
        }
        assert_eq!(engine.begin(0, u64::MAX, MEMORY, 8, Completion::Poll), Err(Refused::Unfit));
    });
}

#[test]
fn a_channel_that_halts_says_why_and_what_is_done_and_comes_back() {
    let faults = [
        (Fault::Halt, lwk_ioat::registers::DATA_INTEGRITY),
        (Fault::SilentHalt, lwk_ioat::registers::DATA_INTEGRITY),
        (Fault::BadAddress, SOURCE_ADDRESS),
        (Fault::BrokenChain, NEXT_ADDRESS),
    ];
    for (fault, why) in faults {
        with_device(1, |engine, model, memory| {
            settle(model);
            model.borrow_mut().inject(1, fault);
            let good = engine.begin(0, MEMORY, MEMORY + 1000, 8, Completion::Poll).unwrap();
            let bad = engine.begin(0, MEMORY, MEMORY + 2000, 8, Completion::Poll).unwrap();
            let before = memory.borrow()[2000..2008].to_vec();
            settle(model);
            let mut told = engine.done(0);
            if told == Ok(good) {
                // What is done is told before it is asked what has become of the rest.
                told = engine.done(0);
            }
            assert_eq!(told, Err(Halt { done: good, why }), "{fault:?}");
            assert_eq!(memory.borrow()[2000..2008], before[..]);
            assert_eq!(engine.begin(0, MEMORY, MEMORY, 8, Completion::Poll), Err(Refused::Halted));
            assert!(engine.reset(0));
            let next = engine.begin(0, MEMORY, MEMORY + 2000, 8, Completion::Poll).unwrap();
            assert!(next > bad);
            settle(model);
            assert_eq!(engine.done(0), Ok(next));
        });
    }
}

#[test]
fn an_address_that_is_none_halts_the_channel() {
    for (source, target, why) in [(1, MEMORY, SOURCE_ADDRESS), (MEMORY, 1, TARGET_ADDRESS)] {
        with_device(1, |engine, model, _| {
            engine.begin(0, source, target, 8, Completion::Poll).unwrap();
            settle(model);
            assert_eq!(engine.done(0).map_err(|halt| halt.why), Err(why));
        });
    }
}

#[test]
fn a_device_that_is_none_of_version_3_is_refused_and_nonsense_is_a_halt() {
    let refused = |offset: usize, value: u8| {
        let (window, rings) = (window(), rings(1));
        let memory = RefCell::new(vec![]);
        let _model = Model::new(window, Bus { rings, memory: &memory }, 1, POWER);
        window.write8(offset, value);
        Ioat::attach(window, rings, RINGS, &mut [ChannelState::default()], || false).is_none()
    };
    assert!(!refused(XFERCAP, 0));
    assert!(refused(CBVER, 0x20) && refused(CHANCNT, 0) && refused(XFERCAP, 60));
    // Nobody answers: the reset does not end.
    let (window, rings) = (window(), rings(1));
    window.write8(CHANCNT, 1);
    window.write8(CBVER, 0x30);
    let mut states = [ChannelState::default()];
    let mut driver = Ioat::attach(window, rings, RINGS, &mut states, || false).unwrap();
    assert_eq!(driver.start(true), 0);
    assert_eq!(driver.begin(0, MEMORY, MEMORY, 8, Completion::Interrupt), Err(Refused::Halted));
    with_device(1, |engine, model, _| {
        settle(model);
        engine.done(0).unwrap();
        for word in [64, RINGS + 63 * DESCRIPTOR_BYTES, RINGS + (1 << 30)] {
            let ring = model.borrow().memory().rings;
            ring[0].completion.store(word, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(engine.done(0).map_err(|halt| halt.why), Err(u32::MAX), "{word:#x}");
            assert!(engine.reset(0));
            settle(model);
            engine.done(0).unwrap();
        }
    });
}

/// A step of a history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Order(u16, u16),
    Turn(u8),
    Advance,
    Inject(u8, Fault),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fault =
        prop::sample::select(vec![Fault::Halt, Fault::BadAddress, Fault::BrokenChain, Fault::SilentHalt]);
    let step = prop_oneof![
        6 => (any::<u16>(), 1..9000u16).prop_map(|(from, bytes)| Step::Order(from, bytes)),
        4 => (0..20u8).prop_map(Step::Turn),
        2 => Just(Step::Advance),
        1 => (0..8u8, fault).prop_map(|(after, fault)| Step::Inject(after, fault)),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    /// Each order is told once, and its bytes are there then. Orders do not share memory here: each has its place.
    #[test]
    fn no_order_is_lost_whatever_fails(steps in steps(), channels in 1..4usize) {
        let (window, rings) = (window(), rings(channels));
        let memory = RefCell::new(vec![0; BYTES]);
        let model = RefCell::new(Model::new(window, Bus { rings, memory: &memory }, channels, POWER));
        let mut states = vec![ChannelState::default(); channels];
        let mut driver = Ioat::attach(window, rings, RINGS, &mut states, || model.borrow_mut().turn()).unwrap();
        driver.start(false);
        let (mut flights, mut counts) = (vec![Flight::default(); channels], Counts::default());
        let mut offload = Offload::new(driver, &mut flights, &mut counts);
        let home = Home { memory: &memory, told: RefCell::new(Vec::new()) };
        let mut ordered = 0;
        // Half of the memory is source, half target, cut anew when all of it is used.
        let mut place = 0usize;
        let mut expected: Vec<(usize, usize, usize)> = Vec::new();
        for step in steps {
            match step {
                Step::Order(from, bytes) => {
                    let bytes = usize::from(bytes);
                    if place + bytes > BYTES / 2 {
                        continue;
                    }
                    let (from, to) = (usize::from(from) % (BYTES / 2 - bytes), BYTES / 2 + place);
                    memory.borrow_mut()[from] ^= 0x55;
                    if expected.iter().any(|(start, _, length)| (*start..start + length).contains(&from)) {
                        // It is another's source.
                        memory.borrow_mut()[from] ^= 0x55;
                    }
                    place += bytes;
                    expected.push((from, to, bytes));
                    let order = Order { from: from as u64, to: to as u64, bytes: bytes as u64, told: [ordered, 0], way: 0 };
                    ordered += 1;
                    offload.begin(&order, Completion::Poll, &home);
                }
                Step::Turn(count) => (0..count).for_each(|_| { model.borrow_mut().turn(); }),
                Step::Advance => offload.advance(&home),
                Step::Inject(after, fault) => model.borrow_mut().inject(after.into(), fault),
            }
        }
        for _ in 0..1000 {
            model.borrow_mut().turn();
            offload.advance(&home);
        }
        prop_assert_eq!(offload.under_way(), 0);
        let mut told = home.told.take();
        told.sort_unstable();
        prop_assert!(told.into_iter().eq(0..ordered));
        let memory = memory.borrow();
        for (from, to, bytes) in expected {
            prop_assert!(memory[from..from + bytes] == memory[to..to + bytes]);
        }
        prop_assert_eq!(counts.copied + counts.declined + counts.rescued, ordered);
        prop_assert_eq!(counts.lost, 0);
        prop_assert!(counts.descriptors >= counts.copied && counts.bytes <= ordered * BYTES as u64);
        prop_assert!(counts.copied == 0 || counts.bytes > 0);
    }
}
