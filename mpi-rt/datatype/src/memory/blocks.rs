//! Loops that copy equal blocks: each compiled for its size of block, so that nothing is decided from block to block.

#![allow(unsafe_code)]

use super::{Memory, Nest, Round, Scattered, Shape, load, store};

/// Blocks up to this many bytes are copied by a few words that overlap; larger ones by [`Memory::copy`].
pub(super) const FEW: usize = 64;

/// Sixteen bytes that travel in one register.
type Wide = [u64; 2];

/// How a block of some size is copied.
trait Block {
    /// # Safety
    /// `bytes` bytes, a number that this way is for, are readable at `from` and writable at `to`, and apart.
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize);

    /// Copies a row of such blocks.
    ///
    /// # Safety
    /// As [`Block::copy`], for each block.
    #[inline(always)]
    unsafe fn row(&self, at: (usize, usize), round: Round, bytes: usize) {
        // SAFETY: each block is readable and writable, and apart (this method's contract).
        in_row(at, round, |to, from| unsafe { self.copy(to, from, bytes) });
    }
}

/// As many bytes as a `T` has.
struct One<T>(core::marker::PhantomData<T>);
/// The same, where the memory has loops for rows.
struct Whole<'a, T, M: ?Sized>(&'a M, core::marker::PhantomData<T>);
/// More bytes than a `T` has, and at most twice as many.
struct Two<T>(core::marker::PhantomData<T>);
/// 33 to 64 bytes.
struct Four;
/// Any number of bytes.
struct Any<'a, M: ?Sized>(&'a M);

const fn one<T>() -> One<T> {
    One(core::marker::PhantomData)
}

const fn whole<T, M: ?Sized>(memory: &M) -> Whole<'_, T, M> {
    Whole(memory, core::marker::PhantomData)
}

const fn two<T>() -> Two<T> {
    Two(core::marker::PhantomData)
}

impl<T: Copy> Block for One<T> {
    #[inline(always)]
    unsafe fn copy(&self, to: usize, from: usize, _: usize) {
        // SAFETY: as many bytes as a `T` has are readable at `from` and writable at `to` (this method's contract); `T` is made of
        // integers, so any bytes are a value.
        unsafe { store(to, load::<T>(from)) }
    }
}

impl<T: Copy, M: Memory + ?Sized> Block for Whole<'_, T, M> {
    #[inline(always)]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        // SAFETY: this method's contract.
        unsafe { one::<T>().copy(to, from, bytes) }
    }

    #[inline(always)]
    unsafe fn row(&self, (to, from): (usize, usize), round: Round, bytes: usize) {
        // SAFETY: this method's contract; a `T` has 4, 8 or 16 bytes.
        unsafe { self.0.copy_row(bytes, to, from, round) }
    }
}

impl<T: Copy> Block for Two<T> {
    #[inline(always)]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        let last = bytes - size_of::<T>();
        // SAFETY: the first and the last `T` of the block lie within it, as it has at least as many bytes (this method's contract); `T`
        // is made of integers, so any bytes are a value.
        unsafe {
            let (head, tail) = (load::<T>(from), load::<T>(from.wrapping_add(last)));
            store(to, head);
            store(to.wrapping_add(last), tail);
        }
    }
}

impl Block for Four {
    #[inline(always)]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        let half = bytes - size_of::<[Wide; 2]>();
        // SAFETY: the first and the last 32 bytes lie within the block, which has 33 to 64 (this method's contract).
        unsafe {
            let (head, tail) = (load::<[Wide; 2]>(from), load::<[Wide; 2]>(from.wrapping_add(half)));
            store(to, head);
            store(to.wrapping_add(half), tail);
        }
    }
}

impl<M: Memory + ?Sized> Block for Any<'_, M> {
    #[inline(always)]
    unsafe fn copy(&self, to: usize, from: usize, bytes: usize) {
        // SAFETY: `bytes` are readable at `from`, writable at `to`, and apart (this method's contract).
        unsafe { self.0.copy(to, from, bytes) }
    }
}

/// Evaluates an expression with the way to copy blocks of so many bytes in it.
macro_rules! with_block {
    ($bytes:expr, $memory:expr, |$block:ident| $body:expr) => {
        match $bytes {
            1 => {
                let $block = one::<u8>();
                $body
            }
            2 => {
                let $block = one::<u16>();
                $body
            }
            3 => {
                let $block = two::<u16>();
                $body
            }
            4 => {
                let $block = whole::<u32, _>($memory);
                $body
            }
            5..=7 => {
                let $block = two::<u32>();
                $body
            }
            8 => {
                let $block = whole::<u64, _>($memory);
                $body
            }
            12 => {
                let $block = one::<[u32; 3]>();
                $body
            }
            9..=15 => {
                let $block = two::<u64>();
                $body
            }
            16 => {
                let $block = whole::<Wide, _>($memory);
                $body
            }
            24 => {
                let $block = one::<[u64; 3]>();
                $body
            }
            32 => {
                let $block = one::<[Wide; 2]>();
                $body
            }
            17..=32 => {
                let $block = two::<Wide>();
                $body
            }
            33..=FEW => {
                let $block = Four;
                $body
            }
            _ => {
                let $block = Any($memory);
                $body
            }
        }
    };
}

