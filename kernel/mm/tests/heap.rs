//! `lwk_mm::heap` against a model: one owner a page, and whether a program may have written to it.

use lwk_mm::heap::{Grant, Heap, HeapError};
use proptest::prelude::*;

const PAGES: u64 = 48;
const PAGE: u64 = 0x1000;
const START: u64 = 0x41_0000;
const END: u64 = START + PAGES * PAGE;
/// Few, so that the list is often full.
const AREAS: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Brk(u64),
    Map(u64),
    MapFixed(u64, u64),
    Unmap(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let address = || (0..PAGES + 2).prop_map(|page| START + page * PAGE - PAGE);
    let bytes = || prop_oneof![5 => 1..10 * PAGE, 1 => Just(0), 1 => any::<u64>()];
    prop_oneof![
        (START - PAGE..END + PAGE).prop_map(Step::Brk),
        bytes().prop_map(Step::Map),
        (address(), bytes()).prop_map(|(address, bytes)| Step::MapFixed(address, bytes)),
        (address(), bytes()).prop_map(|(address, bytes)| Step::Unmap(address, bytes)),
        any::<(u64, u64)>().prop_map(|(address, bytes)| Step::Unmap(address, bytes)),
    ]
}

#[derive(Clone)]
struct Model {
    brk: u64,
    area: Vec<bool>,
    /// Written since the kernel last cleared it.
    written: Vec<bool>,
}

impl Model {
    fn break_pages(&self) -> u64 {
        (self.brk - START).div_ceil(PAGE)
    }

    /// First address and end of each.
    fn areas(&self) -> Vec<(u64, u64)> {
        let mut areas: Vec<(u64, u64)> = Vec::new();
        for page in (0..PAGES).filter(|&page| self.area[page as usize]) {
            let start = START + page * PAGE;
            match areas.last_mut() {
                Some((_, end)) if *end == start => *end += PAGE,
                _ => areas.push((start, start + PAGE)),
            }
        }
        areas
    }

    fn with_area(&self, pages: std::ops::Range<u64>, mapped: bool) -> Option<Model> {
        let mut next = self.clone();
        next.area[pages.start as usize..pages.end as usize].fill(mapped);
        (next.areas().len() <= AREAS).then_some(next)
    }

    fn map(&self, first: u64, pages: u64) -> Result<(u64, Model), HeapError> {
        let next = self.with_area(first..first + pages, true).ok_or(HeapError::NoMemory)?;
        Ok((START + first * PAGE, next))
    }

    /// Whole pages of a length, if that many could be in a heap at all.
    fn pages(bytes: u64) -> Option<u64> {
        Some(bytes.div_ceil(PAGE)).filter(|&pages| pages <= PAGES)
    }

    /// What was granted is clear once the stale part is, no other page is cleared, and then the program writes to it.
    fn write(&mut self, pages: std::ops::Range<u64>, grant: &Grant) -> Result<(), TestCaseError> {
        for page in 0..PAGES {
            let address = START + page * PAGE;
            let times = grant.stale.iter().filter(|span| span.touches(address, address + 1)).count();
            prop_assert!(times < 2, "page {} is cleared twice", page);
            let cleared = times > 0;
            if pages.contains(&page) {
                prop_assert!(cleared || !self.written[page as usize], "page {} is granted as it was", page);
                self.written[page as usize] = true;
            } else {
                prop_assert!(!cleared, "page {} is not granted but cleared", page);
            }
        }
        prop_assert!(
            grant
                .stale
                .iter()
                .all(|span| span.start() < span.end() && span.start() % PAGE == 0 && span.end() % PAGE == 0)
        );
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_heap_is_the_model(steps in prop::collection::vec(step(), 1..60)) {
        let mut heap = Heap::<AREAS>::new(START, END);
        let mut model =
            Model { brk: START, area: vec![false; PAGES as usize], written: vec![false; PAGES as usize] };
        for step in steps {
            match step {
                Step::Brk(requested) => {
                    let limit = model.areas().first().map_or(END, |area| area.0);
                    let before = model.break_pages();
                    if (START..=limit).contains(&requested) {
                        model.brk = requested;
                    }
                    let grant = heap.brk(requested);
                    prop_assert_eq!(grant.address, model.brk);
                    let after = model.break_pages();
                    model.write(before..after.max(before), &grant)?;
                }
                Step::Map(bytes) => {
                    let expected = match Model::pages(bytes) {
                        Some(0) => Err(HeapError::Invalid),
                        None => Err(HeapError::NoMemory),
                        Some(pages) => (model.break_pages()..=PAGES - pages)
                            .rev()
                            .find(|&first| (first..first + pages).all(|page| !model.area[page as usize]))
                            .ok_or(HeapError::NoMemory)
                            .and_then(|first| model.map(first, pages)),
                    };
                    check(heap.map(bytes), expected, bytes, &mut model)?;
                }
                Step::MapFixed(address, bytes) => {
                    let expected = match Model::pages(bytes) {
                        Some(0) => Err(HeapError::Invalid),
                        Some(pages) if address >= START + model.break_pages() * PAGE && address + pages * PAGE <= END => {
                            model.map((address - START) / PAGE, pages)
                        }
                        _ => Err(HeapError::NoMemory),
                    };
                    check(heap.map_fixed(address, bytes), expected, bytes, &mut model)?;
                }
                Step::Unmap(address, bytes) => {
                    let expected = match Model::pages(bytes) {
                        Some(pages) if pages > 0 && address % PAGE == 0 && (START..=END - pages * PAGE).contains(&address) => {
                            let first = (address - START) / PAGE;
                            model.with_area(first..first + pages, false).ok_or(HeapError::NoMemory)
                        }
                        _ => Err(HeapError::Invalid),
                    };
                    prop_assert_eq!(heap.unmap(address, bytes), expected.as_ref().map(|_| ()).map_err(|&error| error));
                    if let Ok(next) = expected { model = next; }
                }
            }
            let expected = model.areas();
            let areas: Vec<_> = heap.areas().iter().map(|area| (area.start(), area.end())).collect();
            prop_assert_eq!(areas, expected);
        }
    }

    /// Growing a fresh heap from both sides clears nothing: the kernel did when it made the segment.
    #[test]
    fn fresh_memory_is_not_cleared_again(sizes in prop::collection::vec(1..4 * PAGE, 1..20)) {
        let mut heap = Heap::<AREAS>::new(START, END);
        let mut brk = START;
        for (index, bytes) in sizes.into_iter().enumerate() {
            let stale = if index % 2 == 0 {
                let grant = heap.brk(brk + bytes);
                brk = grant.address;
                grant.stale
            } else {
                heap.map(bytes).map(|grant| grant.stale).unwrap_or_default()
            };
            prop_assert!(stale.is_empty());
        }
    }
}

/// Compares a mapping call with the model's, and takes the model's new state.
fn check(
    result: Result<Grant, HeapError>,
    expected: Result<(u64, Model), HeapError>,
    bytes: u64,
    model: &mut Model,
) -> Result<(), TestCaseError> {
    match (result, expected) {
        (Ok(grant), Ok((address, next))) => {
            prop_assert_eq!(grant.address, address);
            *model = next;
            let first = (address - START) / PAGE;
            model.write(first..first + bytes.div_ceil(PAGE), &grant)
        }
        (result, expected) => {
            prop_assert_eq!(result.map(|grant| grant.address), expected.map(|(address, _)| address));
            Ok(())
        }
    }
}
