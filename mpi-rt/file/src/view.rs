//! Views: which bytes of a file a rank sees, and in what order (MPI-5.0, section 14.3). Pure logic.
//!
//! From a displacement on, the file is tiled with a filetype; what the tiles' data says, one after the other, is the data of the view. Positions
//! are bytes of that data unless they are said to be etypes. Types are those of the file ([`crate::representation`]).

use crate::representation::Representation;
use lwk_datatype::{Basic, Cursor, Datatype};
use lwk_mpi_core::error::{Error, Result};

/// A rank's view of a file.
pub(super) struct View {
    /// Bytes of the file before the first tile.
    displacement: u64,
    /// As the program has named them.
    pub etype: Datatype,
    pub filetype: Datatype,
    pub representation: Representation,
    /// The filetype as it lies in the file; committed.
    tile: Datatype,
    /// Bytes of an etype in the file.
    etype_bytes: u64,
}

/// A block of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileBlock {
    pub offset: u64,
    pub bytes: u64,
}

/// The parts of a file that hold some of a view's data, in the data's order.
pub(super) struct Parts<'a> {
    cursor: Cursor<'a>,
    displacement: u64,
    left: u64,
}

impl View {
    /// Bytes from the beginning, the view of a file that has just been opened.
    pub fn bytes() -> View {
        let byte = || Datatype::predefined(Basic::Byte);
        View {
            displacement: 0,
            etype: byte(),
            filetype: byte(),
            representation: Representation::Native,
            tile: byte(),
            etype_bytes: 1,
        }
    }

    /// A view; `writable` is whether it may be written through. `etype_in_file` and `tile` are the types as they lie in the file.
    ///
    /// Errors: `ARG` if the filetype's data is no whole number of etypes, begins before its displacement, goes backwards, or overlaps though the
    /// file is written; or if its tiles would overlap or lie between each other.
    pub fn new(
        displacement: u64,
        (etype, filetype): (Datatype, Datatype),
        (etype_in_file, tile): (&Datatype, Datatype),
        representation: Representation,
        writable: bool,
    ) -> Result<View> {
        tile.commit();
        let etype_bytes = etype_in_file.size() as u64;
        let whole = if etype_bytes == 0 {
            tile.size() == 0
        } else {
            (tile.size() as u64).is_multiple_of(etype_bytes)
        };
        let apart = tile.size() == 0 || tile.extent() >= tile.true_extent() && tile.extent() > 0;
        if !whole || !apart || displacement > i64::MAX as u64 || !ascends(&tile, writable)? {
            return Err(Error::ARG);
        }
        Ok(View { displacement, etype, filetype, representation, tile, etype_bytes })
    }

    /// Bytes before the first tile.
    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    /// Etypes that so many bytes of data are. Errors: `IO` if they are no whole number of them.
    pub fn etypes(&self, bytes: u64) -> Result<u64> {
        match self.etype_bytes {
            0 if bytes == 0 => Ok(0),
            size if size > 0 && bytes.is_multiple_of(size) => Ok(bytes / size),
            _ => Err(Error::IO),
        }
    }

    /// Etypes that are at least so many bytes of data.
    pub fn etypes_up(&self, bytes: u64) -> u64 {
        if self.etype_bytes == 0 { 0 } else { bytes.div_ceil(self.etype_bytes) }
    }

    /// The position of an etype. Errors: `ARG` if no file is that long.
    pub fn position(&self, etypes: u64) -> Result<u64> {
        etypes.checked_mul(self.etype_bytes).filter(|bytes| *bytes <= i64::MAX as u64).ok_or(Error::ARG)
    }

