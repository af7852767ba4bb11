//! Performance variables (MPI-5.0, section 15.3.7). A level tells what there is now: it runs by itself and is read only. A counter or timer belongs
//! to its handle: it counts from nought while it is started, and can be stopped, reset and written.

use super::variable::{LEVEL, PERFORMANCE, Performance};
use super::{at, error, tell, tell_text, tool};
use crate::mpi;
use crate::types::{Datatype, give};
use core::ffi::{CStr, c_char, c_int};
use lwk_mpi_rt::Handle;
use lwk_mpi_rt::abi::datatype::UNSIGNED_LONG;
use lwk_mpi_rt::handle::{Kind, Table};
use lwk_mpi_rt::local::RankLocal;

/// `MPI_T_VERBOSITY_USER_BASIC`, `MPI_T_BIND_NO_OBJECT`, `MPI_T_PVAR_ALL_HANDLES`.
const VERBOSITY: c_int = 0x09;
const NO_OBJECT: c_int = 1;
const ALL_HANDLES: u64 = 1;

/// A handle of a variable.
struct Bound {
    session: Handle,
    variable: &'static Performance,
    /// What it has counted until it was last started or stopped.
    counted: u64,
    /// What the source said when it was last started; `None` while it is stopped.
    since: Option<u64>,
}

/// Sessions, and the handles of all of them.
struct Tool {
    sessions: Table<()>,
    handles: Table<Bound>,
}

static TOOL: RankLocal<Tool> =
    RankLocal::new(Tool { sessions: Table::of(Kind::Session), handles: Table::of(Kind::Other) });

impl Bound {
    /// Errors: `NOT_ACCESSIBLE` if the home or the state of the runtime does not have the variable now.
    fn source(&self) -> Result<u64, c_int> {
        (self.variable.read)().ok_or(error::NOT_ACCESSIBLE)
    }

    fn value(&self) -> Result<u64, c_int> {
        match self.since {
            _ if self.variable.class == LEVEL => self.source(),
            Some(since) => Ok(self.counted.wrapping_add(self.source()?.wrapping_sub(since))),
            None => Ok(self.counted),
        }
    }

    fn start(&mut self) -> Result<(), c_int> {
        if self.since.is_none() {
            self.since = Some(self.source()?);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), c_int> {
        self.counted = self.value()?;
        self.since = None;
        Ok(())
    }

    fn set(&mut self, value: u64) -> Result<(), c_int> {
        if self.since.is_some() {
            self.since = Some(self.source()?);
        }
        self.counted = value;
        Ok(())
    }
}

impl Tool {
    /// Errors: `INVALID_SESSION`.
    fn session(&self, session: u64) -> Result<Handle, c_int> {
        let session = Handle(session);
        self.sessions.get(session).map(|()| session).ok_or(error::INVALID_SESSION)
    }

    /// Errors: `INVALID_SESSION`; `INVALID_HANDLE`, also for a handle of another session.
    fn bound(&mut self, session: u64, handle: u64) -> Result<&mut Bound, c_int> {
        let session = self.session(session)?;
        self.handles.get_mut(Handle(handle)).filter(|it| it.session == session).ok_or(error::INVALID_HANDLE)
    }

    /// The same, for what only counters and timers do. Errors: also `refusal` for a level.
    fn counter(&mut self, session: u64, handle: u64, refusal: c_int) -> Result<&mut Bound, c_int> {
        let bound = self.bound(session, handle)?;
        if bound.variable.class == LEVEL { Err(refusal) } else { Ok(bound) }
    }

