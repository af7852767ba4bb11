//! The PCI configuration space by I/O ports (PCI 3.0, section 3.2.2.3.2).

use super::ports;

const ADDRESS_PORT: u16 = 0xcf8;
const DATA_PORT: u16 = 0xcfc;
const ENABLE: u32 = 1 << 31;

/// Held from naming a word to its access.
static PORTS: spin::Mutex<()> = spin::Mutex::new(());

/// Reads the word at `address`: bus, device, function and offset, from bit 16, 11, 8 and 2 up.
pub fn read(address: u32) -> u32 {
    let _alone = PORTS.lock();
    // SAFETY: nobody else uses the ports while `PORTS` is held; a device's configuration is no memory.
    unsafe {
        ports::write_u32(ADDRESS_PORT, ENABLE | address);
        ports::read_u32(DATA_PORT)
    }
}

/// Writes the word at `address`, as for [`read`].
pub fn write(address: u32, value: u32) {
    let _alone = PORTS.lock();
    // SAFETY: nobody else uses the ports while `PORTS` is held; a device's configuration is no memory.
    unsafe {
        ports::write_u32(ADDRESS_PORT, ENABLE | address);
        ports::write_u32(DATA_PORT, value);
    }
}
