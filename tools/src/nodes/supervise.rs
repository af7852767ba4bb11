//! Listening to all nodes of a job until they have ended, and ending them all when one does not end well.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use lwk_abi::console as kind;
use lwk_abi::exit::{KERNEL_PANIC, TIMEOUT};
use rustix::process::{Pid, Signal, kill_process};

use super::of_job;
use crate::cli::Trouble;
use crate::console::printer::Printer;
use crate::console::record::{Parser, Record};
use crate::failure::{Doing, Failure, Outcome};
use crate::report::Report;
use crate::session::GRACE;

/// How long a link that is taken down stays so: long enough for what is under way to be sent again, not for a peer to be given up.
const UNPLUGGED: Duration = Duration::from_millis(500);

/// What a node has to say: a record, or that its console is at its end.
pub type Said = (usize, Option<Record>);

/// A node of a job, as it is supervised.
pub trait Member {
    /// Number of its process.
    fn process(&self) -> u32;

    /// The time limit has passed: it says where its ranks are and ends.
    fn time_is_up(&mut self);

    /// All nodes are there: its ranks may start.
    ///
    /// # Errors
    /// It cannot be told.
    fn begin(&mut self) -> Outcome<()>;

    /// The ranks of all nodes have ended well: it may end.
    ///
    /// # Errors
    /// It cannot be told.
    fn release(&mut self) -> Outcome<()>;

    /// Ends it now.
    ///
    /// # Errors
    /// It cannot be ended.
    fn stop(&mut self) -> Outcome<()>;

    /// Takes its link down, or brings it up.
    ///
    /// # Errors
    /// It cannot be done.
    fn link(&mut self, up: bool) -> Outcome<()>;

    /// Why its console may have ended before its job had, to end a sentence.
    fn last_words(&self) -> String;
}

/// How a job is supervised.
pub struct Plan<'a> {
    /// Time limit of the job from its start, and how long it may take until then.
    pub limit: Duration,
    pub boot_limit: Duration,
    /// Nodes say when they are ready, and wait.
    pub gated: bool,
    /// What happens to the last node when a rank of the first has printed a line.
    pub trouble: Option<Trouble>,
    /// Cuts the last node off, if there is a switch.
    pub cut: &'a dyn Fn(),
    /// The first rank of a node.
    pub first: &'a dyn Fn(usize) -> u32,
}

