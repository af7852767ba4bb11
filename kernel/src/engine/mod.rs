//! Workers: cores without ranks that copy, or have a copy engine copy, for the job's ranks (Chai's dissertation, sections 5.1.2 and 5.1.3: "we dedicate a kernel thread").
//!
//! What ranks order waits in one list ([`lwk_engine::Orders`]) under one lock, which nobody holds for longer than it takes to copy an order. A worker without one looks for a
//! while, then sleeps; who orders wakes it. Interrupts are off in the kernel, so a wake-up that comes between the last look and the sleep ends the sleep.

mod device;
mod hardware;

use core::sync::atomic::{AtomicUsize, Ordering, fence};

use arrayvec::ArrayVec;
use lwk_abi::engine::{BY_ENGINE, BY_WORKER_AND_ENGINE, WORKERS_MOST};
use lwk_abi::limic::DONE;
use lwk_abi::syscall::errno::{EINVAL, ENODEV};
use lwk_engine::{Counts, Full, Order, Orders};
use lwk_ioat::Wrong;
use lwk_personality::{Answer, Errno};

pub use hardware::Name;

use crate::acpi_tables::Tables;
use crate::arch::{clock, interrupt_controller, interrupts};
use crate::configuration::Space;
use crate::core_local::{self, Core};
use crate::job::Job;
use crate::user_slice::UserSlice;

/// Between looks for interrupts and for the job's end, memory is copied by so many bytes: a millisecond's work in emulation.
const COPIED_AT_A_TIME: usize = 1 << 20;
/// How long a worker looks for an order before it sleeps. Not measured: some times what it takes to wake a core.
const LOOK_US: u64 = 20;
/// The worker that is the modelled copy engine as well.
const DEVICE_WORKER: u32 = 0;

/// Cores of the workers, by number.
pub type Cores = ArrayVec<usize, { WORKERS_MOST as usize }>;

static CORES: spin::Once<Cores> = spin::Once::new();
static ORDERS: spin::Mutex<Orders> = spin::Mutex::new(Orders::new());
/// How many wait, written under the lock. Relaxed everywhere: who finds some takes the lock, which orders them.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Looks for a copy engine of the machine's if the job has workers; before the network's card is started, and before any rank runs.
pub fn find(tables: &Tables, workers: u32) {
    if workers > 0 {
        hardware::find(&mut Space::open(tables.configuration));
    }
}

/// Makes cores without ranks the workers; once, before any rank runs.
pub fn appoint(cores: Cores) {
    let cores = CORES.call_once(|| cores);
    for core in cores.iter().filter_map(|core| core_local::core(*core)) {
        log::debug!("core {} copies for the ranks", core.index());
    }
}

/// Wakes all workers: the job is there.
pub fn start(own: &Core) {
    for core in CORES.get().into_iter().flatten().filter(|core| **core != own.index()) {
        wake(*core);
    }
}

/// How many there are.
pub fn workers() -> u32 {
    CORES.get().map_or(0, |cores| cores.len() as u32)
}

fn wake(core: usize) {
    if let Some(core) = core_local::core(core) {
        interrupt_controller::interrupt_core(core.block(), interrupts::WAKE);
    }
}

fn with<R>(work: impl FnOnce(&mut Orders) -> R) -> R {
    let mut orders = ORDERS.lock();
    let outcome = work(&mut orders);
    WAITING.store(orders.waiting(), Ordering::Relaxed);
    outcome
}

/// Has a worker or the copy engine make a copy of memory that has been checked, or makes it, if too many wait.
pub fn order(job: &'static Job, order: &Order) {
    if order.way == BY_ENGINE {
        device::begin(job, order, false);
        return wake_device();
    }
    match with(|orders| orders.push(order)) {
        // Interrupts stay off: the one that stops the ranks must find a program.
        Err(Full) => {
            copy(job, order, || ());
            tell(job, order);
        }
        Ok(woken) => woken.into_iter().for_each(wake_worker),
    }
}

