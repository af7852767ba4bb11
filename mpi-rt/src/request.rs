//! Requests: operations that have begun and are completed by waiting or testing (MPI-5.0, section 3.7).

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::handle::Handle;
use crate::status::Status;
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::Any;
use lwk_datatype::Datatype;
use lwk_matching::{Pattern, Token};
use lwk_path::region::Region;
use lwk_path::{Label, Ticket};
use lwk_place::WorldRank;

/// One operation.
pub struct Request {
    pub(crate) operation: Operation,
    pub(crate) state: State,
    pub(crate) status: Status,
    /// Freed by its owner while active: it goes when it completes.
    pub(crate) detached: bool,
    /// Started again and again; inactive in between.
    pub(crate) persistent: bool,
    pub(crate) keeps: Keeps,
}

/// What must live as long as a request.
pub enum Keeps {
    Nothing,
    /// The layout of its region: a datatype may be freed while messages of it are under way.
    Layout(Datatype),
    /// A copy of the content that it sends.
    Content(Vec<u8>),
    /// The same of a standard send that is complete for its caller, to a peer.
    Ahead {
        content: Vec<u8>,
        peer: WorldRank,
    },
}

/// What it does.
pub(crate) enum Operation {
    Send(SendOperation),
    Receive(ReceiveOperation),
    /// A send and a receive that complete together.
    Both {
        send: Handle,
        receive: Handle,
    },
    /// Of a subsystem.
    Activity(Activity),
    /// Until the messages before the given number have left a buffer.
    Flush {
        owner: Owner,
        until: u64,
    },
    /// Nothing: to or from nobody.
    Nothing,
}

/// Modes of sends (MPI-5.0, section 3.4). A buffered send is a standard one from the attached buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Standard,
    Synchronous,
    /// The receive has been posted, the program says; sent as a standard one.
    Ready,
    Buffered,
}

#[derive(Clone, Copy)]
pub struct SendOperation {
    pub peer: WorldRank,
    pub label: Label,
    pub source: Region,
    pub mode: Mode,
    /// What the program named: buffered sends look for its buffer.
    pub communicator: Handle,
    /// Of a buffered send that is complete: the request of its message in the buffer, which may be gone.
    pub buffered: Option<Handle>,
}

#[derive(Clone)]
pub struct ReceiveOperation {
    /// Sources are world ranks.
    pub pattern: Pattern,
    pub target: Region,
    pub communicator: Rc<Communicator>,
}

/// Whose buffer it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    Process,
    Communicator(Handle),
    Session(Handle),
}

/// What the engine asks of the operations of a subsystem.
pub struct Calls {
    /// The request is started: it was inactive.
    pub start: fn(&mut Engine, Handle),
    /// The request is gone; this was its operation.
    pub end: fn(&mut Engine, Box<dyn Any>),
}

/// An operation of a subsystem's.
pub struct Activity {
    pub(crate) operation: Box<dyn Any>,
    pub(crate) calls: &'static Calls,
}

impl Activity {
    pub(crate) fn end(self, engine: &mut Engine) {
        (self.calls.end)(engine, self.operation);
    }
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Persistent and not started.
    Inactive,
    /// A send that waits for room at the peer.
    Deferred,
    /// A send that the transport has.
    Underway(Ticket),
    /// A receive that waits for its message.
    Posted(Token),
    /// A receive whose message is on its way.
    Arriving(Ticket),
    /// Of a subsystem, and begun.
    Active,
    /// Complete when others are: two requests, or a buffer's messages.
    Compound,
    /// A communicator that is being made.
    Making,
    Complete,
}

impl Request {
    /// An operation that has not begun.
    pub(crate) fn new(operation: Operation) -> Request {
        Request {
            operation,
            state: State::Inactive,
            status: Status::EMPTY,
            detached: false,
            persistent: false,
            keeps: Keeps::Nothing,
        }
    }

    /// One that is started again and again.
    pub(crate) fn persistent(operation: Operation) -> Request {
        Request { persistent: true, ..Request::new(operation) }
    }

    /// Whether it has been carried out.
    pub(crate) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// An operation to or from nobody, which is complete.
    pub(crate) fn nothing(status: Status) -> Request {
        Request { state: State::Complete, status, ..Request::new(Operation::Nothing) }
    }
}

impl Engine {
    /// A request that is complete, of an operation that its call has carried out.
    pub fn insert_complete(&mut self, status: Status) -> Handle {
        self.requests.insert(Request::nothing(status))
    }
}