/// Hands on what a node says, until it says no more.
pub fn listen(node: usize, mut console: UnixStream, say: &Sender<Said>) {
    let mut parser = Parser::default();
    let mut bytes = [0; 16 << 10];
    loop {
        match console.read(&mut bytes) {
            // A node that was killed with bytes unread on its side resets its console.
            Ok(0) => break,
            Ok(length) => parser.feed(&bytes[..length], |record| {
                // Nobody is left to hear it only when the command ends.
                let _ = say.send((node, Some(record)));
            }),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let _ = say.send((node, None));
}

struct Supervision<'a, 'b, M> {
    members: &'a mut [M],
    plan: &'a Plan<'a>,
    printer: &'a mut Printer<'b>,
    reports: &'a mut [Report],
    /// Nodes that are ready, whose consoles are open, and the statuses that they have ended with.
    ready: usize,
    open: usize,
    ends: Vec<Option<i32>>,
    outcome: Option<Outcome<i32>>,
    /// The node that has failed first.
    failing: Option<usize>,
    deadline: Instant,
    asked: bool,
    trouble: Option<Trouble>,
    /// When the last node's link comes up again.
    plug_at: Option<Instant>,
}

/// Listens to all nodes until they have ended; the status of the job.
///
/// # Errors
/// A node that dies, the time limit, or a failure of this machine's.
pub fn supervise<M: Member>(
    members: &mut [M],
    hear: &Receiver<Said>,
    printer: &mut Printer<'_>,
    reports: &mut [Report],
    plan: &Plan<'_>,
) -> Outcome<i32> {
    let count = members.len();
    let boot = if plan.gated { plan.limit.max(plan.boot_limit) } else { plan.limit };
    let mut it = Supervision {
        members,
        plan,
        printer,
        reports,
        ready: 0,
        open: count,
        ends: vec![None; count],
        outcome: None,
        failing: None,
        deadline: Instant::now() + boot,
        asked: false,
        trouble: plan.trouble,
        plug_at: None,
    };
    while it.open > 0 {
        let until = it.plug_at.map_or(it.deadline, |at| at.min(it.deadline));
        match hear.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((node, Some(record))) => it.record(node, record)?,
            Ok((node, None)) => it.closed(node)?,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if it.plug_at == Some(until) => {
                it.plug_at = None;
                // A node that has ended needs no link.
                let _ = it.last().link(true);
            }
            Err(RecvTimeoutError::Timeout) if it.asked => {
                it.stop_all()?;
                break;
            }
            Err(RecvTimeoutError::Timeout) => {
                it.members.iter_mut().for_each(Member::time_is_up);
                (it.asked, it.deadline) = (true, Instant::now() + GRACE);
            }
        }
    }
    if it.asked {
        let limit = plan.limit.as_secs();
        let message = format!("the job ran into its time limit of {limit} s and was ended");
        return Err(Failure { message, status: TIMEOUT });
    }
    it.outcome.unwrap_or(Ok(0))
}

impl<M: Member> Supervision<'_, '_, M> {
    fn stop_all(&mut self) -> Outcome<()> {
        self.members.iter_mut().try_for_each(Member::stop)
    }

    /// A node's console has ended.
    fn closed(&mut self, node: usize) -> Outcome<()> {
        self.open -= 1;
        if self.ends[node].is_some() || self.outcome.is_some() || self.asked {
            return Ok(());
        }
        let why = self.members[node].last_words();
        let message = if self.printer.heard().panicked {
            format!("the kernel of node {node} panicked, which ends the job on all nodes")
        } else {
            format!(
                "the process of node {node} ended before the job had{why}, which ends the job on all nodes"
            )
        };
        self.outcome = Some(Err(Failure { message, status: KERNEL_PANIC }));
        self.stop_all()
    }

    fn record(&mut self, node: usize, record: Record) -> Outcome<()> {
        match record.kind {
            kind::END => {
                let status = i32::try_from(record.number).unwrap_or(KERNEL_PANIC);
                return self.ended(node, status, record.text == kind::END_OF_ALL.as_bytes());
            }
            kind::START if self.plan.gated => {
                self.ready += 1;
                if self.ready == self.members.len() {
                    self.deadline = Instant::now() + self.plan.limit;
                    self.members.iter_mut().try_for_each(Member::begin)?;
                }
                return Ok(());
            }
            kind::REPORT => {
                self.reports[node].add(&String::from_utf8_lossy(&record.text));
                return Ok(());
            }
            kind::STDOUT if node == 0 => match self.trouble.take() {
                Some(Trouble::Kill) => self.kill_last()?,
                Some(Trouble::Unplug) => {
                    self.last().link(false)?;
                    self.plug_at = Some(Instant::now() + UNPLUGGED);
                }
                Some(Trouble::Cut) => (self.plan.cut)(),
                Some(Trouble::Flood | Trouble::Storm) | None => {}
            },
            _ => {}
        }
        let tells = matches!(record.kind, kind::FAILURE | kind::FRAME);
        // Only the first node to fail reports: what the others die of may be a consequence.
        if tells && self.outcome.is_none() {
            self.failing.get_or_insert(node);
        }
        if !tells || self.failing == Some(node) {
            let first = (self.plan.first)(node);
            self.printer.record(&of_job(record, node, first)).doing(|| "write the job's output".into())?;
        }
        Ok(())
    }

    /// The ranks of a node have ended; `of_all`: and so are all others to.
    fn ended(&mut self, node: usize, status: i32, of_all: bool) -> Outcome<()> {
        self.ends[node] = Some(status);
        if self.asked {
            return self.members[node].stop();
        }
        if (status != 0 || of_all) && self.outcome.is_none() {
            self.outcome = Some(Ok(status));
            return self.stop_all();
        }
        // Until then a node answers for what others have not heard of yet.
        if self.outcome.is_none() && self.ends.iter().all(Option::is_some) {
            return self.members.iter_mut().try_for_each(Member::release);
        }
        Ok(())
    }

    fn last(&mut self) -> &mut M {
        self.members.last_mut().expect("a job has nodes")
    }

    fn kill_last(&self) -> Outcome<()> {
        let process = self.members.last().and_then(|member| Pid::from_raw(member.process() as i32));
        let killed = process.map_or(Ok(()), |process| kill_process(process, Signal::KILL));
        killed.map_err(std::io::Error::from).doing(|| "kill a node".into())
    }
}
