//! Collectives in two levels: within each node, and between the nodes' firsts. So as few messages cross the network as can.
//!
//! Members of one node are next to each other in the communicator; so what a node's first has folded is of one stretch of ranks, and the order of folding is that
//! of ranks at both levels.

use crate::allreduce::doubling;
use crate::reduce::{MINE, THEIRS, fold_into_first};
use crate::{Buffer, BufferPart, Rank, Schedule, Step, binomial_tree, dissemination};
use alloc::vec::Vec;

/// A rank among the nodes of its communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Levels {
    me: Rank,
    /// Where each node's members begin, and the number of all.
    bounds: Vec<Rank>,
    /// The node of this rank.
    node: Rank,
    /// Whether the nodes' firsts do their part of a barrier or a reduction by a step of its own, and not by messages.
    together: bool,
}

impl Levels {
    /// What rank `me` sees of members on these nodes, by rank. `None` if there is only one level, or a node's members are not next to each other.
    pub fn of(me: Rank, nodes: impl IntoIterator<Item = u32>) -> Option<Levels> {
        Levels::of_nodes(me, nodes).filter(|it| it.nodes() < it.ranks())
    }

    /// The same with one member on each node, too.
    pub fn of_nodes(me: Rank, nodes: impl IntoIterator<Item = u32>) -> Option<Levels> {
        let (mut bounds, mut seen, mut ranks, mut node) = (Vec::new(), Vec::new(), 0, 0);
        for on in nodes {
            if seen.last() != Some(&on) {
                if seen.contains(&on) {
                    return None;
                }
                seen.push(on);
                bounds.push(ranks);
            }
            if ranks == me {
                node = bounds.len() as Rank - 1;
            }
            ranks += 1;
        }
        bounds.push(ranks);
        let nodes = seen.len() as Rank;
        (me < ranks && nodes > 1).then_some(Levels { me, bounds, node, together: false })
    }

    /// The same where the nodes' firsts do their part of a barrier or a reduction by [`Step::Together`].
    pub fn together(self) -> Levels {
        Levels { together: true, ..self }
    }

    /// Nodes of the communicator.
    pub fn nodes(&self) -> Rank {
        self.bounds.len() as Rank - 1
    }

    /// Ranks of the communicator.
    pub fn ranks(&self) -> Rank {
        self.first_of(self.nodes())
    }

    /// This rank's node, among those of the communicator.
    pub fn node(&self) -> Rank {
        self.node
    }

    /// The first member of a node.
    pub fn first_of(&self, node: Rank) -> Rank {
        self.bounds[node as usize]
    }

    fn first(&self) -> Rank {
        self.first_of(self.node)
    }

    /// Whether this rank is its node's first.
    pub fn is_first(&self) -> bool {
        self.me == self.first()
    }

    /// This rank among those of its node, and their number.
    fn here(&self) -> (Rank, Rank) {
        (self.me - self.first(), self.first_of(self.node + 1) - self.first())
    }

    fn node_of(&self, rank: Rank) -> Rank {
        self.bounds.partition_point(|bound| *bound <= rank) as Rank - 1
    }

    /// Rounds of this node's members, by their numbers on the node.
    fn within(&self, schedule: Schedule) -> Vec<Vec<Step>> {
        schedule.with_peers(|member| self.first() + member).0
    }

    /// Rounds of one member of each node, by the numbers of the nodes.
    fn between(&self, schedule: Schedule, of: impl Fn(Rank) -> Rank) -> Vec<Vec<Step>> {
        schedule.with_peers(of).0
    }
}

impl Schedule {
    /// The same with other names for the ranks.
    fn with_peers(mut self, name: impl Fn(Rank) -> Rank) -> Schedule {
        for step in self.0.iter_mut().flatten() {
            if let Step::Send { to: peer, .. } | Step::Receive { from: peer, .. } = step {
                *peer = name(*peer);
            }
        }
        self
    }

