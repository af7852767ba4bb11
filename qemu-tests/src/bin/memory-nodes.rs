//! A rank's segment lies where it should, and the rank knows where it runs. Each argument is a memory node with memory that segments of its ranks
//! may lie in: `node:first:end`, the addresses in hexadecimal
#![no_std]
#![no_main]

use lwk_abi::syscall::linux::GETCPU;
use lwk_user::{Env, job, println, syscall};

lwk_user::entry!(main);

/// Node, first and end address.
fn window(argument: &str) -> Option<(u16, u64, u64)> {
    let mut words = argument.split(':');
    let node = words.next()?.parse().ok()?;
    let mut address = || u64::from_str_radix(words.next()?, 16).ok();
    Some((node, address()?, address()?))
}

fn main(env: &Env) -> i32 {
    let page = job().page();
    let place = job().my_place();
    let (mut core, mut node) = (u32::MAX, u32::MAX);
    let words = [(&raw mut core).expose_provenance() as u64, (&raw mut node).expose_provenance() as u64];
    // SAFETY: the call writes four bytes to each address; both words are this function's own.
    let told = unsafe { syscall::raw(GETCPU, [words[0], words[1], 0, 0, 0, 0]) };
    let (start, end) = (page.segment_phys, page.segment_phys + page.segment_bytes);
    println!("rank {}: core {core}, memory node {node}, {start:#x} to {end:#x}", job().rank().0);
    let same = told == 0 && core == u32::from(place.core) && node == u32::from(place.memory_node);
    let fits = env
        .args()
        .skip(1)
        .filter_map(window)
        .any(|(of, first, last)| of == place.memory_node && first <= start && end <= last);
    i32::from(!(same && fits))
}
