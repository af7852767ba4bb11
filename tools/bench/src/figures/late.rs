//! Figure 6.5: the producer's time for a message by what its consumer computes, with the hybrid's thresholds by skew and without, beside both of its parts and the
//! consumer's computation, for which the document's formula has the producer wait.

use lwk::progress::Step;

use super::asked::{Asked, Outcomes, file};
use super::values::value;
use crate::node::program::BENCHMARKS;
use crate::node::results::Measurement;
use crate::skew::{self, BY_SKEW, KERNEL, NOT_BY_SKEW, TWICE, WAYS};

/// The source's name, and its test.
pub const PROGRAM: &str = "late";
pub const TEST: &str = "producer";
/// The line of the consumer's computation.
const EXPECTED: &str = "consumer's computing (c2)";

/// Measures by `mpi-bench` on two ranks.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    for way in WAYS {
        let what = format!("a producer whose consumer is late, {way}");
        let _step = Step::begin(format!("measuring {what}"), asked.verbose);
        let (transport, options) = skew::options(way);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let measured = BENCHMARKS[0].run_with(asked.place, skew::TEST, Some(transport), &options, way, 2);
        file(&mut all, &what, measured.map(|measured| measured.into_iter().map(own)));
    }
    let expected = all.0.iter().filter(|one| one.transport == TWICE).filter_map(expected);
    let expected: Vec<Measurement> = expected.collect();
    all.0.extend(expected);
    all
}

fn own(one: Measurement) -> Measurement {
    Measurement { program: PROGRAM.into(), test: TEST.into(), floor: None, ratio: None, ..one }
}

/// Of the document, at the same computation.
fn expected(one: &Measurement) -> Option<Measurement> {
    Some(Measurement { transport: EXPECTED.into(), value: one.of.parse().ok()?, ..one.clone() })
}

/// Whether the producer waits for nine tenths of a computation of 100 us or more by the kernel's copy, and by the hybrid without thresholds by skew, and with them at
/// most 1.2 times as long as by shared memory beside one of 50 us.
pub fn skew_is_overcome(all: &[Measurement]) -> Option<bool> {
    let at = |way, computing| value(all, TEST, way, Some(computing));
    let waits = at(KERNEL, 100)? >= 90.0 && at(NOT_BY_SKEW, 100)? >= 90.0;
    Some(waits && at(BY_SKEW, 50)? <= 1.2 * at(TWICE, 50)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::asked::of;

    #[test]
    fn without_thresholds_it_waits_and_with_them_it_does_not() {
        let one = |way: &str, computing: u64, value| {
            own(of("mpi-bench", skew::TEST, way, 2, ("microseconds", computing.to_string()), (value, "us")))
        };
        let all = |with, without| {
            [
                one(TWICE, 50, 2.0),
                one(BY_SKEW, 50, with),
                one(KERNEL, 100, 96.0),
                one(NOT_BY_SKEW, 100, without),
            ]
        };
        assert_eq!(skew_is_overcome(&all(2.3, 96.0)), Some(true));
        assert_eq!(skew_is_overcome(&all(2.5, 96.0)), Some(false));
        assert_eq!(skew_is_overcome(&all(2.3, 3.0)), Some(false));
        assert_eq!(skew_is_overcome(&all(2.3, 96.0)[..3]), None);
        let expected = expected(&all(2.3, 96.0)[0]).unwrap();
        assert_eq!(
            (expected.transport.as_str(), expected.of.as_str(), expected.value),
            (EXPECTED, "50", 50.0)
        );
    }
}
