//! Every error a caller can provoke, by class.

use lwk_datatype::{
    Basic, Class, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, DISTRIBUTE_NONE,
};
use lwk_datatype::{Datatype, Distribution, Form, LayoutView, Order, Plain, Region, Transfer, pack, unpack};
use lwk_datatype::{pack_external, unpack_external};

const F: Form = Form::Int;
const L: Form = Form::Large;
const BIG: i64 = i64::MAX;

fn fails<T>(result: lwk_datatype::Result<T>, class: Class) {
    match result {
        Ok(_) => panic!("accepted; expected {class:?}"),
        Err(error) => {
            assert_eq!(error.class, class, "{error}");
            assert!(!error.reason.is_empty() && !error.reason.contains('\n'));
            assert_eq!(error.code(), class as i32);
        }
    }
}

#[test]
fn constructors_refuse_bad_arguments() {
    let int = Datatype::predefined(Basic::Int);
    fails(Datatype::contiguous_of(F, -1, &int), Class::Count);
    fails(Datatype::vector(F, -1, 1, 1, &int), Class::Count);
    fails(Datatype::vector(F, 1, -1, 1, &int), Class::Arg);
    fails(Datatype::hvector(F, -1, 1, 1, &int), Class::Count);
    fails(Datatype::hvector(F, 1, -1, 1, &int), Class::Arg);
    fails(Datatype::indexed(F, &[1, -1], &[0, 0], &int), Class::Arg);
    fails(Datatype::indexed(F, &[1], &[0, 0], &int), Class::Arg);
    fails(Datatype::hindexed(F, &[-1], &[0], &int), Class::Arg);
    fails(Datatype::hindexed(F, &[1, 1], &[0], &int), Class::Arg);
    fails(Datatype::indexed_block(F, -1, &[0], &int), Class::Arg);
    fails(Datatype::hindexed_block(F, -1, &[0], &int), Class::Arg);
    let types = [int.clone()];
    fails(Datatype::structure(F, &[-1], &[0], &types), Class::Arg);
    fails(Datatype::structure(F, &[1], &[], &types), Class::Arg);
    fails(Datatype::structure(F, &[1, 1], &[0, 0], &types), Class::Arg);
    fails(Datatype::contiguous_of(F, 1 << 31, &int), Class::ValueTooLarge);
}

#[test]
fn what_does_not_fit_64_bits_is_refused() {
    let int = Datatype::predefined(Basic::Int);
    let class = Class::ValueTooLarge;
    fails(Datatype::contiguous_of(L, BIG / 2, &int), class);
    fails(Datatype::vector(L, BIG, BIG, BIG, &int), class);
    fails(Datatype::vector(L, 3, 1, BIG / 4, &int), class);
    fails(Datatype::vector(L, 3, 1, -BIG / 4, &int), class);
    fails(Datatype::hvector(L, BIG, 1, BIG, &int), class);
    fails(Datatype::hvector(L, BIG, 1, i64::MIN, &int), class);
    fails(Datatype::indexed(L, &[1], &[BIG / 2], &int), class);
    fails(Datatype::hindexed(L, &[1], &[BIG], &int), class);
    fails(Datatype::hindexed(L, &[1, 1], &[-BIG, BIG - 10], &int), class);
    fails(Datatype::hindexed_block(L, 1, &[BIG - 3], &int), class);
    fails(Datatype::structure(L, &[1, BIG], &[0, 0], &[int.clone(), int.clone()]), class);
    fails(Datatype::resized(L, BIG, 1, &int), class);
    fails(Datatype::resized(L, i64::MIN, -1, &int), class);
    fails(Datatype::subarray(L, &[1 << 40, 1 << 40], &[1, 1], &[0, 0], Order::C, &int), class);
    let huge = Datatype::resized(L, 0, BIG, &int).unwrap();
    fails(Datatype::contiguous_of(L, 2, &huge), class);
    // The largest that fits does fit, and an empty block at an absurd place is no block.
    assert_eq!(Datatype::contiguous_of(L, BIG / 4, &int).unwrap().size(), BIG / 4 * 4);
    assert_eq!(Datatype::hindexed(L, &[0, 1], &[BIG, 8], &int).unwrap().lb(), 8);
    let spread = Datatype::hvector(L, 2, 1, BIG - 7, &int).unwrap();
    assert_eq!(spread.true_extent(), BIG - 3);
    fails(Datatype::hvector(L, 2, 1, BIG - 3, &int), class);
}

