//! x86-64: names of functions, and `shmem_longdouble_p` and `_g`, whose arguments Rust cannot name.
//!
//! A name is a jump to its function, which needs no knowledge of where the compiler has put it, and lets functions of all types
//! of a size share their code. The jump costs one instruction a call.

use crate::handle::Ctx;
use crate::remote::{on_context, plain};
use core::arch::global_asm;
use core::ffi::c_int;
use lwk_shmem::engine::LongDouble;

/// Gives a function a name and, weak, the same name without the `p` in front.
macro_rules! export {
    ($name:expr, $($function:tt)+) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl p", $name),
            concat!(".type p", $name, ",@function"),
            concat!("p", $name, ":"),
            concat!(".weak ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "jmp {function}",
            ".popsection",
            function = sym $($function)+,
        );
    };
}
pub(crate) use export;

/// As `export`, with instructions of its own.
macro_rules! export_code {
    ($name:literal, [$($line:literal),*], $function:path) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl p", $name),
            concat!(".type p", $name, ",@function"),
            concat!("p", $name, ":"),
            concat!(".weak ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            $($line,)*
            ".popsection",
            function = sym $function,
        );
    };
}

// A `long double` argument lies on the stack, above the return address, at a multiple of 16, and takes no register from the others;
// a `long double` result is on the x87 stack (System V ABI, AMD64 supplement, section 3.2.3). So `p` becomes a put from the
// argument, and `g` a get into this frame, with the integer arguments moved to their places.
export_code! {
    "shmem_longdouble_p",
    ["mov edx, esi", "lea rsi, [rsp + 8]", "jmp {function}"],
    put_one
}
export_code! {
    "shmem_ctx_longdouble_p",
    ["mov ecx, edx", "lea rdx, [rsp + 8]", "jmp {function}"],
    ctx_put_one
}
export_code! {
    "shmem_longdouble_g",
    [
        "sub rsp, 24", "mov edx, esi", "mov rsi, rdi", "mov rdi, rsp", "call {function}",
        "fld tbyte ptr [rsp]", "add rsp, 24", "ret"
    ],
    get_one
}
export_code! {
    "shmem_ctx_longdouble_g",
    [
        "sub rsp, 24", "mov ecx, edx", "mov rdx, rsi", "mov rsi, rsp", "call {function}",
        "fld tbyte ptr [rsp]", "add rsp, 24", "ret"
    ],
    ctx_get_one
}

unsafe extern "C" fn put_one(dest: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    // SAFETY: the argument at `source` is readable and the peer's `dest` writable for one element (the rules
    // of `shmem_longdouble_p`).
    unsafe { plain::put(dest, source, 1, pe) }
}

unsafe extern "C" fn ctx_put_one(ctx: Ctx, dest: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    // SAFETY: the argument at `source` is readable and the peer's `dest` writable for one element (the rules
    // of `shmem_longdouble_p`).
    unsafe { on_context::put(ctx, dest, source, 1, pe) }
}

unsafe extern "C" fn get_one(dest: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    // SAFETY: the peer's `source` is readable for one element (the rules of `shmem_longdouble_g`); `dest` is
    // the frame's 16 bytes above.
    unsafe { plain::get(dest, source, 1, pe) }
}

unsafe extern "C" fn ctx_get_one(ctx: Ctx, dest: *mut LongDouble, source: *const LongDouble, pe: c_int) {
    // SAFETY: the peer's `source` is readable for one element (the rules of `shmem_longdouble_g`); `dest` is
    // the frame's 16 bytes above.
    unsafe { on_context::get(ctx, dest, source, 1, pe) }
}
