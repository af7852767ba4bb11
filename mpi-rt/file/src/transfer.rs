//! Moving data between a buffer and the parts of a file that a view shows.
//!
//! A buffer of one block is moved by system calls straight from or to it, one for each part of the file. Any other buffer, and data that is
//! converted, goes through a stage.

use crate::Files;
use crate::access::{Direction, Open};
use crate::representation::{Representation, User};
use alloc::vec::Vec;
use lwk_datatype::{Basic, Datatype, pack_external, unpack_external_part};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_path::region::{Region, copy_part};

use lwk_mpi_rt::buffer::Buffer;

/// Bytes of a stage.
const STAGE_BYTES: u64 = 64 << 10;

/// What a transfer has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// Bytes of the buffer's data.
    pub in_memory: u64,
    /// Bytes of the view's data.
    pub in_file: u64,
}

impl Files {
    /// Bytes that a buffer's data takes in a file. Errors: `COUNT`, `TYPE`, `VALUE_TOO_LARGE`; those of a program's representation.
    pub(super) fn size_in_file(&mut self, representation: &Representation, buffer: &Buffer) -> Result<u64> {
        let region = self.buffer(buffer.address, buffer.count, buffer.datatype)?;
        match representation {
            Representation::Native | Representation::Internal => Ok(region.bytes() as u64),
            Representation::External32 => {
                Ok(self.datatype(buffer.datatype)?.pack_external_size(buffer.count)?)
            }
            Representation::User(_) => {
                let datatype = self.datatype(buffer.datatype)?.clone();
                let whole =
                    self.elements_in(representation, &datatype, buffer.count as u64, i64::MAX as u64)?;
                Ok(whole.in_file)
            }
        }
    }

    /// Moves a buffer's data, `bytes` bytes in the file, at a position of the view. Errors: see [`Files::file_transfer`].
    ///
    /// # Safety
    /// As for [`Files::file_transfer`].
    pub(super) unsafe fn move_data(
        &mut self,
        open: &Open,
        direction: Direction,
        buffer: &Buffer,
        position: u64,
        bytes: u64,
    ) -> Result<Moved> {
        let region = self.buffer(buffer.address, buffer.count, buffer.datatype)?;
        match &open.view.representation {
            Representation::User(user) if user.converter.converts(direction) => {
                // SAFETY: the items of `buffer` are writable for a read, readable for a write (this
                // function's contract).
                unsafe { self.move_converted(open, user, direction, buffer, position, bytes) }
            }
            // What a program does not convert is as long in the file as it is in memory.
            Representation::User(_) if region.bytes() as u64 != bytes => Err(Error::CONVERSION),
            Representation::External32 => {
                let datatype = self.datatype(buffer.datatype)?.clone();
                self.locked(open, direction, |files| {
                    // SAFETY: the items of `buffer` are writable for a read, readable for a write (this
                    // function's contract).
                    unsafe { move_external(files, open, direction, &datatype, buffer, position) }
                })
            }
            Representation::Native | Representation::Internal | Representation::User(_) => {
                // SAFETY: the items of `buffer` are writable for a read, readable for a write (this
                // function's contract).
                let moved = self.locked(open, direction, |files| unsafe {
                    move_region(files, open, direction, &region, position)
                })?;
                Ok(Moved { in_memory: moved, in_file: moved })
            }
        }
    }

    /// Does something with the file, in atomic mode while no other rank does what it must not see half done.
    fn locked<R>(
        &mut self,
        open: &Open,
        direction: Direction,
        work: impl FnOnce(&mut Files) -> Result<R>,
    ) -> Result<R> {
        if !open.atomic {
            return work(self);
        }
        self.under_lock(open.shared, direction == Direction::Write, work)
    }

