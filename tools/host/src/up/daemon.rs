//! The process of a node that stays up: joins the others, then passes on what is said along the tree and does its part of every job.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use lwk_control::Key;
use lwk_control::message::{Answer, Hello, Machine, News, Order, Request, Word, Work};

use super::booted::Boots;
use super::join::{Gathering, attach_above, gather};
use super::links::{self, Line, Opened};
use super::root::{Launcher, Root, ToDo};
use super::way;
use super::work::{Jobs, Said};
use lwk::failure::{Doing, Failure, Outcome};

/// How often it is looked whether something has taken too long.
const TICK: Duration = Duration::from_secs(1);

/// What makes a node.
#[derive(Debug)]
pub struct Plan {
    pub node: u32,
    pub nodes: u32,
    /// Where it listens; node 0 tells which port that is.
    pub listen: SocketAddr,
    /// Where node 0 listens, for the others.
    pub join: Option<String>,
    pub machine: Machine,
    /// What boots jobs in QEMU; none: they are processes.
    pub boots: Option<Boots>,
    pub key: Key,
}

/// What happens.
pub enum Event {
    Opened(Opened),
    Asked(Launcher, Request),
    LauncherGone(Launcher),
    Word(Word),
    ChildGone(u32, String),
    Order(Order),
    ParentGone(String),
    Job(u32, Said),
}

/// Lives a node's life. `listening` learns where it listens, `ready` that it and all nodes below are up.
///
/// # Errors
/// The nodes do not come together, or the one above is lost.
pub fn run(plan: &Plan, listening: impl FnOnce(SocketAddr), ready: impl FnOnce()) -> Outcome<()> {
    let listener = TcpListener::bind(plan.listen).doing(|| format!("listen at {}", plan.listen))?;
    let here = listener.local_addr().doing(|| "find the address of a socket".into())?;
    listening(here);
    let (say, hear) = mpsc::channel();
    let opened = say.clone();
    // The main loop is there as long as the process.
    links::open(listener, plan.key.clone(), move |it| drop(opened.send(Event::Opened(it))));
    let mut node = Node::join(plan, here, say, &hear)?;
    if let Some(above) = &node.above {
        above.say(Word::Ready { node: plan.node });
    }
    ready();
    node.serve(&hear)
}

struct Node {
    number: u32,
    above: Option<Line<Word>>,
    below: BTreeMap<u32, Line<Order>>,
    /// The nodes right below that have a part in a job, or others below them.
    routes: BTreeMap<u32, BTreeSet<u32>>,
    jobs: Jobs,
    /// Node 0 has it.
    root: Option<Root>,
    launchers: BTreeMap<Launcher, Line<Answer>>,
    next_launcher: Launcher,
    /// Who has asked that all nodes go down.
    asked_down: Option<Launcher>,
    going_down: bool,
    say: Sender<Event>,
}

impl Node {
    /// Joins the others; when it returns, all nodes below are ready.
    fn join(plan: &Plan, here: SocketAddr, say: Sender<Event>, hear: &Receiver<Event>) -> Outcome<Node> {
        let mut gathering = Gathering::new(plan, &say, hear);
        let (above, root, first_ip) = match &plan.join {
            None => (None, Some(gather(&mut gathering)?), IpAddr::V4(Ipv4Addr::LOCALHOST)),
            Some(first) => {
                let (above, first_ip) = attach_above(plan, first, here.port(), &say)?;
                (Some(above), None, first_ip)
            }
        };
        gathering.complete()?;
        let below = gathering.below;
        let jobs_say = say.clone();
        let hear_jobs = Arc::new(move |id, said| drop(jobs_say.send(Event::Job(id, said))));
        Ok(Node {
            number: plan.node,
            above,
            below,
            routes: BTreeMap::new(),
            jobs: Jobs::new(here.ip(), first_ip, plan.boots.clone(), hear_jobs),
            root,
            launchers: BTreeMap::new(),
            next_launcher: 0,
            asked_down: None,
            going_down: false,
            say,
        })
    }

