//! The protocols under the model checker: loom fails these if data that a lock or an epoch protects can be touched at once.

use crate::{Attachments, ElementLock, PairLine, TargetLock};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Threads that the checker may switch at any point, beside waits; minutes instead of hours.
const PREEMPTIONS: usize = 3;

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(model);
}

fn wait(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// A window's memory; the checker watches who touches it when.
struct Guarded<L> {
    by: L,
    memory: UnsafeCell<u64>,
}

#[allow(unsafe_code)]
impl<L> Guarded<L> {
    fn new(by: L) -> Arc<Guarded<L>> {
        Arc::new(Guarded { by, memory: UnsafeCell::new(0) })
    }

    fn add(&self) {
        // SAFETY: that this is exclusive is what the checker finds out.
        self.memory.with_mut(|it| unsafe { *it += 1 });
    }

    fn read(&self) -> u64 {
        // SAFETY: that nobody writes now is what the checker finds out.
        self.memory.with(|it| unsafe { *it })
    }
}

#[allow(unsafe_code)]
// SAFETY: that accesses exclude each other is what the checker finds out.
unsafe impl<L: Sync> Sync for Guarded<L> {}

#[allow(unsafe_code)]
// SAFETY: a lock and a number, which may be dropped anywhere.
unsafe impl<L: Send> Send for Guarded<L> {}

fn exclusive(window: &Guarded<TargetLock>) {
    let ticket = window.by.queue();
    wait(|| window.by.enter_exclusive(ticket));
    window.add();
    window.by.leave_exclusive(ticket);
}

fn shared(window: &Guarded<TargetLock>) -> u64 {
    let ticket = window.by.queue();
    wait(|| window.by.enter_shared(ticket));
    let seen = window.read();
    window.by.leave_shared();
    seen
}

/// Two threads: with three, two that wait keep each other busy for ever, as the checker sees it.
#[test]
fn excluders_and_sharers_stay_apart() {
    check(|| {
        let window = Guarded::new(TargetLock::new());
        let other = window.clone();
        let other = thread::spawn(move || {
            shared(&other);
            exclusive(&other);
            shared(&other);
        });
        exclusive(&window);
        shared(&window);
        exclusive(&window);
        other.join().unwrap();
        assert_eq!(shared(&window), 3);
    });
}

#[test]
fn a_sharer_that_only_tries_stays_apart_too() {
    check(|| {
        let window = Guarded::new(TargetLock::new());
        let other = window.clone();
        let other = thread::spawn(move || {
            if other.by.try_shared().is_some() {
                other.read();
                other.by.leave_shared();
            }
        });
        exclusive(&window);
        if window.by.try_shared().is_some() {
            assert_eq!(window.read(), 1);
            window.by.leave_shared();
        }
        other.join().unwrap();
        exclusive(&window);
        assert_eq!(window.read(), 2);
    });
}

#[test]
fn element_updates_are_not_lost() {
    check(|| {
        let window = Guarded::new(ElementLock::new());
        // Each tries once only: threads that wait for each other by writing have no end, as the checker sees it.
        let update = |window: &Guarded<ElementLock>| {
            let locked = window.by.try_lock();
            if locked {
                window.add();
                window.by.unlock();
            }
            u64::from(locked)
        };
        let other = window.clone();
        let other = thread::spawn(move || update(&other) + update(&other));
        let updates = update(&window) + update(&window);
        let updates = updates + other.join().unwrap();
        assert!(window.by.try_lock());
        assert_eq!(window.read(), updates);
    });
}

/// The target stores, posts, waits and loads; the origin starts, puts, completes; twice, so that the origin may be ahead.
#[test]
fn epochs_of_post_and_start_order_stores_puts_and_loads() {
    check(|| {
        // The line in the origin that the target writes, and the line in the target that the origin writes.
        let window = Guarded::new((PairLine::new(), PairLine::new()));
        let origin = window.clone();
        let origin = thread::spawn(move || {
            for epoch in 1..=2 {
                wait(|| origin.by.0.posted.has(epoch));
                origin.add();
                origin.by.1.completed.announce(epoch);
            }
        });
        for epoch in 1..=2 {
            window.add();
            window.by.0.posted.announce(epoch);
            wait(|| window.by.1.completed.has(epoch));
            assert_eq!(window.read(), 2 * epoch);
        }
        origin.join().unwrap();
    });
}

#[test]
fn an_entry_is_found_while_others_change() {
    check(|| {
        let list = Arc::new(Attachments::new());
        list.attach(100, 200).unwrap();
        let peer = list.clone();
        let peer = thread::spawn(move || assert!(peer.covers(120, 200)));
        list.attach(300, 400).unwrap();
        assert!(list.detach(300));
        list.attach(500, 600).unwrap();
        peer.join().unwrap();
    });
}
