//! Predefined types against the C compiler's layout (Rust's `repr(C)` follows it) and the standard ABI's handles.

use lwk_datatype::{
    Basic, Class, Datatype, Form, Pair, Predefined, TypeClass, UNDEFINED, match_size, value_index,
};
use lwk_datatype::{f90_complex, f90_integer, f90_real};
use std::collections::BTreeSet;
use std::mem::{align_of, offset_of, size_of};

#[repr(C, align(16))]
struct LongDouble([u8; 16]);

#[repr(C)]
struct Located<V, I> {
    value: V,
    index: I,
}

fn check<V, I>(pair: Pair) {
    let datatype = Datatype::predefined(pair);
    let c = size_of::<Located<V, I>>();
    assert_eq!((datatype.lb(), datatype.extent()), (0, c as i64), "{}", pair.name());
    assert_eq!(pair.align(), align_of::<Located<V, I>>(), "{}", pair.name());
    assert_eq!(pair.index_offset(), offset_of!(Located<V, I>, index), "{}", pair.name());
    assert_eq!(offset_of!(Located<V, I>, value), 0);
    assert_eq!(datatype.size(), (size_of::<V>() + size_of::<I>()) as i64, "{}", pair.name());
    assert_eq!(datatype.true_extent(), (pair.index_offset() + size_of::<I>()) as i64);
    assert_eq!(datatype.elements_of(datatype.size() as u64), Some(2));
    assert!(datatype.is_committed());
}

#[test]
fn pairs_are_laid_out_as_their_structs() {
    check::<f32, i32>(Pair::FloatInt);
    check::<f64, i32>(Pair::DoubleInt);
    check::<i64, i32>(Pair::LongInt);
    check::<i32, i32>(Pair::TwoInt);
    check::<i16, i32>(Pair::ShortInt);
    check::<LongDouble, i32>(Pair::LongDoubleInt);
    check::<f32, f32>(Pair::TwoReal);
    check::<f64, f64>(Pair::TwoDoublePrecision);
    check::<i32, i32>(Pair::TwoInteger);
}

#[test]
fn handles_names_and_sizes_are_consistent() {
    let (mut handles, mut names) = (BTreeSet::new(), BTreeSet::new());
    for on in Predefined::all() {
        assert!(handles.insert(on.handle()) && names.insert(on.name()), "{}", on.name());
        assert_eq!(Predefined::from_handle(on.handle().into()), Some(on));
        // The ABI's predefined datatypes lie in this range, and their handles fit ten bits.
        assert!((0x201..0x300).contains(&on.handle()), "{}", on.name());
        let datatype = Datatype::predefined(on);
        assert_eq!(datatype.as_predefined(), Some(on));
        assert_eq!(datatype.extent(), on.extent() as i64);
    }
    assert_eq!(handles.len(), 70, "the number of predefined datatypes of the ABI but for the null handle");
    assert_eq!(Predefined::from_handle(0x200), None, "MPI_DATATYPE_NULL");
    for basic in Basic::ALL {
        assert!(basic.size().is_multiple_of(basic.align()));
        // The ABI gives fixed-size types their size as a power of two in bits 3 to 5 of the handle.
        if matches!(basic.handle(), 0x240..=0x25f | 0x2c0..=0x2eb) {
            assert_eq!(basic.size(), 1 << (basic.handle() >> 3 & 7), "{}", basic.name());
        }
    }
    for (name, handle, size, external) in [
        ("MPI_INT", 0x209, 4, 4),
        ("MPI_LONG", 0x20a, 8, 4),
        ("MPI_DOUBLE", 0x214, 8, 8),
        ("MPI_LONG_DOUBLE", 0x220, 16, 16),
        ("MPI_BYTE", 0x247, 1, 1),
        ("MPI_WCHAR", 0x23c, 4, 2),
        ("MPI_COMPLEX32", 0x2eb, 32, 32),
    ] {
        let basic = Basic::ALL.iter().find(|basic| basic.name() == name).unwrap();
        assert_eq!((basic.handle(), basic.size(), basic.external_size()), (handle, size, external), "{name}");
    }
}

#[test]
fn types_are_found_by_size_precision_and_members() {
    assert_eq!(match_size(TypeClass::Integer, 8), Ok(Basic::Integer8));
    assert_eq!(match_size(TypeClass::Complex, 32), Ok(Basic::Complex32));
    assert_eq!(match_size(TypeClass::Real, 10).unwrap_err().class, Class::Arg);
    assert_eq!(TypeClass::from_abi(193), Ok(TypeClass::Real));
    assert_eq!(TypeClass::from_abi(191).unwrap_err().class, Class::Arg);
    let found = |made: lwk_datatype::Result<Datatype>| made.unwrap().as_predefined();
    assert_eq!(found(f90_integer(9)), Some(Basic::Integer4.into()));
    assert_eq!(found(f90_integer(10)), Some(Basic::Integer8.into()));
    assert_eq!(found(f90_real(6, UNDEFINED)), Some(Basic::Real4.into()));
    assert_eq!(found(f90_real(UNDEFINED, 300)), Some(Basic::Real8.into()));
    assert_eq!(found(f90_complex(16, 300)), Some(Basic::Complex32.into()));
    for bad in [f90_integer(39), f90_real(34, 0), f90_real(UNDEFINED, UNDEFINED), f90_complex(0, 5000)] {
        assert_eq!(bad.unwrap_err().class, Class::Arg);
    }
    let pair =
        |value: Basic, index: Basic| value_index(&Datatype::predefined(value), &Datatype::predefined(index));
    assert_eq!(pair(Basic::Double, Basic::Int), Some(Pair::DoubleInt));
    assert_eq!(pair(Basic::Int, Basic::Double), None);
    let int = Datatype::predefined(Basic::Int);
    assert_eq!(value_index(&Datatype::contiguous_of(Form::Int, 1, &int).unwrap(), &int), None);
}
