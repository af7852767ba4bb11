//! Messages between nodes: the node's Portals (`lwk-portals`), its card (`lwk-nic`), and the interrupt that joins them (O2G slides: matching and delivery in the receive
//! interrupt).
//!
//! There is one lock. A system call of a rank takes it for the call; the interrupt takes it to receive frames, match them, deliver their payload into ranks' memory
//! and write their events there. Interrupts are off in the kernel, so a core never waits for itself.
//!
//! The card interrupts one core: a spare one if there is one, else the first. That core also looks after time, by one shots of its timer,
//! and only while somebody is waited for. Another core whose call has set a time limit kicks it, unless its timer is set already.

mod card;
mod gather;
mod halt;
mod home;
mod region;

use core::alloc::Layout;
use core::sync::atomic::{Ordering, fence};

use lwk_failure::LostNode;
use lwk_frames::{Dropped, Identity, NodeId, Patience};
use lwk_portals::{Call, Node, Ranks, Settings};

use crate::acpi_tables::Tables;
use crate::arch::{clock, interrupt_controller, interrupts};
use crate::configuration::Space;
use crate::core_local::{self, Core};
use crate::job::Job;
use crate::scheduler::Running;
use card::Card;
pub use card::NoCard;
pub use halt::halt;
use home::{Below, Home};

/// Frames that are taken in before what they call for is sent.
const BATCH: usize = 32;

struct Network {
    node: &'static mut Node,
    card: Option<Card>,
    /// The core that the card interrupts.
    core: &'static Core,
    /// When that core's timer strikes, in microseconds; [`NEVER`] if it is not set.
    strikes_at: u64,
    /// That core has been kicked and has not come yet.
    kicked: bool,
    kicks: u64,
    /// With frames that nobody here wants; and until when the card's interrupts are off since it has run out.
    patience: Patience,
    waits_until: Option<u64>,
    /// The job's only rank here halts its core when it waits; and until when it does.
    halts: bool,
    sleeps_until: Option<u64>,
    below: Below,
}

/// What [`Network::serve`] has done.
struct Served {
    frames: usize,
    /// Frames may be left, since patience has run out.
    cut: bool,
}

const NEVER: u64 = u64::MAX;

static NETWORK: spin::Mutex<Option<Network>> = spin::Mutex::new(None);

fn now() -> u64 {
    clock::nanoseconds(clock::ticks()) / 1000
}

/// Places the ranks of a job on its nodes.
fn ranks(place: &lwk_job::Network) -> Ranks {
    Ranks { size: place.size, nodes: place.nodes }
}

/// The first rank of this node in its job.
pub fn first_rank(place: Option<&lwk_job::Network>) -> u32 {
    place.map_or(0, |place| ranks(place).first_of(place.node))
}

/// Gives a node that has peers its card and its Portals. Once, on the boot core, before the job's ranks exist.
///
/// # Errors
/// There is no card that can be used, or no memory.
pub fn start(tables: &Tables, file: &lwk_job::Job<'_>) -> Result<(), NoCard> {
    let Some(place) = &file.network else { return Ok(()) };
    if !region::open() {
        return Err(NoCard::NoMemory);
    }
    let space = Space::open(tables.configuration);
    card::describe(&space);
    let node = NodeId(place.node as u16);
    let card = card::start(space, node.address())?;
    let (wall, _) = clock::wall_base();
    let identity = Identity {
        node,
        nodes: place.nodes as u16,
        job: place.job,
        // A later life of the node has a later time.
        epoch: (wall / 1000 + now()).max(1),
        frame_bytes: card.nic.frame_bytes(),
    };
    interrupt_controller::measure_timer();
    let network = Network::new(Settings { identity, size: place.size, loops: place.is_loop() }, Some(card));
    *NETWORK.lock() = Some(network.ok_or(NoCard::NoMemory)?);
    Ok(())
}

/// Leads the card's interrupt to a core: one that has no ranks if there is one, else the first; or the one that is asked for. Before ranks run.
///
/// # Errors
/// The card cannot interrupt, or there is no such core.
pub fn route(job: &Job, wanted: Option<u32>) -> Result<(), NoCard> {
    let mut guard = NETWORK.lock();
    let Some(network) = guard.as_mut() else { return Ok(()) };
    let Some(card) = &mut network.card else { return Ok(()) };
    let spare = || {
        (0..core_local::CORES_MAX).filter_map(core_local::core).find(|core| {
            job.ranks_of_core(core.index()).next().is_none() && Card::reaches(core.block().controller_id())
        })
    };
    let core = match wanted {
        Some(wanted) => core_local::core(wanted as usize).ok_or(NoCard::NoCore(wanted))?,
        None => spare().or_else(|| core_local::core(0)).unwrap_or_else(Core::current),
    };
    (network.core, network.halts) = (core, job.halts());
    card.route(core.block().controller_id())?;
    log::debug!("core {} takes the network's interrupts", core.index());
    Ok(())
}

