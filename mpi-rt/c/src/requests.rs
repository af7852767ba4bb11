//! Completing requests (MPI-5.0, sections 3.7 and 3.9).

use crate::mpi;
use crate::types::{Request, Status, UNDEFINED, give, output, requests, requests_to_ask};
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr;
use lwk_mpi_generalized::completion;
use lwk_mpi_rt::abi::REQUEST_NULL;
use lwk_mpi_rt::engine::with;
use lwk_mpi_rt::status::Status as Outcome;
use lwk_mpi_rt::wait::Any;
use lwk_mpi_rt::{Error, Handle, Result};

/// The status of number `index` in an array, or null if statuses are ignored.
fn nth(statuses: *mut Status, index: usize) -> *mut Status {
    if statuses.is_null() { ptr::null_mut() } else { statuses.wrapping_add(index) }
}

/// Reads a request. Errors: `ARG` for a null pointer.
///
/// # Safety
/// `request` must be null or readable.
#[inline]
unsafe fn read(request: *const Request) -> Result<Handle> {
    if request.is_null() {
        return Err(Error::ARG);
    }
    // SAFETY: `request` is not null (checked above), so it is readable (this function's contract).
    Ok(Handle(unsafe { request.read() }))
}

/// Gives out what has become of any of several requests, and returns the status that was stored, which is empty if there was none.
/// Errors: `ARG` for a null pointer.
///
/// # Safety
/// `index`, `flag` and `status` must be null or writable.
unsafe fn give_any(any: Any, index: *mut c_int, flag: *mut c_int, status: *mut Status) -> Result<Outcome> {
    let (place, done, outcome) = match any {
        Any::Done(place, outcome) => (place as c_int, true, outcome),
        Any::NoneActive => (UNDEFINED, true, Outcome::OF_NOTHING),
        Any::NotYet => (UNDEFINED, false, Outcome::EMPTY),
    };
    // SAFETY: `index`, `flag` and `status` are null or writable (this function's contract).
    unsafe {
        give(index, place)?;
        give(flag, c_int::from(done))?;
        if done {
            Status::store(status, &outcome);
        }
    }
    Ok(outcome)
}

mpi! {
    fn Wait(request: *mut Request, status: *mut Status) on Nothing {
        let list = requests(request, 1)?;
        let mut ended = Outcome::EMPTY;
        // The operation's own error is what is returned, not that it is in a status.
        let done = completion::wait_all(list, |_, outcome| ended = *outcome);
        done.or_else(|error| if error == Error::IN_STATUS { Ok(()) } else { Err(error) })?;
        Status::store(status, &ended);
        ended.error.map_or(Ok(()), Err)
    }

    fn Test(request: *mut Request, flag: *mut c_int, status: *mut Status) on Nothing {
        let list = requests(request, 1)?;
        let mut ended = Outcome::EMPTY;
        let done = completion::test_all(list, |_, outcome| ended = *outcome);
        let done = done.or_else(|error| if error == Error::IN_STATUS { Ok(true) } else { Err(error) })?;
        give(flag, done as c_int)?;
        if done {
            Status::store(status, &ended);
        }
        ended.error.map_or(Ok(()), Err)
    }

    fn Waitall(count: c_int, array_of_requests: *mut Request, array_of_statuses: *mut Status) on Nothing {
        let list = requests(array_of_requests, count)?;
        completion::wait_all(list, |index, outcome| store_one(array_of_statuses, index, outcome))
    }

    fn Testall(count: c_int, array_of_requests: *mut Request, flag: *mut c_int, array_of_statuses: *mut Status) on Nothing {
        let list = requests(array_of_requests, count)?;
        let done = completion::test_all(list, |index, outcome| store_one(array_of_statuses, index, outcome));
        give(flag, !matches!(done, Ok(false)) as c_int)?;
        done.map(|_| ())
    }

    fn Waitany(count: c_int, array_of_requests: *mut Request, index: *mut c_int, status: *mut Status) on Nothing {
        let list = requests(array_of_requests, count)?;
        let (place, outcome) = match completion::wait_any(list)? {
            Some((place, outcome)) => (place as c_int, outcome),
            None => (UNDEFINED, Outcome::OF_NOTHING),
        };
        give(index, place)?;
        Status::store(status, &outcome);
        outcome.error.map_or(Ok(()), Err)
    }

    fn Testany(count: c_int, array_of_requests: *mut Request, index: *mut c_int, flag: *mut c_int, status: *mut Status)
    on Nothing {
        let list = requests(array_of_requests, count)?;
        let outcome = give_any(completion::test_any(list)?, index, flag, status)?;
        outcome.error.map_or(Ok(()), Err)
    }

    fn Waitsome(
        incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int, array_of_indices: *mut c_int,
        array_of_statuses: *mut Status,
    ) on Nothing {
        let list = requests(array_of_requests, incount)?;
        let mut some = Completed::new(array_of_indices, incount, array_of_statuses)?;
        let done = completion::wait_some(list, |index, outcome| some.add(index, outcome));
        some.end(done, outcount)
    }

    fn Testsome(
        incount: c_int, array_of_requests: *mut Request, outcount: *mut c_int, array_of_indices: *mut c_int,
        array_of_statuses: *mut Status,
    ) on Nothing {
        let list = requests(array_of_requests, incount)?;
        let mut some = Completed::new(array_of_indices, incount, array_of_statuses)?;
        let done = completion::test_some(list, |index, outcome| some.add(index, outcome));
        some.end(done, outcount)
    }

    fn Start(request: *mut Request) on Nothing {
        let handle = read(request)?;
        with(|engine| engine.start(handle))
    }

    fn Startall(count: c_int, array_of_requests: *mut Request) on Nothing {
        let list = requests(array_of_requests, count)?;
        with(|engine| list.iter().try_for_each(|request| engine.start(*request)))
    }

    fn Cancel(request: *mut Request) on Nothing {
        let handle = read(request)?;
        completion::cancel(handle)
    }

    fn Request_free(request: *mut Request) on Nothing {
        let handle = read(request)?;
        completion::free(handle)?;
        give(request, REQUEST_NULL)
    }
}

