//! Set-up, end and queries (the standard, sections 9.1 and 9.2), and their old names.
//!
//! A program that returns from `main` without `shmem_finalize` is finalized by the C library's exit, as the standard's execution
//! model asks; that does not wait for the other PEs, since the exit may be that of a failure. `shmem_global_exit` writes out what
//! stdio holds and ends the job.

use crate::arch::export;
use alloc::ffi::CString;
use core::ffi::{CStr, c_char, c_int, c_void};
use lwk_shmem::engine::{self, Settings};
use lwk_user::{eprintln, job, start};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn atexit(function: extern "C" fn()) -> c_int;
    fn fflush(stream: *mut c_void) -> c_int;
}

fn fail(what: core::fmt::Arguments) -> ! {
    eprintln!("shmem: PE {}: {what}", job().rank());
    start::abort(engine::MISUSE_STATUS)
}

fn variable<'a>(name: &str) -> Option<&'a str> {
    let name = CString::new(name).ok()?;
    // SAFETY: a string that ends with NUL.
    let value = unsafe { getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: not null, so a string of the environment; only set-up looks at it, during which the program changes nothing. What is
    // not text cannot be a number of bytes, and is not empty, so a setting's error message shows it as this.
    Some(unsafe { CStr::from_ptr(value) }.to_str().unwrap_or("(not text)"))
}

extern "C" fn leave_at_exit() {
    engine::leave();
}

fn settings() -> Settings {
    Settings::from_environment(variable).unwrap_or_else(|error| fail(format_args!("{error}")))
}

fn set_up(begin: impl FnOnce(&Settings) -> c_int) -> c_int {
    let first = !engine::is_running();
    let outcome = begin(&settings());
    // SAFETY: a function that lives as long as the program.
    if first && engine::is_running() && unsafe { atexit(leave_at_exit) } != 0 {
        fail(format_args!("shmem_init: no room to register what the program's end has to do"));
    }
    outcome
}

extern "C" fn init() {
    set_up(|settings| {
        engine::init(settings);
        0
    });
}
export!("shmem_init", init);

unsafe extern "C" fn init_thread(requested: c_int, provided: *mut c_int) -> c_int {
    set_up(|settings| match engine::init_thread(settings, requested) {
        Ok(level) => {
            if !provided.is_null() {
                // SAFETY: not null, so `provided` is an `int` to write (the standard, SHMEM_INIT_THREAD).
                unsafe { provided.write(level) };
            }
            0
        }
        Err(code) => code,
    })
}
export!("shmem_init_thread", init_thread);

unsafe extern "C" fn query_thread(provided: *mut c_int) {
    if !provided.is_null() {
        // SAFETY: not null, so `provided` is an `int` to write (the standard, SHMEM_QUERY_THREAD).
        unsafe { provided.write(engine::query_thread()) };
    }
}
export!("shmem_query_thread", query_thread);

extern "C" fn start_pes(_npes: c_int) {
    init();
}
export!("start_pes", start_pes);

extern "C" fn finalize() {
    engine::finalize();
}
export!("shmem_finalize", finalize);

extern "C" fn global_exit(status: c_int) -> ! {
    // SAFETY: a null pointer stands for all streams.
    unsafe { fflush(core::ptr::null_mut()) };
    engine::global_exit(status)
}
export!("shmem_global_exit", global_exit);

extern "C" fn my_pe() -> c_int {
    engine::my_pe()
}
export!("shmem_my_pe", my_pe);
export!("_my_pe", my_pe);

extern "C" fn n_pes() -> c_int {
    engine::n_pes()
}
export!("shmem_n_pes", n_pes);
export!("_num_pes", n_pes);

unsafe extern "C" fn info_get_version(major: *mut c_int, minor: *mut c_int) {
    let version = engine::version();
    for (place, value) in [(major, version.0), (minor, version.1)] {
        if !place.is_null() {
            // SAFETY: not null, so `place` is an `int` to write (the standard, SHMEM_INFO_GET_VERSION).
            unsafe { place.write(value) };
        }
    }
}
export!("shmem_info_get_version", info_get_version);

unsafe extern "C" fn info_get_name(name: *mut u8) {
    let text = engine::vendor_name();
    if !name.is_null() {
        // SAFETY: not null, so `name` is writable for `SHMEM_MAX_NAME_LEN` bytes (the standard,
        // SHMEM_INFO_GET_NAME), which the engine's name with its closing NUL does not exceed.
        unsafe {
            name.copy_from_nonoverlapping(text.as_ptr(), text.len());
            name.add(text.len()).write(0);
        }
    }
}
export!("shmem_info_get_name", info_get_name);

/// The arguments after the first are a profiling tool's own.
extern "C" fn pcontrol(level: c_int) {
    engine::pcontrol(level);
}
export!("shmem_pcontrol", pcontrol);
