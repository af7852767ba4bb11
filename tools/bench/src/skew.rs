//! Figure 6.5 of Chai's dissertation: a producer that sends without blocking to a consumer that computes between its receives (`mpi-bench skew_by_computing`), by ways
//! that let the producer wait and ways that do not.

use crate::tune::switching_at;

/// The test, and its messages in bytes.
pub const TEST: &str = "skew_by_computing";
/// The ways.
pub const TWICE: &str = "shm-basic";
pub const KERNEL: &str = "limic2";
pub const BY_SKEW: &str = "hybrid, by skew";
pub const NOT_BY_SKEW: &str = "hybrid, not by skew";
pub const WAYS: [&str; 4] = [TWICE, KERNEL, BY_SKEW, NOT_BY_SKEW];
/// Where `hybrid` switches, in bytes: the least of the dissertation's points, so that the kernel copies the benchmark's 16 KiB whatever the distance, where nobody
/// is late.
const SWITCH_AT: u64 = 1 << 10;

/// The transport of a way, and more options of `run`.
pub fn options(way: &str) -> (&str, Vec<String>) {
    match way {
        BY_SKEW => ("hybrid", switching_at(SWITCH_AT, true)),
        NOT_BY_SKEW => ("hybrid", switching_at(SWITCH_AT, false)),
        transport => (transport, Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_abi::runtime::TRANSPORTS;

    #[test]
    fn ways_differ_in_the_thresholds_by_skew_alone() {
        let (with, without) = (options(BY_SKEW), options(NOT_BY_SKEW));
        assert_eq!((with.0, without.0, &without.1[..with.1.len()]), ("hybrid", "hybrid", &with.1[..]));
        assert_eq!(without.1[with.1.len()..], ["--env", "MARGAY_SHM_SKEW_ABOVE=0"]);
        assert!(WAYS.iter().all(|way| TRANSPORTS.contains(&options(way).0)));
    }
}
