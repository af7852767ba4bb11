//! Events and their sources (MPI-5.0, section 15.3.8): there are none, so no index and no handle is one.

use super::{error, find, tool};
use crate::mpi;
use crate::types::{Info, give};
use core::ffi::{c_char, c_int};

mpi! {
    fn T_event_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, 0).map_err(|_| error::INVALID))
    }

    fn T_source_get_num(num: *mut c_int) -> c_int {
        tool(|| give(num, 0).map_err(|_| error::INVALID))
    }

    fn T_event_get_index(name: *const c_char, index: *mut c_int) -> c_int {
        tool(|| find(core::iter::empty(), name, index))
    }

    fn T_event_get_info(
        _index: c_int, _name: *mut u8, _name_len: *mut c_int, _verbosity: *mut c_int, _datatypes: *mut u64,
        _displacements: *mut i64, _num_elements: *mut c_int, _enumtype: *mut u64, _info: *mut Info, _desc: *mut u8,
        _desc_len: *mut c_int, _bind: *mut c_int,
    ) -> c_int {
        tool(|| Err(error::INVALID_INDEX))
    }

    fn T_event_handle_alloc(_index: c_int, _object: *mut u8, _info: Info, _registration: *mut u64) -> c_int {
        tool(|| Err(error::INVALID_INDEX))
    }

    fn T_source_get_info(
        _index: c_int, _name: *mut u8, _name_len: *mut c_int, _desc: *mut u8, _desc_len: *mut c_int, _ordering: *mut c_int,
        _ticks_per_second: *mut i64, _max_ticks: *mut i64, _info: *mut Info,
    ) -> c_int {
        tool(|| Err(error::INVALID_INDEX))
    }

    fn T_source_get_timestamp(_index: c_int, _timestamp: *mut i64) -> c_int {
        tool(|| Err(error::INVALID_INDEX))
    }

    fn T_event_handle_set_info(_registration: u64, _info: Info) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_handle_get_info(_registration: u64, _info: *mut Info) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_register_callback(_registration: u64, _safety: c_int, _info: Info, _user_data: *mut u8, _callback: *const u8)
    -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_callback_set_info(_registration: u64, _safety: c_int, _info: Info) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_callback_get_info(_registration: u64, _safety: c_int, _info: *mut Info) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_handle_free(_registration: u64, _user_data: *mut u8, _callback: *const u8) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_set_dropped_handler(_registration: u64, _callback: *const u8) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_read(_instance: u64, _element: c_int, _buffer: *mut u8) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_copy(_instance: u64, _buffer: *mut u8) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_get_timestamp(_instance: u64, _timestamp: *mut i64) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }

    fn T_event_get_source(_instance: u64, _source: *mut c_int) -> c_int {
        tool(|| Err(error::INVALID_HANDLE))
    }
}
