//! Switching off and resetting, by tables written field by field.

use lwk_acpi::{PowerOff, Reset, Tables, power_off, reset};

use crate::build::{PLAIN, POINTER, memory, table};

/// Byte code with a method around it, as compilers write the object.
const OFF: &[u8] = b"\x5b\x80NVRM\x00\x08_S5_\x12\x06\x04\x0a\x05\x0a\x07\x00\x00\x14\x06_PTS\x01";

/// A fixed table with the fields at these offsets, each of as many bytes as given; the offsets are the specification's.
fn fixed(fields: &[(usize, &[u8])]) -> Vec<u8> {
    let mut body = vec![0; 276 - 36];
    for (offset, bytes) in fields {
        body[offset - 36..][..bytes.len()].copy_from_slice(bytes);
    }
    table(b"FACP", 6, &PLAIN, &body)
}

/// What a machine with this fixed table and this byte code, in a table of its own, says of switching off.
fn off(fields: &[(usize, &[u8])], code: &[u8]) -> Option<PowerOff> {
    let memory = memory(&[
        fixed(fields),
        table(b"SSDT", 2, &PLAIN, b"\x08_S4_\x12\x02\x01\x00"),
        table(b"SSDT", 2, &PLAIN, code),
    ]);
    power_off(&Tables::new(&memory, POINTER).expect("a list of tables"))
}

const PORT: (usize, &[u8]) = (64, &[0x04, 0x06, 0, 0]);

#[test]
fn the_two_registers_and_their_values_are_found() {
    let one = PowerOff { first: (0x604, 5), second: None, enable: None };
    assert_eq!(off(&[PORT], OFF), Some(one));
    let second = (68, &[0x84, 0x06, 0, 0][..]);
    let command: [(usize, &[u8]); 2] = [(48, &[0xb2, 0, 0, 0]), (52, &[0xf1])];
    let both = PowerOff { first: (0x604, 5), second: Some((0x684, 7)), enable: Some((0xb2, 0xf1)) };
    assert_eq!(off(&[PORT, second, command[0], command[1]], OFF), Some(both));
    // The later field counts, and one that is not behind a port cannot be used.
    let later = (172, &[1, 16, 0, 2, 0x04, 0x18, 0, 0, 0, 0, 0, 0][..]);
    assert_eq!(off(&[PORT, later], OFF).map(|it| it.first), Some((0x1804, 5)));
    let in_memory = (172, &[0, 16, 0, 2, 0x04, 0x18, 0, 0, 0, 0, 0, 0][..]);
    assert_eq!(off(&[PORT, in_memory], OFF), None);
}

#[test]
fn the_main_byte_code_is_read_where_the_fixed_table_says() {
    let main = table(b"DSDT", 2, &PLAIN, b"\x08\\_S5_\x12\x04\x02\x01\x00");
    let list = memory(&[main.clone(), fixed(&[PORT])]);
    // The first table of the memory, in the later field and in the earlier one.
    for (offset, width) in [(140, 8), (40, 4)] {
        let memory = memory(&[main.clone(), fixed(&[PORT, (offset, &0x1000u64.to_le_bytes()[..width])])]);
        let found = power_off(&Tables::new(&memory, POINTER).expect("a list of tables"));
        assert_eq!(found.map(|it| it.first), Some((0x604, 1)), "{offset}");
    }
    // Nobody names it.
    assert_eq!(power_off(&Tables::new(&list, POINTER).expect("a list of tables")), None);
}

#[test]
fn what_is_no_such_package_counts_for_nothing() {
    let wrong: [&[u8]; 8] = [
        b"",
        b"\x08_S5_",
        b"\x08_S5_\x12",
        b"\x08_S5_\x12\x06\x04\x0a",
        b"\x08_S5_\x12\x06\x04\x0a\x08\x00",
        b"\x08_S5_\x12\xc6\x04\x0a\x05\x0a\x05",
        b"\x14_S5_\x12\x06\x04\x0a\x05\x0a\x05\x00\x00",
        b"_S5_\x12\x06\x04\x0a\x05\x0a\x05\x00\x00",
    ];
    for code in wrong {
        assert_eq!(off(&[PORT], code), None, "{code:x?}");
    }
    assert_eq!(off(&[], OFF), None);
    // A long package.
    assert_eq!(
        off(&[PORT], b"\x08_S5_\x12\x48\x00\x04\x00\x01\x00\x00").map(|it| it.first),
        Some((0x604, 0))
    );
}

#[test]
fn the_reset_register_counts_if_its_flag_is_set() {
    let of = |fields: &[(usize, &[u8])]| {
        let memory = memory(&[fixed(fields)]);
        reset(&Tables::new(&memory, POINTER).expect("a list of tables").find(b"FACP").expect("a table"))
    };
    let flag = (112, &[0, 4, 0, 0][..]);
    let port = (116, &[1, 8, 0, 1, 0xf9, 0x0c, 0, 0, 0, 0, 0, 0][..]);
    let place = (116, &[0, 8, 0, 1, 0, 0, 0, 0xfe, 0, 0, 0, 0][..]);
    let value = (128, &[6][..]);
    assert_eq!(of(&[flag, port, value]), Some(Reset::Port(0xcf9, 6)));
    assert_eq!(of(&[flag, place, value]), Some(Reset::Memory(0xfe00_0000, 6)));
    assert_eq!(of(&[port, value]), None);
    assert_eq!(of(&[flag, value]), None);
}
