//! Teams (the standard, section 9.4). A handle is an integer; each PE keeps a table of its own.
//!
//! A team is a stride through the PE numbers and needs no memory shared between PEs ([`super::pair`]), so making one is
//! arithmetic. The parent's members still wait for each other, as for any collective call, and so notice calls that do not match.

use super::collective::synchronise;
use super::fatal::stop;
use super::group::Group;
use super::pair::Kind;
use super::single::Single;
use alloc::vec::Vec;
use lwk_place::TeamRank;

/// No team (`SHMEM_TEAM_INVALID`).
pub const TEAM_INVALID: i32 = -1;
/// All PEs (`SHMEM_TEAM_WORLD`).
pub const TEAM_WORLD: i32 = 0;
/// All PEs that share memory (`SHMEM_TEAM_SHARED`): those of this node.
pub const TEAM_SHARED: i32 = 1;
/// Handles of teams that a program makes begin here.
const FIRST: i32 = 2;

/// Bit of a configuration mask: `num_contexts` counts (`SHMEM_TEAM_NUM_CONTEXTS`).
pub const TEAM_NUM_CONTEXTS: i64 = 1;

/// What can be configured (`shmem_team_config_t`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TeamConfig {
    /// Contexts the program means to make from the team at once. A wish: there is no limit here.
    pub num_contexts: i32,
}

#[derive(Clone, Copy)]
struct Team {
    group: Group,
    config: TeamConfig,
}

/// Teams of the program, by handle; `None` where one was destroyed.
static TEAMS: Single<Vec<Option<Team>>> = Single::new(Vec::new());

fn find(team: i32) -> Option<Team> {
    match team {
        TEAM_WORLD => Some(Team { group: Group::world(), config: TeamConfig::default() }),
        TEAM_SHARED => Some(Team { group: Group::near(), config: TeamConfig::default() }),
        _ => TEAMS.with(|teams| *teams.get(usize::try_from(team - FIRST).ok()?)?),
    }
}

/// The PEs of a team; `None` if there is no such team.
#[inline]
pub(crate) fn group(team: i32) -> Option<Group> {
    if team == TEAM_WORLD { Some(Group::world()) } else { find(team).map(|team| team.group) }
}

fn add(group: Group, config: TeamConfig) -> i32 {
    let team = Some(Team { group, config });
    TEAMS.with(|teams| {
        let index = match teams.iter().position(Option::is_none) {
            Some(index) => {
                teams[index] = team;
                index
            }
            None => {
                teams.push(team);
                teams.len() - 1
            }
        };
        index as i32 + FIRST
    })
}

/// The configuration that counts: `config` where the mask has its bit, else the default. An error if a bit means nothing.
fn configured(config: Option<&TeamConfig>, mask: i64) -> Result<TeamConfig, i32> {
    if mask & !TEAM_NUM_CONTEXTS != 0 {
        return Err(1);
    }
    match (mask & TEAM_NUM_CONTEXTS != 0, config) {
        (true, Some(config)) if config.num_contexts >= 0 => Ok(*config),
        (true, _) => Err(1),
        (false, _) => Ok(TeamConfig::default()),
    }
}

/// This PE's number in the team, -1 if there is no such team (`shmem_team_my_pe`).
pub fn team_my_pe(team: i32) -> i32 {
    group(team).map_or(-1, |group| group.me().number())
}

/// How many PEs the team has, -1 if there is no such team (`shmem_team_n_pes`).
pub fn team_n_pes(team: i32) -> i32 {
    group(team).map_or(-1, Group::size)
}

/// The number in `target` of the PE that is number `pe` in `team`; -1 if it is not in both (`shmem_team_translate_pe`).
pub fn team_translate_pe(team: i32, pe: i32, target: i32) -> i32 {
    let translate = || {
        let from = group(team)?;
        group(target)?.member_of(from.pe(from.member(pe)?))
    };
    translate().map_or(-1, TeamRank::number)
}

