//! What node 0 knows: all nodes, all jobs, and who has launched them. It decides and says what is to be done; [`super::daemon`] does it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use lwk_control::message::{Answer, JobLine, Machine, News, NodeLine, Order, Request, Work};

use super::place::{Wanted, place};
use super::way;

/// A launcher's connection.
pub type Launcher = u64;

/// A node as node 0 knows it.
pub struct Station {
    pub machine: Machine,
    /// Where it is, seen from node 0; node 0 itself is nowhere.
    pub ip: IpAddr,
    free: Vec<u16>,
    lost: Option<String>,
}

impl Station {
    pub fn new(machine: Machine, ip: IpAddr) -> Station {
        let free = machine.cores.clone();
        Station { machine, ip, free, lost: None }
    }
}

/// A node of a job.
struct Member {
    node: u32,
    cores: Vec<u16>,
    port: Option<u16>,
    /// Nothing of the job is left there.
    dropped: bool,
}

struct Job {
    launcher: Launcher,
    ranks: u32,
    name: String,
    members: Vec<Member>,
    since: Instant,
    /// It is being dropped.
    ending: bool,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct ToDo {
    pub orders: Vec<Order>,
    pub answers: Vec<(Launcher, Answer)>,
}

impl ToDo {
    fn answer(&mut self, to: Launcher, answer: Answer) {
        self.answers.push((to, answer));
    }

    fn order(&mut self, id: u32, to: Option<u32>, work: Work) {
        self.orders.push(Order::Work { id, to, work });
    }
}

/// The nodes and their jobs.
pub struct Root {
    stations: Vec<Station>,
    jobs: BTreeMap<u32, Job>,
    next: u32,
}

impl Root {
    /// These nodes, by number, without a job.
    pub fn new(stations: Vec<Station>) -> Root {
        Root { stations, jobs: BTreeMap::new(), next: 1 }
    }

    /// A launcher asks for something other than that all go down.
    pub fn request(&mut self, from: Launcher, request: Request, random: impl FnOnce() -> u64) -> ToDo {
        let mut to_do = ToDo::default();
        match request {
            Request::Launch { ranks, nodes, oversubscribe, name } => {
                let wanted = Wanted { ranks, nodes, oversubscribe };
                match self.launch(from, wanted, name, random(), &mut to_do) {
                    Ok(answer) => to_do.answer(from, answer),
                    Err(why) => to_do.answer(from, Answer::Refused(why)),
                }
            }
            Request::Work { node, work } if work.is_launchers() => {
                if let Some((id, job)) = self.of(from).filter(|(_, job)| !job.ending) {
                    let member = |node: u32| job.members.get(node as usize).map(|member| member.node);
                    match node.map(member) {
                        None => to_do.order(id, None, work),
                        Some(Some(node)) => to_do.order(id, Some(node), work),
                        Some(None) => {}
                    }
                }
            }
            Request::Work { .. } => {
                to_do.answer(from, Answer::Refused("that is not a launcher's to ask for".into()))
            }
            Request::Finish => match self.of(from).map(|(id, _)| id) {
                Some(id) => self.end(id, &mut to_do),
                None => to_do.answer(from, Answer::Done),
            },
            Request::Jobs => to_do.answer(from, Answer::Jobs(self.lines())),
            Request::Nodes => to_do.answer(from, Answer::Nodes(self.stations())),
            Request::Kill { id } => match self.jobs.get(&id) {
                None => to_do.answer(from, Answer::Refused(format!("there is no job {id}"))),
                Some(job) => {
                    to_do.answer(job.launcher, Answer::Killed);
                    to_do.order(id, None, Work::Stop);
                    to_do.answer(from, Answer::Done);
                }
            },
            Request::Down => {
                self.jobs.values().for_each(|job| to_do.answer(job.launcher, Answer::Killed));
                to_do.orders.push(Order::Down);
            }
        }
        to_do
    }

    /// A launcher has gone away, and its job with it.
    pub fn gone(&mut self, launcher: Launcher) -> ToDo {
        let mut to_do = ToDo::default();
        if let Some(id) = self.of(launcher).map(|(id, _)| id) {
            self.end(id, &mut to_do);
        }
        to_do
    }

    /// A node says something of a job.
    pub fn news(&mut self, node: u32, id: u32, news: News) -> ToDo {
        let mut to_do = ToDo::default();
        let Some(job) = self.jobs.get_mut(&id) else { return to_do };
        let Some(at) = job.members.iter().position(|member| member.node == node) else { return to_do };
        match news {
            News::Bound { port } => {
                job.members[at].port = Some(port);
                let known = |member: &Member| {
                    Some(SocketAddr::new(self.stations[member.node as usize].ip, member.port?))
                };
                if let Some(addresses) = job.members.iter().map(known).collect() {
                    to_do.order(id, None, Work::Wire(addresses));
                }
            }
            News::Dropped => {
                job.members[at].dropped = true;
                self.settle(id, &mut to_do);
            }
            news if !job.ending => to_do.answer(job.launcher, Answer::News { node: at as u32, news }),
            _ => {}
        }
        to_do
    }

