//! Random and damaged job files: `lwk_job` never panics, and every right file is read back as it was written.

use lwk_job::Job;
use proptest::prelude::*;

/// Bytes that a record can carry.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1u8..=255, 0..12)
}

fn record(key: &str, value: &[u8]) -> Vec<u8> {
    [key.as_bytes(), b"=", value, b"\0"].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(error) = Job::parse(&bytes) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn what_is_written_is_read(
        ranks in 1u32..=255,
        memory in 1u64..,
        arguments in prop::collection::vec(text(), 1..6),
        environment in prop::collection::vec(text(), 0..6),
        cores in prop::option::of(1u32..),
        report in any::<bool>(),
        shift in any::<u8>(),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut records = vec![record("ranks", ranks.to_string().as_bytes()), record("mem", memory.to_string().as_bytes())];
        records.extend(cores.map(|cores| record("cores", cores.to_string().as_bytes())));
        records.extend(report.then(|| record("report", b"1")));
        // The single keys may stand anywhere between the repeated ones.
        let singles = records.len();
        records.extend(arguments.iter().map(|argument| record("arg", argument)));
        records.extend(environment.iter().map(|variable| record("env", variable)));
        let moved = records.remove(shift as usize % singles);
        records.push(moved);
        let mut file = records.concat();
        let job = Job::parse(&file).expect("a right file");
        prop_assert_eq!((job.ranks, job.memory, job.cores, job.report), (ranks, memory, cores, report));
        prop_assert!(job.arguments().eq(arguments.iter().map(Vec::as_slice)));
        prop_assert!(job.environment().eq(environment.iter().map(Vec::as_slice)));
        prop_assert!(Job::parse(&file[..file.len() - 1]).is_err(), "a cut file");

        let (place, value) = damage;
        let place = place.index(file.len());
        file[place] = value;
        if let Ok(job) = Job::parse(&file) {
            prop_assert!((1..=255).contains(&job.ranks) && job.memory > 0 && job.arguments().count() > 0);
        }
    }
}
