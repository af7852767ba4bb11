//! Messages on their way out: a queue for each peer, in one table.

use bytemuck::Zeroable;

/// Messages of all peers together that may be under way.
pub const MESSAGES_MAX: usize = 4096;

/// A place in the table, plus one; 0 is none.
pub type MessageIndex = u32;

/// A message and how far it has got.
#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
pub struct Message<T> {
    /// The next of its peer's, or of the free ones.
    pub next: MessageIndex,
    /// Pieces that have been sent and not been acknowledged.
    pub under_way: u32,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// 1 when all pieces have been sent.
    pub cut: u32,
    padding: u32,
    pub owner: T,
}

#[derive(Zeroable)]
#[repr(C)]
pub struct Messages<T> {
    free: MessageIndex,
    /// Places from this one on have never been used.
    fresh: u32,
    used: u32,
    padding: u32,
    table: [Message<T>; MESSAGES_MAX],
}

impl<T: Zeroable + Copy> Messages<T> {
    /// Takes a place; nothing if all are taken.
    pub fn add(&mut self, bytes: u64, owner: T) -> Option<MessageIndex> {
        let index = match self.free {
            0 if self.fresh as usize == MESSAGES_MAX => return None,
            0 => {
                self.fresh += 1;
                self.fresh
            }
            free => {
                self.free = self.get(free).next;
                free
            }
        };
        self.used += 1;
        *self.get_mut(index) = Message { next: 0, under_way: 0, bytes, cut: 0, padding: 0, owner };
        Some(index)
    }

    pub fn remove(&mut self, index: MessageIndex) {
        self.get_mut(index).next = self.free;
        self.free = index;
        self.used -= 1;
    }

    pub fn get(&self, index: MessageIndex) -> &Message<T> {
        &self.table[index as usize - 1]
    }

    pub fn get_mut(&mut self, index: MessageIndex) -> &mut Message<T> {
        &mut self.table[index as usize - 1]
    }

    /// Places taken.
    pub fn used(&self) -> usize {
        self.used as usize
    }
}
