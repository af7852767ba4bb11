//! Size: what is regular costs nothing, what is irregular costs its arguments, and no tower of types exhausts the stack.

use lwk_datatype::{Basic, Class, Cursor, Datatype, Form, Order, Piece};

const L: Form = Form::Large;

fn words(datatype: &Datatype) -> usize {
    datatype.commit();
    datatype.layout().unwrap().words().len()
}

#[test]
fn regular_types_take_constant_memory() {
    let int = Datatype::predefined(Basic::Int);
    let million = Datatype::vector(L, 1_000_000, 3, 7, &int).unwrap();
    assert!(words(&million) <= 20);
    let nested = Datatype::hvector(L, 1 << 20, 1, 1 << 30, &million).unwrap();
    assert!(words(&nested) <= 20);
    let cube = Datatype::subarray(L, &[1000; 3], &[500; 3], &[100; 3], Order::C, &int).unwrap();
    assert!(words(&cube) <= 24);
    // A regular list is found to be a vector.
    let places: Vec<i64> = (0..10_000).map(|i| 5 * i).collect();
    let list = Datatype::indexed_block(L, 2, &places, &int).unwrap();
    assert!(words(&list) <= 20);
    assert_eq!(
        Cursor::new(list.layout().unwrap(), 1, 0).unwrap().peek(),
        Ok(Some(Piece { disp: 0, block: 8, count: 10_000, stride: 20 }))
    );
    // Adjacent blocks are one.
    let adjacent: Vec<i64> = (0..10_000).map(|i| 2 * i).collect();
    let list = Datatype::indexed_block(L, 2, &adjacent, &int).unwrap();
    list.commit();
    assert_eq!(list.contiguous(3), Some((0, 240_000)));
    assert_eq!((list.contiguous(0), million.contiguous(1)), (Some((0, 0)), None));
}

#[test]
fn a_shared_part_is_written_once() {
    let int = Datatype::predefined(Basic::Int);
    let places: Vec<i64> = (0..1000).map(|i| i * i).collect();
    let list = Datatype::indexed_block(L, 1, &places, &int).unwrap();
    let alone = words(&list);
    let three = Datatype::hindexed(L, &[1, 1, 1], &[0, 1 << 30, 1 << 35], &list).unwrap();
    assert!(words(&three) < alone + 30);
}

#[test]
fn positions_are_found_without_walking() {
    let int = Datatype::predefined(Basic::Int);
    let vector = Datatype::vector(L, 1 << 40, 1, 2, &int).unwrap();
    vector.commit();
    let mut cursor = Cursor::new(vector.layout().unwrap(), 1, (1 << 41) + 1).unwrap();
    let piece = Piece { disp: (1 << 42) + 1, block: 3, count: 1, stride: 0 };
    assert_eq!(cursor.peek(), Ok(Some(piece)));
    assert_eq!(vector.elements_of(1 << 42), Some(1 << 40));
    assert_eq!(vector.fingerprint(3).elements, 3 << 40);
}

/// Layouts and signatures have a limit; chains of dups, which only hold references, have none.
#[test]
fn towers_of_types_end_in_an_error_or_work() {
    let int = Datatype::predefined(Basic::Int);
    let byte = Datatype::predefined(Basic::Byte);
    let mut tower = int.clone();
    let refused = (0..100_000).find_map(|_| {
        let next = Datatype::structure(L, &[1, 1], &[0, tower.ub() + 3], &[tower.clone(), byte.clone()]);
        match next {
            Ok(next) => tower = next,
            Err(error) => return Some(error),
        }
        None
    });
    assert_eq!(refused.map(|error| error.class), Some(Class::Other));
    tower.commit();
    let mut cursor = Cursor::new(tower.layout().unwrap(), 1, 0).unwrap();
    let mut bytes = 0;
    while let Some(piece) = cursor.peek().unwrap() {
        bytes += piece.block * piece.count;
        cursor.advance(piece.block * piece.count);
    }
    assert_eq!(bytes, tower.size() as u64);

    let mut chain = int;
    for _ in 0..1_000_000 {
        chain = chain.dup();
    }
    assert_eq!(chain.size(), 4);
    drop(chain);
}
