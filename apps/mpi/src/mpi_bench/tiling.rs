//! Data tiling (Chai's dissertation, section 2.2.4 and figure 2.6): ranks in a ring compute on their data and send them to the next one, either as a whole or by tiles. What has come
//! by a tile, and what is computed on it next, is in a cache if a tile fits there.

use super::patterns::neighbours;
use super::point_to_point::{TAG, table};
use super::{Bench, Row, Table, microseconds};
use alloc::vec::Vec;
use lwk_mpi::Operation;
use lwk_mpi_rt::{Error, Result};

/// Bytes of a rank's data, as far as its memory goes: beyond a core's own caches. The document has 64 MB.
const DATA: usize = 16 << 20;
/// The same for an iteration that the user wants, so that few take little time.
const DATA_OF_ONE: usize = 32 << 10;
/// The smallest tile, in bytes.
const LEAST: usize = 4 << 10;
const WORD: usize = size_of::<u64>();
/// Rounds of a repetition.
const ROUNDS: usize = 4;

/// Time of a round in milliseconds, by the bytes of a tile; the last is all data at once.
pub fn tiling(bench: &Bench) -> Result<Table> {
    let mut data = Data::new(bench)?;
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for tile in bench.sizes(LEAST, data.mine.len() * WORD) {
        let ticks = bench.best(|| (0..ROUNDS).try_for_each(|_| data.round(bench, tile / WORD)))?;
        rows.push(Row::alone(tile, microseconds(ticks) / 1e3 / ROUNDS as f64));
        wrong += data.mismatches(bench);
    }
    table(bench, "tiling", "Time (ms)", "none", rows, wrong)
}

/// A rank's data, and a place for those of the previous one.
struct Data {
    mine: Vec<u64>,
    come: Vec<u64>,
    rounds: usize,
}

impl Data {
    /// As much as all ranks have room for. Errors: `MPI_ERR_NO_MEM`: not even a few tiles.
    fn new(bench: &Bench) -> Result<Data> {
        let wanted = bench.options.iterations as usize * DATA_OF_ONE;
        let mut words = DATA.min(wanted.next_power_of_two()) / WORD;
        let (mut mine, mut come) = (Vec::new(), Vec::new());
        while mine.try_reserve_exact(words).and_then(|()| come.try_reserve_exact(words)).is_err() {
            (mine, come, words) = (Vec::new(), Vec::new(), words / 2);
        }
        let mut all = [0];
        bench.world.allreduce(&[words as u64], &mut all, Operation::Min)?;
        let words = all[0] as usize;
        if words * WORD < 4 * LEAST {
            return Err(Error::NO_MEM);
        }
        mine.extend((0..words).map(|at| first(bench.rank, at)));
        come.resize(words, 0);
        Ok(Data { mine, come, rounds: 0 })
    }

    /// Computes on all data and hands them to the next rank, so many words at a time.
    fn round(&mut self, bench: &Bench, tile: usize) -> Result<()> {
        let (next, previous) = neighbours(bench);
        for (mine, come) in self.mine.chunks_mut(tile).zip(self.come.chunks_mut(tile)) {
            mine.iter_mut().for_each(|word| *word += 1);
            bench.world.scope(|s| {
                s.isend(&*mine, next, TAG)?;
                bench.world.receive(come, previous, TAG)
            })?;
        }
        core::mem::swap(&mut self.mine, &mut self.come);
        self.rounds += 1;
        Ok(())
    }

    /// Words that are not what that many ranks have made of those of the rank where they began.
    fn mismatches(&self, bench: &Bench) -> u64 {
        let size = bench.size as usize;
        let origin = (bench.rank as usize + size - self.rounds % size) % size;
        let expected = |at| first(origin as u32, at) + self.rounds as u64;
        self.mine.iter().enumerate().filter(|(at, word)| **word != expected(*at)).count() as u64
    }
}

/// What a rank's data begin with.
fn first(rank: u32, at: usize) -> u64 {
    u64::from(rank) << 32 | at as u64
}
