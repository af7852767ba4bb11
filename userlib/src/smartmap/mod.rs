//! SMARTMAP: peers' memory by plain loads and stores (Brightwell, Pedretti, Hudson, section III).
//!
//! Node rank `r`'s memory is mapped in slot `r + 1` of every rank: `remote = local | (r + 1) << 39`. The program image is the
//! same in all ranks, so a static has the same address everywhere and its name is enough to find it in a peer.
//!
//! * [`Peer`]: a node rank that is known to exist.
//! * [`Symmetric`]: a static that peers may reach; [`Symmetric::at`] gives a peer's copy as a [`Remote`].
//! * [`Remote`], [`RemoteSlice`]: references into a peer's memory.
//! * [`remote_address`], [`remote_atomic`]: the bare translation, for everything else.
//!
//! What is safe and what is not: a reference to atomics ([`Shared`]) may be used by all ranks at once, so reaching them is
//! safe. Plain data is a data race unless the ranks agree who may touch it when, which no type can see here, so reading and
//! writing it is `unsafe` and the promise is always the same: *no other rank writes it at the same time, and the accesses are
//! ordered by a barrier or a release-acquire pair*. A peer's memory stays mapped until the whole job ends, even when the peer
//! has exited: references never dangle.

mod peer;
mod remote;
mod symmetric;

pub use peer::{Peer, peers};
pub use remote::{Remote, RemoteSlice, remote_address, remote_atomic};
pub use symmetric::{CacheLine, Shared, Symmetric};
