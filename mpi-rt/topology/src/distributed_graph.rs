//! Graphs of which every rank knows its own edges (MPI-5.0, section 8.5.4).

use alloc::vec::Vec;
use lwk_mpi_core::error::{Error, Result};
use lwk_place::CommRank;

/// The edges of one rank.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistributedGraph {
    /// Ranks that edges come from.
    pub sources: Vec<i32>,
    /// Ranks that edges go to.
    pub destinations: Vec<i32>,
    /// Weights of both, unless the graph has none.
    pub weights: Option<(Vec<i32>, Vec<i32>)>,
}

/// An edge: source, destination, weight.
pub type Edge = [i32; 3];

impl DistributedGraph {
    /// No edges.
    pub fn none() -> DistributedGraph {
        DistributedGraph { sources: Vec::new(), destinations: Vec::new(), weights: None }
    }

    /// Errors: `RANK` for a neighbour that does not exist; `ARG` for weights of another number or below 0.
    pub fn check(&self, size: u32) -> Result<()> {
        let mut ends = self.sources.iter().chain(&self.destinations);
        if ends.any(|rank| !(0..size as i32).contains(rank)) {
            return Err(Error::RANK);
        }
        match &self.weights {
            Some((sources, destinations))
                if sources.len() != self.sources.len()
                    || destinations.len() != self.destinations.len()
                    || sources.iter().chain(destinations).any(|weight| *weight < 0) =>
            {
                Err(Error::ARG)
            }
            _ => Ok(()),
        }
    }

    /// Adds the edges of `rank` among those that one rank has named, as [`to_words`] makes them.
    pub fn add(&mut self, rank: CommRank, words: &[u32]) {
        let Some((weighted, edges)) = words.split_first() else { return };
        if *weighted != 0 && self.weights.is_none() {
            self.weights = Some((Vec::new(), Vec::new()));
        }
        for edge in edges.as_chunks::<3>().0 {
            let [source, destination, weight] = edge.map(|word| word as i32);
            if destination == rank.number() {
                self.sources.push(source);
                if let Some((weights, _)) = &mut self.weights {
                    weights.push(weight);
                }
            }
            if source == rank.number() {
                self.destinations.push(destination);
                if let Some((_, weights)) = &mut self.weights {
                    weights.push(weight);
                }
            }
        }
    }
}

/// Errors: `RANK`, `ARG` for a weight below 0.
pub fn check_edges(edges: &[Edge], size: u32) -> Result<()> {
    let valid = |rank: &i32| (0..size as i32).contains(rank);
    for [source, destination, weight] in edges {
        if !valid(source) || !valid(destination) {
            return Err(Error::RANK);
        }
        if *weight < 0 {
            return Err(Error::ARG);
        }
    }
    Ok(())
}

/// Edges as they are shown to the other ranks: whether they have weights, then the edges.
pub fn to_words(edges: &[Edge], weighted: bool) -> Vec<u32> {
    let edges = edges.iter().flatten().map(|word| *word as u32);
    core::iter::once(weighted as u32).chain(edges).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn every_edge_is_known_at_both_ends() {
        let edges: [&[Edge]; 2] = [&[[0, 1, 5], [1, 1, 6]], &[[2, 0, 7], [0, 1, 8]]];
        let mut graphs = vec![DistributedGraph::none(); 3];
        for named in edges {
            let words = to_words(named, true);
            graphs.iter_mut().enumerate().for_each(|(rank, graph)| graph.add(CommRank::at(rank), &words));
        }
        assert_eq!((&graphs[0].sources, &graphs[0].destinations), (&vec![2], &vec![1, 1]));
        assert_eq!(graphs[0].weights, Some((vec![7], vec![5, 8])));
        assert_eq!((&graphs[1].sources, &graphs[1].destinations), (&vec![0, 1, 0], &vec![1]));
        assert_eq!(graphs[1].weights, Some((vec![5, 6, 8], vec![6])));
        assert_eq!((&graphs[2].sources, &graphs[2].destinations), (&vec![], &vec![0]));
    }

    #[test]
    fn wrong_edges_are_named() {
        assert_eq!(check_edges(&[[0, 3, 1]], 3), Err(Error::RANK));
        assert_eq!(check_edges(&[[-1, 0, 1]], 3), Err(Error::RANK));
        assert_eq!(check_edges(&[[0, 1, -1]], 3), Err(Error::ARG));
        let graph =
            DistributedGraph { sources: vec![0], destinations: vec![], weights: Some((vec![], vec![])) };
        assert_eq!(graph.check(1), Err(Error::ARG));
        assert_eq!(graph.check(0), Err(Error::RANK));
    }
}
