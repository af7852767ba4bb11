//! What time and a full network do: how many frames go again, and how fast messages arrive.

use crate::world::{PERIOD_US, Simulation, Weather};

/// Goodput with one frame in a hundred lost, of that without loss.
#[test]
fn a_little_loss_costs_little() {
    let time = |lost| {
        let mut it = Simulation::new(5, 2, 1514, Weather { lost, delay_us: 20, ..Weather::default() });
        for _ in 0..200 {
            it.send(0, 1, 10_000);
        }
        it.settle();
        it.world.now as f64
    };
    let ratio = time(0) / time(10);
    assert!(ratio >= 0.7, "{ratio}");
}

/// A node that is away for some milliseconds now and then, as an emulated one is, loses nothing: hardly a frame may go again.
#[test]
fn a_peer_that_is_away_for_a_moment_costs_one_frame_at_most() {
    for away_us in [3_000, 8_000, 15_000] {
        // A gigabit a second, and room for all that may be under way.
        let weather =
            Weather { away_us, bottleneck: Some((72, 1_000)), mark_from: 1_000, ..Weather::default() };
        let mut it = Simulation::new(6, 2, 9014, weather);
        for _ in 0..10 {
            it.send(0, 1, 1 << 20);
        }
        it.settle();
        let counters = it.counters()[0];
        let moments = it.world.now / PERIOD_US + 1;
        assert!(counters.retransmitted <= moments, "{away_us}: {moments} moments, {counters:?}");
        assert_eq!(counters.timeouts, 0, "{away_us}");
    }
}

/// The last frame of a message has none behind it that would tell of its loss.
#[test]
fn a_lost_last_frame_is_missed_for_milliseconds_only() {
    let mut it = Simulation::new(7, 2, 1514, Weather { delay_us: 20, ..Weather::default() });
    for _ in 0..50 {
        it.send(0, 1, 100);
        it.settle();
    }
    let before = it.world.now;
    it.world.weather.lost = 1000;
    it.send(0, 1, 100);
    it.work(0);
    it.world.weather.lost = 0;
    it.settle();
    let counters = it.counters()[0];
    assert!(it.world.now - before < 5_000, "{} us", it.world.now - before);
    assert_eq!((counters.retransmitted, counters.timeouts), (1, 0));
}

/// Three senders to one node behind a queue of 32 frames: marks hold them back before it is full, so that far fewer frames are lost, and
/// the bottleneck is busy all the same.
#[test]
fn marks_of_a_full_queue_hold_senders_back_before_frames_are_lost() {
    let run = |mark_from| {
        let weather = Weather { bottleneck: Some((12, 32)), mark_from, ..Weather::default() };
        let mut it = Simulation::new(8, 4, 1514, weather);
        for _ in 0..200 {
            for from in 1..4 {
                it.send(from, 0, 20_000);
            }
        }
        it.settle();
        (it.world.overrun, it.world.now)
    };
    let ((overrun, time), (overrun_unmarked, _)) = (run(8), run(32));
    assert!(overrun * 4 < overrun_unmarked, "{overrun} frames lost with marks, {overrun_unmarked} without");
    // 3 * 200 messages of 14 frames.
    let least = 12 * 3 * 200 * 14;
    assert!(time < least * 5 / 4, "{time} us of at least {least}");
}
