//! The table of paths: which one carries what, by peer and by class of size. It is filled at start and may change while the job runs.
//!
//! Messages of one pair stay in order across a change. Before the first message of another path the sender puts a marker ([`CHANGE`]) into
//! the path that it leaves, behind all that it has sent there. The receiver looks at one path for each peer; when it meets the
//! marker it has taken everything before it, and looks at the path that the marker names from then on. Nobody waits, and no message is numbered.
//!
//! `smartmap` is called directly, and its short ways are asked first: a flag in its own link to the peer says whether it carries everything. All
//! other paths are behind the trait.

use crate::late::Late;
use crate::portals::Portals;
use crate::profile::Profile;
use crate::region::Region;
use crate::setting::{self, Distance, Setting};
use crate::shm::{
    Advanced, Basic, Hybrid, Limic, Limic2, Mci, Mcni, Sci, Shm, Tunables, limic2, ordered, tunables,
};
use crate::smartmap::Smartmap;
use crate::{
    Arrival, Delivery, Fault, Held, Label, Limits, Memory, Outgoing, Path, Received, Result, Started, Ticket,
    UnderWay, WorldRank,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;
use lwk_copy::threshold::LONG_FROM;
use lwk_place::{is_far, wall};
use lwk_user::abi::runtime::PROFILE;
use lwk_user::barrier::NodeBarrier;
use lwk_user::{job, start};

/// The context of markers, which no communicator has.
pub const CHANGE: u32 = u32::MAX;

/// Classes of sizes.
pub const CLASSES: usize = 2;

/// The paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PathId {
    Smartmap = 0,
    ShmBasic = 1,
    ShmAdvanced = 2,
    Late = 3,
    Portals = 4,
    Limic2 = 5,
    Hybrid = 6,
    Mcni = 7,
    Mci = 8,
    Sci = 9,
    Limic = 10,
}

const PATHS: [PathId; 11] = [
    PathId::Smartmap,
    PathId::ShmBasic,
    PathId::ShmAdvanced,
    PathId::Late,
    PathId::Portals,
    PathId::Limic2,
    PathId::Hybrid,
    PathId::Mcni,
    PathId::Mci,
    PathId::Sci,
    PathId::Limic,
];

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
    /// As [`Path::takes_above`], of all.
    takes_above: usize,
}

/// Tickets name their path in the bits from here on.
const PATH_SHIFT: u32 = usize::BITS - 4;

impl Ticket {
    #[inline(always)]
    fn path(self) -> Option<PathId> {
        if self.0 >> PATH_SHIFT == 0 { None } else { PATHS.get(self.0 >> PATH_SHIFT).copied() }
    }

    /// The same ticket as its path knows it.
    fn bare(self) -> Ticket {
        Ticket(self.0 & ((1 << PATH_SHIFT) - 1))
    }

