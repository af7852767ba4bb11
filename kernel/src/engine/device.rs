//! The copy engine with its driver: the machine's ([`hardware`]), or one that is a model in software. The model's registers and rings are in the kernel's memory, the driver knows nothing
//! of that, and the device itself is the first worker.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lwk_engine::{Completion, CopyEngine, Counts, Flight, Floor, Offload, Order};
use lwk_ioat::registers::{Descriptor, REGISTER_BYTES, Window};
use lwk_ioat::{ChannelState, Fault, Ioat, Memory, Model, Ring, Wrong};

use super::{copy, copy_bytes, hardware, tell};
use crate::arch::clock;
use crate::arch::linear_map::physical;
use crate::job::Job;
use crate::user_slice::UserSlice;

/// Channels of a device that are used at most, which are the model's; and what one of its descriptors copies, as a power of two. Of the dissertation's device neither is said.
pub const CHANNELS: usize = 2;
const POWER: u8 = 20;
/// Where the model finds the rings. Its bus has the addresses of the ranks' slots, and this is none.
const RINGS_AT: u64 = 1 << 62;

static REGISTERS: [AtomicU64; REGISTER_BYTES / 8] = [const { AtomicU64::new(0) }; REGISTER_BYTES / 8];
static RINGS: [Ring; CHANNELS] = [const { Ring::new() }; CHANNELS];
static DEVICE: spin::Mutex<Device> = spin::Mutex::new(Device {
    states: [ChannelState::new(); CHANNELS],
    flights: [Flight::new(); CHANNELS],
    counts: Counts::new(),
    has_started: false,
});
/// The model, from its first use on. Whoever needs a turn of it may make one.
static MODEL: spin::Mutex<Option<Model<Bus>>> = spin::Mutex::new(None);
/// Orders under way, written under the device's lock. Relaxed everywhere: who finds some takes the lock.
static UNDER_WAY: AtomicU64 = AtomicU64::new(0);
/// Workers have begun some of them, and tell of them. Relaxed: the workers' own.
static IS_WORKERS: AtomicBool = AtomicBool::new(false);

/// What the driver keeps.
struct Device {
    states: [ChannelState; CHANNELS],
    flights: [Flight; CHANNELS],
    counts: Counts,
    has_started: bool,
}

/// The model's registers.
fn window() -> Window {
    // SAFETY: words of so many bytes, for ever, which are atomic for everybody.
    unsafe { Window::new(NonNull::from(&REGISTERS).cast()) }
}

/// Registers and rings of the device that there is, and where that finds the rings.
fn parts() -> (Window, &'static [Ring], u64) {
    match hardware::get() {
        Some(it) => (it.window, it.rings, it.bus),
        None => (window(), &RINGS, RINGS_AT),
    }
}

/// Whether the device is the model.
pub fn is_model() -> bool {
    hardware::get().is_none()
}

/// The memory of a job as the model reaches it.
struct Bus(&'static Job);

impl Memory for Bus {
    fn descriptor(&self, address: u64) -> Option<&Descriptor> {
        Ring::descriptor(&RINGS, RINGS_AT, address)
    }

    fn word(&self, address: u64) -> Option<&AtomicU64> {
        Ring::told(&RINGS, RINGS_AT, address)
    }

    fn copy(&self, source: u64, target: u64, bytes: u64) -> Result<(), Wrong> {
        copy_bytes(self.0, source, target, bytes)
    }
}

/// The ranks for whom copies are made.
struct Ranks(&'static Job);

impl Floor for Ranks {
    fn bus(&self, address: u64, bytes: u64) -> Option<u64> {
        if is_model() {
            return Some(address);
        }
        // Checked already, with the order; a rank's memory is one piece.
        let memory = UserSlice::new(address, bytes).readable(self.0, self.0.rank(0)?).ok()?;
        Some(physical(memory.place()?.cast::<u8>().as_ptr()))
    }

    fn copy(&self, order: &Order) {
        copy(self.0, order, || ());
    }

    fn tell(&self, order: &Order) {
        tell(self.0, order);
    }
}

fn with_model<R>(job: &'static Job, work: impl FnOnce(&mut Model<Bus>) -> R) -> R {
    work(MODEL.lock().get_or_insert_with(|| Model::new(window(), Bus(job), CHANNELS, POWER)))
}

/// Does what the model has to do now, if it has been used; whether there was anything.
pub fn turn() -> bool {
    MODEL.lock().as_mut().is_some_and(Model::turn)
}

type Engine<'d> = Ioat<'d, &'d mut dyn FnMut() -> bool>;

/// Works with the driver, which is started first.
fn with<R>(job: &'static Job, work: impl FnOnce(&mut Offload<'_, Engine<'_>>, &Ranks) -> R) -> Option<R> {
    let mut device = DEVICE.lock();
    let Device { states, flights, counts, has_started } = &mut *device;
    if !*has_started && is_model() {
        with_model(job, |_| ());
    }
    let (window, rings, bus) = parts();
    // The device resets itself in its next turn.
    let until = clock::ticks() + clock::ticks_a_second();
    let mut pause = || {
        turn();
        clock::ticks() < until
    };
    let pause: &mut dyn FnMut() -> bool = &mut pause;
    let mut driver: Engine<'_> = Ioat::attach(window, rings, bus, states, pause)?;
    if !*has_started {
        driver.start(false);
        *has_started = true;
    }
    let channels = driver.limits().channels;
    let mut offload = Offload::new(driver, &mut flights[..channels], counts);
    let outcome = work(&mut offload, &Ranks(job));
    UNDER_WAY.store(offload.under_way(), Ordering::Relaxed);
    Some(outcome)
}

/// Begins an order; `by_worker`: a worker does, and looks what has become of it.
pub fn begin(job: &'static Job, order: &Order, by_worker: bool) {
    if by_worker {
        IS_WORKERS.store(true, Ordering::Relaxed);
    }
    let begun = with(job, |offload, ranks| offload.begin(order, Completion::Poll, ranks));
    if begun.is_none() {
        copy(job, order, || ());
        tell(job, order);
    }
}

/// Tells of what is done; how many orders are under way.
pub fn advance(job: &'static Job) -> u64 {
    if UNDER_WAY.load(Ordering::Relaxed) > 0 {
        with(job, |offload, ranks| offload.advance(ranks));
    }
    UNDER_WAY.load(Ordering::Relaxed)
}

/// The same for the workers' own orders.
pub fn advance_workers(job: &'static Job) -> u64 {
    if IS_WORKERS.load(Ordering::Relaxed) { advance(job) } else { 0 }
}

/// What has become of orders.
pub fn counts() -> Counts {
    DEVICE.lock().counts
}

/// Has the model fail; false for a fault that there is not.
pub fn fail(job: &'static Job, after: u64, fault: u64) -> bool {
    let fault = Fault::of(fault);
    fault.is_some_and(|fault| {
        with_model(job, |model| model.inject(after, fault));
        true
    })
}
