//! The protocols under the model checker: loom fails these if data that a lock or an epoch protects can be touched at once.

use crate::primitive::{Memory, check, wait};
use crate::{Attachments, ElementLock, PairLine, SharedPointer, TargetLock};
use loom::sync::Arc;
use loom::thread;

/// A window's memory; the checker watches who touches it when.
struct Guarded<L> {
    by: L,
    memory: Memory,
}

impl<L> Guarded<L> {
    fn new(by: L) -> Arc<Guarded<L>> {
        Arc::new(Guarded { by, memory: Memory::new() })
    }

    fn add(&self) {
        self.memory.store(self.memory.load() + 1);
    }

    fn read(&self) -> u64 {
        self.memory.load()
    }
}

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

/// Whoever finds memory attached, or a further piece of the list, finds what the owner has stored there before.
#[test]
fn what_is_attached_is_complete() {
    check(|| {
        let window = Guarded::new(Attachments::new());
        let peer = window.clone();
        let peer = thread::spawn(move || {
            wait(|| peer.by.end_after(120) == Some(200));
            // The whole entry is there, not only its end.
            assert_eq!(peer.by.end_after(50), None);
            assert_eq!(peer.read(), 1);
        });
        window.add();
        window.by.attach(100, 200).unwrap();
        peer.join().unwrap();
    });
}

#[test]
fn a_piece_that_is_appended_is_complete() {
    const PIECE: u64 = 4096;
    check(|| {
        let window = Guarded::new(Attachments::new());
        let peer = window.clone();
        let peer = thread::spawn(move || {
            wait(|| peer.by.next() == PIECE);
            assert_eq!(peer.read(), 1);
        });
        window.add();
        window.by.append(PIECE);
        peer.join().unwrap();
    });
}

/// Who has heard of a post sees it when it locks, and who has heard of an unlock may post.
#[test]
fn locks_and_exposures_that_have_been_told_of_are_seen() {
    check(|| {
        let window = Arc::new((TargetLock::new(), PairLine::new(), PairLine::new()));
        let origin = window.clone();
        let origin = thread::spawn(move || {
            let (lock, heard, told) = &*origin;
            wait(|| heard.posted.has(1));
            let ticket = lock.queue();
            wait(|| lock.enter_exclusive(ticket));
            assert!(lock.is_exposed());
            lock.leave_exclusive(ticket);
            told.completed.announce(1);
        });
        let (lock, tell, hear) = &*window;
        assert!(lock.expose());
        tell.posted.announce(1);
        wait(|| hear.completed.has(1));
        lock.conceal();
        assert!(lock.expose());
        origin.join().unwrap();
    });
}

#[test]
fn an_entry_is_found_while_others_change() {
    check(|| {
        let list = Arc::new(Attachments::new());
        list.attach(100, 200).unwrap();
        let peer = list.clone();
        let peer = thread::spawn(move || assert_eq!(peer.end_after(120), Some(200)));
        list.attach(300, 400).unwrap();
        assert!(list.detach(300));
        list.attach(500, 600).unwrap();
        peer.join().unwrap();
    });
}

#[test]
fn ranks_that_move_the_shared_pointer_on_get_parts_that_do_not_overlap() {
    check(|| {
        let pointer = Arc::new(SharedPointer::new());
        let other = pointer.clone();
        let other = thread::spawn(move || [other.advance(3), other.advance(3)]);
        let mine = [pointer.advance(3), pointer.advance(3)];
        let mut all: Vec<_> = mine.into_iter().chain(other.join().unwrap()).flatten().collect();
        all.sort_unstable();
        assert_eq!(all, [0, 3, 6, 9]);
    });
}
