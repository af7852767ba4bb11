//! Packets: what travels in the FIFOs of the shared-memory transports, after the messages of the dissertation's section 3.1.1 and
//! the control messages of 3.2.2.

use crate::Label;
use lwk_shm::{BLOCK, CellNumber, Consumer, Producer};

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A whole message: envelope, then its bytes.
    Eager = 1,
    /// A whole message: envelope, then the numbers of the cells that hold its bytes.
    Loaded = 2,
    /// *Request to send*: an envelope; then, in the advanced design, cells that hold the message's first bytes.
    Request = 3,
    /// *Ok to send*: to `peer_id`, a send: it may go on; the receive's number is `own_id`, and it wants `bytes` bytes.
    Go = 4,
    /// *Request to send* again, for the receive `peer_id`: the buffer was used up and there is more.
    More = 5,
    /// Bytes for the receive `peer_id`: themselves, or the numbers of their cells.
    Data = 6,
    /// To a sender: this receiver is late (`bytes` is 1), or no longer (0): see [`super::skew`].
    Pace = 7,
}

/// The first bytes of each packet.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub kind: Kind,
    pub label: Label,
    /// Of an envelope, the message's length; of [`Kind::Go`], what is wanted of it; of [`Kind::Data`], what comes here.
    pub bytes: usize,
    /// Cells that follow the header.
    pub cells: usize,
    /// The sender's number of the send, or of the receive.
    pub own_id: u32,
    /// The addressee's number of the same transfer.
    pub peer_id: u32,
    /// Of a request: the name of the sender's descriptor, by which the receiver takes the message.
    pub name: u64,
}

/// Bytes of a header in the FIFO.
pub const HEADER: usize = 32;
/// Most cells that one control message names: with the header, two lines.
pub const CELLS_MAX: usize = (2 * BLOCK - HEADER) / size_of::<CellNumber>();

/// Numbers of cells, as far as they are used.
pub type CellList = [CellNumber; CELLS_MAX];

impl Header {
    fn words(&self) -> [u64; 4] {
        let first = (self.kind as u64) << 56 | (self.cells as u64) << 48 | self.bytes as u64;
        [first, self.label.0, (self.own_id as u64) << 32 | self.peer_id as u64, self.name]
    }

    fn from_words([first, label, ids, name]: [u64; 4]) -> Option<Header> {
        let kind = match (first >> 56) as u8 {
            1 => Kind::Eager,
            2 => Kind::Loaded,
            3 => Kind::Request,
            4 => Kind::Go,
            5 => Kind::More,
            6 => Kind::Data,
            7 => Kind::Pace,
            _ => return None,
        };
        Some(Header {
            kind,
            label: Label(label),
            bytes: (first & ((1 << 48) - 1)) as usize,
            cells: ((first >> 48) as u8 as usize).min(CELLS_MAX),
            own_id: (ids >> 32) as u32,
            peer_id: ids as u32,
            name,
        })
    }

    /// Bytes of the packet in the FIFO, `payload` of them behind header and cells.
    #[inline(always)]
    pub fn packet_bytes(&self, payload: usize) -> usize {
        HEADER + self.cells * size_of::<CellNumber>() + payload
    }

    /// Writes header and cells at the start of the next packet.
    ///
    /// # Safety
    /// There is room for them.
    #[inline]
    pub unsafe fn write(&self, producer: &mut Producer, cells: &CellList) {
        let words = self.words();
        let (words, cells) = (words.as_ptr().cast::<u8>(), cells.as_ptr().cast::<u8>());
        let listed = self.cells * size_of::<CellNumber>();
        // SAFETY: there is room; a packet begins at a line, so the header is one piece, which the copies fill.
        unsafe {
            producer.write(0, HEADER, |to, offset, length| {
                core::ptr::copy_nonoverlapping(words.add(offset), to, length)
            });
            if listed > 0 {
                producer.write(HEADER, listed, |to, offset, length| {
                    core::ptr::copy_nonoverlapping(cells.add(offset), to, length)
                });
            }
        }
    }

    /// Reads the header of the packet at the front; `None` if it is none, which no peer writes.
    ///
    /// # Safety
    /// There is a packet.
    #[inline]
    pub unsafe fn read(consumer: &Consumer) -> Option<Header> {
        // SAFETY: there is a packet, at the front (this function's contract).
        unsafe { Header::read_at(consumer, 0) }
    }

    /// The same of a packet that begins at byte `position` behind the front one's first.
    ///
    /// # Safety
    /// There is one.
    #[inline]
    pub unsafe fn read_at(consumer: &Consumer, position: usize) -> Option<Header> {
        let mut words = [0u64; 4];
        let to = words.as_mut_ptr().cast::<u8>();
        // SAFETY: each packet has a header; the pieces fill the words.
        unsafe {
            consumer.read(position, HEADER, |from, offset, length| {
                core::ptr::copy_nonoverlapping(from, to.add(offset), length)
            });
        }
        Header::from_words(words)
    }

    /// The cells that follow.
    ///
    /// # Safety
    /// This is the header of the packet at the front.
    pub unsafe fn read_cells(&self, consumer: &Consumer) -> CellList {
        let mut cells = CellList::default();
        let to = cells.as_mut_ptr().cast::<u8>();
        // SAFETY: the header counts them, and no more than the list takes; the pieces fill it.
        unsafe {
            consumer.read(HEADER, self.cells * size_of::<CellNumber>(), |from, offset, length| {
                core::ptr::copy_nonoverlapping(from, to.add(offset), length)
            });
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_survive_their_words() {
        for kind in [Kind::Eager, Kind::Loaded, Kind::Request, Kind::Go, Kind::More, Kind::Data, Kind::Pace] {
            let header = Header {
                kind,
                label: Label::new(u32::MAX, 7),
                bytes: (1 << 47) + 3,
                cells: CELLS_MAX,
                own_id: u32::MAX,
                peer_id: 5,
                name: u64::MAX - 1,
            };
            let again = Header::from_words(header.words()).unwrap();
            assert_eq!((again.kind, again.label, again.bytes), (kind, header.label, header.bytes));
            assert_eq!((again.cells, again.own_id, again.peer_id), (CELLS_MAX, u32::MAX, 5));
            assert_eq!(again.name, header.name);
        }
    }

    #[test]
    fn what_is_no_packet_is_none() {
        for first in [0, 8 << 56, u64::MAX] {
            assert!(Header::from_words([first, 0, 0, 0]).is_none());
        }
        // More cells than a packet holds are never read.
        let header = Header::from_words([6 << 56 | 255 << 48, 0, 0, 0]).unwrap();
        assert_eq!(header.cells, CELLS_MAX);
    }
}
