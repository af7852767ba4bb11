//! What `cargo lwk bench instructions` counts: puts of 8 bytes, from a PE to itself.
//!
//! The put is in a function of its own that a tool can find by its name; the function's own instructions count with it. Since the name is
//! exported, the compiler knows nothing of the arguments.

use lwk_shmem::engine::{self, my_pe};
use lwk_user::println;
use lwk_user::smartmap::Symmetric;

const PUTS: u64 = 1000;

static TARGET: Symmetric<[u64; 1]> = Symmetric::new([0]);

/// One thousand puts of 8 bytes, one after another; false if the last has not come.
pub fn run() -> bool {
    let (target, me) = (TARGET.as_ptr().cast::<u64>(), my_pe());
    for value in 1..=PUTS {
        lwk_counted_put(target, value, me);
    }
    println!("counted {PUTS}");
    // SAFETY: this PE's own word, which nobody else writes.
    unsafe { target.read_volatile() == PUTS }
}

// SAFETY: the name is this program's own.
#[unsafe(no_mangle)]
#[inline(never)]
fn lwk_counted_put(target: *mut u64, value: u64, pe: i32) {
    // SAFETY: a static's word, which only this PE writes.
    unsafe { engine::p(target, value, pe) }
}
