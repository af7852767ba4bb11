//! Types found by their properties: by class and size (`MPI_TYPE_MATCH_SIZE`), by Fortran's precision and range
//! (`MPI_TYPE_CREATE_F90_…`), by value and index (`MPI_TYPE_GET_VALUE_INDEX`).
//!
//! The Fortran kinds are gfortran's on x86-64; kind 10 (x87) is passed over, because no sized MPI type names it, so that the
//! representation agrees with `external32` for the same precision (MPI 5.0, "Parameterized Datatypes", the table of external
//! lengths).

use crate::basic::{Basic, Group, Pair};
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::error::{Class, Error, Result};

/// Classes of `MPI_TYPE_MATCH_SIZE`; the discriminant is the standard ABI's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum TypeClass {
    /// `MPI_TYPECLASS_INTEGER`
    Integer = 192,
    /// `MPI_TYPECLASS_REAL`
    Real = 193,
    /// `MPI_TYPECLASS_COMPLEX`
    Complex = 194,
}

impl TypeClass {
    /// From the standard ABI's integer; class `Arg` for any other.
    pub fn from_abi(value: i64) -> Result<TypeClass> {
        match value {
            192 => Ok(TypeClass::Integer),
            193 => Ok(TypeClass::Real),
            194 => Ok(TypeClass::Complex),
            _ => Err(Error::new(
                Class::Arg,
                "the type class is none of MPI_TYPECLASS_INTEGER, _REAL and _COMPLEX",
            )),
        }
    }
}

/// The sized Fortran type of a class and a size in bytes (`MPI_TYPE_MATCH_SIZE`). Class `Arg` if there is none.
pub fn match_size(class: TypeClass, size: i64) -> Result<Basic> {
    let types: &[Basic] = match class {
        TypeClass::Integer => {
            &[Basic::Integer1, Basic::Integer2, Basic::Integer4, Basic::Integer8, Basic::Integer16]
        }
        TypeClass::Real => &[Basic::Real2, Basic::Real4, Basic::Real8, Basic::Real16],
        TypeClass::Complex => &[Basic::Complex4, Basic::Complex8, Basic::Complex16, Basic::Complex32],
    };
    let found = types.iter().find(|basic| i64::try_from(basic.size()) == Ok(size));
    found.copied().ok_or(Error::new(Class::Arg, "no type of that class has that size"))
}

/// The predefined pair of a value and an index type (`MPI_TYPE_GET_VALUE_INDEX`). `None` stands for `MPI_DATATYPE_NULL`.
pub fn value_index(value: &Datatype, index: &Datatype) -> Option<Pair> {
    let basic = |datatype: &Datatype| match datatype.as_predefined() {
        Some(crate::basic::Predefined::Basic(basic)) => Some(basic),
        _ => None,
    };
    let wanted = (basic(value)?, basic(index)?);
    Pair::ALL.iter().copied().find(|pair| (pair.value(), pair.index()) == wanted)
}

/// `MPI_UNDEFINED` of the standard ABI: "any" for a precision or a range.
pub const UNDEFINED: i64 = -32766;

/// `MPI_TYPE_CREATE_F90_INTEGER`: the smallest integer of at least `range` decimal digits. Class `Arg` if none has them.
pub fn f90_integer(range: i64) -> Result<Datatype> {
    let kinds = [(2, Basic::Integer1), (4, Basic::Integer2), (9, Basic::Integer4), (18, Basic::Integer8)];
    let kinds = kinds.into_iter().chain([(38, Basic::Integer16)]);
    let found = kinds.into_iter().find(|(digits, _)| range <= *digits);
    let (_, basic) = found.ok_or(Error::new(Class::Arg, "no integer has that range"))?;
    Ok(unnamed(basic, Contents::new(Combiner::F90Integer, Form::Int).int(range)))
}

/// `MPI_TYPE_CREATE_F90_REAL`: the smallest real of at least `precision` and `range` decimal digits, either of which may be
/// [`UNDEFINED`]. Class `Arg` if none has them, or both are undefined.
pub fn f90_real(precision: i64, range: i64) -> Result<Datatype> {
    let basic = [Basic::Real4, Basic::Real8, Basic::Real16][real_kind(precision, range)?];
    Ok(unnamed(basic, Contents::new(Combiner::F90Real, Form::Int).ints(&[precision, range])))
}

/// `MPI_TYPE_CREATE_F90_COMPLEX`: as [`f90_real`], for both parts.
pub fn f90_complex(precision: i64, range: i64) -> Result<Datatype> {
    let basic = [Basic::Complex8, Basic::Complex16, Basic::Complex32][real_kind(precision, range)?];
    Ok(unnamed(basic, Contents::new(Combiner::F90Complex, Form::Int).ints(&[precision, range])))
}

/// 0 for binary32, 1 for binary64, 2 for binary128.
fn real_kind(precision: i64, range: i64) -> Result<usize> {
    if (precision, range) == (UNDEFINED, UNDEFINED) {
        return Err(Error::new(Class::Arg, "precision and range are both MPI_UNDEFINED"));
    }
    let kinds = [(6, 37), (15, 307), (33, 4931)];
    let found = kinds.iter().position(|(p, r)| precision <= *p && range <= *r);
    found.ok_or(Error::new(Class::Arg, "no real has that precision and range"))
}

fn unnamed(basic: Basic, mut contents: Contents) -> Datatype {
    debug_assert!(matches!(basic.group(), Group::FortranInteger | Group::Floating | Group::Complex));
    contents.predefined = Some(basic.into());
    let datatype = Datatype::of_basic(basic, contents);
    datatype.commit();
    datatype
}
