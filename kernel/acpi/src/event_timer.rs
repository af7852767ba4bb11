//! The high precision event timer (IA-PC HPET specification 1.0a, section 3.2.4).

use crate::Table;
use crate::bytes::u64_at;

/// Of the generic address in the table (ACPI specification 6.5, section 5.2.3.2): its kind, and where it leads.
const SPACE: usize = 40;
const ADDRESS: usize = 44;
const SPACE_MEMORY: u8 = 0;
/// Its registers are as many bytes, at a multiple of as many.
pub const EVENT_TIMER_BYTES: u64 = 1024;

/// Physical address of the timer's registers, if they are memory.
pub fn event_timer(hpet: &Table<'_>) -> Option<u64> {
    let bytes = hpet.bytes();
    let in_memory = *bytes.get(SPACE)? == SPACE_MEMORY;
    let address = u64_at(bytes, ADDRESS)?;
    (in_memory && address != 0 && address.is_multiple_of(EVENT_TIMER_BYTES)).then_some(address)
}
