//! Predefined datatypes: their size, and what arithmetic knows of them. Buffers are contiguous.

use crate::abi::datatype as number;
use crate::error::{Error, Result};

/// What the elements of a datatype are, for reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    ComplexF32,
    ComplexF64,
    Bool,
    /// Fortran's `LOGICAL`: zero is false.
    Logical,
    /// Bit patterns: bitwise operations only.
    Byte,
    FloatInt,
    DoubleInt,
    LongInt,
    TwoInt,
    ShortInt,
    TwoF32,
    TwoF64,
    /// No reductions.
    Opaque,
}

/// A predefined datatype: size in bytes and kind of element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datatype {
    pub bytes: usize,
    pub element: Element,
}

/// The datatype with that handle. Errors: `TYPE`.
#[inline]
pub fn predefined(handle: u64) -> Result<Datatype> {
    // The two that most messages use, first.
    if handle == number::BYTE {
        return Ok(Datatype { bytes: 1, element: Element::Byte });
    }
    lookup(handle).map(|(bytes, element)| Datatype { bytes, element }).ok_or(Error::TYPE)
}

fn lookup(handle: u64) -> Option<(usize, Element)> {
    Some(match handle {
        number::CHAR | number::PACKED => (1, Element::Opaque),
        number::INT8 | number::SIGNED_CHAR => (1, Element::I8),
        number::UINT8 | number::UNSIGNED_CHAR => (1, Element::U8),
        number::SHORT | number::INT16 => (2, Element::I16),
        number::UNSIGNED_SHORT | number::UINT16 => (2, Element::U16),
        number::INT | number::INT32 | number::INTEGER => (4, Element::I32),
        number::UNSIGNED | number::UINT32 => (4, Element::U32),
        number::LONG | number::LONG_LONG | number::INT64 => (8, Element::I64),
        number::AINT | number::COUNT | number::OFFSET => (8, Element::I64),
        number::UNSIGNED_LONG | number::UNSIGNED_LONG_LONG | number::UINT64 => (8, Element::U64),
        number::FLOAT | number::REAL => (4, Element::F32),
        number::DOUBLE | number::DOUBLE_PRECISION => (8, Element::F64),
        number::C_FLOAT_COMPLEX | number::CXX_FLOAT_COMPLEX | number::COMPLEX => (8, Element::ComplexF32),
        number::C_DOUBLE_COMPLEX | number::CXX_DOUBLE_COMPLEX | number::DOUBLE_COMPLEX => {
            (16, Element::ComplexF64)
        }
        number::LOGICAL => (4, Element::Logical),
        number::C_BOOL | number::CXX_BOOL => (1, Element::Bool),
        number::WCHAR => (4, Element::Opaque),
        number::BYTE => (1, Element::Byte),
        number::FLOAT_INT => (8, Element::FloatInt),
        number::DOUBLE_INT => (16, Element::DoubleInt),
        number::LONG_INT => (16, Element::LongInt),
        number::TWO_INT | number::TWO_INTEGER => (8, Element::TwoInt),
        number::SHORT_INT => (8, Element::ShortInt),
        number::TWO_REAL => (8, Element::TwoF32),
        number::TWO_DOUBLE_PRECISION => (16, Element::TwoF64),
        _ => return None,
    })
}

/// Bytes of `count` elements. Errors: `COUNT` if negative, `VALUE_TOO_LARGE` if no address space holds them.
#[inline]
pub fn extent(count: i64, datatype: Datatype) -> Result<usize> {
    let count = usize::try_from(count).map_err(|_| Error::COUNT)?;
    count.checked_mul(datatype.bytes).ok_or(Error::VALUE_TOO_LARGE)
}
