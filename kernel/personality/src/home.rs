//! What a home gives to Margay's own calls, beside what Linux's need.

use lwk_abi::syscall::CoreCounters;
use lwk_engine::Order;
use lwk_failure::LostNode;
use lwk_limic::Queues;

use crate::machine::Machine;
use crate::process::Process;
use crate::registers::Registers;
use crate::{Answer, Errno};

/// A home, for one rank, as far as Linux's calls do not need it.
pub trait Home: Machine {
    /// The registers with which the program has made the call, and would go on.
    fn registers(&self) -> Registers;
    /// Rank on the node.
    fn node_rank(&self) -> u32;
    /// Copies memory that has been checked, `from` readable and `to` writable, each in slot 0 or in a peer's: how many bytes, fewer only if the job is about
    /// to end. If both overlap, any mixture comes out. Errors: what keeps this home from reaching a peer's memory.
    fn copy_memory(&self, to: u64, from: u64, bytes: u64) -> Answer;
    /// Has `work` done on the queues of messages between the node's ranks, alone and once: under their lock, so it must not ask for them again. Errors: `ENOMEM` if the node
    /// has no memory for them.
    fn limic(&self, work: &mut dyn FnMut(&mut Queues<'_>)) -> Result<(), Errno>;
    /// Workers of the job: cores of this node that copy for its ranks.
    fn workers(&self) -> u32;
    /// Has a worker or the copy engine make a copy of memory that has been checked and tell the words that the order names. If too many copies wait, the caller makes it.
    fn order(&self, order: &Order);
    /// Looks what the copy engine has done, and tells of it; how many copies are under way there.
    fn look_after_engine(&self) -> u64;
    /// What has become of copies for the engine.
    fn engine_counts(&self) -> lwk_engine::Counts;
    /// Has the modelled engine fail: [`lwk_abi::engine::FAULT`]. Errors: as it says.
    fn engine_fault(&self, after: u64, fault: u64) -> Answer;
    /// What has disturbed the rank's core; none where nobody counts.
    fn core_counters(&self) -> Option<CoreCounters>;
    /// Adds a record of the program's runtime to the exit report: printable ASCII.
    fn report(&self, text: &str);
    /// Asks nodes that have been silent whether they are there, for a rank that waits ([`lwk_abi::syscall::JOB_WAITS`]); one that is lost.
    fn lost_node(&self) -> Option<LostNode>;
    /// Answers one of Portals' calls ([`lwk_abi::syscall::portals`]); none if the node has no network.
    fn portals(&self, call: lwk_portals::Call) -> Option<Answer>;
    /// Answers a call of Linux's on files that are not the node's but this machine's; none if it is no such call, or there are no such files.
    fn files_elsewhere(&self, process: &mut Process, number: u64, arguments: [u64; 6]) -> Option<Answer>;
}
