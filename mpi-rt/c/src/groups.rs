//! Groups (MPI-5.0, section 7.3).

use crate::types::{Group, Session, array, give, output, text, value};
use crate::{conversions, mpi};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::{GROUP_EMPTY, GROUP_NULL};
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::{Error, Handle, Result};

/// Calls the engine for a new group and gives its handle out.
///
/// # Safety
/// `place` must be null or writable.
unsafe fn make(place: *mut Group, how: impl FnOnce(&mut Engine) -> Result<Handle>) -> Result<()> {
    let made = with(how)?;
    // SAFETY: `place` is null or writable (this function's contract).
    unsafe { give(place, made.0) }
}

/// An array's length. A negative one is `ARG` in this chapter.
fn length(count: c_int) -> Result<c_int> {
    if count < 0 { Err(Error::ARG) } else { Ok(count) }
}

mpi! {
    fn Group_size(group: Group, size: *mut c_int) on Nothing {
        give(size, with(|engine| engine.groups.size(Handle(group)))? as c_int)
    }

    fn Group_rank(group: Group, rank: *mut c_int) on Nothing {
        give(rank, with(|engine| engine.groups.rank(Handle(group)))?)
    }

    fn Group_translate_ranks(group1: Group, n: c_int, ranks1: *const c_int, group2: Group, ranks2: *mut c_int) on Nothing {
        let ranks = array(ranks1, length(n)?)?;
        let translated = with(|engine| engine.groups.translate(Handle(group1), ranks, Handle(group2)))?;
        output(ranks2, n)?.write_copy_of_slice(&translated);
        Ok(())
    }

    fn Group_compare(group1: Group, group2: Group, result: *mut c_int) on Nothing {
        give(result, with(|engine| engine.groups.compare(Handle(group1), Handle(group2)))? as c_int)
    }

    fn Group_union(group1: Group, group2: Group, newgroup: *mut Group) on Nothing {
        make(newgroup, |engine| engine.groups.union(Handle(group1), Handle(group2)))
    }

    fn Group_intersection(group1: Group, group2: Group, newgroup: *mut Group) on Nothing {
        make(newgroup, |engine| engine.groups.intersection(Handle(group1), Handle(group2)))
    }

    fn Group_difference(group1: Group, group2: Group, newgroup: *mut Group) on Nothing {
        make(newgroup, |engine| engine.groups.difference(Handle(group1), Handle(group2)))
    }

    fn Group_incl(group: Group, n: c_int, ranks: *const c_int, newgroup: *mut Group) on Nothing {
        let ranks = array(ranks, length(n)?)?;
        make(newgroup, |engine| engine.groups.include(Handle(group), ranks))
    }

    fn Group_excl(group: Group, n: c_int, ranks: *const c_int, newgroup: *mut Group) on Nothing {
        let ranks = array(ranks, length(n)?)?;
        make(newgroup, |engine| engine.groups.exclude(Handle(group), ranks))
    }

    fn Group_range_incl(group: Group, n: c_int, ranges: *const [c_int; 3], newgroup: *mut Group) on Nothing {
        let ranges = array(ranges, length(n)?)?;
        make(newgroup, |engine| engine.groups.include_ranges(Handle(group), ranges))
    }

    fn Group_range_excl(group: Group, n: c_int, ranges: *const [c_int; 3], newgroup: *mut Group) on Nothing {
        let ranges = array(ranges, length(n)?)?;
        make(newgroup, |engine| engine.groups.exclude_ranges(Handle(group), ranges))
    }

    fn Group_from_session_pset(session: Session, pset_name: *const c_char, newgroup: *mut Group) on Session(session) {
        let name = text(pset_name)?;
        make(newgroup, |engine| engine.group_from_set(Handle(session), name))
    }

    fn Group_free(group: *mut Group) on Nothing {
        let handle = value(group)?;
        with(|engine| engine.groups.free(Handle(handle)))?;
        if handle != GROUP_EMPTY {
            conversions::forget(handle);
        }
        give(group, GROUP_NULL)
    }
}
