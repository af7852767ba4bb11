//! The system calls of Portals (`lwk_abi::syscall::portals`): what programs may ask for, checked.

use lwk_abi::portals::{NONE, NodeCounts, Operation, operation};
use lwk_abi::syscall::portals as call;

use crate::contract;
use crate::initiator::OPERATION_BYTES;
use crate::memory::{Memory, Nic, Span};
use crate::node::{Node, State};
use crate::slab::{Kind, Place, handle, split};
use crate::{Result, Status};

/// A handle's number has room for so many turns of an interface.
const TURNS: u32 = 1 << 12;

impl Node {
    /// A system call of a rank of this node: what it answers. A number that is none of Portals' is [`Status::ARG_INVALID`].
    pub fn call<H: Memory + Nic>(
        &mut self,
        home: &mut H,
        rank: u32,
        number: u64,
        arguments: [u64; 6],
        now: u64,
    ) -> i64 {
        self.state.now = now;
        if number == call::NODE_COUNTS {
            let [interface, address, ..] = arguments;
            return self
                .tell_counts(home, rank, interface as u32, address)
                .map_or_else(Status::answer, i64::from);
        }
        if number == call::RAW_FRAMES {
            let [interface, address, ..] = arguments;
            let known = self.state.interface(rank, interface as u32);
            let sent = known.and_then(|_| self.state.send_raw(home, rank, address));
            return sent.map_or_else(Status::answer, i64::from);
        }
        let answer = self.state.answer_call(home, rank, number, arguments);
        if !matches!(number, call::BUNDLE | call::INTERFACE_STATUS | call::HANDLE_INTERFACE) {
            self.work(now, home);
        }
        answer.map_or_else(Status::answer, i64::from)
    }

    /// Writes what the node has done to a rank's memory.
    fn tell_counts<H: Memory + Nic>(
        &mut self,
        home: &mut H,
        rank: u32,
        interface: u32,
        address: u64,
    ) -> Result<u32> {
        self.state.interface(rank, interface)?;
        let to = Span::check(home, rank, address, size_of::<NodeCounts>() as u64, true)?;
        let (own, link, below) = (self.state.counts, self.link.counters(), home.counts());
        let counts = NodeCounts {
            sent: own.sent,
            arrived: own.arrived,
            payload: own.bytes,
            written: below.written,
            told: own.told,
            copied_to_send: below.copied_to_send + own.copied_to_send,
            frames_sent: below.frames_sent,
            frames_received: below.frames_received,
            retransmitted: link.retransmitted,
            interrupts: below.interrupts,
            timer: below.timer,
            kept: self.kept() as u64,
            peers: self.link.peers() as u64,
        };
        self.state.write_told(home, &to, &contract::counts_bytes(&counts));
        Ok(0)
    }
}

impl State {
    fn answer_call(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        number: u64,
        arguments: [u64; 6],
    ) -> Result<u32> {
        let [a, b, c, d, ..] = arguments;
        // Handles, options and indices are 32 bits wide, and callers extend them as they like.
        let [first, second, third, fourth] = [a, b, c, d].map(|word| word as u32);
        if rank >= self.ranks.of(self.node) {
            return Err(Status::ARG_INVALID);
        }
        let done = |()| 0;
        match number {
            call::INTERFACE_OPEN => self.open(memory, rank, first, b, c),
            call::INTERFACE_CLOSE => self.close(self.interface(rank, first)?).map(done),
            call::INTERFACE_STATUS => {
                let it = &self.interfaces[self.interface(rank, first)? as usize];
                let count = it.registers.get(second as usize).ok_or(Status::ARG_INVALID)?;
                Ok((*count).min(i32::MAX as u64) as u32)
            }
            call::TABLE_ALLOCATE => self.allocate_table(self.interface(rank, first)?, second, third, fourth),
            call::TABLE_FREE => self.free_table(self.interface(rank, first)?, second).map(done),
            call::TABLE_ENABLE => {
                let place = self.table(self.interface(rank, first)?, second)?;
                let table = self.tables.get_mut(place);
                table.enabled = (third != 0).into();
                Ok(table.arriving)
            }
            call::DESCRIPTOR_BIND => self.bind(memory, rank, self.interface(rank, first)?, b),
            call::DESCRIPTOR_RELEASE => self.release(self.of_rank(Kind::Descriptor, rank, first)?).map(done),
            call::ENTRY_APPEND => {
                let interface = self.interface(rank, first)?;
                let table = self.table(interface, second)?;
                let asked = contract::entry(&read(memory, rank, c)?);
                self.append(memory, interface, table, asked, fourth)
            }
            call::ENTRY_UNLINK => self.unlink(memory, self.of_rank(Kind::Entry, rank, first)?).map(done),
            call::ENTRY_SEARCH => {
                let interface = self.interface(rank, first)?;
                let table = self.table(interface, second)?;
                let asked = contract::entry(&read(memory, rank, c)?);
                self.search(memory, interface, table, asked, fourth).map(done)
            }
            call::QUEUE_ALLOCATE => self.allocate_queue(memory, rank, self.interface(rank, first)?, b, c),
            call::QUEUE_FREE => self.free_queue(self.of_rank(Kind::Queue, rank, first)?).map(done),
            call::COUNTER_ALLOCATE => self.allocate_counter(memory, rank, self.interface(rank, first)?, b),
            call::COUNTER_FREE => self.free_counter(self.of_rank(Kind::Counter, rank, first)?).map(done),
            call::COUNTER_CHANGE => {
                let counter = self.of_rank(Kind::Counter, rank, first)?;
                if d != 0 {
                    self.set_counter(memory, counter, b, c);
                } else {
                    self.count(memory, counter, b, c);
                }
                Ok(0)
            }
            call::COUNTER_CANCEL => {
                let counter = self.of_rank(Kind::Counter, rank, first)?;
                self.cancel_triggered(counter);
                Ok(0)
            }
            call::OPERATE => {
                let bytes: [u8; OPERATION_BYTES] = read(memory, rank, b)?;
                let interface = match first {
                    0 => self.interface_of_operation(rank, &contract::operation(&bytes))?,
                    handle => self.interface(rank, handle)?,
                };
                self.operate(memory, interface, &bytes).map(done)
            }
            // Messages go as soon as they can: there is nothing to gain by waiting for the end of a bundle.
            call::BUNDLE => self.interface(rank, first).map(|_| 0),
            call::HANDLE_INTERFACE => self.interface_of(rank, first),
            _ => Err(Status::ARG_INVALID),
        }
    }