    /// Moves data in a representation of the program's. Errors: also `NO_MEM`, for a stage that holds all of it.
    ///
    /// # Safety
    /// As for [`Files::file_transfer`].
    unsafe fn move_converted(
        &mut self,
        open: &Open,
        user: &User,
        direction: Direction,
        buffer: &Buffer,
        position: u64,
        bytes: u64,
    ) -> Result<Moved> {
        let representation = &open.view.representation;
        let datatype = self.datatype(buffer.datatype)?.clone();
        let mut stage = stage_of(bytes)?;
        let convert = |files: &mut Files, stage: &mut [u8], elements: u64| {
            let (converter, named) = (user.converter.clone(), Handle(buffer.datatype));
            let data = stage.as_mut_ptr();
            // SAFETY: `buffer` holds the elements (this function's contract); the stage has as many bytes as
            // the program has said they take.
            files.lend(|| unsafe {
                converter.convert(direction, buffer.address, named, elements as i64, data)
            })
        };
        match direction {
            Direction::Write => {
                let whole = self.elements_in(representation, &datatype, buffer.count as u64, bytes)?;
                convert(self, &mut stage, whole.elements)?;
                // SAFETY: the stage is this call's and holds `bytes`.
                self.locked(open, direction, |files| unsafe {
                    write_parts(files, open, position, stage.as_ptr(), bytes)
                })?;
                Ok(Moved { in_memory: whole.in_memory, in_file: bytes })
            }
            Direction::Read => {
                // SAFETY: the stage is this call's and has room for `bytes`.
                let there = self.locked(open, direction, |files| unsafe {
                    read_parts(files, open, position, stage.as_mut_ptr(), bytes)
                })?;
                let whole = self.elements_in(representation, &datatype, buffer.count as u64, there)?;
                convert(self, &mut stage, whole.elements)?;
                Ok(Moved { in_memory: whole.in_memory, in_file: whole.in_file })
            }
        }
    }

    /// The whole basic elements of some items that lie in at most so many bytes of a file.
    fn elements_in(
        &mut self,
        representation: &Representation,
        datatype: &Datatype,
        items: u64,
        bytes: u64,
    ) -> Result<Elements> {
        let mut whole = Elements::default();
        let mut known: Vec<(Basic, u64)> = Vec::new();
        for (basic, count) in datatype.elements(items) {
            let each = match known.iter().find(|it| it.0 == basic) {
                Some((_, each)) => *each,
                None => {
                    let each = self.bytes_in_file(representation, basic)? as u64;
                    known.push((basic, each));
                    each
                }
            };
            let fitting =
                (bytes - whole.in_file).checked_div(each).map_or(count, |fitting| fitting.min(count));
            whole.elements += fitting;
            whole.in_memory += fitting * basic.size() as u64;
            whole.in_file += fitting * each;
            if fitting < count {
                break;
            }
        }
        Ok(whole)
    }
}

/// Basic elements of a buffer.
#[derive(Default)]
struct Elements {
    elements: u64,
    /// Their bytes in memory and in the file.
    in_memory: u64,
    in_file: u64,
}

/// Moves data as it lies in memory; how many bytes.
///
/// # Safety
/// As for [`Files::file_transfer`].
unsafe fn move_region(
    files: &mut Files,
    open: &Open,
    direction: Direction,
    region: &Region,
    position: u64,
) -> Result<u64> {
    let bytes = region.bytes() as u64;
    if let Some(block) = region.contiguous() {
        // SAFETY: `block` has the region's bytes, writable for a read, readable for a write (this function's
        // contract).
        return unsafe { move_block(files, open, direction, position, block, bytes) };
    }
    let mut stage = stage_of(bytes.min(STAGE_BYTES))?;
    let block = Region::block(stage.as_mut_ptr(), stage.len());
    let mut done = 0;
    while done < bytes {
        let part = (bytes - done).min(STAGE_BYTES);
        // SAFETY: the region has `part` bytes more from `done` on (this function's contract); the stage is
        // this call's and has room for them.
        let moved = unsafe {
            if direction == Direction::Write {
                copy_part(region, done as usize, &block, 0, part as usize)?;
            }
            let moved = move_block(files, open, direction, position + done, stage.as_mut_ptr(), part)?;
            if direction == Direction::Read {
                copy_part(&block, 0, region, done as usize, moved as usize)?;
            }
            moved
        };
        done += moved;
        if moved < part {
            break;
        }
    }
    Ok(done)
}

