//! Consoles that firmware names, of the shapes that machines' dumps have, and others.

use lwk_acpi::{SerialConsole, SerialPlace, Tables, serial_console};

use crate::build::{self, POINTER, memory, table};

/// What follows the table's head: interface, generic address, baud rate, and later fields. Without a change, the COM1 of most servers.
fn body(interface: u8, address: [u8; 4], place: u64, baud: u8) -> Vec<u8> {
    let mut bytes = vec![0u8; 44];
    bytes[0] = interface;
    bytes[4..8].copy_from_slice(&address);
    bytes[8..16].copy_from_slice(&place.to_le_bytes());
    bytes[16] = 3;
    bytes[17] = 4;
    bytes[22] = baud;
    bytes[24] = 1;
    bytes[28..32].fill(0xff);
    bytes
}

fn console_of(revision: u8, body: &[u8]) -> Option<SerialConsole> {
    let memory = memory(&[table(b"SPCR", revision, &build::PLAIN, body)]);
    let found = Tables::new(&memory, POINTER).expect("a list of tables");
    serial_console(&found.find(b"SPCR").expect("a table"))
}

const PORTS: [u8; 4] = [1, 8, 0, 1];

#[test]
fn ports_of_servers_are_read() {
    let at = |place, baud_rate| Some(SerialConsole { place: SerialPlace::Ports(place), baud_rate });
    assert_eq!(console_of(1, &body(0, PORTS, 0x3f8, 7)), at(0x3f8, Some(115_200)));
    // Serial over LAN, as management controllers have it.
    assert_eq!(console_of(2, &body(0, [1, 8, 0, 0], 0x2f8, 6)), at(0x2f8, Some(57_600)));
    assert_eq!(console_of(2, &body(1, PORTS, 0x3e8, 3)), at(0x3e8, Some(9_600)));
    assert_eq!(console_of(2, &body(0, PORTS, 0x2e8, 4)), at(0x2e8, Some(19_200)));
    assert_eq!(console_of(2, &body(0, PORTS, 0x3f8, 0)), at(0x3f8, None));
    assert_eq!(console_of(2, &body(0, PORTS, 0x3f8, 5)), at(0x3f8, None), "no rate has this number");
}

#[test]
fn registers_in_memory_have_a_distance() {
    let at = |stride| {
        let place = SerialPlace::Memory { address: 0xfe03_4000, stride };
        Some(SerialConsole { place, baud_rate: Some(115_200) })
    };
    // Platform controller hubs and boards of AMD: 32 bits wide.
    assert_eq!(console_of(2, &body(0x12, [0, 32, 0, 3], 0xfe03_4000, 7)), at(4));
    assert_eq!(console_of(2, &body(0x12, [0, 32, 0, 0], 0xfe03_4000, 7)), at(4));
    assert_eq!(console_of(2, &body(0, [0, 8, 0, 3], 0xfe03_4000, 7)), at(4));
    assert_eq!(console_of(2, &body(0, [0, 8, 0, 1], 0xfe03_4000, 7)), at(1));
    // The width is that of the whole device where the interface is not of this kind.
    assert_eq!(console_of(2, &body(0, [0, 32, 0, 1], 0xfe03_4000, 7)), at(1));
}

#[test]
fn a_precise_rate_counts_from_revision_four_on() {
    let mut long = body(0, PORTS, 0x3f8, 7);
    long.extend(921_600u32.to_le_bytes());
    long.extend([0; 4]);
    assert_eq!(console_of(4, &long).and_then(|it| it.baud_rate), Some(921_600));
    assert_eq!(console_of(2, &long).and_then(|it| it.baud_rate), Some(115_200));
    assert_eq!(console_of(4, &body(0, PORTS, 0x3f8, 7)).and_then(|it| it.baud_rate), Some(115_200));
}

#[test]
fn what_is_no_such_device_counts_for_nothing() {
    // A PL011 of ARM, a device of USB, an address that is none, a port that is none, configuration space.
    for (interface, address, place) in [
        (3, [0, 32, 0, 3], 0x900_0000),
        (0x13, PORTS, 0x3f8),
        (0, PORTS, 0),
        (0, PORTS, 0x1_0000),
        (0, PORTS, 0xfff9),
        (0, [2, 8, 0, 1], 0x3f8),
    ] {
        assert_eq!(
            console_of(2, &body(interface, address, place, 7)),
            None,
            "{interface} {address:?} {place:#x}"
        );
    }
    let whole = body(0, PORTS, 0x3f8, 7);
    for length in 0..16 {
        assert_eq!(console_of(2, &whole[..length]), None, "{length} bytes");
    }
    assert_eq!(console_of(2, &whole[..22]).map(|it| it.baud_rate), Some(None));
}
