//! Handles: integers that name objects of the engine. A freed handle is never valid again, even when its place is reused, and a
//! handle of one kind of object is never valid as one of another kind.

use crate::abi::FIRST_DYNAMIC_HANDLE;
use alloc::vec::Vec;

/// An object's name: a predefined number below [`FIRST_DYNAMIC_HANDLE`], or generation (32 bits), kind (4) and place (28).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Handle(pub u64);

/// The kinds of objects that have tables, as they stand in handles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    Request = 0,
    Communicator,
    Group,
    Datatype,
    Operation,
    Window,
    File,
    Session,
    Message,
    Info,
    ErrorHandler,
    Other,
    /// Requests as well: compact ones.
    Compact,
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        f.write_str(match self {
            Kind::Request | Kind::Compact => "request",
            Kind::Communicator => "communicator",
            Kind::Group => "group",
            Kind::Datatype => "datatype",
            Kind::Operation => "operation",
            Kind::Window => "window",
            Kind::File => "file",
            Kind::Session => "session",
            Kind::Message => "message",
            Kind::Info => "info object",
            Kind::ErrorHandler => "error handler",
            Kind::Other => "object",
        })
    }
}

/// Bits of a place in a handle; the kind follows.
const PLACE_BITS: u32 = 28;

impl Handle {
    #[inline(always)]
    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Objects of one kind, by handle.
pub struct Table<T> {
    /// The low half of the handle of place 0.
    first: u32,
    entries: Vec<Entry<T>>,
    free: Vec<usize>,
}

struct Entry<T> {
    generation: u32,
    object: Option<T>,
}

impl<T> Table<T> {
    /// No requests.
    pub const fn new() -> Table<T> {
        Table::of(Kind::Request)
    }

    /// No objects of a kind.
    pub const fn of(kind: Kind) -> Table<T> {
        let first = (kind as u32) << PLACE_BITS | FIRST_DYNAMIC_HANDLE as u32;
        Table { first, entries: Vec::new(), free: Vec::new() }
    }

    #[inline(always)]
    fn handle(&self, place: usize, generation: u32) -> Handle {
        Handle((generation as u64) << 32 | (self.first as usize + place) as u64)
    }

    /// The place a handle names; out of bounds for handles of other kinds.
    #[inline(always)]
    fn place(&self, handle: Handle) -> usize {
        (handle.0 as u32).wrapping_sub(self.first) as usize
    }

    /// Gives the object a handle.
    #[inline(always)]
    pub fn insert(&mut self, object: T) -> Handle {
        if let Some(place) = self.free.pop()
            && let Some(entry) = self.entries.get_mut(place)
            // A free place has none; said here so that nothing is dropped.
            && entry.object.is_none()
        {
            entry.object = Some(object);
            let generation = entry.generation;
            return self.handle(place, generation);
        }
        self.grow(object)
    }

    #[inline(never)]
    fn grow(&mut self, object: T) -> Handle {
        self.entries.push(Entry { generation: 0, object: Some(object) });
        self.handle(self.entries.len() - 1, 0)
    }

    /// The object; `None` if there is none with this handle.
    #[inline(always)]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        let entry = self.entries.get(self.place(handle))?;
        if entry.generation == handle.generation() { entry.object.as_ref() } else { None }
    }

    /// The object, to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let place = self.place(handle);
        let entry = self.entries.get_mut(place)?;
        if entry.generation == handle.generation() { entry.object.as_mut() } else { None }
    }

    /// Takes the object out; its handle is invalid from now on.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        let place = self.place(handle);
        let entry = self.entries.get_mut(place)?;
        if entry.generation != handle.generation() {
            return None;
        }
        let object = entry.object.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(place);
        Some(object)
    }

    /// Drops the object where it is; its handle is invalid from now on.
    #[inline(always)]
    pub fn discard(&mut self, handle: Handle) {
        let place = self.place(handle);
        if let Some(entry) = self.entries.get_mut(place)
            && entry.generation == handle.generation()
            && entry.object.is_some()
        {
            entry.object = None;
            entry.generation = entry.generation.wrapping_add(1);
            self.free.push(place);
        }
    }

    /// Takes a handle for an object that comes later ([`Table::fill`]); until then it names nothing.
    pub fn reserve(&mut self) -> Handle {
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry { generation: 0, object: None });
            self.entries.len() - 1
        });
        self.handle(place, self.entries[place].generation)
    }

    /// Gives a reserved handle its object; with `None`, gives the handle up. False if the handle is not reserved.
    pub fn fill(&mut self, handle: Handle, object: Option<T>) -> bool {
        let place = self.place(handle);
        let Some(entry) = self.entries.get_mut(place) else { return false };
        if entry.generation != handle.generation() || entry.object.is_some() {
            return false;
        }
        if object.is_none() {
            entry.generation = entry.generation.wrapping_add(1);
            self.free.push(place);
        }
        entry.object = object;
        true
    }

    /// All objects with their handles.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        let with_handle = |(place, entry): (usize, &'_ Entry<T>)| self.handle(place, entry.generation);
        self.entries
            .iter()
            .enumerate()
            .filter_map(move |it| it.1.object.as_ref().map(|object| (with_handle(it), object)))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_handle_stays_invalid_when_its_place_is_used_again() {
        let mut table = Table::new();
        let first = table.insert('a');
        assert_eq!(table.get(first), Some(&'a'));
        assert_eq!(table.remove(first), Some('a'));
        let second = table.insert('b');
        assert_eq!((table.place(first), table.place(second)), (0, 0));
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first), None);
        table.discard(first);
        assert_eq!(table.get(second), Some(&'b'));
        table.discard(second);
        table.discard(second);
        let third = table.insert('c');
        assert_eq!((table.place(third), table.get(second), table.len()), (0, None, 1));
        let fourth = table.insert('d');
        assert_eq!(table.place(fourth), 1);
    }

    #[test]
    fn predefined_and_wild_numbers_name_nothing() {
        let mut table = Table::new();
        table.insert('a');
        for number in [0, 0x180, 0xfff, 0x1001, u64::MAX, 1 << 32 | 0x1000] {
            assert_eq!(table.get(Handle(number)), None, "{number:#x}");
        }
    }

    #[test]
    fn a_handle_of_another_kind_names_nothing() {
        let (mut groups, mut infos) = (Table::of(Kind::Group), Table::of(Kind::Info));
        let (group, info) = (groups.insert('g'), infos.insert('i'));
        assert_eq!((groups.get(info), infos.get(group)), (None, None));
        assert_eq!((groups.remove(info), infos.remove(group)), (None, None));
        assert_eq!((groups.get(group), infos.get(info)), (Some(&'g'), Some(&'i')));
    }

    #[test]
    fn a_reserved_handle_names_nothing_until_it_is_filled() {
        let mut table = Table::new();
        let handle = table.reserve();
        assert_eq!(table.get(handle), None);
        assert!(table.fill(handle, Some('a')));
        assert!(!table.fill(handle, Some('b')));
        assert_eq!(table.get(handle), Some(&'a'));
        let given_up = table.reserve();
        assert!(table.fill(given_up, None));
        let next = table.insert('c');
        assert_eq!(table.place(given_up), table.place(next));
        assert_eq!((table.get(given_up), table.get(next)), (None, Some(&'c')));
    }
}
