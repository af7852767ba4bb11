//! The table of paths: which one carries what, by peer and by class of size. It is filled at start and may change while the job runs.
//!
//! Messages of one pair stay in order across a change. Before the first message of another path the sender puts a marker ([`CHANGE`]) into
//! the path that it leaves, behind all that it has sent there. The receiver looks at one path for each peer; when it meets the
//! marker it has taken everything before it, and looks at the path that the marker names from then on. Nobody waits, and no message is numbered.
//!
//! `smartmap` is called directly, and its short ways are asked first: a flag in its own link to the peer says whether it carries everything. All
//! other paths are behind the trait.

mod handed;
mod receive;
mod send;

use crate::late::Late;
use crate::path_id::{CLASSES, PATHS, PathId};
use crate::portals::Portals;
use crate::profile::Profile;
use crate::setting::{self, Distance, Setting};
use crate::shm::{
    Advanced, Basic, Hybrid, Limic, Limic2, Mci, Mcni, Sci, Shm, Tunables, limic2, ordered, tunables,
};
use crate::smartmap::Smartmap;
use crate::{BetweenNodes, Fault, Held, Limits, Memory, Path, Result, Sent, Ticket};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use lwk_place::{WorldRank, is_far, wall};
use lwk_user::abi::runtime::PROFILE;
use lwk_user::barrier::NodeBarrier;
use lwk_user::{job, start};

/// The context of markers, which no communicator has.
pub const CHANGE: u32 = u32::MAX;

/// Ranks that are apart meet here: no path of theirs waits for all others by itself.
static STARTED: NodeBarrier = NodeBarrier::new();

/// Which path carries a peer's messages.
#[derive(Clone, Copy)]
struct Route {
    /// To the peer, by class of size.
    carries: [PathId; CLASSES],
    /// The path of the last message to the peer.
    outgoing: PathId,
    /// The path of the next message from it.
    incoming: PathId,
}

/// A message that is held, and the path that holds it.
#[derive(Debug)]
pub struct Parked {
    path: PathId,
    pub held: Held,
}

/// What a peer's memory is to this rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// It can be loaded and stored at its slot.
    Mapped,
    /// Only messages get there.
    Messages,
}

/// All paths of a rank.
pub struct Table {
    smartmap: Smartmap,
    /// The others that have been started, by [`PathId`].
    others: [Option<Box<dyn Path>>; PATHS.len() - 1],
    routes: Vec<Route>,
    /// Markers that are on their way.
    markers: Vec<Ticket>,
    setting: Setting,
    profile: Option<Box<Profile>>,
    /// As [`Matching::takes_above`](crate::Matching::takes_above), of all.
    takes_above: usize,
}

impl Table {
    /// Starts the paths that the environment names. Every rank must call it once; it waits for the others, and ends the job if the
    /// environment makes no sense. Errors: [`Fault::NoMemory`].
    pub fn start_up() -> Result<Table> {
        let chosen = setting::named(start::variable).unwrap_or_else(|bad| setting::refuse(&bad));
        setting::check_wire(chosen).unwrap_or_else(|bad| setting::refuse(&bad));
        let names = start::variables().map(|(name, _)| name);
        let sizes = setting::none_but(tunables::PREFIX, &tunables::VARIABLES, names)
            .and_then(|()| Tunables::from_environment(start::variable));
        let sizes = sizes.unwrap_or_else(|bad| setting::refuse(&bad));
        let apart = setting::apart(chosen).unwrap_or_else(|bad| setting::refuse(&bad));
        if apart {
            wall::build_between_all();
            STARTED.wait();
        } else if chosen == Setting::Halves {
            wall::build();
        }
        let mut table = Table {
            smartmap: Smartmap::start_up()?,
            others: [const { None }; PATHS.len() - 1],
            routes: Vec::new(),
            markers: Vec::new(),
            setting: chosen,
            profile: start::variable(PROFILE).map(|_| Box::new(Profile::new())),
            takes_above: usize::MAX,
        };
        let ranks = || (0..job().size()).map(WorldRank);
        for peer in ranks() {
            let carries = chosen.carries(Distance::of(peer));
            for path in carries {
                table.start(path, &sizes)?;
            }
            table.routes.push(Route { carries, outgoing: carries[0], incoming: carries[0] });
        }
        for peer in ranks() {
            table.tell_smartmap(peer);
        }
        let matching = table.others.iter_mut().flatten().filter_map(|path| path.matching());
        table.takes_above = matching.map(|it| it.takes_above()).min().unwrap_or(usize::MAX);
        Ok(table)
    }

    fn start(&mut self, path: PathId, sizes: &Tunables) -> Result<()> {
        let Some(place) = (path as usize).checked_sub(1) else { return Ok(()) };
        if self.others[place].is_none() {
            self.others[place] = Some(match path {
                PathId::ShmAdvanced => Box::new(Shm::<Advanced>::start_up(sizes)?),
                PathId::Limic => {
                    limic2::require("limic");
                    Box::new(Shm::<Limic>::start_up(sizes)?)
                }
                PathId::Limic2 => {
                    limic2::require("limic2");
                    Box::new(Shm::<Limic2>::start_up(sizes)?)
                }
                PathId::Hybrid => {
                    limic2::require("hybrid");
                    Box::new(Shm::<Hybrid>::start_up(sizes)?)
                }
                PathId::Mcni => {
                    ordered::require("mcni");
                    Box::new(Shm::<Mcni>::start_up(sizes)?)
                }
                PathId::Mci => {
                    ordered::require("mci");
                    Box::new(Shm::<Mci>::start_up(sizes)?)
                }
                PathId::Sci => {
                    ordered::require("sci");
                    Box::new(Shm::<Sci>::start_up(sizes)?)
                }
                PathId::Late => Box::new(Late::new(Shm::<Basic>::start_up(sizes)?)),
                PathId::Portals => Box::new(Portals::start_up()?),
                PathId::Smartmap | PathId::ShmBasic => Box::new(Shm::<Basic>::start_up(sizes)?),
            });
        }
        Ok(())
    }

