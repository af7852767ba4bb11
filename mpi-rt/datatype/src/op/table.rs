//! The predefined operations and the types each is defined for.

use crate::basic::{Basic, Group, Predefined};

/// A predefined operation; the discriminant is its handle in the MPI 5.0 standard ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Op {
    Sum = 0x21,
    Min = 0x22,
    Max = 0x23,
    Prod = 0x24,
    Band = 0x28,
    Bor = 0x29,
    Bxor = 0x2a,
    Land = 0x30,
    Lor = 0x31,
    Lxor = 0x32,
    Minloc = 0x38,
    Maxloc = 0x39,
    Replace = 0x3c,
    NoOp = 0x3d,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 14] = [
        Op::Sum,
        Op::Min,
        Op::Max,
        Op::Prod,
        Op::Band,
        Op::Bor,
        Op::Bxor,
        Op::Land,
        Op::Lor,
        Op::Lxor,
        Op::Minloc,
        Op::Maxloc,
        Op::Replace,
        Op::NoOp,
    ];

    /// The operation with this handle of the standard ABI, if it is one.
    #[inline]
    pub fn from_handle(handle: usize) -> Option<Op> {
        *BY_HANDLE.get(handle.wrapping_sub(FIRST_HANDLE))?
    }

    /// Its handle in the standard ABI.
    pub const fn handle(self) -> u16 {
        self as u16
    }

    /// Whether the operation is defined for the type: by the standard, or as other libraries have it. MPI_REPLACE and MPI_NO_OP take any.
    pub fn allows(self, on: Predefined) -> bool {
        use Group::*;
        let group = match on {
            Predefined::Pair(_) => return matches!(self, Op::Minloc | Op::Maxloc | Op::Replace | Op::NoOp),
            // The standard leaves characters out; programs reduce them everywhere, and other libraries take them for signed ones.
            Predefined::Basic(Basic::Char | Basic::Character) => CInteger,
            Predefined::Basic(basic) => basic.group(),
        };
        match self {
            Op::Max | Op::Min => matches!(group, CInteger | FortranInteger | Floating | MultiLanguage),
            Op::Sum | Op::Prod => {
                matches!(group, CInteger | FortranInteger | Floating | Complex | MultiLanguage)
            }
            // Of the multi-language types the standard has only the bitwise ones; they are integers, and other libraries take them.
            Op::Land | Op::Lor | Op::Lxor => matches!(group, CInteger | Logical | MultiLanguage),
            Op::Band | Op::Bor | Op::Bxor => {
                matches!(group, CInteger | FortranInteger | Byte | MultiLanguage)
            }
            Op::Minloc | Op::Maxloc => false,
            Op::Replace | Op::NoOp => true,
        }
    }
}

/// Handles of the operations have the numbers from this one on.
const FIRST_HANDLE: usize = 0x20;

/// The operations by handle: accumulates look one up each time.
static BY_HANDLE: [Option<Op>; 32] = by_handle();

const fn by_handle() -> [Option<Op>; 32] {
    let mut ops = [None; 32];
    let mut i = 0;
    while i < Op::ALL.len() {
        ops[Op::ALL[i].handle() as usize - FIRST_HANDLE] = Some(Op::ALL[i]);
        i += 1;
    }
    ops
}
