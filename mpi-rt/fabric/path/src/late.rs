//! `late`, for tests: a path around another that delivers late, in pieces, and reordered between peers.
//!
//! A send begins after a while. A message is shown some looks after it has come, how many is a matter of chance; each peer's own stay in order.
//! Content arrives [`PIECE`] bytes at a time. Whatever relies on more than the trait says fails with it.

use crate::region::{Region, copy_part};
use crate::{
    Arrival, Delivery, Fault, Held, Memory, Outgoing, Path, Result, Started, Ticket, UnderWay, WorldRank,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use slab::Slab;

/// Bytes that are delivered at a time.
const PIECE: usize = 1000;
/// A send begins, and a message is shown, after less than so many looks; so many sends to one peer wait.
const LOOKS: u32 = 8;
/// Set in the tickets of receives.
const RECEIVE: usize = 1 << 40;

pub struct Late<P> {
    inner: P,
    peers: Vec<Peer>,
    /// Sends, and whether they have begun: not if there was no room.
    sends: Slab<(WorldRank, Outgoing, Started)>,
    receives: Slab<Receive>,
    /// Messages that are held, and their bytes.
    kept: Slab<(Held, usize)>,
    chance: u64,
}

#[derive(Default)]
struct Peer {
    /// Sends that have not begun, in order; looks until the first of them begins.
    waiting: VecDeque<usize>,
    begin_in: u32,
    /// Looks until the next message is shown; `None` if it has not come.
    show_in: Option<u32>,
}

struct Receive {
    /// What is wanted of the message, and the ticket of the inner path until all is there.
    content: Box<[u8]>,
    inner: Option<Ticket>,
    outcome: Result<()>,
    target: Region,
    position: usize,
}

impl<P: Path> Late<P> {
    pub fn new(inner: P) -> Late<P> {
        let job = lwk_user::job();
        let (peers, chance) = ((0..job.size()).map(|_| Peer::default()).collect(), job.rank().0.into());
        Late { inner, peers, sends: Slab::new(), receives: Slab::new(), kept: Slab::new(), chance }
    }

    fn looks(&mut self) -> u32 {
        self.chance = self.chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.chance >> 33) as u32 % LOOKS
    }

    /// Begins the first send to a peer when its time has come.
    fn push(&mut self, rank: WorldRank) {
        let peer = &mut self.peers[rank.index()];
        let Some(number) = peer.waiting.front().copied() else { return };
        peer.begin_in = peer.begin_in.saturating_sub(1);
        if peer.begin_in == 0 {
            // SAFETY: the send's bytes are readable until `advance` says done (`Path::begin`'s contract), and it has not begun inside.
            let stage = unsafe { self.inner.begin(rank, &self.sends[number].1) };
            self.sends[number].2 = stage;
            if stage != Started::Full {
                peer.waiting.pop_front();
                self.peers[rank.index()].begin_in = self.looks();
            }
        }
    }

    /// # Safety
    /// As for [`Path::advance`].
    unsafe fn advance_receive(&mut self, number: usize) -> Option<Result<()>> {
        let it = &mut self.receives[number];
        if let Some(ticket) = it.inner {
            // SAFETY: the inner ticket is kept here until it is done, then dropped; its target, `content`, lives as long as this receive.
            it.outcome = unsafe { self.inner.advance(ticket)? };
            it.inner = None;
        }
        if let Some(piece) = it.content[it.position..].chunks(PIECE).next() {
            let from = Region::block(piece.as_ptr(), piece.len());
            // SAFETY: `target` is writable until this says done (`Path::deliver`'s contract); `content` is this path's own.
            let copied = unsafe { copy_part(&from, 0, &it.target, it.position, piece.len()) };
            it.outcome = it.outcome.and(copied);
            it.position += piece.len();
        }
        (it.position == it.content.len()).then(|| self.receives.remove(number).outcome)
    }
}