impl Network {
    fn new(settings: Settings, card: Option<Card>) -> Option<Network> {
        let start = region::allocate(Layout::new::<Node>())?.cast::<Node>();
        // SAFETY: zeroed memory of its size, for which zeros are sound (`bytemuck::Zeroable`), and nobody else's for ever.
        let node = unsafe { &mut *start.as_ptr() };
        node.start(&settings);
        Some(Network {
            node,
            card,
            core: Core::current(),
            strikes_at: NEVER,
            kicked: false,
            kicks: 0,
            patience: Patience::default(),
            waits_until: None,
            halts: false,
            sleeps_until: None,
            below: Below::default(),
        })
    }

    /// Takes in all frames that have come, sends what is to be sent, and looks after time.
    fn serve(&mut self) -> Served {
        let served = self.take_in();
        if served.frames == 0 {
            self.work(now());
        }
        served
    }

    /// Takes in all frames that have come, and does what they call for.
    ///
    /// The clock is read once a frame: in a virtual machine that takes longer than all else that is done here without a need.
    fn take_in(&mut self) -> Served {
        let (mut frames, mut at) = (0, now());
        loop {
            let (mut taken, began) = (0, at);
            let cut = self.patience.until(began).is_some();
            let batch = if cut { 0 } else { BATCH };
            let dropped = self.dropped();
            while taken < batch
                && let Some(frame) = self.card.as_mut().and_then(|card| card.nic.receive())
            {
                let mut home = Home { card: self.card.as_mut(), below: &mut self.below };
                self.node.receive(frame.bytes(), at, &mut home);
                if let Some(card) = &mut self.card {
                    card.nic.give_back(frame);
                }
                (taken, at) = (taken + 1, now());
            }
            if taken == 0 {
                return Served { frames, cut };
            }
            self.work(at);
            self.patience.spent(began, at, taken as u64, self.dropped() - dropped);
            frames += taken;
        }
    }

    /// Sends what is to be sent, and looks after time.
    fn work(&mut self, now: u64) {
        let mut home = Home { card: self.card.as_mut(), below: &mut self.below };
        self.node.work(now, &mut home);
    }

    /// As [`Network::serve`], with the card's interrupts off meanwhile, and on afterwards; off for a while if patience has run out. The card
    /// itself is looked after if it has been silent: its link may have changed, or it may send no more. Returns how many frames there were.
    fn serve_interrupt(&mut self) -> usize {
        self.waits_until = None;
        self.interrupt(false);
        let mut frames = self.serve().frames;
        if frames == 0 {
            self.look_after_card();
        }
        loop {
            self.waits_until = self.patience.until(now());
            if self.waits_until.is_some() {
                break;
            }
            self.interrupt(true);
            // SeqCst: the card has been let interrupt before it is looked whether a frame came meanwhile, which it did not tell of.
            fence(Ordering::SeqCst);
            let served = self.take_in();
            frames += served.frames;
            if !served.cut {
                break;
            }
            self.interrupt(false);
        }
        self.set_timer(now());
        frames
    }

    fn dropped(&self) -> u64 {
        self.node.counts().1.all_dropped()
    }

    /// When time is to be looked after: for whom somebody waits, since frames do, or since a rank sleeps no longer.
    fn deadline(&self, now: u64) -> Option<u64> {
        self.node.deadline(now).into_iter().chain(self.waits_until).chain(self.sleeps_until).min()
    }

    fn look_after_card(&mut self) {
        let Some(card) = &mut self.card else { return };
        let before = *card.nic.counts();
        card.nic.look_after(now());
        let after = card.nic.counts();
        if after.link_changes != before.link_changes {
            log::info!("the network's link is {}", if card.nic.is_up() { "up" } else { "down" });
        }
        if after.resets != before.resets {
            log::info!("the network card sent no more and was reset");
        }
    }

    /// Whether somebody has been waited for long enough.
    fn is_overdue(&self, now: u64) -> bool {
        self.card.is_some() && self.node.deadline(now).is_some_and(|at| at <= now)
    }

    fn interrupt(&mut self, on: bool) {
        if let Some(card) = &mut self.card {
            card.nic.interrupt(on);
        }
    }

    /// Has this core's timer strike when it is time, if it does not strike earlier anyway. On the core that looks after time.
    fn set_timer(&mut self, now: u64) {
        let Some(at) = self.deadline(now) else { return };
        if at < self.strikes_at {
            self.strikes_at = at;
            interrupt_controller::strike_in(interrupts::TIMER, at.saturating_sub(now));
        }
    }

