//! Broken tables: whatever the bytes, the reader ends, and says nothing that is not in memory.

use lwk_acpi::{Problem, Tables, processors};

use crate::build::{self, POINTER, Physical, memory, table};
use crate::entries::local_apic;
use crate::exercise;

/// One of each table, with bodies of random bytes but right checksums: so the entries' own lengths are what is tried.
fn random_tables(random: &mut fastrand::Rng) -> Physical {
    let signatures = [b"APIC", b"FACP", b"SRAT", b"SLIT", b"HMAT", b"MCFG", b"SPCR"];
    let tables = signatures.map(|signature| {
        let mut body: Vec<u8> = (0..random.usize(..400)).map(|_| random.u8(..)).collect();
        // Small lengths and types are the likely ones.
        body.iter_mut().filter(|_| random.bool()).for_each(|byte| *byte %= 41);
        table(signature, random.u8(..7), &build::PLAIN, &body)
    });
    memory(&tables)
}

#[test]
fn random_bodies_are_read_to_an_end() {
    let mut random = fastrand::Rng::with_seed(20_261_122);
    for _ in 0..5_000 {
        exercise::read_all(&random_tables(&mut random));
    }
}

#[test]
fn a_table_with_a_wrong_sum_does_not_count() {
    let mut bytes = table(b"APIC", 4, &build::PLAIN, &[0; 8]);
    bytes[30] ^= 1;
    let memory = memory(&[
        bytes.clone(),
        table(b"APIC", 4, &build::PLAIN, &[&[0; 8][..], &local_apic(0, 3, 1)].concat()),
    ]);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");
    let madt = found.find(b"APIC").expect("the second one is valid");
    assert_eq!(processors(&madt).collect::<Vec<_>>(), [3]);
}

#[test]
fn an_entry_of_no_length_ends_the_list() {
    let body = [&[0; 8][..], &local_apic(0, 1, 1), &[0, 0, 0, 0], &local_apic(0, 2, 1)].concat();
    let memory = memory(&[table(b"APIC", 4, &build::PLAIN, &body)]);
    let found = Tables::new(&memory, POINTER).expect("the root is valid");
    assert_eq!(processors(&found.find(b"APIC").expect("cores")).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_damaged_root_is_named() {
    let good = memory(&[]);
    let with = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = good.0.clone();
        change(&mut bytes);
        let memory = Physical(bytes);
        Tables::new(&memory, POINTER).err()
    };
    assert_eq!(with(&|_| ()), None);
    assert_eq!(with(&|bytes| bytes[POINTER as usize] = b'X'), Some(Problem::NoPointer));
    assert_eq!(with(&|bytes| bytes[POINTER as usize + 9] ^= 1), Some(Problem::NoPointer));
    // The long list is damaged: the short one is as good.
    assert_eq!(with(&|bytes| bytes[POINTER as usize + 33] ^= 1), None);
    let end = good.0.len();
    assert_eq!(with(&|bytes| bytes[0x1000..end].fill(0)), Some(Problem::NoList));
    assert!(Tables::new(&good, u64::MAX - 3).is_err());
}