    /// The parts of the file that hold `bytes` bytes of data from a position on. Errors: `ARG` if no file is that long; `IO` if the view has
    /// no data at all.
    pub fn parts(&self, position: u64, bytes: u64) -> Result<Parts<'_>> {
        let size = self.tile.size() as u64;
        if size == 0 && bytes > 0 {
            return Err(Error::IO);
        }
        let end = position.checked_add(bytes).ok_or(Error::ARG)?;
        let tiles = if size == 0 { 0 } else { end.div_ceil(size) };
        // The end of the last tile is a place in a file, and so is everything before it.
        let extent =
            i128::from(self.tile.extent()).max(i128::from(self.tile.true_lb() + self.tile.true_extent()));
        let last = i128::from(tiles) * extent + i128::from(self.displacement);
        if last > i128::from(i64::MAX) {
            return Err(Error::ARG);
        }
        let cursor = Cursor::new(self.tile.layout()?, tiles, position)?;
        Ok(Parts { cursor, displacement: self.displacement, left: bytes })
    }

    /// The place in the file of the byte at a position; of a view without data, where it begins. Errors: `ARG` if no file is that long.
    pub fn byte_offset(&self, position: u64) -> Result<u64> {
        if self.tile.size() == 0 {
            return Ok(self.displacement);
        }
        let first = self.parts(position, 1)?.next()?;
        first.map(|part| part.offset).ok_or(Error::INTERN)
    }

    /// The first etype none of whose bytes are before the end of a file of so many bytes. Errors: `INTERN`.
    pub fn end(&self, file_bytes: u64) -> Result<u64> {
        let size = self.tile.size() as u64;
        let Some(seen) = file_bytes.checked_sub(self.displacement).filter(|_| size > 0) else { return Ok(0) };
        // Places ascend with positions, and this many tiles reach beyond the end.
        let tiles = seen / self.tile.extent() as u64 + 1;
        let (mut low, mut high) = (0, tiles.checked_mul(size).ok_or(Error::ARG)?);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.byte_offset(middle).is_ok_and(|offset| offset < file_bytes) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(self.etypes_up(low))
    }
}

impl Parts<'_> {
    /// The next part, as long as the file has it in one piece. Errors: `ARG` for a part that no file can have: before its begin, or beyond 2^63
    /// bytes.
    pub fn next(&mut self) -> Result<Option<FileBlock>> {
        if self.left == 0 {
            return Ok(None);
        }
        let Some(piece) = self.cursor.peek()? else { return Err(Error::INTERN) };
        let dense = piece.count > 1 && piece.stride as u64 == piece.block;
        let bytes = if dense { piece.block * piece.count } else { piece.block }.min(self.left);
        let offset = self.displacement.checked_add_signed(piece.disp).ok_or(Error::ARG)?;
        self.cursor.advance(bytes);
        self.left -= bytes;
        Ok(Some(FileBlock { offset, bytes }))
    }
}

