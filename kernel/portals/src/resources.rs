//! What programs have of a node: interfaces, tables, descriptors, queues and counters, allocated and given back (Portals 4.3, sections 3.5, 3.6, 3.10, 3.13
//! and 3.14).

use lwk_abi::portals::{
    self as abi, COUNTER_BYTES, DescriptorOptions, InterfaceOptions, PT_ANY, QUEUE_EVENTS, QUEUE_MAX,
    TableOptions, register,
};

use crate::calls::read;
use crate::contract;
use crate::events::{Counter, Queue};
use crate::initiator::Descriptor;
use crate::interface::{Interface, OF_A_RANK, Table, slot};
use crate::memory::{Memory, Span};
use crate::node::State;
use crate::region::Region;
use crate::slab::{Kind, Place, handle};
use crate::{Result, Status};

impl State {
    pub(crate) fn open(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        options: InterfaceOptions,
        desired: u64,
        actual: u64,
    ) -> Result<u32> {
        let interface = rank * 4 + u32::from(slot(options).ok_or(Status::ARG_INVALID)?);
        let desired = match desired {
            0 => None,
            address => Some(contract::limits(&read(memory, rank, address)?)),
        };
        let told = match actual {
            0 => None,
            address => {
                let bytes = size_of::<abi::Limits>() as u64;
                Some(Span::check(memory, rank, address, bytes, true)?)
            }
        };
        let it = &mut self.interfaces[interface as usize];
        if it.open == 0 {
            it.limits = Interface::settle(desired.as_ref());
            it.registers = [0; register::COUNT as usize];
        }
        it.open += 1;
        if let Some(told) = told {
            let limits = contract::limits_bytes(&it.limits());
            self.write_told(memory, &told, &limits);
        }
        Ok(self.handle_of(interface))
    }

    /// Closes an interface; with the last one of those who have it open goes all that is of it.
    pub(crate) fn close(&mut self, interface: u32) -> Result<()> {
        let it = &mut self.interfaces[interface as usize];
        if it.open > 1 {
            it.open -= 1;
            return Ok(());
        }
        let mut after = 0;
        while let Some(place) = self.operations.next_taken(after) {
            if self.operations.get(place).interface == interface {
                return Err(Status::IN_USE);
            }
            after = place;
        }
        let tables = self.interfaces[interface as usize].tables;
        if tables.iter().any(|place| *place != 0 && self.tables.get(*place).arriving > 0) {
            return Err(Status::IN_USE);
        }
        // What still waits to be begun, begins with nothing.
        after = 0;
        while let Some(place) = self.counters.next_taken(after) {
            if self.counters.get(place).interface == interface {
                self.cancel_triggered(place);
                self.counters.remove(place);
            }
            after = place;
        }
        after = 0;
        while let Some(place) = self.descriptors.next_taken(after) {
            let it = *self.descriptors.get(place);
            if it.interface == interface {
                self.pieces.release(&it.memory);
                self.descriptors.remove(place);
            }
            after = place;
        }
        for place in tables.into_iter().filter(|place| *place != 0) {
            self.clear(place);
            self.tables.remove(place);
        }
        after = 0;
        while let Some(place) = self.queues.next_taken(after) {
            if self.queues.get(place).interface == interface {
                self.queues.remove(place);
            }
            after = place;
        }
        let it = &mut self.interfaces[interface as usize];
        let triggered = it.used.triggered;
        *it = Interface { turn: it.turn.wrapping_add(1), ..bytemuck::Zeroable::zeroed() };
        // Operations that have been set off and not begun still count.
        it.used.triggered = triggered;
        Ok(())
    }

    /// Takes all entries and unexpected messages of a table away.
    fn clear(&mut self, table: Place) {
        let mut after = 0;
        while let Some(place) = self.lists.headers.next_taken(after) {
            if self.lists.headers.get(place).table == table {
                if self.lists.headers.get(place).taken == 0 {
                    self.lists.take(&mut self.tables.get_mut(table).heads, place);
                }
                self.lists.headers.remove(place);
            }
            after = place;
        }
        after = 0;
        while let Some(place) = self.lists.entries.next_taken(after) {
            if self.lists.entries.get(place).table == table {
                if self.lists.entries.get(place).linked != 0 {
                    self.lists.unlink(&mut self.tables.get_mut(table).heads, place);
                }
                self.pieces.release(&self.lists.entries.get(place).memory);
                self.lists.entries.remove(place);
            }
            after = place;
        }
    }

