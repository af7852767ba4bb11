//! Version and name of the library (`shmem_info_get_version`, `shmem_info_get_name`), and profiling control.

/// Major and minor version of the standard.
pub const SPECIFICATION: (i32, i32) = (1, 5);
/// Longest name with its closing NUL, in bytes (`SHMEM_MAX_NAME_LEN`).
pub const MAX_NAME_LEN: usize = 64;

/// Major and minor version of the standard (`shmem_info_get_version`).
pub fn version() -> (i32, i32) {
    SPECIFICATION
}

/// Name and version of the library (`SHMEM_VENDOR_STRING`); shorter than [`MAX_NAME_LEN`].
pub fn vendor_name() -> &'static str {
    const NAME: &str = concat!("Margay SHMEM ", env!("CARGO_PKG_VERSION"));
    const { assert!(NAME.len() < MAX_NAME_LEN) };
    NAME
}

/// Profiling control (`shmem_pcontrol`): the standard leaves the meaning to profiling tools that replace the routine; the
/// library's own does nothing.
pub fn pcontrol(_level: i32) {}
