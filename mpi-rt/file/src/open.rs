//! Opening, closing and deleting files (MPI-5.0, sections 14.2.1 to 14.2.3).

use crate::access_mode::{AccessMode, bit};
use crate::opened::Opened;
use crate::shared::{Answers, Control, SharedWords};
use crate::system;
use crate::view::View;
use crate::{File, KNOWN, properties};
use crate::{Files, with};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_asking::{answer_for, stop_answering};
use lwk_mpi_core::abi::FILE_NULL;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::error_handler;
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::info::Info;
use lwk_mpi_core::object::Object;
use lwk_mpi_rt::communicator::Communicator;
use lwk_path::{Reach, seen_from_here};
use lwk_place::{CommRank, peer_of};

/// Opens a file; all ranks of the communicator must call it. `mode` is `amode`. The file's errors go to the handler of `MPI_FILE_NULL` until it is
/// given another.
///
/// Errors: `COMM`, also for an intercommunicator; `AMODE`, `BAD_FILE`, `NO_SUCH_FILE`, `FILE_EXISTS`, `ACCESS` and others of the system;
/// `NOT_SAME` if the ranks' modes or files differ; `NO_MEM`. If any rank has one, all have.
pub fn open(communicator: Handle, name: &[u8], mode: i32, hints: &Info) -> Result<Handle> {
    let file = with(|files| files.file_open(communicator, name, mode, hints))?;
    error_handler::inherit(Object::file(Handle(FILE_NULL)), Object::file(file));
    Ok(file)
}

/// Closes a file, and deletes it if its mode says so; all its ranks must call it. Errors: `FILE`; those of the deletion, and then it is closed
/// all the same.
pub fn close(file: Handle) -> Result<()> {
    let outcome = with(|files| files.file_close(file))?;
    lwk_mpi_core::forget(Object::file(file));
    outcome
}

/// Deletes a file. Errors: `FILE_IN_USE` while a rank has it open; `BAD_FILE`, `NO_SUCH_FILE`, `ACCESS` and others of the system.
pub fn delete(name: &[u8]) -> Result<()> {
    with(|files| files.delete_path(&system::absolute(name)?))
}

/// A file in the making.
struct Draft<'a> {
    mode: AccessMode,
    /// As the program names it, and absolute.
    given: &'a [u8],
    name: Vec<u8>,
    hints: &'a Info,
    permissions: u32,
}

impl<'a> Draft<'a> {
    fn new(given: &'a [u8], mode: i32, hints: &'a Info) -> Result<Draft<'a>> {
        let mode = AccessMode::new(mode)?;
        let (name, permissions) = (system::absolute(given)?, properties::permissions(hints)?);
        Ok(Draft { mode, given, name, hints, permissions })
    }
}

impl Files {
    fn file_open(&mut self, communicator: Handle, name: &[u8], mode: i32, hints: &Info) -> Result<Handle> {
        let parent = self.communicators.intracommunicator(communicator)?.clone();
        let draft = Draft::new(name, mode, hints);
        self.agree(&parent, draft.as_ref().map(|_| mode as u64).map_err(|error| *error))?;
        let draft = draft?;
        let mut opened = None;
        let outcome = self.open_together(&parent, draft, &mut opened);
        if let Some(opened) = opened {
            // What went wrong is told; that it could not be closed either is not.
            let _ = self.close_opened(&opened);
        }
        outcome
    }

    fn open_draft(&mut self, draft: &Draft<'_>, create: bool) -> Result<Opened> {
        self.open_path(&draft.name, draft.mode, create, draft.permissions)
    }

    /// Where the file pointers are at first.
    fn start_of(&mut self, draft: &Draft<'_>, opened: &Opened) -> Result<u64> {
        if draft.mode.has(bit::APPEND) { self.size_of_file(opened) } else { Ok(0) }
    }

    /// What the first rank does before the others: it makes the file, so that it comes into being once, and the shared words.
    fn make_file(&mut self, draft: &Draft<'_>, opened: &mut Option<Opened>) -> Result<Box<Control>> {
        let made = opened.insert(self.open_draft(draft, true)?);
        Ok(Box::new(Control::new(self.start_of(draft, made)?)))
    }

    /// Opens a file on whose mode all ranks agree. What this rank has opened goes from `opened` into the file; after an error it is left there.
    fn open_together(
        &mut self,
        parent: &Rc<Communicator>,
        draft: Draft<'_>,
        opened: &mut Option<Opened>,
    ) -> Result<Handle> {
        let first = parent.rank == CommRank::FIRST;
        let own = if first { self.make_file(&draft, opened).map(Some) } else { Ok(None) };
        let address = own.as_ref().map_err(|error| *error).map(|own| {
            own.as_ref().map_or(0, |control| core::ptr::from_ref(&**control).expose_provenance() as u64)
        });
        let words = self.exchange_outcomes(parent, address)?;
        let own = own?;
        let mine = match opened.take() {
            Some(mine) => Ok(mine),
            None => self.open_draft(&draft, false),
        };
        // All have the same file if it has the same number.
        let identity = mine.and_then(|mine| self.identity_of(opened.insert(mine)));
        self.agree(parent, identity)?;
        let mine = opened.as_ref().ok_or(Error::INTERN)?;
        let position = self.show_opened(mine).and_then(|()| self.start_of(&draft, mine));
        let address = words.first().copied().ok_or(Error::INTERN)? as usize;
        let at = *parent.members.first().ok_or(Error::INTERN)?;
        let root = peer_of(at).filter(|_| self.reach(at) == Reach::Mapped);
        // SAFETY: the first rank has just told the address of its initialised words, which are shared through atomics only and stay until
        // the barrier in which all ranks close the file; the reference goes with this rank's part of it.
        let control: Option<&'static Control> =
            root.map(|root| unsafe { &*seen_from_here::<Control>(root, address) });
        // All that may find no memory comes before the last exchange: after it the peers use the first rank's words.
        let hints = properties::initial_hints(draft.hints, draft.given);
        let last = position.and_then(|position| Ok((position, hints?)));
        self.exchange_outcomes(parent, last.as_ref().map(|_| 0).map_err(|error| *error))?;
        let (position, hints) = last?;
        let communicator = Rc::new(self.duplicate_hidden(parent)?);
        let object = communicator.context;
        if let (true, true, Some(control)) = (first, communicator.is_out_of_reach(), control) {
            answer_for(self, object, Box::new(Answers::new(control)));
        }
        let shared = control.map_or(SharedWords::Asked { at, object }, SharedWords::Mapped);
        Ok(KNOWN.of_mut(self).files.insert(File {
            opened: Rc::new(opened.take().ok_or(Error::INTERN)?),
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
        let it = KNOWN.of_mut(self).files.remove(file).ok_or(Error::FILE)?;
        let closed = self.close_opened(&it.opened);
        // A file without a name stays for those that still have it open. After this no rank looks at the shared words.
        let deletes = it.mode.has(bit::DELETE_ON_CLOSE);
        let outcome = self
            .first_does(&it.communicator, |files| if deletes { files.unlink_path(&it.name) } else { Ok(()) });
        if it._own.is_some() && it.communicator.is_out_of_reach() {
            stop_answering(self, it.communicator.context);
        }
        self.communicators.retire(it.communicator.clone());
        Ok(closed.and(outcome))
    }
}
