use crate::{Claim, Descriptor, Gate, Helped, Partitions, Passage, Readiness, Seen};

#[test]
fn what_another_use_has_left_is_nothing() {
    let descriptor = Descriptor::new();
    assert_eq!(descriptor.look(1), Seen::Nothing);
    descriptor.ask_for_help(1, [1, 2, 3, 4], 99);
    assert_eq!(descriptor.look(1), Seen::Help { target: [1, 2, 3, 4], length: 99 });
    assert_eq!(descriptor.look(2), Seen::Nothing);
    descriptor.finish(1);
    assert_eq!((descriptor.look(1), descriptor.look(2)), (Seen::Done, Seen::Nothing));
}

#[test]
fn a_message_is_taken_once_wherever_it_is() {
    let descriptor = Descriptor::new();
    assert!(descriptor.reserve(1) && !descriptor.cancel(1, None) && descriptor.relocate(1, 70, None));
    assert_eq!(descriptor.claim(1), Claim::Elsewhere(70));
    assert!(!descriptor.cancel(1, None) && !descriptor.relocate(1, 72, None));
    assert_eq!(descriptor.look(1), Seen::Nothing);
    descriptor.finish(1);
    assert!(descriptor.cancel(2, None) && descriptor.is_cancelled(2) && !descriptor.is_given_up(2, None));
    assert!(!descriptor.reserve(2) && !descriptor.relocate(2, 73, None));
    assert_eq!(descriptor.claim(2), Claim::Cancelled);
    assert!(descriptor.may_relocate(3, None) && !descriptor.may_relocate(2, None));
    assert!(descriptor.is_given_up(2, None) && !descriptor.is_cancelled(2));
    assert_eq!(descriptor.claim(3), Claim::InPlace);
}

/// Numbers come again.
#[test]
fn what_an_older_use_of_the_same_number_has_left_is_nothing() {
    let descriptor = Descriptor::new();
    descriptor.finish(1);
    assert!(descriptor.cancel(2, None));
    assert_eq!(descriptor.claim(2), Claim::Cancelled);
    assert!(descriptor.is_given_up(2, None));
    assert_eq!(descriptor.look(1), Seen::Nothing);
}

#[test]
fn a_gate_is_passed_once() {
    let (descriptor, gate) = (Descriptor::new(), Gate::new());
    let at = |position| Some(Passage::new(&gate, position));
    assert_eq!(Passage::new(&gate, 0).claim(&descriptor), Claim::InPlace);
    assert!(!descriptor.cancel(1, at(0)) && !descriptor.relocate(1, 70, at(0)));
    assert!(descriptor.may_relocate(2, at(64)) && descriptor.relocate(2, 71, at(64)));
    assert!(!descriptor.cancel(2, at(64)) && !descriptor.may_relocate(2, at(64)));
    assert_eq!(Passage::new(&gate, 64).claim(&descriptor), Claim::Elsewhere(71));
    assert!(descriptor.cancel(3, at(128)) && !descriptor.is_given_up(3, at(128)));
    assert_eq!(Passage::new(&gate, 128).claim(&descriptor), Claim::Cancelled);
    assert!(descriptor.is_given_up(3, at(128)));
}

/// The cells of the ring are used again while the receiver holds a message.
#[test]
fn a_held_message_is_cancelled_at_its_descriptor_when_later_ones_have_passed() {
    let (first, second, gate) = (Descriptor::new(), Descriptor::new(), Gate::new());
    let at = |position| Passage::new(&gate, position);
    assert_eq!(first.hold(1, at(0)), Claim::InPlace);
    assert_eq!(at(64).claim(&second), Claim::InPlace);
    assert!(first.cancel(1, Some(at(0))) && first.is_cancelled(1));
    assert!(!second.cancel(1, Some(at(64))));
    assert_eq!(first.claim(1), Claim::Cancelled);
    assert_eq!(first.hold(2, at(128)), Claim::InPlace);
    assert_eq!(at(192).claim(&second), Claim::InPlace);
    assert!(first.relocate(2, 70, Some(at(128))));
    assert_eq!(first.claim(2), Claim::Elsewhere(70));
}

#[test]
fn a_held_message_is_the_senders_again_until_it_is_claimed() {
    let (descriptor, gate) = (Descriptor::new(), Gate::new());
    let at = |position| Passage::new(&gate, position);
    assert_eq!(descriptor.hold(1, at(0)), Claim::InPlace);
    assert!(descriptor.may_relocate(1, Some(at(0))) && descriptor.relocate(1, 70, Some(at(0))));
    assert!(descriptor.reserve(1) && !descriptor.cancel(1, Some(at(0))));
    assert_eq!(descriptor.claim(1), Claim::Elsewhere(70));
    assert_eq!(descriptor.hold(2, at(64)), Claim::InPlace);
    assert!(descriptor.cancel(2, Some(at(64))) && descriptor.is_cancelled(2));
    assert!(!descriptor.reserve(2) && !descriptor.is_given_up(2, Some(at(64))));
    assert_eq!(descriptor.claim(2), Claim::Cancelled);
    assert!(descriptor.is_given_up(2, Some(at(64))));
    assert!(descriptor.relocate(3, 71, Some(at(128))));
    assert_eq!(descriptor.hold(3, at(128)), Claim::Elsewhere(71));
}

/// Numbers come again.
#[test]
fn what_holding_a_cancelled_message_has_left_is_nothing() {
    let (descriptor, gate) = (Descriptor::new(), Gate::new());
    assert!(descriptor.cancel(1, Some(Passage::new(&gate, 0))));
    assert_eq!(descriptor.hold(1, Passage::new(&gate, 0)), Claim::Cancelled);
    assert!(descriptor.is_given_up(1, Some(Passage::new(&gate, 0))));
    let again = Passage::new(&gate, 64);
    assert_eq!(again.claim(&descriptor), Claim::InPlace);
    assert!(!descriptor.cancel(1, Some(again)) && !descriptor.relocate(1, 70, Some(again)));
}

#[test]
fn chunks_are_given_once_and_counted_with_their_failure() {
    let descriptor = Descriptor::new();
    descriptor.renew();
    assert_eq!([descriptor.take_chunk(), descriptor.take_chunk()], [0, 1]);
    assert_eq!((descriptor.helped(0), descriptor.helped(1)), (Helped::All, Helped::NotYet));
    descriptor.tell_helped(1, false);
    assert_eq!((descriptor.helped(1), descriptor.helped(2)), (Helped::All, Helped::NotYet));
    descriptor.tell_helped(2, true);
    assert_eq!(descriptor.helped(2), Helped::Failed);
    descriptor.renew();
    assert_eq!((descriptor.take_chunk(), descriptor.helped(0)), (0, Helped::All));
}

#[test]
fn a_partition_is_marked_once_a_round_and_only_if_it_is_there() {
    let channel = Partitions::new((0..2).map(|_| Readiness::new()).collect());
    assert!(channel.mark_ready(1, 1));
    assert!(!channel.mark_ready(1, 1) && !channel.mark_ready(2, 1));
    assert!(channel.words()[1].is_ready(1) && !channel.words()[0].is_ready(1));
    assert!(!channel.words()[1].is_ready(2) && channel.mark_ready(1, 2));
    assert!(!channel.is_copied(1) && !channel.is_left());
    channel.tell_copied(1);
    channel.leave();
    assert!(channel.is_copied(1) && !channel.is_copied(2) && channel.is_left());
}
