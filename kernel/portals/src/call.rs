//! What a program asks Portals for: a system call's number and arguments as one [`Call`].

use lwk_abi::portals::{InterfaceOptions, TableOptions};
use lwk_abi::syscall::portals as call;

/// One of the calls of [`lwk_abi::syscall::portals`]. Interfaces, tables, descriptors, entries, queues and counters are handles or indices, which callers extend to a register as they
/// like; what is 64 bits wide is a user address or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`call::INTERFACE_OPEN`]: addresses of limits, or 0.
    InterfaceOpen { options: InterfaceOptions, desired: u64, actual: u64 },
    /// [`call::INTERFACE_CLOSE`]
    InterfaceClose { interface: u32 },
    /// [`call::INTERFACE_STATUS`]
    InterfaceStatus { interface: u32, register: u32 },
    /// [`call::TABLE_ALLOCATE`]
    TableAllocate { interface: u32, options: TableOptions, queue: u32, index: u32 },
    /// [`call::TABLE_FREE`]
    TableFree { interface: u32, index: u32 },
    /// [`call::TABLE_ENABLE`]
    TableEnable { interface: u32, index: u32, on: bool },
    /// [`call::DESCRIPTOR_BIND`]: the descriptor's address.
    DescriptorBind { interface: u32, descriptor: u64 },
    /// [`call::DESCRIPTOR_RELEASE`]
    DescriptorRelease { descriptor: u32 },
    /// [`call::ENTRY_APPEND`]: the entry's address.
    EntryAppend { interface: u32, index: u32, entry: u64, list: u32 },
    /// [`call::ENTRY_UNLINK`]
    EntryUnlink { entry: u32 },
    /// [`call::ENTRY_SEARCH`]: the entry's address.
    EntrySearch { interface: u32, index: u32, entry: u64, search: u32 },
    /// [`call::QUEUE_ALLOCATE`]: the ring's address, and the number of its events.
    QueueAllocate { interface: u32, ring: u64, events: u64 },
    /// [`call::QUEUE_FREE`]
    QueueFree { queue: u32 },
    /// [`call::COUNTER_ALLOCATE`]: the words' address.
    CounterAllocate { interface: u32, words: u64 },
    /// [`call::COUNTER_FREE`]
    CounterFree { counter: u32 },
    /// [`call::COUNTER_CHANGE`]
    CounterChange { counter: u32, successes: u64, failures: u64, set: bool },
    /// [`call::COUNTER_CANCEL`]
    CounterCancel { counter: u32 },
    /// [`call::OPERATE`]: the operation's address.
    Operate { interface: u32, operation: u64 },
    /// [`call::BUNDLE`]: its start and its end make no difference, since messages go as soon as they can.
    Bundle { interface: u32 },
    /// [`call::HANDLE_INTERFACE`]
    HandleInterface { handle: u32 },
    /// [`call::NODE_COUNTS`]: the counts' address.
    NodeCounts { interface: u32, counts: u64 },
    /// [`call::RAW_FRAMES`]: the address of what is asked.
    RawFrames { interface: u32, frames: u64 },
}

