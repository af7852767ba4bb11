//! Operations of a root and another thread: the address, turns at the root's memory, and its use again.

use crate::Turns;
use crate::primitive::{Memory, check, wait};
use loom::sync::Arc;
use loom::thread;

struct Shared {
    turns: Turns,
    /// What is at the operation's address: members store there in turn.
    memory: Memory,
}

#[test]
fn members_use_the_roots_memory_in_turn_and_the_root_after_all() {
    check(|| {
        let shared = Arc::new(Shared { turns: Turns::new(), memory: Memory::new() });
        let other = shared.clone();
        let other = thread::spawn(move || {
            for operation in 1..=2 {
                wait(|| other.turns.is_in(operation));
                assert_eq!(other.turns.address(), 10 * operation);
                wait(|| other.turns.is_turn_of(1));
                assert_eq!(other.memory.load(), operation);
                other.memory.store(operation + 100);
                other.turns.pass_turn();
                other.turns.finish();
            }
        });
        for operation in 1..=2 {
            shared.turns.publish(operation, 10 * operation);
            wait(|| shared.turns.is_turn_of(0));
            shared.memory.store(operation);
            shared.turns.pass_turn();
            wait(|| shared.turns.have_finished(2));
            assert_eq!(shared.memory.load(), operation + 100);
        }
        other.join().unwrap();
    });
}
