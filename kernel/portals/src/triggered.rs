//! Triggered operations: they wait for a counting event (Portals 4.3, section 3.16). Counters and list entries can be changed by them, too.

use bytemuck::Zeroable;
use lwk_abi::portals::{self as abi, NONE, operation};

use crate::initiator::OPERATION_BYTES;
use crate::interface::OF_A_RANK;
use crate::memory::{Memory, Span};
use crate::node::State;
use crate::slab::{Kind, Place};
use crate::{Result, Status};

/// An operation that waits for its counting event, as the program wrote it.
#[derive(Clone, Copy, Debug, Zeroable)]
#[repr(C)]
pub struct Triggered {
    operation: [u8; OPERATION_BYTES],
    threshold: u64,
    interface: u32,
    pub(crate) next: Place,
}

impl State {
    /// Does an operation at once, or keeps it for its counting event.
    pub(crate) fn operate(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        bytes: &[u8; OPERATION_BYTES],
    ) -> Result<()> {
        let asked = crate::contract::operation(bytes);
        if asked.trigger == NONE {
            // Counters and entries have calls of their own.
            let at_once = asked.kind < operation::CT_INC;
            return if at_once { self.begin(memory, interface, &asked) } else { Err(Status::ARG_INVALID) };
        }
        let counter = self.of_interface(Kind::Counter, interface, asked.trigger)?;
        self.check(memory, interface, &asked)?;
        let it = self.counters.get(counter);
        if it.successes.wrapping_add(it.failures) >= asked.threshold {
            return self.begin(memory, interface, &asked);
        }
        let used = &self.interfaces[interface as usize];
        if used.used.triggered >= used.limits.triggered {
            return Err(Status::NO_SPACE);
        }
        let threshold = asked.threshold;
        let new = Triggered { operation: *bytes, threshold, interface, next: 0 };
        let place = self.triggered.add(new).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.triggered += 1;
        // Behind all whose threshold is not greater, so that they are set off in the order in which they were given.
        let (mut before, mut at) = (0, self.counters.get(counter).triggered);
        while at != 0 && self.triggered.get(at).threshold <= threshold {
            (before, at) = (at, self.triggered.get(at).next);
        }
        self.triggered.get_mut(place).next = at;
        match before {
            0 => self.counters.get_mut(counter).triggered = place,
            before => self.triggered.get_mut(before).next = place,
        }
        Ok(())
    }

    /// Moves what a counting event triggers now to the operations that are to be begun.
    pub(crate) fn set_off(&mut self, counter: Place) {
        let it = self.counters.get(counter);
        let reached = it.successes.wrapping_add(it.failures);
        let mut at = it.triggered;
        while at != 0 && self.triggered.get(at).threshold <= reached {
            let next = self.triggered.get(at).next;
            self.triggered.get_mut(at).next = 0;
            self.counts.triggered += 1;
            match core::mem::replace(&mut self.fired[1], at) {
                0 => self.fired[0] = at,
                last => self.triggered.get_mut(last).next = at,
            }
            at = next;
        }
        self.counters.get_mut(counter).triggered = at;
    }

    /// Forgets what a counting event was to trigger.
    pub(crate) fn cancel_triggered(&mut self, counter: Place) {
        let mut at = core::mem::take(&mut self.counters.get_mut(counter).triggered);
        while at != 0 {
            let Triggered { next, interface, .. } = *self.triggered.get(at);
            self.triggered.remove(at);
            self.interfaces[interface as usize].used.triggered -= 1;
            at = next;
        }
    }

    /// Begins the operations that have been triggered, as far as there is room.
    pub(crate) fn start_fired(&mut self, memory: &mut impl Memory) {
        while self.fired[0] != 0 {
            let at = self.fired[0];
            let it = *self.triggered.get(at);
            let asked = crate::contract::operation(&it.operation);
            // A descriptor that has been released since is the program's mistake: nobody is there to be told.
            if self.begin(memory, it.interface, &asked) == Err(Status::NO_SPACE) {
                return;
            }
            // It may have set off more, behind itself.
            let next = self.triggered.get(at).next;
            self.fired[0] = next;
            if next == 0 {
                self.fired[1] = 0;
            }
            self.triggered.remove(at);
            self.interfaces[it.interface as usize].used.triggered -= 1;
        }
    }

    /// Does an operation that concerns this rank alone.
    pub(crate) fn begin_here(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        asked: &abi::Operation,
    ) -> Result<()> {
        match asked.kind {
            operation::CT_INC => {
                let counter = self.of_interface(Kind::Counter, interface, asked.counter)?;
                self.count(memory, counter, asked.operand, asked.failures);
                Ok(())
            }
            operation::CT_SET => {
                let counter = self.of_interface(Kind::Counter, interface, asked.counter)?;
                self.set_counter(memory, counter, asked.operand, asked.failures);
                Ok(())
            }
            operation::ENTRY_APPEND => {
                let (table, entry, told) = self.appended(memory, interface, asked)?;
                let appended = self.append(memory, interface, table, entry, asked.atomic);
                self.write_told(memory, &told, &appended.unwrap_or(NONE).to_ne_bytes());
                appended.map(drop)
            }
            operation::ENTRY_UNLINK => {
                let entry = self.of_interface(Kind::Entry, interface, asked.put)?;
                self.unlink(memory, entry)
            }
            _ => Err(Status::ARG_INVALID),
        }
    }

    /// The table and the entry of an operation that appends one, and where its handle goes.
    pub(crate) fn appended(
        &self,
        memory: &impl Memory,
        interface: u32,
        asked: &abi::Operation,
    ) -> Result<(Place, abi::Entry, Span)> {
        let rank = interface / OF_A_RANK as u32;
        let table = self.table(interface, asked.table)?;
        // The program's own structure, which ends before `user`.
        const BYTES: usize = size_of::<abi::Entry>() - 8;
        let mut bytes = [0; BYTES + 8];
        memory.read(&Span::check(memory, rank, asked.put_offset, BYTES as u64, false)?, &mut bytes[..BYTES]);
        let entry = abi::Entry { user: asked.user, ..crate::contract::entry(&bytes) };
        let told = Span::check(memory, rank, asked.get_offset, 4, true)?;
        if asked.atomic > abi::OVERFLOW_LIST { Err(Status::ARG_INVALID) } else { Ok((table, entry, told)) }
    }
}
