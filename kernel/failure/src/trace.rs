//! The back trace of a dead rank: a walk along its frame pointers.
//!
//! Programs are compiled with frame pointers, so `[rbp]` is the caller's `rbp` and `[rbp + 8]` the return address. The walk
//! trusts nothing: it reads only through the caller's checked `read`, only upwards, and only so far.

/// The most frames that [`back_trace`] follows, the innermost included.
pub const MAX_FRAMES: usize = 32;

/// Where a rank was: instruction pointer, stack pointer and frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub rip: u64,
    pub rsp: u64,
    pub rbp: u64,
}

/// Calls `frame` with each code address of the trace, innermost first: `rip`, then the return addresses. A call of what
/// is not code has built no frame: if `is_code` says so of `rip`, its caller is looked for on top of the stack.
///
/// `read` returns the eight bytes at a slot-0 address, or nothing where the rank has no memory. A return address is
/// reported as it stands on the stack: the instruction after the call.
pub fn back_trace(
    at: Position,
    is_code: impl Fn(u64) -> bool,
    mut read: impl FnMut(u64) -> Option<u64>,
    mut frame: impl FnMut(u64),
) {
    frame(at.rip);
    if !is_code(at.rip)
        && let Some(caller) = read(at.rsp).filter(|caller| is_code(*caller))
    {
        frame(caller);
    }
    let mut pointer = at.rbp;
    for _ in 1..MAX_FRAMES {
        if pointer == 0 || !pointer.is_multiple_of(8) {
            return;
        }
        let (Some(caller), Some(address)) = (read(pointer), pointer.checked_add(8).and_then(&mut read))
        else {
            return;
        };
        if address == 0 {
            return;
        }
        frame(address);
        if caller <= pointer {
            return;
        }
        pointer = caller;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    const CODE: u64 = 0x40_0100;

    fn is_code(address: u64) -> bool {
        (0x40_0000..0x50_0000).contains(&address)
    }

    fn walk(rbp: u64, memory: &[(u64, u64)]) -> Vec<u64> {
        let mut frames = Vec::new();
        let read = |a| memory.iter().find(|(at, _)| *at == a).map(|(_, v)| *v);
        back_trace(Position { rip: CODE, rsp: 0x1000, rbp }, is_code, read, |f| frames.push(f));
        frames
    }

    #[test]
    fn follows_the_chain_to_its_end() {
        let memory = [(0x1000, 0x1040), (0x1008, 0x400200), (0x1040, 0), (0x1048, 0x400300)];
        assert_eq!(walk(0x1000, &memory), [0x400100, 0x400200, 0x400300]);
    }

    #[test]
    fn a_broken_chain_ends_it() {
        assert_eq!(walk(0, &[]), [0x400100]);
        assert_eq!(walk(0x1001, &[(0x1001, 0)]), [0x400100]);
        assert_eq!(walk(u64::MAX - 7, &[(u64::MAX - 7, 1)]), [0x400100]);
        // A loop: each frame must lie above the one it was called from.
        assert_eq!(walk(0x1000, &[(0x1000, 0x1000), (0x1008, 0x400200)]), [0x400100, 0x400200]);
    }

    #[test]
    fn an_endless_chain_is_cut() {
        let mut count = 0;
        let start = Position { rip: CODE, rsp: 0, rbp: 8 };
        back_trace(start, is_code, |a| Some(if a % 16 == 8 { a + 16 } else { 7 }), |_| count += 1);
        assert_eq!(count, MAX_FRAMES);
    }

    #[test]
    fn a_call_of_what_is_not_code_names_its_caller() {
        let trace = |top: u64| {
            let mut frames = Vec::new();
            let read = |a| (a == 0x1000).then_some(top);
            back_trace(Position { rip: 0, rsp: 0x1000, rbp: 0 }, is_code, read, |f| frames.push(f));
            frames
        };
        assert_eq!(trace(0x400200), [0, 0x400200]);
        assert_eq!(trace(0x1040), [0], "data on top of the stack is no caller");
    }
}