/// Copies 1 to [`FEW`] bytes.
///
/// # Safety
/// As [`Memory::copy`].
#[inline(always)]
pub(super) unsafe fn copy_few(to: usize, from: usize, bytes: usize) {
    // SAFETY: `bytes` are readable at `from`, writable at `to`, and apart (this function's contract); each way is for the sizes it is
    // chosen for.
    unsafe { with_block!(bytes, &super::Plain, |block| block.copy(to, from, bytes)) }
}

/// Copies the blocks of a nest with a loop for their size.
///
/// # Safety
/// As [`Memory::copy_nest`].
#[inline]
pub(super) unsafe fn copy_nest<M: Memory + ?Sized>(memory: &M, nest: &Nest) {
    let bytes = nest.block;
    // SAFETY: each block is readable at its source, writable at its target, and apart (this function's contract); each way is for the
    // sizes it is chosen for.
    unsafe { with_block!(bytes, memory, |block| copy_each(nest, &block)) }
}

/// The same by [`Memory::copy`], whatever their size.
///
/// # Safety
/// As [`Memory::copy_nest`].
#[inline]
pub(super) unsafe fn copy_any<M: Memory + ?Sized>(memory: &M, nest: &Nest) {
    // SAFETY: each block is readable at its source, writable at its target, and apart (this function's contract).
    unsafe { copy_each(nest, &Any(memory)) }
}

/// Copies every block.
///
/// # Safety
/// As [`Memory::copy_nest`]; the way is for blocks of this size.
#[inline(always)]
unsafe fn copy_each(nest: &Nest, block: &impl Block) {
    let [outer, middle, inner] = nest.rounds;
    let mut first = (nest.to, nest.from);
    for _ in 0..outer.times {
        let mut row = first;
        for _ in 0..middle.times {
            // SAFETY: this function's contract.
            unsafe { block.row(row, inner, nest.block) };
            row = after(row, middle, 1);
        }
        first = after(first, outer, 1);
    }
}

/// The innermost loop, four rounds at a time: loads and stores are the bound then, not the loop.
#[inline(always)]
pub(super) fn in_row(mut at: (usize, usize), round: Round, copy: impl Fn(usize, usize)) {
    for _ in 0..round.times / 4 {
        for ahead in 0..4 {
            let (to, from) = after(at, round, ahead);
            copy(to, from);
        }
        at = after(at, round, 4);
    }
    for _ in 0..round.times % 4 {
        copy(at.0, at.1);
        at = after(at, round, 1);
    }
}

/// Where target and source are so many rounds later.
#[inline(always)]
fn after((to, from): (usize, usize), round: Round, rounds: isize) -> (usize, usize) {
    let moved = |address: usize, by: isize| address.wrapping_add_signed(by.wrapping_mul(rounds));
    (moved(to, round.to), moved(from, round.from))
}

/// Copies listed blocks, from where they are scattered (`GATHER`) or to there.
///
/// # Safety
/// As [`Memory::copy_nest`].
#[inline]
pub(super) unsafe fn copy_list<M: Memory + ?Sized, const GATHER: bool>(memory: &M, list: &Scattered<'_>) {
    // SAFETY: each block is readable at its source, writable at its target, and apart (this function's contract); each way is for the
    // sizes it is chosen for.
    unsafe {
        if M::LOCAL {
            with_block!(list.block, memory, |block| walk::<GATHER>(list, &block));
        } else {
            walk::<GATHER>(list, &Any(memory));
        }
    }
}

/// Copies every listed block.
///
/// # Safety
/// As [`Memory::copy_nest`]; the way is for blocks of this size.
#[inline(always)]
unsafe fn walk<const GATHER: bool>(list: &Scattered<'_>, block: &impl Block) {
    let sides = |place: usize, address: usize| if GATHER { (place, address) } else { (address, place) };
    let at = |disp: u64| list.base.wrapping_add(disp as usize);
    let mut place = list.place;
    match list.shape {
        Shape::Blocks => {
            let mut each = |disp: u64| {
                let (to, from) = sides(place, at(disp));
                // SAFETY: this function's contract.
                unsafe { block.copy(to, from, list.block) };
                place = place.wrapping_add(list.block);
            };
            let (fours, rest) = list.entries.as_chunks::<8>();
            for four in fours {
                four.as_chunks::<2>().0.iter().for_each(|entry| each(entry[0]));
            }
            rest.as_chunks::<2>().0.iter().for_each(|entry| each(entry[0]));
        }
        Shape::Rows(times, stride) => {
            let (to, from) = sides_of::<GATHER>(list.block as isize, stride);
            for entry in list.entries.as_chunks::<3>().0 {
                // SAFETY: this function's contract.
                unsafe { block.row(sides(place, at(entry[0])), Round { times, to, from }, list.block) };
                place = place.wrapping_add(list.block * times);
            }
        }
    }
}

/// Steps of the packed and of the scattered side, as those of target and source.
fn sides_of<const GATHER: bool>(packed: isize, scattered: isize) -> (isize, isize) {
    if GATHER { (packed, scattered) } else { (scattered, packed) }
}
