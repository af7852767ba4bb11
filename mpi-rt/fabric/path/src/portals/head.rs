//! What puts of this path say of themselves: where they go, their header data, and the request that goes in place of long content.

use lwk_user::portals::abi::ANNOUNCED;

/// Indices of the portal table ([`super::wire`]).
pub const MESSAGES: u32 = 0;
pub const CONTENT: u32 = MESSAGES + 1;
pub const WORDS: u32 = 2;

/// What is put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A message with its content.
    Eager = 1,
    /// A message whose content is to be fetched: [`Request`].
    Request = 2,
    /// The message of the token in the label has been taken back.
    Cancel = 3,
    /// Nodes meet: the label is the round.
    Meet = 4,
}

/// Header data of a put: its kind, and how far its sender has come with what it has received ([`super::window`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    pub kind: Kind,
    pub freed: u32,
}

impl Head {
    pub fn word(self) -> u64 {
        let announced = if self.kind == Kind::Request { ANNOUNCED } else { 0 };
        u64::from(self.freed) << 32 | announced | self.kind as u64
    }

    /// The table to which it is put.
    pub fn table(self) -> u32 {
        if matches!(self.kind, Kind::Eager | Kind::Request) { MESSAGES } else { WORDS }
    }

    /// `None` if there is no such kind.
    pub fn of(word: u64) -> Option<Head> {
        let kinds = [Kind::Eager, Kind::Request, Kind::Cancel, Kind::Meet];
        let kind = kinds.into_iter().find(|kind| *kind as u64 == word & 0xff)?;
        Some(Head { kind, freed: (word >> 32) as u32 })
    }
}

/// What is put in place of content that stays at the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    pub bytes: u64,
    pub token: u64,
}

impl Request {
    pub const BYTES: usize = 16;

    pub fn to_bytes(self) -> [u8; Request::BYTES] {
        let mut bytes = [0; Request::BYTES];
        bytes[..8].copy_from_slice(&self.bytes.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.token.to_ne_bytes());
        bytes
    }

    pub fn of(bytes: [u8; Request::BYTES]) -> Request {
        let word = |at: usize| bytes[at..].first_chunk().map_or(0, |word| u64::from_ne_bytes(*word));
        Request { bytes: word(0), token: word(8) }
    }
}
