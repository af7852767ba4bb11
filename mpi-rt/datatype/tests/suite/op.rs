//! Reductions against one-element formulas, the table of allowed types against the standard's, accumulates against lists.

use lwk_datatype::op::{Op, Reduction, UserFunction, accumulate, combine, reduce};
use lwk_datatype::{Basic, Class, Datatype, Form, Group, Pair, Plain, Predefined, Scalar, pack};
use proptest::prelude::*;
use std::cell::Cell;
use std::rc::Rc;

/// What `a op b` is, for integers of any width in two's complement, as their low bits.
fn integer(op: Op, a: i128, b: i128) -> i128 {
    match op {
        Op::Sum => a.wrapping_add(b),
        Op::Prod => a.wrapping_mul(b),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Band => a & b,
        Op::Bor => a | b,
        Op::Bxor => a ^ b,
        Op::Land => i128::from(a != 0 && b != 0),
        Op::Lor => i128::from(a != 0 || b != 0),
        Op::Lxor => i128::from((a != 0) != (b != 0)),
        Op::Replace => a,
        _ => b,
    }
}

fn real(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Sum => a + b,
        Op::Prod => a * b,
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::Replace => a,
        _ => b,
    }
}

fn is_signed(scalar: Scalar) -> bool {
    use Scalar::*;
    matches!(scalar, I8 | I16 | I32 | I64 | I128)
}

fn integer_at(bytes: &[u8], signed: bool) -> i128 {
    let fill = if signed && bytes.last().is_some_and(|b| b & 0x80 != 0) { 0xff } else { 0 };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

/// Small integers as values of a real format, bit by bit, without the arithmetic under test.
fn real_bytes(scalar: Scalar, value: i16) -> Vec<u8> {
    let (exponent_bits, fraction_bits, explicit) = match scalar {
        Scalar::F16 => (5, 10, false),
        Scalar::F80 => (15, 63, true),
        Scalar::F128 => (15, 112, false),
        Scalar::F32 => return f32::from(value).to_le_bytes().to_vec(),
        _ => return f64::from(value).to_le_bytes().to_vec(),
    };
    let magnitude = u128::from(value.unsigned_abs());
    let bits = if magnitude == 0 {
        0
    } else {
        let top = 127 - magnitude.leading_zeros();
        let exponent = (u128::from(top) + (1 << (exponent_bits - 1)) - 1) & ((1 << exponent_bits) - 1);
        let fraction = ((magnitude << fraction_bits) >> top) & ((1 << fraction_bits) - 1);
        let integer_bit = if explicit { 1 << fraction_bits } else { 0 };
        let width = fraction_bits + u32::from(explicit);
        (u128::from(value < 0) << (width + exponent_bits)) | exponent << width | integer_bit | fraction
    };
    bits.to_le_bytes()[..scalar.size()].to_vec()
}

fn part(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::C16 => Scalar::F16,
        Scalar::C32 => Scalar::F32,
        Scalar::C64 => Scalar::F64,
        Scalar::C80 => Scalar::F80,
        _ => Scalar::F128,
    }
}