    pub(crate) fn allocate_table(
        &mut self,
        interface: u32,
        options: TableOptions,
        queue: u32,
        wish: u32,
    ) -> Result<u32> {
        if !TableOptions::all().contains(options) {
            return Err(Status::ARG_INVALID);
        }
        let queue = self.optional(Kind::Queue, interface, queue)?;
        let flow = options.contains(TableOptions::FLOWCTRL);
        if flow && queue == 0 {
            return Err(Status::PT_EQ_NEEDED);
        }
        let it = &self.interfaces[interface as usize];
        let within = it.limits.tables as usize;
        let index = if wish == PT_ANY {
            it.tables.iter().take(within).position(|place| *place == 0).ok_or(Status::PT_FULL)?
        } else {
            let index = wish as usize;
            match it.tables.get(index) {
                Some(0) if index < within => index,
                Some(_) if index < within => return Err(Status::PT_IN_USE),
                _ => return Err(Status::ARG_INVALID),
            }
        };
        let enabled = (!options.contains(TableOptions::ALLOC_DISABLED)).into();
        let new = Table {
            interface,
            index: index as u32,
            options: options.bits(),
            queue,
            enabled,
            ..Table::default()
        };
        let place = self.tables.add(new).ok_or(Status::PT_FULL)?;
        self.interfaces[interface as usize].tables[index] = place;
        if queue != 0 {
            let queue = self.queues.get_mut(queue);
            queue.users += 1;
            queue.reserved += u32::from(flow);
        }
        Ok(index as u32)
    }

    pub(crate) fn free_table(&mut self, interface: u32, index: u32) -> Result<()> {
        let place = self.table(interface, index)?;
        let it = self.tables.get(place);
        let heads = &it.heads;
        if it.arriving > 0 || heads.entries != [0, 0] || heads.headers_count > 0 || self.is_referred_to(place)
        {
            return Err(Status::PT_IN_USE);
        }
        let (queue, flow) = (it.queue, it.controls_flow());
        if queue != 0 {
            let queue = self.queues.get_mut(queue);
            queue.users -= 1;
            queue.reserved -= u32::from(flow);
        }
        self.tables.remove(place);
        self.interfaces[interface as usize].tables[index as usize] = 0;
        Ok(())
    }

    /// Whether an entry that is off its list still waits for something.
    fn is_referred_to(&self, table: Place) -> bool {
        let mut after = 0;
        while let Some(place) = self.lists.entries.next_taken(after) {
            if self.lists.entries.get(place).table == table {
                return true;
            }
            after = place;
        }
        false
    }

    /// Memory of the interface's rank: at an address, or where the vectors there say. What it takes of the node's pieces is given back by
    /// [`State::forget_region`].
    pub(crate) fn region(
        &mut self,
        memory: &impl Memory,
        interface: u32,
        (start, length): (u64, u64),
        scattered: bool,
        writable: bool,
    ) -> Result<Region> {
        let rank = interface / OF_A_RANK as u32;
        if !scattered {
            return Span::check(memory, rank, start, length, writable).map(Region::from);
        }
        let it = &self.interfaces[interface as usize];
        if length > it.limits.iovecs.into() {
            return Err(Status::ARG_INVALID);
        }
        if it.used.pieces + length as u32 > it.limits.pieces {
            return Err(Status::NO_SPACE);
        }
        let region = self.pieces.gather(memory, rank, (start, length), writable)?;
        self.interfaces[interface as usize].used.pieces += self.pieces.count(&region);
        Ok(region)
    }

    /// Gives the pieces of a region of an interface's back.
    pub(crate) fn forget_region(&mut self, interface: u32, region: &Region) {
        self.interfaces[interface as usize].used.pieces -= self.pieces.count(region);
        self.pieces.release(region);
    }

