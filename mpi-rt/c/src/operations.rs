//! Reduction operations of the program, and reductions in one rank (MPI-5.0, sections 6.9.5 and 6.9.7).

use crate::mpi;
use crate::types::{Datatype, Number, Op, give};
use alloc::rc::Rc;
use core::ffi::c_int;
use lwk_mpi_rt::Error;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::operation::UserFunction;

/// `MPI_User_function` and, with `MPI_Count`, `MPI_User_function_c`.
type Function<N> =
    unsafe extern "C" fn(input: *mut u8, inout: *mut u8, length: *mut N, datatype: *mut Datatype);

/// A C function as the engine calls it.
struct Callback<N: Number>(Function<N>);

impl<N: Number> UserFunction for Callback<N> {
    unsafe fn call(&self, input: *mut u8, inout: *mut u8, count: i64, mut datatype: u64) {
        // The engine folds a few kilobytes at a time; only MPI_Reduce_local passes on a length of the caller's, which fits its own kind
        // but may not fit the function's.
        let mut done = 0;
        while done < count {
            let (length, mut number) = fitting::<N>(count - done);
            // What the engine folds is of a datatype that it knows.
            let extent = with(|engine| engine.datatype(datatype).map(|it| it.extent())).unwrap_or(0);
            let offset = (done * extent) as isize;
            // SAFETY: the caller vouches for the items; the program's function has this type.
            unsafe {
                let (input, inout) = (input.wrapping_offset(offset), inout.wrapping_offset(offset));
                (self.0)(input, inout, &raw mut number, &raw mut datatype);
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

mpi! {
    fn Op_create(user_fn: Option<Function<c_int>>, commute: c_int, op: *mut Op) on Nothing {
        let function = Rc::new(Callback(user_fn.ok_or(Error::ARG)?));
        if op.is_null() {
            return Err(Error::ARG);
        }
        give(op, with(|engine| Ok(engine.op_create(function, commute != 0)))?.0)
    }

    fn Op_create_c(user_fn: Option<Function<i64>>, commute: c_int, op: *mut Op) on Nothing {
        let function = Rc::new(Callback(user_fn.ok_or(Error::ARG)?));
        if op.is_null() {
            return Err(Error::ARG);
        }
        give(op, with(|engine| Ok(engine.op_create(function, commute != 0)))?.0)
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