fn run(op: Op, on: impl Into<Predefined>, a: &[u8], b: &[u8], count: usize) -> [Vec<u8>; 3] {
    let on = on.into();
    let (mut onto_b, mut onto_a, mut fresh) = (b.to_vec(), a.to_vec(), vec![0x55; b.len()]);
    // SAFETY: every array has `count` elements of the type, and they are distinct allocations.
    unsafe {
        reduce(op, on, a.as_ptr() as usize, onto_b.as_mut_ptr() as usize, count).unwrap();
        let out = onto_a.as_mut_ptr() as usize;
        combine(op, on, out, b.as_ptr() as usize, out, count).unwrap();
        combine(op, on, a.as_ptr() as usize, b.as_ptr() as usize, fresh.as_mut_ptr() as usize, count)
            .unwrap();
    }
    [onto_b, onto_a, fresh]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integer_reductions(data in prop::collection::vec(any::<u8>(), 32 * 9), zeros in any::<u32>()) {
        for basic in Basic::ALL {
            let size = basic.size();
            if matches!(basic.group(), Group::Floating | Group::Complex) || size > 16 {
                continue;
            }
            let mut data = data.clone();
            for i in 0..18 {
                if zeros >> i & 1 == 1 {
                    data[i * size..(i + 1) * size].fill(0);
                }
            }
            let (a, b) = (&data[..9 * size], &data[9 * size..18 * size]);
            for op in Op::ALL.into_iter().filter(|op| op.allows((*basic).into())) {
                let signed = is_signed(basic.scalar());
                for out in run(op, *basic, a, b, 9) {
                    for ((x, y), z) in a.chunks(size).zip(b.chunks(size)).zip(out.chunks(size)) {
                        let expected = integer(op, integer_at(x, signed), integer_at(y, signed));
                        prop_assert_eq!(z, &expected.to_le_bytes()[..size], "{:?} {:?}", op, basic);
                    }
                }
            }
        }
    }

    #[test]
    fn real_reductions(a in prop::collection::vec(-40..40i16, 6), b in prop::collection::vec(-40..40i16, 6)) {
        for basic in Basic::ALL.iter().filter(|basic| basic.group() == Group::Floating) {
            let bytes = |values: &[i16]| values.iter().flat_map(|v| real_bytes(basic.scalar(), *v)).collect::<Vec<u8>>();
            for op in Op::ALL.into_iter().filter(|op| op.allows((*basic).into())) {
                let expected: Vec<i16> = a.iter().zip(&b).map(|(a, b)| real(op, (*a).into(), (*b).into()) as i16).collect();
                // Minus zero: a product of 0 and a negative number is compared as a number below.
                if op == Op::Prod && (a.contains(&0) || b.contains(&0)) {
                    continue;
                }
                for out in run(op, *basic, &bytes(&a), &bytes(&b), 6) {
                    prop_assert_eq!(out, bytes(&expected), "{:?} {:?}", op, basic);
                }
            }
        }
    }

    #[test]
    fn complex_reductions(a in prop::collection::vec(1..30i16, 6), b in prop::collection::vec(31..60i16, 6)) {
        for basic in Basic::ALL.iter().filter(|basic| basic.group() == Group::Complex) {
            let bytes = |values: &[i16]| values.iter().flat_map(|v| real_bytes(part(basic.scalar()), *v)).collect::<Vec<u8>>();
            let sums: Vec<i16> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            let products: Vec<i16> = a.chunks(2).zip(b.chunks(2))
                .flat_map(|(x, y)| [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]]).collect();
            // binary16 holds integers up to 2048 only; there the parts of the product are rounded.
            let exact = part(basic.scalar()) != Scalar::F16;
            prop_assume!(products.chunks(2).all(|p| p[0] != 0));
            for (op, expected) in [(Op::Sum, &sums), (Op::Prod, &products)] {
                if op == Op::Prod && !exact {
                    continue;
                }
                for out in run(op, *basic, &bytes(&a), &bytes(&b), 3) {
                    prop_assert_eq!(out, bytes(expected), "{:?} {:?}", op, basic);
                }
            }
        }
    }

    #[test]
    fn locations(a in prop::collection::vec((-3..3i16, 0..9i16), 5), b in prop::collection::vec((-3..3i16, 0..9i16), 5)) {
        for pair in Pair::ALL {
            let number = |basic: Basic, value: i16| match basic.group() {
                Group::Floating => real_bytes(basic.scalar(), value),
                _ => i64::from(value).to_le_bytes()[..basic.size()].to_vec(),
            };
            let bytes = |values: &[(i16, i16)], hole: u8| {
                let mut bytes = vec![hole; values.len() * pair.extent()];
                for ((value, index), item) in values.iter().zip(bytes.chunks_mut(pair.extent())) {
                    item[..pair.value().size()].copy_from_slice(&number(pair.value(), *value));
                    item[pair.index_offset()..][..pair.index().size()].copy_from_slice(&number(pair.index(), *index));
                }
                bytes
            };
            for op in [Op::Minloc, Op::Maxloc] {
                let best: Vec<(i16, i16)> = a.iter().zip(&b).map(|(x, y)| {
                    let order = if op == Op::Maxloc { y.0.cmp(&x.0) } else { x.0.cmp(&y.0) };
                    if order.then(x.1.cmp(&y.1)).is_le() { *x } else { *y }
                }).collect();
                let [onto_b, onto_a, _] = run(op, *pair, &bytes(&a, 1), &bytes(&b, 2), 5);
                // Holes stay as they were.
                prop_assert_eq!(onto_b, bytes(&best, 2), "{:?} {:?}", op, pair);
                prop_assert_eq!(onto_a, bytes(&best, 1), "{:?} {:?}", op, pair);
            }
        }
    }

    #[test]
    fn accumulates_go_from_layout_to_layout(
        from in crate::model::recipe_of(vec![crate::model::Recipe::Basic(Basic::Int)]),
        to in crate::model::recipe_of(vec![crate::model::Recipe::Basic(Basic::Int)]),
        pairs in any::<bool>(), op in prop::sample::select(&[Op::Sum, Op::Bxor, Op::Max, Op::Replace, Op::NoOp][..]),
    ) {
        let leaf = if pairs { Predefined::Pair(Pair::ShortInt) } else { Predefined::Basic(Basic::Int) };
        let op = if pairs { Op::Minloc } else { op };
        let (from, to) = (from.with_leaf(leaf), to.with_leaf(leaf));
        let (a, b) = (from.map().bytes(1), to.map().bytes(2));
        let mut sorted = b.clone();
        sorted.sort_unstable();
        prop_assume!(sorted.windows(2).all(|pair| pair[0] != pair[1]) && !a.is_empty());
        let (origin, target) = (from.make().unwrap(), to.make().unwrap());
        origin.commit();
        target.commit();
        let span = |bytes: &[i64]| {
            let low = bytes.iter().min().copied().unwrap_or(0);
            (low, bytes.iter().max().copied().unwrap_or(0) - low + 1)
        };
        let ((low_a, long_a), (low_b, long_b)) = (span(&a), span(&b));
        let here: Vec<u8> = (0..long_a).map(|i| (i * 37 + 11) as u8).collect();
        let mut there: Vec<u8> = (0..long_b).map(|i| (i * 53 + 5) as u8).collect();
        let bases = [here.as_ptr() as usize, there.as_mut_ptr() as usize];
        let origin_region = origin.region(bases[0].wrapping_add_signed(-low_a as isize), 1).unwrap();
        let target_region = target.region(bases[1].wrapping_add_signed(-low_b as isize), 2).unwrap();
        let element = origin.element_for(op).unwrap();
        let pick = |memory: &[u8], low: i64, at: &[i64]| at.iter().map(|d| memory[(d - low) as usize]).collect::<Vec<u8>>();
        let (x, y) = (pick(&here, low_a, &a), pick(&there, low_b, &b));
        // SAFETY: both memories span their messages and the target's bytes do not overlap.
        let done = unsafe { accumulate(op, element, origin_region, target_region) };
        if a.len() > b.len() {
            prop_assert_eq!(done.unwrap_err().class, Class::Truncate);
        } else {
            done.unwrap();
            let mut expected = y.clone();
            for at in (0..a.len()).step_by(if pairs { 6 } else { 4 }) {
                if pairs {
                    let pair = |bytes: &[u8]| (integer_at(&bytes[at..at + 2], true), integer_at(&bytes[at + 2..at + 6], true));
                    if pair(&x) < pair(&y) {
                        expected[at..at + 6].copy_from_slice(&x[at..at + 6]);
                    }
                } else {
                    let value = integer(op, integer_at(&x[at..at + 4], true), integer_at(&y[at..at + 4], true));
                    expected[at..at + 4].copy_from_slice(&value.to_le_bytes()[..4]);
                }
            }
            prop_assert_eq!(pick(&there, low_b, &b), expected);
        }
    }
}

