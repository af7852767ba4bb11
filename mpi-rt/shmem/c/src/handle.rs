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

/// `shmem_ctx_t` (the standard, section 9.5).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(usize);

impl Ctx {
    const DEFAULT: Ctx = Ctx(engine::CTX_DEFAULT as usize + 1);

    /// The handle of the context that has a number of the engine's.
    pub fn from_number(number: i32) -> Ctx {
        Ctx((number + 1) as usize)
    }

    /// The engine's number: -1 for the invalid handle, [`NONE`] for a value that is no handle.
    pub fn number(self) -> i32 {
        number(self.0)
    }

    /// The PE that has number `pe` in the context.
    #[inline(always)]
    pub fn pe(self, pe: c_int) -> c_int {
        if self == Ctx::DEFAULT { pe } else { engine::ctx_pe(self.number(), pe) }
    }
}

/// `shmem_team_t` (the standard, section 9.4).
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Team(usize);

impl Team {
    /// The handle of the team that has a number of the engine's.
    pub fn from_number(number: i32) -> Team {
        Team((number + 1) as usize)
    }

    /// The engine's number: -1 for the invalid handle, [`NONE`] for a value that is no handle.
    #[inline(always)]
    pub fn number(self) -> i32 {
        number(self.0)
    }
}
