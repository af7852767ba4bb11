//! Random datatypes against their type maps: bounds, order of bytes, packing, transfers, counts, signatures.

use crate::model::{Map, recipe};
use lwk_datatype::{Basic, Cursor, Match, Plain, Region, Transfer, pack, unpack};
use proptest::prelude::*;

/// The displacement of every byte from a position on, as the cursor walks it.
fn walked(datatype: &lwk_datatype::Datatype, count: u64, position: u64, hop: u64) -> Vec<i64> {
    let mut cursor = Cursor::new(datatype.layout().unwrap(), count, position).unwrap();
    let mut bytes = Vec::new();
    while let Some(piece) = cursor.peek().unwrap() {
        let take = hop.min(piece.block * piece.count);
        bytes.extend(
            (0..take)
                .map(|i| piece.disp + (i / piece.block) as i64 * piece.stride + (i % piece.block) as i64),
        );
        cursor.advance(take);
    }
    bytes
}

/// Memory around a message: the buffer and the address of displacement 0.
pub struct Memory {
    pub bytes: Vec<u8>,
    pub origin: i64,
}

impl Memory {
    pub fn around(message: &[i64], seed: u8) -> Memory {
        let low = message.iter().min().copied().unwrap_or(0);
        let high = message.iter().max().copied().unwrap_or(0);
        let length = (high - low + 1) as usize;
        let bytes = (0..length).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect();
        Memory { bytes, origin: -low }
    }

    pub fn base(&mut self) -> usize {
        (self.bytes.as_mut_ptr() as usize).wrapping_add_signed(self.origin as isize)
    }

    pub fn at(&self, disp: i64) -> u8 {
        self.bytes[(disp + self.origin) as usize]
    }
}