    /// A node is gone, and with it those below it.
    pub fn lost(&mut self, node: u32, why: &str) -> ToDo {
        let mut to_do = ToDo::default();
        for (number, station) in (0..).zip(&mut self.stations) {
            if (number == node || way(node, number).is_some()) && station.lost.is_none() {
                let why = if number == node {
                    why.to_owned()
                } else {
                    format!("it was reached by node {node}: {why}")
                };
                station.lost = Some(why);
                station.free.clear();
            }
        }
        let ids: Vec<u32> = self.jobs.keys().copied().collect();
        for id in ids {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            for (at, member) in (0..).zip(&mut job.members) {
                let station = &self.stations[member.node as usize];
                let Some(why) = station.lost.as_ref().filter(|_| !member.dropped) else { continue };
                member.dropped = true;
                let name = &station.machine.name;
                let why = format!(" (node {} on {name} is lost: {why})", member.node);
                to_do.answer(job.launcher, Answer::News { node: at, news: News::Closed { why: Some(why) } });
            }
            self.settle(id, &mut to_do);
        }
        to_do
    }

    fn launch(
        &mut self,
        from: Launcher,
        wanted: Wanted,
        name: String,
        wire: u64,
        to_do: &mut ToDo,
    ) -> Result<Answer, String> {
        if self.of(from).is_some() {
            return Err("a launcher has one job".into());
        }
        let up = (0..).zip(&self.stations).filter(|(_, station)| station.lost.is_none());
        let free: Vec<(u32, Vec<u16>)> = up.map(|(node, station)| (node, station.free.clone())).collect();
        let placed = place(wanted, &free).map_err(|why| {
            match self.stations.iter().position(|it| it.lost.is_some()) {
                Some(node) => format!("{why} (node {node} is lost; take the nodes down and up again)"),
                None => why,
            }
        })?;
        let id = self.next;
        self.next += 1;
        let nodes: Vec<u32> = placed.iter().map(|(node, _)| *node).collect();
        for (at, (node, cores)) in (0..).zip(&placed) {
            self.stations[*node as usize].free.retain(|core| !cores.contains(core));
            let (ranks, cores) = (wanted.ranks, cores.clone());
            let stage = Work::Stage { ranks, node: at, nodes: nodes.len() as u32, wire, cores };
            to_do.order(id, Some(*node), stage);
        }
        let member = |(node, cores)| Member { node, cores, port: None, dropped: false };
        let members = placed.into_iter().map(member).collect();
        let since = Instant::now();
        self.jobs
            .insert(id, Job { launcher: from, ranks: wanted.ranks, name, members, since, ending: false });
        Ok(Answer::Placed { id, nodes })
    }

    fn of(&self, launcher: Launcher) -> Option<(u32, &Job)> {
        self.jobs.iter().find(|(_, job)| job.launcher == launcher).map(|(id, job)| (*id, job))
    }

    /// Begins to drop a job.
    fn end(&mut self, id: u32, to_do: &mut ToDo) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if !std::mem::replace(&mut job.ending, true) {
            to_do.order(id, None, Work::Drop);
        }
        self.settle(id, to_do);
    }

    /// Gives the cores of a job back of which nothing is left.
    fn settle(&mut self, id: u32, to_do: &mut ToDo) {
        let over = |job: &Job| job.ending && job.members.iter().all(|member| member.dropped);
        if !self.jobs.get(&id).is_some_and(over) {
            return;
        }
        let Some(job) = self.jobs.remove(&id) else { return };
        for member in job.members {
            let station = &mut self.stations[member.node as usize];
            if station.lost.is_none() {
                station.free.extend(member.cores);
                station.free.sort_unstable();
            }
        }
        to_do.answer(job.launcher, Answer::Done);
    }

    fn lines(&self) -> Vec<JobLine> {
        let line = |(id, job): (&u32, &Job)| JobLine {
            id: *id,
            ranks: job.ranks,
            nodes: job.members.iter().map(|member| member.node).collect(),
            seconds: job.since.elapsed().as_secs(),
            name: job.name.clone(),
        };
        self.jobs.iter().map(line).collect()
    }

    fn stations(&self) -> Vec<NodeLine> {
        let jobs_of = |node: u32| {
            let has = |job: &Job| job.members.iter().any(|member| member.node == node);
            self.jobs.iter().filter(|(_, job)| has(job)).map(|(id, _)| *id).collect()
        };
        let line = |(node, station): (u32, &Station)| NodeLine {
            node,
            machine: station.machine.clone(),
            free: station.free.len() as u32,
            jobs: jobs_of(node),
            lost: station.lost.clone(),
        };
        (0..).zip(&self.stations).map(line).collect()
    }
}

