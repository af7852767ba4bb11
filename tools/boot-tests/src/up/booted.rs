//! Nodes that stay up and boot their jobs in QEMU.

use super::{Up, children, until};
use crate::judge::Expected;
use crate::special::strings;
use lwk::subcommand::{Lwk, PATIENCE};

/// Jobs of one node and of both, one after another: MPI between two machines, a failure, a time limit, what is not there yet, one that is killed, and the end of all.
pub fn boots_jobs(lwk: &Lwk) -> Result<(), String> {
    let up = Up::start_as(lwk, &["--built", "--oversubscribe", "--nodes", "2", "--cores", "1"])?;
    Expected { stdout: strings(&["in QEMU$"]), stdout_lines: Some(3), ..Expected::default() }
        .judge(&up.command("nodes", &[])?)?;
    let nodes = up.processes()?;
    let idle = || nodes.iter().all(|node| children(*node).is_empty());
    Expected { stdout_lines: Some(1), stderr_lines: Some(0), ..Expected::default() }
        .judge(&up.launch(&["-n", "1"], "hello")?)?;
    let across = up.launch(&["-n", "2", "--mem", "64"], "test:mpi-p2p sizes")?;
    Expected { stderr_lines: Some(0), ..Expected::default() }.judge(&across)?;
    // Without an argument it asks for one.
    let failed = up.launch(&["-n", "2", "--nodes", "2"], "crash")?;
    Expected {
        status: 2,
        stderr: strings(&["^margay: node .: rank . on core 0 exited with status 2$"]),
        ..Expected::default()
    }
    .judge(&failed)?;
    let limited = up.launch(&["-n", "2", "--timeout", "1"], "test:hang")?;
    Expected { status: 124, stderr: strings(&["ran into its time limit of 1 s"]), ..Expected::default() }
        .judge(&limited)?;
    let refused = up.launch(&["--out", "nothing"], "hello")?;
    let stderr = strings(&["^lwk: --out is not there yet on nodes in QEMU"]);
    Expected { status: 2, stderr, stderr_lines: Some(1), ..Expected::default() }.judge(&refused)?;
    if !idle() {
        return Err("a machine is left of a job that has ended".into());
    }
    let folder = lwk.folder()?;
    let mut running = up.hang(&["-n", "2"], &folder)?;
    if nodes.iter().any(|node| children(*node).len() != 1) {
        return Err("a job of two nodes is not one machine at each".into());
    }
    Expected { stderr_lines: Some(0), ..Expected::default() }.judge(&up.command("kill", &["5"])?)?;
    Expected { status: 137, stderr: strings(&["^lwk: job 5 was killed$"]), ..Expected::default() }
        .judge(&running.end(PATIENCE)?)?;
    Expected::default().judge(&up.command("down", &[])?)?;
    until("no machine is left", idle)
}