    fn of(self, path: PathId) -> Ticket {
        Ticket(self.0 | (path as usize) << PATH_SHIFT)
    }
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
        let above = table.others.iter().flatten().map(|path| path.takes_above());
        table.takes_above = above.fold(usize::MAX, usize::min);
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
        self.others.iter_mut().flatten().try_for_each(|path| path.meet_nodes())
    }

    /// Calls a rank of another node: see [`Path::call`].
    pub fn call(&mut self, peer: WorldRank) {
        self.others.iter_mut().flatten().for_each(|path| path.call(peer));
    }

    /// Calls that have come since it was asked.
    #[inline]
    pub fn take_calls(&mut self) -> u32 {
        match &mut self.others[PathId::Portals as usize - 1] {
            Some(path) => path.take_calls(),
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

    /// From now on messages of that class to the peer go by that path. Errors: [`Fault::Internal`] if it has not been started or does not
    /// get there.
    pub fn change(&mut self, peer: WorldRank, class: usize, by: PathId) -> Result<()> {
        let is_started = match (by as usize).checked_sub(1) {
            None => self.reach(peer) == Reach::Mapped,
            Some(place) => self.others[place].is_some(),
        };
        let route = self.routes.get_mut(peer.index()).filter(|_| is_started);
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

    /// As [`Smartmap::send_short`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn send_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        address: *const u8,
        bytes: usize,
    ) -> bool {
        // SAFETY: `bytes` are readable at `address`, at most `SHORT` (this function's contract).
        unsafe { self.smartmap.send_short(peer, label, address, bytes) }
    }

    /// As [`Smartmap::receive_short`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn receive_short(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
    ) -> Option<usize> {
        // SAFETY: `target` is writable for `room` bytes (this function's contract).
        unsafe { self.smartmap.receive_short(peer, label, target, room) }
    }

    /// As [`Smartmap::receive_block`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn receive_block(
        &mut self,
        peer: WorldRank,
        label: Label,
        target: *mut u8,
        room: usize,
        sizes: RangeInclusive<usize>,
    ) -> Option<usize> {
        // SAFETY: `target` is writable for `room` bytes (this function's contract).
        unsafe { self.smartmap.receive_block(peer, label, target, room, sizes) }
    }

    /// As [`Path::begin`], by the path for the peer and the size.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn begin(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        if self.smartmap.sends_to(peer) {
            // SAFETY: the message's bytes are readable until the send is done (this function's contract).
            return unsafe { self.smartmap.begin(peer, message) };
        }
        // SAFETY: the message's bytes are readable until the send is done (this function's contract).
        unsafe { self.begin_by_route(peer, message) }
    }

    /// # Safety
    /// As for [`Table::begin`].
    #[inline(never)]
    unsafe fn begin_by_route(&mut self, peer: WorldRank, message: &Outgoing) -> Started {
        let bytes = message.source.bytes();
        let Route { carries, outgoing, .. } = self.routes[peer.index()];
        let by = carries[(bytes >= LONG_FROM) as usize];
        if by != outgoing {
            let (label, source) = (Label::new(CHANGE, by as i32), Region::block(core::ptr::null(), 0));
            // SAFETY: no bytes need no memory.
            match unsafe { self.path(outgoing).begin(peer, &Outgoing { label, source, synchronous: false }) }
            {
                Started::Full => return Started::Full,
                Started::Done => {}
                Started::Underway(ticket) => self.markers.push(ticket.of(outgoing)),
            }
            self.routes[peer.index()].outgoing = by;
            self.tell_smartmap(peer);
        }
        // SAFETY: the message's bytes are readable until the send is done (this function's contract).
        let started = unsafe { self.path(by).begin(peer, message) };
        if let (Some(profile), true) = (&mut self.profile, started != Started::Full) {
            profile.count(peer, bytes);
        }
        match started {
            Started::Underway(ticket) => Started::Underway(ticket.of(by)),
            other => other,
        }
    }

    /// As [`Path::advance`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn advance(&mut self, ticket: Ticket) -> Option<Result<()>> {
        // SAFETY: the ticket is not void (this function's contract), and its path bits name the path that
        // gave it.
        unsafe {
            match ticket.path() {
                None => self.smartmap.advance(ticket),
                Some(path) => self.path(path).advance(ticket.bare()),
            }
        }
    }

    /// Carries on with markers that are on their way.
    #[inline(always)]
    pub fn advance_markers(&mut self) {
        if !self.markers.is_empty() {
            let mut markers = core::mem::take(&mut self.markers);
            // SAFETY: a marker's ticket is kept here until it is done, and its bytes are none.
            markers.retain(|ticket| unsafe { self.advance(*ticket).is_none() });
            self.markers = markers;
        }
    }

    /// As [`Path::under_way`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn under_way(&mut self, ticket: Ticket) -> UnderWay {
        // SAFETY: the ticket is of a send and not void (this function's contract), and its path bits name the
        // path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).under_way(ticket.bare()) }
    }

    /// As [`Path::cancel`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn cancel(&mut self, ticket: Ticket) -> bool {
        // SAFETY: the ticket is of a send and not void (this function's contract), and its path bits name the
        // path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).cancel(ticket.bare()) }
    }

    /// As [`Path::relocate`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn relocate(&mut self, ticket: Ticket, copy: &mut dyn FnMut() -> Option<*const u8>) -> bool {
        // SAFETY: the ticket is of a send and not void, and the copy stays until it is done (this function's
        // contract); the ticket's path bits name the path that gave it.
        unsafe { self.path(ticket.path().unwrap_or(PathId::Smartmap)).relocate(ticket.bare(), copy) }
    }

    /// As [`Path::arrival`], of the path by which the peer's next message comes.
    #[inline(always)]
    pub fn arrival(&mut self, peer: WorldRank) -> Option<Arrival> {
        if self.smartmap.receives_from(peer) {
            return self.smartmap.arrival(peer);
        }
        self.arrival_by_route(peer)
    }

    #[inline(never)]
    fn arrival_by_route(&mut self, peer: WorldRank) -> Option<Arrival> {
        let incoming = self.routes[peer.index()].incoming;
        // What a path that is not looked at has under way needs its look.
        for (place, other) in self.others.iter_mut().enumerate() {
            if let Some(other) = other
                && place + 1 != incoming as usize
                && other.must_take(peer)
            {
                other.arrival(peer);
            }
        }
        self.path(incoming).arrival(peer)
    }

    /// Takes a marker, which is next, and follows it: the peer's messages come by another path from now on.
    #[cold]
    pub fn follow(&mut self, peer: WorldRank, arrival: &Arrival) -> Result<()> {
        let next = PATHS.get(arrival.label.tag() as usize).copied().ok_or(Fault::Internal)?;
        // SAFETY: it is the next message; no bytes need no memory.
        let taken = unsafe { self.deliver(peer, arrival, &Region::block(core::ptr::null(), 0))? };
        if let Delivery::Underway(ticket) = taken {
            self.markers.push(ticket);
        }
        self.routes[peer.index()].incoming = next;
        self.tell_smartmap(peer);
        Ok(())
    }

    /// As [`Path::deliver`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn deliver(
        &mut self,
        peer: WorldRank,
        arrival: &Arrival,
        target: &Region,
    ) -> Result<Delivery> {
        if self.smartmap.receives_from(peer) {
            // SAFETY: `arrival` is the peer's front message, and `target` is writable until the delivery is
            // done (this function's contract).
            return unsafe { self.smartmap.deliver(peer, arrival, target) };
        }
        let path = self.routes[peer.index()].incoming;
        // SAFETY: `arrival` is the front message of `incoming`, the path that `arrival` was asked of;
        // `target` is writable (this function's contract).
        let delivery = unsafe { self.path(path).deliver(peer, arrival, target) };
        of_path(delivery, path)
    }

    /// As [`Path::hold`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn hold(&mut self, peer: WorldRank, arrival: &Arrival) -> Option<Parked> {
        let path = self.routes[peer.index()].incoming;
        // SAFETY: `arrival` is the peer's front message (this function's contract), which the `incoming` path
        // has.
        let held = unsafe { self.path(path).hold(peer, arrival)? };
        Some(Parked { path, held })
    }

    /// As [`Path::deliver_held`], of the path that holds the message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn deliver_held(
        &mut self,
        peer: WorldRank,
        parked: Parked,
        target: &Region,
    ) -> Result<Delivery> {
        let Parked { path, held } = parked;
        if path == PathId::Smartmap {
            // SAFETY: `held` came from this path's `hold` for `peer`, and `target` is writable (this
            // function's contract).
            return unsafe { self.smartmap.deliver_held(peer, held, target) };
        }
        // SAFETY: `held` came from the `hold` of `path` for `peer`, and `target` is writable (this function's
        // contract).
        let delivery = unsafe { self.path(path).deliver_held(peer, held, target) };
        of_path(delivery, path)
    }

    /// As [`Path::is_there`], of the path that holds the message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn is_there(&mut self, peer: WorldRank, parked: &Parked, reserve: bool) -> bool {
        // SAFETY: `held` came from the `hold` of `parked.path` for `peer` and has not been delivered (this
        // function's contract).
        unsafe { self.path(parked.path).is_there(peer, &parked.held, reserve) }
    }

    /// Whether a receive with room for so many bytes may be worth handing over.
    #[inline(always)]
    pub fn takes(&self, bytes: usize) -> bool {
        bytes > self.takes_above
    }

    /// As [`Path::post`], of the path by which the peer's next message comes. If one has come, it is not handed over: that may be its message.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn post(
        &mut self,
        peer: WorldRank,
        context: u32,
        tag: Option<i32>,
        target: &Region,
    ) -> Option<Ticket> {
        if self.arrival(peer).is_some() {
            return None;
        }
        let path = self.routes[peer.index()].incoming;
        // SAFETY: the target is writable until the receive is done or recalled (this function's contract).
        unsafe { self.path(path).post(peer, context, tag, target) }.map(|ticket| ticket.of(path))
    }

    /// As [`Path::posted`].
    pub fn posted(&mut self, ticket: Ticket) -> Option<Received> {
        self.path(ticket.path().unwrap_or(PathId::Smartmap)).posted(ticket.bare())
    }

    /// As [`Path::recall`].
    #[cold]
    pub fn recall(&mut self, ticket: Ticket) -> Option<Received> {
        self.path(ticket.path().unwrap_or(PathId::Smartmap)).recall(ticket.bare())
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

    /// Tells what has been counted since the last time, if messages are counted.
    pub fn tell_profile(&mut self, tell: impl FnMut(fmt::Arguments<'_>)) {
        if let Some(profile) = &mut self.profile {
            profile.tell(tell);
        }
    }
}

/// A delivery whose ticket names its path.
fn of_path(delivery: Result<Delivery>, path: PathId) -> Result<Delivery> {
    delivery.map(|it| match it {
        Delivery::Underway(ticket) => Delivery::Underway(ticket.of(path)),
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_names_its_path_and_is_its_own_again_without_it() {
        assert_eq!(Ticket(5).path(), None);
        for path in &PATHS[1..] {
            let ticket = Ticket(5).of(*path);
            assert_eq!((ticket.path(), ticket.bare()), (Some(*path), Ticket(5)));
        }
    }
}
