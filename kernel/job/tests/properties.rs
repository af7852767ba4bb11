//! Random and damaged job files: `lwk_job` never panics, and every right file is read back as it was written.

use lwk_job::{Console, End, Inject, Job, LogLevel, Network, Writer};
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
        prop_assert_eq!((job.ranks, job.memory, job.cores, job.report), (ranks, Some(memory), cores, report));
        prop_assert!(job.arguments().eq(arguments.iter().map(Vec::as_slice)));
        prop_assert!(job.environment().eq(environment.iter().map(Vec::as_slice)));
        prop_assert!(Job::parse(&file[..file.len() - 1]).is_err(), "a cut file");

        let mut again = Vec::new();
        let mut writer = Writer::new(&mut again, ranks, Some(memory));
        cores.into_iter().for_each(|cores| writer.cores(cores));
        writer.report(report);
        arguments.iter().for_each(|argument| writer.argument(argument));
        environment.iter().for_each(|variable| writer.variable(variable));
        let written = Job::parse(&again).expect("what the writer writes");
        prop_assert_eq!((written.ranks, written.memory, written.cores, written.report), (ranks, Some(memory), cores, report));
        prop_assert!(written.arguments().eq(job.arguments()) && written.environment().eq(job.environment()));

        let (place, value) = damage;
        let place = place.index(file.len());
        file[place] = value;
        if let Ok(job) = Job::parse(&file) {
            prop_assert!((1..=255).contains(&job.ranks) && job.memory != Some(0) && job.arguments().count() > 0);
        }
    }
}

/// Every choice comes back as it was written.
#[test]
fn every_choice_is_read_back() {
    let levels = [LogLevel::Error, LogLevel::Warn, LogLevel::Info, LogLevel::Debug, LogLevel::Trace];
    let ends = [End::Exit, End::Wait, End::Halt, End::Off, End::Reset];
    let ways = [
        Inject::Panic,
        Inject::PageFault,
        Inject::StackOverflow,
        Inject::InvalidInstruction,
        Inject::EarlyPageFault,
        Inject::CorePageFault,
        Inject::LostCore,
        Inject::StaleMemory,
    ];
    for (index, way) in ways.into_iter().enumerate() {
        let (level, end) = (levels[index % levels.len()], ends[index % ends.len()]);
        let console = if index % 2 == 0 { Console::Framed } else { Console::Plain };
        let on = index % 2 == 0;
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 255, Some(u64::MAX));
        writer.argument(b"a=\nb");
        writer.log(level);
        writer.end(end);
        writer.console(console);
        writer.inject(way);
        writer.oversubscribe(on);
        writer.out(!on);
        writer.file_space(index as u64 + 1);
        writer.folder(b"/a b");
        writer.bind(b"0,2,4-7");
        let place = Network { node: index as u32, nodes: 9, size: 30, job: u64::MAX };
        writer.network(&place);
        writer.irq_core(index as u32);
        writer.workers(index as u32);
        writer.limit(index as u32 + 1);
        let job = Job::parse(&file).expect("what the writer writes");
        assert_eq!((job.ranks, job.memory, job.log, job.end), (255, Some(u64::MAX), level, end));
        assert_eq!((job.console, job.inject, job.oversubscribe, job.out), (console, Some(way), on, !on));
        assert_eq!((job.file_space, job.folder), (Some(index as u64 + 1), Some(&b"/a b"[..])));
        assert_eq!((job.network, job.irq_core), (Some(place), Some(index as u32)));
        assert_eq!((job.limit, job.workers), (Some(index as u32 + 1), index as u32));
    }
}
