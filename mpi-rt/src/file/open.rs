//! Opening, closing and deleting files (MPI-5.0, sections 14.2.1 to 14.2.3).

use super::access_mode::{AccessMode, bit};
use super::shared::{Answers, Control, SharedWords};
use super::system::{self, Descriptor};
use super::view::View;
use super::{File, properties};
use crate::abi::FILE_NULL;
use crate::engine::{Engine, with};
use crate::error::{Error, Result};
use crate::error_handler;
use crate::handle::Handle;
use crate::info::Info;
use crate::object::{self, Object};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_path::{Reach, seen_from_here};
use lwk_place::peer_of;

/// Opens a file; all ranks of the communicator must call it. `mode` is `amode`. The file's errors go to the handler of `MPI_FILE_NULL` until it is
/// given another.
///
/// Errors: `COMM`, also for an intercommunicator; `AMODE`, `BAD_FILE`, `NO_SUCH_FILE`, `FILE_EXISTS`, `ACCESS` and others of the system;
/// `NOT_SAME` if the ranks' modes or files differ; `NO_MEM`. If any rank has one, all have.
pub fn open(communicator: Handle, name: &[u8], mode: i32, hints: &Info) -> Result<Handle> {
    let file = with(|engine| engine.file_open(communicator, name, mode, hints))?;
    error_handler::inherit(Object::file(Handle(FILE_NULL)), Object::file(file));
    Ok(file)
}

/// Closes a file, and deletes it if its mode says so; all its ranks must call it. Errors: `FILE`; those of the deletion, and then it is closed
/// all the same.
pub fn close(file: Handle) -> Result<()> {
    let outcome = with(|engine| engine.file_close(file))?;
    object::forget(Object::file(file));
    outcome
}

/// Deletes a file. Errors: `FILE_IN_USE` while a rank has it open; `BAD_FILE`, `NO_SUCH_FILE`, `ACCESS` and others of the system.
pub fn delete(name: &[u8]) -> Result<()> {
    with(|engine| system::delete(&system::absolute(name)?, |rank| engine.paths.reach(rank) == Reach::Mapped))
}

/// A file in the making.
struct Draft {
    mode: AccessMode,
    name: Vec<u8>,
    permissions: u32,
}

impl Draft {
    fn new(name: &[u8], mode: i32, hints: &Info) -> Result<Draft> {
        let mode = AccessMode::new(mode)?;
        Ok(Draft { mode, name: system::absolute(name)?, permissions: properties::permissions(hints)? })
    }

    fn open(&self, create: bool) -> Result<Descriptor> {
        Descriptor::open(&self.name, self.mode, create, self.permissions)
    }

    /// Where the file pointers are at first.
    fn start(&self, descriptor: &Descriptor) -> Result<u64> {
        if self.mode.has(bit::APPEND) { descriptor.size() } else { Ok(0) }
    }
}

impl Engine {
    fn file_open(&mut self, communicator: Handle, name: &[u8], mode: i32, hints: &Info) -> Result<Handle> {
        let parent = self.intracommunicator(communicator)?.clone();
        let draft = Draft::new(name, mode, hints);
        self.agree(&parent, draft.as_ref().map(|_| mode as u64).map_err(|error| *error))?;
        let draft = draft?;
        // The first rank makes the file, so that it comes into being once, and the shared words.
        let first = parent.rank == 0;
        let made = if first {
            draft.open(true).and_then(|it| Ok((Control::new(draft.start(&it)?), it))).map(Some)
        } else {
            Ok(None)
        };
        let made = made.map(|made| made.map(|(control, descriptor)| (Box::new(control), descriptor)));
        let address = made.as_ref().map_or_else(
            |error| Err(*error),
            |made| {
                Ok(made
                    .as_ref()
                    .map_or(0, |(control, _)| core::ptr::from_ref(&**control).expose_provenance() as u64))
            },
        );
        let words = self.exchange_outcomes(&parent, address)?;
        let (own, descriptor) = match made? {
            Some((control, descriptor)) => (Some(control), Ok(descriptor)),
            None => (None, draft.open(false)),
        };
        // All have the same file if it has the same number.
        self.agree(&parent, descriptor.as_ref().map_err(|error| *error).and_then(Descriptor::number))?;
        let descriptor = descriptor?;
        let position = descriptor.show().and_then(|()| draft.start(&descriptor));
        let address = words.first().copied().ok_or(Error::INTERN)? as usize;
        let at = *parent.members.first().ok_or(Error::INTERN)?;
        let root = peer_of(at).filter(|_| self.paths.reach(at) == Reach::Mapped);
        // SAFETY: the first rank has just told the address of its initialised words, which are shared through atomics only and stay until
        // the barrier in which all ranks close the file; the reference goes with this rank's part of it.
        let control: Option<&'static Control> =
            root.map(|root| unsafe { &*seen_from_here::<Control>(root, address) });
        // All that may find no memory comes before the last exchange: after it the peers use the first rank's words.
        let last = position.and_then(|position| Ok((position, properties::initial_hints(hints, name)?)));
        self.exchange_outcomes(&parent, last.as_ref().map(|_| 0).map_err(|error| *error))?;
        let (position, hints) = last?;
        let communicator = Rc::new(self.duplicate_hidden(&parent)?);
        let object = communicator.context;
        if let (true, true, Some(control)) = (first, communicator.is_out_of_reach(), control) {
            self.answer_for(object, Box::new(Answers::new(control)));
        }
        let shared = control.map_or(SharedWords::Asked { at, object }, SharedWords::Mapped);
        Ok(self.files.insert(File {
            descriptor: Rc::new(descriptor),
            hints,
            mode: draft.mode,
            name: draft.name,
            communicator,
            shared,
            _own: own,
            view: Rc::new(View::bytes()),
            position,
            atomic: false,
            split: None,
        }))
    }

    /// Errors: `FILE`, and then nothing is closed; inside, those of the deletion.
    fn file_close(&mut self, file: Handle) -> Result<Result<()>> {
        let it = self.files.remove(file).ok_or(Error::FILE)?;
        it.descriptor.hide();
        // A file without a name stays for those that still have it open. After this no rank looks at the shared words.
        let deletes = it.mode.has(bit::DELETE_ON_CLOSE);
        let outcome =
            self.first_does(&it.communicator, |_| if deletes { system::unlink(&it.name) } else { Ok(()) });
        if it._own.is_some() && it.communicator.is_out_of_reach() {
            self.stop_answering(it.communicator.context);
        }
        self.retire_communicator(it.communicator.clone())?;
        Ok(outcome)
    }
}
