//! Frames that came before those they follow: kept until their turn.

use bytemuck::Zeroable;

use crate::frame::PAYLOAD_BYTES_MAX;
use crate::peer::PeerIndex;

/// Frames of all peers together that may wait for their turn.
pub const HELD_MAX: usize = 64;

#[derive(Clone, Copy, Zeroable)]
#[repr(C)]
struct Held {
    /// The peer that sent it; 0: free.
    peer: PeerIndex,
    bytes: u16,
    flags: u8,
    padding: [u8; 3],
    payload: [u8; PAYLOAD_BYTES_MAX],
}

/// The place of a kept frame, plus one; 0 is none.
pub type HeldIndex = u16;

#[derive(Zeroable)]
#[repr(C)]
pub struct HeldFrames {
    frames: [Held; HELD_MAX],
}

impl HeldFrames {
    /// Keeps a peer's frame, flags and payload; nothing if there is no room.
    pub fn keep(&mut self, peer: PeerIndex, flags: u8, payload: &[u8]) -> Option<HeldIndex> {
        let at = self.frames.iter().position(|held| held.peer == 0)?;
        let held = self.frames.get_mut(at)?;
        held.payload.get_mut(..payload.len())?.copy_from_slice(payload);
        (held.peer, held.bytes, held.flags) = (peer, payload.len() as u16, flags);
        Some(at as HeldIndex + 1)
    }

    /// What has been kept, flags and payload; [`HeldFrames::release`] gives the place back.
    pub fn get(&self, index: HeldIndex) -> (u8, &[u8]) {
        let held = &self.frames[usize::from(index) - 1];
        (held.flags, &held.payload[..usize::from(held.bytes)])
    }

    pub fn release(&mut self, index: HeldIndex) {
        self.frames[usize::from(index) - 1].peer = 0;
    }

    /// A kept frame of a peer that is `wanted`.
    pub fn find(&self, wanted: impl Fn(PeerIndex) -> bool) -> Option<PeerIndex> {
        self.frames.iter().map(|held| held.peer).find(|peer| *peer != 0 && wanted(*peer))
    }

    /// Frames kept now.
    pub fn used(&self) -> usize {
        self.frames.iter().filter(|held| held.peer != 0).count()
    }
}
