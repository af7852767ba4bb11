//! The copy engine of this home, a model in software (`lwk-ioat`): its registers, its rings and what the driver keeps lie on the board, so every rank can be the driver. The device is the first
//! worker's thread.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lwk_engine::{Completion, Counts, Flight, Floor, Offload, Order};
use lwk_ioat::registers::{Descriptor, REGISTER_BYTES, Window};
use lwk_ioat::{ChannelState, Fault, Ioat, Memory, Model, Ring, Wrong};
use spin::mutex::SpinMutex;

use crate::arch::Gate;
use crate::engine::{copy, tell};

/// Channels of the model, and what one of its descriptors copies, as a power of two. Of the dissertation's device neither is said.
const CHANNELS: usize = 2;
const POWER: u8 = 20;
/// Where the device finds the rings. Its bus has the addresses of the ranks' slots, and this is none.
const RINGS_AT: u64 = 1 << 62;
/// Yields of a rank that waits for the device to reset itself: the thread that is the device may have to be woken, on a busy machine. Then the channel is given up.
const YIELDS: u32 = 1_000_000;

/// The device and its driver, in zeroed memory.
#[derive(Debug)]
pub struct Device {
    registers: [AtomicU64; REGISTER_BYTES / 8],
    rings: [Ring; CHANNELS],
    driver: SpinMutex<Driver>,
    /// Orders under way, written under the lock. Relaxed everywhere: who finds some takes the lock.
    under_way: AtomicU64,
    /// Workers have begun some of them, and tell of them. Relaxed: the workers' own.
    is_workers: AtomicBool,
    /// The fault that is asked for: one more than the descriptors before it, and its number. Relaxed: the second is written first, and the first by release.
    fault: [AtomicU64; 2],
}

#[derive(Debug)]
struct Driver {
    states: [ChannelState; CHANNELS],
    flights: [Flight; CHANNELS],
    counts: Counts,
    has_started: bool,
}

/// The ranks for whom copies are made.
struct Ranks;

impl Floor for Ranks {
    fn bus(&self, address: u64, _bytes: u64) -> Option<u64> {
        Some(address)
    }

    fn copy(&self, order: &Order) {
        copy(order.from, order.to, order.bytes);
    }

    fn tell(&self, order: &Order) {
        tell(order);
    }
}

/// The bus of the model.
pub struct Bus(&'static Device);

impl Memory for Bus {
    fn descriptor(&self, address: u64) -> Option<&Descriptor> {
        Ring::descriptor(&self.0.rings, RINGS_AT, address)
    }

    fn word(&self, address: u64) -> Option<&AtomicU64> {
        Ring::told(&self.0.rings, RINGS_AT, address)
    }

    fn copy(&self, source: u64, target: u64, bytes: u64) -> Result<(), Wrong> {
        // Only the driver writes descriptors, and only of orders that have been checked.
        copy(source, target, bytes);
        Ok(())
    }
}

/// What a rank does while it waits: the device's thread may need its core.
pub fn give_way() {
    // SAFETY: the call touches no memory.
    unsafe { Gate::call(libc::SYS_sched_yield, [0; 6]) };
}

impl Device {
    fn window(&self) -> Window {
        // SAFETY: words of so many bytes on the board, which is never unmapped, and which are atomic for everybody.
        unsafe { Window::new(NonNull::from(&self.registers).cast()) }
    }

    /// The device, for the thread that is it; and before any rank runs, so that there is one.
    pub fn model(&'static self) -> Model<Bus> {
        Model::new(self.window(), Bus(self), CHANNELS, POWER)
    }

    /// Does what the device has to do now; whether there was anything.
    pub fn turn(&self, model: &mut Model<Bus>) -> bool {
        // Acquire: pairs with the release in `fail`.
        let after = self.fault[0].swap(0, Ordering::Acquire);
        if let Some(fault) = Fault::of(self.fault[1].load(Ordering::Relaxed)).filter(|_| after > 0) {
            model.inject(after - 1, fault);
        }
        model.turn()
    }

    /// As [`lwk_personality::Home::engine_fault`], for a fault that there is.
    pub fn fail(&self, after: u64, fault: u64) -> bool {
        if Fault::of(fault).is_none() {
            return false;
        }
        self.fault[1].store(fault, Ordering::Relaxed);
        // Release: pairs with the acquire in `turn`.
        self.fault[0].store(after.saturating_add(1), Ordering::Release);
        true
    }

    /// Works with the driver, which is started first. None if there is no device. Who has the driver may wait for the device, so the device's thread waits for neither but
    /// by `pause`, in which it is the device.
    fn with<R>(
        &self,
        pause: &mut dyn FnMut(),
        work: impl FnOnce(&mut Offload<'_, Engine<'_>>) -> R,
    ) -> Option<R> {
        let mut driver = loop {
            match self.driver.try_lock() {
                Some(driver) => break driver,
                None => pause(),
            }
        };
        let Driver { states, flights, counts, has_started } = &mut *driver;
        let mut yields = 0;
        let mut patience = || {
            pause();
            yields += 1;
            yields < YIELDS
        };
        let patience: &mut dyn FnMut() -> bool = &mut patience;
        let mut engine: Engine<'_> = Ioat::attach(self.window(), &self.rings, RINGS_AT, states, patience)?;
        if !*has_started {
            engine.start(false);
            *has_started = true;
        }
        let mut offload = Offload::new(engine, flights, counts);
        let outcome = work(&mut offload);
        self.under_way.store(offload.under_way(), Ordering::Relaxed);
        Some(outcome)
    }

    /// Begins an order; `by_worker`: a worker does, and looks what has become of it.
    pub fn begin(&self, order: &Order, by_worker: bool, pause: &mut dyn FnMut()) {
        if by_worker {
            self.is_workers.store(true, Ordering::Relaxed);
        }
        if self.with(pause, |offload| offload.begin(order, Completion::Poll, &Ranks)).is_none() {
            copy(order.from, order.to, order.bytes);
            tell(order);
        }
    }

    /// Tells of what is done; how many orders are under way.
    pub fn advance(&self, pause: &mut dyn FnMut()) -> u64 {
        if self.under_way.load(Ordering::Relaxed) > 0 {
            self.with(pause, |offload| offload.advance(&Ranks));
        }
        self.under_way.load(Ordering::Relaxed)
    }

    /// The same for the workers' own orders.
    pub fn advance_workers(&self, pause: &mut dyn FnMut()) -> u64 {
        if self.is_workers.load(Ordering::Relaxed) { self.advance(pause) } else { 0 }
    }

    /// What has become of orders.
    pub fn counts(&self) -> Counts {
        self.driver.lock().counts
    }
}

type Engine<'d> = Ioat<'d, &'d mut dyn FnMut() -> bool>;
