//! Structures that travel as they are: the fields of a [`record!`](macro@crate::record) are elements or arrays of them, and padding stays at home.

use super::element::Element;

/// A field of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Bytes from the beginning of the record.
    pub offset: usize,
    /// Elements.
    pub count: usize,
    /// The elements' handle.
    pub datatype: u64,
}

/// Types that fields have: elements, and arrays of them.
///
/// # Safety
/// The type is so many elements of the datatype, one after another at their extent, and any values of them are one of the type.
pub unsafe trait FieldType {
    /// Elements.
    const COUNT: usize;
    /// The elements' handle.
    const DATATYPE: u64;
}

// SAFETY: one element.
unsafe impl<T: Element> FieldType for T {
    const COUNT: usize = 1;
    const DATATYPE: u64 = T::DATATYPE;
}

// SAFETY: an array is its elements, side by side.
unsafe impl<T: Element, const N: usize> FieldType for [T; N] {
    const COUNT: usize = N;
    const DATATYPE: u64 = T::DATATYPE;
}

/// A structure whose fields are known, made by [`record!`](macro@crate::record).
///
/// # Safety
/// The fields lie in the structure, and any bytes are values of each.
pub unsafe trait Record: Copy + 'static {
    /// The fields, in their order in memory.
    const FIELDS: &'static [Field];
}

/// Defines a structure that can be sent through a [`Datatype`](crate::Datatype):
///
/// ```no_run
/// # use lwk_mpi::{Communicator, Datatype, Result};
/// lwk_mpi::record! {
///     /// Where something is, and which.
///     pub struct Particle {
///         pub number: u32,
///         pub place: [f64; 3],
///     }
/// }
///
/// fn send(world: Communicator, particles: &[Particle]) -> Result<()> {
///     let particle = Datatype::<Particle>::record()?;
///     world.send(&particle.of(particles, particles.len())?, 1, 0)
/// }
/// ```
///
/// Fields of other types are refused:
///
/// ```compile_fail,E0277
/// lwk_mpi::record! { struct Flag { set: bool } }
/// ```
///
/// And nobody says without `unsafe` what a type of his own is made of:
///
/// ```compile_fail,E0200
/// struct Flag(bool);
/// impl lwk_mpi::FieldType for Flag {
///     const COUNT: usize = 1;
///     const DATATYPE: u64 = <u8 as lwk_mpi::Element>::DATATYPE;
/// }
/// ```
#[macro_export]
macro_rules! record {
    ($(#[$meta:meta])* $visible:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_visible:vis $field:ident: $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        $visible struct $name {
            $($(#[$field_meta])* $field_visible $field: $type,)*
        }

        // SAFETY: the fields' own offsets; their types are elements, or arrays of them, of which any bytes are values.
        unsafe impl $crate::Record for $name {
            const FIELDS: &'static [$crate::Field] = &[$($crate::Field {
                offset: ::core::mem::offset_of!($name, $field),
                count: <$type as $crate::FieldType>::COUNT,
                datatype: <$type as $crate::FieldType>::DATATYPE,
            }),*];
        }
    };
}
