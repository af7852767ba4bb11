//! Peers that are only waited for: they are missed when they are gone, and never when they are there.

use lwk_frames::{ASK_US, Lost, QUESTIONS};

use crate::world::{Fate, Simulation, Weather};

/// Nodes 0 and 1 of three, which have talked.
fn talked(seed: u64, weather: Weather) -> Simulation {
    let mut it = Simulation::new(seed, 3, 1514, weather);
    it.world.troubled = true;
    assert!(it.send(0, 1, 100) && it.send(1, 0, 100));
    it.settle();
    it
}

/// Somebody on node 0 waits for so long, and says so every `every` microseconds, or until a peer is lost.
fn wait(it: &mut Simulation, every: u64, time: u64) -> Option<Lost> {
    let end = it.world.now + time;
    while it.world.now < end {
        let next = it.world.now + every;
        while it.step(next) {}
        it.world.now = next;
        if let Some(lost) = it.watch(0) {
            return Some(lost);
        }
    }
    None
}

#[test]
fn a_peer_that_is_gone_while_somebody_only_waits_is_lost_within_ten_seconds() {
    let mut it = talked(1, Weather::default());
    assert_eq!(wait(&mut it, ASK_US, 5_000_000), None);
    let since = it.world.now;
    it.world.apart[1] = true;
    let lost = wait(&mut it, ASK_US, 60_000_000).expect("a peer that is gone is missed");
    assert!(lost.node.0 == 1 && !lost.restarted, "{lost:?}");
    let after = it.world.now - since;
    assert!((6_000_000..10_000_000).contains(&after), "{after} us");
    assert!((after..after + 2_000_000).contains(&lost.silent_us), "{lost:?}");
}

#[test]
fn a_peer_that_is_there_is_not_lost_however_bad_the_wire_is() {
    for seed in 0..10 {
        let weather = Weather {
            lost: 100,
            repeated: 50,
            damaged: 50,
            refused: 100,
            delay_us: 2_000,
            ..Weather::default()
        };
        let mut it = talked(seed, weather);
        assert_eq!(wait(&mut it, ASK_US, 600_000_000), None, "seed {seed}");
        assert_eq!(it.counters()[0].restarts, 0);
    }
}

/// Who looks seldom asks seldom, so it takes longer; whoever asks often sends no more questions.
#[test]
fn questions_are_counted_and_not_time() {
    for every in [1_000, ASK_US, 4_000_000, 30_000_000] {
        let mut it = talked(2, Weather::default());
        it.world.apart[1] = true;
        let before = it.counters()[0].sent;
        assert!(wait(&mut it, every, 1_000_000_000).is_some());
        assert_eq!(it.counters()[0].sent - before, QUESTIONS.into(), "every {every} us");
    }
}

/// A machine that is stopped with all its nodes for a while, also in the middle of a question.
#[test]
fn time_in_which_a_node_stands_still_loses_nobody() {
    let mut it = talked(3, Weather { delay_us: 20, ..Weather::default() });
    for stopped_us in [3_000_000, 9_000_000, 60_000_000, 3_600_000_000] {
        assert_eq!(wait(&mut it, ASK_US, 2_000_000), None);
        it.world.now += stopped_us;
        assert_eq!(it.watch(0), None);
        assert_eq!(wait(&mut it, ASK_US, 20_000_000), None, "stopped for {stopped_us} us");
    }
}

#[test]
fn a_peer_that_stands_still_for_some_seconds_is_not_lost() {
    let mut it = talked(4, Weather::default());
    for _ in 0..20 {
        it.world.apart[1] = true;
        assert_eq!(wait(&mut it, ASK_US, 6_000_000), None);
        it.world.apart[1] = false;
        assert_eq!(wait(&mut it, ASK_US, 2_000_000), None);
    }
}

