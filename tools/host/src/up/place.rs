//! Which nodes and cores a job gets.

use lwk_abi::address::MAX_RANKS;

use lwk::nodes::ranks_of;

/// What a job asks for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub ranks: u32,
    /// So many nodes; as few as have the cores, if none are said.
    pub nodes: Option<u32>,
    /// Ranks may share cores, but never with another job.
    pub oversubscribe: bool,
}

/// The nodes of a job in its order, each with its cores, out of those that nodes have `free`: number and cores. No core is given to two jobs.
///
/// # Errors
/// Why it cannot be, and what to do, in a line.
pub fn place(wanted: Wanted, free: &[(u32, Vec<u16>)]) -> Result<Vec<(u32, Vec<u16>)>, String> {
    let Wanted { ranks, nodes, oversubscribe } = wanted;
    let there = free.len() as u32;
    if ranks == 0 {
        return Err("a job needs at least one rank".into());
    }
    if let Some(nodes) = nodes.filter(|nodes| *nodes > there || *nodes > ranks || *nodes == 0) {
        return Err(format!(
            "{nodes} nodes for {ranks} ranks, where {there} nodes are up; ask for other --nodes"
        ));
    }
    let mut by_room: Vec<&(u32, Vec<u16>)> = free.iter().collect();
    by_room.sort_by_key(|(node, cores)| (std::cmp::Reverse(cores.len()), *node));
    let with_room = by_room.iter().filter(|(_, cores)| !cores.is_empty()).count() as u32;
    let counts = match nodes {
        Some(nodes) => nodes..=nodes,
        None if oversubscribe => with_room.min(ranks)..=with_room.min(ranks),
        None => 1..=there.min(ranks),
    };
    for count in counts.filter(|count| *count > 0) {
        let mut chosen: Vec<_> = by_room.iter().take(count as usize).collect();
        chosen.sort_by_key(|(node, _)| *node);
        let placed: Option<Vec<_>> = (0..)
            .zip(chosen)
            .map(|(at, (node, cores))| {
                let share = ranks_of(at, count, ranks) as usize;
                let taken = if oversubscribe { share.min(cores.len()) } else { share };
                let fits = share <= MAX_RANKS && taken > 0 && taken <= cores.len();
                fits.then(|| (*node, cores[..taken].to_vec()))
            })
            .collect();
        if let Some(placed) = placed {
            return Ok(placed);
        }
    }
    Err(refusal(wanted, free))
}

fn refusal(wanted: Wanted, free: &[(u32, Vec<u16>)]) -> String {
    let ranks = wanted.ranks;
    let cores: usize = free.iter().map(|(_, cores)| cores.len()).sum();
    let spread = wanted.nodes.map_or(String::new(), |nodes| format!(" spread over {nodes} nodes"));
    if wanted.oversubscribe && cores > 0 {
        return format!(
            "{ranks} ranks{spread} do not fit; each node needs a free core and holds {MAX_RANKS} ranks"
        );
    }
    let hint =
        if wanted.oversubscribe { "" } else { ", or let ranks share what is free with --oversubscribe" };
    format!(
        "{ranks} ranks{spread} need a free core each, and {cores} are free; wait for a job to end, ask for fewer{hint}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(counts: &[u16]) -> Vec<(u32, Vec<u16>)> {
        (0..).zip(counts).map(|(node, count)| (node, (0..*count).collect())).collect()
    }

    fn shape(
        ranks: u32,
        nodes: Option<u32>,
        oversubscribe: bool,
        counts: &[u16],
    ) -> Option<Vec<(u32, usize)>> {
        let placed = place(Wanted { ranks, nodes, oversubscribe }, &free(counts)).ok()?;
        Some(placed.into_iter().map(|(node, cores)| (node, cores.len())).collect())
    }

    #[test]
    fn as_few_nodes_as_have_the_cores() {
        assert_eq!(shape(2, None, false, &[2, 2]), Some(vec![(0, 2)]));
        assert_eq!(shape(2, None, false, &[1, 2]), Some(vec![(1, 2)]));
        assert_eq!(shape(4, None, false, &[2, 2]), Some(vec![(0, 2), (1, 2)]));
        assert_eq!(shape(2, Some(2), false, &[2, 2]), Some(vec![(0, 1), (1, 1)]));
        assert_eq!(shape(5, None, false, &[2, 2]), None);
        assert_eq!(shape(1, None, false, &[0, 0]), None);
    }

    #[test]
    fn ranks_share_only_what_is_free() {
        assert_eq!(shape(4, None, true, &[1, 1]), Some(vec![(0, 1), (1, 1)]));
        assert_eq!(shape(4, Some(1), true, &[0, 1]), Some(vec![(1, 1)]));
        assert_eq!(shape(4, None, true, &[0, 0]), None);
        assert_eq!(shape(600, Some(2), true, &[1, 1]), None);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        for (ranks, nodes) in [(0, None), (9, None), (1, Some(2)), (9, Some(3)), (3, Some(0))] {
            let why = place(Wanted { ranks, nodes, oversubscribe: false }, &free(&[2, 2])).unwrap_err();
            assert!(why.len() > 20 && !why.contains('\n'), "{why}");
        }
    }
}
