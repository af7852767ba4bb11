//! Reading, case by case.

use super::*;
use std::string::ToString;
use std::vec::Vec;

const LEAST: &[u8] = b"ranks=4\0mem=1048576\0arg=hello\0";

fn with(records: &[u8]) -> Result<(), JobError> {
    Job::parse(&[LEAST, records].concat()).map(|_| ())
}

fn bad_value(result: Result<(), JobError>, wanted: &str) {
    match result {
        Err(JobError::BadValue { key, .. }) => assert_eq!(key, wanted),
        other => panic!("{wanted}: {other:?}"),
    }
}

#[test]
fn the_least_job_has_the_defaults() {
    let job = Job::parse(LEAST).expect("a job");
    assert_eq!((job.ranks, job.memory, job.log), (4, Some(1 << 20), LogLevel::Warn));
    assert_eq!((job.oversubscribe, job.report, job.cores), (false, false, None));
    assert!(!job.on_each_core && job.workers == 0);
    assert_eq!((job.console, job.end, job.bind), (Console::Framed, End::Exit, Bind::Scatter));
    assert_eq!(job.arguments().collect::<Vec<_>>(), [b"hello"]);
    assert_eq!(job.environment().count(), 0);
}

#[test]
fn every_key_is_read() {
    let file =
        b"env=A=1\0log=trace\0arg=x\0oversubscribe=1\0report=1\0each_core=1\0cores=64\0console=plain\0end=wait\0\
                 env=B=\0arg=\0file_space=4096\0folder=/a b\0out=1\0arg=\xff a=b\nc\0mem=18446744073709551615\0ranks=255\0limit=90\0workers=64\0";
    let job = Job::parse(file).expect("a job");
    assert_eq!((job.ranks, job.memory, job.log), (255, Some(u64::MAX), LogLevel::Trace));
    assert_eq!((job.oversubscribe, job.report, job.cores), (true, true, Some(64)));
    assert!(job.on_each_core);
    assert_eq!((job.console, job.end), (Console::Plain, End::Wait));
    assert_eq!((job.file_space, job.folder, job.out), (Some(4096), Some(&b"/a b"[..]), true));
    let arguments: Vec<&[u8]> = job.arguments().collect();
    assert_eq!(arguments, [&b"x"[..], b"", b"\xff a=b\nc"]);
    assert_eq!(job.environment().collect::<Vec<_>>(), [&b"A=1"[..], b"B="]);
    assert_eq!((job.limit, job.workers), (Some(90), 64));
}

#[test]
fn a_node_of_several_knows_its_place() {
    for node in 0..2 {
        let file = [LEAST, std::format!("network={node},2,4,18446744073709551615\0").as_bytes()].concat();
        let expected = Network { node, nodes: 2, size: 4, job: u64::MAX };
        assert_eq!(Job::parse(&file).expect("a job").network, Some(expected));
    }
    assert_eq!(Job::parse(LEAST).expect("a job").network, None);
    let alone = [LEAST, b"network=0,1,4,9\0"].concat();
    assert!(Job::parse(&alone).expect("a job").network.is_some_and(|it| it.is_loop()));
}

#[test]
fn wrong_files_are_refused_with_their_reason() {
    assert_eq!(Job::parse(b""), Err(JobError::Missing { key: "arg" }));
    assert_eq!(Job::parse(b"arg=a\0mem=1\0"), Err(JobError::Missing { key: "ranks" }));
    let least = Job::parse(b"arg=a\0ranks=1\0").expect("the rest has defaults");
    assert_eq!((least.memory, least.file_space), (None, None));
    assert_eq!(with(b"env=A=1"), Err(JobError::Unterminated));
    assert_eq!(with(b"env\0"), Err(JobError::NoValue { offset: LEAST.len() }));
    assert_eq!(with(b"\0"), Err(JobError::NoValue { offset: LEAST.len() }));
    assert_eq!(with(b"=1\0"), Err(JobError::UnknownKey { offset: LEAST.len() }));
    assert_eq!(with(b"rank=1\0"), Err(JobError::UnknownKey { offset: LEAST.len() }));
    assert_eq!(with(b"ranks=4\0"), Err(JobError::Repeated { key: "ranks" }));
    assert_eq!(with(b"end=exit\0end=exit\0"), Err(JobError::Repeated { key: "end" }));
    for ranks in ["", "0", "256", "-1", "+1", " 1", "1 ", "0x1", "99999999999999999999999"] {
        let file = std::format!("ranks={ranks}\0mem=1\0arg=a\0");
        bad_value(Job::parse(file.as_bytes()).map(|_| ()), "ranks");
    }
    bad_value(Job::parse(b"mem=0\0").map(|_| ()), "mem");
    bad_value(Job::parse(b"mem=18446744073709551616\0").map(|_| ()), "mem");
    bad_value(Job::parse(b"mem=100000000000000000000\0").map(|_| ()), "mem");
    bad_value(with(b"cores=0\0"), "cores");
    bad_value(with(b"cores=4294967296\0"), "cores");
    bad_value(with(b"workers=0\0"), "workers");
    bad_value(with(b"workers=65\0"), "workers");
    bad_value(with(b"limit=0\0"), "limit");
    bad_value(with(b"limit=4294967296\0"), "limit");
    bad_value(with(b"end=never\0"), "end");
    bad_value(with(b"log=loud\0"), "log");
    bad_value(with(b"oversubscribe=yes\0"), "oversubscribe");
    bad_value(with(b"report=2\0"), "report");
    bad_value(with(b"each_core=\0"), "each_core");
    bad_value(with(b"console=\0"), "console");
    bad_value(with(b"file_space=0\0"), "file_space");
    bad_value(with(b"folder=a\0"), "folder");
    bad_value(with(b"out=yes\0"), "out");
    bad_value(with(b"end=EXIT\0"), "end");
    for network in [
        "",
        "0",
        "0,2,4",
        "2,2,4,9",
        "1,1,4,9",
        "0,5,4,9",
        "0,2,4,0",
        "0,2,4,9,9",
        "00,2,4,9",
        "0,2,4294967296,9",
    ] {
        bad_value(with(std::format!("network={network}\0").as_bytes()), "network");
    }
}

#[test]
fn cores_are_bound_by_name_or_by_number() {
    for (text, wanted) in [("compact", Bind::Compact), ("smt", Bind::Smt), ("scatter", Bind::Scatter)] {
        let file = [LEAST, b"bind=", text.as_bytes(), b"\0"].concat();
        assert_eq!(Job::parse(&file).expect("a job").bind, wanted);
    }
    let cores =
        |text: &'static str| CoreList::parse(text.as_bytes()).map(|list| list.cores().collect::<Vec<_>>());
    assert_eq!(cores("5"), Some([5].into()));
    assert_eq!(cores("7,0-2,1-1"), Some([7, 0, 1, 2, 1].into()));
    for wrong in ["", ",", "1,", "-1", "1-", "3-2", "1--2", "a", "1 2", "0-1024", "999999", "0x1"] {
        assert_eq!(cores(wrong), None, "{wrong}");
        bad_value(with(&[b"bind=", wrong.as_bytes(), b"\0"].concat()), "bind");
    }
}

#[test]
fn errors_name_the_key_and_what_it_takes() {
    let error = Job::parse(b"ranks=0\0").expect_err("no ranks").to_string();
    assert_eq!(error, "the job file's 'ranks' must be a number from 1 to 255");
}
