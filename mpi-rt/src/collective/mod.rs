//! Collectives: in place on the peers' buffers, through a small shared area of each rank (SMARTMAP paper, section IV.C).
//!
//! Each member of a communicator has an area ([`lwk_mpi_area`]) in its own memory that the others find by the communicator's context. Small
//! operations exchange the areas' lines; larger ones post the addresses of the buffers there (`channel`), and every rank then
//! loads from and stores to its peers' buffers directly. What a rank has to do is worked out first (`plan`) and carried out by
//! progress (`run`); the commonest blocking operations have shorter ways (`broadcast`, `reduce`, `allreduce`, `rows`), chosen by
//! size, or by name (`algorithm`).
//!
//! Every rank of a communicator calls the same collectives in the same order (MPI-5.0, chapter "Collective Communication"); operations
//! are numbered by each rank for itself, and numbers are what the lines carry, so that a line never has to be reset. Persistent ones are made in
//! the same order and started in any, and have numbers of their own (`persistent`).

pub mod algorithm;
mod allreduce;
mod alltoall_parts;
pub mod arguments;
mod barrier;
mod begun;
mod broadcast;
mod by_messages;
mod channel;
mod equal_parts;
mod fold;
mod group_ranges;
mod line_cursor;
mod line_exchange;
mod line_run;
mod line_steps;
mod matching_calls;
mod neighbour_lines;
mod neighbourhood;
mod oneway;
mod outcomes;
mod pair;
mod paper;
mod persistent;
mod plan;
mod reduce;
mod run;
mod schedules;
mod together;
mod told;
mod told_neighbours;
mod varying_parts;

pub use arguments::{BufferArgument, Call, Division, Numbers, Parts, Reducing};
pub(crate) use fold::Reduction;
pub use outcomes::with_room;
pub(crate) use persistent::LeftPosts;

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::wait::POLLS_PER_PROGRESS;
use algorithm::Alltoall;
use equal_parts::equal;
use line_run::LineRun;
use lwk_datatype::Datatype;
use lwk_mpi_area::{Kind, NO_ROOT, SMALL_BYTES, Shared, check};
use lwk_place::CommRank;
use lwk_user::wait::Poll;

