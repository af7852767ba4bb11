//! Neighbourhoods (MPI-5.0, section 8.6): one message along each edge. Several from one rank to another meet in the order in which both list them.

use crate::{Buffer, BufferPart, Rank, Schedule, Step};
use alloc::vec::Vec;

/// The edges of a rank. `None`: there is nobody, beside the edge of a grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edges<'a> {
    pub sources: &'a [Option<Rank>],
    pub destinations: &'a [Option<Rank>],
    /// The edges are a grid's, two for each dimension: what goes in one direction comes from the other.
    pub grid: bool,
}

/// The whole send buffer, or its part for each destination, into the part of the receive buffer for each source.
pub fn neighbours(edges: &Edges, parts: bool) -> Schedule {
    let sent = |index| {
        if parts { BufferPart::part(Buffer::Send, index) } else { BufferPart::whole(Buffer::Send) }
    };
    let sends = (0..).zip(edges.destinations).filter_map(|(index, to)| {
        let to = (*to)?;
        Some(Step::Send { to, from: Some(sent(index)) })
    });
    // In the order of the messages that come.
    let mut order: Vec<usize> = (0..edges.sources.len()).collect();
    if edges.grid {
        order.chunks_exact_mut(2).for_each(|dimension| dimension.swap(0, 1));
    }
    let receives = order.into_iter().filter_map(|index| {
        let from = edges.sources[index]?;
        Some(Step::Receive { from, into: Some(BufferPart::part(Buffer::Receive, index as Rank)) })
    });
    let mut schedule = Schedule::default();
    schedule.round(sends.chain(receives));
    schedule
}