/// The standard's table, written out, with what other libraries have beside it: characters as C integers, truth values of the multi-language
/// types.
#[test]
fn only_the_tables_pairs_of_operation_and_type_are_allowed() {
    for on in Predefined::all() {
        let group = match on {
            Predefined::Basic(basic) => Some(basic.group()),
            Predefined::Pair(_) => None,
        };
        let allowed: &[Op] = match group {
            None => &[Op::Minloc, Op::Maxloc],
            Some(Group::CInteger | Group::MultiLanguage) => &Op::ALL[..10],
            Some(Group::FortranInteger) => &Op::ALL[..7],
            _ if matches!(on, Predefined::Basic(Basic::Char | Basic::Character)) => &Op::ALL[..10],
            Some(Group::Floating) => &Op::ALL[..4],
            Some(Group::Complex) => &[Op::Sum, Op::Prod],
            Some(Group::Logical) => &[Op::Land, Op::Lor, Op::Lxor],
            Some(Group::Byte) => &[Op::Band, Op::Bor, Op::Bxor],
            Some(Group::Character | Group::Packed) => &[],
        };
        let datatype = Datatype::predefined(on);
        for op in Op::ALL {
            let one_sided = matches!(op, Op::Replace | Op::NoOp);
            assert_eq!(op.allows(on), allowed.contains(&op) || one_sided, "{op:?} {on:?}");
            let reduction = Reduction::Predefined(op);
            assert_eq!(reduction.check(&datatype).is_ok(), allowed.contains(&op), "{op:?} {on:?}");
            if !op.allows(on) {
                let mut memory = [0u8; 32];
                let at = memory.as_mut_ptr() as usize;
                // SAFETY: refused before anything is touched; the memory holds one element of any type besides.
                let refused = unsafe { reduce(op, on, at, at, 1) };
                assert_eq!(refused.unwrap_err().class, Class::Op);
            }
        }
    }
}

