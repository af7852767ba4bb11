//! A frame: Ethernet's head, the link's, payload. All of the link's numbers are little-endian.
//!
//! | byte | what |
//! | --- | --- |
//! | 0, 6 | destination and source address: [`NodeId::address`] |
//! | 12 | ethertype [`ETHERTYPE`], big-endian |
//! | 14 | version, 1 |
//! | 15 | 1: a queue on the way was full. The only byte that may change on the way, and not in the checksum |
//! | 16 | flags: 1 asks who is there, or whether the life that it names is, 2 has data, 4 and 8 are the first and the last of a message, 16 tells of a mark received, 32 asks for an acknowledgement at once, 64 has several whole messages ([`crate::bundle`]) |
//! | 17 | 0 |
//! | 18, 20 | source and destination node |
//! | 22 | bytes of payload |
//! | 24 | job |
//! | 32, 40 | epochs of source and destination; 0 if not known |
//! | 48 | number of this frame in its stream |
//! | 52 | number of the next frame expected of the other stream |
//! | 56 | bit `i`: the frame `i + 1` after that one is here, too |
//! | 60 | CRC-32C over bytes 12 to 14, 16 to 59 and the payload |

use crate::count::Dropped;
use crate::{bundle, checksum};

/// IEEE's first ethertype for local experiments (IEEE 802, clause 9.2.3).
pub const ETHERTYPE: u16 = 0x88b5;
/// Bytes before the payload.
pub const HEAD_BYTES: usize = 64;
/// The usual jumbo frame: 9000 bytes behind Ethernet's 14. No card has longer ones.
pub const JUMBO_BYTES: usize = 9014;
/// Longest frame, where no card limits it: between nodes that share a machine's memory. The head counts payload in 16 bits.
pub const FRAME_BYTES_MAX: usize = HEAD_BYTES + (60 << 10);
/// Most payload of a frame.
pub const PAYLOAD_BYTES_MAX: usize = FRAME_BYTES_MAX - HEAD_BYTES;
const VERSION: u8 = 1;
/// Where the mark is that a switch sets, and its value.
pub const AT_MARK: usize = 15;
/// See [`AT_MARK`].
pub const MARK: u8 = 1;
const AT_CHECKSUM: usize = 60;

pub(crate) const HELLO: u8 = 1;
pub(crate) const DATA: u8 = 2;
pub(crate) const FIRST: u8 = 4;
pub(crate) const LAST: u8 = 8;
pub(crate) const ECHO: u8 = 16;
pub(crate) const ASKS: u8 = 32;
pub(crate) const BUNDLE: u8 = 64;
const FLAGS: u8 = HELLO | DATA | FIRST | LAST | ECHO | ASKS | BUNDLE;

/// A node of the job, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// Its Ethernet address: locally administered, with the node's number at the end.
    pub fn address(self) -> [u8; 6] {
        let [high, low] = self.0.to_be_bytes();
        [0x02, b'M', b'a', b'r', high, low]
    }
}

/// What a frame's head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub marked: bool,
    pub(crate) flags: u8,
    pub source: NodeId,
    pub destination: NodeId,
    pub job: u64,
    pub from: u64,
    pub to: u64,
    pub sequence: u32,
    pub acknowledged: u32,
    pub selective: u32,
    /// Bytes.
    pub payload: u16,
}

impl Head {
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it carries a piece of a message.
    pub fn is_data(&self) -> bool {
        self.has(DATA)
    }

    /// The bytes of the head, but for the checksum, which [`seal`] puts in.
    pub fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        let mut put = |at: usize, bytes: &[u8]| head[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.destination.address());
        put(6, &self.source.address());
        put(12, &ETHERTYPE.to_be_bytes());
        put(14, &[VERSION, u8::from(self.marked), self.flags, 0]);
        put(18, &self.source.0.to_le_bytes());
        put(20, &self.destination.0.to_le_bytes());
        put(22, &self.payload.to_le_bytes());
        put(24, &self.job.to_le_bytes());
        put(32, &self.from.to_le_bytes());
        put(40, &self.to.to_le_bytes());
        put(48, &self.sequence.to_le_bytes());
        put(52, &self.acknowledged.to_le_bytes());
        put(56, &self.selective.to_le_bytes());
        head
    }
}

/// The checksum of a head, to be continued over the payload. `checksum` continues a CRC-32C over bytes.
pub fn head_checksum(head: &[u8; HEAD_BYTES], checksum: impl Fn(u32, &[u8]) -> u32) -> u32 {
    checksum(checksum(0, &head[12..AT_MARK]), &head[AT_MARK + 1..AT_CHECKSUM])
}

