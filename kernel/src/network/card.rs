//! Finding the node's network card, starting it, and leading its interrupt to a core.

use core::fmt;

use lwk_nic::{Driver, E1000e, Nic, Registers, Unusable, VirtioNet};
use lwk_pci::{Configuration, Function, Interrupts, Message, base_address, message};

use super::region::{self, Cards};
use crate::arch::interrupts;
use crate::configuration::Space;

/// Why a node has no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCard {
    /// No function of the machine is a card that is known.
    None,
    /// The card has no message interrupts.
    NoInterrupt(Function),
    Unusable(Function, Unusable),
    NoMemory,
    /// The core that is to take its interrupts is not there.
    NoCore(u32),
    /// The card's messages cannot name the controller of that number.
    OutOfReach(u32),
}

impl fmt::Display for NoCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCard::None => {
                write!(
                    f,
                    "a job of several nodes needs a network card, and this node has none that is known (virtio-net, e1000e)"
                )
            }
            NoCard::NoInterrupt(place) => {
                write!(f, "the network card {place} has no message interrupts (MSI-X or MSI)")
            }
            NoCard::Unusable(place, why) => write!(f, "the network card {place} cannot be used: {why}"),
            NoCard::NoCore(core) => write!(f, "--irq-core names core {core}, which this node has not"),
            NoCard::OutOfReach(id) => {
                write!(
                    f,
                    "the network card cannot interrupt a core whose interrupt controller has the number {id}: give --irq-core one below 255"
                )
            }
            NoCard::NoMemory => write!(f, "the node's memory does not suffice for the network"),
        }
    }
}

/// A card that has been started, its interrupt not led anywhere yet.
pub struct Card {
    pub nic: &'static mut dyn Nic,
    space: Space,
    function: Function,
    interrupts: Interrupts,
}

/// Starts the first card that is known, to take frames for `address`.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn start(mut space: Space, address: [u8; 6]) -> Result<Card, NoCard> {
    let mut found = None;
    lwk_pci::enumerate(&space, |function, identity| {
        if let (None, Some(driver)) = (found, lwk_nic::driver_of(identity)) {
            found = Some((function, driver));
        }
    });
    let (function, driver) = found.ok_or(NoCard::None)?;
    let interrupts = match driver {
        Driver::VirtioNet => message::find(&space, function),
        Driver::E1000e => message::registers(&space, function),
    };
    let interrupts = interrupts.ok_or(NoCard::NoInterrupt(function))?;
    lwk_pci::switch_on(&mut space, function);
    let mut table = None;
    if let Interrupts::Table { at, .. } = interrupts {
        // On before the card is told which message is whose; all are masked.
        table = Some(table_of(&mut space, function, interrupts).ok_or(NoCard::NoInterrupt(function))?);
        message::enable_table(&mut space, function, at, true);
    }
    let unusable = |why| NoCard::Unusable(function, why);
    let messages = table.is_some();
    let nic: &'static mut dyn Nic = match driver {
        Driver::VirtioNet => {
            let nic = VirtioNet::<Cards>::start(&mut space, function, messages).map_err(unusable)?;
            region::place(nic).ok_or(NoCard::NoMemory)?
        }
        Driver::E1000e => {
            let nic = E1000e::<Cards>::start(&mut space, function).map_err(unusable)?;
            region::place(nic).ok_or(NoCard::NoMemory)?
        }
    };
    log::debug!(
        "{} at {function}, address {:02x?}, frames of {} bytes, {}, link {}",
        nic.name(),
        nic.address(),
        nic.frame_bytes(),
        if messages { "MSI-X" } else { "MSI" },
        if nic.is_up() { "up" } else { "down" },
    );
    nic.listen(address);
    Ok(Card { nic, space, function, interrupts })
}

/// Words of an entry of the table.
const ADDRESS_LOW: usize = 0;
const ADDRESS_HIGH: usize = 4;
const DATA: usize = 8;
const CONTROL: usize = 12;
const MASKED: u32 = 1;

/// The table of messages, all of them masked.
fn table_of(space: &mut Space, function: Function, interrupts: Interrupts) -> Option<Registers> {
    let Interrupts::Table { base, offset, entries, .. } = interrupts else { return None };
    let memory = base_address::memory(space, function, base)?;
    let bytes = u64::from(entries) * message::ENTRY_BYTES;
    let fits = u64::from(offset).checked_add(bytes).is_some_and(|end| end <= memory.bytes);
    let start = fits.then(|| {
        // SAFETY: the card's own memory, where the firmware has put it.
        unsafe {
            <Cards as lwk_nic::Platform>::mmio_phys_to_virt(
                memory.address + u64::from(offset),
                bytes as usize,
            )
        }
    })?;
    // SAFETY: `bytes` bytes of the card's own memory, mapped for ever by the call above; only this file uses
    // the table.
    let table = unsafe { Registers::new(start, bytes as usize) };
    for entry in 0..usize::from(entries) {
        table.word(entry * message::ENTRY_BYTES as usize + CONTROL).write(MASKED);
    }
    Some(table)
}

impl Card {
    /// Whether a card can interrupt the core whose controller has the number `controller_id`.
    pub fn reaches(controller_id: u32) -> bool {
        Message::to_core(controller_id, interrupts::CARD).is_some()
    }

    /// Leads the card's interrupt to the core whose controller has the number `controller_id`.
    ///
    /// # Errors
    /// [`NoCard::OutOfReach`] if messages cannot name it; [`NoCard::NoInterrupt`] if the table has gone.
    pub fn route(&mut self, controller_id: u32) -> Result<(), NoCard> {
        let to = Message::to_core(controller_id, interrupts::CARD);
        let to = to.ok_or(NoCard::OutOfReach(controller_id))?;
        match self.interrupts {
            Interrupts::Table { .. } => {
                let table = table_of(&mut self.space, self.function, self.interrupts);
                let table = table.ok_or(NoCard::NoInterrupt(self.function))?;
                table.word(ADDRESS_LOW).write(to.address as u32);
                table.word(ADDRESS_HIGH).write((to.address >> 32) as u32);
                table.word(DATA).write(to.data);
                table.word(CONTROL).write(0);
            }
            Interrupts::Registers { at, wide } => {
                message::enable_registers(&mut self.space, self.function, (at, wide), to);
            }
        }
        Ok(())
    }
}

/// Says which function of the machine is what, for debugging.
pub fn describe(space: &impl Configuration) {
    lwk_pci::enumerate(space, |function, identity| {
        log::trace!(
            "{function}: {:04x}:{:04x}, class {:04x}",
            identity.vendor,
            identity.device,
            identity.class
        );
    });
}
