//! Completion of requests as programs ask for it (MPI-5.0, sections 3.7.3 to 3.7.6): the engine's own, and around it the callbacks of
//! generalized requests, which run while no call has the engine.

use crate::{free_ended, has_generalized, query};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::status::Status;
use lwk_mpi_rt::engine::{Engine, with};
use lwk_mpi_rt::wait::Any;

/// Calls the engine, with the callbacks before and after it.
#[inline(always)]
fn around<L: AsRef<[Handle]>, R>(requests: L, call: impl FnOnce(&mut Engine, L) -> Result<R>) -> Result<R> {
    let mut task = Some((call, requests));
    let done = with(|engine| {
        let task = if has_generalized(engine) { None } else { task.take() };
        Ok(task.map(|(call, requests)| call(engine, requests)))
    })?;
    match (done, task) {
        (Some(done), _) => done,
        (None, Some((call, requests))) => {
            query(requests.as_ref())?;
            let outcome = with(|engine| call(engine, requests));
            free_ended().and(outcome)
        }
        (None, None) => Err(Error::INTERN),
    }
}

/// As [`Engine::wait_all`].
pub fn wait_all(requests: &mut [Handle], statuses: impl FnMut(usize, &Status)) -> Result<()> {
    around(requests, |engine, requests| engine.wait_all(requests, statuses))
}

/// As [`Engine::test_all`].
pub fn test_all(requests: &mut [Handle], statuses: impl FnMut(usize, &Status)) -> Result<bool> {
    around(requests, |engine, requests| engine.test_all(requests, statuses))
}

/// As [`Engine::wait_any`].
pub fn wait_any(requests: &mut [Handle]) -> Result<Option<(usize, Status)>> {
    around(requests, |engine, requests| engine.wait_any(requests))
}

/// As [`Engine::test_any`].
pub fn test_any(requests: &mut [Handle]) -> Result<Any> {
    around(requests, |engine, requests| engine.test_any(requests))
}

/// As [`Engine::wait_some`].
pub fn wait_some(requests: &mut [Handle], each: impl FnMut(usize, &Status)) -> Result<Option<usize>> {
    around(requests, |engine, requests| engine.wait_some(requests, each))
}

/// As [`Engine::test_some`].
pub fn test_some(requests: &mut [Handle], each: impl FnMut(usize, &Status)) -> Result<Option<usize>> {
    around(requests, |engine, requests| engine.test_some(requests, each))
}

/// As [`Engine::request_status`].
pub fn status(request: Handle) -> Result<Option<Status>> {
    around([request], |engine, requests| engine.request_status(requests[0]))
}

/// The statuses of all requests, if all are complete; none is completed (`MPI_REQUEST_GET_STATUS_ALL`). Errors: `REQUEST`.
pub fn status_of_all(requests: &[Handle], mut each: impl FnMut(usize, &Status)) -> Result<bool> {
    around(requests, |engine, requests| {
        for request in requests.iter() {
            if engine.request_status(*request)?.is_none() {
                return Ok(false);
            }
        }
        for (index, request) in requests.iter().enumerate() {
            each(index, &engine.request_status(*request)?.unwrap_or(Status::EMPTY));
        }
        Ok(true)
    })
}

/// The status of one request that is complete, as [`test_any`] would find it; none is completed (`MPI_REQUEST_GET_STATUS_ANY`).
/// Errors: `REQUEST`.
pub fn status_of_any(requests: &[Handle]) -> Result<Any> {
    around(requests, |engine, requests| {
        let mut active = false;
        for (index, request) in requests.iter().enumerate() {
            if engine.is_active(*request)? {
                active = true;
                if let Some(status) = engine.request_status(*request)? {
                    return Ok(Any::Done(index, status));
                }
            }
        }
        Ok(if active { Any::NotYet } else { Any::NoneActive })
    })
}

/// The statuses of all requests that are complete, as [`test_some`] would find them; none is completed
/// (`MPI_REQUEST_GET_STATUS_SOME`). How many, or `None` if none is active. Errors: `REQUEST`.
pub fn status_of_some(requests: &[Handle], mut each: impl FnMut(usize, &Status)) -> Result<Option<usize>> {
    around(requests, |engine, requests| {
        let (mut active, mut done) = (false, 0);
        for (index, request) in requests.iter().enumerate() {
            if engine.is_active(*request)? {
                active = true;
                if let Some(status) = engine.request_status(*request)? {
                    done += 1;
                    each(index, &status);
                }
            }
        }
        Ok(active.then_some(done))
    })
}

/// As [`Engine::cancel`].
pub fn cancel(request: Handle) -> Result<()> {
    if with(|engine| Ok(has_generalized(engine)))? && crate::cancel(request)? {
        return Ok(());
    }
    with(|engine| engine.cancel(request))
}

/// As [`Engine::free_request`].
pub fn free(request: Handle) -> Result<()> {
    around([request], |engine, requests| engine.free_request(requests[0]))
}
