//! Workers: threads of the node's process, each on a core without ranks, that copy for the job's ranks (Chai's dissertation, section 5.1.3).
//!
//! The node has every rank's memory mapped at its slot, so a worker copies by loads and stores. Orders wait on the board. A worker without one looks for a while, then
//! sleeps by futex(2) at its bell, which who orders rings under the orders' lock: none is missed.

use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use lwk_abi::engine::{BY_ENGINE, BY_WORKER_AND_ENGINE, WORKERS_MOST};
use lwk_abi::limic::DONE;
use lwk_engine::{Full, Order, Orders};
use lwk_ioat::Model;
use lwk_words::Told;
use spin::mutex::SpinMutex;

use crate::arch::Gate;
use crate::device::{Bus, Device, give_way};
use crate::network::Cores;

/// How long a worker looks for an order before it sleeps. Not measured: some times what it takes to wake a thread.
const LOOK: Duration = Duration::from_micros(50);
/// Looks between two at the clock.
const LOOKS: u32 = 64;
/// The worker that is the modelled copy engine as well.
const DEVICE_WORKER: u32 = 0;

/// What ranks and workers share, in zeroed memory.
#[derive(Debug)]
pub struct Engine {
    orders: SpinMutex<Orders>,
    /// How many orders wait, written under the lock. Relaxed everywhere: who finds some takes the lock, which orders them.
    waiting: AtomicU32,
    /// Workers of the job: set before any rank runs, and relaxed therefore.
    workers: AtomicU32,
    /// What workers sleep at: each is another number when it has been rung, under the lock.
    bells: [AtomicU32; WORKERS_MOST as usize],
    /// The copy engine.
    pub device: Device,
}

impl Engine {
    /// How many workers the job has.
    pub fn workers(&self) -> u32 {
        self.workers.load(Ordering::Relaxed)
    }

    /// Says how many there will be; before any rank runs.
    pub fn expect(&'static self, workers: u32) {
        self.workers.store(workers, Ordering::Relaxed);
        if workers > 0 {
            // Its registers say that there is a device.
            let _ = self.device.model();
        }
    }

    fn with<R>(&self, work: impl FnOnce(&mut Orders) -> R) -> R {
        let mut orders = self.orders.lock();
        let outcome = work(&mut orders);
        self.waiting.store(orders.waiting() as u32, Ordering::Relaxed);
        outcome
    }

    /// As [`lwk_personality::Home::order`]; in a rank.
    pub fn order(&self, order: &Order) {
        if order.way == BY_ENGINE {
            self.device.begin(order, false, &mut || self.await_device());
            self.wake_device();
            return;
        }
        let pushed =
            self.with(|orders| orders.push(order).map(|woken| woken.and_then(|worker| self.strike(worker))));
        match pushed {
            Err(Full) => {
                copy(order.from, order.to, order.bytes);
                tell(order);
            }
            Ok(bell) => self.ring(bell),
        }
    }

    /// The device has something to do: its thread is woken if it sleeps.
    fn wake_device(&self) {
        // SeqCst: what the device is to do has been written before it is looked who sleeps; pairs with the worker's, which looks at that when it has said that it sleeps.
        fence(Ordering::SeqCst);
        let woken = self.with(|orders| orders.wake(DEVICE_WORKER).then(|| self.strike(DEVICE_WORKER)));
        self.ring(woken.flatten());
    }

    /// What others than the device do while they wait for it.
    fn await_device(&self) {
        self.wake_device();
        give_way();
    }

    /// As [`lwk_personality::Home::look_after_engine`]; in a rank.
    pub fn look(&self) -> u64 {
        self.device.advance(&mut || self.await_device())
    }

    /// Marks a bell as rung, under the lock.
    fn strike(&self, worker: u32) -> Option<&AtomicU32> {
        let bell = self.bells.get(worker as usize)?;
        // Relaxed: read under the lock, and by Linux.
        bell.fetch_add(1, Ordering::Relaxed);
        Some(bell)
    }

    /// Wakes who sleeps at a bell that has been rung.
    fn ring(&self, bell: Option<&AtomicU32>) {
        let Some(bell) = bell else { return };
        let word = std::ptr::from_ref(bell) as u64;
        let arguments = [word, libc::FUTEX_WAKE as u64, 1, 0, 0, 0];
        // SAFETY: the call names a word of the board, which it does not touch.
        unsafe { Gate::call(libc::SYS_futex, arguments) };
    }

    /// The life of worker `number` on its core, until the process ends.
    pub fn work(&'static self, number: u32, core: usize) {
        Cores::Own(core).settle();
        // The first worker is the device, too, and tells of what it has done for workers.
        let mut model = (number == DEVICE_WORKER).then(|| self.device.model());
        loop {
            match self.next(number, &mut model) {
                Some(order) if order.way == BY_WORKER_AND_ENGINE => self.begin(&order, &mut model),
                Some(order) => {
                    copy(order.from, order.to, order.bytes);
                    tell(&order);
                }
                None => {}
            }
        }
    }

    /// A worker begins an order. If it is the device, it goes on being that.
    fn begin(&self, order: &Order, model: &mut Option<Model<Bus>>) {
        let mut pause = || match model {
            Some(model) => _ = self.device.turn(model),
            None => self.await_device(),
        };
        self.device.begin(order, true, &mut pause);
        self.wake_device();
    }

    fn next(&self, number: u32, model: &mut Option<Model<Bus>>) -> Option<Order> {
        let mut until = Instant::now() + LOOK;
        while Instant::now() < until {
            for _ in 0..LOOKS {
                if self.waiting.load(Ordering::Relaxed) > 0
                    && let Some(order) = self.with(Orders::take)
                {
                    return Some(order);
                }
                if let Some(model) = model
                    && (self.device.turn(model)
                        | (self.device.advance_workers(&mut || _ = self.device.turn(model)) > 0))
                {
                    until = Instant::now() + LOOK;
                }
                std::hint::spin_loop();
            }
        }
        let bell = self.bells.get(number as usize)?;
        let (order, rung) = self.with(|orders| (orders.take_or_sleep(number), bell.load(Ordering::Relaxed)));
        if order.is_some() {
            return order;
        }
        // SeqCst: as in `wake_device`.
        fence(Ordering::SeqCst);
        if model.as_mut().is_some_and(|model| self.device.turn(model)) {
            self.with(|orders| orders.wake(number));
            return None;
        }
        // SAFETY: the call reads a word of the board; it returns at once if that has been rung since.
        unsafe {
            libc::syscall(libc::SYS_futex, bell.as_ptr(), libc::FUTEX_WAIT, rung, 0, 0, 0);
        }
        None
    }
}

/// Copies between slots, for an order; in the node or in a rank, which has the same slots mapped.
pub fn copy(from: u64, to: u64, bytes: u64) {
    let pointer = |address: u64| std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
    // SAFETY: the rank's call has checked by the layout that both are memory of the job's, the one readable and the other writable, and a process of the job has it mapped so
    // for its whole life; no Rust reference leads there.
    unsafe { std::ptr::copy(pointer(from), pointer(to), bytes as usize) };
}

/// Tells the words that an order names.
pub fn tell(order: &Order) {
    for word in order.told.into_iter().filter(|word| *word != 0) {
        // SAFETY: an aligned word of a rank's request, checked by its call, mapped as above.
        unsafe { Told::at(std::ptr::with_exposed_provenance_mut(word as usize)) }.tell(DONE);
    }
}
