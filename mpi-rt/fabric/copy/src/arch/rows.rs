//! x86-64: rows of small blocks that are equally far apart on either side, as vectors of elements are packed. Four blocks a turn, each place by an addressing mode: a compiler
//! that sees variable steps spends more instructions on addresses than on copies.

use core::arch::asm;

/// Where the blocks of a row are: the first ones, how many, and bytes from one to the next.
#[derive(Clone, Copy)]
pub struct Row {
    pub to: *mut u8,
    pub from: *const u8,
    pub times: usize,
    pub to_step: isize,
    pub from_step: isize,
}

/// Copies a row of blocks of 4, 8 or 16 bytes. Content that somebody writes meanwhile is copied as whatever it is then.
///
/// # Safety
/// Each block is readable at its source, writable at its target, and apart from all others; `block` is one of these.
#[inline]
pub unsafe fn copy_row(block: usize, row: Row) {
    // SAFETY: this function's contract; where one side's blocks are next to each other, two of 8 bytes are one of 16.
    unsafe {
        match (block, row.to_step, row.from_step) {
            (4, ..) => by_4(row),
            (8, 8, _) => packed_by_8(row),
            (8, _, 8) => unpacked_by_8(row),
            (8, ..) => by_8(row),
            _ => by_16(row),
        }
    }
}

/// A loop of four blocks a turn, and one for those that are left. `turn` and `one` are the instructions, in terms of addresses `from` and `to`, steps `s` and `t`, three times
/// those, and registers of that class.
macro_rules! row {
    ($name:ident, $class:ident, [$($turn:expr),+], [$($one:expr),+]) => {
        /// # Safety
        /// As for [`copy_row`], of blocks for which this is.
        unsafe fn $name(row: Row) {
            let Row { mut to, mut from, times, to_step, from_step } = row;
            for _ in 0..times / 4 {
                // SAFETY: four blocks are readable at `from` and writable at `to`, as far apart as the steps say (this function's contract).
                unsafe {
                    asm!(
                        $($turn,)+
                        from = in(reg) from, s = in(reg) from_step, s3 = in(reg) from_step.wrapping_mul(3),
                        to = in(reg) to, t = in(reg) to_step, t3 = in(reg) to_step.wrapping_mul(3),
                        a = out($class) _, b = out($class) _, c = out($class) _, d = out($class) _,
                        options(nostack, preserves_flags),
                    );
                }
                from = from.wrapping_offset(from_step.wrapping_mul(4));
                to = to.wrapping_offset(to_step.wrapping_mul(4));
            }
            for _ in 0..times % 4 {
                // SAFETY: one more block is readable and writable (this function's contract).
                unsafe {
                    asm!(
                        $($one,)+
                        from = in(reg) from, to = in(reg) to, a = out($class) _,
                        options(nostack, preserves_flags),
                    );
                }
                from = from.wrapping_offset(from_step);
                to = to.wrapping_offset(to_step);
            }
        }
    };
    ($name:ident, $class:ident, $move:literal, $modifier:literal) => {
        row!(
            $name,
            $class,
            [
                concat!($move, " {a", $modifier, "}, [{from}]"),
                concat!($move, " {b", $modifier, "}, [{from} + {s}]"),
                concat!($move, " {c", $modifier, "}, [{from} + 2 * {s}]"),
                concat!($move, " {d", $modifier, "}, [{from} + {s3}]"),
                concat!($move, " [{to}], {a", $modifier, "}"),
                concat!($move, " [{to} + {t}], {b", $modifier, "}"),
                concat!($move, " [{to} + 2 * {t}], {c", $modifier, "}"),
                concat!($move, " [{to} + {t3}], {d", $modifier, "}")
            ],
            [
                concat!($move, " {a", $modifier, "}, [{from}]"),
                concat!($move, " [{to}], {a", $modifier, "}")
            ]
        );
    };
}

row!(by_4, reg, "mov", ":e");
row!(by_8, reg, "mov", ":r");
row!(by_16, xmm_reg, "movups", "");

row!(
    packed_by_8,
    xmm_reg,
    [
        "movq {a}, qword ptr [{from}]",
        "movhps {a}, qword ptr [{from} + {s}]",
        "movq {b}, qword ptr [{from} + 2 * {s}]",
        "movhps {b}, qword ptr [{from} + {s3}]",
        "movups [{to}], {a}",
        "movups [{to} + 2 * {t}], {b}",
        "/* {c} {d} {t3} */"
    ],
    ["movq {a}, qword ptr [{from}]", "movq qword ptr [{to}], {a}"]
);

row!(
    unpacked_by_8,
    xmm_reg,
    [
        "movups {a}, [{from}]",
        "movups {b}, [{from} + 2 * {s}]",
        "movq qword ptr [{to}], {a}",
        "movhps qword ptr [{to} + {t}], {a}",
        "movq qword ptr [{to} + 2 * {t}], {b}",
        "movhps qword ptr [{to} + {t3}], {b}",
        "/* {c} {d} {s3} */"
    ],
    ["movq {a}, qword ptr [{from}]", "movq qword ptr [{to}], {a}"]
);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Rows of every size, number and step, forwards and backwards, against a loop over bytes.
    #[test]
    fn rows_are_copied_block_by_block() {
        for block in [4usize, 8, 16] {
            for times in 0..11usize {
                for (to_step, from_step) in [(1, 1), (1, 3), (3, 1), (2, 5), (-1, 2), (2, -3), (-1, -1)] {
                    check(block, times, to_step * block as isize, from_step * block as isize);
                    check(block, times, to_step * (block as isize + 1), from_step * (block as isize + 3));
                }
            }
        }
    }

    fn check(block: usize, times: usize, to_step: isize, from_step: isize) {
        let room = 64 * 32usize;
        let source: vec::Vec<u8> = (0..room).map(|at| (at * 7 + at / 251) as u8).collect();
        let (mut target, mut expected) = (vec![0xaau8; room], vec![0xaau8; room]);
        for round in 0..times as isize {
            let place = |step: isize| (room as isize / 2 + step * round) as usize;
            let (to, from) = (place(to_step), place(from_step));
            expected[to..to + block].copy_from_slice(&source[from..from + block]);
        }
        let (to, from) = (target.as_mut_ptr().wrapping_add(room / 2), source.as_ptr().wrapping_add(room / 2));
        // SAFETY: all blocks lie within the two, which are not one, and steps are no shorter than a block.
        unsafe { copy_row(block, Row { to, from, times, to_step, from_step }) };
        assert!(target == expected, "{times} of {block} bytes, steps {to_step} and {from_step}");
    }
}
