//! What time and a full network do: how many frames go again, and how fast messages arrive.

use std::cmp::Reverse;

use lwk_frames::ANSWER_US;

use crate::world::{Fate, OnTheWire, PERIOD_US, Simulation, Weather};

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

/// A node that is away for some milliseconds now and then, as an emulated one is, loses nothing: a probe or two may go again.
#[test]
fn a_peer_that_is_away_for_a_moment_costs_some_frames_at_most() {
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
        assert!(counters.retransmitted <= 3 * moments, "{away_us}: {moments} moments, {counters:?}");
        assert_eq!(counters.timeouts, 0, "{away_us}");
    }
}

/// A machine that is stopped with all its nodes, and goes on later, has lost no peer.
#[test]
fn time_in_which_a_node_stands_still_is_nobodys_silence() {
    let mut it = Simulation::new(8, 2, 1514, Weather { delay_us: 20, ..Weather::default() });
    it.send(0, 1, 100);
    it.settle();
    for stopped_us in [1_000_000, 7_000_000, 60_000_000] {
        it.world.weather.lost = 1000;
        it.send(0, 1, 10_000);
        it.work(0);
        it.world.weather.lost = 0;
        it.world.now += stopped_us;
        it.settle();
    }
    assert!(it.world.messages.iter().all(|sent| sent.fate == Fate::Completed));
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

/// So are the very first frame to a peer and the first one after a rest, whatever the clock says: a window keeps 32 bits of the time.
#[test]
fn a_lost_frame_is_missed_at_any_time() {
    let data = |Reverse((.., frame)): &Reverse<OnTheWire>| frame[16] & 2 != 0;
    let parts = || (0..8).map(|part| part << 29);
    for (began, rest) in parts().flat_map(|began| parts().map(move |rest| (began, rest))) {
        let mut it = Simulation::new(14, 2, 1514, Weather::default());
        it.world.now += began;
        for message in 0..2 {
            it.send(0, 1, 100);
            while !it.world.wire.iter().any(data) {
                assert!(it.step(u64::MAX));
            }
            it.world.wire.clear();
            let lost_at = it.world.now;
            it.settle();
            let took = it.world.now - lost_at;
            assert!(took < 50_000, "message {message} from {began} us on, rest {rest} us: {took} us");
            it.world.now += rest;
        }
    }
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

/// Messages that go to and fro tell of each other's arrival: hardly a frame carries an acknowledgement only.
#[test]
fn acknowledgements_go_with_data() {
    let mut it = Simulation::new(9, 2, 1514, Weather::default());
    it.send(0, 1, 100);
    it.settle();
    let before = it.counters();
    for number in 0..200 {
        it.send(number % 2, 1 - number % 2, 100);
        let sent = it.world.messages.len() - 1;
        while it.world.messages[sent].delivered == 0 {
            assert!(it.step(u64::MAX));
        }
    }
    it.settle();
    let (mut sent, mut answers) = (0, 0);
    for (now, then) in it.counters().iter().zip(&before) {
        sent += now.sent - then.sent;
        answers += now.answers - then.answers;
    }
    assert!(sent == 200 + answers && answers <= 3, "{sent} frames, {answers} of them acknowledgements");
}

/// A stream one way is acknowledged some frames at a time, which costs it no time.
#[test]
fn a_stream_is_acknowledged_by_quarters_of_the_window() {
    let weather = Weather { bottleneck: Some((10, 1_000)), mark_from: 1_000, ..Weather::default() };
    let mut it = Simulation::new(10, 2, 9014, weather);
    it.world.waited_for = true;
    it.send(0, 1, 4 << 20);
    it.settle();
    let [sender, receiver] = [0, 1].map(|node| it.counters()[node]);
    assert!(
        receiver.answers * 7 <= sender.sent,
        "{} frames, {} acknowledgements",
        sender.sent,
        receiver.answers
    );
    let least = 10 * sender.sent;
    assert!(it.world.now < least * 21 / 20 + 1_000, "{} us of at least {least}", it.world.now);
    assert_eq!(sender.retransmitted, 0);
}

/// Who waits for the end of a message does not wait for data to go with its acknowledgement; who does not, waits no longer than that.
#[test]
fn the_end_of_a_message_that_is_waited_for_is_acknowledged_at_once() {
    for (waited_for, least, most) in [(true, 0, 50), (false, ANSWER_US, ANSWER_US + 50)] {
        let mut it = Simulation::new(11, 2, 1514, Weather::default());
        it.send(0, 1, 100);
        it.settle();
        it.world.waited_for = waited_for;
        let began = it.world.now;
        it.send(0, 1, 200);
        it.work(0);
        while it.world.messages[1].fate == Fate::Open {
            assert!(it.step(u64::MAX));
        }
        let took = it.world.now - began;
        assert!((least..=most).contains(&took), "{waited_for}: {took} us");
    }
}

/// Messages one behind the other, faster than they are acknowledged: a frame for what has come together in a round trip, and nothing is later than the frame before it
/// and its acknowledgement take.
#[test]
fn a_stream_of_short_messages_takes_a_frame_for_each_round_trip() {
    const MESSAGES: u64 = 400;
    const ROUND_TRIP_US: u64 = 20;
    for (every_us, frames) in [(1, MESSAGES / 6), (5, MESSAGES / 3), (2 * ROUND_TRIP_US, MESSAGES)] {
        let mut it = Simulation::new(12, 2, 9014, Weather::default());
        it.world.all_own = true;
        it.send(0, 1, 100);
        it.settle();
        let (before, began) = (it.counters()[0], it.world.now);
        let mut latest = 0;
        let mut late = |it: &Simulation| {
            let waits = it.world.messages.iter().skip(1).position(|sent| sent.delivered == 0);
            waits.inspect(|first| latest = latest.max(it.world.now - (began + *first as u64 * every_us)));
        };
        for message in 0..MESSAGES {
            let at = began + message * every_us;
            while it.step(at) {
                late(&it);
            }
            it.world.now = at;
            it.send(0, 1, 100);
            it.work(0);
        }
        while it.world.messages.iter().any(|sent| sent.delivered == 0) {
            assert!(it.step(u64::MAX));
            late(&it);
        }
        let sent = it.counters()[0].sent - before.sent;
        assert!(sent <= frames, "every {every_us} us: {sent} frames");
        // Each way takes half a round trip.
        assert!(latest <= 2 * ROUND_TRIP_US, "every {every_us} us: {latest} us late");
        it.settle();
    }
}

/// A short message is not held back by one before it, nor by long ones, nor if somebody waits for its end.
#[test]
fn short_messages_that_nothing_short_is_under_way_before_go_at_once() {
    let frames = |before: &dyn Fn(&mut Simulation), then: u64| {
        let mut it = Simulation::new(13, 2, 9014, Weather::default());
        it.world.all_own = true;
        it.send(0, 1, 100);
        it.settle();
        before(&mut it);
        it.work(0);
        let sent = it.counters()[0].sent;
        (0..then).for_each(|_| {
            it.send(0, 1, 100);
            it.work(0);
        });
        let now = it.counters()[0].sent - sent;
        it.settle();
        now
    };
    let short = |it: &mut Simulation| assert!(it.send(0, 1, 100));
    let long = |it: &mut Simulation| assert!(it.send(0, 1, 40_000));
    let waited_for = |it: &mut Simulation| it.world.waited_for = true;
    assert_eq!((frames(&|_| (), 1), frames(&short, 1), frames(&short, 3)), (1, 1, 1));
    assert_eq!((frames(&long, 2), frames(&long, 4), frames(&waited_for, 4)), (2, 2, 4));
}

/// One frame in ten lost: messages to and fro are late by milliseconds, and only few of them by more than two time limits.
#[test]
fn messages_are_late_by_milliseconds_where_one_frame_in_ten_is_lost() {
    let mut times = Vec::new();
    for seed in 0..10 {
        let mut it =
            Simulation::new(seed, 2, 9014, Weather { lost: 100, delay_us: 20, ..Weather::default() });
        for number in 0..400 {
            let began = it.world.now;
            it.send(number % 2, 1 - number % 2, if number % 10 == 0 { 60_000 } else { 100 });
            let sent = it.world.messages.len() - 1;
            while it.world.messages[sent].delivered == 0 {
                assert!(it.step(u64::MAX));
            }
            times.push(it.world.now - began);
        }
        it.settle();
    }
    times.sort_unstable();
    let of = |parts: usize| times[(times.len() - 1) * parts / 1000];
    let mean = times.iter().sum::<u64>() / times.len() as u64;
    assert!(
        of(500) < 200 && mean < 600 && of(990) < 10_000 && of(1000) < 250_000,
        "median {}, mean {mean}, {} {} {}",
        of(500),
        of(900),
        of(990),
        of(1000)
    );
}
