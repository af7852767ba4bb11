//! Envelope and contents, constructor by constructor, in both forms.

use lwk_datatype::{Basic, Combiner, DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC, DISTRIBUTE_DFLT_DARG, Datatype};
use lwk_datatype::{Distribution, Form, Order, f90_real};

fn check(
    datatype: &Datatype,
    combiner: Combiner,
    integers: &[i32],
    addresses: &[i64],
    large: &[i64],
    types: &[&Datatype],
) {
    let contents = datatype.contents();
    assert_eq!(contents.combiner, combiner);
    assert_eq!((&contents.integers[..], &contents.addresses[..]), (integers, addresses), "{combiner:?}");
    assert_eq!(&contents.large_counts[..], large, "{combiner:?}");
    assert_eq!(contents.datatypes.len(), types.len(), "{combiner:?}");
    assert!(contents.datatypes.iter().zip(types).all(|(a, b)| a.is_same(b)), "{combiner:?}");
}

#[test]
fn every_constructor_shows_its_arguments() {
    let int = Datatype::predefined(Basic::Int);
    let (i, l) = (Form::Int, Form::Large);
    check(&int, Combiner::Named, &[], &[], &[], &[]);
    check(&int.dup(), Combiner::Dup, &[], &[], &[], &[&int]);
    check(&Datatype::contiguous_of(i, 3, &int).unwrap(), Combiner::Contiguous, &[3], &[], &[], &[&int]);
    check(&Datatype::contiguous_of(l, 3, &int).unwrap(), Combiner::Contiguous, &[], &[], &[3], &[&int]);
    check(&Datatype::vector(i, 3, 2, 5, &int).unwrap(), Combiner::Vector, &[3, 2, 5], &[], &[], &[&int]);
    check(&Datatype::vector(l, 3, 2, 5, &int).unwrap(), Combiner::Vector, &[], &[], &[3, 2, 5], &[&int]);
    check(&Datatype::hvector(i, 3, 2, 9, &int).unwrap(), Combiner::Hvector, &[3, 2], &[9], &[], &[&int]);
    check(&Datatype::hvector(l, 3, 2, 9, &int).unwrap(), Combiner::Hvector, &[], &[], &[3, 2, 9], &[&int]);
    let (lens, disps) = ([1, 2], [7, 3]);
    let indexed = |f| Datatype::indexed(f, &lens, &disps, &int).unwrap();
    check(&indexed(i), Combiner::Indexed, &[2, 1, 2, 7, 3], &[], &[], &[&int]);
    check(&indexed(l), Combiner::Indexed, &[], &[], &[2, 1, 2, 7, 3], &[&int]);
    let hindexed = |f| Datatype::hindexed(f, &lens, &disps, &int).unwrap();
    check(&hindexed(i), Combiner::Hindexed, &[2, 1, 2], &[7, 3], &[], &[&int]);
    check(&hindexed(l), Combiner::Hindexed, &[], &[], &[2, 1, 2, 7, 3], &[&int]);
    let blocks = |f| Datatype::indexed_block(f, 4, &disps, &int).unwrap();
    check(&blocks(i), Combiner::IndexedBlock, &[2, 4, 7, 3], &[], &[], &[&int]);
    check(&blocks(l), Combiner::IndexedBlock, &[], &[], &[2, 4, 7, 3], &[&int]);
    let hblocks = |f| Datatype::hindexed_block(f, 4, &disps, &int).unwrap();
    check(&hblocks(i), Combiner::HindexedBlock, &[2, 4], &[7, 3], &[], &[&int]);
    check(&hblocks(l), Combiner::HindexedBlock, &[], &[], &[2, 4, 7, 3], &[&int]);
    let double = Datatype::predefined(Basic::Double);
    let members = [int.clone(), double.clone()];
    let structure = |f| Datatype::structure(f, &lens, &[0, 8], &members).unwrap();
    check(&structure(i), Combiner::Struct, &[2, 1, 2], &[0, 8], &[], &[&int, &double]);
    check(&structure(l), Combiner::Struct, &[], &[], &[2, 1, 2, 0, 8], &[&int, &double]);
    let resized = |f| Datatype::resized(f, -4, 12, &int).unwrap();
    check(&resized(i), Combiner::Resized, &[], &[-4, 12], &[], &[&int]);
    check(&resized(l), Combiner::Resized, &[], &[], &[-4, 12], &[&int]);
    let subarray = |f| Datatype::subarray(f, &[4, 5], &[2, 3], &[1, 2], Order::Fortran, &int).unwrap();
    check(&subarray(i), Combiner::Subarray, &[2, 4, 5, 2, 3, 1, 2, 15], &[], &[], &[&int]);
    check(&subarray(l), Combiner::Subarray, &[2, 15], &[], &[4, 5, 2, 3, 1, 2], &[&int]);
    let array = Distribution {
        size: 6,
        rank: 5,
        global_sizes: &[10, 20],
        distributions: &[DISTRIBUTE_BLOCK, DISTRIBUTE_CYCLIC],
        arguments: &[DISTRIBUTE_DFLT_DARG, 4],
        process_sizes: &[2, 3],
        order: Order::C,
    };
    let darray = |f| Datatype::darray(f, &array, &int).unwrap();
    let integers = [6, 5, 2, 10, 20, 17, 18, 19, 4, 2, 3, 12];
    check(&darray(i), Combiner::Darray, &integers, &[], &[], &[&int]);
    check(&darray(l), Combiner::Darray, &[6, 5, 2, 17, 18, 19, 4, 2, 3, 12], &[], &[10, 20], &[&int]);
    check(&f90_real(15, 300).unwrap(), Combiner::F90Real, &[15, 300], &[], &[], &[]);
}

#[test]
fn a_dup_is_a_new_object_of_the_same_type_and_state() {
    let int = Datatype::predefined(Basic::Int);
    let vector = Datatype::vector(Form::Int, 3, 2, 5, &int).unwrap();
    let before = vector.dup();
    vector.commit();
    let after = vector.dup();
    assert!(!before.is_committed() && vector.is_committed() && after.is_committed());
    assert!(!after.is_same(&vector) && vector.clone().is_same(&vector));
    assert_eq!((after.size(), after.extent()), (vector.size(), vector.extent()));
    assert_eq!(
        (Combiner::Named as i32, Combiner::Resized as i32, Combiner::ValueIndex as i32),
        (101, 116, 117)
    );
}