#[test]
fn arrays_refuse_bad_arguments() {
    let int = Datatype::predefined(Basic::Int);
    let subarray = |sizes: &[i64], subs: &[i64], starts: &[i64]| {
        Datatype::subarray(F, sizes, subs, starts, Order::C, &int)
    };
    fails(subarray(&[], &[], &[]), Class::Dims);
    fails(subarray(&[4], &[1, 1], &[0]), Class::Arg);
    fails(subarray(&[0], &[1], &[0]), Class::Arg);
    fails(subarray(&[4], &[0], &[0]), Class::Arg);
    fails(subarray(&[4], &[5], &[0]), Class::Arg);
    fails(subarray(&[4], &[2], &[3]), Class::Arg);
    fails(subarray(&[4], &[2], &[-1]), Class::Arg);
    fails(Order::from_abi(0), Class::Arg);
    assert_eq!((Order::from_abi(12), Order::from_abi(15)), (Ok(Order::C), Ok(Order::Fortran)));

    let good = Distribution {
        size: 4,
        rank: 3,
        global_sizes: &[10, 20],
        distributions: &[DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC],
        arguments: &[DISTRIBUTE_DFLT_DARG, 4],
        process_sizes: &[2, 2],
        order: Order::C,
    };
    let darray = |array: Distribution<'_>| Datatype::darray(F, &array, &int);
    assert!(darray(good).is_ok());
    let (g, none) = (good, [DISTRIBUTE_NONE, DISTRIBUTE_CYCLIC]);
    fails(
        darray(Distribution {
            global_sizes: &[],
            distributions: &[],
            arguments: &[],
            process_sizes: &[],
            ..g
        }),
        Class::Dims,
    );
    fails(darray(Distribution { global_sizes: &[10], ..g }), Class::Arg);
    fails(darray(Distribution { size: 0, ..g }), Class::Arg);
    fails(darray(Distribution { rank: 4, ..g }), Class::Arg);
    fails(darray(Distribution { rank: -1, ..g }), Class::Arg);
    fails(darray(Distribution { process_sizes: &[2, 3], ..g }), Class::Arg);
    fails(darray(Distribution { process_sizes: &[-2, -2], ..g }), Class::Arg);
    fails(darray(Distribution { process_sizes: &[BIG, BIG], ..g }), Class::Arg);
    fails(darray(Distribution { global_sizes: &[0, 20], ..g }), Class::Arg);
    fails(darray(Distribution { distributions: &[99, DISTRIBUTE_CYCLIC], ..g }), Class::Arg);
    fails(darray(Distribution { distributions: &none, ..g }), Class::Arg);
    fails(darray(Distribution { arguments: &[4, 4], ..g }), Class::Arg);
    fails(darray(Distribution { arguments: &[0, 4], ..g }), Class::Arg);
    fails(darray(Distribution { arguments: &[5, -1], ..g }), Class::Arg);
}

#[test]
fn communication_refuses_uncommitted_types_bad_counts_and_short_buffers() {
    let int = Datatype::predefined(Basic::Int);
    let vector = Datatype::vector(F, 2, 1, 3, &int).unwrap();
    let (mut data, mut out) = ([1i32, 2, 3, 4], [0u8; 8]);
    let (at, bytes) = (data.as_mut_ptr() as usize, out.as_mut_ptr() as usize);
    fails(vector.layout(), Class::Type);
    fails(vector.region(at, 1), Class::Type);
    assert_eq!(vector.contiguous(1), None);
    vector.commit();
    fails(vector.region(at, -1), Class::Count);
    fails(vector.region(at, BIG), Class::Count);
    fails(vector.pack_size(-1), Class::Count);
    fails(vector.pack_size(BIG), Class::Count);
    fails(vector.pack_external_size(-1), Class::Count);
    fails(vector.pack_external_size(BIG), Class::ValueTooLarge);
    let region = vector.region(at, 1).unwrap();
    // SAFETY: each is refused before anything is touched.
    unsafe {
        fails(pack(&Plain, region, 0, bytes, 9), Class::Truncate);
        fails(pack(&Plain, region, 9, bytes, 0), Class::Truncate);
        fails(pack(&Plain, region, u64::MAX, bytes, 2), Class::Truncate);
        fails(unpack(&Plain, bytes, 8, region, 1), Class::Truncate);
        fails(pack_external(&vector, at, 1, bytes, 7), Class::Truncate);
        fails(unpack_external(&vector, at, 1, bytes, 7), Class::Truncate);
        let fresh = Datatype::vector(F, 2, 1, 3, &int).unwrap();
        fails(pack_external(&fresh, at, 1, bytes, 8), Class::Type);
    }
    fails(Transfer::new(region, Region::bytes(bytes, 7)), Class::Truncate);
    fails(Transfer::range(region, 4, Region::bytes(bytes, 8), 0, 5), Class::Truncate);
    assert_eq!((data, out), ([1, 2, 3, 4], [0; 8]));
}

#[test]
fn words_of_something_else_are_no_layout() {
    fails(LayoutView::from_words(&[]), Class::Intern);
    fails(LayoutView::from_words(&[0; 20]), Class::Intern);
    let int = Datatype::predefined(Basic::Int);
    let mut words = int.layout().unwrap().words().to_vec();
    assert!(LayoutView::from_words(&words).is_ok());
    fails(LayoutView::from_words(&words[..4]), Class::Intern);
    words[0] += 1;
    fails(LayoutView::from_words(&words), Class::Intern);
    assert_eq!(int.count_of(6), None);
    assert_eq!(int.elements_of(6), None);
}
