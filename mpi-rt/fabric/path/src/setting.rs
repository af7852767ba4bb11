//! How the table of paths is filled: `MARGAY_TRANSPORT` in the environment, which `cargo lwk run --path` sets.

use crate::path_id::{CLASSES, PathId};
use alloc::format;
use alloc::string::String;
use lwk_place::{WorldRank, peer_of, wall};
use lwk_user::abi::exit::USAGE;
use lwk_user::abi::runtime::{APART, TEST_TRANSPORTS, TRANSPORT as VARIABLE, TRANSPORTS};
use lwk_user::{eprintln, job, start, wait};

/// A variable whose value makes no sense: one line that says what would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad(pub String);

/// How the table is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    Smartmap = 0,
    ShmBasic,
    ShmAdvanced,
    Limic,
    Limic2,
    Hybrid,
    Mcni,
    Mci,
    Sci,
    /// All by `portals`, out of the node and back.
    Loopback,
    // For tests.
    /// Everything late and in pieces.
    Late,
    /// Short messages by one path and longer ones by another, so that the path changes all the time.
    BySize,
    /// Half of the ranks count as another node's: no load or store passes between the halves.
    Halves,
    /// All by `portals`, between ranks of one node, too.
    Portals,
}

/// How far away a rank is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Distance {
    Own,
    SameNode,
    /// Counts as another node's.
    BehindWall,
    OtherNode,
}

impl Distance {
    pub fn of(rank: WorldRank) -> Distance {
        match peer_of(rank) {
            None => Distance::OtherNode,
            Some(peer) if wall::is_between(peer.node_rank()) => Distance::BehindWall,
            Some(_) if rank == job().rank() => Distance::Own,
            Some(_) => Distance::SameNode,
        }
    }
}

impl Setting {
    /// All, the default first.
    pub const ALL: [Setting; TRANSPORTS.len() + TEST_TRANSPORTS.len()] = [
        Setting::Smartmap,
        Setting::ShmBasic,
        Setting::ShmAdvanced,
        Setting::Limic,
        Setting::Limic2,
        Setting::Hybrid,
        Setting::Mcni,
        Setting::Mci,
        Setting::Sci,
        Setting::Loopback,
        Setting::Late,
        Setting::BySize,
        Setting::Halves,
        Setting::Portals,
    ];

    /// The name by which it is chosen.
    pub fn name(self) -> &'static str {
        TRANSPORTS.iter().chain(&TEST_TRANSPORTS).nth(self as usize).copied().unwrap_or("")
    }

    /// The paths to a peer by class of size.
    pub(crate) fn carries(self, distance: Distance) -> [PathId; CLASSES] {
        match self {
            _ if distance == Distance::OtherNode => [PathId::Portals; CLASSES],
            Setting::Portals | Setting::Loopback if distance != Distance::Own => [PathId::Portals; CLASSES],
            Setting::Halves if distance == Distance::BehindWall => [PathId::ShmBasic; CLASSES],
            Setting::Smartmap | Setting::Halves | Setting::Portals | Setting::Loopback => {
                [PathId::Smartmap; CLASSES]
            }
            Setting::ShmBasic => [PathId::ShmBasic; CLASSES],
            Setting::ShmAdvanced => [PathId::ShmAdvanced; CLASSES],
            Setting::Limic => [PathId::Limic; CLASSES],
            Setting::Limic2 => [PathId::Limic2; CLASSES],
            Setting::Hybrid => [PathId::Hybrid; CLASSES],
            Setting::Mcni => [PathId::Mcni; CLASSES],
            Setting::Mci => [PathId::Mci; CLASSES],
            Setting::Sci => [PathId::Sci; CLASSES],
            Setting::Late => [PathId::Late; CLASSES],
            Setting::BySize => [PathId::Smartmap, PathId::ShmBasic],
        }
    }
}

/// What the report calls a path: the name of the transport that has all messages go by it.
pub(crate) fn name_of(path: PathId) -> &'static str {
    match path {
        PathId::Smartmap => Setting::Smartmap,
        PathId::ShmBasic => Setting::ShmBasic,
        PathId::ShmAdvanced => Setting::ShmAdvanced,
        PathId::Late => Setting::Late,
        PathId::Portals => Setting::Portals,
        PathId::Limic2 => Setting::Limic2,
        PathId::Hybrid => Setting::Hybrid,
        PathId::Mcni => Setting::Mcni,
        PathId::Mci => Setting::Mci,
        PathId::Sci => Setting::Sci,
        PathId::Limic => Setting::Limic,
    }
    .name()
}