/// Whether the data of a type lies at places that are not negative and do not go backwards, nor overlap if it is written.
fn ascends(tile: &Datatype, writable: bool) -> Result<bool> {
    let mut cursor = Cursor::new(tile.layout()?, 1, 0)?;
    let (mut start, mut end) = (0, 0);
    while let Some(piece) = cursor.peek()? {
        let first = if writable { end } else { start };
        let step = if writable { piece.block as i64 } else { 0 };
        if piece.disp < first || piece.count > 1 && piece.stride < step {
            return Ok(false);
        }
        start = piece.disp + piece.stride * (piece.count as i64 - 1);
        end = start + piece.block as i64;
        cursor.advance(piece.block * piece.count);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;
    use lwk_datatype::Form;
    use proptest::prelude::*;

    fn of(displacement: u64, etype: &Datatype, tile: &Datatype, writable: bool) -> Result<View> {
        let types = || (etype.clone(), tile.clone());
        View::new(displacement, types(), (etype, tile.clone()), Representation::Native, writable)
    }

    /// Places in the file of the first `count` bytes of a view's data, byte by byte from the definition: `data` are the places in one tile.
    fn model(displacement: u64, data: &[u64], extent: u64, count: usize) -> Vec<u64> {
        let tiles = (0..).flat_map(|tile| data.iter().map(move |at| displacement + tile * extent + at));
        tiles.take(count).collect()
    }

    fn bytes_of(view: &View, position: u64, bytes: u64) -> Result<Vec<u64>> {
        let mut parts = view.parts(position, bytes)?;
        let mut places = Vec::new();
        while let Some(part) = parts.next()? {
            places.extend(part.offset..part.offset + part.bytes);
        }
        Ok(places)
    }

    proptest! {
        #[test]
        fn a_view_is_what_its_definition_says(
            displacement in 0u64..100,
            etype_bytes in 1i64..9,
            blocks in prop::collection::vec((0i64..5, 1i64..4), 1..6),
            hole in 0i64..7,
            position in 0u64..200,
            bytes in 0u64..200,
            file_bytes in 0u64..400,
        ) {
            let etype = Datatype::contiguous_of(Form::Int, etype_bytes, &Datatype::predefined(Basic::Byte))?;
            etype.commit();
            let (mut at, mut places, mut lengths, mut data) = (0, vec![], vec![], vec![]);
            for (gap, length) in blocks {
                at += gap;
                places.push(at);
                lengths.push(length);
                data.extend((at * etype_bytes..(at + length) * etype_bytes).map(|place| place as u64));
                at += length;
            }
            let filetype = Datatype::indexed(Form::Int, &lengths, &places, &etype)?;
            let extent = (at + hole) * etype_bytes;
            let filetype = Datatype::resized(Form::Int, 0, extent, &filetype)?;
            let view = of(displacement, &etype, &filetype, true).map_err(|error| TestCaseError::fail(error.text()))?;
            let places = model(displacement, &data, extent as u64, 1000);
            let wanted = places[position as usize..(position + bytes) as usize].to_vec();
            prop_assert_eq!(bytes_of(&view, position, bytes), Ok(wanted));
            prop_assert_eq!(view.byte_offset(position), Ok(places[position as usize]));
            let before = places.iter().filter(|place| **place < file_bytes).count() as u64;
            prop_assert_eq!(view.end(file_bytes), Ok(before.div_ceil(etype_bytes as u64)));
        }
    }

    #[test]
    fn parts_are_as_long_as_the_file_has_them() {
        let view = View::bytes();
        let mut parts = view.parts(5, 1 << 40).expect("a place in a file");
        assert_eq!(parts.next(), Ok(Some(FileBlock { offset: 5, bytes: 1 << 40 })));
        assert_eq!(parts.next(), Ok(None));
    }

    #[test]
    fn types_that_are_no_filetype_are_refused() {
        let byte = Datatype::predefined(Basic::Byte);
        let int = Datatype::predefined(Basic::Int);
        let indexed =
            |places: &[i64]| Datatype::hindexed(Form::Int, &[2, 2], places, &int).expect("a datatype");
        let accepted = |tile: &Datatype, writable| of(0, &int, tile, writable).is_ok();
        assert!(accepted(&indexed(&[0, 8]), true) && accepted(&indexed(&[0, 80]), true));
        assert!(!accepted(&indexed(&[80, 0]), true) && !accepted(&indexed(&[80, 0]), false));
        assert!(!accepted(&indexed(&[0, 4]), true) && accepted(&indexed(&[0, 4]), false));
        let unequal = Datatype::hindexed(Form::Int, &[3, 1], &[0, 8], &int).expect("a datatype");
        assert!(!accepted(&unequal, true) && accepted(&unequal, false));
        assert!(!accepted(&indexed(&[-4, 8]), false));
        assert!(!accepted(&byte, true));
        let squeezed = Datatype::resized(Form::Int, 0, 4, &indexed(&[0, 8])).expect("a datatype");
        assert!(!accepted(&squeezed, false));
        let view = of(0, &int, &indexed(&[0, 8]), true)
            .map(|view| (view.etypes(8), view.etypes(6), view.etypes_up(6)));
        assert_eq!(view.ok(), Some((Ok(2), Err(Error::IO), 2)));
    }

    #[test]
    fn places_that_no_file_has_are_refused() {
        let int = Datatype::predefined(Basic::Int);
        let sparse = Datatype::resized(Form::Int, 0, 1 << 40, &int).expect("a datatype");
        let Ok(view) = of(10, &int, &sparse, true) else { panic!("a view") };
        assert_eq!(view.byte_offset(4 << 20), Ok((1 << 60) + 10));
        assert_eq!(view.byte_offset(4 << 23), Err(Error::ARG));
        assert_eq!(view.position(u64::MAX), Err(Error::ARG));
        assert_eq!(view.parts(u64::MAX, 2).err(), Some(Error::ARG));
    }

    #[test]
    fn a_view_without_data_has_no_places() {
        let int = Datatype::predefined(Basic::Int);
        let nothing = Datatype::contiguous_of(Form::Int, 0, &int).expect("a datatype");
        let Ok(view) = of(10, &int, &nothing, true) else { panic!("a view") };
        assert_eq!((view.byte_offset(0), view.end(100)), (Ok(10), Ok(0)));
        assert_eq!((bytes_of(&view, 0, 0), bytes_of(&view, 0, 4)), (Ok(vec![]), Err(Error::IO)));
    }
}