#[test]
fn predefined_operations_refuse_derived_types_and_accumulates_mixed_ones() {
    let int = Datatype::predefined(Basic::Int);
    let two = Datatype::contiguous_of(Form::Int, 2, &int).unwrap();
    let sum = Reduction::Predefined(Op::Sum);
    assert_eq!(sum.check(&two).unwrap_err().class, Class::Op);
    assert_eq!(two.element_for(Op::Sum), Ok(Basic::Int.into()));
    assert_eq!(two.element_for(Op::Minloc), Ok(Pair::TwoInt.into()));
    let double = Datatype::predefined(Basic::Double);
    let mixed = Datatype::structure(Form::Int, &[2, 1], &[0, 8], &[int, double]).unwrap();
    assert_eq!(mixed.element_for(Op::Sum).unwrap_err().class, Class::Type);
    let pairs = Datatype::contiguous_of(Form::Int, 3, &Datatype::predefined(Pair::DoubleInt)).unwrap();
    assert_eq!(pairs.element_for(Op::Maxloc), Ok(Pair::DoubleInt.into()));
    assert_eq!(pairs.element_for(Op::Sum).unwrap_err().class, Class::Op);
    let none = Datatype::contiguous_of(Form::Int, 0, &pairs).unwrap();
    assert!(none.element_for(Op::Sum).is_ok());
}

struct Subtract(Cell<i64>);

impl UserFunction for Subtract {
    unsafe fn call(&self, input: usize, inout: usize, items: i64, datatype: &Datatype) {
        self.0.set(self.0.get() + items);
        assert_eq!(datatype.size(), 4);
        for i in 0..items as usize {
            let (a, b) = (input as *const i32, inout as *mut i32);
            // SAFETY: the test passes arrays of `items` integers.
            unsafe { *b.add(i) = *a.add(i) - *b.add(i) };
        }
    }
}

#[test]
fn a_programs_own_function_is_called_in_the_standards_order() {
    let function = Rc::new(Subtract(Cell::new(0)));
    let op = Reduction::User { function: function.clone(), commutes: false };
    let int = Datatype::predefined(Basic::Int);
    let (a, mut b) = ([10, 20, 30], [1, 2, 3]);
    assert!(op.check(&int).is_ok() && !op.commutes());
    // SAFETY: both arrays have three integers.
    unsafe { op.apply(a.as_ptr() as usize, b.as_mut_ptr() as usize, 3, &int).unwrap() };
    assert_eq!((b, function.0.get()), ([9, 18, 27], 3));
    // SAFETY: refused before anything is touched.
    let refused = unsafe { op.apply(a.as_ptr() as usize, b.as_mut_ptr() as usize, -1, &int) };
    assert_eq!(refused.unwrap_err().class, Class::Count);
}

#[test]
fn half_precision_rounds_to_nearest() {
    // 2048 + 1 is a tie in binary16 and goes to the even 2048; 2048 + 3 goes to 2052.
    let (a, b) = ([real_bytes(Scalar::F16, 2048), real_bytes(Scalar::F16, 2048)].concat(), [1i16, 3]);
    let b: Vec<u8> = b.iter().flat_map(|v| real_bytes(Scalar::F16, *v)).collect();
    let [out, ..] = run(Op::Sum, Basic::Real2, &a, &b, 2);
    assert_eq!(out, [real_bytes(Scalar::F16, 2048), real_bytes(Scalar::F16, 2052)].concat());
}

#[test]
fn handles_are_those_of_the_standard_abi() {
    for (handle, op) in
        [(0x21, Op::Sum), (0x24, Op::Prod), (0x2a, Op::Bxor), (0x32, Op::Lxor), (0x3d, Op::NoOp)]
    {
        assert_eq!((Op::from_handle(handle), op.handle() as usize), (Some(op), handle));
    }
    assert_eq!((Op::from_handle(0x20), Op::from_handle(0x209)), (None, None));
    assert!(Reduction::Predefined(Op::Sum).commutes() && !Reduction::Predefined(Op::Replace).commutes());
    // Packing is a user of the same memory trait; nothing of a message without items is touched.
    let int = Datatype::predefined(Basic::Int);
    // SAFETY: no byte is moved.
    unsafe { pack(&Plain, int.region(0, 0).unwrap(), 0, 0, 0).unwrap() };
}