    /// The same messages with nothing in them.
    fn without_content(mut self) -> Schedule {
        for step in self.0.iter_mut().flatten() {
            if let Step::Send { from: place, .. } | Step::Receive { into: place, .. } = step {
                *place = None;
            }
        }
        self
    }
}

/// A barrier: by a tree to each node's first, by dissemination between these, and by a tree back.
pub fn barrier_by_levels(it: &Levels) -> Schedule {
    let (me, members) = it.here();
    let mut up = Schedule::default();
    let mut distance = 1;
    while distance < members {
        if me & distance != 0 {
            up.round([Step::Send { to: me - distance, from: None }]);
            break;
        }
        if me + distance < members {
            up.round([Step::Receive { from: me + distance, into: None }]);
        }
        distance *= 2;
    }
    let mut rounds = it.within(up);
    if it.is_first() {
        let mut between = Schedule::default();
        if it.together {
            between.round([Step::Together { from: None, into: None }]);
        } else {
            between = dissemination(it.node, it.nodes());
        }
        rounds.extend(it.between(between, |node| it.first_of(node)));
    }
    rounds.extend(it.within(binomial_tree(me, members, 0).without_content()));
    Schedule(rounds)
}

/// A broadcast of the receive buffer: by a tree between the root and the other nodes' firsts, then by trees within the nodes.
pub fn broadcast_by_levels(it: &Levels, root: Rank) -> Schedule {
    let (me, members) = it.here();
    let root_node = it.node_of(root);
    let who = |node| if node == root_node { root } else { it.first_of(node) };
    let mut rounds = Vec::new();
    if it.me == who(it.node) {
        rounds = it.between(binomial_tree(it.node, it.nodes(), root_node), who);
    }
    rounds.extend(it.within(binomial_tree(me, members, who(it.node) - it.first())));
    Schedule(rounds)
}

/// Folds the contributions of this rank's node into its first's scratch buffers: the rounds, and into which; the other is free.
fn fold_node(it: &Levels) -> (Vec<Vec<Step>>, BufferPart, BufferPart) {
    let (me, members) = it.here();
    let mut schedule = Schedule::default();
    schedule.round([Step::Copy { from: BufferPart::whole(Buffer::Send), into: MINE }]);
    let (mine, theirs) = fold_into_first(&mut schedule, me, members, (MINE, THEIRS));
    (it.within(schedule), mine, theirs)
}

/// A reduce of send buffers into the root's receive buffer: by trees within the nodes, by one between their firsts, and to the root.
pub fn reduce_by_levels(it: &Levels, root: Rank) -> Schedule {
    let (mut rounds, mut mine, theirs) = fold_node(it);
    if it.is_first() {
        let mut between = Schedule::default();
        if it.together {
            between.round([Step::Together { from: Some(mine), into: Some(mine) }]);
        } else {
            (mine, _) = fold_into_first(&mut between, it.node, it.nodes(), (mine, theirs));
        }
        rounds.extend(it.between(between, |node| it.first_of(node)));
    }
    let mut schedule = Schedule(rounds);
    crate::reduce::hand_to_root(&mut schedule, it.me, root, mine);
    schedule
}

/// An allreduce of send buffers into all receive buffers: by trees within the nodes, by recursive doubling between their firsts, and by trees back.
pub fn allreduce_by_levels(it: &Levels) -> Schedule {
    let (me, members) = it.here();
    let (mut rounds, mine, theirs) = fold_node(it);
    if it.is_first() {
        let mut between = Schedule::default();
        if it.together {
            let into = Some(BufferPart::whole(Buffer::Receive));
            between.round([Step::Together { from: Some(mine), into }]);
        } else {
            doubling(&mut between, it.node, it.nodes(), (mine, theirs));
        }
        rounds.extend(it.between(between, |node| it.first_of(node)));
    }
    rounds.extend(it.within(binomial_tree(me, members, 0)));
    Schedule(rounds)
}
