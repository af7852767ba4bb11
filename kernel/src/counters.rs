//! Time stamp counters that differ between cores: each core that starts compares its own with the boot core's, and the job page of its ranks says by how
//! much it is ahead. Firmware sets them alike on most machines; on some, and in virtual machines, it does not.
//!
//! All cores ask at once, and the boot core answers them in turn: that ends soon wherever cores are threads of a busy host. It is also coarse, so each then asks
//! alone, if its turn comes soon.

use core::sync::atomic::{AtomicU64, Ordering};

use lwk_clock::Comparison;

use crate::arch::clock;
use crate::arch::features::features;
use crate::core_local::CORES_MAX;

/// Exchanges of a core while others ask, and alone. The quickest ones count: the boot core may be doing something else during the others.
const TOGETHER: usize = 4;
const ALONE: usize = 16;
/// A core that has not come to ask alone by then does without, in microseconds.
const TURN_MICROSECONDS: u64 = 100_000;

/// Of one core, whose exchanges are counted from 1.
struct Exchange {
    /// The exchange that it asks for; written by the core.
    asked: AtomicU64,
    /// The boot core's counter in that exchange; then the exchange's number. Written by the boot core.
    answer: AtomicU64,
    answered: AtomicU64,
}

static EXCHANGES: [Exchange; CORES_MAX] =
    [const { Exchange { asked: AtomicU64::new(0), answer: AtomicU64::new(0), answered: AtomicU64::new(0) } };
        CORES_MAX];
/// Held by a core that asks alone.
static TURN: spin::Mutex<()> = spin::Mutex::new(());

/// Answers those of the first so many cores that ask. The boot core calls it again and again while others start.
pub fn answer(cores: usize) {
    for exchange in EXCHANGES.iter().take(cores) {
        // Acquire: pairs with the release in `ask`; the counter is read after the other core has read its own.
        let asked = exchange.asked.load(Ordering::Acquire);
        // Relaxed: only this function writes it.
        if asked != exchange.answered.load(Ordering::Relaxed) {
            // Relaxed: the store below orders it.
            exchange.answer.store(clock::ticks(), Ordering::Relaxed);
            // Release: pairs with the acquire in `ask`.
            exchange.answered.store(asked, Ordering::Release);
        }
    }
}

/// Ticks that the counter of this core, `index`, is ahead of the boot core's, modulo 2⁶⁴. 0 if the boot core does not answer within so many microseconds, which a
/// warning says.
pub fn ahead(index: usize, patience: u64) -> u64 {
    let mut comparison = Comparison::new();
    if !(0..TOGETHER).all(|_| ask(index, &mut comparison, patience)) {
        log::warn!("the time stamp counter of core {index} is not compared: times of its ranks may differ");
        return 0;
    }
    // QEMU's emulation has one counter for all cores.
    if !features().emulated {
        ask_alone(index, &mut comparison);
    }
    let ahead = comparison.ahead();
    if ahead != 0 {
        log::info!(
            "the time stamp counter of core {index} is ahead by {ahead} ticks, which its ranks are told"
        );
    }
    ahead as u64
}

/// Exchanges while no other core asks, if that comes about soon.
fn ask_alone(index: usize, comparison: &mut Comparison) {
    let begun = clock::ticks();
    let is_late = || clock::nanoseconds(clock::ticks() - begun) / 1000 > TURN_MICROSECONDS;
    let turn = loop {
        match TURN.try_lock() {
            Some(turn) => break turn,
            None if is_late() => return,
            None => core::hint::spin_loop(),
        }
    };
    for _ in 0..ALONE {
        if is_late() || !ask(index, comparison, TURN_MICROSECONDS) {
            break;
        }
    }
    drop(turn);
}

/// One exchange; says whether there was an answer.
fn ask(index: usize, comparison: &mut Comparison, patience: u64) -> bool {
    let exchange = &EXCHANGES[index];
    // Relaxed: only this core writes it.
    let number = exchange.asked.load(Ordering::Relaxed) + 1;
    let before = clock::ticks();
    // Release: pairs with the acquire in `answer`.
    exchange.asked.store(number, Ordering::Release);
    // Acquire: pairs with the release in `answer`; the counter is read after the boot core has read its own.
    if !clock::wait_until(|| exchange.answered.load(Ordering::Acquire) == number, patience) {
        return false;
    }
    // Relaxed: the load above orders it.
    comparison.add(before, exchange.answer.load(Ordering::Relaxed), clock::ticks());
    true
}
