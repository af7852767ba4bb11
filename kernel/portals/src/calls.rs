//! The system calls of Portals (`lwk_abi::syscall::portals`): what programs may ask for, checked.

use lwk_abi::portals::{
    self as abi, COUNTER_BYTES, NONE, OVERFLOW_LIST, PRIORITY_LIST, PT_ANY, QUEUE_EVENTS, QUEUE_MAX,
    SEARCH_DELETE, SEARCH_ONLY, descriptor, entry as option, event, failure, register, table,
};
use lwk_abi::syscall::portals as call;

use crate::contract;
use crate::events::{Counter, Queue};
use crate::initiator::{Descriptor, OPERATION_BYTES};
use crate::interface::{Interface, Table, slot};
use crate::lists::Entry;
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
        let answer = self.state.answer_call(home, rank, number, arguments);
        if !matches!(number, call::BUNDLE | call::INTERFACE_STATUS) {
            self.work(now, home);
        }
        answer.map_or_else(Status::answer, i64::from)
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
                self.tables.get_mut(place).enabled = (third != 0).into();
                Ok(0)
            }
            call::DESCRIPTOR_BIND => self.bind(memory, rank, self.interface(rank, first)?, b),
            call::DESCRIPTOR_RELEASE => self.release(self.of_rank(Kind::Descriptor, rank, first)?).map(done),
            call::ENTRY_APPEND => {
                let interface = self.interface(rank, first)?;
                self.append(memory, rank, interface, self.table(interface, second)?, c, fourth)
            }
            call::ENTRY_UNLINK => self.unlink(memory, self.of_rank(Kind::Entry, rank, first)?).map(done),
            call::ENTRY_SEARCH => {
                let interface = self.interface(rank, first)?;
                self.search(memory, rank, interface, self.table(interface, second)?, c, fourth).map(done)
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
                let interface = self.interface(rank, first)?;
                let bytes: [u8; OPERATION_BYTES] = read(memory, rank, b)?;
                self.operate(memory, interface, &bytes).map(done)
            }
            // Messages go as soon as they can: there is nothing to gain by waiting for the end of a bundle.
            call::BUNDLE => self.interface(rank, first).map(|_| 0),
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
    fn optional(&self, kind: Kind, interface: u32, handle: u32) -> Result<Place> {
        if handle == NONE { Ok(0) } else { self.of_interface(kind, interface, handle) }
    }

    fn table(&self, interface: u32, index: u32) -> Result<Place> {
        let tables = &self.interfaces[interface as usize].tables;
        tables.get(index as usize).copied().filter(|place| *place != 0).ok_or(Status::ARG_INVALID)
    }

    fn open(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        options: u32,
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
            memory.write(&told, &contract::limits_bytes(&it.limits()));
        }
        Ok(handle(Kind::Interface, interface + 1, it.turn))
    }

    /// Closes an interface; with the last one of those who have it open goes all that is of it.
    fn close(&mut self, interface: u32) -> Result<()> {
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
            if self.descriptors.get(place).interface == interface {
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
                self.lists.entries.remove(place);
            }
            after = place;
        }
    }

    fn allocate_table(&mut self, interface: u32, options: u32, queue: u32, wish: u32) -> Result<u32> {
        if options & !(table::ONLY_USE_ONCE | table::ONLY_TRUNCATE | table::FLOWCTRL) != 0 {
            return Err(Status::ARG_INVALID);
        }
        let queue = self.optional(Kind::Queue, interface, queue)?;
        let flow = options & table::FLOWCTRL != 0;
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
        let new = Table { interface, index: index as u32, options, queue, enabled: 1, ..Table::default() };
        let place = self.tables.add(new).ok_or(Status::PT_FULL)?;
        self.interfaces[interface as usize].tables[index] = place;
        if queue != 0 {
            let queue = self.queues.get_mut(queue);
            queue.users += 1;
            queue.reserved += u32::from(flow);
        }
        Ok(index as u32)
    }

    fn free_table(&mut self, interface: u32, index: u32) -> Result<()> {
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

    fn bind(&mut self, memory: &mut impl Memory, rank: u32, interface: u32, address: u64) -> Result<u32> {
        let asked = contract::descriptor(&read(memory, rank, address)?);
        if asked.options & !descriptor::ALL != 0 || asked.reserved != 0 {
            return Err(Status::ARG_INVALID);
        }
        let queue = self.optional(Kind::Queue, interface, asked.queue)?;
        let counter = self.optional(Kind::Counter, interface, asked.counter)?;
        let span = Span::check(memory, rank, asked.start, asked.bytes, false)?;
        let it = &self.interfaces[interface as usize];
        if it.used.descriptors >= it.limits.descriptors {
            return Err(Status::NO_SPACE);
        }
        let new = Descriptor { queue, counter, ..Descriptor::new(span, asked.options, interface) };
        let place = self.descriptors.add(new).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.descriptors += 1;
        self.use_events(queue, counter, 1);
        Ok(handle(Kind::Descriptor, place, self.descriptors.turn(place)))
    }

    /// Counts a user of a queue and of a counter, or one less.
    fn use_events(&mut self, queue: Place, counter: Place, users: i32) {
        if queue != 0 {
            let it = &mut self.queues.get_mut(queue).users;
            *it = it.wrapping_add_signed(users);
        }
        if counter != 0 {
            let it = &mut self.counters.get_mut(counter).users;
            *it = it.wrapping_add_signed(users);
        }
    }

    fn release(&mut self, place: Place) -> Result<()> {
        let it = *self.descriptors.get(place);
        if it.users > 0 {
            return Err(Status::IN_USE);
        }
        self.use_events(it.queue, it.counter, -1);
        self.descriptors.remove(place);
        self.interfaces[it.interface as usize].used.descriptors -= 1;
        Ok(())
    }

    /// The entry that a program describes.
    fn described(
        &self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        table: Place,
        address: u64,
    ) -> Result<Entry> {
        let mut asked = contract::entry(&read(memory, rank, address)?);
        if asked.options & !option::ALL != 0 || asked.reserved != 0 {
            return Err(Status::ARG_INVALID);
        }
        // A list entry without matching takes whatever comes from whomever it names.
        if interface & 2 == 0 {
            (asked.bits, asked.ignore, asked.min_free) = (0, u64::MAX, 0);
            asked.options &= !(option::MANAGE_LOCAL | option::NO_TRUNCATE);
        }
        let written = asked.options & option::OP_PUT != 0;
        let span = Span::check(memory, rank, asked.start, asked.bytes, written)?;
        let counter = self.optional(Kind::Counter, interface, asked.counter)?;
        let logical = interface & 1;
        Ok(Entry { interface, table, counter, logical, ..Entry::new(&asked, span) })
    }

    fn append(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        table: Place,
        address: u64,
        list: u32,
    ) -> Result<u32> {
        if list != PRIORITY_LIST && list != OVERFLOW_LIST {
            return Err(Status::ARG_INVALID);
        }
        let entry = Entry { list, ..self.described(memory, rank, interface, table, address)? };
        let it = &self.interfaces[interface as usize];
        if it.used.entries >= it.limits.entries {
            return Err(Status::NO_SPACE);
        }
        let of = *self.tables.get(table);
        if of.options & table::ONLY_USE_ONCE != 0 && list == PRIORITY_LIST && !entry.has(option::USE_ONCE) {
            return Err(Status::ARG_INVALID);
        }
        if list == PRIORITY_LIST {
            while let Some(found) = self.lists.find_header(&self.tables.get(table).heads, &entry) {
                self.take_header(memory, found, &entry);
                if entry.has(option::USE_ONCE) {
                    // It has served: the program gets a handle of nothing.
                    if !entry.has(option::EVENT_UNLINK_DISABLE) {
                        let event = self.entry_event(&entry, event::AUTO_UNLINK);
                        self.post(memory, of.queue, &event, false);
                    }
                    return Ok(handle(Kind::Entry, 1 << 16, 0));
                }
            }
        }
        let heads = &mut self.tables.get_mut(table).heads;
        let place = self.lists.append(heads, entry).ok_or(Status::NO_SPACE)?;
        self.interfaces[interface as usize].used.entries += 1;
        self.use_events(0, entry.counter, 1);
        if !entry.has(option::EVENT_LINK_DISABLE) {
            let event = self.entry_event(&entry, event::LINK);
            self.post(memory, of.queue, &event, false);
        }
        Ok(handle(Kind::Entry, place, self.lists.entries.turn(place)))
    }

    fn unlink(&mut self, memory: &mut impl Memory, place: Place) -> Result<()> {
        let it = *self.lists.entries.get(place);
        if it.arriving > 0 || it.unexpected > 0 {
            return Err(Status::IN_USE);
        }
        if it.linked != 0 {
            self.lists.unlink(&mut self.tables.get_mut(it.table).heads, place);
        }
        // The program unlinks it, so no event tells of it.
        self.lists.entries.get_mut(place).options |= option::EVENT_UNLINK_DISABLE;
        self.free_entry(memory, place);
        Ok(())
    }

    fn search(
        &mut self,
        memory: &mut impl Memory,
        rank: u32,
        interface: u32,
        table: Place,
        address: u64,
        what: u32,
    ) -> Result<()> {
        if what != SEARCH_ONLY && what != SEARCH_DELETE {
            return Err(Status::ARG_INVALID);
        }
        let entry = self.described(memory, rank, interface, table, address)?;
        let queue = self.tables.get(table).queue;
        let Some(first) = self.lists.find_header(&self.tables.get(table).heads, &entry) else {
            let event = abi::Event { failure: failure::NO_MATCH, ..self.entry_event(&entry, event::SEARCH) };
            self.post(memory, queue, &event, false);
            return Ok(());
        };
        if what == SEARCH_ONLY {
            let header = *self.lists.headers.get(first);
            let event = abi::Event { user: entry.user, ..self.header_event(&header, event::SEARCH) };
            self.post(memory, queue, &event, false);
            return Ok(());
        }
        let mut found = Some(first);
        while let Some(place) = found {
            self.take_header(memory, place, &entry);
            let more = !entry.has(option::USE_ONCE);
            found = more.then(|| self.lists.find_header(&self.tables.get(table).heads, &entry)).flatten();
        }
        Ok(())
    }

    fn allocate_queue(
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

    fn free_queue(&mut self, place: Place) -> Result<()> {
        let it = *self.queues.get(place);
        if it.users > 0 {
            return Err(Status::IN_USE);
        }
        self.queues.remove(place);
        self.interfaces[it.interface as usize].used.queues -= 1;
        Ok(())
    }

    fn allocate_counter(
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

    fn free_counter(&mut self, place: Place) -> Result<()> {
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

/// A structure out of the program's memory. Errors: the rank has no such memory.
fn read<const N: usize>(memory: &impl Memory, rank: u32, address: u64) -> Result<[u8; N]> {
    let span = Span::check(memory, rank, address, N as u64, false)?;
    let mut bytes = [0; N];
    memory.read(&span, &mut bytes);
    Ok(bytes)
}
