//! The symmetric heap (the standard, section 9.3), its old names, and what can be reached directly (section 9.1).

use crate::arch::export;
use core::ffi::{c_int, c_long};
use lwk_shmem::engine;

extern "C" fn malloc(bytes: usize) -> *mut u8 {
    engine::malloc(bytes)
}
export!("shmem_malloc", malloc);
export!("shmalloc", malloc);

extern "C" fn calloc(count: usize, bytes: usize) -> *mut u8 {
    engine::calloc(count, bytes)
}
export!("shmem_calloc", calloc);

extern "C" fn align(alignment: usize, bytes: usize) -> *mut u8 {
    engine::align(alignment, bytes)
}
export!("shmem_align", align);
export!("shmemalign", align);

unsafe extern "C" fn realloc(object: *mut u8, bytes: usize) -> *mut u8 {
    // SAFETY: no PE uses the object during this collective call (the standard, section 9.3).
    unsafe { engine::realloc(object, bytes) }
}
export!("shmem_realloc", realloc);
export!("shrealloc", realloc);

extern "C" fn free(object: *mut u8) {
    engine::free(object);
}
export!("shmem_free", free);
export!("shfree", free);

extern "C" fn malloc_with_hints(bytes: usize, hints: c_long) -> *mut u8 {
    engine::malloc_with_hints(bytes, hints)
}
export!("shmem_malloc_with_hints", malloc_with_hints);

extern "C" fn ptr(dest: *const u8, pe: c_int) -> *mut u8 {
    engine::ptr(dest, pe)
}
export!("shmem_ptr", ptr);

extern "C" fn pe_accessible(pe: c_int) -> c_int {
    engine::pe_accessible(pe).into()
}
export!("shmem_pe_accessible", pe_accessible);

extern "C" fn addr_accessible(address: *const u8, pe: c_int) -> c_int {
    engine::addr_accessible(address, pe).into()
}
export!("shmem_addr_accessible", addr_accessible);
