//! Reduction operations of the program, and reductions in one rank (MPI-5.0, sections 6.9.5 and 6.9.7).

use crate::conversions::number_of;
use crate::mpi;
use crate::report::{Object, report};
use crate::types::{Datatype, Number, Op, give};
use alloc::rc::Rc;
use core::ffi::c_int;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::operation::UserFunction;
use lwk_mpi_rt::{Error, Result};

/// `MPI_User_function` and, with `MPI_Count`, `MPI_User_function_c`; with the datatype as a number, a Fortran function.
type Function<N, D = Datatype> =
    unsafe extern "C" fn(input: *mut u8, inout: *mut u8, length: *mut N, datatype: *mut D);

/// A datatype as a program's function sees it.
trait Shown {
    fn of(datatype: Datatype) -> Self;
}

impl Shown for Datatype {
    fn of(datatype: Datatype) -> Datatype {
        datatype
    }
}

impl Shown for c_int {
    fn of(datatype: Datatype) -> c_int {
        number_of(datatype)
    }
}

/// A program's function as the engine calls it.
struct Callback<N: Number, D: Shown>(Function<N, D>);

impl<N: Number, D: Shown> UserFunction for Callback<N, D> {
    unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, datatype: u64) {
        let mut shown = D::of(datatype);
        // All at once, unless the call's count, which fits its own kind, does not fit the function's.
        let mut done = 0;
        while done < count {
            let (length, mut number) = fitting::<N>(count - done);
            // What the engine folds is of a datatype that it knows.
            let extent = with(|engine| engine.datatype(datatype).map(|it| it.extent())).unwrap_or(0);
            let offset = (done * extent) as isize;
            // SAFETY: `count` items are readable at `input` and writable at `inout` (`UserFunction::call`),
            // `done + length` of them at most are used; the function fits its use (`create`'s contract).
            unsafe {
                let (input, inout) = (input.wrapping_offset(offset), inout.wrapping_offset(offset));
                (self.0)(input, inout, &raw mut number, &raw mut shown);
            }
            done += length;
        }
    }
}

/// As much of a count as fits the function's length.
fn fitting<N: Number>(count: i64) -> (i64, N) {
    const PART: i32 = 1 << 30;
    match N::narrow(count) {
        Some(number) => (count, number),
        None => (PART as i64, N::from_int(PART)),
    }
}

/// A new operation. Errors: `ARG` for null pointers.
///
/// # Safety
/// `op` must be null or writable, the function one for what it will be used with.
unsafe fn create<N: Number + 'static, D: Shown + 'static>(
    function: Option<Function<N, D>>,
    commute: c_int,
    op: *mut Op,
) -> Result<()> {
    let function = Rc::new(Callback(function.ok_or(Error::ARG)?));
    if op.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `op` is not null (checked above), so it is writable (this function's contract).
    unsafe { give(op, with(|engine| Ok(engine.op_create(function, commute != 0)))?.0) }
}

/// The Fortran bindings' way to make an operation of a Fortran function; an error code, which Fortran's error handlers have seen.
///
/// # Safety
/// As for `create`.
// SAFETY: the name is this library's own.
#[unsafe(no_mangle)]
unsafe extern "C" fn margay_op_create(
    function: Option<Function<c_int, c_int>>,
    commute: c_int,
    op: *mut Op,
) -> c_int {
    // SAFETY: `op` is null or writable, and the function fits its use (this function's contract).
    reported(unsafe { create(function, commute, op) })
}

/// The same with large counts.
///
/// # Safety
/// As for `create`.
// SAFETY: the name is this library's own.
#[unsafe(no_mangle)]
unsafe extern "C" fn margay_op_create_c(
    function: Option<Function<i64, c_int>>,
    commute: c_int,
    op: *mut Op,
) -> c_int {
    // SAFETY: `op` is null or writable, and the function fits its use (this function's contract).
    reported(unsafe { create(function, commute, op) })
}

fn reported(outcome: Result<()>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => report("MPI_OP_CREATE", Object::Nothing, error),
    }
}

mpi! {
    fn Op_create(user_fn: Option<Function<c_int>>, commute: c_int, op: *mut Op) on Nothing {
        create(user_fn, commute, op)
    }

    fn Op_create_c(user_fn: Option<Function<i64>>, commute: c_int, op: *mut Op) on Nothing {
        create(user_fn, commute, op)
    }

    fn Op_free(op: *mut Op) on Nothing {
        if op.is_null() {
            return Err(Error::ARG);
        }
        with(|engine| engine.op_free(op.read()))?;
        give(op, lwk_mpi_rt::abi::op::NULL)
    }

    fn Op_commutative(op: Op, commute: *mut c_int) on Nothing {
        let commutes = with(|engine| engine.op_commutes(op))?;
        give(commute, commutes as c_int)
    }

    fn Reduce_local + Reduce_local_c<N>(inbuf: *const u8, inoutbuf: *mut u8, count: N, datatype: Datatype, op: Op)
    on Nothing {
        with(|engine| engine.reduce_local(inbuf, inoutbuf, count.wide(), datatype, op))
    }
}
