//! The card on the PCI bus: its transport, and those of its registers that the transport keeps to itself.

use lwk_pci::{Configuration, Function, base_address, capability};
use virtio_drivers::Hal;
use virtio_drivers::transport::pci::PciTransport;
use virtio_drivers::transport::pci::bus::{ConfigurationAccess, DeviceFunction, PciRoot};

use super::VirtioNet;
use super::queues::{NO_MESSAGE, Structures};
use crate::{Registers, Unusable};

/// The configuration space as the crate of virtio sees it.
struct Access<C>(core::cell::RefCell<C>);

impl<C: Configuration> ConfigurationAccess for Access<&mut C> {
    fn read_word(&self, function: DeviceFunction, offset: u8) -> u32 {
        self.0.borrow().read(function_of(function), offset)
    }

    fn write_word(&mut self, function: DeviceFunction, offset: u8, data: u32) {
        self.0.borrow_mut().write(function_of(function), offset, data);
    }

    unsafe fn unsafe_clone(&self) -> Self {
        unreachable!("only listing a bus clones it, which this crate does itself")
    }
}

fn function_of(function: DeviceFunction) -> Function {
    Function { bus: function.bus, device: function.device, function: function.function }
}

impl<H: Hal> VirtioNet<H> {
    /// Starts a card that has been switched on. It interrupts by its message 0 if it has `messages`.
    ///
    /// # Errors
    /// It is no such card, lacks something, or there is no memory.
    pub fn start(
        configuration: &mut impl Configuration,
        function: Function,
        messages: bool,
    ) -> Result<Self, Unusable> {
        let common = structure::<H>(configuration, function, 1)?.0;
        let (notification, step) = structure::<H>(configuration, function, 2)?;
        let mut root = PciRoot::new(Access(core::cell::RefCell::new(configuration)));
        let place =
            DeviceFunction { bus: function.bus, device: function.device, function: function.function };
        let transport = PciTransport::new::<H, _>(&mut root, place);
        let transport = transport.map_err(|_| Unusable::Lacks("modern interface of virtio"))?;
        let message = if messages { 0 } else { NO_MESSAGE };
        VirtioNet::on(transport, Structures { common, notification, step, message })
    }
}

/// One of virtio's structures, and the step of its notifications.
fn structure<H: Hal>(
    configuration: &mut impl Configuration,
    function: Function,
    kind: u8,
) -> Result<(Registers, usize), Unusable> {
    let lacks = Unusable::Lacks("modern interface of virtio");
    let found = capability::all(configuration, function)
        .filter_map(|found| capability::vendor_structure(configuration, function, found))
        .find(|found| found.kind == kind)
        .ok_or(lacks)?;
    let base = base_address::memory(configuration, function, found.base).ok_or(lacks)?;
    let (offset, bytes) = (u64::from(found.offset), u64::from(found.bytes));
    if offset + bytes > base.bytes || !offset.is_multiple_of(8) {
        return Err(lacks);
    }
    // SAFETY: device memory where the firmware has put it; the common structure has a second user in the transport, at times of its own.
    let registers = unsafe {
        let start = H::mmio_phys_to_virt(base.address + offset, bytes as usize);
        Registers::new(start, bytes as usize)
    };
    Ok((registers, found.step as usize))
}
