//! How a rank ends its whole job: with which status, and what is said of it.

use lwk_abi::exit::{NODE_LOST, SIGNAL_BASE};

use crate::reason::{LostNode, Reason};

/// The end of a job by one of its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Status of the job, 1 to 255.
    pub status: i32,
    /// What the report says.
    pub reason: Reason,
    /// The report says where the rank was: its registers and a back trace.
    pub traced: bool,
}

impl End {
    /// By an exception, or by a signal that the rank has raised itself: 128 plus the signal's number.
    #[must_use]
    pub const fn by_signal(signal: i32, reason: Reason) -> End {
        End { status: SIGNAL_BASE + signal, reason, traced: true }
    }

    /// By its exit with a status other than 0.
    #[must_use]
    pub const fn by_exit(status: i32) -> End {
        End { status, reason: Reason::Exit(status), traced: false }
    }

    /// By its exit with status 0 while its peers count on it ([`lwk_abi::syscall::JOB_HOLD`]).
    #[must_use]
    pub const fn by_desertion() -> End {
        End { status: 1, reason: Reason::Desertion, traced: true }
    }

    /// Because the program has asked for it as for a failure ([`lwk_abi::syscall::JOB_ABORT`]); status 0 becomes 1.
    #[must_use]
    pub const fn by_abort(status: u8) -> End {
        let status = if status == 0 { 1 } else { status as i32 };
        End { status, reason: Reason::Abort(status), traced: true }
    }

    /// Because it waits and a node of the job is lost.
    #[must_use]
    pub const fn by_lost_node(node: LostNode) -> End {
        End { status: NODE_LOST, reason: Reason::LostNode(node), traced: false }
    }

    /// Because the program has asked for it on purpose, with a status other than 0 ([`lwk_abi::syscall::JOB_END`]).
    #[must_use]
    pub const fn by_request(status: i32) -> End {
        End { status, reason: Reason::Abort(status), traced: false }
    }
}