    /// Does something with a counter or timer, or with all of a session, of which levels are left as they are.
    fn each(
        &mut self,
        session: u64,
        handle: u64,
        refusal: c_int,
        what: impl Fn(&mut Bound) -> Result<(), c_int>,
    ) -> Result<(), c_int> {
        if handle != ALL_HANDLES {
            return what(self.counter(session, handle, refusal)?);
        }
        let session = self.session(session)?;
        let of_session = |it: &Bound| it.session == session && it.variable.class != LEVEL;
        let all: alloc::vec::Vec<Handle> =
            self.handles.iter().filter(|(_, it)| of_session(it)).map(|(handle, _)| handle).collect();
        all.into_iter().filter_map(|handle| self.handles.get_mut(handle).map(&what)).collect()
    }
}

/// Lets a call use the sessions and handles.
fn with_tool(call: impl FnOnce(&mut Tool) -> Result<(), c_int>) -> c_int {
    tool(|| TOOL.try_with(call).unwrap_or(Err(error::INVALID)))
}

mpi! {
    fn T_pvar_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, PERFORMANCE.len() as c_int).map_err(|_| error::INVALID))
    }

    fn T_pvar_get_info(
        index: c_int, name: *mut u8, name_len: *mut c_int, verbosity: *mut c_int, class: *mut c_int, datatype: *mut Datatype,
        enumtype: *mut u64, desc: *mut u8, desc_len: *mut c_int, bind: *mut c_int, readonly: *mut c_int,
        continuous: *mut c_int, atomic: *mut c_int,
    ) -> c_int {
        tool(|| {
            let it = at(&PERFORMANCE, index)?;
            tell_text(name, name_len, it.name);
            tell_text(desc, desc_len, it.description);
            tell(verbosity, VERBOSITY);
            tell(class, it.class);
            tell(datatype, UNSIGNED_LONG);
            tell(enumtype, 0);
            tell(bind, NO_OBJECT);
            tell(readonly, (it.class == LEVEL) as c_int);
            tell(continuous, (it.class == LEVEL) as c_int);
            // A rank is one thread, and nothing comes between reading and resetting.
            tell(atomic, (it.class != LEVEL) as c_int);
            Ok(())
        })
    }

    fn T_pvar_get_index(name: *const c_char, class: c_int, index: *mut c_int) -> c_int {
        tool(|| {
            if name.is_null() || index.is_null() {
                return Err(error::INVALID);
            }
            let wanted = CStr::from_ptr(name).to_bytes();
            let found = PERFORMANCE.iter().position(|it| it.name.as_bytes() == wanted && it.class == class);
            index.write(found.ok_or(error::INVALID_NAME)? as c_int);
            Ok(())
        })
    }

    fn T_pvar_session_create(handle: *mut u64) -> c_int {
        with_tool(|tool| {
            if handle.is_null() {
                return Err(error::INVALID);
            }
            give(handle, tool.sessions.insert(()).0).map_err(|_| error::INVALID)
        })
    }

    /// Its handles are freed with it.
    fn T_pvar_session_free(handle: *mut u64) -> c_int {
        with_tool(|tool| {
            let session = tool.session(*handle.as_ref().ok_or(error::INVALID)?)?;
            let all: alloc::vec::Vec<Handle> =
                tool.handles.iter().filter(|(_, it)| it.session == session).map(|(handle, _)| handle).collect();
            for bound in all {
                tool.handles.remove(bound);
            }
            tool.sessions.remove(session);
            give(handle, 0).map_err(|_| error::INVALID)
        })
    }

    /// Errors: `NOT_ACCESSIBLE` if the home or the state of the runtime does not have the variable now.
    fn T_pvar_handle_alloc(of: u64, index: c_int, _object: *mut u8, handle: *mut u64, count: *mut c_int) -> c_int {
        with_tool(|tool| {
            let session = tool.session(of)?;
            if handle.is_null() {
                return Err(error::INVALID);
            }
            let bound = Bound { session, variable: at(&PERFORMANCE, index)?, counted: 0, since: None };
            bound.source()?;
            tell(count, 1);
            give(handle, tool.handles.insert(bound).0).map_err(|_| error::INVALID)
        })
    }

    fn T_pvar_handle_free(of: u64, handle: *mut u64) -> c_int {
        with_tool(|tool| {
            let bound = *handle.as_ref().ok_or(error::INVALID)?;
            tool.bound(of, bound)?;
            tool.handles.remove(Handle(bound));
            give(handle, 0).map_err(|_| error::INVALID)
        })
    }

    fn T_pvar_read(of: u64, handle: u64, buffer: *mut u64) -> c_int {
        with_tool(|tool| give(buffer, tool.bound(of, handle)?.value()?).map_err(|_| error::INVALID))
    }

    fn T_pvar_start(of: u64, handle: u64) -> c_int {
        with_tool(|tool| tool.each(of, handle, error::PVAR_NO_STARTSTOP, Bound::start))
    }

    fn T_pvar_stop(of: u64, handle: u64) -> c_int {
        with_tool(|tool| tool.each(of, handle, error::PVAR_NO_STARTSTOP, Bound::stop))
    }

    fn T_pvar_reset(of: u64, handle: u64) -> c_int {
        with_tool(|tool| tool.each(of, handle, error::PVAR_NO_WRITE, |bound| bound.set(0)))
    }

    fn T_pvar_write(of: u64, handle: u64, buffer: *const u64) -> c_int {
        with_tool(|tool| {
            let bound = tool.counter(of, handle, error::PVAR_NO_WRITE)?;
            bound.set(*buffer.as_ref().ok_or(error::INVALID)?)
        })
    }

    fn T_pvar_readreset(of: u64, handle: u64, buffer: *mut u64) -> c_int {
        with_tool(|tool| {
            let bound = tool.counter(of, handle, error::PVAR_NO_WRITE)?;
            give(buffer, bound.value()?).map_err(|_| error::INVALID)?;
            bound.set(0)
        })
    }
}
