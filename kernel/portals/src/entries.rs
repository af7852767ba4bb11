//! List entries: appended, unlinked, and compared with what came unexpected (Portals 4.3, sections 3.11 and 3.12).

use lwk_abi::portals::{
    self as abi, ANY, EntryOptions as Options, OVERFLOW_LIST, PRIORITY_LIST, SEARCH_DELETE, SEARCH_ONLY,
    TableOptions, event, failure,
};

use crate::lists::Entry;
use crate::memory::Memory;
use crate::node::State;
use crate::slab::{Kind, Place, handle};
use crate::{Result, Status};

impl State {
    /// The entry that a program describes.
    fn described(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        table: Place,
        mut asked: abi::Entry,
    ) -> Result<Entry> {
        if !Options::all().contains(asked.options) {
            return Err(Status::ARG_INVALID);
        }
        let logical = interface & 1;
        if logical != 0 {
            // A rank is one word; what stands behind it in the program's union means nothing.
            asked.process = if asked.node == ANY { ANY } else { 0 };
        }
        // A list entry without matching takes whatever comes from whomever it names.
        if interface & 2 == 0 {
            (asked.bits, asked.ignore, asked.min_free) = (0, u64::MAX, 0);
            asked.options -= Options::MANAGE_LOCAL | Options::NO_TRUNCATE;
        }
        let counter = self.optional(Kind::Counter, interface, asked.counter)?;
        let (written, scattered) =
            (asked.options.contains(Options::OP_PUT), asked.options.contains(Options::IOVEC));
        let region = self.region(memory, interface, (asked.start, asked.bytes), scattered, written)?;
        Ok(Entry { interface, table, counter, logical, ..Entry::new(&asked, region) })
    }

    /// Appends an entry to a list, unless it serves once and finds an unexpected message. Gives its handle.
    pub(crate) fn append(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        table: Place,
        mut asked: abi::Entry,
        list: u32,
    ) -> Result<u32> {
        let it = &self.interfaces[interface as usize];
        let of = *self.tables.get(table);
        let once = asked.options.contains(Options::USE_ONCE);
        if list > OVERFLOW_LIST || (of.has(TableOptions::ONLY_USE_ONCE) && list == PRIORITY_LIST && !once) {
            return Err(Status::ARG_INVALID);
        }
        if of.heads.entries[list as usize] >= it.limits.list_size {
            return Err(Status::LIST_TOO_LONG);
        }
        if it.used.entries >= it.limits.entries || self.lists.entries.room() == 0 {
            return Err(Status::NO_SPACE);
        }
        let fetch = self.fetching(memory, interface, table, &mut asked, list)?;
        let mut entry = Entry { list, fetch, ..self.described(memory, interface, table, asked)? };
        if list == PRIORITY_LIST && self.serve_unexpected(memory, &mut entry) {
            self.forget_region(interface, &entry.memory);
            if !entry.has(Options::EVENT_UNLINK_DISABLE) {
                let event = self.entry_event(&entry, event::AUTO_UNLINK);
                self.post(memory, of.queue, &event, false);
            }
            // It has served: the program gets a handle of nothing.
            return Ok(handle(Kind::Entry, 1 << 16, 0));
        }
        let heads = &mut self.tables.get_mut(table).heads;
        let place = self.lists.append(heads, entry).expect("room was looked for");
        self.interfaces[interface as usize].used.entries += 1;
        self.use_events(0, entry.counter, 1);
        if fetch != 0 {
            self.descriptors.get_mut(fetch).users += 1;
        }
        if !entry.has(Options::EVENT_LINK_DISABLE) {
            let event = self.entry_event(&entry, event::LINK);
            self.post(memory, of.queue, &event, false);
        }
        Ok(handle(Kind::Entry, place, self.lists.entries.turn(place)))
    }

    /// Gives unexpected messages to an entry that is about to be appended. True: it has had enough, and is not appended.
    fn serve_unexpected(&mut self, memory: &mut impl Memory, entry: &mut Entry) -> bool {
        while let Some(found) = self.lists.find_header(&self.tables.get(entry.table).heads, entry) {
            let bytes = self.lists.headers.get(found).bytes;
            self.take_header(memory, found, entry);
            if entry.has(Options::USE_ONCE) {
                return true;
            }
            if entry.has(Options::MANAGE_LOCAL) && entry.has(Options::LOCAL_INC_UH_RLENGTH) {
                entry.local_offset = entry.local_offset.saturating_add(bytes).min(entry.memory.bytes());
                if entry.is_used_up() {
                    return true;
                }
            }
        }
        false
    }

    pub(crate) fn unlink(&mut self, memory: &mut impl Memory, place: Place) -> Result<()> {
        let it = *self.lists.entries.get(place);
        if it.arriving > 0 || it.unexpected > 0 {
            return Err(Status::IN_USE);
        }
        if it.linked != 0 {
            self.lists.unlink(&mut self.tables.get_mut(it.table).heads, place);
        }
        // The program unlinks it, so no event tells of it.
        self.lists.entries.get_mut(place).options |= Options::EVENT_UNLINK_DISABLE.bits();
        self.free_entry(memory, place);
        Ok(())
    }

    pub(crate) fn search(
        &mut self,
        memory: &mut impl Memory,
        interface: u32,
        table: Place,
        asked: abi::Entry,
        what: u32,
    ) -> Result<()> {
        if what != SEARCH_ONLY && what != SEARCH_DELETE {
            return Err(Status::ARG_INVALID);
        }
        let entry = self.described(memory, interface, table, asked)?;
        // It is compared with messages and nothing is put there.
        self.forget_region(interface, &entry.memory);
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
            let more = !entry.has(Options::USE_ONCE);
            found = more.then(|| self.lists.find_header(&self.tables.get(table).heads, &entry)).flatten();
        }
        Ok(())
    }
}
