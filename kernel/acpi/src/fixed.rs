//! Fixed hardware: fixed ACPI description table (ACPI specification 6.5, section 5.2.9).

use crate::Table;
use crate::bytes::{u32_at, u64_at};

/// ACPI's power management timer, which counts at 3.579545 MHz (section 4.8.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// I/O port of the 32-bit count.
    pub port: u16,
    /// Bits of the count that are there.
    pub mask: u32,
}

const TIMER_BLOCK: usize = 76;
const TIMER_LENGTH: usize = 91;
const FLAGS: usize = 112;
const X_TIMER_BLOCK: usize = 208;
/// Flag: the timer has 32 bits, not 24.
const TIMER_IS_LONG: u32 = 1 << 8;
/// Of a generic address (section 5.2.3.2): I/O ports.
const SPACE_PORTS: u8 = 1;

/// The timer, if there is one and it is behind a port.
pub fn timer(fadt: &Table<'_>) -> Option<Timer> {
    const TIMER_BYTES: u8 = 4;
    let bytes = fadt.bytes();
    if *bytes.get(TIMER_LENGTH)? != TIMER_BYTES {
        return None;
    }
    // The later field counts if it is there and not zero, the earlier one else.
    let later = bytes.get(X_TIMER_BLOCK).copied().zip(u64_at(bytes, X_TIMER_BLOCK + 4));
    let address = match later.filter(|(_, address)| *address != 0) {
        Some((SPACE_PORTS, address)) => address,
        Some(_) => return None,
        None => u32_at(bytes, TIMER_BLOCK)?.into(),
    };
    let port = u16::try_from(address).ok().filter(|port| *port != 0)?;
    let long = u32_at(bytes, FLAGS)? & TIMER_IS_LONG != 0;
    Some(Timer { port, mask: if long { u32::MAX } else { 0x00ff_ffff } })
}
