//! Graphs that every rank knows as a whole (MPI-5.0, section 8.5.3): for each node, where its edges end in one list of edges.

use alloc::vec::Vec;
use lwk_mpi_core::error::{Error, Result};

/// A graph on the ranks of a communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    index: Vec<i32>,
    edges: Vec<i32>,
}

impl Graph {
    /// Errors: `ARG` if the index does not ascend from 0 or above, the edges are too few, or one leads nowhere.
    pub fn new(index: &[i32], edges: &[i32]) -> Result<Graph> {
        let ascends = index.first().is_none_or(|first| *first >= 0) && index.is_sorted();
        let count = index.last().map_or(0, |last| *last as usize);
        let edges = edges.get(..count).filter(|_| ascends).ok_or(Error::ARG)?;
        if edges.iter().any(|edge| !(0..index.len() as i32).contains(edge)) {
            return Err(Error::ARG);
        }
        Ok(Graph { index: index.to_vec(), edges: edges.to_vec() })
    }

    /// Nodes.
    pub fn nodes(&self) -> usize {
        self.index.len()
    }

    /// Where each node's edges end.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// All edges.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a rank. Errors: `RANK`.
    pub fn neighbours(&self, rank: i32) -> Result<&[i32]> {
        let rank = usize::try_from(rank).ok().filter(|rank| *rank < self.nodes()).ok_or(Error::RANK)?;
        let begin = if rank == 0 { 0 } else { self.index[rank - 1] as usize };
        self.edges.get(begin..self.index[rank] as usize).ok_or(Error::INTERN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_the_standards_example() {
        // MPI-5.0, example 8.4.
        let Ok(graph) = Graph::new(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]) else { panic!("a graph") };
        assert_eq!(graph.neighbours(0), Ok(&[1, 3][..]));
        assert_eq!(graph.neighbours(1), Ok(&[0][..]));
        assert_eq!(graph.neighbours(2), Ok(&[3][..]));
        assert_eq!(graph.neighbours(3), Ok(&[0, 2][..]));
        assert_eq!((graph.neighbours(4), graph.neighbours(-1)), (Err(Error::RANK), Err(Error::RANK)));
    }

    #[test]
    fn wrong_graphs_are_named() {
        assert_eq!(Graph::new(&[2, 1], &[0, 1]), Err(Error::ARG));
        assert_eq!(Graph::new(&[-1, 1], &[0]), Err(Error::ARG));
        assert_eq!(Graph::new(&[1, 3], &[0, 1]), Err(Error::ARG));
        assert_eq!(Graph::new(&[1], &[1]), Err(Error::ARG));
        assert_eq!(Graph::new(&[1], &[-1]), Err(Error::ARG));
        assert!(Graph::new(&[], &[]).is_ok_and(|it| it.nodes() == 0));
        assert!(Graph::new(&[0, 0], &[]).is_ok_and(|it| it.neighbours(1) == Ok(&[][..])));
    }
}