impl<P: Path> Path for Late<P> {
    unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        self.push(peer);
        let waiting = &mut self.peers[peer.index()].waiting;
        if waiting.len() == LOOKS as usize {
            return Started::Full;
        }
        waiting.push_back(self.sends.insert((peer, *message, Started::Full)));
        Started::Underway(Ticket(waiting[waiting.len() - 1]))
    }

    unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        if ticket.0 & RECEIVE != 0 {
            // SAFETY: the ticket is of a receive here and not void (this function's contract).
            return unsafe { self.advance_receive(ticket.0 & !RECEIVE) };
        }
        self.push(self.sends[ticket.0].0);
        match self.sends[ticket.0].2 {
            Started::Full => return None,
            // SAFETY: the ticket is not void (this function's contract), and so the inner one is not. Sends do not fail.
            Started::Underway(inner) => drop(unsafe { self.inner.advance(inner)? }),
            Started::Done => {}
        }
        self.sends.remove(ticket.0);
        Some(Ok(()))
    }

    unsafe fn under_way(&self, ticket: Ticket) -> UnderWay {
        let (peer, message, _) = self.sends[ticket.0];
        UnderWay { peer, source: message.source, synchronous: message.synchronous }
    }

    unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        let (peer, _, stage) = self.sends[ticket.0];
        // SAFETY: the ticket is of a send and not void (this function's contract), and so the inner one is.
        let stays = matches!(stage, Started::Underway(inner) if !unsafe { self.inner.cancel(inner) });
        if stays || stage == Started::Done {
            return false;
        }
        self.sends.remove(ticket.0);
        self.peers[peer.index()].waiting.retain(|it| *it != ticket.0);
        true
    }

    unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        let (_, message, stage) = &mut self.sends[ticket.0];
        match *stage {
            Started::Full => {
                copy().map(|copy| message.source = Region::block(copy, message.source.bytes())).is_some()
            }
            // SAFETY: the ticket is of a send and not void, and the copy stays until it is done (this function's contract).
            Started::Underway(inner) => unsafe { self.inner.relocate(inner, copy) },
            Started::Done => false,
        }
    }

    fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        self.push(peer);
        let arrival = self.inner.arrival(peer)?;
        let looks = self.peers[peer.index()].show_in.map_or_else(|| self.looks(), |it| it.saturating_sub(1));
        self.peers[peer.index()].show_in = Some(looks);
        (looks == 0).then_some(arrival)
    }

    unsafe fn hold(&mut self, peer: WorldRank, arrival: &Arrival) -> Option<Held> {
        // SAFETY: `arrival` is the peer's front message (this function's contract), as the inner path showed it.
        let held = unsafe { self.inner.hold(peer, arrival)? };
        self.peers[peer.index()].show_in = None;
        Some(Held::Kept(self.kept.insert((held, arrival.bytes))))
    }

    unsafe fn deliver_held(&mut self, peer: WorldRank, held: Held, target: &Region) -> Result<Delivery> {
        let Held::Kept(number) = held else { return Err(Fault::Internal) };
        let (held, bytes) = self.kept.remove(number);
        let mut content = alloc::vec![0u8; bytes.min(target.bytes())].into_boxed_slice();
        let whole = Region::block(content.as_mut_ptr(), content.len());
        // SAFETY: `held` came from the inner `hold` for `peer` (this function's contract); `content` is new, takes the lesser of both lengths, and is kept.
        let inner = match unsafe { self.inner.deliver_held(peer, held, &whole)? } {
            Delivery::Cancelled => return Ok(Delivery::Cancelled),
            Delivery::Done => None,
            Delivery::Underway(ticket) => Some(ticket),
        };
        let receive = Receive { content, inner, outcome: Ok(()), target: *target, position: 0 };
        Ok(Delivery::Underway(Ticket(self.receives.insert(receive) | RECEIVE)))
    }

    unsafe fn is_there(&mut self, peer: WorldRank, held: &Held, reserve: bool) -> bool {
        let Held::Kept(number) = held else { return false };
        // SAFETY: the inner path's `hold` for `peer` gave it, and it has not been delivered (this function's contract).
        unsafe { self.inner.is_there(peer, &self.kept[*number].0, reserve) }
    }

    fn must_take(&self, peer: WorldRank) -> bool {
        self.inner.must_take(peer)
    }

    fn memory(&self) -> Memory {
        self.inner.memory()
    }
}
