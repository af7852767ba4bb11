//! How often the card interrupts and is told of frames, with event indices and without. Indices wrap in each of these.

use super::*;

/// More than indices have values.
const FRAMES_IN_ALL: u32 = 150_000;

/// As the kernel works frames: the card is silent meanwhile.
fn serve(bench: &mut Bench) -> u32 {
    bench.driver.interrupt(false);
    let taken = take_all(bench);
    bench.driver.interrupt(true);
    taken + take_all(bench)
}

fn take_all(bench: &mut Bench) -> u32 {
    let mut taken = 0;
    while let Some(frame) = bench.driver.receive() {
        bench.driver.give_back(frame);
        taken += 1;
    }
    taken
}

fn both(test: impl Fn(Bench)) {
    for plain in [false, true] {
        test(Bench::with(Card { plain, ..Card::default() }));
    }
}

#[test]
fn each_frame_interrupts_once_at_low_rate() {
    both(|mut bench| {
        for frame in 1..=FRAMES_IN_ALL {
            bench.wire.card().arrive(&[7; 60]);
            assert_eq!(bench.wire.card().interrupts, frame.into());
            assert_eq!(serve(&mut bench), 1);
        }
    });
}

#[test]
fn frames_that_are_worked_through_do_not_interrupt() {
    both(|mut bench| {
        bench.wire.card().arrive(&[7; 60]);
        bench.driver.interrupt(false);
        for _ in 1..FRAMES_IN_ALL {
            // Another one has come whenever one has been looked at.
            bench.wire.card().arrive(&[7; 60]);
            let frame = bench.driver.receive().expect("a frame has come");
            bench.driver.give_back(frame);
        }
        let interrupts = bench.wire.card().interrupts;
        assert!(interrupts < u64::from(FRAMES_IN_ALL) / 10_000, "{interrupts} interrupts");
        assert_eq!(serve(&mut bench), 1);
        bench.wire.card().arrive(&[7; 60]);
        assert_eq!(bench.wire.card().interrupts, interrupts + 1, "at once when it is idle again");
    });
}

/// By event indices a card that nobody serves yet interrupts for the first frame only.
#[test]
fn a_burst_interrupts_once() {
    let mut bench = Bench::new();
    for burst in 1..=FRAMES_IN_ALL / 100 {
        (0..100).for_each(|_| bench.wire.card().arrive(&[7; 60]));
        assert_eq!(bench.wire.card().interrupts, burst.into());
        assert_eq!(serve(&mut bench), 100);
    }
}

/// A rank's call may take frames while the card may interrupt.
#[test]
fn a_frame_interrupts_after_others_were_taken_without_an_interrupt() {
    both(|mut bench| {
        for frame in 1..=FRAMES_IN_ALL {
            bench.wire.card().arrive(&[7; 60]);
            assert_eq!(bench.wire.card().interrupts, frame.into());
            assert_eq!(take_all(&mut bench), 1);
        }
    });
}

#[test]
fn an_idle_card_is_told_of_each_frame_and_a_busy_one_at_powers_of_two() {
    let mut bench = Bench::new();
    for frame in 1..=FRAMES_IN_ALL {
        assert!(bench.send(&frame.to_le_bytes(), b""));
        assert_eq!((bench.driver.counts().doorbells, bench.sent().len()), (frame.into(), 1));
    }
    for burst in 1..=FRAMES_IN_ALL / 100 {
        (0..100).for_each(|_| assert!(bench.send(b"one of many", b"")));
        let told = bench.driver.counts().doorbells;
        // At 1, 2, 4, … and 64 frames.
        assert_eq!((told, bench.sent().len()), ((FRAMES_IN_ALL + 7 * burst).into(), 100));
    }
}

/// A card that has been told of a frame and has not seen it asks for nothing more.
#[test]
fn a_card_that_has_lost_a_notification_is_told_again() {
    let mut bench = Bench::new();
    assert!(bench.send(b"lost", b""));
    assert!(bench.send(b"and told again", b""));
    assert_eq!(bench.driver.counts().doorbells, 2);
    assert_eq!(bench.sent().len(), 2);
    // It is lost again, and no other frame follows: whoever waits has the card looked after.
    assert!(bench.send(b"lost", b""));
    bench.driver.look_after(0);
    assert_eq!(bench.driver.counts().doorbells, 3);
    bench.driver.look_after(1);
    assert_eq!((bench.driver.counts().doorbells, bench.driver.counts().resets), (4, 0));
    assert_eq!(bench.sent().len(), 1);
    bench.driver.look_after(2);
    assert_eq!(bench.driver.counts().doorbells, 4, "nothing is untaken");
}
