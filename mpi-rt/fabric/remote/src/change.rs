//! Changes of words and of elements in memory of other ranks: Portals' atomic operations.

use crate::{COPIED, Fault, Place, Remote, Result, to};
use lwk_place::WorldRank;
use lwk_user::portals::abi::{NONE, Operation, ack, atomic, datatype, operation};

/// What is done to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change<W> {
    Add(W),
    And(W),
    Or(W),
    Xor(W),
    Swap(W),
    /// The second is there afterwards if the first was.
    CompareSwap(W, W),
}

mod sealed {
    pub trait Sealed {}
}

/// A word of four or eight bytes.
pub trait Word: Copy + sealed::Sealed {
    #[doc(hidden)]
    const DATATYPE: u32;
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($type:ty: $datatype:ident $unsigned:ty;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl Word for $type {
                const DATATYPE: u32 = datatype::$datatype;
                const ZERO: $type = 0;
                fn bits(self) -> u64 {
                    u64::from(self as $unsigned)
                }
            }
        )*
    };
}

words! {
    i32: INT32 u32;
    u32: UINT32 u32;
    i64: INT64 u64;
    u64: UINT64 u64;
}

impl<W: Word> Change<W> {
    /// Kind of the operation, of the atomic, what comes, and what it is compared with.
    fn parts(self) -> (u32, u32, W, W) {
        match self {
            Change::Add(value) => (operation::FETCH_ATOMIC, atomic::SUM, value, W::ZERO),
            Change::And(value) => (operation::FETCH_ATOMIC, atomic::BAND, value, W::ZERO),
            Change::Or(value) => (operation::FETCH_ATOMIC, atomic::BOR, value, W::ZERO),
            Change::Xor(value) => (operation::FETCH_ATOMIC, atomic::BXOR, value, W::ZERO),
            Change::Swap(value) => (operation::SWAP, atomic::SWAP, value, W::ZERO),
            Change::CompareSwap(old, new) => (operation::SWAP, atomic::CSWAP, new, old),
        }
    }
}

/// What is done to elements, in Portals' numbers (`abi::operation`, `abi::atomic`, `abi::datatype`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update {
    pub kind: u32,
    pub atomic: u32,
    pub datatype: u32,
    /// What is compared with, if the operation compares.
    pub operand: u64,
}

impl Update {
    fn of(&self, operation: Operation) -> Operation {
        Operation { kind: self.kind, atomic: self.atomic, datatype: self.datatype, ..operation }
    }
}

impl Remote {
    /// Changes a word of another rank; what was there. Errors: see [`Fault`].
    ///
    /// # Safety
    /// `at` is an aligned word there that everybody changes by atomic operations only.
    pub unsafe fn fetch<W: Word>(&self, rank: WorldRank, at: *mut W, change: Change<W>) -> Result<W> {
        let place = self.place(at.addr(), size_of::<W>())?;
        // SAFETY: this function's contract.
        unsafe { self.fetch_at(rank, place, change) }
    }

    /// The same at a place. Errors: see [`Fault`].
    ///
    /// # Safety
    /// At the place is an aligned word that everybody changes by atomic operations only.
    pub unsafe fn fetch_at<W: Word>(&self, rank: WorldRank, place: Place, change: Change<W>) -> Result<W> {
        let (kind, atomic, value, operand) = change.parts();
        let update = Update { kind, atomic, datatype: W::DATATYPE, operand: operand.bits() };
        let (mut was, bytes) = (W::ZERO, size_of::<W>());
        // SAFETY: both are words; at the place is one (this function's contract).
        unsafe {
            self.fetch_update(rank, place, &update, (&raw const value).cast(), (&raw mut was).cast(), bytes)?;
        }
        Ok(was)
    }

    /// Updates elements of another rank by those of `source`, together at most [`COPIED`] bytes; `result` is what was there. Errors: see [`Fault`].
    ///
    /// # Safety
    /// `source` is readable and `result` writable for `bytes` bytes. At the place are as many bytes of elements, which are changed by atomic
    /// operations only; aligned ones of four and eight bytes each as a whole, also against instructions.
    pub unsafe fn fetch_update(
        &self,
        rank: WorldRank,
        place: Place,
        update: &Update,
        source: *const u8,
        result: *mut u8,
        bytes: usize,
    ) -> Result<()> {
        let (mut come, mut was) = ([0u8; COPIED], [0u8; COPIED]);
        let bytes = bytes.min(COPIED);
        let window =
            |piece: &mut [u8; COPIED]| self.gets.window(piece.as_mut_ptr().expose_provenance(), COPIED);
        let (Some((own, offset)), Some((into, into_offset))) = (window(&mut come), window(&mut was)) else {
            return Err(Fault::NotSymmetric);
        };
        let fetch = Operation {
            put: own,
            put_offset: offset,
            get: into,
            get_offset: into_offset,
            bytes: bytes as u64,
            operand: update.operand,
            ..update.of(to(rank, place))
        };
        // SAFETY: the source is readable and the result writable (this function's contract). The pieces are the operation's until it has ended, for which
        // it waits; the kernel has written the second.
        unsafe {
            lwk_user::copy::copy(source, come.as_mut_ptr(), bytes);
            self.gets.begin(&self.interface, &fetch)?;
            self.gets.end()?;
            lwk_user::copy::copy((&raw const was).cast(), result, bytes);
        }
        Ok(())
    }

    /// Changes a word of another rank, which is done when [`Remote::complete`] says so. Only for changes that are no swap. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As for [`Remote::fetch`].
    pub unsafe fn change<W: Word>(&self, rank: WorldRank, at: *mut W, change: Change<W>) -> Result<()> {
        let place = self.place(at.addr(), size_of::<W>())?;
        // SAFETY: this function's contract.
        unsafe { self.change_at(rank, place, change) }
    }

    /// The same at a place. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As for [`Remote::fetch_at`].
    pub unsafe fn change_at<W: Word>(&self, rank: WorldRank, place: Place, change: Change<W>) -> Result<()> {
        let (kind, atomic, value, _) = change.parts();
        if kind != operation::FETCH_ATOMIC {
            // SAFETY: this function's contract.
            return unsafe { self.fetch_at(rank, place, change) }.map(drop);
        }
        let update = Update { kind: operation::ATOMIC, atomic, datatype: W::DATATYPE, operand: 0 };
        // SAFETY: the value is a word; at the place is one (this function's contract).
        unsafe { self.update(rank, place, &update, (&raw const value).cast(), size_of::<W>()) }
    }

    /// As [`Remote::fetch_update`] where nobody asks what was there: done when [`Remote::complete`] says so. Not for swaps. Errors: see [`Fault`].
    ///
    /// # Safety
    /// As there, without a result.
    pub unsafe fn update(
        &self,
        rank: WorldRank,
        place: Place,
        update: &Update,
        source: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let mut come = [0u8; COPIED];
        let bytes = bytes.min(COPIED);
        let window = self.puts.window(come.as_mut_ptr().expose_provenance(), COPIED);
        let (own, offset) = window.ok_or(Fault::NotSymmetric)?;
        let operation = Operation {
            put: own,
            put_offset: offset,
            get: NONE,
            ack: ack::OPERATION_COMPLETED,
            bytes: bytes as u64,
            ..update.of(to(rank, place))
        };
        // SAFETY: the source is readable (this function's contract); the piece is copied by the call.
        unsafe {
            lwk_user::copy::copy(source, come.as_mut_ptr(), bytes);
            self.puts.begin(&self.interface, &operation)
        }
    }
}
