//! Long lines: what a member gives of more than a cache line, or of a length that others do not know. They are many times as large as all the rest
//! of a member's area, so a member makes its own when it first takes part in an operation that needs them; until then no memory is taken. The others find them
//! by a word of its area, and who wants to give by them waits for that.

use crate::oneway::{LONG_WORDS, Oneway};
use crate::{Area, Shared};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::{from_ref, with_exposed_provenance};
use lwk_mpi_core::error::{Error, Result};
use lwk_place::CommRank;
use lwk_ring::{Lines, Published, Reply};
use lwk_user::smartmap::CacheLine;

/// Long lines of a member. Measured (docs/measurements/collectives.md).
pub const ONEWAY_LONG: usize = 16;

/// One member's.
pub struct LongLines {
    pub lines: Lines<ONEWAY_LONG, LONG_WORDS>,
    /// For each line, what a root answers for a part that is too long for it.
    replies: [Reply; ONEWAY_LONG],
}

/// Where a member's long lines are, once they are made.
pub struct Made(CacheLine<Published<1>>);

impl Made {
    pub const fn new() -> Made {
        Made(CacheLine(Published::new()))
    }

    /// Makes the lines as new, which then are there already. The owner only, as for `Area::renew`.
    pub fn renew(&self) {
        if self.0.is_told() {
            let [address] = self.0.words();
            // SAFETY: the owner has leaked its lines, and told where they are.
            let it = unsafe { &*with_exposed_provenance::<LongLines>(address as usize) };
            it.lines.renew();
            it.replies.iter().for_each(Reply::renew);
        }
    }

    /// Makes the owner's lines, if they have not been made. Errors: `NO_MEM`.
    #[inline]
    fn make(&self) -> Result<()> {
        if self.0.is_told() { Ok(()) } else { self.make_now() }
    }

    #[cold]
    fn make_now(&self) -> Result<()> {
        let mut memory: Vec<LongLines> = Vec::new();
        memory.try_reserve_exact(1).map_err(|_| Error::NO_MEM)?;
        memory.push(LongLines { lines: Lines::new(), replies: [const { Reply::new() }; ONEWAY_LONG] });
        let lines: &'static [LongLines] = Box::leak(memory.into_boxed_slice());
        self.0.tell([from_ref(&lines[0]).expose_provenance() as u64]);
        Ok(())
    }
}

impl Shared {
    /// Makes this rank's long lines, if they have not been made. Errors: `NO_MEM`.
    #[inline]
    pub(crate) fn make_long(&self) -> Result<()> {
        self.mine().long.make()
    }

    /// A member's long lines, if it has made them.
    #[inline]
    pub fn long(&self, rank: CommRank) -> Option<&'static LongLines> {
        let area: &'static Area = self.of(rank);
        if !area.long.0.is_told() {
            return None;
        }
        let [address] = area.long.0.words();
        // SAFETY: the member has leaked its lines before it told where they are; they are shared through atomics.
        Some(unsafe { &*self.seen(rank, address).cast::<LongLines>() })
    }

    /// The reply that goes with a member's line of an operation. Errors: `INTERN` if the member has no long lines.
    #[inline]
    pub fn reply(&self, rank: CommRank, it: Oneway) -> Result<&'static Reply> {
        let long = self.long(rank).ok_or(Error::INTERN)?;
        Ok(&long.replies[it.number as usize % ONEWAY_LONG])
    }
}
