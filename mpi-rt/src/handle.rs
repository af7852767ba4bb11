//! Handles: integers that name objects of the engine. A freed handle is never valid again, even when its place is reused.

use crate::abi::FIRST_DYNAMIC_HANDLE;
use alloc::vec::Vec;

/// An object's name: a predefined number below [`FIRST_DYNAMIC_HANDLE`], or place and generation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Handle(pub u64);

impl Handle {
    #[inline]
    fn new(place: usize, generation: u32) -> Handle {
        Handle((generation as u64) << 32 | (place as u64 + FIRST_DYNAMIC_HANDLE))
    }

    #[inline]
    fn place(self) -> Option<usize> {
        Some((self.0 as u32 as u64).checked_sub(FIRST_DYNAMIC_HANDLE)? as usize)
    }

    #[inline]
    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Objects of one kind, by handle.
pub struct Table<T> {
    entries: Vec<Entry<T>>,
    free: Vec<usize>,
}

struct Entry<T> {
    generation: u32,
    object: Option<T>,
}

impl<T> Table<T> {
    /// No objects.
    pub const fn new() -> Table<T> {
        Table { entries: Vec::new(), free: Vec::new() }
    }

    /// Gives the object a handle.
    #[inline]
    pub fn insert(&mut self, object: T) -> Handle {
        if let Some(place) = self.free.pop() {
            let entry = &mut self.entries[place];
            entry.object = Some(object);
            return Handle::new(place, entry.generation);
        }
        self.entries.push(Entry { generation: 0, object: Some(object) });
        Handle::new(self.entries.len() - 1, 0)
    }

    /// The object; `None` if there is none with this handle.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        let entry = self.entries.get(handle.place()?)?;
        if entry.generation == handle.generation() { entry.object.as_ref() } else { None }
    }

    /// The object, to be changed.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let entry = self.entries.get_mut(handle.place()?)?;
        if entry.generation == handle.generation() { entry.object.as_mut() } else { None }
    }

    /// Takes the object out; its handle is invalid from now on.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        let place = handle.place()?;
        let entry = self.entries.get_mut(place)?;
        if entry.generation != handle.generation() {
            return None;
        }
        let object = entry.object.take()?;
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(place);
        Some(object)
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
        assert_eq!((first.place(), second.place()), (Some(0), Some(0)));
        assert_eq!(table.get(first), None);
        assert_eq!(table.remove(first), None);
        assert_eq!(table.get(second), Some(&'b'));
    }

    #[test]
    fn predefined_and_wild_numbers_name_nothing() {
        let mut table = Table::new();
        table.insert('a');
        for number in [0, 0x180, 0xfff, 0x1001, u64::MAX, 1 << 32 | 0x1000] {
            assert_eq!(table.get(Handle(number)), None, "{number:#x}");
        }
    }
}