pub fn overlaps(message: &[i64]) -> bool {
    let mut sorted = message.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

fn check_bounds(datatype: &lwk_datatype::Datatype, map: &Map) {
    assert_eq!(datatype.size(), map.size());
    assert_eq!((datatype.lb(), datatype.ub(), datatype.extent()), (map.lb(), map.ub(), map.extent()));
    assert_eq!((datatype.true_lb(), datatype.true_extent()), (map.true_lb(), map.true_ub() - map.true_lb()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounds_and_bytes_are_those_of_the_type_map(
        recipe in recipe(), count in 0..4i64, hop in 1..40u64, start in any::<prop::sample::Index>(),
    ) {
        let (datatype, map) = (recipe.make().unwrap(), recipe.map());
        check_bounds(&datatype, &map);
        datatype.commit();
        let bytes = map.bytes(count);
        prop_assert_eq!(datatype.overlaps(count as u64).unwrap(), overlaps(&bytes));
        prop_assert_eq!(datatype.pack_size(count).unwrap(), bytes.len() as u64);
        prop_assert_eq!(&walked(&datatype, count as u64, 0, u64::MAX), &bytes);
        let from = start.index(bytes.len() + 1);
        prop_assert_eq!(&walked(&datatype, count as u64, from as u64, hop)[..], &bytes[from..]);
        if let Some((disp, length)) = datatype.contiguous(count as u64) {
            prop_assert_eq!(length, bytes.len() as u64);
            prop_assert!(bytes.iter().enumerate().all(|(i, byte)| *byte == disp + i as i64));
        } else {
            prop_assert!(bytes.windows(2).any(|pair| pair[1] != pair[0] + 1), "contiguous and not seen as such");
        }
    }

    #[test]
    fn packing_and_unpacking_any_part_moves_the_right_bytes(
        recipe in recipe(), count in 0..4i64, a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(),
    ) {
        let (datatype, map) = (recipe.make().unwrap(), recipe.map());
        datatype.commit();
        let message = map.bytes(count);
        let (a, b) = (a.index(message.len() + 1), b.index(message.len() + 1));
        let (from, to) = (a.min(b), a.max(b));
        let mut memory = Memory::around(&message, 7);
        let mut packed = vec![0u8; to - from];
        let region = datatype.region(memory.base(), count).unwrap();
        // SAFETY: `memory` spans every byte of the message and `packed` has the length given; neither is shared.
        unsafe { pack(&Plain, region, from as u64, packed.as_mut_ptr() as usize, packed.len() as u64) }.unwrap();
        let expected: Vec<u8> = message[from..to].iter().map(|disp| memory.at(*disp)).collect();
        prop_assert_eq!(&packed, &expected);

        let fresh: Vec<u8> = (0..packed.len()).map(|i| (i as u8) ^ 0xa5).collect();
        let mut expected = memory.bytes.clone();
        for (byte, disp) in fresh.iter().zip(&message[from..to]) {
            expected[(disp + memory.origin) as usize] = *byte;
        }
        if !overlaps(&message) {
            // SAFETY: `fresh` has the length given, `memory` spans every byte of the message, and those do
            // not overlap each other.
            unsafe { unpack(&Plain, fresh.as_ptr() as usize, fresh.len() as u64, region, from as u64) }.unwrap();
            prop_assert_eq!(&memory.bytes, &expected);
        }
    }

    #[test]
    fn a_transfer_in_chunks_takes_any_layout_to_any_other(
        source in recipe(), target in recipe(), count in 0..4i64, chunk in 1..70u64,
    ) {
        let (from, to) = (source.make().unwrap(), target.make().unwrap());
        from.commit();
        to.commit();
        let (ours, theirs) = (source.map().bytes(count), target.map().bytes(3));
        prop_assume!(!overlaps(&theirs));
        let (mut here, mut there) = (Memory::around(&ours, 3), Memory::around(&theirs, 101));
        let (source, target) = (from.region(here.base(), count).unwrap(), to.region(there.base(), 3).unwrap());
        let bytes = ours.len().min(theirs.len());
        prop_assert_eq!(Transfer::new(source, target).is_ok(), ours.len() <= theirs.len());
        let mut expected = there.bytes.clone();
        for (a, b) in ours.iter().zip(&theirs) {
            expected[(b + there.origin) as usize] = here.at(*a);
        }
        let mut transfer = Transfer::range(source, 0, target, 0, bytes as u64).unwrap();
        let mut moved = 0;
        while transfer.remaining() > 0 {
            // SAFETY: both memories span their messages, are distinct, and the target's bytes do not overlap each other.
            let step = unsafe { transfer.step(&Plain, chunk) }.unwrap();
            prop_assert_eq!(step, chunk.min(bytes as u64 - moved));
            moved += step;
        }
        prop_assert_eq!(moved, bytes as u64);
        prop_assert_eq!(&there.bytes, &expected);
    }

    #[test]
    fn elements_and_counts_are_those_of_the_type_map(recipe in recipe(), bytes in 0..600u64) {
        let (datatype, map) = (recipe.make().unwrap(), recipe.map());
        let size = map.size() as u64;
        let count = if size == 0 { (bytes == 0).then_some(0) } else { (bytes % size == 0).then(|| bytes / size) };
        prop_assert_eq!(datatype.count_of(bytes), count);
        let (mut left, mut elements) = (bytes, 0);
        let whole = loop {
            if left == 0 {
                break Some(elements);
            }
            let Some((basic, _)) = map.entries.get(elements as usize % map.entries.len().max(1)) else { break None };
            if (basic.size() as u64) > left {
                break None;
            }
            left -= basic.size() as u64;
            elements += 1;
        };
        prop_assert_eq!(datatype.elements_of(bytes), whole);
        if let Some(elements) = whole {
            prop_assert_eq!(datatype.bytes_of(elements), Some(bytes));
        }
    }

    #[test]
    fn signatures_compare_as_their_sequences(one in recipe(), other in recipe(), m in 0..4i64, n in 0..4i64, same in any::<bool>()) {
        let other = if same { one.clone() } else { other };
        let sequence = |map: &Map, count: i64| -> Vec<Basic> {
            (0..count).flat_map(|_| map.entries.iter().map(|e| e.0)).collect()
        };
        let (a, b) = (sequence(&one.map(), m), sequence(&other.map(), n));
        prop_assume!(!a.contains(&Basic::Packed) && !b.contains(&Basic::Packed));
        let expected = match a.len().min(b.len()) {
            both if a[..both] != b[..both] => Match::Different,
            both if b.len() > both => Match::Shorter,
            both if a.len() > both => Match::Longer,
            _ => Match::Same,
        };
        let (x, y) = (one.make().unwrap(), other.make().unwrap());
        prop_assert_eq!(x.matches(m as u64, &y, n as u64), expected);
        prop_assert_eq!(x.fingerprint(m as u64) == y.fingerprint(n as u64), a == b);
        let external: usize = a.iter().map(|basic| basic.external_size()).sum();
        prop_assert_eq!(x.pack_external_size(m).unwrap(), external as u64);
    }

    #[test]
    fn words_of_a_damaged_layout_are_refused_or_walked_to_an_end(
        recipe in recipe(), at in any::<prop::sample::Index>(), value in prop_oneof![any::<u64>(), 0..20u64], hop in 1..50u64,
    ) {
        let datatype = recipe.make().unwrap();
        datatype.commit();
        let mut words = datatype.layout().unwrap().words().to_vec();
        let at = at.index(words.len());
        words[at] = value;
        if let Ok(layout) = lwk_datatype::LayoutView::from_words(&words)
            && let Ok(mut cursor) = Cursor::new(layout, 2, 1)
        {
            for _ in 0..2000 {
                match cursor.peek() {
                    Ok(Some(piece)) => cursor.advance(hop.min(piece.block)),
                    Ok(None) | Err(_) => break,
                }
            }
        }
    }
}

/// Bytes of an uneven layout split at every place: the seeks of the two halves meet.
#[test]
fn two_cores_can_copy_the_halves() {
    use lwk_datatype::{Datatype, Form};
    let int = Datatype::predefined(Basic::Int);
    let vector = Datatype::vector(Form::Int, 5, 3, 4, &int).unwrap();
    vector.commit();
    let data: Vec<i32> = (0..200).collect();
    for split in 0..=(vector.size() as u64 * 2) {
        let mut out = vec![0u8; vector.size() as usize * 2];
        let region = vector.region(data.as_ptr() as usize, 2).unwrap();
        let target = Region::bytes(out.as_mut_ptr() as usize, out.len() as u64);
        for (from, to) in [(split, out.len() as u64), (0, split)] {
            let mut half = Transfer::range(region, from, target, from, to - from).unwrap();
            // SAFETY: `data` holds two items of the vector and `out` as many bytes.
            unsafe { half.step(&Plain, u64::MAX) }.unwrap();
        }
        let ints: Vec<i32> = out.chunks(4).map(|b| i32::from_ne_bytes(b.try_into().unwrap())).collect();
        let expected = (0..2).flat_map(|i| (0..5).flat_map(move |b| (0..3).map(move |e| i * 19 + b * 4 + e)));
        assert!(ints.iter().copied().eq(expected), "split at {split}");
    }
}
