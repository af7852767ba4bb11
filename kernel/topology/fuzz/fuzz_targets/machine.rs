//! Any machine: processors that answer anything, numbered in any way, and any tables of memory. Parts lie in each other, every processor gets its turn
//! once, and every node that is named is there.
#![no_main]

use lwk_acpi::{Affinity, Distances, Memory, Tables};
use lwk_topology::{Answer, Binding, MemoryNodes, Own, PROCESSORS_MAX, ProgramWait, Shifts, order};

/// A processor's answers: leaf, subleaf and registers, 18 bytes each. Others are zero, or, as on Intel's, the last leaf's.
struct Processor<'a> {
    answers: &'a [u8],
    repeats: bool,
}

impl Processor<'_> {
    const BYTES: usize = 18;

    fn ask(&self, leaf: u32, subleaf: u32) -> Answer {
        let answers = || self.answers.chunks_exact(Self::BYTES);
        // The leaves that are asked for, so that few bytes name one.
        let is_asked = |answer: &&[u8]| {
            let kind = [0, 0x8000_0000][usize::from(answer[0] >> 7)];
            kind | u32::from(answer[0] & 0x7f) == leaf
                && (u32::from(answer[1]) == subleaf || answer[1] == 0xff)
        };
        let found = answers().find(is_asked).or_else(|| answers().last().filter(|_| self.repeats));
        let word = |at: usize| {
            let bytes = found.and_then(|answer| answer[at..].first_chunk());
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        Answer { eax: word(2), ebx: word(6), ecx: word(10), edx: word(14) }
    }
}

/// Physical memory with an SRAT, a SLIT and an HMAT whose bodies are any bytes.
#[derive(Clone, Copy)]
struct Flat<'a>(&'a [u8]);

impl<'a> Memory<'a> for Flat<'a> {
    fn read(self, address: u64, bytes: usize) -> Option<&'a [u8]> {
        self.0.get(usize::try_from(address).ok()?..)?.get(..bytes)
    }
}

const ROOT: usize = 16;
const LIST: usize = 64;

/// Makes a structure add up to zero by the byte at `place`.
fn mend(bytes: &mut [u8], place: usize) {
    bytes[place] = 0;
    bytes[place] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
}

fn table(signature: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = signature.to_vec();
    bytes.extend((36 + body.len() as u32).to_le_bytes());
    bytes.extend([2; 28]);
    bytes.extend(body);
    mend(&mut bytes, 9);
    bytes
}

fn firmware(bodies: [&[u8]; 3]) -> Vec<u8> {
    let tables: Vec<_> =
        [b"SRAT", b"SLIT", b"HMAT"].into_iter().zip(bodies).map(|(s, b)| table(s, b)).collect();
    let mut pointer = b"RSD PTR \0MARGAY\0".to_vec();
    pointer.extend((LIST as u32).to_le_bytes());
    mend(&mut pointer, 8);
    let mut at = LIST + 36 + 4 * tables.len();
    let mut list = Vec::new();
    for table in &tables {
        list.extend((at as u32).to_le_bytes());
        at += table.len();
    }
    let mut memory = vec![0; ROOT];
    memory.extend(pointer);
    memory.resize(LIST, 0);
    memory.extend(table(b"RSDT", &list));
    memory.extend(tables.concat());
    memory
}

fn check_processor(processor: &Processor<'_>) -> Own {
    let own = Own::read(|leaf, subleaf| processor.ask(leaf, subleaf));
    let Shifts { core, package, l2, l3 } = own.shifts;
    assert!(core <= l2 && l2 <= l3 && l3 <= package && package < 32, "{own:?}");
    let _ = ProgramWait::read(|leaf, subleaf| processor.ask(leaf, subleaf));
    own
}

fn check_order(ids: &[u32], own: &Own) {
    for binding in [Binding::Scatter, Binding::Compact, Binding::Threads] {
        let mut found = order(ids, |place| place % 3 == 0 && own.slow, &own.shifts, binding).to_vec();
        found.sort_unstable();
        assert!(found.into_iter().eq(0..ids.len().min(PROCESSORS_MAX)));
    }
    for pair in ids.windows(2) {
        let same = |shift| own.part(pair[0], shift) == own.part(pair[1], shift);
        // Who shares a part shares all that the part lies in.
        assert!(!same(own.shifts.core) || same(own.shifts.l2));
        assert!(!same(own.shifts.l2) || same(own.shifts.l3));
    }
}

fn check_nodes(nodes: &MemoryNodes<'_>, ids: &[u32]) {
    let there = |node: Option<usize>| node.is_none_or(|node| node < nodes.count());
    assert!(ids.iter().all(|id| there(nodes.of_core(*id))));
    for node in 0..nodes.count() {
        let nearest = nodes.nearest(node);
        for (place, near) in nearest.iter().enumerate() {
            assert!(nodes.memory(*near).count() > 0 && !nearest[..place].contains(near));
        }
        for (start, end) in nodes.memory(node) {
            assert!(start < end && there(nodes.of_memory(start)) && nodes.of_memory(end - 1).is_some());
        }
    }
    assert!(nodes.nearest(nodes.count()).is_empty());
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[answers, ids, srat, slit, flags], mut rest)) = input.split_first_chunk() else { return };
    let mut take = |bytes: usize| {
        let (taken, later) = rest.split_at(bytes.min(rest.len()));
        rest = later;
        taken
    };
    let processor =
        Processor { answers: take(usize::from(answers % 16) * Processor::BYTES), repeats: flags & 1 != 0 };
    let own = check_processor(&processor);
    // Numbers are different, as the firmware's are when the kernel asks.
    let mut numbers: Vec<u32> = Vec::new();
    for bytes in take(2 * usize::from(ids)).chunks_exact(2) {
        let number = u32::from(u16::from_le_bytes([bytes[0], bytes[1]])) << (flags >> 4);
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    check_order(&numbers, &own);
    let (srat, slit) = (take(4 * usize::from(srat)), take(usize::from(slit)));
    let memory = firmware([srat, slit, take(usize::MAX)]);
    let tables = Tables::new(Flat(&memory), ROOT as u64).expect("the root is valid");
    let distances = Distances::new(tables.find(b"SLIT"), tables.find(b"HMAT"));
    check_nodes(&MemoryNodes::new(tables.find(b"SRAT").map(Affinity::new), distances), &numbers);
});