#[test]
fn nobody_is_asked_who_has_not_been_heard_of_nor_while_nobody_waits() {
    let mut it = talked(5, Weather::default());
    let before = it.counters();
    it.world.now += 100_000_000;
    it.settle();
    assert_eq!(it.counters()[0].sent, before[0].sent, "nobody waits");
    it.world.apart[2] = true;
    assert_eq!(wait(&mut it, ASK_US, 30_000_000), None);
    assert_eq!(it.counters()[2].sent, 0);
    assert_eq!(it.nodes[0].link.peers(), 1);
    // One question each time that the peer has been silent for a while, and an answer to it.
    let questions = it.counters()[0].sent - before[0].sent;
    assert!((10..=20).contains(&questions), "{questions}");
    assert_eq!(it.counters()[1].sent - before[1].sent, questions);
    // Nor one to which a message has failed before it was heard of.
    assert!(it.send(0, 2, 100));
    it.settle();
    assert_eq!(it.world.messages.last().unwrap().fate, Fate::Failed);
    it.world.cut.clear();
    assert_eq!(wait(&mut it, ASK_US, 30_000_000), None);
    assert!(it.world.cut.is_empty());
}

#[test]
fn what_is_under_way_to_a_peer_that_is_gone_fails_before_the_peer_is_lost() {
    let mut it = talked(6, Weather::default());
    it.world.apart[1] = true;
    assert!(it.send(0, 1, 5_000));
    it.work(0);
    let began = it.world.now;
    assert_eq!(wait(&mut it, ASK_US, 7_500_000), None);
    assert_eq!(it.world.messages.last().unwrap().fate, Fate::Failed);
    let lost = wait(&mut it, ASK_US, 60_000_000).expect("who waits on is told, too");
    assert!(lost.node.0 == 1 && !lost.restarted && it.world.now - began < 10_000_000, "{lost:?}");
}

/// All that an idle peer says is that it is there.
#[test]
fn an_answer_that_says_nothing_else_is_enough() {
    let mut it = talked(10, Weather::default());
    it.world.apart[1] = true;
    for _ in 0..60 {
        assert_eq!(wait(&mut it, ASK_US, ASK_US), None);
        for frame in std::mem::take(&mut it.world.cut) {
            if let Some(answer) = lwk_frames::frame::still_here(&frame) {
                it.receive(0, &answer);
            }
        }
    }
}

/// A node that comes back as another is as lost as one that stays away, and whoever waits for it learns that at once.
#[test]
fn a_peer_that_restarts_while_somebody_only_waits_is_lost() {
    let mut it = talked(7, Weather::default());
    assert_eq!(wait(&mut it, ASK_US, 3_000_000), None);
    it.restart(1);
    let lost = wait(&mut it, ASK_US, 60_000_000).expect("the question is answered by another life");
    assert!(lost.node.0 == 1 && lost.restarted, "{lost:?}");
    assert!(lost.silent_us < 4_000_000, "{lost:?}");
}

/// A node restarts when something is under way to it: the sender is told, whoever waits then, too.
#[test]
fn a_peer_that_restarts_in_the_middle_of_a_message_is_lost() {
    let mut it = talked(8, Weather::default());
    assert!(it.send(0, 1, 500_000));
    for _ in 0..10 {
        it.step(u64::MAX);
    }
    it.restart(1);
    let began = it.world.now;
    let lost = wait(&mut it, ASK_US, 60_000_000).expect("the rest is for a life that is over");
    assert!(lost.restarted && it.world.now - began < 10_000_000, "{lost:?}");
    assert_eq!(it.world.messages.last().unwrap().fate, Fate::Failed);
}

/// A peer that has given this node up, since the wire was cut for a while, lives: it has told its program.
#[test]
fn a_peer_that_has_given_this_node_up_is_not_taken_for_another_life() {
    let mut it = talked(9, Weather::default());
    it.world.apart[0] = true;
    assert!(it.send(1, 0, 5_000));
    it.settle();
    it.world.apart[0] = false;
    assert!(it.send(1, 0, 5_000) && it.send(1, 0, 5_000));
    it.settle();
    assert_eq!(it.world.messages.last().unwrap().delivered, 1);
    assert_eq!(wait(&mut it, ASK_US, 60_000_000), None);
}
