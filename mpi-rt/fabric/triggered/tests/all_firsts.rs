//! All firsts at once, over a model of their kernels: messages of a pair keep their order, those of others overtake each other by chance. What a count sets off waits for room in
//! the kernel, and what is asked for at once overtakes it there; the buffer is read when it goes.

use lwk_triggered::{Asked, Content, Epoch, Kind, Plan, Tree, Way};
use std::collections::VecDeque;

/// A generator of numbers (xorshift), so that a seed repeats a run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

struct Message {
    counts: Way,
    lane: usize,
    content: Content,
    value: u64,
}

/// A first: its rank's program, and what its kernel has of it.
struct First {
    plan: Plan,
    entered: Option<Epoch>,
    /// Collectives that it has entered.
    begun: usize,
    lanes: [u64; 2],
    counts: [u64; 2],
    waiting: Vec<(Asked, usize)>,
    /// Set off, and not gone.
    fired: VecDeque<(Asked, usize)>,
    asked: usize,
}

struct Nodes {
    firsts: Vec<First>,
    /// On their way, by sender and target.
    wires: Vec<VecDeque<Message>>,
    kinds: Vec<Kind>,
}

fn index(way: Way) -> usize {
    usize::from(way == Way::Down)
}

/// What a first gives to a reduction.
fn part(me: usize, number: usize) -> u64 {
    (me as u64 + 1) << (number % 8)
}

impl Nodes {
    fn new(count: usize, kinds: Vec<Kind>) -> Nodes {
        let first = |me: usize| First {
            plan: Plan::new(Tree::new(me as u32, count as u32)),
            entered: None,
            begun: 0,
            lanes: [0; 2],
            counts: [0; 2],
            waiting: Vec::new(),
            fired: VecDeque::new(),
            asked: 0,
        };
        let wires = (0..count * count).map(|_| VecDeque::new()).collect();
        Nodes { firsts: (0..count).map(first).collect(), wires, kinds }
    }

    fn enter(&mut self, me: usize) {
        let first = &mut self.firsts[me];
        let kind = self.kinds[first.begun];
        let epoch = first.plan.begin(kind);
        if kind == Kind::Reduction {
            first.lanes[epoch.lane] = part(me, first.begun);
        }
        first.entered = Some(epoch);
        first.begun += 1;
        for asked in epoch.operations() {
            self.firsts[me].asked += 1;
            if asked.after.is_none() {
                self.send(me, asked, epoch.lane);
            } else {
                self.firsts[me].waiting.push((asked, epoch.lane));
            }
        }
        self.set_off(me);
    }

    fn send(&mut self, me: usize, asked: Asked, lane: usize) {
        let Asked { to, counts, content, .. } = asked;
        let message = Message { counts, lane, content, value: self.firsts[me].lanes[lane] };
        self.wires[me * self.firsts.len() + to as usize].push_back(message);
    }

    /// Finds what a first's counts set off.
    fn set_off(&mut self, me: usize) {
        let First { counts, waiting, fired, .. } = &mut self.firsts[me];
        let is_due =
            |(asked, _): &(Asked, usize)| asked.after.is_none_or(|(way, at)| counts[index(way)] >= at);
        fired.extend(waiting.iter().copied().filter(is_due));
        waiting.retain(|it| !is_due(it));
    }

    /// Sends something that has been set off, or delivers a message; false if there is neither.
    fn go_on(&mut self, chance: &mut Chance) -> bool {
        let fired: Vec<usize> =
            (0..self.firsts.len()).filter(|me| !self.firsts[*me].fired.is_empty()).collect();
        if !fired.is_empty() && chance.below(2) == 0 {
            let me = fired[chance.below(fired.len())];
            let (asked, lane) = self.firsts[me].fired.pop_front().expect("it is not empty");
            self.send(me, asked, lane);
            return true;
        }
        self.deliver(chance) || !fired.is_empty()
    }

    /// Delivers a message; false if none is on its way.
    fn deliver(&mut self, chance: &mut Chance) -> bool {
        let full: Vec<usize> = (0..self.wires.len()).filter(|wire| !self.wires[*wire].is_empty()).collect();
        if full.is_empty() {
            return false;
        }
        let wire = full[chance.below(full.len())];
        let message = self.wires[wire].pop_front().expect("it is not empty");
        let me = wire % self.firsts.len();
        let first = &mut self.firsts[me];
        match message.content {
            Content::Nothing => {}
            Content::Part => first.lanes[message.lane] += message.value,
            Content::Result => first.lanes[message.lane] = message.value,
        }
        first.counts[index(message.counts)] += 1;
        self.set_off(me);
        true
    }

    /// Whether a first's collective is over; then what it must be.
    fn is_over(&self, me: usize) -> bool {
        let first = &self.firsts[me];
        let Some(epoch) = first.entered else { return true };
        let (way, at) = epoch.end();
        if first.counts[index(way)] < at {
            return false;
        }
        let number = first.begun - 1;
        let all = self.firsts.iter().all(|other| other.begun > number);
        assert!(all, "first {me} has left collective {number}, which somebody has not entered");
        if self.kinds[number] == Kind::Reduction {
            let sum: u64 = (0..self.firsts.len()).map(|other| part(other, number)).sum();
            assert_eq!(first.lanes[epoch.lane], sum, "first {me}, collective {number}");
        }
        true
    }
}

#[test]
fn results_are_what_all_parts_come_to_in_whatever_order_messages_come() {
    for count in 1..=17 {
        for seed in 1..=20u64 {
            let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + count as u64);
            let kinds =
                (0..40).map(|_| if chance.below(3) == 0 { Kind::Barrier } else { Kind::Reduction }).collect();
            let mut it = Nodes::new(count, kinds);
            loop {
                let me = chance.below(count);
                if it.is_over(me) && it.firsts[me].begun < it.kinds.len() {
                    it.enter(me);
                } else if !it.go_on(&mut chance)
                    && (0..count).all(|me| it.is_over(me) && it.firsts[me].begun == it.kinds.len())
                {
                    break;
                }
            }
            assert!(
                it.firsts.iter().all(|first| first.waiting.is_empty() && first.fired.is_empty()),
                "{count}, seed {seed}"
            );
        }
    }
}

#[test]
fn when_all_have_entered_the_kernels_alone_end_it() {
    for count in 1..=17 {
        for kind in [Kind::Barrier, Kind::Reduction] {
            let mut it = Nodes::new(count, vec![kind]);
            (0..count).for_each(|me| it.enter(me));
            let mut chance = Chance(1);
            while it.go_on(&mut chance) {}
            assert!((0..count).all(|me| it.is_over(me)));
            // What a first asks for does not depend on who is late.
            for (me, first) in it.firsts.iter().enumerate() {
                let tree = Tree::new(me as u32, count as u32);
                let (children, parents) = (tree.children().count(), usize::from(tree.parent().is_some()));
                let ready = if kind == Kind::Reduction { children } else { 0 };
                assert_eq!(first.asked, ready + parents + children);
            }
        }
    }
}
