//! How other cores are started: reset, wait, start, and again (Intel MultiProcessor Specification 1.4, appendix B.4).

use lwk_abi::address::PAGE_BYTES;
use lwk_mm::address::PhysAddr;

use super::ap_trampoline::{self, Start};
use super::{clock, interrupt_controller};

/// Time between reset and start of a core, in microseconds.
const RESET_MICROSECONDS: u64 = 10_000;
/// Time after the first start command in which a core may show itself before it gets the second, in microseconds.
const START_MICROSECONDS: u64 = 200;

/// Starts the cores with these numbers at `page`, and waits a little. `all_up` says whether all have come, and is asked again and again while
/// they are awaited.
///
/// # Safety
/// As for [`ap_trampoline::install`]; and no core with such a number does anything that anybody needs.
pub unsafe fn start(
    controller_ids: impl Iterator<Item = u32> + Clone,
    page: PhysAddr,
    start: &Start,
    all_up: impl Fn() -> bool,
) {
    // SAFETY: `page` is a free page below one megabyte, and `start` has valid tables and stacks for all
    // cores (this function's contract).
    unsafe { ap_trampoline::install(page, start) };
    let page_number = (page.as_u64() / PAGE_BYTES) as u8;
    // SAFETY: nobody needs what these cores do (this function's contract).
    controller_ids.clone().for_each(|id| unsafe { interrupt_controller::reset_core(id) });
    clock::delay(RESET_MICROSECONDS);
    for _ in 0..2 {
        if !all_up() {
            // SAFETY: the cores have been reset, and the page holds the code that was just put there.
            controller_ids
                .clone()
                .for_each(|id| unsafe { interrupt_controller::start_core(id, page_number) });
            clock::wait_until(&all_up, START_MICROSECONDS);
        }
    }
}