impl Engine {
    /// Carries out a collective. Errors: those of its arguments, and `NOT_SAME`, `ROOT`, `COUNT`, `TRUNCATE` where the ranks' calls do not
    /// match and it is seen.
    ///
    /// # Safety
    /// Until this returns, the call's send buffers must be readable and its receive buffers writable for the
    /// items that it names; they must not overlap, except in place. The ranks' calls must match (MPI-5.0,
    /// chapter 6).
    #[inline]
    pub unsafe fn collective(&mut self, call: &Call, communicator: Handle) -> Result<()> {
        let it = self.communicator(communicator)?.clone();
        // Of an intercommunicator, or where members are out of reach, there is nothing to share.
        if it.shared.size() == 0 {
            // SAFETY: the call's buffers are readable and writable, as it names them, until this returns
            // (this function's contract).
            return unsafe { self.run_collective(call, &it) };
        }
        // Progress may call an operation of the program's that frees the datatypes.
        let _layouts = self.layouts_of(call);
        // SAFETY: the call's buffers are readable and writable, as it names them, until this returns (this
        // function's contract).
        unsafe {
            match *call {
                Call::Barrier => self.barrier(&it),
                Call::Broadcast { ref buffer, root } => {
                    let BufferArgument { address, count, datatype } = *buffer;
                    self.broadcast_on(&it, address, count, datatype, root)
                }
                Call::Reduce { reducing: Reducing { send, receive, count, datatype, operation }, root } => {
                    self.reduce_on(&it, send, receive, count, datatype, operation, root)
                }
                Call::Allreduce { reducing: Reducing { send, receive, count, datatype, operation } } => {
                    self.allreduce_on(&it, send, receive, count, datatype, operation)
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
                Call::Gather { ref send, ref receive, root } if receive.division.is_varying() => {
                    let root = it.root(root)?;
                    self.gather_parts(&it, send, receive, root)
                }
                Call::Scatter { ref send, ref receive, root } if send.division.is_varying() => {
                    let root = it.root(root)?;
                    self.scatter_parts(&it, send, receive, root)
                }
                Call::Allgather { ref send, ref receive } if receive.division.is_varying() => {
                    match self.allgather_parts(&it, send, receive)? {
                        Some(()) => Ok(()),
                        None => self.run_collective(call, &it),
                    }
                }
                Call::ReduceScatter { .. }
                | Call::ReduceScatterBlock { .. }
                | Call::Scan { .. }
                | Call::Exscan { .. } => match self.told_reduction(&it, call)? {
                    Some(()) => Ok(()),
                    None => self.run_collective(call, &it),
                },
                Call::Alltoall { ref send, ref receive } if !send.is_in_place() => {
                    match (equal(&send.division), equal(&receive.division)) {
                        (Some(sent), Some(received)) => {
                            let form = self.algorithms.alltoall;
                            if matches!(form, None | Some(Alltoall::Pair))
                                && let Some(done) = self.alltoall_pair(
                                    &it,
                                    (send.address, sent, send.datatype),
                                    (receive.address, received, receive.datatype),
                                )
                            {
                                return done;
                            }
                            self.alltoall_row(&it, send, receive, (sent, received), form)
                        }
                        _ if send.division.has_places() && receive.division.has_places() => {
                            self.alltoall_parts(&it, send, receive)
                        }
                        _ => self.run_collective(call, &it),
                    }
                }
                Call::NeighbourAllgather { .. } | Call::NeighbourAlltoall { .. } => {
                    match self.line_run(call, &it)?.filter(LineRun::fits) {
                        Some(run) => self.run_by_lines(run),
                        None => self.run_collective(call, &it),
                    }
                }
                _ => self.run_collective(call, &it),
            }
        }
    }

    /// What keeps the layouts of a call's buffers alive, where they are used without a plan.
    #[inline(always)]
    fn layouts_of(&self, call: &Call) -> [Option<Datatype>; 2] {
        match call {
            Call::Broadcast { buffer, .. } => [self.kept(buffer.datatype), None],
            Call::Gather { send, receive, .. } | Call::Allgather { send, receive } => {
                [self.kept(send.datatype), self.kept(receive.datatype)]
            }
            Call::Scatter { send, receive, .. } => [self.kept(send.datatype), self.kept(receive.datatype)],
            Call::Alltoall { send, receive } => [self.kept(send.datatype), self.kept(receive.datatype)],
            _ => [None, None],
        }
    }

    /// Waits for what a peer does, and meanwhile makes progress on messages: the peer may need that to get there.
    #[inline(always)]
    pub fn wait_until(&mut self, mut condition: impl FnMut() -> bool) {
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
    pub fn exchange_words(
        &mut self,
        communicator: &Communicator,
        words: [i32; 2],
        mut each: impl FnMut(CommRank, [i32; 2]),
    ) -> Result<()> {
        let shared = &communicator.shared;
        if communicator.is_out_of_reach() {
            let told = self.tell_all(communicator, &words.map(|word| word as u32 as u64))?;
            for (rank, words) in told.iter().enumerate() {
                let [first, second] = words[..] else { return Err(Error::INTERN) };
                each(CommRank::at(rank), [first as i32, second as i32]);
            }
            return Ok(());
        }
        let check = check(Kind::Exchange, NO_ROOT, 0);
        let number = self.open(shared, check, &[words[0] as u64, words[1] as u64])?;
        let outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            for rank in shared.ranks() {
                each(rank, [0, 1].map(|index| shared.channel.posted_word(rank, number, index) as i32));
            }
        }
        self.close(shared, number, outcome)
    }
}

/// A small operation in which every rank tells every rank up to [`SMALL_BYTES`] bytes, by a line of each (`lwk_ring::ExchangeLines`).
pub(crate) struct Exchange {
    number: u64,
    word: u64,
}

impl Exchange {
    /// Tells what `fill` writes, to the address that it gets. Errors: those of `fill`, and then nothing has begun; those of
    /// [`Shared::enter`].
    #[inline(always)]
    pub fn begin(shared: &Shared, sort: u64, fill: impl FnOnce(*mut u8) -> Result<()>) -> Result<Exchange> {
        let mut content = [0u64; SMALL_BYTES / 8];
        fill(content.as_mut_ptr().cast())?;
        let word = shared.enter(sort)?;
        let number = Shared::next(&shared.smalls);
        // SAFETY: this rank's own line, once a number.
        unsafe { shared.mine().small.tell(number, word, |line| line.write(content)) };
        Ok(Exchange { number, word })
    }

    /// What `rank` tells; waits for it. Every rank must be asked for. Errors: those of `await_rank`.
    #[inline(always)]
    pub fn content(&self, engine: &mut Engine, shared: &Shared, rank: CommRank) -> Result<*mut u8> {
        let lines = &shared.of(rank).small;
        engine.await_told(shared, rank, || lines.word(self.number) == self.word)?;
        // SAFETY: the line has this operation's word, and this rank is in it until it begins the next.
        Ok(unsafe { lines.read(self.number, |line| line.cast_mut().cast()) })
    }
}
