//! Datatypes as they lie in files: the same constructors over values of other sizes.

use crate::model::{Recipe, recipe_of};
use lwk_datatype::{Basic, Class, Cursor, Datatype, Error, Form, Predefined, unpack_external_part};
use proptest::prelude::*;

/// Displacements of all bytes, in order.
fn places(datatype: &Datatype) -> Vec<i64> {
    datatype.commit();
    let mut cursor = Cursor::new(datatype.layout().unwrap(), 1, 0).unwrap();
    let mut places = Vec::new();
    while let Some(piece) = cursor.peek().unwrap() {
        for block in 0..piece.count as i64 {
            let start = piece.disp + block * piece.stride;
            places.extend(start..start + piece.block as i64);
        }
        cursor.advance(piece.block * piece.count);
    }
    places
}

fn sized(bytes: i64) -> impl FnMut(Predefined) -> Result<i64, Error> {
    move |_| Ok(bytes)
}

/// Whether no displacement in it is one in bytes (MPI-5.0, section 2.4).
fn is_portable(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Basic(_) | Recipe::Pair(_) => true,
        Recipe::Contiguous(_, old) | Recipe::Vector(_, _, _, old) | Recipe::Indexed(_, old) => {
            is_portable(old)
        }
        Recipe::IndexedBlock(_, _, old) | Recipe::Dup(old) => is_portable(old),
        Recipe::Subarray(_, _, old) | Recipe::Darray(_, _, _, old) => is_portable(old),
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_portable_type_of_shorts_is_represented_as_one_of_ints(recipe in recipe_of(vec![Recipe::Basic(Basic::Short)])) {
        prop_assume!(is_portable(&recipe));
        let shorts = recipe.make().unwrap();
        let ints = recipe.with_leaf(Predefined::Basic(Basic::Int)).make().unwrap();
        let represented = shorts.represented(&mut sized(4)).unwrap();
        prop_assert_eq!(represented.size(), ints.size());
        prop_assert_eq!((represented.lb(), represented.extent()), (ints.lb(), ints.extent()));
        prop_assert_eq!(places(&represented), places(&ints));
    }

    #[test]
    fn a_type_of_bytes_is_represented_as_itself(recipe in recipe_of(vec![Recipe::Basic(Basic::Byte)])) {
        let bytes = recipe.make().unwrap();
        let represented = bytes.represented(&mut sized(1)).unwrap();
        prop_assert_eq!(represented.size(), bytes.size());
        prop_assert_eq!((represented.lb(), represented.extent()), (bytes.lb(), bytes.extent()));
        prop_assert_eq!(places(&represented), places(&bytes));
    }
}

/// What a runtime wraps the errors of this crate in.
#[derive(Debug, PartialEq)]
enum Failure {
    Here(Class),
    Program,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Here(error.class)
    }
}

#[test]
fn what_a_program_answers_comes_out() {
    let datatype = Datatype::contiguous_of(Form::Int, 3, &Datatype::predefined(Basic::Int)).unwrap();
    let outcome =
        |answer: fn(Predefined) -> Result<i64, Failure>| datatype.represented(&mut { answer }).map(drop);
    assert_eq!(outcome(|_| Err(Failure::Program)), Err(Failure::Program));
    assert_eq!(outcome(|_| Ok(-1)), Err(Failure::Here(Class::Count)));
}

#[test]
fn chains_of_types_do_not_use_up_the_stack() {
    let mut dups = Datatype::predefined(Basic::Int);
    let mut nested = dups.clone();
    for _ in 0..100_000 {
        dups = dups.dup();
        nested = Datatype::contiguous_of(Form::Int, 1, &nested).unwrap();
    }
    assert_eq!(dups.represented(&mut sized(8)).map(|it| it.size()).unwrap(), 8);
    assert_eq!(nested.represented(&mut sized(8)).map(drop).unwrap_err().class, Class::Other);
}

#[test]
fn elements_are_counted_in_order() {
    let (int, double) = (Datatype::predefined(Basic::Int), Datatype::predefined(Basic::Double));
    let pair = Datatype::structure(Form::Int, &[2, 1], &[0, 8], &[int, double]).unwrap();
    let wanted = [(Basic::Int, 2), (Basic::Double, 1), (Basic::Int, 2), (Basic::Double, 1)];
    assert_eq!(pair.elements(2).collect::<Vec<_>>(), wanted);
    assert_eq!(pair.elements(0).count(), 0);
}

#[test]
fn data_that_ends_early_is_read_as_far_as_it_goes() {
    let long = Datatype::predefined(Basic::Long);
    let data = [0u8, 0, 0, 1, 0, 0, 0, 2, 0, 0];
    let mut values = [9i64; 3];
    // SAFETY: the data is as long as said, and there is room for three values.
    let read = unsafe {
        unpack_external_part(
            &long,
            values.as_mut_ptr() as usize,
            3,
            data.as_ptr() as usize,
            data.len() as u64,
        )
    };
    assert_eq!((read, values), (Ok((8, 16)), [1, 2, 9]));
}
