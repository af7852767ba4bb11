//! Any bytes: no reader of messages panics, what it accepts is written and read again as the same, and a handshake with them fails.
#![no_main]

use lwk_control::message::{Answer, Hello, Order, Request, Word, encode, parse};
use lwk_control::{Key, accept, connect};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn check<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    if let Ok(message) = parse::<M>(bytes) {
        let again = encode(&message).expect("what was read can be written");
        assert_eq!(parse::<M>(&again).expect("and read again"), message);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::<Hello>(bytes);
    check::<Request>(bytes);
    check::<Answer>(bytes);
    check::<Order>(bytes);
    check::<Word>(bytes);
    let key = Key::new([7; 32]);
    assert!(accept(&key, bytes, Vec::new()).is_err());
    assert!(connect(&key, bytes, Vec::new()).is_err());
});
