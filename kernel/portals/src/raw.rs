//! Frames without a link, for benchmarks: what the same card and driver do if nothing is matched, delivered or acknowledged.
//!
//! Payload goes from a rank's memory as it is. The other node counts the frame, and answers one that asks for it, with the beginning of its payload;
//! it puts nothing into anybody's memory. If a frame is checked it looks at the payload's checksum and copies the payload aside, as much as a link's payload costs
//! at least. An answer is counted in the memory of the rank that asked.
//!
//! | byte | what, little-endian but for Ethernet's |
//! | --- | --- |
//! | 0, 6 | destination and source address |
//! | 12 | ethertype [`ETHERTYPE`] |
//! | 14 | kind: 0 no answer wanted, 1 an answer wanted, 2 an answer; then 1 if it is checked, else 0 |
//! | 16, 18 | source and destination node |
//! | 20 | rank of its node that asks |
//! | 24 | job |
//! | 32 | in an answer: frames of this kind that the answering node has had |
//! | 40 | CRC-32C of the payload of one that is checked; then 0 |

use lwk_abi::portals::{RAW_HEAD_BYTES, RAW_WORDS_BYTES, RawFrames};
use lwk_frames::NodeId;

use crate::calls::read;
use crate::contract;
use crate::memory::{Memory, Nic, Span};
use crate::node::State;
use crate::{Result, Status};

/// IEEE's second ethertype for local experiments (IEEE 802, clause 9.2.3).
pub const ETHERTYPE: u16 = 0x88b6;
/// Frames that a call sends at most.
const FRAMES_MAX: u64 = 1_024;
/// Payload of an answer, at most: it is copied to be sent.
const ANSWER_BYTES: usize = 512;

const HEAD: usize = RAW_HEAD_BYTES as usize;
const SILENT: u8 = 0;
const ASKS: u8 = 1;
const ANSWER: u8 = 2;
/// In what a program asks for: frames are checked.
const CHECKED: u32 = 2;

/// Whether a frame is one of these.
pub fn is_raw(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ETHERTYPE.to_be_bytes()[..])
}

impl State {
    fn raw_head(&self, to: NodeId, kind: u8, rank: u32, arrived: u64) -> [u8; HEAD] {
        let node = self.node as u16;
        let mut head = [0; HEAD];
        head[..6].copy_from_slice(&to.address());
        head[6..12].copy_from_slice(&NodeId(node).address());
        head[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
        head[14] = kind;
        head[16..18].copy_from_slice(&node.to_le_bytes());
        head[18..20].copy_from_slice(&to.0.to_le_bytes());
        head[20..24].copy_from_slice(&rank.to_le_bytes());
        head[24..32].copy_from_slice(&self.job.to_le_bytes());
        head[32..40].copy_from_slice(&arrived.to_le_bytes());
        head
    }

    /// Sends frames of a rank's: how many there was room for.
    pub(crate) fn send_raw<H: Memory + Nic>(&mut self, home: &mut H, rank: u32, address: u64) -> Result<u32> {
        let asked: RawFrames = contract::raw_frames(&read(home, rank, address)?);
        let fits = asked.bytes <= u64::from(self.frame_bytes) - RAW_HEAD_BYTES;
        let there = asked.node < self.ranks.nodes && asked.node != self.node;
        if !fits || !there || asked.count > FRAMES_MAX || asked.asks > 3 || !asked.words.is_multiple_of(8) {
            return Err(Status::ARG_INVALID);
        }
        let body = Span::check(home, rank, asked.start, asked.bytes, false)?;
        self.raw_words[rank as usize] = Span::check(home, rank, asked.words, RAW_WORDS_BYTES, true)?;
        let to = NodeId(asked.node as u16);
        let spans = if body.bytes() > 0 { core::slice::from_ref(&body) } else { &[] };
        let checked = asked.asks & CHECKED != 0;
        for number in 0..asked.count {
            let asks = asked.asks & 1 != 0 && number + 1 == asked.count;
            let mut head = self.raw_head(to, if asks { ASKS } else { SILENT }, rank, 0);
            if checked && body.bytes() > 0 {
                head[15] = 1;
                head[40..44].copy_from_slice(&home.checksum(0, &body).to_le_bytes());
            }
            if self.is_paused() || !home.send(to, &head, &[], spans) {
                return Ok(number as u32);
            }
        }
        Ok(asked.count as u32)
    }

    /// Looks at a payload's checksum and copies the payload aside; whether it is right.
    fn take_checked(&mut self, memory: &impl Memory, payload: &[u8], sum: u32) -> bool {
        let Some(aside) = self.raw_aside.get_mut(..payload.len()) else { return false };
        aside.copy_from_slice(payload);
        memory.checksum_of(0, payload) == sum
    }

    /// Takes a frame that [`is_raw`].
    pub(crate) fn take_raw<H: Memory + Nic>(&mut self, home: &mut H, frame: &[u8]) {
        let Some((head, payload)) = frame.split_first_chunk::<HEAD>() else {
            self.counts.malformed += 1;
            return;
        };
        let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let long = |at: usize| u64::from(half(at)) | u64::from(half(at + 2)) << 16;
        let whole = |at: usize| long(at) | long(at + 4) << 32;
        let (source, rank) = (half(16), long(20) as usize);
        let known = u32::from(source) < self.ranks.nodes
            && u32::from(half(18)) == self.node
            && whole(24) == self.job
            && rank < self.raw_words.len()
            && (head[15] == 0 || self.take_checked(&*home, payload, long(40) as u32));
        match head[14] {
            SILENT if known => self.raw_arrived += 1,
            ASKS if known => {
                self.raw_arrived += 1;
                let answer = self.raw_head(NodeId(source), ANSWER, rank as u32, self.raw_arrived);
                // Where there is no room the answer is lost, as any frame may be.
                home.send(NodeId(source), &answer, &payload[..payload.len().min(ANSWER_BYTES)], &[]);
            }
            ANSWER if known => {
                self.raw_answers[rank] += 1;
                let words = [(8, whole(32)), (0, self.raw_answers[rank])];
                for (at, word) in words {
                    if let Some(place) = self.raw_words[rank].part(at, 8) {
                        home.publish(&place, word);
                    }
                }
            }
            _ => self.counts.malformed += 1,
        }
    }
}