mpi! {
    fn Request_get_status(request: Request, flag: *mut c_int, status: *mut Status) on Nothing {
        let outcome = completion::status(Handle(request))?;
        if let Some(outcome) = &outcome {
            Status::store(status, outcome);
        }
        give(flag, outcome.is_some() as c_int)
    }

    fn Request_get_status_all(
        count: c_int, array_of_requests: *const Request, flag: *mut c_int, array_of_statuses: *mut Status,
    ) on Nothing {
        let list = requests_to_ask(array_of_requests, count)?;
        let done = completion::status_of_all(list, |index, outcome| store_one(array_of_statuses, index, outcome))?;
        give(flag, done as c_int)
    }

    fn Request_get_status_any(
        count: c_int, array_of_requests: *const Request, index: *mut c_int, flag: *mut c_int, status: *mut Status,
    ) on Nothing {
        let list = requests_to_ask(array_of_requests, count)?;
        give_any(completion::status_of_any(list)?, index, flag, status).map(drop)
    }

    fn Request_get_status_some(
        incount: c_int, array_of_requests: *const Request, outcount: *mut c_int, array_of_indices: *mut c_int,
        array_of_statuses: *mut Status,
    ) on Nothing {
        let list = requests_to_ask(array_of_requests, incount)?;
        let mut some = Completed::new(array_of_indices, incount, array_of_statuses)?;
        let done = completion::status_of_some(list, |index, outcome| some.add(index, outcome));
        some.end(done, outcount)
    }
}

/// Writes one of several statuses.
///
/// # Safety
/// `statuses` must be null or an array, writable, of more than `index` statuses.
unsafe fn store_one(statuses: *mut Status, index: usize, outcome: &Outcome) {
    // SAFETY: `nth` is null or the writable element `index` of the array (this function's contract).
    unsafe { Status::store_with_error(nth(statuses, index), outcome) }
}

/// The outcome of calls that complete some of several requests: which, and their statuses.
struct Completed<'a> {
    indices: &'a mut [MaybeUninit<c_int>],
    statuses: *mut Status,
    count: usize,
}

impl Completed<'_> {
    /// # Safety
    /// Both must be null or writable for `count` elements, as long as the result lives.
    unsafe fn new<'a>(indices: *mut c_int, count: c_int, statuses: *mut Status) -> Result<Completed<'a>> {
        // SAFETY: `indices` is null or writable for `count` elements, as long as `'a` (this function's
        // contract).
        let indices = unsafe { output(indices, count)? };
        Ok(Completed { indices, statuses, count: 0 })
    }

    fn add(&mut self, index: usize, outcome: &Outcome) {
        if let Some(place) = self.indices.get_mut(self.count) {
            place.write(index as c_int);
            // SAFETY: `count` is below the number of indices (`get_mut` above), and statuses are none or as
            // many (`new`'s contract).
            unsafe { store_one(self.statuses, self.count, outcome) };
            self.count += 1;
        }
    }

    /// # Safety
    /// `outcount` must be null or writable.
    unsafe fn end(self, done: Result<Option<usize>>, outcount: *mut c_int) -> Result<()> {
        let count = if let Ok(None) = done { UNDEFINED } else { self.count as c_int };
        // SAFETY: `outcount` is null or writable (this function's contract).
        unsafe { give(outcount, count)? };
        done.map(|_| ())
    }
}
