//! Programs in the host home: what they see, what they may do, and that they cannot tell it from a node.

mod common;

use common::{job, run};
use nix::sys::resource::{Resource, getrlimit};

#[test]
fn ranks_reach_each_other() {
    let said = run(job("peers", 4, &[]));
    assert_eq!(said.status(), 0, "{said:?}");
}

#[test]
fn as_many_ranks_as_a_node_can_hold() {
    const OPEN_FILES: u64 = 255 * 4 + 32;
    let said = run(job("peers", 255, &["mem=4194304"]));
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    // Where whoever set up this machine allows fewer open files, it is said.
    assert_eq!(said.status(), if hard < OPEN_FILES { 2 } else { 0 }, "{said:?}");
}

/// Memory is taken as it is touched: 72 ranks of 64 GiB are more than this machine has.
#[test]
fn segments_may_be_larger_than_what_is_free() {
    let said = run(job("peers", 72, &["mem=68719476736"]));
    assert_eq!(said.status(), 0, "{said:?}");
}

#[test]
fn memory_is_the_segments_and_zeroed() {
    let said = run(job("memory", 2, &["mem=67108864"]));
    assert_eq!(said.status(), 0, "{said:?}");
}

#[test]
fn bad_pointers_are_refused_and_a_peers_memory_is_fine() {
    let said = run(job("pointers", 1, &[]));
    assert_eq!(said.status(), 0, "{said:?}");
    assert_eq!(said.texts('o'), [(0, "x"), (0, "xx")]);
}

#[test]
fn identity_is_the_ranks() {
    let said = run(job("identity", 3, &[]));
    assert_eq!(said.status(), 0, "{said:?}");
}

#[test]
fn unsupported_calls_are_counted_and_named() {
    let said = run(job("unsupported", 2, &["report=1"]));
    assert_eq!(said.status(), 0);
    let reports: Vec<&str> = said.texts('r').into_iter().map(|(_, text)| text).collect();
    assert!(reports.contains(&"unsupported number=57 count=2"), "{reports:?}");
    assert!(reports.contains(&"unsupported number=999 count=4"), "{reports:?}");
    assert!(reports.iter().any(|text| text.starts_with("rank rank=1 ") && text.contains("syscalls=4")));
}

#[test]
fn output_is_whole_lines_of_each_rank() {
    let said = run(job("lines", 4, &[]));
    assert_eq!(said.status(), 0);
    for rank in 0..4 {
        let of =
            |kind| said.texts(kind).into_iter().filter(|(number, _)| *number == rank).map(|(_, text)| text);
        let out: Vec<_> = of('o').collect();
        assert_eq!(out.len(), 401);
        assert_eq!(
            &out[..3],
            ["the quick brown fox jumps", "over the lazy dog", "the quick brown fox jumps"]
        );
        assert_eq!(out[400], "the end");
        assert!(of('e').eq(std::iter::repeat_n("complaint", 200)));
    }
}
