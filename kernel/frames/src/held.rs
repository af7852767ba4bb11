//! Frames that came before those they follow: kept until their turn.
//!
//! A place holds the payload of a jumbo frame. A longer frame takes several that follow each other.

use bytemuck::Zeroable;

use crate::frame::{HEAD_BYTES, JUMBO_BYTES};
use crate::peer_index::PeerIndex;

/// Places, of all peers together.
pub const HELD_MAX: usize = 64;
/// Payload of a place.
const PLACE_BYTES: usize = JUMBO_BYTES - HEAD_BYTES;

#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
struct Held {
    /// The peer that sent it; 0: free.
    peer: PeerIndex,
    bytes: u16,
    flags: u8,
    /// 1: the place before is of the same frame.
    goes_on: u8,
    padding: u16,
}

/// The place of a kept frame, plus one; 0 is none.
pub type HeldIndex = u16;

#[derive(Zeroable)]
#[repr(C)]
pub struct HeldFrames {
    places: [Held; HELD_MAX],
    payload: [[u8; PLACE_BYTES]; HELD_MAX],
}

/// Places that a frame with so much payload takes.
fn places_of(bytes: usize) -> usize {
    bytes.div_ceil(PLACE_BYTES).max(1)
}

impl HeldFrames {
    /// Keeps a peer's frame, flags and payload; nothing if there is no room.
    pub fn keep(&mut self, peer: PeerIndex, flags: u8, payload: &[u8]) -> Option<HeldIndex> {
        let count = places_of(payload.len());
        let at = self.places.windows(count).position(|run| run.iter().all(|held| held.peer == 0))?;
        let room = self.payload.get_mut(at..at + count)?.as_flattened_mut();
        room.get_mut(..payload.len())?.copy_from_slice(payload);
        let first = Held { peer, bytes: payload.len() as u16, flags, goes_on: 0, padding: 0 };
        self.places[at..at + count].fill(Held { goes_on: 1, ..first });
        self.places[at] = first;
        Some(at as HeldIndex + 1)
    }

    /// What has been kept, flags and payload; [`HeldFrames::release`] gives the place back.
    pub fn get(&self, index: HeldIndex) -> (u8, &[u8]) {
        let at = usize::from(index) - 1;
        let held = &self.places[at];
        (held.flags, &self.payload[at..].as_flattened()[..usize::from(held.bytes)])
    }

    pub fn release(&mut self, index: HeldIndex) {
        let at = usize::from(index) - 1;
        let count = places_of(self.places[at].bytes.into());
        self.places[at..at + count].fill(Held::zeroed());
    }

    /// A kept frame of a peer that is `wanted`.
    pub fn find(&self, wanted: impl Fn(PeerIndex) -> bool) -> Option<PeerIndex> {
        self.places.iter().map(|held| held.peer).find(|peer| *peer != 0 && wanted(*peer))
    }

    /// Frames kept now.
    pub fn used(&self) -> usize {
        self.places.iter().filter(|held| held.peer != 0 && held.goes_on == 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PAYLOAD_BYTES_MAX;
    use std::boxed::Box;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn frames_of_all_lengths_are_kept_until_there_is_no_room_and_given_back() {
        let mut it: Box<HeldFrames> = bytemuck::allocation::zeroed_box();
        let lengths = [1, PLACE_BYTES, PLACE_BYTES + 1, PAYLOAD_BYTES_MAX];
        for round in 0..3u8 {
            let mut kept: Vec<(HeldIndex, u8, usize)> = Vec::new();
            for (number, bytes) in (round..).zip(lengths.iter().copied().cycle()) {
                let Some(index) = it.keep(7, number, &vec![number; bytes]) else { break };
                kept.push((index, number, bytes));
            }
            assert!(kept.len() > 16 && it.used() == kept.len());
            for (index, number, bytes) in &kept {
                let (flags, payload) = it.get(*index);
                assert_eq!(flags, *number);
                assert!(payload.len() == *bytes && payload.iter().all(|byte| byte == number), "{number}");
            }
            // In another order than they came.
            for part in [1, 0] {
                for (index, ..) in kept.iter().skip(part).step_by(2) {
                    it.release(*index);
                }
            }
            assert!(it.used() == 0 && it.find(|_| true).is_none());
        }
    }
}
