//! How a function of the standard is written down here: [`mpi!`](crate::mpi).

/// Defines functions of the C interface, each under its `PMPI_` name and, weak, its `MPI_` name.
///
/// ```text
/// mpi! {
///     /// Sends (MPI-5.0, section 3.2.1).
///     fn Send + Send_c<N>(buf: *const u8, count: N, datatype: Datatype, dest: c_int, tag: c_int, comm: Comm)
///     on Comm(comm) {
///         …                       // Result<()>: an error goes to the error handler of the object named after `on`
///     }
/// }
/// ```
///
/// `+ Send_c<N>` defines the large-count form as well: `N` is `int` in the one and `MPI_Count` in the other. Bodies are unsafe code:
/// pointers are what the caller has passed.
///
/// Such a pair may have `quick { … }` before its body: a way that is tried first, and says by a `bool` whether that was all, with success. If not,
/// it must have done nothing. The body is then a function of its own, to which the call goes on with its arguments where they are, so that
/// the quick way pays for nothing that only the body needs.
#[macro_export]
macro_rules! mpi {
    () => {};
    (
        $(#[$doc:meta])*
        fn $name:ident + $large:ident <$n:ident> ($($arg:ident: $type:ty),* $(,)?) on $object:ident $(($of:expr))?
        $(quick $quick:block)? $body:block
        $($rest:tt)*
    ) => {
        #[allow(non_snake_case, reason = "functions are named as in the standard")]
        mod $name {
            #[allow(unused_imports, reason = "not every function needs what its group needs")]
            use super::*;
            $(#[$doc])*
            #[inline(always)]
            #[allow(unused_unsafe, clippy::too_many_arguments, reason = "arguments are the standard's")]
            unsafe fn body<$n: $crate::types::Number>($($arg: $type),*) -> lwk_mpi_rt::Result<()> {
                // SAFETY: pointers are readable or writable as MPI asks of this call (`lib.rs` has the
                // contract).
                unsafe { $body }
            }
            $crate::mpi!(@quick [$($quick)?] $n, $($arg: $type),*);
            #[allow(
                unused_variables,
                clippy::too_many_arguments,
                clippy::extra_unused_type_parameters,
                reason = "arguments are the standard's"
            )]
            fn failed<$n>(function: &'static str, error: lwk_mpi_rt::Error, $($arg: $type),*) -> core::ffi::c_int {
                $crate::report::report(function, $crate::report::Object::$object $(($of))?, error)
            }
            $crate::mpi!(@instance [$($quick)?] small, $name, core::ffi::c_int, $n, $($arg: $type),*);
            $crate::mpi!(@instance [$($quick)?] large, $large, i64, $n, $($arg: $type),*);
        }
        $crate::mpi! { $($rest)* }
    };
    (
        $(#[$doc:meta])*
        fn $name:ident ($($arg:ident: $type:ty),* $(,)?) on $object:ident $(($of:expr))? $body:block
        $($rest:tt)*
    ) => {
        #[allow(non_snake_case, reason = "functions are named as in the standard")]
        mod $name {
            #[allow(unused_imports, reason = "not every function needs what its group needs")]
            use super::*;
            $(#[$doc])*
            #[inline(always)]
            #[allow(unused_unsafe, clippy::too_many_arguments, reason = "arguments are the standard's")]
            unsafe fn body($($arg: $type),*) -> lwk_mpi_rt::Result<()> {
                // SAFETY: pointers are readable or writable as MPI asks of this call (`lib.rs` has the
                // contract).
                unsafe { $body }
            }
            #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
            unsafe extern "C" fn function($($arg: $type),*) -> core::ffi::c_int {
                // SAFETY: the arguments go on unchanged, so their pointers keep the C contract in `body`.
                match unsafe { body($($arg),*) } {
                    Ok(()) => 0,
                    Err(error) => $crate::report::report(
                        concat!("MPI_", stringify!($name)),
                        $crate::report::Object::$object $(($of))?,
                        error,
                    ),
                }
            }
            $crate::export!(stringify!($name), function);
        }
        $crate::mpi! { $($rest)* }
    };
    // A function that returns something else than an error code, and has no errors.
    (
        $(#[$doc:meta])*
        fn $name:ident ($($arg:ident: $type:ty),* $(,)?) -> $result:ty $body:block
        $($rest:tt)*
    ) => {
        #[allow(non_snake_case, reason = "functions are named as in the standard")]
        mod $name {
            #[allow(unused_imports, reason = "not every function needs what its group needs")]
            use super::*;
            $(#[$doc])*
            #[allow(unused_unsafe, reason = "bodies may be safe code")]
            unsafe extern "C" fn function($($arg: $type),*) -> $result {
                // SAFETY: pointers are readable or writable as MPI asks of this call (`lib.rs` has the
                // contract).
                unsafe { $body }
            }
            $crate::export!(stringify!($name), function);
        }
        $crate::mpi! { $($rest)* }
    };
    (@instance [$($quick:block)?] $width:ident, $name:ident, $number:ty, $n:ident, $($arg:ident: $type:ty),*) => {
        mod $width {
            use super::*;
            #[allow(dead_code, reason = "a function's types need not name its number's")]
            type $n = $number;
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
            unsafe fn whole($($arg: $type),*) -> core::ffi::c_int {
                // SAFETY: the arguments go on unchanged, so their pointers keep the C contract in `body`.
                match unsafe { body::<$number>($($arg),*) } {
                    Ok(()) => 0,
                    Err(error) => failed::<$number>(concat!("MPI_", stringify!($name)), error, $($arg),*),
                }
            }
            $crate::mpi!(@entry [$($quick)?] $number, $($arg: $type),*);
            $crate::export!(stringify!($name), function);
        }
    };
    (@quick [] $n:ident, $($arg:ident: $type:ty),*) => {};
    (@quick [$quick:block] $n:ident, $($arg:ident: $type:ty),*) => {
        #[inline(always)]
        #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
        unsafe fn quick<$n: $crate::types::Number>($($arg: $type),*) -> bool {
            // SAFETY: pointers are readable or writable as MPI asks of this call (`lib.rs` has the contract).
            unsafe { $quick }
        }
    };
    (@entry [] $number:ty, $($arg:ident: $type:ty),*) => {
        #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
        unsafe extern "C" fn function($($arg: $type),*) -> core::ffi::c_int {
            // SAFETY: the arguments go on unchanged, so their pointers keep the C contract in `whole`.
            unsafe { whole($($arg),*) }
        }
    };
    (@entry [$quick:block] $number:ty, $($arg:ident: $type:ty),*) => {
        #[inline(never)]
        #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
        unsafe extern "C" fn after_all($($arg: $type),*) -> core::ffi::c_int {
            // SAFETY: the arguments go on unchanged, so their pointers keep the C contract in `whole`.
            unsafe { whole($($arg),*) }
        }
        #[allow(clippy::too_many_arguments, reason = "arguments are the standard's")]
        unsafe extern "C" fn function($($arg: $type),*) -> core::ffi::c_int {
            // SAFETY: the arguments go on unchanged, and `quick` has done nothing if it says no: the C
            // contract holds for both.
            unsafe { if quick::<$number>($($arg),*) { 0 } else { after_all($($arg),*) } }
        }
    };
}