    fn serve(&mut self, hear: &Receiver<Event>) -> Outcome<()> {
        loop {
            match hear.recv_timeout(TICK) {
                Ok(Event::ParentGone(_)) if self.going_down => return Ok(()),
                Ok(Event::ParentGone(why)) => {
                    // The processes of its jobs end with it.
                    return Err(Failure::host(format!("the node above is lost, and this one ends: {why}")));
                }
                Ok(event) => self.event(event),
                Err(RecvTimeoutError::Timeout) => self.jobs.tick(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if self.going_down && self.below.is_empty() && self.jobs.is_empty() {
                self.leave();
                return Ok(());
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Opened(opened) => self.opened(opened),
            Event::Asked(from, Request::Down) => {
                self.asked_down = Some(from);
                let to_do = self.root.as_mut().map(|root| root.request(from, Request::Down, random));
                self.all(to_do);
            }
            Event::Asked(from, request) => {
                let to_do = self.root.as_mut().map(|root| root.request(from, request, random));
                self.all(to_do);
            }
            Event::LauncherGone(launcher) => {
                self.launchers.remove(&launcher);
                let to_do = self.root.as_mut().map(|root| root.gone(launcher));
                self.all(to_do);
            }
            Event::Word(Word::News { id, node, news }) => self.news(node, id, news),
            Event::Word(Word::Lost { node, why }) => self.lost(node, why),
            Event::Word(Word::Ready { .. } | Word::Ping) => {}
            Event::ChildGone(child, why) => {
                self.below.remove(&child);
                if !self.going_down {
                    tell!("lwk: node {child} is lost: {why}");
                    self.lost(child, why);
                }
            }
            Event::Order(order) => self.order(order),
            // The loop above has seen to it.
            Event::ParentGone(_) => {}
            Event::Job(id, said) => {
                let news = self.jobs.heard(id, said);
                self.tell(id, news);
            }
        }
    }

    /// Somebody has connected who knows the key.
    fn opened(&mut self, opened: Opened) {
        if opened.hello != Hello::Launcher || self.root.is_none() {
            tell!("lwk: {} wants to join, but all nodes are there", opened.peer);
            return;
        }
        let launcher = self.next_launcher;
        self.next_launcher += 1;
        let (asked, gone) = (self.say.clone(), self.say.clone());
        self.launchers.insert(launcher, Line::new(opened.sender, Some(Answer::Ping)));
        links::hear(
            opened.receiver,
            move |request| drop(asked.send(Event::Asked(launcher, request))),
            move |_| drop(gone.send(Event::LauncherGone(launcher))),
        );
    }

    fn all(&mut self, to_do: Option<ToDo>) {
        let ToDo { orders, answers } = to_do.unwrap_or_default();
        for (launcher, answer) in answers {
            // Who is gone hears nothing.
            if let Some(line) = self.launchers.get(&launcher) {
                line.say(answer);
            }
        }
        orders.into_iter().for_each(|order| self.order(order));
    }

    /// Does what an order says here, and passes it on to whom it concerns.
    fn order(&mut self, order: Order) {
        match order {
            Order::Work { id, to: Some(to), work } if to != self.number => {
                let Some(child) = way(self.number, to) else { return };
                if matches!(work, Work::Stage { .. }) {
                    self.routes.entry(id).or_default().insert(child);
                }
                if let Some(line) = self.below.get(&child) {
                    line.say(Order::Work { id, to: Some(to), work });
                }
            }
            Order::Work { id, to, work } => {
                let lines = match to {
                    None => self
                        .routes
                        .get(&id)
                        .into_iter()
                        .flatten()
                        .filter_map(|at| self.below.get(at))
                        .collect(),
                    Some(_) => Vec::new(),
                };
                lines.iter().for_each(|line| line.say(Order::Work { id, to, work: work.clone() }));
                if matches!(work, Work::Drop) {
                    self.routes.remove(&id);
                }
                let news = self.jobs.work(id, work);
                self.tell(id, news);
            }
            Order::Down => {
                self.going_down = true;
                self.below.values().for_each(|line| line.say(Order::Down));
                for (id, news) in self.jobs.drop_all() {
                    self.tell(id, vec![news]);
                }
            }
            Order::Table(_) | Order::Ping => {}
        }
    }

    fn tell(&mut self, id: u32, news: Vec<News>) {
        news.into_iter().for_each(|news| self.news(self.number, id, news));
    }

    /// Some node, here or below, says something of a job.
    fn news(&mut self, node: u32, id: u32, news: News) {
        if let Some(above) = &self.above {
            above.say(Word::News { id, node, news });
        } else {
            let to_do = self.root.as_mut().map(|root| root.news(node, id, news));
            self.all(to_do);
        }
    }

    /// A node below is gone.
    fn lost(&mut self, node: u32, why: String) {
        if let Some(above) = &self.above {
            above.say(Word::Lost { node, why });
        } else {
            let to_do = self.root.as_mut().map(|root| root.lost(node, &why));
            self.all(to_do);
        }
    }

    /// All that is to be said has been said when it returns.
    fn leave(&mut self) {
        if let Some(line) = self.asked_down.and_then(|launcher| self.launchers.get(&launcher)) {
            line.say(Answer::Done);
        }
        std::mem::take(&mut self.launchers).into_values().for_each(Line::finish);
        self.above.take().into_iter().for_each(Line::finish);
    }
}

/// A number that nobody guesses, for the frames of a job.
fn random() -> u64 {
    let mut bytes = [0; 8];
    // Linux has it since before anything here; if not, the time is still another for each job.
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    let number = if read.is_ok() { u64::from_ne_bytes(bytes) } else { lwk::files::now_ns() };
    number.max(1)
}
