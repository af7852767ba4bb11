//! The protocols under the model checker: loom fails these if data that a lock or an epoch protects can be touched at once.

use crate::primitive::{AtomicU64, Memory, Ordering, check, check_up_to, wait};
use crate::{Attachments, ElementLock, PairLine, SharedPointer, Singly, TargetLock, complete_at_targets};
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

/// A target with one element, which a locked instruction changes at once, and plain updates by a load and a store.
struct Elements {
    lock: ElementLock,
    element: AtomicU64,
    words: [Singly; 2],
}

impl Elements {
    fn new() -> Arc<Elements> {
        let words = [Singly::new(), Singly::new()];
        Arc::new(Elements { lock: ElementLock::new(), element: AtomicU64::new(0), words })
    }

    fn by_instruction(&self) -> u64 {
        // Relaxed: what orders updates is what is checked.
        self.element.fetch_add(1, Ordering::Relaxed);
        1
    }

    /// Under the lock, if it is free now: by a load and a store if nobody updates singly.
    fn under_the_lock(&self) -> u64 {
        self.lock.want_bulk();
        if !self.lock.try_lock() {
            return 0;
        }
        if self.words.iter().all(Singly::has_ended) {
            let old = self.element.load(Ordering::Relaxed);
            self.element.store(old + 1, Ordering::Relaxed);
        } else {
            self.by_instruction();
        }
        self.lock.unlock();
        1
    }

    /// Twice singly if that may be, then under the lock.
    fn singly_first(&self, rank: usize) -> u64 {
        let own = &self.words[rank];
        let mut updates = 0;
        if self.lock.begin_singly(own) {
            updates += self.by_instruction() + self.by_instruction();
            own.end();
        }
        updates + self.under_the_lock()
    }

    fn total(&self) -> u64 {
        assert!(self.lock.try_lock());
        self.element.load(Ordering::Relaxed)
    }
}

#[test]
fn single_updates_are_not_lost_to_those_of_many() {
    check(|| {
        let target = Elements::new();
        let other = target.clone();
        let other = thread::spawn(move || other.singly_first(1));
        let updates = target.under_the_lock() + target.under_the_lock();
        let updates = updates + other.join().unwrap();
        assert_eq!(target.total(), updates);
    });
}

#[test]
fn both_may_begin_singly() {
    check(|| {
        let target = Elements::new();
        let other = target.clone();
        let other = thread::spawn(move || other.singly_first(1));
        let updates = target.singly_first(0) + other.join().unwrap();
        assert_eq!(target.total(), updates);
    });
}

/// A third rank finds the wish of another, which it must see through: what it has loaded is older than no single update.
#[test]
fn who_finds_the_lock_wanted_sees_single_updates_too() {
    check_up_to(2, || {
        let target = Elements::new();
        let (one, two) = (target.clone(), target.clone());
        let one = thread::spawn(move || one.singly_first(1));
        let two = thread::spawn(move || two.under_the_lock());
        let updates = target.under_the_lock() + one.join().unwrap() + two.join().unwrap();
        assert_eq!(target.total(), updates);
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

/// Each rank puts a word, flushes, and gets what the other puts: at least one gets it.
#[test]
fn after_a_flush_one_of_two_sees_the_other() {
    check(|| {
        let words = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let run = |me: usize, words: &[AtomicU64; 2]| {
            // Relaxed, both: the flush orders them.
            words[me].store(1, Ordering::Relaxed);
            complete_at_targets();
            words[1 - me].load(Ordering::Relaxed)
        };
        let other = {
            let words = words.clone();
            thread::spawn(move || run(1, &words))
        };
        let seen = run(0, &words);
        assert!(seen + other.join().unwrap() > 0);
    });
}
