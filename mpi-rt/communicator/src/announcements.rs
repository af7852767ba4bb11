//! The memory of announcements (`lwk_ring::Announcement`), which is used again when all members have read what it says.

use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_mpi_core::error::{Error, Result};
use lwk_ring::{Announcement, Word};

/// Announcements of this rank: their memory, and how many members will have read each when it can be used again.
pub struct Announcements(Vec<(&'static [Word], u64)>);

impl Announcements {
    pub const fn new() -> Announcements {
        Announcements(Vec::new())
    }

    /// Memory for an announcement to that many members. Errors: `NO_MEM`.
    pub fn make(&mut self, members: usize, context: u32) -> Result<&'static [Word]> {
        let needed = Announcement::words(members);
        let unused = self
            .0
            .iter()
            .position(|(words, readers)| words.len() >= needed && Announcement::is_over(words, *readers));
        let words = match unused {
            Some(place) => {
                self.0[place].1 = members as u64;
                self.0[place].0
            }
            None => {
                let mut words: Vec<Word> = Vec::new();
                let room = needed.next_power_of_two();
                words.try_reserve_exact(room).map_err(|_| Error::NO_MEM)?;
                words.extend((0..room).map(|_| Word::new()));
                let words: &'static [Word] = Box::leak(words.into_boxed_slice());
                self.0.push((words, members as u64));
                words
            }
        };
        Announcement::make(words, context as u64);
        Ok(words)
    }
}
