//! I/O ports.

use x86_64::instructions::port::Port;

/// Writes a byte to a port.
///
/// # Safety
/// The caller owns the device behind the port, and the write has no effect on memory that Rust knows of.
pub unsafe fn write_u8(port: u16, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { Port::new(port).write(value) }
}

/// Writes four bytes to a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn write_u32(port: u16, value: u32) {
    // SAFETY: the caller's promise.
    unsafe { Port::new(port).write(value) }
}

/// Reads a byte from a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn read_u8(port: u16) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { Port::new(port).read() }
}

/// Reads four bytes from a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn read_u32(port: u16) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { Port::new(port).read() }
}
