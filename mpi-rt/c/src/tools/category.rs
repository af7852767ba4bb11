//! Categories of variables (MPI-5.0, section 15.3.9): the transport, the collectives, the core. They never change.

use super::control;
use super::variable::{CONSTANTS, COUNTER, LEVEL, PERFORMANCE, TIMER};
use super::{Outcome, at, error, find, tell, tell_text, tool};
use crate::mpi;
use crate::types::{give, output};
use core::ffi::{c_char, c_int};
use core::ops::Range;

struct Category {
    name: &'static str,
    description: &'static str,
    /// Its control variables.
    controls: Range<usize>,
    /// The classes of its performance variables.
    classes: &'static [i32],
}

static CATEGORIES: [Category; 3] = [
    Category {
        name: "transport",
        description: "how messages travel",
        controls: 0..CONSTANTS.len(),
        classes: &[LEVEL],
    },
    Category {
        name: "collectives",
        description: "the forms of collective operations",
        controls: CONSTANTS.len()..control::COUNT,
        classes: &[],
    },
    Category {
        name: "core",
        description: "what is counted on this rank's core",
        controls: 0..0,
        classes: &[COUNTER, TIMER],
    },
];

impl Category {
    fn controls(&self) -> impl Iterator<Item = c_int> {
        self.controls.clone().map(|index| index as c_int)
    }

    fn performances(&self) -> impl Iterator<Item = c_int> {
        let classes = self.classes;
        PERFORMANCE
            .iter()
            .enumerate()
            .filter(move |(_, it)| classes.contains(&it.class))
            .map(|(index, _)| index as c_int)
    }
}

/// Writes as many indices as there is room for.
///
/// # Safety
/// `place` must be null or writable for `room` indices.
unsafe fn tell_indices(indices: impl Iterator<Item = c_int>, place: *mut c_int, room: c_int) -> Outcome {
    // SAFETY: `place` is null or writable for `room` indices (this function's contract).
    let room = unsafe { output(place, room) }.map_err(|_| error::INVALID)?;
    room.iter_mut().zip(indices).for_each(|(place, index)| {
        place.write(index);
    });
    Ok(())
}

mpi! {
    fn T_category_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, CATEGORIES.len() as c_int).map_err(|_| error::INVALID))
    }

    fn T_category_get_info(
        index: c_int, name: *mut u8, name_len: *mut c_int, desc: *mut u8, desc_len: *mut c_int, num_cvars: *mut c_int,
        num_pvars: *mut c_int, num_categories: *mut c_int,
    ) -> c_int {
        tool(|| {
            let it = at(&CATEGORIES, index)?;
            tell_text(name, name_len, it.name);
            tell_text(desc, desc_len, it.description);
            tell(num_cvars, it.controls().count() as c_int);
            tell(num_pvars, it.performances().count() as c_int);
            tell(num_categories, 0);
            Ok(())
        })
    }

    fn T_category_get_index(name: *const c_char, index: *mut c_int) -> c_int {
        tool(|| find(CATEGORIES.iter().map(|it| it.name), name, index))
    }

    fn T_category_get_cvars(index: c_int, len: c_int, indices: *mut c_int) -> c_int {
        tool(|| tell_indices(at(&CATEGORIES, index)?.controls(), indices, len))
    }

    fn T_category_get_pvars(index: c_int, len: c_int, indices: *mut c_int) -> c_int {
        tool(|| tell_indices(at(&CATEGORIES, index)?.performances(), indices, len))
    }

    fn T_category_get_categories(index: c_int, len: c_int, indices: *mut c_int) -> c_int {
        tool(|| {
            at(&CATEGORIES, index)?;
            tell_indices(core::iter::empty(), indices, len)
        })
    }

    fn T_category_get_num_events(index: c_int, num: *mut c_int) -> c_int {
        tool(|| {
            at(&CATEGORIES, index)?;
            give(num, 0).map_err(|_| error::INVALID)
        })
    }

    fn T_category_get_events(index: c_int, len: c_int, indices: *mut c_int) -> c_int {
        tool(|| {
            at(&CATEGORIES, index)?;
            tell_indices(core::iter::empty(), indices, len)
        })
    }

    fn T_category_changed(update_number: *mut c_int) -> c_int {
        tool(|| give(update_number, 0).map_err(|_| error::INVALID))
    }
}