    pub(crate) fn bind(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        address: u64,
    ) -> Result<u32> {
        let asked = contract::descriptor(&read(memory, rank, address)?);
        if !DescriptorOptions::all().contains(asked.options) {
            return Err(Status::ARG_INVALID);
        }
        let queue = self.optional(Kind::Queue, interface, asked.queue)?;
        let counter = self.optional(Kind::Counter, interface, asked.counter)?;
        let it = &self.interfaces[interface as usize];
        if it.used.descriptors >= it.limits.descriptors || self.descriptors.room() == 0 {
            return Err(Status::NO_SPACE);
        }
        let scattered = asked.options.contains(DescriptorOptions::IOVEC);
        let region = self.region(memory, interface, (asked.start, asked.bytes), scattered, false)?;
        let new = Descriptor { queue, counter, ..Descriptor::new(region, asked.options, interface) };
        let place = self.descriptors.add(new).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.descriptors += 1;
        self.use_events(queue, counter, 1);
        Ok(handle(Kind::Descriptor, place, self.descriptors.turn(place)))
    }

    /// Counts a user of a queue and of a counter, or one less.
    pub(crate) fn use_events(&mut self, queue: Place, counter: Place, users: i32) {
        if queue != 0 {
            let it = &mut self.queues.get_mut(queue).users;
            *it = it.wrapping_add_signed(users);
        }
        if counter != 0 {
            let it = &mut self.counters.get_mut(counter).users;
            *it = it.wrapping_add_signed(users);
        }
    }

    pub(crate) fn release(&mut self, place: Place) -> Result<()> {
        let it = *self.descriptors.get(place);
        if it.users > 0 {
            return Err(Status::IN_USE);
        }
        self.use_events(it.queue, it.counter, -1);
        self.descriptors.remove(place);
        self.forget_region(it.interface, &it.memory);
        self.interfaces[it.interface as usize].used.descriptors -= 1;
        Ok(())
    }

    pub(crate) fn allocate_queue(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        address: u64,
        size: u64,
    ) -> Result<u32> {
        if size == 0 || size > QUEUE_MAX || !address.is_multiple_of(64) {
            return Err(Status::ARG_INVALID);
        }
        let bytes = QUEUE_EVENTS + size * size_of::<abi::Event>() as u64;
        let ring = Span::check(memory, rank, address, bytes, true)?;
        let it = &self.interfaces[interface as usize];
        if it.used.queues >= it.limits.queues {
            return Err(Status::NO_SPACE);
        }
        let place =
            self.queues.add(Queue { ring, size, interface, ..Queue::default() }).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.queues += 1;
        Ok(handle(Kind::Queue, place, self.queues.turn(place)))
    }

    pub(crate) fn free_queue(&mut self, place: Place) -> Result<()> {
        let it = *self.queues.get(place);
        if it.users > 0 {
            return Err(Status::IN_USE);
        }
        self.queues.remove(place);
        self.interfaces[it.interface as usize].used.queues -= 1;
        Ok(())
    }

    pub(crate) fn allocate_counter(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        address: u64,
    ) -> Result<u32> {
        if !address.is_multiple_of(16) {
            return Err(Status::ARG_INVALID);
        }
        let words = Span::check(memory, rank, address, COUNTER_BYTES, true)?;
        let it = &self.interfaces[interface as usize];
        if it.used.counters >= it.limits.counters {
            return Err(Status::NO_SPACE);
        }
        let new = Counter { words, interface, ..Counter::default() };
        let place = self.counters.add(new).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.counters += 1;
        self.set_counter(memory, place, 0, 0);
        Ok(handle(Kind::Counter, place, self.counters.turn(place)))
    }

    pub(crate) fn free_counter(&mut self, place: Place) -> Result<()> {
        let it = *self.counters.get(place);
        if it.users > 0 {
            return Err(Status::IN_USE);
        }
        self.cancel_triggered(place);
        self.counters.remove(place);
        self.interfaces[it.interface as usize].used.counters -= 1;
        Ok(())
    }
}