/// Reads the fields of a team's configuration that the mask names (`shmem_team_get_config`); 0, or not 0 if there is no such
/// team or bit.
pub fn team_get_config(team: i32, mask: i64, config: &mut TeamConfig) -> i32 {
    match find(team) {
        Some(team) if mask & !TEAM_NUM_CONTEXTS == 0 => {
            if mask & TEAM_NUM_CONTEXTS != 0 {
                config.num_contexts = team.config.num_contexts;
            }
            0
        }
        _ => 1,
    }
}

/// A team of the members `start`, `start + stride`, … of `parent`, `size` of them (`shmem_team_split_strided`). 0 and the team,
/// [`TEAM_INVALID`] in PEs that are not members of it; or not 0 if the triplet or the configuration is not valid. Collective over
/// the parent.
pub fn team_split_strided(
    parent: i32,
    start: i32,
    stride: i32,
    size: i32,
    config: Option<&TeamConfig>,
    mask: i64,
    new_team: &mut i32,
) -> i32 {
    super::life::check("shmem_team_split_strided");
    *new_team = TEAM_INVALID;
    let Some(parent) = group(parent) else { return 1 };
    synchronise(parent, Kind::Team);
    let Some((subset, member)) = parent.subset(start, stride, size) else { return 1 };
    let Ok(config) = configured(config, mask) else { return 1 };
    if member {
        *new_team = add(subset, config);
    }
    0
}

/// Two teams of a grid with rows of `xrange` PEs: this PE's row and its column (`shmem_team_split_2d`). 0, or not 0 if `xrange`
/// or a configuration is not valid. Collective over the parent.
#[expect(clippy::too_many_arguments, reason = "the standard's")]
pub fn team_split_2d(
    parent: i32,
    xrange: i32,
    x_config: Option<&TeamConfig>,
    x_mask: i64,
    x_team: &mut i32,
    y_config: Option<&TeamConfig>,
    y_mask: i64,
    y_team: &mut i32,
) -> i32 {
    super::life::check("shmem_team_split_2d");
    (*x_team, *y_team) = (TEAM_INVALID, TEAM_INVALID);
    let Some(parent) = group(parent) else { return 1 };
    synchronise(parent, Kind::Team);
    if xrange < 1 {
        return 1;
    }
    let (size, me) = (parent.size(), parent.me().number());
    let xrange = xrange.min(size);
    let (x, row) = (me % xrange, me - me % xrange);
    let rows_with_x = (size - x + xrange - 1) / xrange;
    let axis = |start, stride, count, config, mask| {
        let (group, _) = parent.subset(start, stride, count)?;
        Some(add(group, configured(config, mask).ok()?))
    };
    let xs = axis(row, 1, xrange.min(size - row), x_config, x_mask);
    let ys = axis(x, if rows_with_x > 1 { xrange } else { 0 }, rows_with_x, y_config, y_mask);
    (*x_team, *y_team) = (xs.unwrap_or(TEAM_INVALID), ys.unwrap_or(TEAM_INVALID));
    i32::from(xs.is_none() || ys.is_none())
}

/// Ends a team and the contexts made from it (`shmem_team_destroy`). Collective over the team. [`TEAM_INVALID`] is ignored; a
/// predefined team cannot be ended.
pub fn team_destroy(team: i32) {
    super::life::check("shmem_team_destroy");
    if team == TEAM_INVALID {
        return;
    }
    let group = match (team, group(team)) {
        (TEAM_WORLD | TEAM_SHARED, _) => {
            stop(format_args!("shmem_team_destroy: a predefined team cannot be destroyed"))
        }
        (_, None) => {
            stop(format_args!("shmem_team_destroy: there is no team {team}; has it been destroyed already?"))
        }
        (_, Some(group)) => group,
    };
    synchronise(group, Kind::Team);
    super::context_table::destroy_all_of(team);
    TEAMS.with(|teams| teams[(team - FIRST) as usize] = None);
}

/// Waits for all members, and makes their stores visible (`shmem_team_sync`); 0, or not 0 if there is no such team.
#[inline]
pub fn team_sync(team: i32) -> i32 {
    super::life::check("shmem_team_sync");
    match group(team) {
        Some(group) => {
            synchronise(group, Kind::Sync);
            0
        }
        None => 1,
    }
}