/// Moves data in `external32`.
///
/// # Safety
/// As for [`Files::file_transfer`].
unsafe fn move_external(
    files: &mut Files,
    open: &Open,
    direction: Direction,
    datatype: &Datatype,
    buffer: &Buffer,
    position: u64,
) -> Result<Moved> {
    let (item, items) = (datatype.pack_external_size(1)?, buffer.count as u64);
    let mut moved = Moved::default();
    if item == 0 {
        return Ok(moved);
    }
    let at_once = (STAGE_BYTES / item).clamp(1, items.max(1));
    let mut stage = stage_of(at_once.checked_mul(item).ok_or(Error::NO_MEM)?)?;
    let mut done = 0;
    while done < items {
        let now = at_once.min(items - done);
        let bytes = now * item;
        let address = buffer
            .address
            .expose_provenance()
            .wrapping_add_signed(datatype.extent() as isize * done as isize);
        let data = stage.as_mut_ptr().expose_provenance();
        // SAFETY: the buffer holds `now` items more from `done` on (this function's contract); the stage is
        // this call's and has room for them.
        let (read, native) = unsafe {
            if direction == Direction::Write {
                pack_external(datatype, address, now as i64, data, bytes)?;
            }
            let there =
                move_block(files, open, direction, position + moved.in_file, stage.as_mut_ptr(), bytes)?;
            match direction {
                Direction::Write => (there, now * datatype.size() as u64),
                Direction::Read => unpack_external_part(datatype, address, now as i64, data, there)?,
            }
        };
        moved.in_file += read;
        moved.in_memory += native;
        done += now;
        if read < bytes {
            break;
        }
    }
    Ok(moved)
}

/// Zeroed memory. Errors: `NO_MEM`.
fn stage_of(bytes: u64) -> Result<Vec<u8>> {
    let bytes = usize::try_from(bytes).map_err(|_| Error::NO_MEM)?;
    let mut stage = Vec::new();
    stage.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
    stage.resize(bytes, 0);
    Ok(stage)
}

/// # Safety
/// As for [`read_parts`] and [`write_parts`].
unsafe fn move_block(
    files: &mut Files,
    open: &Open,
    direction: Direction,
    position: u64,
    block: *mut u8,
    bytes: u64,
) -> Result<u64> {
    // SAFETY: `block` is writable for a read, readable for a write, for `bytes` (this function's contract).
    unsafe {
        match direction {
            Direction::Read => read_parts(files, open, position, block, bytes),
            Direction::Write => write_parts(files, open, position, block, bytes),
        }
    }
}

/// Reads view data until the file ends; how many bytes.
///
/// # Safety
/// `bytes` bytes must be writable at `target`.
unsafe fn read_parts(
    files: &mut Files,
    open: &Open,
    position: u64,
    target: *mut u8,
    bytes: u64,
) -> Result<u64> {
    let mut parts = open.view.parts(position, bytes)?;
    let mut done = 0;
    while let Some(part) = parts.next()? {
        // SAFETY: `target` is writable for `bytes` (this function's contract), to which the parts add up.
        let read = unsafe {
            files.read_opened(&open.opened, target.wrapping_add(done as usize), part.bytes, part.offset)?
        };
        done += read;
        if read < part.bytes {
            break;
        }
    }
    Ok(done)
}

/// Writes view data, all of it; how many bytes.
///
/// # Safety
/// `bytes` bytes must be readable at `source`.
unsafe fn write_parts(
    files: &mut Files,
    open: &Open,
    position: u64,
    source: *const u8,
    bytes: u64,
) -> Result<u64> {
    let mut parts = open.view.parts(position, bytes)?;
    let mut done = 0;
    while let Some(part) = parts.next()? {
        // SAFETY: `source` is readable for `bytes` (this function's contract), to which the parts add up.
        unsafe {
            files.write_opened(&open.opened, source.wrapping_add(done as usize), part.bytes, part.offset)?;
        }
        done += part.bytes;
    }
    Ok(done)
}
