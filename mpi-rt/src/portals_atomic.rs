//! MPI's operations and types as those of Portals' atomic operations.

use lwk_datatype::Scalar;
use lwk_datatype::op::Op;
use lwk_user::portals::abi::{atomic, datatype};

/// Portals' operation that reduces as MPI's does; nothing for what only one-sided communication has, and for pairs.
pub fn atomic_of(op: Op) -> Option<u32> {
    Some(match op {
        Op::Sum => atomic::SUM,
        Op::Prod => atomic::PROD,
        Op::Min => atomic::MIN,
        Op::Max => atomic::MAX,
        Op::Band => atomic::BAND,
        Op::Bor => atomic::BOR,
        Op::Bxor => atomic::BXOR,
        Op::Land => atomic::LAND,
        Op::Lor => atomic::LOR,
        Op::Lxor => atomic::LXOR,
        Op::Replace | Op::NoOp | Op::Minloc | Op::Maxloc => return None,
    })
}

/// Portals' type of integers and reals, for all operations that MPI has on them; nothing for logicals, complex numbers, and what is not of 1 to 8 bytes.
pub fn datatype_of(scalar: Scalar) -> Option<u32> {
    Some(match scalar {
        Scalar::I8 => datatype::INT8,
        Scalar::U8 => datatype::UINT8,
        Scalar::I16 => datatype::INT16,
        Scalar::U16 => datatype::UINT16,
        Scalar::I32 => datatype::INT32,
        Scalar::U32 => datatype::UINT32,
        Scalar::I64 => datatype::INT64,
        Scalar::U64 => datatype::UINT64,
        Scalar::F32 => datatype::FLOAT,
        Scalar::F64 => datatype::DOUBLE,
        _ => return None,
    })
}
