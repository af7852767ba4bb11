//! Error handlers (MPI-5.0, section 9.3): what becomes of an error, by the object it arose on.
//!
//! The engine's calls return errors; a C face finds the [`ErrorSite`] of each by the object the call was about, and raises it there, which carries
//! out the handler of that object. Handlers outlive the runtime: they may be made before it starts and freed after it has ended.

use crate::abi::{
    COMM_SELF, COMM_WORLD, ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, FILE_NULL,
    FIRST_DYNAMIC_HANDLE,
};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::local::RankLocal;
use crate::object::{self, Object};
use alloc::format;
use alloc::string::String;
use lwk_path::setting::Bad;
use lwk_primitive::own::Own;
use lwk_user::abi::runtime::ERRORS_ON;
use lwk_user::{eprintln, job, start, syscall};

/// A program's handler: the addresses of the object's handle and of the code.
pub type UserFunction = unsafe extern "C" fn(object: *mut u64, code: *mut i32, ...);

/// The same in a language in which handles are integers.
pub type NumberedFunction = unsafe extern "C" fn(object: *mut i32, code: *mut i32, ...);

/// A program's handler, by the language it is written in.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    C(UserFunction),
    /// With what makes an integer of a handle.
    Fortran(NumberedFunction, fn(u64) -> i32),
}

/// What to do with an error.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// End the job.
    Fatal,
    /// End the ranks of the communicator; on this node, that is the job.
    Abort,
    /// Give the caller the code.
    Return,
    /// Call the program's function, then give the caller the code that it has left.
    Call(Function),
}

/// A handler that a program has made.
struct Made {
    /// The kind of object it is for.
    kind: Kind,
    function: Function,
    /// How many times a program holds its handle: made or got, and not freed.
    held: usize,
    /// Objects it is attached to.
    attached: usize,
}

static MADE: RankLocal<Table<Made>> = RankLocal::new(Table::of(Kind::ErrorHandler));

fn with<R>(call: impl FnOnce(&mut Table<Made>) -> Result<R>) -> Result<R> {
    MADE.try_with(call).unwrap_or(Err(Error::INTERN))
}

/// A handler that calls a function, for objects of a kind: communicators, windows, files or sessions. Errors: `INTERN` if a call
/// further out is using the table of handlers.
pub fn create(kind: Kind, function: Function) -> Result<Handle> {
    with(|made| Ok(made.insert(Made { kind, function, held: 1, attached: 0 })))
}

/// Frees a handle; the handler stays as long as an object has it. Errors: `ERRHANDLER`, also for the null handler.
pub fn free(handler: Handle) -> Result<()> {
    if is_predefined(handler) {
        return Ok(());
    }
    with(|made| {
        let it = made.get_mut(handler).filter(|it| it.held > 0).ok_or(Error::ERRHANDLER)?;
        it.held -= 1;
        drop_unused(made, handler);
        Ok(())
    })
}

/// Whether the program still has the handler, from making it or from asking an object for it.
pub fn is_held(handler: Handle) -> bool {
    with(|made| Ok(made.get(handler).is_some_and(|it| it.held > 0))).unwrap_or(false)
}

/// Whether there is such a handler for a kind of object. Errors: `ERRHANDLER`.
pub fn check(kind: Kind, handler: Handle) -> Result<()> {
    if is_predefined(handler) {
        return Ok(());
    }
    with(|made| {
        made.get(handler).filter(|it| it.held > 0 && it.kind == kind).map(drop).ok_or(Error::ERRHANDLER)
    })
}

/// Attaches a handler to an object. Errors: that of an invalid object; `ERRHANDLER` if there is no such handler, or it is for another
/// kind of object.
pub fn set(object: Object, handler: Handle) -> Result<()> {
    object::exists(object)?;
    if !is_predefined(handler) {
        with(|made| {
            let it = made.get_mut(handler).filter(|it| it.held > 0 && it.kind == object.kind);
            it.ok_or(Error::ERRHANDLER)?.attached += 1;
            Ok(())
        })?;
    }
    if let Some(before) = object.attach(|it| it.handler.replace(handler))? {
        let_go(before);
    }
    Ok(())
}

