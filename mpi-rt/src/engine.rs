//! The engine: one object in each rank, behind [`with`].

use crate::abi;
use crate::activity::Advance;
use crate::ahead::Ahead;
use crate::buffered::Attached;
use crate::collective::algorithm::{self, Algorithms};
use crate::collective::{LeftPosts, Run};
use crate::communicator::Communicator;
use crate::compact::CompactRequest;
use crate::context::Contexts;
use crate::datatypes::Datatypes;
use crate::duplication::Duplication;
use crate::error::{Error, Result};
use crate::error_handler;
use crate::group::Group;
use crate::handed::Handed;
use crate::handle::{self, Handle, Kind};
use crate::joining::Announcements;
use crate::local::{Lent, RankLocal};
use crate::objects;
use crate::operation::{LastKernel, UserOperation};
use crate::probe::Taken;
use crate::report;
use crate::request::Request;
use crate::session;
use crate::waiting::Waiting;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::{Area, Shared};
use lwk_path::setting;
use lwk_path::{Memory, seen_from_here};
use lwk_path::{PathId, Reach, Table};
use lwk_place::{CommRank, NodeRank, WorldRank, peer_of};
use lwk_ring::Published;
use lwk_user::barrier::NodeBarrier;
use lwk_user::smartmap::{self, Symmetric};
use lwk_user::{job, start, syscall, wait};

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
    pub(crate) deferred_count: usize,
    pub(crate) world: Rc<Communicator>,
    /// Sends that the transport has under way.
    pub(crate) underway: VecDeque<Handle>,
    /// Receives whose message is on its way, piece by piece.
    pub(crate) arriving: Vec<Handle>,
    /// Posted receives that a path matches.
    pub(crate) handed: Handed,
    /// Collectives under way, in the order in which they were begun.
    pub(crate) collectives: Vec<(Handle, Box<Run>)>,
    /// What subsystems have under way.
    pub(crate) advancing: Vec<Advance>,
    /// Communicators that are being duplicated.
    pub(crate) duplications: Vec<Duplication>,
    /// Sends whose content has been copied, so that nobody waits for them.
    pub(crate) ahead: Ahead,
    pub(crate) paths: Table,
    pub(crate) waiting: Waiting,
    pub(crate) contexts: Contexts,
    pub(crate) announcements: Announcements,
    pub(crate) requests: handle::Table<Request>,
    /// Requests of one block.
    pub(crate) compact: handle::Table<CompactRequest>,
    /// Sends for which a peer's ring had no room yet, by peer, in order.
    pub(crate) deferred: Vec<VecDeque<Handle>>,
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
    /// Whether the world model has been started and not ended.
    pub(crate) has_world_model: bool,
    pub(crate) alone: Rc<Communicator>,
    pub(crate) communicators: handle::Table<Rc<Communicator>>,
    /// The empty group.
    pub(crate) no_ranks: Group,
    pub(crate) groups: handle::Table<Group>,
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

/// The address of a rank's area for the collectives of all ranks.
struct WorldArea(Published<1>);

// SAFETY: atomics only; the number is a slot-0 address that readers translate.
unsafe impl smartmap::Shared for WorldArea {}

static WORLD_AREA: Symmetric<WorldArea> = Symmetric::new(WorldArea(Published::new()));

/// Every rank's area for the collectives of all. Every rank must call it; it waits for the others.
fn world_areas(members: &[WorldRank]) -> Result<Box<[&'static Area]>> {
    let mine = Area::renewed(None);
    WORLD_AREA.here().0.tell([core::ptr::from_ref(mine).expose_provenance() as u64]);
    let mut areas: Vec<&'static Area> = Vec::new();
    areas.try_reserve_exact(members.len()).map_err(|_| Error::NO_MEM)?;
    for member in members {
        let member = peer_of(*member).ok_or(Error::INTERN)?;
        let published = &WORLD_AREA.at(member).get().0;
        wait::spin_until(|| published.is_told());
        let [address] = published.words().map(|word| word as usize);
        // SAFETY: a rank publishes the address of an initialised area that it leaks; areas are shared through atomics.
        areas.push(unsafe { &*seen_from_here::<Area>(member, address) });
    }
    Ok(areas.into_boxed_slice())
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
        let members: Rc<[WorldRank]> = (0..size).map(WorldRank).collect();
        let in_reach = members.iter().all(|member| paths.reach(*member) == Reach::Mapped);
        let shared = match in_reach {
            true => Shared::new(CommRank(me.0), &members, world_areas(&members)?),
            false => Shared::none(),
        };
        let world = Communicator::new(Communicator::WORLD_CONTEXT, CommRank(me.0), members, shared);
        let shared = Shared::new(CommRank::FIRST, &[me], Box::new([Area::renewed(None)]));
        let alone = Communicator::new(Communicator::SELF_CONTEXT, CommRank::FIRST, [me].into(), shared);
        Ok(Engine {
            paths,
            contexts: Contexts::new(me),
            announcements: Announcements::new(),
            me,
            size,
            waiting: Waiting::new(size),
            requests: handle::Table::new(),
            compact: handle::Table::of(Kind::Compact),
            deferred: (0..size).map(|_| VecDeque::new()).collect(),
            deferred_count: 0,
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
            collectives: Vec::new(),
            left_posts: Rc::default(),
            operations: handle::Table::of(Kind::Operation),
            last_kernel: LastKernel::new(None),
            has_world_model: false,
            world: Rc::new(world),
            alone: Rc::new(alone),
            communicators: handle::Table::of(Kind::Communicator),
            duplications: Vec::new(),
            no_ranks: Group::new([].into()),
            groups: handle::Table::of(Kind::Group),
        })
    }

    /// The communicator with that handle; the predefined ones are there while the world model is (MPI-5.0, section 11.2). Errors: `COMM`.
    #[inline(always)]
    pub fn communicator(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        match handle.0 {
            abi::COMM_WORLD if self.has_world_model => Ok(&self.world),
            abi::COMM_SELF if self.has_world_model => Ok(&self.alone),
            _ => self.communicators.get(handle).ok_or(Error::COMM),
        }
    }

    /// The same, for calls that have no meaning on an intercommunicator. Errors: `COMM`.
    #[inline(always)]
    pub fn intracommunicator(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        self.communicator(handle).and_then(|it| if it.inter.is_none() { Ok(it) } else { Err(Error::COMM) })
    }

    /// This rank in a communicator (in its local group). Errors: `COMM`.
    pub fn rank(&self, communicator: Handle) -> Result<u32> {
        self.communicator(communicator).map(|it| it.rank.0)
    }

    /// Ranks of a communicator (of its local group). Errors: `COMM`.
    pub fn size(&self, communicator: Handle) -> Result<u32> {
        self.communicator(communicator).map(|it| it.members.len() as u32)
    }

    /// All ranks, whether or not the program sees them as a communicator.
    pub fn world(&self) -> &Rc<Communicator> {
        &self.world
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
