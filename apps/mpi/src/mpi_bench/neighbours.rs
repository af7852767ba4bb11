//! Collectives between the neighbours of a ring, by OSU's names: every rank has one on each side.

use super::collective::Form;
use super::moving::Style;
use super::point_to_point::table;
use super::{Bench, Row, Table, microseconds, pattern};
use alloc::vec;
use alloc::vec::Vec;
use lwk_mpi::Communicator;
use lwk_mpi_rt::{Error, Result};

/// The largest part of a neighbour, in bytes.
const LARGEST: usize = 1 << 20;

/// What the neighbours get (MPI 5.0, chapter 8, neighbourhood collectives).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gift {
    /// Both the same (`neighbor_allgather`).
    Same,
    /// Each its own (`neighbor_alltoall`).
    Own,
}

/// Time of the collective, by the bytes of one neighbour's part; of the forms that are begun and waited for, the floor is the blocking one.
pub fn run(bench: &Bench, name: &'static str, gift: Gift, style: Style, form: Form) -> Result<Table> {
    let size = bench.size as i32;
    let ring = bench.world.grid(&[size], &[true])?.ok_or(Error::INTERN)?;
    let (rank, size) = (bench.rank as usize, bench.size as usize);
    // On the left and on the right.
    let around = [(rank + size - 1) % size, (rank + 1) % size];
    let (mut rows, mut wrong) = (Vec::new(), 0);
    for bytes in bench.sizes(1, LARGEST) {
        // What a rank has for the neighbour on each side.
        let part =
            |from: usize, side: usize| (0..bytes).map(move |index| pattern((2 * from + side) as u32, index));
        let send: Vec<u8> = match gift {
            Gift::Same => part(rank, 0).collect(),
            Gift::Own => (0..2).flat_map(|side| part(rank, side)).collect(),
        };
        let exchange = Exchange { ring, gift, style, bytes };
        let (mut receive, mut other) = (vec![0u8; 2 * bytes], vec![0u8; 2 * bytes]);
        exchange.carry_out(form, &send, &mut receive)?;
        // What comes from the left was for the sender's right.
        let theirs = |side: usize| if gift == Gift::Same { 0 } else { 1 - side };
        let expected = (0..2).flat_map(|side| part(around[side], theirs(side)));
        wrong += receive.iter().zip(expected).filter(|(found, expected)| **found != *expected).count() as u64;
        let iterations = bench.iterations(bytes);
        let repeat = |form: Form, receive: &mut [u8]| {
            (0..iterations).try_for_each(|_| exchange.carry_out(form, &send, receive))
        };
        let one = |ticks: u64| microseconds(ticks) / iterations as f64;
        rows.push(match form {
            Form::Blocking => {
                let ticks = bench.best(|| repeat(form, &mut receive))?;
                Row::alone(bytes, one(ticks))
            }
            Form::Nonblocking => {
                let (begun, blocking) =
                    bench.compare(|| repeat(form, &mut receive), || repeat(Form::Blocking, &mut other))?;
                Row::new(bytes, one(begun), one(blocking))
            }
        });
    }
    ring.free()?;
    let floor = if form == Form::Blocking { "none" } else { "the blocking form" };
    table(bench, name, "Latency (us)", floor, rows, wrong)
}

/// One of these collectives, of so many bytes for each neighbour.
struct Exchange<'mpi> {
    ring: Communicator<'mpi>,
    gift: Gift,
    style: Style,
    bytes: usize,
}

impl Exchange<'_> {
    fn carry_out(&self, form: Form, send: &[u8], receive: &mut [u8]) -> Result<()> {
        let (counts, places) = ([self.bytes; 2], [0, self.bytes]);
        let division = (&counts[..], &places[..]);
        let (gift, varying) = (self.gift, self.style != Style::Equal);
        match form {
            Form::Blocking => match (gift, varying) {
                (Gift::Same, false) => self.ring.neighbour_allgather(send, receive),
                (Gift::Same, true) => self.ring.neighbour_allgather_varying(send, receive, &counts, &places),
                (Gift::Own, false) => self.ring.neighbour_alltoall(send, receive),
                (Gift::Own, true) => self.ring.neighbour_alltoall_varying(send, receive, division, division),
            },
            Form::Nonblocking => self.ring.scope(|s| {
                match (gift, varying) {
                    (Gift::Same, false) => s.ineighbour_allgather(send, receive),
                    (Gift::Same, true) => s.ineighbour_allgather_varying(send, receive, &counts, &places),
                    (Gift::Own, false) => s.ineighbour_alltoall(send, receive),
                    (Gift::Own, true) => s.ineighbour_alltoall_varying(send, receive, division, division),
                }?
                .wait()
                .map(drop)
            }),
        }
    }
}
