//! Tables of machines that exist, written after their public dumps: the checksum that comes out is the dump's.

use lwk_acpi::{
    Affinity, ConfigurationSpace, Distances, Memory, Range, Tables, Timer, configuration_spaces, processors,
    timer,
};

use crate::build::{self, Maker, POINTER, memory, table};
use crate::entries::{local_apic, local_x2apic, locality, near_core, near_core_x2, near_memory};

/// A server by Supermicro with two packages of 24 cores of two threads, 256 GiB and 240 GiB (some of it persistent), dumped with its public description in 2024.
const SERVER: Maker = Maker {
    oem: b"SUPERM",
    table: b"SMCI--MB",
    revision: 0,
    compiler: b"INTL",
    compiler_revision: 0x2009_1013,
};

/// Interrupt controller numbers of the server, in the order of its table: first threads of both packages, then second ones.
fn server_ids() -> Vec<u32> {
    let package = |base: u32| (0..24).map(move |core| base + 2 * core);
    [0x00, 0x40, 0x01, 0x41].into_iter().flat_map(package).collect()
}

fn server_madt() -> Vec<u8> {
    let mut body = 0xfee0_0000u32.to_le_bytes().to_vec();
    body.extend(1u32.to_le_bytes());
    let uids = [0x00, 0x40, 0x18, 0x58].into_iter().flat_map(|base| (0..24).map(move |core| base + core));
    for (uid, id) in uids.zip(server_ids()) {
        body.extend(local_apic(uid, id as u8, 1));
    }
    body.extend([1, 12, 8, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
    body.extend([2, 10, 0, 0, 2, 0, 0, 0, 0, 0]);
    body.extend([2, 10, 0, 9, 9, 0, 0, 0, 13, 0]);
    body.extend([4, 6, 0xff, 5, 0, 1]);
    body.extend([10, 12, 5, 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0]);
    table(b"APIC", 4, &SERVER, &body)
}

fn server_slit() -> Vec<u8> {
    let maker = Maker { revision: 1, compiler: b"AMI ", compiler_revision: 0x0100_0013, ..SERVER };
    table(b"SLIT", 1, &maker, &[2, 0, 0, 0, 0, 0, 0, 0, 10, 20, 20, 10])
}

/// Start, bytes and domain of the server's memory.
const SERVER_MEMORY: [(u64, u64, u32); 6] = [
    (0, 0x8000_0000, 0),
    (0x1_0000_0000, 0x3f_8000_0000, 0),
    (0x40_8000_0000, 0x10_0000_0000, 1),
    (0x50_8000_0000, 0x20_0000_0000, 1),
    (0x70_8000_0000, 0x8_0000_0000, 1),
    (0x78_8000_0000, 0x4_0000_0000, 1),
];

fn server_hmat() -> Vec<u8> {
    let mut body = vec![0; 4];
    for (start, bytes, domain) in SERVER_MEMORY {
        body.extend([0, 0, 0, 0, 40, 0, 0, 0, 3, 0, 0, 0]);
        body.extend([domain, domain, 0].into_iter().flat_map(u32::to_le_bytes));
        body.extend([start, bytes].into_iter().flat_map(u64::to_le_bytes));
    }
    for (data, unit, near, far) in
        [(1, 100, 0x2f8, 0x54c), (2, 100, 0x2f8, 0x54c), (4, 1, 0x45ec, 0x45ec), (5, 1, 0x4a9c, 0x4a9c)]
    {
        body.extend(locality(data, unit, &[0, 1], &[near, far, far, near]));
    }
    table(b"HMAT", 1, &Maker { revision: 1, ..SERVER }, &body)
}

fn server_mcfg() -> Vec<u8> {
    let maker = Maker { revision: 0x0107_2009, compiler: b"MSFT", compiler_revision: 0x97, ..SERVER };
    let mut body = vec![0; 8];
    body.extend(0x8000_0000u64.to_le_bytes());
    body.extend([0, 0, 0, 0xff, 0, 0, 0, 0]);
    table(b"MCFG", 1, &maker, &body)
}

/// The server's table of fixed hardware: fields by their offsets.
fn server_fadt() -> Vec<u8> {
    let mut bytes = vec![0; 276];
    let mut put = |offset: usize, value: &[u8]| bytes[offset..offset + value.len()].copy_from_slice(value);
    for (offset, value) in [
        (36, 0x6af0_d000u32),
        (40, 0x6aa7_3000),
        (44, 0x0009_0400),
        (48, 0xb2),
        (56, 0x500),
        (64, 0x504),
        (72, 0x550),
        (76, 0x508),
        (80, 0x580),
        (88, 0x0401_0204),
        (92, 0x20),
        (96, 0x03e9_0065),
        (100, 0x0010_0400),
        (104, 0x000d_0001),
        (108, 0x1100),
        (112, 0x84a5),
        (116, 0x0801),
        (120, 0xcf9),
        (128, 0x0200_0006),
        (140, 0x6aa7_3000),
        (148, 0x0200_2001),
        (152, 0x500),
        (172, 0x0200_1001),
        (176, 0x504),
        (196, 0x0100_0801),
        (200, 0x550),
        (208, 0x0300_2001),
        (212, 0x508),
        (220, 0x0100_ff01),
        (224, 0x580),
    ] {
        put(offset, &value.to_le_bytes());
    }
    table(b"FACP", 6, &Maker { revision: 0x0107_2009, ..SERVER }, &bytes[36..])
}

/// Its affinities: the dump fills the table up with entries that do not count.
fn server_srat() -> Vec<u8> {
    let mut body = 1u32.to_le_bytes().to_vec();
    body.extend([0; 8]);
    for id in server_ids() {
        body.extend(near_core(id as u8, id >> 6, 1));
    }
    for _ in 0..32 {
        body.extend(near_core(0xff, 0, 0));
    }
    for (start, bytes, domain) in SERVER_MEMORY {
        body.extend(near_memory(start, bytes, domain, 1));
    }
    body.extend(near_memory(0, 0, 0, 0));
    table(b"SRAT", 3, &SERVER, &body)
}

fn checksum(table: &[u8]) -> u8 {
    table[9]
}

#[test]
fn a_server_is_read_as_its_dump_says() {
    let tables = [server_fadt(), server_madt(), server_srat(), server_slit(), server_hmat(), server_mcfg()];
    let sums: Vec<u8> = tables.iter().map(|table| checksum(table)).collect();
    // That of the affinities is not the dump's: its list of cores that are not there is longer.
    assert_eq!((sums[0], sums[1], sums[3], sums[4], sums[5]), (0x7e, 0xf8, 0x58, 0x0f, 0x34));
    let memory = memory(&tables);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");

    let madt = found.find(b"APIC").expect("a table of cores");
    assert_eq!(processors(&madt).collect::<Vec<_>>(), server_ids());
    let fadt = found.find(b"FACP").expect("a table of fixed hardware");
    assert_eq!(timer(&fadt), Some(Timer { port: 0x508, mask: 0x00ff_ffff }));
    let mcfg = found.find(b"MCFG").expect("a table of configuration spaces");
    let space = ConfigurationSpace { base: 0x8000_0000, segment: 0, first_bus: 0, last_bus: 255 };
    assert_eq!(configuration_spaces(&mcfg).collect::<Vec<_>>(), [space]);

    let affinity = Affinity::new(found.find(b"SRAT").expect("a table of affinities"));
    let domains: Vec<(u32, u32)> = affinity.initiators().map(|it| (it.apic_id, it.domain)).collect();
    assert_eq!(domains, server_ids().into_iter().map(|id| (id, id >> 6)).collect::<Vec<_>>());
    let ranges = SERVER_MEMORY.map(|(start, bytes, domain)| Range { start, end: start + bytes, domain });
    assert_eq!(affinity.ranges().collect::<Vec<_>>(), ranges);

    for hmat in [found.find(b"HMAT"), None] {
        for slit in [found.find(b"SLIT"), None] {
            let distances = Distances::new(slit, hmat);
            assert_eq!(distances.nearest(0, &[1, 0])[..], [0, 1]);
            assert_eq!(distances.nearest(1, &[0, 1])[..], [1, 0]);
        }
    }
    assert!(found.find(b"SPCR").is_none());
}

#[test]
fn latencies_come_before_distances_if_all_are_told() {
    // Four domains in a ring; the HMAT knows that 2 is nearer to 0 than 1, and nothing of domain 3.
    let slit =
        [vec![4, 0, 0, 0, 0, 0, 0, 0], (0..16).map(|i| 10 + 5 * ((i % 4) ^ (i / 4))).collect()].concat();
    let hmat = [vec![0; 4], locality(0, 1, &[0, 1, 2], &[10, 30, 20, 30, 10, 20, 20, 20, 10])].concat();
    let tables = [table(b"SLIT", 1, &build::PLAIN, &slit), table(b"HMAT", 2, &build::PLAIN, &hmat)];
    let memory = memory(&tables);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");
    let distances = Distances::new(found.find(b"SLIT"), found.find(b"HMAT"));
    assert_eq!(distances.nearest(0, &[0, 1, 2])[..], [0, 2, 1]);
    assert_eq!(distances.nearest(0, &[0, 1, 2, 3])[..], [0, 1, 2, 3]);
    assert_eq!(distances.nearest(3, &[0, 1, 2, 3])[..], [3, 2, 1, 0]);
}

#[test]
fn what_cannot_be_reached_is_left_out() {
    let slit = [2, 0, 0, 0, 0, 0, 0, 0, 10, 255, 255, 10];
    let memory = memory(&[table(b"SLIT", 1, &build::PLAIN, &slit)]);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");
    let distances = Distances::new(found.find(b"SLIT"), None);
    assert_eq!(distances.nearest(0, &[0, 1])[..], [0]);
}

#[test]
fn the_first_revision_has_one_byte_of_domain() {
    let entries = [near_core(1, 0x0102_0304, 1), near_memory(0, 4096, 0x0102_0304, 1)].concat();
    for (revision, domain) in [(1, 4), (2, 0x0102_0304)] {
        let body = [&[0; 12][..], &entries].concat();
        let memory = memory(&[table(b"SRAT", revision, &build::PLAIN, &body)]);
        let found = Tables::new(&memory, POINTER).expect("the root is valid");
        let affinity = Affinity::new(found.find(b"SRAT").expect("a table of affinities"));
        assert_eq!(affinity.initiators().map(|it| it.domain).collect::<Vec<_>>(), [domain]);
        assert_eq!(affinity.ranges().map(|it| it.domain).collect::<Vec<_>>(), [domain]);
    }
}

#[test]
fn cores_with_numbers_above_255_and_ones_that_do_not_count() {
    let entries =
        [local_apic(0, 4, 1), local_apic(1, 5, 0), local_apic(2, 255, 1), local_x2apic(3, 0x1234, 1)];
    let more = [local_x2apic(4, 0x1235, 2), local_x2apic(5, u32::MAX, 1)];
    let madt = [&[0; 8][..], &entries.concat(), &more.concat()].concat();
    let srat = [&[0; 12][..], &near_core_x2(0x1234, 7, 1), &near_memory(0, 4096, 7, 1 | 4)].concat();
    let memory = memory(&[table(b"APIC", 5, &build::PLAIN, &madt), table(b"SRAT", 3, &build::PLAIN, &srat)]);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");
    assert_eq!(processors(&found.find(b"APIC").expect("cores")).collect::<Vec<_>>(), [4, 0x1234]);
    let affinity = Affinity::new(found.find(b"SRAT").expect("affinities"));
    assert_eq!(affinity.initiators().map(|it| (it.apic_id, it.domain)).collect::<Vec<_>>(), [(0x1234, 7)]);
    assert_eq!(affinity.ranges().count(), 0, "non-volatile memory holds no segment");
}

#[test]
fn memory_that_is_not_there_is_no_table() {
    let whole = memory(&[server_madt()]);
    for end in 0..whole.0.len() {
        let cut = build::Physical(whole.0[..end].to_vec());
        if let Ok(found) = Tables::new(&cut, POINTER) {
            assert!(found.find(b"APIC").is_none_or(|madt| processors(&madt).count() == 96));
        }
        assert!((&cut).read(POINTER, end).is_none() || end == 0);
    }
}
