//! Message interrupts: a function stores a word somewhere to interrupt a core (PCI 3.0, section 6.8).

use bitflags::bitflags;

use crate::capability::{self, Capability};
use crate::{Configuration, Function};

/// The number by which a message goes to all cores.
const EVERY_CORE: u32 = 255;

/// What a function stores, and where, to interrupt a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub address: u64,
    pub data: u32,
}

impl Message {
    /// Interrupts the core whose controller has the number `controller_id`, at `vector`: fixed, at once (Intel SDM volume 3, section 11.11). `None` if the
    /// address cannot name that core: it has eight bits for the number, and all ones are every core.
    pub fn to_core(controller_id: u32, vector: u8) -> Option<Message> {
        (controller_id < EVERY_CORE)
            .then(|| Message { address: 0xfee0_0000 | u64::from(controller_id) << 12, data: vector.into() })
    }
}

/// How a function can be made to send messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupts {
    /// A table in memory, with `entries` messages of [`ENTRY_BYTES`] each at `offset` of a base address.
    Table { at: u8, base: u8, offset: u32, entries: u16 },
    /// Registers of the configuration space.
    Registers { at: u8, wide: bool },
}

/// Bytes of an entry of the table: address, data, and a word whose bit 0 masks it.
pub const ENTRY_BYTES: u64 = 16;

bitflags! {
    /// The first word of the table's capability.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct TableHead: u32 {
        const MASKED = 1 << 30;
        const ON = 1 << 31;
        const _ = !0;
    }
}

bitflags! {
    /// The first word of the registers' capability.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct RegistersHead: u32 {
        const ON = 1 << 16;
        /// How many messages may be sent; none of these bits: one.
        const SEVERAL = 0b111 << 20;
        /// The message's address has 64 bits.
        const WIDE = 1 << 23;
        const _ = !0;
    }
}

/// What a function has: the table if there is one, else the registers, else nothing.
pub fn find(configuration: &impl Configuration, function: Function) -> Option<Interrupts> {
    let capabilities = || capability::all(configuration, function);
    let table = capabilities()
        .find(|found| found.id == capability::MSI_X)
        .and_then(|found| table(configuration, function, found));
    table.or_else(|| registers(configuration, function))
}

/// The registers, if a function has them.
pub fn registers(configuration: &impl Configuration, function: Function) -> Option<Interrupts> {
    let found = capability::all(configuration, function).find(|found| found.id == capability::MSI)?;
    let head = RegistersHead::from_bits_retain(configuration.read(function, found.offset));
    let wide = head.contains(RegistersHead::WIDE);
    let fits = found.offset.checked_add(if wide { 0x10 } else { 0xc }).is_some();
    fits.then_some(Interrupts::Registers { at: found.offset, wide })
}

fn table(configuration: &impl Configuration, function: Function, found: Capability) -> Option<Interrupts> {
    let at = found.offset;
    let place = configuration.read(function, at.checked_add(4)?);
    let entries = (configuration.read(function, at) >> 16 & 0x7ff) as u16 + 1;
    let base = (place & 7) as u8;
    (base < 6).then_some(Interrupts::Table { at, base, offset: place & !7, entries })
}

/// Switches the table on, all entries as they are masked, or off.
pub fn enable_table(configuration: &mut impl Configuration, function: Function, at: u8, on: bool) {
    let mut head = TableHead::from_bits_retain(configuration.read(function, at));
    head.remove(TableHead::MASKED);
    head.set(TableHead::ON, on);
    configuration.write(function, at, head.bits());
}

/// Has a function without a table send one message.
pub fn enable_registers(
    configuration: &mut impl Configuration,
    function: Function,
    (at, wide): (u8, bool),
    message: Message,
) {
    configuration.write(function, at + 4, message.address as u32);
    if wide {
        configuration.write(function, at + 8, (message.address >> 32) as u32);
    }
    let data_at = at + if wide { 12 } else { 8 };
    let others = configuration.read(function, data_at) & 0xffff_0000;
    configuration.write(function, data_at, others | message.data & 0xffff);
    let mut head = RegistersHead::from_bits_retain(configuration.read(function, at));
    head.remove(RegistersHead::SEVERAL);
    head.insert(RegistersHead::ON);
    configuration.write(function, at, head.bits());
}
