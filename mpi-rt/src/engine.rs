//! The engine: one object in each rank, behind [`with`].

use crate::abi;
use crate::activity::Advance;
use crate::ahead::Ahead;
use crate::buffered::Attached;
use crate::collective::LeftPosts;
use crate::collective::algorithm::{self, Algorithms};
use crate::communicator::Communicator;
use crate::compact::CompactRequest;
use crate::datatypes::Datatypes;
use crate::deferred::Deferred;
use crate::duplication::Duplication;
use crate::error::{Error, Result};
use crate::error_handler;
use crate::handed::Handed;
use crate::handle::{self, Handle, Kind};
use crate::local::{Lent, RankLocal};
use crate::objects;
use crate::operation::{LastKernel, UserOperation};
use crate::probe::Taken;
use crate::report;
use crate::request::Request;
use crate::session;
use crate::waiting::Waiting;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_communicator::{Communicators, Groups};
use lwk_path::{Memory, PathId, Reach, Table, setting};
use lwk_place::{NodeRank, WorldRank};
use lwk_user::barrier::NodeBarrier;
use lwk_user::{job, start, syscall};

/// All that the runtime knows in this rank. What every message and every look at the others takes comes first, together: a long message displaces those
/// lines from the first-level cache, and each is fetched again for the next.
#[repr(C)]
pub struct Engine {
    /// This rank in the job.
    pub(crate) me: WorldRank,
    /// Ranks of the job.
    pub(crate) size: u32,
    /// How often the sends under way have been looked at.
    pub(crate) scans: u32,
    /// A message or a call has been taken in since this rank last gave way.
    pub(crate) found: bool,
    /// Sends for which a peer had no room yet.
    pub(crate) deferred: Deferred,
    pub communicators: Communicators,
    /// Sends that the transport has under way.
    pub(crate) underway: VecDeque<Handle>,
    /// Receives whose message is on its way, piece by piece.
    pub(crate) arriving: Vec<Handle>,
    /// Posted receives that a path matches.
    pub(crate) handed: Handed,
    /// What subsystems have under way.
    pub(crate) advancing: Vec<Advance>,
    /// Communicators that are being duplicated.
    pub(crate) duplications: Vec<Duplication>,
    /// Sends whose content has been copied, so that nobody waits for them.
    pub(crate) ahead: Ahead,
    pub(crate) paths: Table,
    pub(crate) waiting: Waiting,
    pub(crate) requests: handle::Table<Request>,
    /// Requests of one block.
    pub(crate) compact: handle::Table<CompactRequest>,
    /// The buffers for buffered sends.
    pub(crate) attached: Vec<Attached>,
    /// Messages that matched probes have taken out.
    pub(crate) taken: handle::Table<Taken>,
    pub(crate) datatypes: Datatypes,
    /// The forms of collectives that the environment names.
    pub(crate) algorithms: Algorithms,
    /// What freed persistent collectives have left.
    pub(crate) left_posts: Rc<LeftPosts>,
    /// Operations that the program made.
    pub(crate) operations: handle::Table<Rc<UserOperation>>,
    pub(crate) last_kernel: LastKernel,
    pub groups: Groups,
}

enum Life {
    Before,
    Running(Engine),
    /// Neither the world model nor a session is in use.
    Asleep(Engine),
}

static ENGINE: RankLocal<Life> = RankLocal::new(Life::Before);

/// The engine while a call runs a callback of the program: see [`Engine::lend`].
static LENT: Lent<Engine> = Lent::nothing();

/// Ranks meet here when the runtime starts and when it ends.
static GATE: NodeBarrier = NodeBarrier::new();

/// Starts the engine, or wakes it up; a running one stays as it is. The first time it waits until every rank of the job has called it.
/// Errors: `UNSUPPORTED_OPERATION` if the job has more than one node and no network, `NO_MEM`.
pub(crate) fn wake() -> Result<()> {
    start::require_job();
    ENGINE
        .try_with(|life| {
            *life = match core::mem::replace(life, Life::Before) {
                Life::Before => {
                    objects::own();
                    let mut engine = Engine::start_up()?;
                    GATE.wait();
                    if job().nodes() > 1 {
                        if job().node_rank() == NodeRank(0) {
                            engine.paths.meet_nodes()?;
                        }
                        GATE.wait();
                    }
                    Life::Running(engine)
                }
                Life::Running(engine) | Life::Asleep(engine) => Life::Running(engine),
            };
            // A rank that just exits would leave its peers waiting for it.
            syscall::hold_job(true);
            Ok(())
        })
        .unwrap_or(Err(Error::INTERN))
}

/// Puts the engine to sleep: every call is an error from now on. Peers still find this rank's memory.
pub(crate) fn sleep() -> Result<()> {
    ENGINE
        .try_with(|life| {
            *life = match core::mem::replace(life, Life::Before) {
                Life::Before => Life::Before,
                Life::Running(mut engine) => {
                    report::at_end(&mut engine.paths);
                    Life::Asleep(engine)
                }
                Life::Asleep(engine) => Life::Asleep(engine),
            };
            syscall::hold_job(false);
        })
        .ok_or(Error::INTERN)
}

