//! Options that have no name are refused, one bit at a time, wherever a program can say them.

mod common;

use common::{Cluster, entry};
use lwk_abi::portals::{
    self as abi, DescriptorOptions, EntryOptions, InterfaceOptions, NONE, PRIORITY_LIST, TableOptions, status,
};
use lwk_abi::syscall::portals as call;

#[test]
fn options_without_a_name_are_refused() {
    let mut it = Cluster::new(1, 1);
    let right = InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL;
    let interface = it.interface(0, right);
    let refused = Err(status::ARG_INVALID);
    let memory = it.allocate(0, 8);
    it.table(0, interface, TableOptions::empty(), NONE, 0).unwrap();
    for bit in (0..32).map(|bit| 1 << bit) {
        if InterfaceOptions::from_bits(bit).is_none() {
            let options = right.bits() | bit;
            assert_eq!(
                it.call(0, call::INTERFACE_OPEN, [options.into(), 0, 0, 0, 0, 0]),
                refused,
                "{bit:#x}"
            );
        }
        if TableOptions::from_bits(bit).is_none() {
            let options = TableOptions::from_bits_retain(bit);
            assert_eq!(it.table(0, interface, options, NONE, 1), refused, "{bit:#x}");
        }
        if EntryOptions::from_bits(bit).is_none() {
            let open = entry(memory, 8, EntryOptions::OP_PUT | EntryOptions::from_bits_retain(bit));
            assert_eq!(it.append(0, interface, 0, &open, PRIORITY_LIST), refused, "{bit:#x}");
        }
        if DescriptorOptions::from_bits(bit).is_none() {
            let options = DescriptorOptions::from_bits_retain(bit);
            let from = abi::Descriptor { options, ..common::descriptor(memory, 8, NONE) };
            assert_eq!(it.bind(0, interface, &from), refused, "{bit:#x}");
        }
    }
    assert_eq!(InterfaceOptions::all().bits(), 0xf);
    assert_eq!(TableOptions::all().bits(), 0x1f);
    assert_eq!(EntryOptions::all().bits(), 0x1f_ffff);
    assert_eq!(DescriptorOptions::all().bits(), 0x10_01ff);
}
