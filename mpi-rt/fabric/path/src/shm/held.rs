//! Messages that the engine holds: taken out of a peer's FIFO, or from this rank itself, before a receive is there for them.

use super::loopback::Own;
use super::packet::{CellList, Header, Kind};
use super::{Design, Shm};
use crate::region::{Region, copy_regions};
use crate::{Delivery, Fault, Held, Result, WorldRank};

/// A matched or waiting message that the engine holds by number.
pub(super) enum Kept {
    Own(Own),
    Packet(Header, CellList),
    /// A message to this rank itself that has been cancelled.
    Cancelled,
}

impl<D: Design> Shm<D> {
    /// The length of a message that is held; 0 of one from this rank itself, whose length nobody asks for.
    pub(super) fn held_bytes(&self, held: &Held) -> usize {
        match held {
            Held::Copy(content) => content.len(),
            Held::Kept(number) => match self.kept.get(*number) {
                Some(Kept::Packet(header, _)) => header.bytes,
                _ => 0,
            },
            Held::AtSender { .. } | Held::Cancelled => 0,
        }
    }

    /// Delivers a message that was held.
    ///
    /// # Safety
    /// As for [`crate::Path::deliver_held`].
    pub(super) unsafe fn take_held(
        &mut self,
        peer: WorldRank,
        held: Held,
        target: &Region,
    ) -> Result<Delivery> {
        let kept = match held {
            Held::Copy(content) => {
                let source = Region::block(content.as_ptr(), content.len());
                // SAFETY: `content` holds the message; `target` is writable for the lesser of both lengths
                // (this function's contract).
                return unsafe { copy_regions(&source, target) }.map(|_| Delivery::Done);
            }
            Held::Kept(number) => self.kept.try_remove(number).ok_or(Fault::Internal)?,
            Held::AtSender { .. } | Held::Cancelled => return Err(Fault::Internal),
        };
        // SAFETY: the packet's cells were kept and are emptied once, here; `target` is writable (this
        // function's contract).
        unsafe {
            match kept {
                Kept::Cancelled => Ok(Delivery::Cancelled),
                Kept::Own(own) => own.deliver(target, &mut self.sends).map(|()| Delivery::Done),
                Kept::Packet(header, cells) if header.kind == Kind::Request => {
                    self.accept(peer, &header, &cells, target)
                }
                Kept::Packet(header, cells) => {
                    let link = self.links.get_mut(peer.index()).and_then(Option::as_mut);
                    let link = link.ok_or(Fault::Internal)?;
                    self.design.copy_out(link, &header, &cells, 0, target).1.map(|()| Delivery::Done)
                }
            }
        }
    }

    /// Takes a message back that this rank has sent to itself; false if a probe has matched it.
    pub(super) fn cancel_own(&mut self, send: usize) -> bool {
        if self.loopback.cancel(send) {
            return true;
        }
        let held = self.kept.iter_mut().map(|(_, kept)| kept);
        let mut held = held.filter(|kept| matches!(kept, Kept::Own(own) if own.may_cancel(send)));
        match held.next() {
            Some(kept) => *kept = Kept::Cancelled,
            None => return false,
        }
        true
    }
}
