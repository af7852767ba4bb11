//! The head of a message between nodes: what an operation says to its target, or a target answers. Little-endian.

use bytemuck::Zeroable;

/// Bytes of the head.
pub const MESSAGE_BYTES: usize = 96;

/// Kinds of messages.
pub mod kind {
    pub const PUT: u8 = 1;
    pub const GET: u8 = 2;
    pub const ATOMIC: u8 = 3;
    pub const FETCH_ATOMIC: u8 = 4;
    pub const SWAP: u8 = 5;
    /// Answers: without and with data.
    pub const ACK: u8 = 6;
    pub const REPLY: u8 = 7;
    /// Asks nothing but whether the node is there.
    pub const PROBE: u8 = 8;
}

/// A message's head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(C)]
pub struct Message {
    pub kind: u8,
    /// The acknowledgement wanted (`lwk_abi::portals::ack`); in an answer, the one given.
    pub ack: u8,
    /// Which of a rank's interfaces ([`crate::interface::slot`]).
    pub interface: u8,
    pub atomic: u8,
    pub datatype: u8,
    /// In an answer: why it failed, and the list that matched.
    pub failure: u8,
    pub list: u8,
    pub padding: u8,
    /// Index in the portal table.
    pub table: u32,
    /// World ranks.
    pub source: u32,
    pub target: u32,
    /// The initiator's name for its operation: place and turn.
    pub operation: u32,
    pub turn: u32,
    pub padding2: u32,
    pub bits: u64,
    /// Bytes asked for.
    pub bytes: u64,
    pub offset: u64,
    pub data: u64,
    /// An element's first 8 bytes, and the others.
    pub operand: u64,
    pub operand_rest: u64,
    /// In an answer: bytes done.
    pub done: u64,
    /// In an answer: where in the target's memory, from its start.
    pub address: u64,
}

impl Message {
    pub fn encode(&self) -> [u8; MESSAGE_BYTES] {
        let mut bytes = [0; MESSAGE_BYTES];
        let small =
            [self.kind, self.ack, self.interface, self.atomic, self.datatype, self.failure, self.list, 0];
        bytes[..8].copy_from_slice(&small);
        let words = [self.table, self.source, self.target, self.operation, self.turn, 0];
        for (to, word) in bytes[8..32].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        let longs = [
            self.bits,
            self.bytes,
            self.offset,
            self.data,
            self.operand,
            self.done,
            self.address,
            self.operand_rest,
        ];
        for (to, long) in bytes[32..].chunks_exact_mut(8).zip(longs) {
            to.copy_from_slice(&long.to_le_bytes());
        }
        bytes
    }

    /// Reads a head and gives what follows it; nothing if it is too short or none.
    pub fn parse(payload: &[u8]) -> Option<(Message, &[u8])> {
        let (head, rest) = payload.split_first_chunk::<MESSAGE_BYTES>()?;
        let word =
            |at: usize| head[at..at + 4].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let known = (kind::PUT..=kind::PROBE).contains(&head[0]);
        let unused = head[7] != 0 || word(28) != 0;
        let message = Message {
            kind: head[0],
            ack: head[1],
            interface: head[2],
            atomic: head[3],
            datatype: head[4],
            failure: head[5],
            list: head[6],
            padding: 0,
            table: word(8),
            source: word(12),
            target: word(16),
            operation: word(20),
            turn: word(24),
            padding2: 0,
            bits: long(32),
            bytes: long(40),
            offset: long(48),
            data: long(56),
            operand: long(64),
            operand_rest: long(88),
            done: long(72),
            address: long(80),
        };
        (known && !unused && message.ack <= 3 && message.interface < 4 && message.list <= 1)
            .then_some((message, rest))
    }

    /// Whether an initiator sends it, and not a target.
    pub fn is_request(&self) -> bool {
        (kind::PUT..=kind::SWAP).contains(&self.kind)
    }

    /// Bytes of data that follow the head.
    pub fn body_bytes(&self) -> u64 {
        match self.kind {
            kind::PUT | kind::ATOMIC | kind::FETCH_ATOMIC | kind::SWAP => self.bytes,
            kind::REPLY => self.done,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_parsed() {
        let message = Message {
            kind: kind::SWAP,
            ack: 2,
            interface: 3,
            atomic: 17,
            datatype: 9,
            failure: 1,
            list: 1,
            table: 0x0102_0304,
            source: 5,
            target: 6,
            operation: 7,
            turn: 8,
            bits: u64::MAX,
            bytes: 1 << 40,
            offset: 2,
            data: 3,
            operand: 4,
            operand_rest: 7,
            done: 5,
            address: 6,
            ..Message::default()
        };
        let bytes = message.encode();
        assert_eq!(Message::parse(&bytes), Some((message, &[][..])));
        for length in 0..MESSAGE_BYTES {
            assert_eq!(Message::parse(&bytes[..length]), None);
        }
        for (at, value) in [(0, 0), (0, 9), (1, 4), (2, 4), (6, 2), (7, 1), (28, 1)] {
            let mut wrong = bytes;
            wrong[at] = value;
            assert_eq!(Message::parse(&wrong), None, "{at}");
        }
    }
}
