//! What the runtime adds to the exit report of a job: memory of the transport, messages by path, and the profile.

use alloc::format;
use core::fmt;
use lwk_user::abi::runtime;
use lwk_user::{job, start, syscall};

use lwk_path::{Memory, Sent, Table};

/// Adds a record to the exit report.
pub(crate) fn tell(text: fmt::Arguments<'_>) {
    // A report is for people; a run does not fail for want of it. The call refuses nothing that the runtime says.
    let _ = syscall::report(format!("{text}").as_bytes());
}

/// Tells the memory of the transport and what its paths have sent if the run has a report, and the profile if there is one: whenever the runtime goes to sleep, which is once,
/// except in programs with several sessions.
pub(crate) fn at_end(paths: &mut Table) {
    if start::variable(runtime::REPORT).is_some() {
        let (job, name) = (job(), paths.name());
        let Memory { fixed, per_peer, dynamic } = paths.memory();
        let (rank, peers) = (job.rank().0, job.node_size() - 1);
        let total = fixed + per_peer * peers as usize + dynamic;
        tell(format_args!(
            "transport rank={rank} name={name} fixed={fixed} per_peer={per_peer} peers={peers} dynamic={dynamic} total={total}"
        ));
        for (name, Sent { messages, by_system, unfit }) in paths.sent() {
            tell(format_args!(
                "path rank={rank} name={name} messages={messages} by_system={by_system} unfit={unfit}"
            ));
        }
    }
    paths.tell_profile(tell);
}
