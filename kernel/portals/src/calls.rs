//! The system calls of Portals: what programs may ask for, checked and done.

use lwk_abi::portals::{NONE, NodeCounts, Operation, operation};
use lwk_frames::Dropped;

use crate::call::Call;
use crate::contract;
use crate::initiator::OPERATION_BYTES;
use crate::memory::{Memory, Nic, Span};
use crate::node::{Node, State};
use crate::slab::{Kind, Place, handle, split};
use crate::{Result, Status};

/// A handle's number has room for so many turns of an interface.
const TURNS: u32 = 1 << 12;

impl Node {
    /// A system call of a rank of this node: what it answers.
    pub fn call<H: Memory + Nic>(&mut self, home: &mut H, rank: u32, call: Call, now: u64) -> i64 {
        self.state.now = now;
        let answer = self.answer_call(home, rank, call);
        // What only looks, and what goes without a link, leaves nothing to do.
        let leaves_work = !matches!(
            call,
            Call::Bundle { .. }
                | Call::InterfaceStatus { .. }
                | Call::HandleInterface { .. }
                | Call::NodeCounts { .. }
                | Call::RawFrames { .. }
        );
        if leaves_work {
            self.work(now, home);
        }
        answer.map_or_else(Status::answer, i64::from)
    }

    fn answer_call<H: Memory + Nic>(&mut self, home: &mut H, rank: u32, call: Call) -> Result<u32> {
        let it = &mut self.state;
        if rank >= it.ranks.of(it.node) {
            return Err(Status::ARG_INVALID);
        }
        let done = |()| 0;
        match call {
            Call::InterfaceOpen { options, desired, actual } => it.open(home, rank, options, desired, actual),
            Call::InterfaceClose { interface } => it.close(it.interface(rank, interface)?).map(done),
            Call::InterfaceStatus { interface, register } => {
                let it = &it.interfaces[it.interface(rank, interface)? as usize];
                let count = it.registers.get(register as usize).ok_or(Status::ARG_INVALID)?;
                Ok((*count).min(i32::MAX as u64) as u32)
            }
            Call::TableAllocate { interface, options, queue, index } => {
                it.allocate_table(it.interface(rank, interface)?, options, queue, index)
            }
            Call::TableFree { interface, index } => {
                it.free_table(it.interface(rank, interface)?, index).map(done)
            }
            Call::TableEnable { interface, index, on } => {
                let place = it.table(it.interface(rank, interface)?, index)?;
                let table = it.tables.get_mut(place);
                table.enabled = on.into();
                Ok(table.arriving)
            }
            Call::DescriptorBind { interface, descriptor } => {
                it.bind(home, rank, it.interface(rank, interface)?, descriptor)
            }
            Call::DescriptorRelease { descriptor } => {
                it.release(it.of_rank(Kind::Descriptor, rank, descriptor)?).map(done)
            }
            Call::EntryAppend { interface, index, entry, list } => {
                let interface = it.interface(rank, interface)?;
                let table = it.table(interface, index)?;
                let asked = contract::entry(&read(home, rank, entry)?);
                it.append(home, interface, table, asked, list)
            }
            Call::EntryUnlink { entry } => it.unlink(home, it.of_rank(Kind::Entry, rank, entry)?).map(done),
            Call::EntrySearch { interface, index, entry, search } => {
                let interface = it.interface(rank, interface)?;
                let table = it.table(interface, index)?;
                let asked = contract::entry(&read(home, rank, entry)?);
                it.search(home, interface, table, asked, search).map(done)
            }
            Call::QueueAllocate { interface, ring, events } => {
                it.allocate_queue(home, rank, it.interface(rank, interface)?, ring, events)
            }
            Call::QueueFree { queue } => it.free_queue(it.of_rank(Kind::Queue, rank, queue)?).map(done),
            Call::CounterAllocate { interface, words } => {
                it.allocate_counter(home, rank, it.interface(rank, interface)?, words)
            }
            Call::CounterFree { counter } => {
                it.free_counter(it.of_rank(Kind::Counter, rank, counter)?).map(done)
            }
            Call::CounterChange { counter, successes, failures, set } => {
                let counter = it.of_rank(Kind::Counter, rank, counter)?;
                if set {
                    it.set_counter(home, counter, successes, failures);
                } else {
                    it.count(home, counter, successes, failures);
                }
                Ok(0)
            }
            Call::CounterCancel { counter } => {
                it.cancel_triggered(it.of_rank(Kind::Counter, rank, counter)?);
                Ok(0)
            }
            Call::Operate { interface, operation } => {
                let bytes: [u8; OPERATION_BYTES] = read(home, rank, operation)?;
                it.operate(home, it.interface_or_operations(rank, interface, &bytes)?, &bytes).map(done)
            }
            Call::Bundle { interface } => it.interface(rank, interface).map(|_| 0),
            Call::HandleInterface { handle } => it.interface_of(rank, handle),
            Call::NodeCounts { interface, counts } => self.tell_counts(home, rank, interface, counts),
            Call::RawFrames { interface, frames } => {
                it.interface(rank, interface).and_then(|_| it.send_raw(home, rank, frames))
            }
        }
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
            resets: below.resets,
            triggered: own.triggered,
            strangers: link.dropped(Dropped::Job),
        };
        self.state.write_told(home, &to, &contract::counts_bytes(&counts));
        Ok(0)
    }
}

impl State {
    /// The interface behind a rank's handle.
    fn interface(&self, rank: u32, handle: u32) -> Result<u32> {
        let (place, turn) = split(Kind::Interface, handle).ok_or(Status::ARG_INVALID)?;
        let interface = place - 1;
        let it = self.interfaces.get(interface as usize).ok_or(Status::ARG_INVALID)?;
        let right = interface / 4 == rank && it.open > 0 && it.turn % TURNS == turn;
        if right { Ok(interface) } else { Err(Status::ARG_INVALID) }
    }

    /// The interface behind a rank's handle; if that is 0, the one of the operation's descriptor, or of the counter that it waits for.
    fn interface_or_operations(
        &self,
        rank: u32,
        interface: u32,
        bytes: &[u8; OPERATION_BYTES],
    ) -> Result<u32> {
        if interface != 0 {
            return self.interface(rank, interface);
        }
        let (kind, handle) = match &contract::operation(bytes) {
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
