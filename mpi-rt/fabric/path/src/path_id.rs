//! The paths' numbers, and how tickets name them.

use crate::Ticket;

/// Classes of sizes.
pub const CLASSES: usize = 2;

/// The paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PathId {
    Smartmap = 0,
    ShmBasic = 1,
    ShmAdvanced = 2,
    Late = 3,
    Portals = 4,
    Limic2 = 5,
    Hybrid = 6,
    Mcni = 7,
    Mci = 8,
    Sci = 9,
    Limic = 10,
}

pub(crate) const PATHS: [PathId; 11] = [
    PathId::Smartmap,
    PathId::ShmBasic,
    PathId::ShmAdvanced,
    PathId::Late,
    PathId::Portals,
    PathId::Limic2,
    PathId::Hybrid,
    PathId::Mcni,
    PathId::Mci,
    PathId::Sci,
    PathId::Limic,
];

/// Tickets name their path in the bits from here on.
const PATH_SHIFT: u32 = usize::BITS - 4;

impl Ticket {
    /// The path that it names, unless that is `smartmap`.
    #[inline(always)]
    pub(crate) fn path(self) -> Option<PathId> {
        if self.0 >> PATH_SHIFT == 0 { None } else { PATHS.get(self.0 >> PATH_SHIFT).copied() }
    }

    /// The same ticket as its path knows it.
    pub(crate) fn bare(self) -> Ticket {
        Ticket(self.0 & ((1 << PATH_SHIFT) - 1))
    }

    /// The ticket of a path, naming it.
    pub(crate) fn of(self, path: PathId) -> Ticket {
        Ticket(self.0 | (path as usize) << PATH_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_names_its_path_and_is_its_own_again_without_it() {
        assert_eq!(Ticket(5).path(), None);
        for path in &PATHS[1..] {
            let ticket = Ticket(5).of(*path);
            assert_eq!((ticket.path(), ticket.bare()), (Some(*path), Ticket(5)));
        }
    }
}