/// Puts the checksum of head and payload into the head.
pub fn seal(head: &mut [u8; HEAD_BYTES], checksum: u32) {
    head[AT_CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
}

/// Reads a frame as it came from the card: what it says, and its payload. `checksum` continues a CRC-32C over bytes.
///
/// # Errors
/// Why it is no frame of this protocol, or is damaged.
pub fn parse(frame: &[u8], checksum: impl Fn(u32, &[u8]) -> u32) -> Result<(Head, &[u8]), Dropped> {
    let (head, payload) = frame.split_first_chunk::<HEAD_BYTES>().ok_or(Dropped::Short)?;
    let parsed = parse_head(head, payload.len())?;
    if !is_intact(head, checksum(head_checksum(head, &checksum), payload)) {
        return Err(Dropped::Checksum);
    }
    if parsed.has(BUNDLE) && !bundle::is_sound(payload) {
        return Err(Dropped::Form);
    }
    Ok((parsed, payload))
}

/// What a node that has nothing more to say answers to a frame that asks whether it is there, if it does: for idle peers, of which nothing else is kept.
pub fn still_here(frame: &[u8]) -> Option<[u8; HEAD_BYTES]> {
    let (asked, _) = parse(frame, checksum::append).ok()?;
    let answer = Head {
        marked: false,
        flags: 0,
        source: asked.destination,
        destination: asked.source,
        from: asked.to,
        to: asked.from,
        sequence: 0,
        acknowledged: 0,
        selective: 0,
        ..asked
    };
    let mut head = answer.encode();
    let sum = head_checksum(&head, checksum::append);
    seal(&mut head, sum);
    // A question to whichever life there is names none.
    (asked.has(HELLO) && asked.to != 0).then_some(head)
}

/// Whether a head holds this checksum, which is of head and payload.
pub(crate) fn is_intact(head: &[u8; HEAD_BYTES], checksum: u32) -> bool {
    word(head, AT_CHECKSUM) == checksum
}

/// What a head says before so many bytes of payload, if it makes sense. It may be damaged.
///
/// # Errors
/// Why it is no head of this protocol.
pub(crate) fn parse_head(head: &[u8; HEAD_BYTES], payload: usize) -> Result<Head, Dropped> {
    if half(head, 12).swap_bytes() != ETHERTYPE {
        return Err(Dropped::Foreign);
    }
    let flags = head[16];
    // What is first or last of a message or asks is data, what asks who is there is not; and data is never empty.
    let ends_without_data = flags & DATA == 0 && flags & (FIRST | LAST | ASKS) != 0;
    let whole = DATA | FIRST | LAST;
    let is_part = flags & BUNDLE != 0 && flags & whole != whole;
    let both = flags & DATA != 0 && flags & HELLO != 0;
    if head[14] != VERSION
        || head[AT_MARK] > MARK
        || flags & !FLAGS != 0
        || head[17] != 0
        || ends_without_data
        || is_part
        || both
    {
        return Err(Dropped::Form);
    }
    let says = half(head, 22);
    if usize::from(says) != payload || payload > PAYLOAD_BYTES_MAX || (payload == 0) != (flags & DATA == 0) {
        return Err(Dropped::Length);
    }
    Ok(Head {
        marked: head[AT_MARK] == MARK,
        flags,
        source: NodeId(half(head, 18)),
        destination: NodeId(half(head, 20)),
        job: long(head, 24),
        from: long(head, 32),
        to: long(head, 40),
        sequence: word(head, 48),
        acknowledged: word(head, 52),
        selective: word(head, 56),
        payload: says,
    })
}

fn half(head: &[u8; HEAD_BYTES], at: usize) -> u16 {
    u16::from_le_bytes([head[at], head[at + 1]])
}

fn word(head: &[u8; HEAD_BYTES], at: usize) -> u32 {
    u32::from(half(head, at)) | u32::from(half(head, at + 2)) << 16
}

fn long(head: &[u8; HEAD_BYTES], at: usize) -> u64 {
    u64::from(word(head, at)) | u64::from(word(head, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn data(payload: &[u8]) -> Vec<u8> {
        let head = Head {
            marked: false,
            flags: DATA | FIRST,
            source: NodeId(3),
            destination: NodeId(0x102),
            job: 77,
            from: 1 << 40,
            to: 5,
            sequence: 6,
            acknowledged: u32::MAX,
            selective: 9,
            payload: payload.len() as u16,
        };
        let mut bytes = head.encode();
        let sum = checksum::append(head_checksum(&bytes, checksum::append), payload);
        seal(&mut bytes, sum);
        let frame: Vec<u8> = bytes.into_iter().chain(payload.iter().copied()).collect();
        assert_eq!(parse(&frame, checksum::append), Ok((head, payload)));
        frame
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let frame = data(b"a piece of a message");
        for bit in 12 * 8..frame.len() * 8 {
            let mut damaged = frame.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let parsed = parse(&damaged, checksum::append);
            if bit == AT_MARK * 8 {
                assert!(parsed.is_ok_and(|(head, _)| head.marked), "a switch may set the mark");
            } else {
                assert!(parsed.is_err(), "bit {bit}: {parsed:?}");
            }
        }
    }

    #[test]
    fn every_cut_is_found() {
        let frame = data(b"a piece of a message");
        for length in 0..frame.len() {
            assert!(parse(&frame[..length], checksum::append).is_err(), "{length}");
        }
        let mut longer = frame;
        longer.push(0);
        assert_eq!(parse(&longer, checksum::append), Err(Dropped::Length));
    }
}