    /// After a call on `core`: sees to it that time is looked after.
    fn after_call(&mut self, core: &Core, now: u64) {
        if self.card.is_none() {
            return;
        }
        if core.index() == self.core.index() {
            return self.set_timer(now);
        }
        let earlier = |at| at < self.strikes_at;
        if !self.kicked && self.deadline(now).is_some_and(earlier) {
            self.kicked = true;
            self.kicks += 1;
            interrupt_controller::interrupt_core(self.core.block(), interrupts::KICK);
        }
    }
}

/// One of the network's interrupts, on the core that takes them.
pub fn interrupted(vector: u8) {
    let mut guard = NETWORK.lock();
    let Some(network) = guard.as_mut() else { return };
    match vector {
        interrupts::CARD => network.below.counts.interrupts += 1,
        interrupts::TIMER => {
            network.below.counts.timer += 1;
            (network.strikes_at, network.sleeps_until) = (NEVER, None);
        }
        _ => network.kicked = false,
    }
    let frames = network.serve_interrupt();
    // A kick is of the rank's own making, and brings nothing.
    if vector != interrupts::KICK || frames > 0 {
        network.wake();
    }
}

/// Looks after the network of a node whose ranks have ended, for those of others; from whichever core.
pub fn serve_others() {
    // A core that was stopped in the middle may hold the lock for ever.
    if let Some(mut guard) = NETWORK.try_lock()
        && let Some(network) = guard.as_mut()
    {
        network.serve();
    }
}

/// One of Portals' calls of a rank: what it answers. None if the node has no memory for it.
pub fn call(running: &Running, call: Call) -> Option<i64> {
    let Running { core, job, rank } = *running;
    let mut guard = NETWORK.lock();
    if guard.is_none() {
        if !region::open() {
            return None;
        }
        // A job of one node: its ranks reach each other.
        let identity = Identity {
            node: NodeId(0),
            nodes: 1,
            job: 1,
            epoch: 1,
            frame_bytes: lwk_frames::FRAME_BYTES_MAX,
        };
        *guard = Network::new(Settings { identity, size: job.size() as u32, loops: false }, None);
    }
    let network = guard.as_mut()?;
    // Before the call takes frames for lost: their answers may be here, and the core of the interrupt late.
    let mut at = now();
    if network.is_overdue(at) {
        network.serve();
        at = now();
    }
    let mut home = Home { card: network.card.as_mut(), below: &mut network.below };
    let answer = network.node.call(&mut home, rank.number() as u32, call, at);
    network.after_call(core, at);
    Some(answer)
}

/// Looks after the other nodes for a rank on `core` that waits: one that is lost.
pub fn lost_node(core: &Core) -> Option<LostNode> {
    let mut guard = NETWORK.lock();
    let network = guard.as_mut().filter(|network| network.card.is_some())?;
    // Answers may be here, and the core of the interrupt late.
    network.serve();
    let at = now();
    let mut home = Home { card: network.card.as_mut(), below: &mut network.below };
    let lost = network.node.watch(at, &mut home);
    network.after_call(core, at);
    lost.map(|it| LostNode { node: it.node.0.into(), silent_us: it.silent_us, restarted: it.restarted })
}

/// Calls `say` with the network's line of the exit report, if there is a network.
pub fn report(say: impl FnOnce(core::fmt::Arguments<'_>)) {
    let guard = NETWORK.lock();
    let Some(network) = guard.as_ref() else { return };
    let (bytes, used) = region::usage();
    let (portals, link) = network.node.counts();
    let card = network.card.as_ref().map(|card| *card.nic.counts()).unwrap_or_default();
    say(format_args!(
        "network core={} region_bytes={bytes} used_bytes={used} messages_sent={} messages_arrived={} malformed={} payload_bytes={} \
         written_bytes={} head_bytes={} frames_sent={} frames_received={} retransmitted={} timeouts={} dropped={} damaged={} \
         foreign={} kept={} interrupts={} timer={} kicks={} link_changes={} card_resets={} card_dropped={} card_missed={} \
         no_room={} no_link={} holds={} doorbells={} acknowledgements={} bundled={}",
        network.core.index(),
        portals.sent,
        portals.arrived,
        portals.malformed,
        portals.bytes,
        network.below.counts.written,
        card.copied,
        card.sent,
        card.received,
        link.retransmitted,
        link.timeouts,
        link.all_dropped(),
        link.dropped(Dropped::Checksum),
        link.dropped(Dropped::Foreign),
        link.held,
        network.below.counts.interrupts,
        network.below.counts.timer,
        network.kicks,
        card.link_changes,
        card.resets,
        card.dropped,
        card.missed,
        card.no_room,
        card.no_link,
        network.patience.holds(),
        card.doorbells,
        link.answers,
        link.bundled,
    ));
}