/// The device has something to do: if a core is the device, that is woken if it sleeps.
fn wake_device() {
    if !device::is_model() {
        return;
    }
    // SeqCst: the doorbell has been rung before it is looked who sleeps; pairs with the worker's, which looks at it when it has said that it sleeps.
    fence(Ordering::SeqCst);
    if with(|orders| orders.wake(DEVICE_WORKER)) {
        wake_worker(DEVICE_WORKER);
    }
}

fn wake_worker(worker: u32) {
    if let Some(core) = CORES.get().and_then(|cores| cores.get(worker as usize)) {
        wake(*core);
    }
}

/// As [`lwk_personality::Home::look_after_engine`].
pub fn look(job: &'static Job) -> u64 {
    device::advance(job)
}

/// As [`lwk_personality::Home::engine_counts`].
pub fn counts() -> Counts {
    device::counts()
}

/// As [`lwk_personality::Home::engine_fault`]: only the model fails when it is asked to.
pub fn fail(job: &'static Job, after: u64, fault: u64) -> Answer {
    if workers() == 0 || !device::is_model() {
        return Err(Errno(ENODEV));
    }
    if device::fail(job, after, fault) { Ok(0) } else { Err(Errno(EINVAL)) }
}

/// Makes the next copy if this core is a worker, or waits for a while; any other core waits.
pub fn work_or_wait(job: &'static Job, core: &Core) {
    let number = CORES.get().and_then(|cores| cores.iter().position(|one| *one == core.index()));
    let Some(number) = number.map(|number| number as u32) else { return interrupts::wait() };
    let patience = clock::ticks_a_second() / 1_000_000 * LOOK_US;
    let mut until = clock::ticks() + patience;
    while clock::ticks() < until {
        if WAITING.load(Ordering::Relaxed) > 0
            && let Some(order) = with(Orders::take)
        {
            return make(job, &order);
        }
        // The first worker is the device, too, and tells of what it has done for workers.
        if number == DEVICE_WORKER && (device::turn() | (device::advance_workers(job) > 0)) {
            until = clock::ticks() + patience;
        }
        interrupts::take();
        core::hint::spin_loop();
    }
    if let Some(order) = with(|orders| orders.take_or_sleep(number)) {
        return make(job, &order);
    }
    // SeqCst: as in `wake_device`.
    fence(Ordering::SeqCst);
    if number == DEVICE_WORKER && device::turn() {
        with(|orders| orders.wake(number));
        return;
    }
    interrupts::wait();
}

fn make(job: &'static Job, order: &Order) {
    if order.way == BY_WORKER_AND_ENGINE {
        device::begin(job, order, true);
        return wake_device();
    }
    if copy(job, order, interrupts::take) {
        tell(job, order);
    }
}

/// Copies, and does `between` from time to time; false if the job is about to end.
fn copy(job: &Job, order: &Order, between: fn()) -> bool {
    let Order { from, to, bytes, .. } = *order;
    for offset in (0..bytes).step_by(COPIED_AT_A_TIME) {
        if job.is_stopping() {
            return false;
        }
        let part = (bytes - offset).min(COPIED_AT_A_TIME as u64);
        copy_bytes(job, from + offset, to + offset, part)
            .expect("the memory of an order was checked, and no rank's changes");
        between();
    }
    true
}

/// Copies between slots. Errors: where no memory is.
fn copy_bytes(job: &Job, from: u64, to: u64, bytes: u64) -> Result<(), Wrong> {
    // Addresses name their ranks' slots: whoever asks, they mean the same.
    let any = job.rank(0).ok_or(Wrong::Source)?;
    let source = UserSlice::new(from, bytes).readable(job, any).map_err(|_| Wrong::Source)?;
    let target = UserSlice::new(to, bytes).writable(job, any).map_err(|_| Wrong::Target)?;
    target.copy_from_user(source);
    Ok(())
}

/// Tells the words that an order names.
fn tell(job: &Job, order: &Order) {
    let Some(any) = job.rank(0) else { return };
    for word in order.told.into_iter().filter(|word| *word != 0) {
        let word = UserSlice::new(word, 8).writable(job, any);
        word.expect("the words of an order were checked, and no rank's memory changes").publish(DONE);
    }
}
