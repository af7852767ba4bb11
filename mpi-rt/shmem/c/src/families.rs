//! The standard's tables of types, and the names of the functions that exist for all types of a table.
//!
//! A table calls a macro for each of its rows with the type's name in function names and the Rust type that has its size and kind.
//! Where only the size matters, types of one size share a function.

/// Table 3, standard RMA types; 8-byte integers stand for all of their size.
macro_rules! rma_types {
    ($row:ident) => {
        $row! { "float", f32 }
        $row! { "double", f64 }
        $row! { "char", u8 }
        $row! { "schar", u8 }
        $row! { "short", u16 }
        $row! { "int", u32 }
        $row! { "long", u64 }
        $row! { "longlong", u64 }
        $row! { "uchar", u8 }
        $row! { "ushort", u16 }
        $row! { "uint", u32 }
        $row! { "ulong", u64 }
        $row! { "ulonglong", u64 }
        $row! { "int8", u8 }
        $row! { "int16", u16 }
        $row! { "int32", u32 }
        $row! { "int64", u64 }
        $row! { "uint8", u8 }
        $row! { "uint16", u16 }
        $row! { "uint32", u32 }
        $row! { "uint64", u64 }
        $row! { "size", u64 }
        $row! { "ptrdiff", u64 }
    };
}
pub(crate) use rma_types;

/// Sizes in bits of the functions that have a size in their names.
macro_rules! sizes {
    ($row:ident) => {
        $row! { "8", u8 }
        $row! { "16", u16 }
        $row! { "32", u32 }
        $row! { "64", u64 }
        $row! { "128", [u64; 2] }
    };
}
pub(crate) use sizes;

/// Table 5, standard AMO types: the signed integers of the language, the bitwise types and two more.
macro_rules! standard_amo_types {
    ($row:ident) => {
        crate::families::old_integer_types!($row);
        crate::families::bitwise_amo_types!($row);
        $row! { "size", u64 }
        $row! { "ptrdiff", i64 }
    };
}
pub(crate) use standard_amo_types;

/// Table 6, extended AMO types: the standard ones and these.
macro_rules! floating_amo_types {
    ($row:ident) => {
        $row! { "float", f32 }
        $row! { "double", f64 }
    };
}
pub(crate) use floating_amo_types;

/// Table 7, bitwise AMO types.
macro_rules! bitwise_amo_types {
    ($row:ident) => {
        $row! { "uint", u32 }
        $row! { "ulong", u64 }
        $row! { "ulonglong", u64 }
        $row! { "int32", i32 }
        $row! { "int64", i64 }
        $row! { "uint32", u32 }
        $row! { "uint64", u64 }
    };
}
pub(crate) use bitwise_amo_types;

/// Point-to-point synchronisation types: the standard AMO types and these.
macro_rules! short_wait_types {
    ($row:ident) => {
        $row! { "short", i16 }
        $row! { "ushort", u16 }
    };
}
pub(crate) use short_wait_types;

/// Table 10, types of team-based reductions with all operations.
macro_rules! bitwise_reduction_types {
    ($row:ident) => {
        $row! { "uchar", u8 }
        $row! { "ushort", u16 }
        $row! { "int8", i8 }
        $row! { "int16", i16 }
        $row! { "uint8", u8 }
        $row! { "uint16", u16 }
        crate::families::bitwise_amo_types!($row);
        $row! { "size", u64 }
    };
}
pub(crate) use bitwise_reduction_types;

/// Types of team-based reductions with maximum, minimum, sum and product.
macro_rules! ordered_reduction_types {
    ($row:ident) => {
        $row! { "char", i8 }
        $row! { "schar", i8 }
        $row! { "short", i16 }
        crate::families::old_integer_types!($row);
        $row! { "ptrdiff", i64 }
        crate::families::floating_amo_types!($row);
        $row! { "longdouble", lwk_shmem::engine::LongDouble }
    };
}
pub(crate) use ordered_reduction_types;

/// Types of all reductions with sum and product only.
macro_rules! complex_types {
    ($row:ident) => {
        $row! { "complexd", lwk_shmem::engine::Complex<f64> }
        $row! { "complexf", lwk_shmem::engine::Complex<f32> }
    };
}
pub(crate) use complex_types;

/// Integers of the old forms: reductions over active sets, atomics, waiting.
macro_rules! old_integer_types {
    ($row:ident) => {
        $row! { "int", i32 }
        $row! { "long", i64 }
        $row! { "longlong", i64 }
    };
}
pub(crate) use old_integer_types;

/// Names a function with and without a context: `$module::plain::…` and `$module::on_context::…`.
macro_rules! export_both {
    ($name:expr, $module:ident $($function:tt)+) => {
        crate::arch::export!(concat!("shmem_", $name), crate::$module::plain::$($function)+);
        crate::arch::export!(concat!("shmem_ctx_", $name), crate::$module::on_context::$($function)+);
    };
}
pub(crate) use export_both;

/// Writes functions of the engine that take a PE last, as C functions, in two modules: `plain`, and `on_context`, which take a
/// context first and count PEs in its team.
macro_rules! with_and_without_context {
    ($($name:ident<$bound:path>($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        pub mod plain {
            $(
                pub unsafe extern "C" fn $name<T: $bound>($($argument: $type,)* pe: core::ffi::c_int) $(-> $result)? {
                    // SAFETY: symmetric objects and buffers hold the elements that the arguments name, and
                    // are aligned for atomics (the standard, sections 9.6 to 9.8).
                    unsafe { lwk_shmem::engine::$name($($argument,)* pe) }
                }
            )*
        }
        pub mod on_context {
            $(
                pub unsafe extern "C" fn $name<T: $bound>(
                    ctx: crate::handle::Ctx, $($argument: $type,)* pe: core::ffi::c_int,
                ) $(-> $result)? {
                    // SAFETY: symmetric objects and buffers hold the elements that the arguments name, and
                    // are aligned for atomics (the standard, sections 9.6 to 9.8).
                    unsafe { lwk_shmem::engine::$name($($argument,)* ctx.pe(pe)) }
                }
            )*
        }
    };
}
pub(crate) use with_and_without_context;