/// Where node 0 is for itself.
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

#[cfg(test)]
mod tests {
    use super::*;

    fn root(nodes: u32) -> Root {
        let station = |node: u32| {
            let machine =
                Machine { name: format!("m{node}"), process: node, cores: vec![0, 1], booted: false };
            Station::new(machine, IpAddr::V4(Ipv4Addr::LOCALHOST))
        };
        Root::new((0..nodes).map(station).collect())
    }

    fn launch(root: &mut Root, from: Launcher, ranks: u32) -> ToDo {
        let name = "x".into();
        root.request(from, Request::Launch { ranks, nodes: None, oversubscribe: false, name }, || 9)
    }

    fn cores(to_do: &ToDo) -> Vec<(u32, Vec<u16>)> {
        let stage = |order: &Order| match order {
            Order::Work { to: Some(node), work: Work::Stage { cores, .. }, .. } => {
                Some((*node, cores.clone()))
            }
            _ => None,
        };
        to_do.orders.iter().filter_map(stage).collect()
    }

    #[test]
    fn two_jobs_have_no_core_in_common_and_a_third_is_refused() {
        let mut root = root(2);
        let (one, other) = (launch(&mut root, 1, 1), launch(&mut root, 2, 2));
        assert_eq!(cores(&one), [(0, vec![0])]);
        assert_eq!(cores(&other), [(1, vec![0, 1])]);
        assert_eq!(cores(&launch(&mut root, 3, 1)), [(0, vec![1])]);
        assert!(matches!(launch(&mut root, 4, 1).answers[..], [(4, Answer::Refused(_))]));
    }

    #[test]
    fn cores_are_free_when_the_last_node_has_nothing_left() {
        let mut root = root(2);
        launch(&mut root, 1, 4);
        let gone = root.gone(1);
        assert!(matches!(gone.orders[..], [Order::Work { id: 1, to: None, work: Work::Drop }]));
        assert!(root.news(0, 1, News::Dropped).answers.is_empty());
        assert!(matches!(launch(&mut root, 2, 4).answers[..], [(2, Answer::Refused(_))]));
        assert_eq!(root.news(1, 1, News::Dropped).answers, [(1, Answer::Done)]);
        assert_eq!(cores(&launch(&mut root, 2, 4)).len(), 2);
    }

    #[test]
    fn ranks_are_set_up_when_all_nodes_are_bound() {
        let mut root = root(2);
        launch(&mut root, 1, 4);
        assert!(root.news(1, 1, News::Bound { port: 7 }).orders.is_empty());
        let wired = root.news(0, 1, News::Bound { port: 8 }).orders;
        let [Order::Work { id: 1, to: None, work: Work::Wire(addresses) }] = &wired[..] else {
            panic!("not wired: {wired:?}")
        };
        assert_eq!(addresses.iter().map(SocketAddr::port).collect::<Vec<_>>(), [8, 7]);
    }

    #[test]
    fn a_lost_node_takes_those_below_it_along_and_is_told_to_every_job() {
        let mut root = root(4);
        launch(&mut root, 1, 8);
        let lost = root.lost(1, "it is silent");
        let closed: Vec<u32> = lost
            .answers
            .iter()
            .filter_map(|(_, answer)| match answer {
                Answer::News { node, news: News::Closed { why: Some(_) } } => Some(*node),
                _ => None,
            })
            .collect();
        assert_eq!(closed, [1, 3]);
        root.gone(1);
        root.news(0, 1, News::Dropped);
        root.news(2, 1, News::Dropped);
        assert_eq!(cores(&launch(&mut root, 2, 4)).iter().map(|(node, _)| *node).collect::<Vec<_>>(), [0, 2]);
        let [(_, Answer::Refused(why))] = &launch(&mut root, 3, 1).answers[..] else { panic!("not refused") };
        assert!(why.contains("node 1 is lost"), "{why}");
    }

    #[test]
    fn a_launcher_has_no_say_in_what_is_node_0s_or_anothers() {
        let mut root = root(1);
        launch(&mut root, 1, 1);
        let work = |root: &mut Root, from, node, work| root.request(from, Request::Work { node, work }, || 0);
        assert!(work(&mut root, 1, None, Work::Drop).orders.is_empty());
        assert!(work(&mut root, 2, None, Work::Stop).orders.is_empty());
        assert!(work(&mut root, 1, Some(5), Work::Stop).orders.is_empty());
        assert_eq!(work(&mut root, 1, Some(0), Work::Stop).orders.len(), 1);
        assert!(matches!(
            root.request(2, Request::Kill { id: 2 }, || 0).answers[..],
            [(2, Answer::Refused(_))]
        ));
    }
}
