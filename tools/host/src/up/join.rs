//! How nodes come together: each joins at node 0, which tells them where the others are, and connects to the one above it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use lwk_control::message::{Hello, Machine, Order, Word};

use super::daemon::{Event, Plan};
use super::links::{self, Line, Opened};
use super::root::{HERE, Root, Station};
use super::{SILENCE, children, parent};
use lwk::failure::{Failure, Outcome};

/// How long nodes may take to join.
const JOIN: Duration = Duration::from_secs(60);

/// Nodes that come together.
pub struct Gathering<'a> {
    plan: &'a Plan,
    say: &'a Sender<Event>,
    hear: &'a Receiver<Event>,
    until: Instant,
    pub below: BTreeMap<u32, Line<Order>>,
    ready: BTreeSet<u32>,
}

impl<'a> Gathering<'a> {
    pub fn new(plan: &'a Plan, say: &'a Sender<Event>, hear: &'a Receiver<Event>) -> Gathering<'a> {
        let (below, ready) = (BTreeMap::new(), BTreeSet::new());
        Gathering { plan, say, hear, until: Instant::now() + JOIN, below, ready }
    }

    fn next(&self) -> Outcome<Event> {
        let left = self.until.saturating_duration_since(Instant::now());
        self.hear.recv_timeout(left).map_err(|_| {
            let number = self.plan.node;
            let missing: Vec<String> = children(number, self.plan.nodes)
                .filter(|child| !self.ready.contains(child))
                .map(|child| child.to_string())
                .collect();
            let missing = missing.join(" and ");
            Failure::host(format!(
                "node {number} has not heard within {} s that node {missing} is ready; see the logs of these nodes",
                JOIN.as_secs()
            ))
        })
    }

    fn attach(&mut self, child: u32, opened: Opened) {
        let line = Line::new(opened.sender, Some(Order::Ping));
        let (words, gone) = (self.say.clone(), self.say.clone());
        links::hear(
            opened.receiver,
            move |word| drop(words.send(Event::Word(word))),
            move |why| drop(gone.send(Event::ChildGone(child, why))),
        );
        self.below.insert(child, line);
    }

    /// Until all nodes below are there and ready.
    pub fn complete(&mut self) -> Outcome<()> {
        let Plan { node, nodes, .. } = *self.plan;
        while self.ready.len() < children(node, nodes).count() {
            match self.next()? {
                Event::Opened(opened) => {
                    if let Hello::Link { node: child } = opened.hello
                        && children(node, nodes).any(|mine| mine == child)
                        && !self.below.contains_key(&child)
                    {
                        self.attach(child, opened);
                    }
                }
                Event::Word(Word::Ready { node }) => drop(self.ready.insert(node)),
                Event::ChildGone(child, why) => {
                    return Err(Failure::host(format!("node {child} is lost: {why}; see its log")));
                }
                Event::ParentGone(why) => {
                    return Err(Failure::host(format!("the node above is lost: {why}")));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Node 0: waits until all nodes have joined, and tells each where the others are.
pub fn gather(gathering: &mut Gathering<'_>) -> Outcome<Root> {
    let plan = gathering.plan;
    let mut joined: BTreeMap<u32, (Opened, u16, Machine)> = BTreeMap::new();
    while joined.len() as u32 + 1 < plan.nodes {
        let Event::Opened(opened) = gathering.next()? else { continue };
        match &opened.hello {
            Hello::Join { node, nodes, listens, machine }
                if *nodes == plan.nodes && (1..plan.nodes).contains(node) =>
            {
                let (node, listens, machine) = (*node, *listens, machine.clone());
                joined.insert(node, (opened, listens, machine));
            }
            hello => tell!("lwk: {} does not belong to these nodes: {hello:?}", opened.peer),
        }
    }
    let addresses = joined.values().map(|(opened, listens, _)| SocketAddr::new(opened.peer.ip(), *listens));
    let table: Vec<SocketAddr> = std::iter::once(SocketAddr::new(HERE, 0)).chain(addresses).collect();
    let mut stations = vec![Station::new(plan.machine.clone(), HERE)];
    for (node, (mut opened, _, machine)) in joined {
        stations.push(Station::new(machine, opened.peer.ip()));
        let told = opened.sender.send(&Order::Table(table.clone()));
        told.map_err(|why| Failure::host(format!("node {node} is lost: {why}")))?;
        if parent(node) == Some(0) {
            gathering.attach(node, opened);
        }
    }
    Ok(Root::new(stations))
}

/// Another node: joins at node 0, and connects to the node above it. Node 0's address, as it is known here.
pub fn attach_above(
    plan: &Plan,
    first: &str,
    listens: u16,
    say: &Sender<Event>,
) -> Outcome<(Line<Word>, IpAddr)> {
    let Plan { node, nodes, .. } = *plan;
    let hello = Hello::Join { node, nodes, listens, machine: plan.machine.clone() };
    let (mut sender, mut receiver) = links::reach_within(JOIN, first, &plan.key, &hello)?;
    let lost = |why: &dyn std::fmt::Display| Failure::host(format!("node 0 at {first} is lost: {why}"));
    let first_ip = receiver.stream().peer_addr().map_err(|error| lost(&error))?.ip();
    // It answers when the last node has joined.
    receiver.stream().set_read_timeout(Some(JOIN)).map_err(|error| lost(&error))?;
    let table = match receiver.receive::<Order>().map_err(|why| lost(&why))? {
        Order::Table(table) => table,
        other => return Err(lost(&format!("it says {other:?}"))),
    };
    if let Some(above) = parent(node).filter(|above| *above != 0) {
        let address = table.get(above as usize).ok_or_else(|| lost(&"its table is too short"))?;
        (sender, receiver) =
            links::reach_within(JOIN, &address.to_string(), &plan.key, &Hello::Link { node })?;
    }
    receiver.stream().set_read_timeout(Some(SILENCE)).map_err(|error| lost(&error))?;
    let (orders, gone) = (say.clone(), say.clone());
    links::hear(
        receiver,
        move |order| drop(orders.send(Event::Order(order))),
        move |why| drop(gone.send(Event::ParentGone(why))),
    );
    Ok((Line::new(sender, Some(Word::Ping)), first_ip))
}