    /// Waits until the ranks of all nodes have started their paths: called by one rank of each node, when its ranks have. Errors: [`Fault::NoMemory`].
    pub fn meet_nodes(&mut self) -> Result<()> {
        self.between_nodes().try_for_each(|path| path.meet_nodes())
    }

    /// Calls a rank of another node: see [`BetweenNodes::call`].
    pub fn call(&mut self, peer: WorldRank) {
        self.between_nodes().for_each(|path| path.call(peer));
    }

    fn between_nodes(&mut self) -> impl Iterator<Item = &mut dyn BetweenNodes> {
        self.others.iter_mut().flatten().filter_map(|path| path.between_nodes())
    }

    /// Calls that have come since it was asked.
    #[inline]
    pub fn take_calls(&mut self) -> u32 {
        match &mut self.others[PathId::Portals as usize - 1] {
            Some(path) => path.between_nodes().map_or(0, |it| it.take_calls()),
            None => 0,
        }
    }

    /// The name by which the table's filling was chosen.
    pub fn name(&self) -> &'static str {
        self.setting.name()
    }

    /// How a peer's memory can be reached.
    #[inline]
    pub fn reach(&self, peer: WorldRank) -> Reach {
        if is_far(peer) { Reach::Messages } else { Reach::Mapped }
    }

    /// From now on messages of that class to the peer go by that path. Errors: [`Fault::Internal`] if it has not been started, does not
    /// get there, or if either it or what carries messages now matches receives, which would not know of the other's messages.
    pub fn change(&mut self, peer: WorldRank, class: usize, by: PathId) -> Result<()> {
        let is_started = match (by as usize).checked_sub(1) {
            None => self.reach(peer) == Reach::Mapped,
            Some(place) => self.others[place].as_mut().is_some_and(|path| path.matching().is_none()),
        };
        let now = self.routes.get(peer.index()).map(|it| it.carries).ok_or(Fault::Internal)?;
        let is_matched = now.into_iter().any(|path| self.path(path).matching().is_some());
        let route = self.routes.get_mut(peer.index()).filter(|_| is_started && !is_matched);
        *route.and_then(|it| it.carries.get_mut(class)).ok_or(Fault::Internal)? = by;
        self.tell_smartmap(peer);
        Ok(())
    }

    /// Lets `smartmap` know whether its short ways may be used.
    fn tell_smartmap(&mut self, peer: WorldRank) {
        let Route { carries, outgoing, incoming } = self.routes[peer.index()];
        let all = |path: PathId| path == PathId::Smartmap;
        let alone = self.others.iter().all(Option::is_none) || carries.into_iter().all(all);
        let sends = carries.into_iter().all(all) && all(outgoing) && self.profile.is_none();
        self.smartmap.carry(peer, sends, alone && all(incoming));
    }

    fn path(&mut self, path: PathId) -> &mut dyn Path {
        match (path as usize).checked_sub(1) {
            None => &mut self.smartmap,
            Some(place) => match &mut self.others[place] {
                Some(path) => &mut **path,
                None => unreachable!("a route by a path that has not been started"),
            },
        }
    }

    /// As [`Path::must_take`], of any path: markers lie among messages.
    pub fn must_take(&self, peer: WorldRank) -> bool {
        self.others.iter().flatten().any(|path| path.must_take(peer))
    }

    /// What the path takes that carries a class of messages to a peer.
    pub fn limits(&self, peer: WorldRank, class: usize) -> Limits {
        match (self.routes[peer.index()].carries[class] as usize).checked_sub(1) {
            None => self.smartmap.limits(),
            Some(place) => self.others[place].as_ref().map_or(Limits { eager: 0 }, |path| path.limits()),
        }
    }

    /// Memory in use by the paths that carry something.
    pub fn memory(&self) -> Memory {
        let is_used = self.routes.iter().any(|it| it.carries.contains(&PathId::Smartmap));
        let smartmap = is_used.then(|| self.smartmap.memory());
        let others = self.others.iter().flatten().map(|path| path.memory());
        smartmap.into_iter().chain(others).fold(Memory::default(), |sum, it| Memory {
            fixed: sum.fixed + it.fixed,
            per_peer: sum.per_peer + it.per_peer,
            dynamic: sum.dynamic + it.dynamic,
        })
    }

    /// The paths that count what they have sent, with what has become of it.
    pub fn sent(&self) -> impl Iterator<Item = (&'static str, Sent)> {
        let paths = self.others.iter().zip(&PATHS[1..]);
        paths.filter_map(|(path, id)| path.as_ref().map(|path| (setting::name_of(*id), path.sent())))
    }

    /// Tells what has been counted since the last time, if messages are counted.
    pub fn tell_profile(&mut self, tell: impl FnMut(fmt::Arguments<'_>)) {
        if let Some(profile) = &mut self.profile {
            profile.tell(tell);
        }
    }
}
