//! Order, locks, and the cache routines of old machines (the standard, sections 9.11 to 9.13).

use crate::arch::export;
use crate::handle::Ctx;
use core::ffi::{c_int, c_void};
use lwk_shmem::engine;

extern "C" fn fence() {
    engine::fence();
}
export!("shmem_fence", fence);

extern "C" fn quiet() {
    engine::quiet();
}
export!("shmem_quiet", quiet);

extern "C" fn ctx_fence(ctx: Ctx) {
    engine::ctx_fence(ctx.number());
}
export!("shmem_ctx_fence", ctx_fence);

extern "C" fn ctx_quiet(ctx: Ctx) {
    engine::ctx_quiet(ctx.number());
}
export!("shmem_ctx_quiet", ctx_quiet);

unsafe extern "C" fn set_lock(lock: *mut i64) {
    // SAFETY: `lock` is a symmetric, aligned `long`, zero at first, for the lock routines only (the standard,
    // section 9.12).
    unsafe { engine::set_lock(lock) }
}
export!("shmem_set_lock", set_lock);

unsafe extern "C" fn clear_lock(lock: *mut i64) {
    // SAFETY: `lock` is a symmetric, aligned `long`, zero at first, for the lock routines only (the standard,
    // section 9.12).
    unsafe { engine::clear_lock(lock) }
}
export!("shmem_clear_lock", clear_lock);

unsafe extern "C" fn test_lock(lock: *mut i64) -> c_int {
    // SAFETY: `lock` is a symmetric, aligned `long`, zero at first, for the lock routines only (the standard,
    // section 9.12).
    unsafe { engine::test_lock(lock) }
}
export!("shmem_test_lock", test_lock);

/// Caches are coherent here, so there is nothing to switch on, off or to flush; the standard allows that.
extern "C" fn caches() {}

/// As [`caches`], for one line.
extern "C" fn cache_line(_dest: *mut c_void) {}

export!("shmem_set_cache_inv", caches);
export!("shmem_clear_cache_inv", caches);
export!("shmem_udcflush", caches);
export!("shmem_set_cache_line_inv", cache_line);
export!("shmem_clear_cache_line_inv", cache_line);
export!("shmem_udcflush_line", cache_line);
