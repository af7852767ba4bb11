//! Packing messages into bytes and back (MPI-5.0, section "Pack and Unpack"), also in the portable form `external32`.
//!
//! Positions and sizes are bytes. Packed data of this runtime is the bytes of the type map in order, without a header, so that it
//! can be sent as `MPI_PACKED` and received with the type.

use crate::buffer::check_bytes;
use crate::datatypes::dense_bytes;
use crate::engine::Engine;
use crate::error::{Error, Result};
use lwk_datatype::{LayoutView, pack_external, unpack_external};
use lwk_path::region::{Region, copy_part, pack_items, unpack_items};

/// A buffer of packed data, and where in it to go on.
#[derive(Clone, Copy, Debug)]
pub struct Packed {
    pub address: *mut u8,
    /// Size of the buffer.
    pub bytes: i64,
    /// Where the next item begins.
    pub position: i64,
}

impl Packed {
    /// What is left from the position on: address and bytes. Errors: `ARG` for a size or position that is negative or outside.
    fn rest(&self) -> Result<(*mut u8, usize)> {
        let bytes = usize::try_from(self.bytes).map_err(|_| Error::ARG)?;
        let position = usize::try_from(self.position).map_err(|_| Error::ARG)?;
        let rest = bytes.checked_sub(position).ok_or(Error::ARG)?;
        Ok((self.address.wrapping_add(position), rest))
    }
}

impl Engine {
    /// Appends `count` items at `address` to packed data; the new position. Errors: `COUNT`, `TYPE`, `BUFFER`, `ARG`, `TRUNCATE` if there is
    /// too little room.
    ///
    /// # Safety
    /// The items must be readable and the packed buffer writable; they do not overlap.
    pub unsafe fn pack(&self, address: *const u8, count: i64, datatype: u64, into: &Packed) -> Result<i64> {
        if dense_bytes(datatype) == 0 {
            let (items, layout) = self.items_of(address, count, datatype)?;
            let (target, room) = into.rest()?;
            check_bytes(target, (layout.size() * items.min(1)) as usize)?;
            // SAFETY: the items are readable and the `room` bytes at `target` writable, apart (this function's contract).
            let bytes = unsafe { pack_items(address, items, layout, target, room)? };
            return Ok(into.position + bytes as i64);
        }
        let source = self.buffer(address, count, datatype)?;
        let (target, room) = into.rest()?;
        check_bytes(target, source.bytes())?;
        // SAFETY: the items are readable and the `room` bytes at `target` writable, apart (this function's
        // contract); `copy_part` checks the lengths.
        unsafe { copy_part(&source, 0, &Region::block(target, room), 0, source.bytes())? };
        Ok(into.position + source.bytes() as i64)
    }

    /// Takes `count` items out of packed data and writes them at `address`; the new position. Errors: as for [`Engine::pack`].
    ///
    /// # Safety
    /// The packed buffer must be readable and the items writable; they do not overlap.
    pub unsafe fn unpack(&self, from: &Packed, address: *mut u8, count: i64, datatype: u64) -> Result<i64> {
        if dense_bytes(datatype) == 0 {
            let (items, layout) = self.items_of(address, count, datatype)?;
            let (source, room) = from.rest()?;
            check_bytes(source, (layout.size() * items.min(1)) as usize)?;
            // SAFETY: the `room` bytes at `source` are readable and the items writable, apart (this function's contract).
            let bytes = unsafe { unpack_items(source, room, address, items, layout)? };
            return Ok(from.position + bytes as i64);
        }
        let target = self.buffer(address, count, datatype)?;
        let (source, room) = from.rest()?;
        check_bytes(source, target.bytes())?;
        // SAFETY: the `room` bytes at `source` are readable and the items writable, apart (this function's
        // contract); `copy_part` checks the lengths.
        unsafe { copy_part(&Region::block(source, room), 0, &target, 0, target.bytes())? };
        Ok(from.position + target.bytes() as i64)
    }

    /// A buffer as a number of items of a layout. Errors: `COUNT`, `TYPE`, `BUFFER`.
    fn items_of(&self, address: *const u8, count: i64, datatype: u64) -> Result<(u64, LayoutView<'_>)> {
        let known = self.datatype_of(count, datatype)?;
        let items = u64::try_from(count).map_err(|_| Error::COUNT)?;
        let layout = known.layout()?;
        self.check_buffer(address, count, datatype)?;
        Ok((items, layout))
    }

    /// Bytes that packing `count` items takes. Errors: `COUNT`, `TYPE`.
    pub fn pack_size(&self, count: i64, datatype: u64) -> Result<i64> {
        Ok(self.datatype_of(count, datatype)?.pack_size(count)? as i64)
    }

    /// As [`Engine::pack`], in `external32`.
    ///
    /// # Safety
    /// As for [`Engine::pack`].
    pub unsafe fn pack_external(
        &self,
        address: *const u8,
        count: i64,
        datatype: u64,
        into: &Packed,
    ) -> Result<i64> {
        let bytes = self.buffer(address, count, datatype)?.bytes();
        let datatype = self.datatype_of(count, datatype)?;
        let (target, room) = into.rest()?;
        check_bytes(target, bytes)?;
        let (base, out) = (address.expose_provenance(), target.expose_provenance());
        // SAFETY: the items are readable and the `room` bytes at `target` writable, apart (`Engine::pack`'s
        // contract); `pack_external` checks the room.
        let packed = unsafe { pack_external(datatype, base, count, out, room as u64)? };
        Ok(into.position + packed as i64)
    }

    /// As [`Engine::unpack`], from `external32`.
    ///
    /// # Safety
    /// As for [`Engine::unpack`].
    pub unsafe fn unpack_external(
        &self,
        from: &Packed,
        address: *mut u8,
        count: i64,
        datatype: u64,
    ) -> Result<i64> {
        let bytes = self.buffer(address, count, datatype)?.bytes();
        let datatype = self.datatype_of(count, datatype)?;
        let (source, room) = from.rest()?;
        check_bytes(source, bytes)?;
        let (base, data) = (address.expose_provenance(), source.expose_provenance());
        // SAFETY: the `room` bytes at `source` are readable and the items writable, apart (`Engine::unpack`'s
        // contract); `unpack_external` checks the room.
        let read = unsafe { unpack_external(datatype, base, count, data, room as u64)? };
        Ok(from.position + read as i64)
    }

    /// Bytes that packing `count` items as `external32` takes. Errors: `COUNT`, `TYPE`, `VALUE_TOO_LARGE`.
    pub fn pack_external_size(&self, count: i64, datatype: u64) -> Result<i64> {
        let bytes = self.datatype_of(count, datatype)?.pack_external_size(count)?;
        i64::try_from(bytes).map_err(|_| Error::VALUE_TOO_LARGE)
    }
}
