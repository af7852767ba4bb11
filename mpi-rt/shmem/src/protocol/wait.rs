//! Waiting for a change that only others can make, as long as there is one of them.

use crate::primitive::wait_until;

/// Polls between two looks at whether anybody is left, which is a line of a peer's, or a message.
const POLLS_PER_LOOK: u32 = if cfg!(all(test, feature = "loom")) { 1 } else { 1024 };

/// Waits until the condition holds, or nobody is left to make it hold; whether it holds. `is_over` orders what the others have stored before what it
/// answers: so one more look decides.
#[inline(always)]
pub(crate) fn wait(mut condition: impl FnMut() -> bool, mut is_over: impl FnMut() -> bool) -> bool {
    let (mut polls, mut over, mut holds) = (0u32, false, false);
    wait_until(|| {
        holds = condition();
        if holds || over {
            return true;
        }
        polls = polls.wrapping_add(1);
        over = polls.is_multiple_of(POLLS_PER_LOOK) && is_over();
        false
    });
    holds
}