/// Starts the world model ([`session::initialize_world`]) with one thread. Errors: as there.
pub fn initialize() -> Result<()> {
    session::initialize_world(abi::thread::SINGLE).map(|_| ())
}

/// Ends the world model ([`session::finalize_world`]). Errors: as there.
pub fn finalize() -> Result<()> {
    session::finalize_world()
}

/// Whether the world model has been started.
pub fn is_initialized() -> bool {
    session::is_initialized()
}

/// Whether the world model has ended.
pub fn is_finalized() -> bool {
    session::is_finalized()
}

/// Lets `call` use the engine. Errors: `ORDER` before start and after end, `INTERN` from inside another call that has not lent the
/// engine to a callback.
#[inline(always)]
pub fn with<R>(call: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    match ENGINE.try_borrow() {
        Some(mut life) => match &mut *life {
            Life::Running(engine) => call(engine),
            Life::Before | Life::Asleep(_) => Err(Error::ORDER),
        },
        None => with_lent(call),
    }
}

/// Lets `call` use the engine for a moment; `None` if it is not running or a call further out is using it, lent or not.
///
/// # Safety
/// `call` must not run code of the program, nor wait for anything.
#[inline(always)]
pub(crate) unsafe fn briefly<R>(call: impl FnOnce(&mut Engine) -> R) -> Option<R> {
    // SAFETY: `call` runs no code of the program and waits for nothing (this function's contract), so nothing
    // in it uses `ENGINE` again.
    let done = unsafe {
        ENGINE.try_briefly(|life| match life {
            Life::Running(engine) => Some(call(engine)),
            Life::Before | Life::Asleep(_) => None,
        })
    };
    done.flatten()
}

/// The same as [`with`] from inside a callback.
#[cold]
fn with_lent<R>(call: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    LENT.try_with(call).unwrap_or(Err(Error::INTERN))
}

impl Engine {
    /// Runs a callback of the program, which may use the engine by [`with`] until it returns. (What the engine was doing is not done: a
    /// callback must not wait for this very call.)
    pub fn lend<R>(&mut self, callback: impl FnOnce() -> R) -> R {
        LENT.lend(self, callback)
    }

    fn start_up() -> Result<Engine> {
        let job = job();
        let (me, size) = (job.rank(), job.size());
        error_handler::take_environment().unwrap_or_else(|bad| setting::refuse(&bad));
        let paths = Table::start_up()?;
        let names = start::variables().map(|(name, _)| name);
        let algorithms = setting::none_but(algorithm::PREFIX, algorithm::VARIABLES, names)
            .and_then(|()| Algorithms::from_environment(start::variable));
        let algorithms = algorithms.unwrap_or_else(|bad| setting::refuse(&bad));
        let in_reach = (0..size).all(|rank| paths.reach(WorldRank(rank)) == Reach::Mapped);
        let communicators = Communicators::start(me, size, in_reach)?;
        Ok(Engine {
            paths,
            communicators,
            me,
            size,
            waiting: Waiting::new(size),
            requests: handle::Table::new(),
            compact: handle::Table::of(Kind::Compact),
            found: false,
            deferred: Deferred::default(),
            underway: VecDeque::new(),
            ahead: Ahead::new(size),
            scans: 0,
            arriving: Vec::new(),
            handed: Handed::new(size),
            attached: Vec::new(),
            advancing: Vec::new(),
            taken: handle::Table::of(Kind::Message),
            datatypes: Datatypes::new(),
            algorithms,
            left_posts: Rc::default(),
            operations: handle::Table::of(Kind::Operation),
            last_kernel: LastKernel::new(None),
            duplications: Vec::new(),
            groups: Groups::new(me),
        })
    }

    /// The communicator with that handle. Errors: `COMM`.
    #[inline(always)]
    pub fn communicator(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        self.communicators.get(handle)
    }

    /// Requests of this rank that are not freed.
    pub fn live_requests(&self) -> usize {
        self.requests.len() + self.compact.len()
    }

    /// How a rank's memory can be reached.
    pub fn reach(&self, peer: WorldRank) -> Reach {
        self.paths.reach(peer)
    }

    /// From now on messages of a class of sizes to a rank of this node go by that path; a pair's messages stay in order. Errors: `INTERN` if the path
    /// has not been started or does not get there.
    pub fn change_path(&mut self, peer: WorldRank, class: usize, by: PathId) -> Result<()> {
        Ok(self.paths.change(peer, class, by)?)
    }

    /// The form that a collective operation is set to, by its variable's name ([`crate::collective::algorithm::FORMS`]).
    pub fn form_of(&self, variable: &str) -> Option<&'static str> {
        self.algorithms.form_of(variable)
    }

    /// Sets a collective operation to a form, or leaves it to the runtime; all ranks must do the same before the next one. Errors: `ARG` if
    /// there is no such variable or form.
    pub fn set_form(&mut self, variable: &str, form: Option<&str>) -> Result<()> {
        self.algorithms.set_form(variable, form).map_err(|_| Error::ARG)
    }

    /// Name of the transport, and the memory it uses in this rank.
    pub fn transport_memory(&self) -> (&'static str, Memory) {
        let memory = self.paths.memory();
        (self.paths.name(), Memory { dynamic: memory.dynamic + self.ahead.bytes(), ..memory })
    }
}
