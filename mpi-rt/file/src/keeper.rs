//! The keeper: in a job of several nodes all files are those of node 0, and its first rank does for the ranks of other nodes what they ask for.
//!
//! Whoever is about to open or delete a file calls the keeper first ([`lwk_path::Table::call`]): only then it listens, for a receive that is posted all the time
//! would be in the way of its messages. It listens until all who have called have closed what they had opened. It answers when it makes progress.

use crate::KNOWN;
use crate::access_mode::AccessMode;
use crate::system::{self, Descriptor};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::Cell;
use lwk_mpi_asking::{Answering, Question, answer_for, zeroes};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_rt::engine::Engine;
use lwk_place::WorldRank;

/// The keeper.
pub(super) const KEEPER: WorldRank = WorldRank(0);
/// The keeper's files, as an object that is asked for; no communicator has this context.
pub(super) const FILES: u32 = u32::MAX;
/// Most bytes that a question reads or writes: both sides have copies of them.
pub(super) const PIECE: u64 = 1 << 20;

/// What the keeper is asked for, by number. The first three end with the answer what a call has begun, if opening fails.
pub(super) mod what {
    /// With mode, whether it is made, and permissions; the body is the path with its NUL. The answer is the file's number at the keeper.
    pub const OPEN: u64 = 0;
    /// With that number, as all others but deletions.
    pub const CLOSE: u64 = 1;
    /// The body is the path. Not if it is open.
    pub const DELETE: u64 = 2;
    /// The same, also if it is open.
    pub const UNLINK: u64 = 3;
    /// The file's number in the file system.
    pub const IDENTIFY: u64 = 4;
    pub const SIZE: u64 = 5;
    pub const SET_SIZE: u64 = 6;
    pub const ALLOCATE: u64 = 7;
    pub const SYNC: u64 = 8;
    /// With offset and bytes; the answer's content is what there is of them.
    pub const READ: u64 = 9;
    /// With an offset; the body is written.
    pub const WRITE: u64 = 10;
}

/// A file that is open for ranks of other nodes.
struct Kept {
    descriptor: Descriptor,
    identity: u64,
    mode: AccessMode,
    uses: u64,
}

/// The files that are, by the numbers under which they are known.
struct Keeper {
    files: Vec<Option<Kept>>,
    /// Those that have called and are not done.
    callers: Rc<Cell<u32>>,
}

impl Keeper {
    /// Opens a file; who opens the same in the same mode has the same number.
    fn open(&mut self, path: &[u8], [mode, makes, permissions]: [u64; 3]) -> Result<u64> {
        let mode = AccessMode::new(mode as i32)?;
        let descriptor = Descriptor::open(path, mode, makes != 0, permissions as u32)?;
        let identity = descriptor.number()?;
        let same = |it: &Kept| it.identity == identity && it.mode == mode;
        if let Some(number) = self.files.iter().position(|it| it.as_ref().is_some_and(same)) {
            if let Some(it) = &mut self.files[number] {
                it.uses += 1;
            }
            return Ok(number as u64);
        }
        let number = match self.files.iter().position(Option::is_none) {
            Some(number) => number,
            None => {
                self.files.try_reserve(1).map_err(|_| Error::NO_MEM)?;
                self.files.push(None);
                self.files.len() - 1
            }
        };
        descriptor.show()?;
        self.files[number] = Some(Kept { descriptor, identity, mode, uses: 1 });
        Ok(number as u64)
    }

    fn close(&mut self, number: u64) -> Result<u64> {
        let place = self.files.get_mut(number as usize).ok_or(Error::FILE)?;
        let it = place.as_mut().ok_or(Error::FILE)?;
        it.uses -= 1;
        if it.uses == 0 {
            *place = None;
        }
        Ok(0)
    }

    fn descriptor(&self, number: u64) -> Result<&Descriptor> {
        let it = self.files.get(number as usize).and_then(Option::as_ref);
        it.map(|it| &it.descriptor).ok_or(Error::FILE)
    }

    fn read(&self, number: u64, offset: u64, bytes: u64, content: &mut Vec<u8>) -> Result<u64> {
        let descriptor = self.descriptor(number)?;
        if bytes > PIECE {
            return Err(Error::INTERN);
        }
        *content = zeroes(bytes as usize)?;
        // SAFETY: the vector has as many bytes, and is nobody else's.
        let outcome = unsafe { descriptor.read(content.as_mut_ptr(), bytes, offset) };
        content.truncate(outcome.map_or(0, |read| read as usize));
        outcome
    }

    fn write(&self, number: u64, offset: u64, content: &[u8]) -> Result<u64> {
        let (bytes, descriptor) = (content.len() as u64, self.descriptor(number)?);
        // SAFETY: the slice has as many bytes.
        system::beyond_limit(|| unsafe { descriptor.write(content.as_ptr(), bytes, offset) })?;
        Ok(bytes)
    }

    fn do_for(&mut self, question: &Question, content: &mut Vec<u8>) -> Result<u64> {
        let body = &question.body[..];
        let [number, first, second, ..] = question.arguments;
        let done = |()| 0;
        match question.what {
            what::OPEN => self.open(body, [number, first, second]),
            what::CLOSE => self.close(number),
            // All ranks of this node see each other's files.
            what::DELETE => system::delete(body, |_| true).map(done),
            what::UNLINK => system::unlink(body).map(done),
            what::IDENTIFY => self.descriptor(number)?.number(),
            what::SIZE => self.descriptor(number)?.size(),
            what::SET_SIZE => {
                let descriptor = self.descriptor(number)?;
                system::beyond_limit(|| descriptor.set_size(first)).map(done)
            }
            what::ALLOCATE => {
                let descriptor = self.descriptor(number)?;
                system::beyond_limit(|| descriptor.allocate(first)).map(done)
            }
            what::SYNC => self.descriptor(number)?.sync().map(done),
            what::READ => self.read(number, first, second, content),
            what::WRITE => self.write(number, first, body),
            _ => Err(Error::INTERN),
        }
    }
}

impl Answering for Keeper {
    fn answer(&mut self, question: &Question, content: &mut Vec<u8>) -> Option<Result<u64>> {
        let outcome = self.do_for(question, content);
        let is_over = match question.what {
            what::OPEN => outcome.is_err(),
            what::CLOSE | what::DELETE | what::UNLINK => true,
            _ => false,
        };
        if is_over {
            self.callers.set(self.callers.get().saturating_sub(1));
        }
        Some(outcome)
    }

    /// All that the keeper is asked for is answered.
    fn note_failure(&mut self, _: &Question, _: Error) {}

    fn is_over(&self) -> bool {
        self.callers.get() == 0
    }
}

/// This rank has been called so often: it listens.
#[cold]
pub(crate) fn listen(engine: &mut Engine, calls: u32) {
    let known = KNOWN.of_mut(engine);
    if let Some(callers) = known.callers.upgrade() {
        callers.set(callers.get() + calls);
        return;
    }
    let callers = Rc::new(Cell::new(calls));
    known.callers = Rc::downgrade(&callers);
    answer_for(engine, FILES, Box::new(Keeper { files: Vec::new(), callers }));
}