/// The setting that the environment names, or the default. Errors: a name that there is not.
pub fn named<'a>(find: impl Fn(&str) -> Option<&'a str>) -> Result<Setting, Bad> {
    let Some(name) = find(VARIABLE) else { return Ok(Setting::Smartmap) };
    Setting::ALL.into_iter().find(|setting| setting.name() == name).ok_or_else(|| {
        let names = Setting::ALL.map(Setting::name).join(", ");
        Bad(format!("{VARIABLE}={name}: there is no such transport; there are {names}"))
    })
}

/// Errors: messages shall leave this node and come back, and no wire of this job's does that.
pub fn check_wire(setting: Setting) -> Result<(), Bad> {
    if setting != Setting::Loopback || job().is_loop() {
        return Ok(());
    }
    let name = setting.name();
    Err(Bad(format!(
        "{name}: no wire leads from this node back to it; run a job of one node with --transport {name}"
    )))
}

/// Whether every rank is to be apart from all others. Errors: the path loads from its peers' memory.
pub fn apart(setting: Setting) -> Result<bool, Bad> {
    if start::variable(APART).is_none() {
        return Ok(false);
    }
    if setting.carries(Distance::BehindWall).contains(&PathId::Smartmap) {
        let name = setting.name();
        return Err(Bad(format!(
            "{name}: it reaches into its peers' memory, which ranks that are apart do not; give --apart another --transport"
        )));
    }
    Ok(true)
}

/// Whether every variable that begins with `prefix` is one of `known`. One with a slip in its name would otherwise be without effect, and
/// nobody would see it.
pub fn none_but<'a>(
    prefix: &str,
    known: &[&str],
    mut variables: impl Iterator<Item = &'a str>,
) -> Result<(), Bad> {
    match variables.find(|name| name.starts_with(prefix) && !known.contains(name)) {
        Some(name) => Err(Bad(format!("{name}: there is no such variable; there are {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// Ends the job for wrong use. All ranks come to the same result and call it; the first speaks.
pub fn refuse(Bad(line): &Bad) -> ! {
    if job().rank() == WorldRank(0) {
        eprintln!("{line}");
        start::exit(USAGE);
    }
    wait::spin_until(|| false);
    unreachable!("an endless wait has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_user::abi::runtime::TAKE_TUNING;

    #[test]
    fn a_variable_with_a_slip_in_its_name_is_told() {
        let known = ["MARGAY_COLL_BCAST", "MARGAY_COLL_REDUCE"];
        let among = |names: &[&'static str]| none_but("MARGAY_COLL_", &known, names.iter().copied());
        assert_eq!(among(&["PATH", "MARGAY_COLL_REDUCE", "MARGAY_SHM_CELL"]), Ok(()));
        let Err(Bad(line)) = among(&["PATH", "MARGAY_COLL_BCST"]) else { panic!("there is no BCST") };
        assert_eq!(
            line,
            "MARGAY_COLL_BCST: there is no such variable; there are MARGAY_COLL_BCAST, MARGAY_COLL_REDUCE"
        );
    }

    #[test]
    fn switch_points_are_read_by_the_paths_that_have_them() {
        for each in Setting::ALL {
            let reads = each.carries(Distance::SameNode).contains(&PathId::Hybrid);
            assert_eq!(TAKE_TUNING.contains(&each.name()), reads, "{}", each.name());
        }
    }

    #[test]
    fn transports_are_found_by_name_and_a_wrong_name_tells_the_right_ones() {
        assert_eq!(named(|_| None), Ok(Setting::Smartmap));
        for each in Setting::ALL {
            assert_eq!(named(|name| (name == VARIABLE).then_some(each.name())), Ok(each));
        }
        let Bad(line) = named(|_| Some("carrier-pigeon")).unwrap_err();
        assert!(Setting::ALL.iter().all(|setting| line.contains(setting.name())), "{line}");
    }
}
