//! I/O ports.

use x86_64::instructions::port::Port;

/// Writes a byte to a port.
///
/// # Safety
/// Nobody else uses the device behind the port, and the access has no effect on memory that Rust knows of.
pub unsafe fn write_u8(port: u16, value: u8) {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).write(value) }
}

/// Writes two bytes to a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn write_u16(port: u16, value: u16) {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).write(value) }
}

/// Writes four bytes to a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn write_u32(port: u16, value: u32) {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).write(value) }
}

/// Reads a byte from a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn read_u8(port: u16) -> u8 {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).read() }
}

/// Reads two bytes from a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn read_u16(port: u16) -> u16 {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).read() }
}

/// Reads four bytes from a port.
///
/// # Safety
/// As [`write_u8`].
pub unsafe fn read_u32(port: u16) -> u32 {
    // SAFETY: the device is this caller's, and the access leaves memory as it is (this function's contract).
    unsafe { Port::new(port).read() }
}
