//! The heap: `brk` and areas of `mmap`.

use lwk_abi::address::{PAGE_BYTES, SEGMENT_START};
use lwk_abi::syscall::errno::{EACCES, EFAULT, EINVAL, ENOMEM};
use lwk_abi::syscall::linux;
use lwk_personality::Machine;

use super::home::{Program, SEGMENT_BYTES, error};

const READ: u64 = 1;
const WRITE: u64 = 2;
const EXECUTE: u64 = 4;
/// `MAP_PRIVATE | MAP_ANONYMOUS`.
const PRIVATE: u64 = 0x22;
/// No file.
const NONE: u64 = u64::MAX;

fn map(program: &mut Program, bytes: u64, protection: u64) -> lwk_personality::Answer {
    program.call(linux::MMAP, &[0, bytes, protection, PRIVATE, NONE, 0])
}

#[test]
fn the_break_moves_up_and_down_in_the_heap() {
    let mut program = Program::new();
    let (start, end) = (program.node.layout().heap_start, program.node.layout().heap_end);
    assert_eq!(program.call(linux::BRK, &[0]), Ok(start));
    assert_eq!(program.call(linux::BRK, &[start + 5000]), Ok(start + 5000));
    program.node.write(start, &[9; 5000]).expect("the heap");
    assert_eq!(program.call(linux::BRK, &[start]), Ok(start));
    assert_eq!(program.call(linux::BRK, &[start + 5000]), Ok(start + 5000));
    assert_eq!(program.get(start, 5000), [0; 5000], "what comes back is clear");
    // What cannot be leaves it where it is.
    for wrong in [start - 1, end + 1, u64::MAX] {
        assert_eq!(program.call(linux::BRK, &[wrong]), Ok(start + 5000));
    }
}

#[test]
fn an_area_is_clear_whole_pages_and_given_back() {
    let mut program = Program::new();
    let area = map(&mut program, 5000, READ | WRITE).expect("there is memory");
    assert!(area.is_multiple_of(PAGE_BYTES));
    assert_eq!(program.get(area, 2 * PAGE_BYTES as usize), [0; 2 * PAGE_BYTES as usize]);
    program.node.write(area, &[1; 5000]).expect("the area");
    assert_eq!(program.call(linux::MUNMAP, &[area + 1, 5000]), error(EINVAL));
    assert_eq!(program.call(linux::MUNMAP, &[area, 5000]), Ok(0));
    let again = map(&mut program, 2 * PAGE_BYTES, READ | WRITE).expect("there is memory");
    assert_eq!(program.get(again, 2 * PAGE_BYTES as usize), [0; 2 * PAGE_BYTES as usize]);
    assert_eq!(map(&mut program, 0, READ), error(EINVAL));
    // Neither private nor shared.
    assert_eq!(program.call(linux::MMAP, &[0, PAGE_BYTES, READ, 0x20, NONE, 0]), error(EINVAL));
    assert_eq!(program.call(linux::MMAP, &[0, PAGE_BYTES, READ, PRIVATE, NONE, 8]), error(EINVAL));
    assert_eq!(map(&mut program, SEGMENT_BYTES, READ), error(ENOMEM));
    assert_eq!(map(&mut program, u64::MAX, READ), error(ENOMEM));
    assert_eq!(map(&mut program, 1, READ | EXECUTE), error(EACCES));
}

#[test]
fn an_area_grows_and_keeps_what_is_in_it() {
    const MAY_MOVE: u64 = 1;
    let mut program = Program::new();
    let area = map(&mut program, PAGE_BYTES, READ | WRITE).expect("there is memory");
    // Its neighbour is in the way on one side at least.
    let other = map(&mut program, PAGE_BYTES, READ | WRITE).expect("there is memory");
    for (place, value) in [(area, 3), (other, 4)] {
        program.node.write(place, &[value; PAGE_BYTES as usize]).expect("the area");
    }
    let lower = area.min(other);
    assert_eq!(program.call(linux::MREMAP, &[lower, PAGE_BYTES, 3 * PAGE_BYTES, 0]), error(ENOMEM));
    assert_eq!(
        program.call(linux::MREMAP, &[lower - PAGE_BYTES, 2 * PAGE_BYTES, PAGE_BYTES, 0]),
        error(EFAULT)
    );
    let moved = program.call(linux::MREMAP, &[area, PAGE_BYTES, 3 * PAGE_BYTES, MAY_MOVE]);
    let moved = moved.expect("there is memory");
    let page = PAGE_BYTES as usize;
    assert_eq!(program.get(moved, 3 * page), [vec![3; page], vec![0; 2 * page]].concat());
    assert_eq!(program.get(other, page), vec![4; page]);
}