/// The handler of an object; the caller frees it. Errors: that of an invalid object.
pub fn get(object: Object) -> Result<Handle> {
    object::exists(object)?;
    let handler = handle_of(object);
    // A predefined one has no count.
    let _ = with(|made| {
        made.get_mut(handler).ok_or(Error::ERRHANDLER)?.held += 1;
        Ok(())
    });
    Ok(handler)
}

/// Gives a new object the handler of the one it is made from (communicators inherit theirs).
pub fn inherit(from: Object, to: Object) {
    let handler = handle_of(from);
    if handler == default_of(to.kind) {
        return;
    }
    let _ = with(|made| {
        made.get_mut(handler).ok_or(Error::ERRHANDLER)?.attached += 1;
        Ok(())
    });
    let _ = to.attach(|it| it.handler = Some(handler));
}

/// An object no longer has a handler.
pub fn let_go(handler: Handle) {
    let _ = with(|made| {
        made.get_mut(handler).ok_or(Error::ERRHANDLER)?.attached -= 1;
        drop_unused(made, handler);
        Ok(())
    });
}

fn drop_unused(made: &mut Table<Made>, handler: Handle) {
    if made.get(handler).is_some_and(|it| it.held + it.attached == 0) {
        made.remove(handler);
    }
}

fn is_predefined(handler: Handle) -> bool {
    matches!(handler.0, ERRORS_ARE_FATAL | ERRORS_ABORT | ERRORS_RETURN)
}

/// The handler of objects that nobody has given one. Files return errors; all others end the job.
fn default_of(kind: Kind) -> Handle {
    Handle(if kind == Kind::File { ERRORS_RETURN } else { ERRORS_ARE_FATAL })
}

fn handle_of(object: Object) -> Handle {
    let attached = object.attached(|it| it.and_then(|it| it.handler)).ok().flatten();
    attached.unwrap_or_else(|| default_of(object.kind))
}

/// Values of [`ERRORS_ON`].
const SELF: &str = "self";
const WORLD: &str = "world";

/// Whether errors that belong to no object are `MPI_COMM_WORLD`'s, as before MPI-4.
static ON_WORLD: Own<bool> = Own::<bool>::new(false);

/// Takes over what the environment says of errors that belong to no object. Errors: a value of [`ERRORS_ON`] that means nothing.
pub fn take_environment() -> core::result::Result<(), Bad> {
    match start::variable(ERRORS_ON) {
        None | Some(SELF) => Ok(()),
        Some(WORLD) => {
            ON_WORLD.set(true);
            Ok(())
        }
        Some(other) => {
            Err(Bad(format!("{ERRORS_ON}={other}: there is no such choice; there are {SELF}, {WORLD}")))
        }
    }
}

/// Where errors are raised that belong to no object: on `MPI_COMM_SELF` (MPI-5.0, section 9.3) unless the environment says otherwise.
fn of_nothing() -> Object {
    Object::communicator(Handle(if ON_WORLD.get() { COMM_WORLD } else { COMM_SELF }))
}

/// Where an error is raised: the handler that decides, and the object that it is told.
#[derive(Clone, Copy, Debug)]
pub struct ErrorSite {
    object: Object,
    handler: Handle,
}

impl ErrorSite {
    /// On an object. Errors on files that there are not are those of `MPI_FILE_NULL`; those on other objects that there are not, and on kinds without
    /// handlers, belong to none.
    pub fn on(object: Object) -> ErrorSite {
        let has_handlers =
            matches!(object.kind, Kind::Communicator | Kind::Window | Kind::File | Kind::Session);
        let object = match object.kind {
            _ if has_handlers && object::exists(object).is_ok() => object,
            Kind::File => Object::file(Handle(FILE_NULL)),
            _ => of_nothing(),
        };
        ErrorSite { object, handler: handle_of(object) }
    }

