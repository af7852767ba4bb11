//! Collectives: in place on the peers' buffers, through a small shared area of each rank (SMARTMAP paper, section IV.C).
//!
//! Each member of a communicator has an [`Area`] in its own memory that the others find by the communicator's context. Small
//! operations exchange the areas' lines; larger ones post the addresses of the buffers there, and every rank then loads from and
//! stores to its peers' buffers directly.
//!
//! Every rank of a communicator calls the same collectives in the same order (MPI-4.1, section 6.1); operations are numbered by
//! each rank for itself, and numbers are what the lines carry, so that a line never has to be reset.

mod allreduce;
mod area;
mod barrier;
mod broadcast;
pub mod personalised;
mod reduce;

pub use area::Area;
pub(crate) use area::Shared;

use crate::communicator::Communicator;
use crate::datatype::{self, Datatype};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::operation::{self, Kernel};
use crate::wait::POLLS_PER_PROGRESS;
use lwk_user::wait::Poll;

/// Arguments of a reduction: contiguous elements and what to do with them.
#[derive(Clone, Copy)]
pub(crate) struct Reduction {
    pub count: usize,
    pub datatype: Datatype,
    pub kernel: Kernel,
}

impl Reduction {
    /// Errors: `COUNT`, `TYPE`, `OP`.
    pub fn new(count: i64, datatype: u64, operation: u64) -> Result<Reduction> {
        let datatype = datatype::predefined(datatype)?;
        datatype::extent(count, datatype)?;
        let kernel = operation::predefined(operation, datatype.element)?;
        let count = usize::try_from(count).map_err(|_| Error::COUNT)?;
        Ok(Reduction { count, datatype, kernel })
    }

    pub fn bytes(&self) -> usize {
        self.count * self.datatype.bytes
    }
}

impl Engine {
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

    /// Waits until every member has posted its buffers for operation `number`.
    pub(crate) fn wait_for_posts(&mut self, communicator: &Communicator, number: u64) {
        for rank in 0..communicator.size() {
            self.wait_until(|| communicator.shared.of(rank).post.has(number));
        }
    }

    /// Tells all ranks two words of each.
    pub(crate) fn exchange_words(
        &mut self,
        communicator: &Communicator,
        words: [i32; 2],
        mut each: impl FnMut(u32, [i32; 2]),
    ) -> Result<()> {
        let shared = &communicator.shared;
        let number = Shared::next(&shared.posts);
        let address = (&raw const words).cast::<u8>();
        shared.mine().post.publish(number, address, address.cast_mut());
        self.wait_for_posts(communicator, number);
        for rank in 0..shared.size() {
            // SAFETY: every rank has posted two words, which stay until the barrier.
            each(rank, unsafe { shared.send_buffer(rank).cast::<[i32; 2]>().read() });
        }
        self.barrier(communicator)
    }
}
