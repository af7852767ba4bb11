//! Clocks of several callers.

use super::*;

#[test]
fn a_clock_that_was_read_too_early_makes_no_answer_late() {
    let mut window = Window::zeroed();
    window.start();
    for round in 0..100u32 {
        let now = 1_000_000 + u64::from(round) * 100;
        window.sent(1, round, false, 0, now);
        assert!(window.deadline(now - 1).is_some_and(|deadline| deadline > now), "{window:?}");
        window.acknowledged(round + 1, 0, now - 1, |_, _| ()).unwrap();
    }
    assert_eq!((window.smooth_us, window.timeout_us), (1, TIMEOUT_MIN_US));
}