    /// On no object.
    pub fn nowhere() -> ErrorSite {
        let object = of_nothing();
        ErrorSite { object, handler: handle_of(object) }
    }

    /// In the making of an object that is to have the handler, which is told the null object. If it cannot have it, the error belongs to none.
    pub fn making(null: Object, handler: Handle) -> ErrorSite {
        match check(null.kind, handler) {
            Ok(()) => ErrorSite { object: null, handler },
            Err(_) => ErrorSite::nowhere(),
        }
    }

    /// What is done here with an error.
    fn action(self) -> Action {
        match self.handler.0 {
            ERRORS_RETURN => Action::Return,
            ERRORS_ABORT => Action::Abort,
            _ => with(|made| Ok(made.get(self.handler).map(|it| it.function)))
                .ok()
                .flatten()
                .map_or(Action::Fatal, Action::Call),
        }
    }

    /// Whether an error ends the job here.
    pub fn ends_job(self) -> bool {
        matches!(self.action(), Action::Fatal | Action::Abort)
    }

    /// Carries out the handler; the code for the caller, if it gets that far: the error's, or what a function of the program's has made of it.
    /// `call` is the name of the function, for the message of handlers that end the job. Must not be called while the engine is in use.
    pub fn raise(self, call: &str, error: Error) -> i32 {
        let mut code = error.code();
        match self.action() {
            Action::Return => {}
            Action::Call(Function::C(function)) => {
                let mut handle = self.object.handle.0;
                // SAFETY: the program registered this `UserFunction` for objects of the kind; both addresses
                // are of this function's variables.
                unsafe { function(&raw mut handle, &raw mut code) };
            }
            Action::Call(Function::Fortran(function, number_of)) => {
                let mut handle = number_of(self.object.handle.0);
                // SAFETY: the program registered this `NumberedFunction` for objects of the kind; both
                // addresses are of this function's variables.
                unsafe { function(&raw mut handle, &raw mut code) };
            }
            Action::Fatal | Action::Abort => self.end_job(call, error),
        }
        code
    }

    fn end_job(self, call: &str, error: Error) -> ! {
        // The error may be one of a program that has been started directly.
        start::require_job();
        let rank = job().rank();
        let text = crate::error_code::text(error.code()).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let class = error.class();
        let world = ErrorSite::on(Object::communicator(Handle(COMM_WORLD)));
        match (self.object.kind, self.object.handle.0) {
            // Many programs change the handler of the other communicator only, as was enough before MPI-4.
            (Kind::Communicator, COMM_SELF) if !world.ends_job() => eprintln!(
                "rank {rank}: {call}: {text} (MPI error class {class}), on MPI_COMM_SELF; \
                 with {ERRORS_ON}={WORLD}, errors without a communicator are MPI_COMM_WORLD's"
            ),
            (Kind::Communicator, COMM_SELF) => {
                eprintln!("rank {rank}: {call}: {text} (MPI error class {class})")
            }
            (Kind::Communicator, COMM_WORLD) => {
                eprintln!("rank {rank}: {call}: {text} (MPI error class {class}), on MPI_COMM_WORLD")
            }
            (kind, handle) => {
                eprintln!("rank {rank}: {call}: {text} (MPI error class {class}), on {kind} {handle:#x}")
            }
        }
        // The class as the status: what a shell sees is below 256, and the standard's classes are.
        syscall::abort(u8::try_from(class).map_or(1, i32::from))
    }
}

/// Calls the handler of an object with a code of the program's choice. Errors: that of an invalid object.
pub fn call(object: Object, code: i32) -> Result<()> {
    object::exists(object)?;
    if let Some(error) = Error::from_code(code) {
        ErrorSite::on(object).raise("a call of the error handler", error);
    }
    Ok(())
}

// The predefined handlers are below every handle that a table gives out.
const _: () = assert!(ERRHANDLER_NULL < FIRST_DYNAMIC_HANDLE && ERRORS_RETURN < FIRST_DYNAMIC_HANDLE);