impl Call {
    /// The call with a number, and four arguments in registers' order; none if the number is not Portals'.
    #[must_use]
    #[inline]
    pub fn new(number: u64, [a, b, c, d]: [u64; 4]) -> Option<Call> {
        // Most calls begin with an interface, and go on with an index.
        let [interface, index, third, fourth] = [a, b, c, d].map(|word| word as u32);
        Some(match number {
            call::INTERFACE_OPEN => Call::InterfaceOpen {
                options: InterfaceOptions::from_bits_retain(a as u32),
                desired: b,
                actual: c,
            },
            call::INTERFACE_CLOSE => Call::InterfaceClose { interface },
            call::INTERFACE_STATUS => Call::InterfaceStatus { interface, register: b as u32 },
            call::TABLE_ALLOCATE => Call::TableAllocate {
                interface,
                options: TableOptions::from_bits_retain(b as u32),
                queue: third,
                index: fourth,
            },
            call::TABLE_FREE => Call::TableFree { interface, index },
            call::TABLE_ENABLE => Call::TableEnable { interface, index, on: third != 0 },
            call::DESCRIPTOR_BIND => Call::DescriptorBind { interface, descriptor: b },
            call::DESCRIPTOR_RELEASE => Call::DescriptorRelease { descriptor: a as u32 },
            call::ENTRY_APPEND => Call::EntryAppend { interface, index, entry: c, list: fourth },
            call::ENTRY_UNLINK => Call::EntryUnlink { entry: a as u32 },
            call::ENTRY_SEARCH => Call::EntrySearch { interface, index, entry: c, search: fourth },
            call::QUEUE_ALLOCATE => Call::QueueAllocate { interface, ring: b, events: c },
            call::QUEUE_FREE => Call::QueueFree { queue: a as u32 },
            call::COUNTER_ALLOCATE => Call::CounterAllocate { interface, words: b },
            call::COUNTER_FREE => Call::CounterFree { counter: a as u32 },
            call::COUNTER_CHANGE => {
                Call::CounterChange { counter: a as u32, successes: b, failures: c, set: d != 0 }
            }
            call::COUNTER_CANCEL => Call::CounterCancel { counter: a as u32 },
            call::OPERATE => Call::Operate { interface, operation: b },
            call::BUNDLE => Call::Bundle { interface },
            call::HANDLE_INTERFACE => Call::HandleInterface { handle: a as u32 },
            call::NODE_COUNTS => Call::NodeCounts { interface, counts: b },
            call::RAW_FRAMES => Call::RawFrames { interface, frames: b },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn each_number_is_its_call() {
        let [a, b, c, d] = [1 << 32 | 1, 1 << 32 | 2, 1 << 32 | 3, 1 << 32 | 4];
        let expected = [
            Call::InterfaceOpen { options: InterfaceOptions::MATCHING, desired: b, actual: c },
            Call::InterfaceClose { interface: 1 },
            Call::InterfaceStatus { interface: 1, register: 2 },
            Call::TableAllocate { interface: 1, options: TableOptions::ONLY_TRUNCATE, queue: 3, index: 4 },
            Call::TableFree { interface: 1, index: 2 },
            Call::TableEnable { interface: 1, index: 2, on: true },
            Call::DescriptorBind { interface: 1, descriptor: b },
            Call::DescriptorRelease { descriptor: 1 },
            Call::EntryAppend { interface: 1, index: 2, entry: c, list: 4 },
            Call::EntryUnlink { entry: 1 },
            Call::EntrySearch { interface: 1, index: 2, entry: c, search: 4 },
            Call::QueueAllocate { interface: 1, ring: b, events: c },
            Call::QueueFree { queue: 1 },
            Call::CounterAllocate { interface: 1, words: b },
            Call::CounterFree { counter: 1 },
            Call::CounterChange { counter: 1, successes: b, failures: c, set: true },
            Call::CounterCancel { counter: 1 },
            Call::Operate { interface: 1, operation: b },
            Call::Bundle { interface: 1 },
            Call::HandleInterface { handle: 1 },
            Call::NodeCounts { interface: 1, counts: b },
            Call::RawFrames { interface: 1, frames: b },
        ];
        let decoded: Vec<_> = call::RANGE.map(|number| Call::new(number, [a, b, c, d])).collect();
        assert_eq!(decoded, expected.map(Some));
        for number in [call::RANGE.start() - 1, call::RANGE.end() + 1, 0, u64::MAX] {
            assert_eq!(Call::new(number, [a, b, c, d]), None, "{number:#x}");
        }
    }

    #[test]
    fn what_is_on_is_said_by_a_half_of_a_register_and_what_is_set_by_all_of_it() {
        let enabled = |c| Call::new(call::TABLE_ENABLE, [1, 2, c, 0]);
        let set = |d| Call::new(call::COUNTER_CHANGE, [1, 2, 3, d]);
        let table = |on| Some(Call::TableEnable { interface: 1, index: 2, on });
        let counter = |set| Some(Call::CounterChange { counter: 1, successes: 2, failures: 3, set });
        for (word, half, all) in [(0, false, false), (1, true, true), (1 << 32, false, true)] {
            assert_eq!((enabled(word), set(word)), (table(half), counter(all)), "{word:#x}");
        }
    }
}
