//! One load and one store, opaque to the compiler.
//!
//! A program may put any eight bytes at any address, a flag among them, and a peer may be looking. An instruction of its own
//! is never torn when it does not cross a cache line, whatever the alignment, and is ordered with what the compiler sees
//! before and after. This is what a Rust atomic would give, without its promise of alignment.

use core::arch::asm;

macro_rules! words {
    ($($type:ty, $register:ident, $suffix:literal: $copy:ident $store:ident $load:ident;)*) => {
        $(
            /// Copies one word with one load and one store.
            ///
            /// # Safety
            /// The word at `source` must be readable, that at `target` writable; at any alignment.
            #[inline(always)]
            pub unsafe fn $copy(source: *const u8, target: *mut u8) {
                // SAFETY: `source` is readable and `target` writable for one word (this function's contract).
                unsafe { $store(target, $load(source)) }
            }

            /// Stores one word with one instruction.
            ///
            /// # Safety
            /// The word at `target` must be writable; at any alignment.
            #[inline(always)]
            pub unsafe fn $store(target: *mut u8, value: $type) {
                // SAFETY: `target` is writable for one word (this function's contract); the instruction
                // touches no flag and no stack.
                unsafe {
                    asm!(
                        concat!("mov [{target}], {value", $suffix, "}"),
                        target = in(reg) target,
                        value = in($register) value,
                        options(nostack, preserves_flags),
                    );
                }
            }

            /// Loads one word with one instruction.
            ///
            /// # Safety
            /// The word at `source` must be readable; at any alignment.
            #[inline(always)]
            pub unsafe fn $load(source: *const u8) -> $type {
                let value: $type;
                // SAFETY: `source` is readable for one word (this function's contract); the instruction
                // touches no flag and no stack.
                unsafe {
                    asm!(
                        concat!("mov {value", $suffix, "}, [{source}]"),
                        source = in(reg) source,
                        value = out($register) value,
                        options(nostack, preserves_flags),
                    );
                }
                value
            }
        )*
    };
}

words! {
    u8, reg_byte, "": copy_1 store_1 load_1;
    u16, reg, ":x": copy_2 store_2 load_2;
    u32, reg, ":e": copy_4 store_4 load_4;
    u64, reg, ":r": copy_8 store_8 load_8;
}
