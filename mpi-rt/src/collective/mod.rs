//! Collectives: in place on the peers' buffers, through a small shared area of each rank (SMARTMAP paper, section IV.C).
//!
//! Each member of a communicator has an [`Area`] in its own memory that the others find by the communicator's context. Small
//! operations exchange the areas' lines; larger ones post the addresses of the buffers there (`channel`), and every rank then
//! loads from and stores to its peers' buffers directly. What a rank has to do is worked out first (`plan`) and carried out by
//! progress (`run`); the commonest blocking operations have shorter ways (`broadcast`, `reduce`, `allreduce`, `rows`), chosen by
//! size, or by name (`algorithm`).
//!
//! Every rank of a communicator calls the same collectives in the same order (MPI-5.0, chapter "Collective Communication"); operations
//! are numbered by each rank for itself, and numbers are what the lines carry, so that a line never has to be reset.

pub mod algorithm;
mod allreduce;
mod area;
pub mod arguments;
mod barrier;
mod broadcast;
mod channel;
mod fold;
mod neighbourhood;
mod oneway;
mod paper;
mod plan;
mod reduce;
mod rows;
mod run;
mod sides;

pub use area::Area;
pub(crate) use area::Shared;
pub use arguments::{Call, Division, Numbers, Part, Parts, Reducing};
pub(crate) use fold::Reduction;
pub(crate) use run::Run;

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::Result;
use crate::handle::Handle;
use crate::wait::POLLS_PER_PROGRESS;
use area::SMALL_BYTES;
use channel::{Kind, check};
use lwk_user::wait::Poll;
use rows::equal;

impl Engine {
    /// Carries out a collective. Errors: those of its arguments, and `OTHER`, `ROOT`, `COUNT`, `TRUNCATE` where the ranks' calls do not
    /// match and it is seen.
    ///
    /// # Safety
    /// The buffers must be valid as the standard says of the call.
    #[inline]
    pub unsafe fn collective(&mut self, call: &Call, communicator: Handle) -> Result<()> {
        let it = self.communicator(communicator)?.clone();
        if it.inter.is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_collective(call, &it) };
        }
        // SAFETY: the caller's promise.
        unsafe {
            match *call {
                Call::Barrier => self.barrier(&it),
                Call::Broadcast { ref buffer, root } => {
                    let Part { address, count, datatype } = *buffer;
                    self.broadcast(address, count, datatype, root, communicator)
                }
                Call::Reduce { reducing: Reducing { send, receive, count, datatype, operation }, root } => {
                    self.reduce(send, receive, count, datatype, operation, root, communicator)
                }
                Call::Allreduce { reducing: Reducing { send, receive, count, datatype, operation } } => {
                    self.allreduce(send, receive, count, datatype, operation, communicator)
                }
                Call::Gather {
                    ref send,
                    receive: ref receive @ Parts { division: Division::Equal(count), .. },
                    root,
                } => {
                    let root = it.root(root)?;
                    self.gather_row(&it, send, receive, count, root)
                }
                Call::Scatter {
                    send: ref send @ Parts { division: Division::Equal(count), .. },
                    ref receive,
                    root,
                } => {
                    let root = it.root(root)?;
                    self.scatter_row(&it, send, count, receive, root)
                }
                Call::Allgather {
                    ref send,
                    receive: ref receive @ Parts { division: Division::Equal(count), .. },
                } => self.allgather_row(&it, send, receive, count),
                Call::Alltoall { ref send, ref receive } if !send.is_in_place() => {
                    match (equal(&send.division), equal(&receive.division)) {
                        (Some(sent), Some(received)) => {
                            let form = self.algorithms.alltoall;
                            self.alltoall_row(&it, send, receive, (sent, received), form)
                        }
                        _ => self.run_collective(call, &it),
                    }
                }
                _ => self.run_collective(call, &it),
            }
        }
    }

    /// Waits for what a peer does, and meanwhile makes progress on messages: the peer may need that to get there.
    #[inline(always)]
    pub(crate) fn wait_until(&mut self, mut condition: impl FnMut() -> bool) {
        let mut poll = Poll::new();
        let mut round = 0u32;
        while !condition() {
            round = round.wrapping_add(1);
            if round.is_multiple_of(POLLS_PER_PROGRESS) {
                self.progress();
            }
            poll.pause();
        }
    }

    /// Tells all ranks two words of each. What they lead to may be used in `each`: nobody returns before all have.
    pub(crate) fn exchange_words(
        &mut self,
        communicator: &Communicator,
        words: [i32; 2],
        mut each: impl FnMut(u32, [i32; 2]),
    ) -> Result<()> {
        let shared = &communicator.shared;
        let check = check(Kind::Exchange, 0, 0);
        let number = self.open(shared, check, &[words[0] as u64, words[1] as u64]);
        let outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            for rank in 0..shared.size() {
                each(rank, [0, 1].map(|index| shared.posted_word(rank, number, index) as i32));
            }
        }
        self.close(shared, number);
        outcome
    }
}

/// A small operation in which every rank tells every rank up to [`SMALL_BYTES`] bytes, by a line of each.
///
/// Lines are used by the parity of the operation's number: a rank that is in the operation after the next knows that all have left
/// this one, since every rank waits for every other in each.
pub(crate) struct Exchange {
    number: u64,
}

impl Exchange {
    /// Tells what `fill` writes, to the address that it gets. Errors: those of `fill`, and then nothing has begun.
    pub fn begin(
        engine: &mut Engine,
        shared: &Shared,
        fill: impl FnOnce(*mut u8) -> Result<()>,
    ) -> Result<Exchange> {
        let _ = engine;
        let mut content = [0u64; SMALL_BYTES / 8];
        let content = content.as_mut_ptr().cast::<u8>();
        fill(content)?;
        let number = Shared::next(&shared.smalls);
        // SAFETY: this rank's own line, once a number.
        unsafe { shared.mine().small[(number & 1) as usize].publish(number, content, SMALL_BYTES) };
        Ok(Exchange { number })
    }

    /// What `rank` tells; waits for it. Every rank must be asked for.
    pub fn content(&self, engine: &mut Engine, shared: &Shared, rank: u32) -> *mut u8 {
        let line = &shared.of(rank).small[(self.number & 1) as usize];
        engine.wait_until(|| line.has(self.number));
        line.content().cast_mut()
    }
}
