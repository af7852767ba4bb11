//! Both queues against the simplest model: a list that is searched from its beginning.

use lwk_matching::{Key, Pattern, Posted, Token, Unexpected};
use lwk_place::WorldRank;
use proptest::prelude::*;

/// Few values, so that keys collide all the time.
fn key() -> impl Strategy<Value = Key> {
    (0..2u32, 0..3u32, 0..3i32).prop_map(|(context, source, tag)| Key {
        context,
        source: WorldRank(source),
        tag,
    })
}

fn pattern() -> impl Strategy<Value = Pattern> {
    (0..2u32, prop::option::of(0..3u32), prop::option::of(0..3i32))
        .prop_map(|(context, source, tag)| Pattern { context, source: source.map(WorldRank), tag })
}

#[derive(Clone, Debug)]
enum Step {
    Receive(Pattern),
    Arrive(Key),
    /// A message that is none after all: its receive is as old as before.
    Vanish(Key),
    Withdraw(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => pattern().prop_map(Step::Receive),
        3 => key().prop_map(Step::Arrive),
        2 => key().prop_map(Step::Vanish),
        1 => any::<prop::sample::Index>().prop_map(Step::Withdraw),
    ]
}

proptest! {
    #[test]
    fn a_message_takes_the_oldest_receive(steps in prop::collection::vec(step(), 0..200)) {
        let mut posted = Posted::new();
        let mut model: Vec<(Pattern, usize)> = Vec::new();
        let mut tokens: Vec<(Token, usize)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Receive(pattern) => {
                    tokens.push((posted.post(*pattern, number), number));
                    model.push((*pattern, number));
                }
                Step::Arrive(key) => {
                    let place = model.iter().position(|(pattern, _)| pattern.accepts(key));
                    prop_assert_eq!(posted.take(key), place.map(|place| model.remove(place).1));
                }
                Step::Vanish(key) => {
                    let place = model.iter().position(|(pattern, _)| pattern.accepts(key));
                    let value = posted.take(key);
                    prop_assert_eq!(value, place.map(|place| model[place].1));
                    if let (Some(place), Some(value)) = (place, value)
                        && let Some((token, _)) = tokens.iter_mut().find(|(_, number)| *number == value)
                    {
                        *token = posted.put_back(model[place].0, *token, value);
                    }
                }
                Step::Withdraw(which) if !tokens.is_empty() => {
                    let (token, value) = *which.get(&tokens);
                    let place = model.iter().position(|(_, number)| *number == value);
                    prop_assert_eq!(posted.withdraw(token), place.map(|place| model.remove(place)));
                }
                Step::Withdraw(_) => {}
            }
            prop_assert_eq!(posted.len(), model.len());
        }
    }

    #[test]
    fn a_receive_takes_the_oldest_message(steps in prop::collection::vec(step(), 0..200)) {
        let mut unexpected = Unexpected::new();
        let mut model: Vec<(Key, usize)> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            match step {
                Step::Arrive(key) => {
                    unexpected.add(*key, number);
                    model.push((*key, number));
                }
                Step::Receive(pattern) => {
                    let place = model.iter().position(|(key, _)| pattern.accepts(key));
                    let found = place.map(|place| model[place]);
                    prop_assert_eq!(unexpected.find(pattern).map(|(key, number)| (*key, *number)), found);
                    prop_assert_eq!(unexpected.take(pattern), found);
                    if let Some(place) = place {
                        model.remove(place);
                    }
                }
                Step::Withdraw(_) | Step::Vanish(_) => {}
            }
            prop_assert_eq!(unexpected.len(), model.len());
        }
    }
}
