//! Handles as C sees them: pointers to incomplete types, which travel as integers.
//!
//! A handle is the engine's number plus one. So zero, what a static variable holds before it is given a value, is
//! `SHMEM_CTX_INVALID` and `SHMEM_TEAM_INVALID`. A value that no number can have becomes [`NONE`], which the engine refuses.

use core::ffi::c_int;
use lwk_shmem::engine;

/// A number that the engine never gives.
const NONE: i32 = i32::MAX;

fn number(handle: usize) -> i32 {
    i32::try_from(handle).map_or(NONE, |handle| handle.wrapping_sub(1))
}

/// `shmem_ctx_t`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(usize);

impl Ctx {
    const DEFAULT: Ctx = Ctx(engine::CTX_DEFAULT as usize + 1);

    pub fn from_number(number: i32) -> Ctx {
        Ctx((number + 1) as usize)
    }

    pub fn number(self) -> i32 {
        number(self.0)
    }

    /// The PE that has number `pe` in the context.
    #[inline(always)]
    pub fn pe(self, pe: c_int) -> c_int {
        if self == Ctx::DEFAULT { pe } else { engine::ctx_pe(self.number(), pe) }
    }
}

/// `shmem_team_t`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Team(usize);

impl Team {
    pub fn from_number(number: i32) -> Team {
        Team((number + 1) as usize)
    }

    #[inline(always)]
    pub fn number(self) -> i32 {
        number(self.0)
    }
}
