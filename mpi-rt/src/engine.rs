//! The engine: one object in each rank, behind [`with`].

use crate::abi;
use crate::buffered::Attached;
use crate::communicator::Communicator;
use crate::context::Contexts;
use crate::datatypes::Datatypes;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table};
use crate::local::RankLocal;
use crate::probe::Taken;
use crate::receive::Waiting;
use crate::request::Request;
use crate::transport::smartmap::Smartmap;
use crate::transport::{Memory, Transport};
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_user::barrier::NodeBarrier;
use lwk_user::job;

/// All that the runtime knows in this rank.
pub struct Engine {
    pub(crate) transport: Smartmap,
    /// This rank, and how many there are, on this node.
    pub(crate) contexts: Contexts,
    /// This rank on its node.
    pub(crate) me: u32,
    /// Ranks on this node.
    pub(crate) size: u32,
    pub(crate) waiting: Waiting,
    pub(crate) requests: Table<Request>,
    /// Sends for which a peer's ring had no room yet, by peer, in order.
    pub(crate) deferred: Vec<VecDeque<Handle>>,
    pub(crate) deferred_count: usize,
    /// Sends that the transport has under way.
    pub(crate) underway: Vec<Handle>,
    /// The buffer for buffered sends.
    pub(crate) attached: Option<Attached>,
    /// Messages that matched probes have taken out.
    pub(crate) taken: Table<Taken>,
    pub(crate) datatypes: Datatypes,
    pub(crate) world: Rc<Communicator>,
    pub(crate) alone: Rc<Communicator>,
    pub(crate) communicators: Table<Rc<Communicator>>,
}

#[expect(clippy::large_enum_variant, reason = "one static, and no pointer to follow on every call")]
enum Life {
    Before,
    Running(Engine),
    After,
}

static ENGINE: RankLocal<Life> = RankLocal::new(Life::Before);

/// Ranks meet here when the runtime starts and when it ends.
static GATE: NodeBarrier = NodeBarrier::new();

/// Starts the runtime. Every rank of the job calls it once. Errors: `OTHER` the second time, `UNSUPPORTED_OPERATION` if the job
/// has more than one node, `NO_MEM`.
pub fn initialize() -> Result<()> {
    ENGINE
        .try_with(|life| match life {
            Life::Before => {
                *life = Life::Running(Engine::start_up()?);
                GATE.wait();
                Ok(())
            }
            _ => Err(Error::OTHER),
        })
        .unwrap_or(Err(Error::INTERN))
}

/// Ends the runtime, after all ranks have come here. Errors: `OTHER` if it is not running.
pub fn finalize() -> Result<()> {
    with(|engine| {
        engine.finish_sends();
        let world = engine.world.clone();
        engine.barrier(&world)
    })?;
    ENGINE.try_with(|life| *life = Life::After).ok_or(Error::INTERN)
}

/// Whether [`initialize`] has been called.
pub fn is_initialized() -> bool {
    ENGINE.try_with(|life| !matches!(life, Life::Before)).unwrap_or(true)
}

/// Whether [`finalize`] has been called.
pub fn is_finalized() -> bool {
    ENGINE.try_with(|life| matches!(life, Life::After)).unwrap_or(false)
}

/// Lets `call` use the engine. Errors: `OTHER` before start and after end, `INTERN` from inside another call.
#[inline(always)]
pub fn with<R>(call: impl FnOnce(&mut Engine) -> Result<R>) -> Result<R> {
    ENGINE
        .try_with(|life| match life {
            Life::Running(engine) => call(engine),
            _ => Err(Error::OTHER),
        })
        .unwrap_or(Err(Error::INTERN))
}

impl Engine {
    fn start_up() -> Result<Engine> {
        let job = job();
        if job.nodes() > 1 {
            return Err(Error::UNSUPPORTED_OPERATION);
        }
        let (me, size) = (job.node_rank().0, job.node_size());
        let transport = Smartmap::start_up()?;
        let world = Communicator::new(Communicator::WORLD_CONTEXT, me, (0..size).collect(), None)?;
        let alone = Communicator::new(Communicator::SELF_CONTEXT, me, [me].into(), None)?;
        Ok(Engine {
            transport,
            contexts: Contexts::new(),
            me,
            size,
            waiting: Waiting::new(size),
            requests: Table::new(),
            deferred: (0..size).map(|_| VecDeque::new()).collect(),
            deferred_count: 0,
            underway: Vec::new(),
            attached: None,
            taken: Table::new(),
            datatypes: Datatypes::new(),
            world: Rc::new(world),
            alone: Rc::new(alone),
            communicators: Table::new(),
        })
    }

    /// The communicator with that handle. Errors: `COMM`.
    #[inline(always)]
    pub(crate) fn communicator(&self, handle: Handle) -> Result<&Rc<Communicator>> {
        match handle.0 {
            abi::COMM_WORLD => Ok(&self.world),
            abi::COMM_SELF => Ok(&self.alone),
            _ => self.communicators.get(handle).ok_or(Error::COMM),
        }
    }

    /// This rank in a communicator.
    pub fn rank(&self, communicator: Handle) -> Result<u32> {
        self.communicator(communicator).map(|it| it.rank)
    }

    /// Ranks of a communicator.
    pub fn size(&self, communicator: Handle) -> Result<u32> {
        self.communicator(communicator).map(|it| it.members.len() as u32)
    }

    /// Name of the transport, and the memory it uses in this rank.
    pub fn transport_memory(&self) -> (&'static str, Memory) {
        (self.transport.name(), self.transport.memory())
    }
}
