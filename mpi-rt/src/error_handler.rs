//! Error handlers (MPI-5.0, section 9.3): what becomes of an error, by the object it arose on.
//!
//! The engine's calls return errors; a C face passes each to [`raise`] with the object the call was about, which carries out the
//! handler of that object. Handlers outlive the runtime: they may be made before it starts and freed after it has ended.

use crate::abi::{
    COMM_SELF, COMM_WORLD, ERRHANDLER_NULL, ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN,
    FIRST_DYNAMIC_HANDLE,
};
use crate::error::{Error, Result};
use crate::handle::{Handle, Kind, Table};
use crate::local::RankLocal;
use crate::object::Object;
use alloc::string::String;
use lwk_user::{eprintln, job, start, syscall};

/// A program's handler: the addresses of the object's handle and of the code.
pub type UserFunction = unsafe extern "C" fn(object: *mut u64, code: *mut i32, ...);

/// What to do with an error.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// End the job.
    Fatal,
    /// End the ranks of the communicator; on this node, that is the job.
    Abort,
    /// Give the caller the code.
    Return,
    /// Call the program's function, then give the caller the code.
    Call(UserFunction),
}

/// A handler that a program has made.
struct Made {
    /// The kind of object it is for.
    kind: Kind,
    function: UserFunction,
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
pub fn create(kind: Kind, function: UserFunction) -> Result<Handle> {
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

/// Attaches a handler to an object. Errors: that of an invalid object; `ERRHANDLER` if there is no such handler, or it is for another
/// kind of object.
pub fn set(object: Object, handler: Handle) -> Result<()> {
    crate::engine::exists(object)?;
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
    crate::engine::exists(object)?;
    let handler = handle_of(object);
    // A predefined one has no count.
    let _ = with(|made| {
        made.get_mut(handler).ok_or(Error::ERRHANDLER)?.held += 1;
        Ok(())
    });
    Ok(handler)
}

/// Gives a new object the handler of the one it is made from (communicators inherit theirs).
pub(crate) fn inherit(from: Object, to: Object) {
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
pub(crate) fn let_go(handler: Handle) {
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

/// What the handler of an object does. Errors on objects that do not exist, and on kinds without handlers, go to that of
/// `MPI_COMM_SELF` (MPI-5.0, section 9.3).
pub fn handler_of(object: Object) -> Action {
    let has_handlers = matches!(object.kind, Kind::Communicator | Kind::Window | Kind::File | Kind::Session);
    let object = if has_handlers && (object.kind == Kind::File || crate::engine::exists(object).is_ok()) {
        object
    } else {
        Object::communicator(Handle(COMM_SELF))
    };
    let handler = handle_of(object);
    match handler.0 {
        ERRORS_RETURN => Action::Return,
        ERRORS_ABORT => Action::Abort,
        _ => with(|made| Ok(made.get(handler).map(|it| it.function)))
            .ok()
            .flatten()
            .map_or(Action::Fatal, Action::Call),
    }
}

/// Whether an error on the object ends the job.
pub fn ends_job(object: Object) -> bool {
    matches!(handler_of(object), Action::Fatal | Action::Abort)
}

/// Carries out the handler of the object that an error arose on; the code for the caller, if it gets that far. `call` is the name of
/// the function, for the message of those that end the job. Must not be called from inside [`crate::engine::with`].
pub fn raise(object: Object, call: &str, error: Error) -> i32 {
    let mut code = error.code();
    match handler_of(object) {
        Action::Return => {}
        Action::Call(function) => {
            let mut handle = object.handle.0;
            // SAFETY: the program has given the function for this; both addresses are of this function's variables.
            unsafe { function(&raw mut handle, &raw mut code) };
        }
        Action::Fatal | Action::Abort => end_job(object, call, error),
    }
    error.code()
}

/// Calls the handler of an object with a code of the program's choice. Errors: that of an invalid object.
pub fn call(object: Object, code: i32) -> Result<()> {
    crate::engine::exists(object)?;
    if let Some(error) = Error::from_code(code) {
        raise(object, "a call of the error handler", error);
    }
    Ok(())
}

fn end_job(object: Object, call: &str, error: Error) -> ! {
    // The error may be one of a program that has been started directly.
    start::require_job();
    let rank = job().rank();
    let text = crate::error_code::text(error.code()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let class = error.class();
    match (object.kind, object.handle.0) {
        (Kind::Communicator, COMM_SELF) => eprintln!("rank {rank}: {call}: {text} (MPI error class {class})"),
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

// The predefined handlers are below every handle that a table gives out.
const _: () = assert!(ERRHANDLER_NULL < FIRST_DYNAMIC_HANDLE && ERRORS_RETURN < FIRST_DYNAMIC_HANDLE);
