//! Event timers that firmware names, and others.

use lwk_acpi::{Tables, event_timer};

use crate::build::{self, POINTER, memory, table};

/// What follows the table's head: the timer's first register, generic address, number, least tick, protection.
fn body(space: u8, address: u64) -> Vec<u8> {
    let mut bytes = vec![0x01, 0xa2, 0x86, 0x80, space, 64, 0, 0];
    bytes.extend(address.to_le_bytes());
    bytes.extend([0, 0x80, 0, 0]);
    bytes
}

fn address_of(body: &[u8]) -> Option<u64> {
    let memory = memory(&[table(b"HPET", 1, &build::PLAIN, body)]);
    let found = Tables::new(&memory, POINTER).expect("a list of tables");
    event_timer(&found.find(b"HPET").expect("a table"))
}

#[test]
fn the_timer_of_chipsets_is_found() {
    assert_eq!(address_of(&body(0, 0xfed0_0000)), Some(0xfed0_0000));
}

#[test]
fn what_is_no_such_timer_counts_for_nothing() {
    // Ports, no address, one that no such timer has, a table that is too short.
    assert_eq!(address_of(&body(1, 0xfed0_0000)), None);
    assert_eq!(address_of(&body(0, 0)), None);
    assert_eq!(address_of(&body(0, 0xfed0_0100)), None);
    assert_eq!(address_of(&body(0, 0xfed0_0000)[..12]), None);
}
