//! Sessions (MPI-5.0, section 11.3).

use crate::environment::before_start;
use crate::types::{Errhandler, Info, Session, give, text, value};
use crate::{conversions, mpi, variables};
use core::ffi::{c_char, c_int};
use lwk_mpi_rt::abi::SESSION_NULL;
use lwk_mpi_rt::info::{self, hints};
use lwk_mpi_rt::{Error, Handle, session};

mpi! {
    fn Session_init(info: Info, errhandler: Errhandler, session: *mut Session) on NewSession(errhandler) {
        if session.is_null() {
            return Err(Error::ARG);
        }
        before_start();
        hints(Handle(info))?;
        give(session, session::initialize(Handle(errhandler))?.0)
    }

    fn Session_finalize(session: *mut Session) on Session({
        // SAFETY: null, or readable as the standard asks.
        unsafe { session.as_ref() }.copied().unwrap_or(SESSION_NULL)
    }) {
        let handle = value(session)?;
        variables::show();
        session::finalize(Handle(handle))?;
        conversions::forget(handle);
        give(session, SESSION_NULL)
    }

    fn Session_get_info(session: Session, info_used: *mut Info) on Session(session) {
        give(info_used, info::insert(session::info(Handle(session))?)?.0)
    }

    fn Session_get_num_psets(session: Session, info: Info, npset_names: *mut c_int) on Session(session) {
        hints(Handle(info))?;
        give(npset_names, session::set_count(Handle(session))? as c_int)
    }

    /// `pset_len` counts the closing zero, going in and coming out; 0 going in asks for the length only.
    fn Session_get_nth_pset(session: Session, info: Info, n: c_int, pset_len: *mut c_int, pset_name: *mut u8) on Session(session) {
        hints(Handle(info))?;
        let name = session::set_name(Handle(session), n)?;
        let room = usize::try_from(value(pset_len)?).map_err(|_| Error::ARG)?;
        if room > 0 {
            if pset_name.is_null() {
                return Err(Error::ARG);
            }
            let shown = &name[..name.len().min(room - 1)];
            pset_name.copy_from_nonoverlapping(shown.as_ptr(), shown.len());
            pset_name.add(shown.len()).write(0);
        }
        give(pset_len, name.len() as c_int + 1)
    }

    fn Session_get_pset_info(session: Session, pset_name: *const c_char, info: *mut Info) on Session(session) {
        give(info, info::insert(session::set_info(Handle(session), text(pset_name)?)?)?.0)
    }
}