    /// The interface behind a rank's handle.
    fn interface(&self, rank: u32, handle: u32) -> Result<u32> {
        let (place, turn) = split(Kind::Interface, handle).ok_or(Status::ARG_INVALID)?;
        let interface = place - 1;
        let it = self.interfaces.get(interface as usize).ok_or(Status::ARG_INVALID)?;
        let right = interface / 4 == rank && it.open > 0 && it.turn % TURNS == turn;
        if right { Ok(interface) } else { Err(Status::ARG_INVALID) }
    }

    /// The interface of an operation: that of its descriptor, or of the counter that it waits for.
    fn interface_of_operation(&self, rank: u32, asked: &Operation) -> Result<u32> {
        let (kind, handle) = match asked {
            Operation { kind: operation::CT_INC.., trigger, .. } => (Kind::Counter, *trigger),
            Operation { kind: operation::GET, get, .. } => (Kind::Descriptor, *get),
            Operation { put, .. } => (Kind::Descriptor, *put),
        };
        let named = self.named(kind, handle).filter(|(_, of)| of / 4 == rank);
        named.map(|(_, interface)| interface).ok_or(Status::ARG_INVALID)
    }

    /// The handle of the interface that a rank's handle is of.
    fn interface_of(&self, rank: u32, given: u32) -> Result<u32> {
        if let Ok(interface) = self.interface(rank, given) {
            return Ok(self.handle_of(interface));
        }
        let kinds = [Kind::Entry, Kind::Descriptor, Kind::Queue, Kind::Counter];
        let named = kinds.into_iter().find_map(|kind| self.named(kind, given));
        let (_, interface) = named.filter(|(_, of)| of / 4 == rank).ok_or(Status::ARG_INVALID)?;
        Ok(self.handle_of(interface))
    }

    /// The handle of an interface that is open.
    pub(crate) fn handle_of(&self, interface: u32) -> u32 {
        handle(Kind::Interface, interface + 1, self.interfaces[interface as usize].turn)
    }

    /// Rank of the job that an interface is of.
    pub(crate) fn rank_of(&self, interface: u32) -> u32 {
        self.ranks.first_of(self.node) + interface / 4
    }

    /// What a handle names, and the interface that it is of.
    fn named(&self, kind: Kind, handle: u32) -> Option<(Place, u32)> {
        let (place, turn) = split(kind, handle)?;
        Some(match kind {
            Kind::Interface => return None,
            Kind::Entry => {
                let place = self.lists.entries.in_turn(place, turn)?;
                (place, self.lists.entries.get(place).interface)
            }
            Kind::Descriptor => {
                let place = self.descriptors.in_turn(place, turn)?;
                (place, self.descriptors.get(place).interface)
            }
            Kind::Queue => {
                let place = self.queues.in_turn(place, turn)?;
                (place, self.queues.get(place).interface)
            }
            Kind::Counter => {
                let place = self.counters.in_turn(place, turn)?;
                (place, self.counters.get(place).interface)
            }
        })
    }

    /// What a handle of an interface's own names.
    pub(crate) fn of_interface(&self, kind: Kind, interface: u32, handle: u32) -> Result<Place> {
        let named = self.named(kind, handle).filter(|(_, of)| *of == interface);
        named.map(|(place, _)| place).ok_or(Status::ARG_INVALID)
    }

    /// What a handle of a rank's own names.
    fn of_rank(&self, kind: Kind, rank: u32, handle: u32) -> Result<Place> {
        let named = self.named(kind, handle).filter(|(_, of)| of / 4 == rank);
        named.map(|(place, _)| place).ok_or(Status::ARG_INVALID)
    }

    /// As [`State::of_interface`], or 0 for [`NONE`].
    pub(crate) fn optional(&self, kind: Kind, interface: u32, handle: u32) -> Result<Place> {
        if handle == NONE { Ok(0) } else { self.of_interface(kind, interface, handle) }
    }

    pub(crate) fn table(&self, interface: u32, index: u32) -> Result<Place> {
        let tables = &self.interfaces[interface as usize].tables;
        tables.get(index as usize).copied().filter(|place| *place != 0).ok_or(Status::ARG_INVALID)
    }
}

/// A structure out of the program's memory. Errors: the rank has no such memory.
pub(crate) fn read<const N: usize>(memory: &impl Memory, rank: u32, address: u64) -> Result<[u8; N]> {
    let span = Span::check(memory, rank, address, N as u64, false)?;
    let mut bytes = [0; N];
    memory.read(&span, &mut bytes);
    Ok(bytes)
}