#[test]
fn protection_allows_no_more_than_there_is() {
    let mut program = Program::new();
    let area = map(&mut program, PAGE_BYTES, READ | WRITE).expect("there is memory");
    assert_eq!(program.call(linux::MPROTECT, &[area, PAGE_BYTES, READ]), Ok(0));
    assert_eq!(program.call(linux::MPROTECT, &[area, PAGE_BYTES, READ | EXECUTE]), error(EACCES));
    assert_eq!(program.call(linux::MPROTECT, &[SEGMENT_START, PAGE_BYTES, READ | WRITE]), error(EACCES));
    assert_eq!(program.call(linux::MPROTECT, &[area + 8, PAGE_BYTES, READ]), error(EINVAL));
    assert_eq!(program.call(linux::MSYNC, &[area + 8, PAGE_BYTES, 0]), error(EINVAL));
    assert_eq!(program.call(linux::MSYNC, &[area, PAGE_BYTES, 0]), Ok(0));
}

#[test]
fn an_area_shrinks_to_whole_pages_and_gives_the_rest_back() {
    let mut program = Program::new();
    let area = map(&mut program, 4 * PAGE_BYTES, READ | WRITE).expect("there is memory");
    let other = map(&mut program, PAGE_BYTES, READ | WRITE).expect("there is memory");
    program.node.write(other, &[6; PAGE_BYTES as usize]).expect("the area");
    assert_eq!(program.call(linux::MREMAP, &[area, 4 * PAGE_BYTES, PAGE_BYTES + 1, 0]), Ok(area));
    // As much as was given back can be had again, and nothing else has gone with it.
    assert_eq!(program.call(linux::MSYNC, &[other, PAGE_BYTES, 0]), Ok(0));
    assert_eq!(program.get(other, PAGE_BYTES as usize), vec![6; PAGE_BYTES as usize]);
    let again = map(&mut program, 2 * PAGE_BYTES, READ | WRITE).expect("there is memory");
    assert!(again >= other + PAGE_BYTES || again + 2 * PAGE_BYTES <= other, "{again:#x}, {other:#x}");
    assert!(again >= area + 2 * PAGE_BYTES || again + 2 * PAGE_BYTES <= area);
    assert_eq!(program.call(linux::MREMAP, &[area, PAGE_BYTES, PAGE_BYTES, 8]), error(EINVAL));
    assert_eq!(program.call(linux::MREMAP, &[area + 8, PAGE_BYTES, PAGE_BYTES, 0]), error(EINVAL));
    assert_eq!(program.call(linux::MREMAP, &[area, PAGE_BYTES, 0, 0]), error(EINVAL));
}

#[test]
fn an_area_grows_where_it_is_up_to_its_neighbour_and_not_into_it() {
    let mut program = Program::new();
    let page = PAGE_BYTES as usize;
    let area = map(&mut program, 8 * PAGE_BYTES, READ | WRITE).expect("there is memory");
    program.node.write(area, &vec![5; 8 * page]).expect("the area");
    assert_eq!(program.call(linux::MUNMAP, &[area + 2 * PAGE_BYTES, 4 * PAGE_BYTES]), Ok(0));
    // One page of two: the other one is in the way.
    assert_eq!(program.call(linux::MREMAP, &[area, PAGE_BYTES, 2 * PAGE_BYTES, 0]), error(ENOMEM));
    assert_eq!(program.call(linux::MREMAP, &[area, 2 * PAGE_BYTES, 7 * PAGE_BYTES, 0]), error(ENOMEM));
    assert_eq!(program.call(linux::MREMAP, &[area, 2 * PAGE_BYTES, 6 * PAGE_BYTES, 0]), Ok(area));
    assert_eq!(
        program.get(area, 8 * page),
        [vec![5; 2 * page], vec![0; 4 * page], vec![5; 2 * page]].concat()
    );
}
