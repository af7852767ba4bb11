//! What the runtime of a rank takes for each rank of the job that it has never talked to, and for each that it has.

use super::Test;
use super::judge::Expected;
use super::special::test;
use lwk::subcommand::{Lwk, PATIENCE, Program, shown};

/// Nodes of one rank each. Jobs of these sizes have the same rings and queues in all, so what differs is what a rank costs.
const NODES: [u32; 2] = [16, 64];
/// Bytes for a rank, at most: never talked to, and talked to.
const NEVER: i64 = 256;
const EVER: i64 = 4096;

/// The test.
pub fn of_ranks() -> Test {
    Test { on_host: true, alone: true, ..test("memory-of-a-rank-for-each-other-rank".into(), check) }
}

fn check(lwk: &Lwk) -> Result<(), String> {
    let [few, many] = NODES.map(|nodes| left(lwk, nodes));
    let ([few, _], [many, talked]) = (few?, many?);
    let others = i64::from(NODES[1]) - 1;
    let never = (few - many) / i64::from(NODES[1] - NODES[0]);
    let ever = (many - talked) / others;
    if never > NEVER || ever > EVER {
        return Err(format!(
            "a rank that has never been talked to takes {never} bytes ({NEVER} may be), one that has {ever} more ({EVER})"
        ));
    }
    Ok(())
}

/// Bytes that rank 0 has left at the start of a job, and when it has talked to all.
fn left(lwk: &Lwk, nodes: u32) -> Result<[i64; 2], String> {
    let (nodes, limit) = (nodes.to_string(), PATIENCE.to_string());
    let options =
        ["--host", "--oversubscribe", "--nodes", &nodes, "-n", &nodes, "--mem", "16", "--timeout", &limit];
    let words = lwk.run_words(&Program::Test("mpi-memory".into()), &options.map(String::from), &[]);
    let ended = lwk.command(&words, PATIENCE)?;
    Expected::default().judge(&ended)?;
    let number = |what: &str| {
        let line = ended.stdout.lines().find_map(|line| line.split_once(what));
        line.and_then(|(_, number)| number.trim().parse().ok())
            .ok_or_else(|| format!("no {what:?}\n{}", shown(&ended)))
    };
    Ok([number("at the start ")?, number("at the end ")?])
}
