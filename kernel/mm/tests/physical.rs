//! `lwk_mm::physical` against a model: one flag a page.

use lwk_mm::PhysAddr;
use lwk_mm::physical::{PhysRegion, PhysicalError, PhysicalMemory};
use proptest::prelude::*;

const PAGES: u64 = 96;
const PAGE: u64 = 0x1000;
/// Few, so that the list is often full.
const REGIONS: usize = 5;

#[derive(Clone, Debug)]
enum Step {
    Add(u64, u64),
    Remove(u64, u64),
    Allocate { pages: u64, align: u64, residue: u64 },
    AllocateBelow { pages: u64, align: u64, limit: u64 },
    Release(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || 0..PAGES * PAGE;
    let align = || (0u32..5).prop_map(|log| 1u64 << log);
    prop_oneof![
        (bytes(), 0..0x10_000u64)
            .prop_map(|(start, length)| Step::Add(start, (start + length).min(PAGES * PAGE))),
        (bytes(), 0..0x5000u64)
            .prop_map(|(start, length)| Step::Remove(start, (start + length).min(PAGES * PAGE))),
        (1..20u64, align(), 0..16u64).prop_map(|(pages, align, residue)| Step::Allocate {
            pages,
            align,
            residue: residue % align
        }),
        (1..20u64, align(), bytes()).prop_map(|(pages, align, limit)| Step::AllocateBelow {
            pages,
            align,
            limit
        }),
        (0..PAGES, 0..8u64).prop_map(|(page, pages)| Step::Release(page, pages.min(PAGES - page))),
    ]
}

type Model = Vec<bool>;

fn runs(model: &Model) -> Vec<PhysRegion> {
    let mut runs: Vec<PhysRegion> = Vec::new();
    for page in (0..PAGES).filter(|&page| model[page as usize]) {
        match runs.last_mut() {
            Some(run) if run.end == page * PAGE => run.end += PAGE,
            _ => runs.push(PhysRegion { start: page * PAGE, end: (page + 1) * PAGE }),
        }
    }
    runs
}

/// The model with these pages set, and whether the list can hold that.
fn with(model: &Model, pages: std::ops::Range<u64>, free: bool) -> (Model, bool) {
    let mut next = model.clone();
    next[pages.start as usize..pages.end as usize].fill(free);
    let fits = runs(&next).len() <= REGIONS;
    (next, fits)
}

/// The best place by looking at every page.
fn best(model: &Model, pages: u64, align: u64, residue: u64, limit: u64) -> Option<u64> {
    let regions = runs(model);
    (0..=PAGES.saturating_sub(pages))
        .filter(|first| first % align == residue && (first + pages) * PAGE <= limit)
        .filter_map(|first| {
            let inside = |r: &&PhysRegion| r.start <= first * PAGE && (first + pages) * PAGE <= r.end;
            let region = regions.iter().find(inside)?;
            let (next, fits) = with(model, first..first + pages, false);
            // Pieces as the list sees them: the regions more than before.
            let pieces = (runs(&next).len() + 1 - regions.len()) as u64;
            fits.then_some((pieces, region.bytes(), PAGES - first))
        })
        .min()
        .map(|(_, _, from_top)| (PAGES - from_top) * PAGE)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_list_is_the_model(steps in prop::collection::vec(step(), 1..60)) {
        let mut memory = PhysicalMemory::<REGIONS>::new();
        let mut model: Model = vec![false; PAGES as usize];
        for step in steps {
            match step {
                Step::Add(start, end) => {
                    let pages = start.div_ceil(PAGE)..(end / PAGE).max(start.div_ceil(PAGE));
                    let (next, fits) = with(&model, pages, true);
                    let expected = if fits { Ok(()) } else { Err(PhysicalError::TooManyRegions) };
                    prop_assert_eq!(memory.add(start, end), expected);
                    if fits { model = next; }
                }
                Step::Remove(start, end) => {
                    let pages = if start == end { 0..0 } else { start / PAGE..end.div_ceil(PAGE) };
                    let (next, fits) = with(&model, pages, false);
                    let expected = if fits { Ok(()) } else { Err(PhysicalError::TooManyRegions) };
                    prop_assert_eq!(memory.remove(start, end), expected);
                    if fits { model = next; }
                }
                Step::Allocate { pages, align, residue } => {
                    let expected = best(&model, pages, align, residue, PAGES * PAGE).map(PhysAddr::new);
                    // Any length that rounds up to as many pages.
                    let found = memory.allocate(pages * PAGE - 1, align * PAGE, residue * PAGE);
                    prop_assert_eq!(found, expected);
                    if let Some(start) = found {
                        model = with(&model, start.as_u64() / PAGE..start.as_u64() / PAGE + pages, false).0;
                    }
                }
                Step::AllocateBelow { pages, align, limit } => {
                    let expected = best(&model, pages, align, 0, limit).map(PhysAddr::new);
                    let found = memory.allocate_below(pages * PAGE, align * PAGE, limit);
                    prop_assert_eq!(found, expected);
                    if let Some(start) = found {
                        model = with(&model, start.as_u64() / PAGE..start.as_u64() / PAGE + pages, false).0;
                    }
                }
                Step::Release(first, pages) => {
                    let any_free = (first..first + pages).any(|page| model[page as usize]);
                    let (next, fits) = with(&model, first..first + pages, true);
                    let expected = match (any_free, fits) {
                        (true, _) => Err(PhysicalError::AlreadyFree),
                        (false, false) => Err(PhysicalError::TooManyRegions),
                        (false, true) => Ok(()),
                    };
                    prop_assert_eq!(memory.release(PhysAddr::new(first * PAGE), pages * PAGE), expected);
                    if expected.is_ok() { model = next; }
                }
            }
            let expected = runs(&model);
            prop_assert_eq!(memory.regions(), &expected[..]);
            prop_assert_eq!(memory.free_bytes(), model.iter().filter(|&&free| free).count() as u64 * PAGE);
            prop_assert_eq!(memory.largest(), expected.iter().map(PhysRegion::bytes).max().unwrap_or(0));
        }
    }

    #[test]
    fn no_argument_panics(steps in prop::collection::vec((0u8..5, any::<u64>(), any::<u64>(), any::<u64>()), 1..20)) {
        let mut memory = PhysicalMemory::<REGIONS>::new();
        for (kind, first, second, third) in steps {
            match kind {
                0 => drop(memory.add(first, second)),
                1 => drop(memory.remove(first, second)),
                2 => drop(memory.allocate(first, 1 << (second % 64), third)),
                3 => drop(memory.allocate_below(first >> (second % 64), 1 << (second % 64), third)),
                _ => drop(memory.release(PhysAddr::new_truncate(first), second)),
            }
            prop_assert!(memory.regions().windows(2).all(|pair| pair[0].end < pair[1].start));
        }
    }
}
