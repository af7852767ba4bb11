//! Times of the bundled applications: by ranks (figure 2.7), by nodes (figure 2.5), and by messages over several paths (figures 4.5 to 4.7, 5.4, 6.10 and, on two nodes, 6.12). So that a sort's MPI_Alltoallv goes by messages,
//! as the dissertation's does, ranks are apart there (`run --apart`).

use lwk::progress::Step;

use super::asked::{Asked, Outcomes, file, of};
use crate::node::results::{BYTES, Measurement};

/// The source's name.
pub const PROGRAM: &str = "applications";
/// Its tests: speed-up by ranks; seconds on as many ranks of one node, of two, and of a node each; seconds of the sort by keys, over shared memory beside `limic`, `limic2`, and the copy engines; seconds of each program on one node, and on two.
pub const SPEEDUP: &str = "speed-up";
pub const SORT_LIMIC: &str = "sort over limic";
pub const SORT_LIMIC2: &str = "sort over limic2";
pub const SORT_ENGINES: &str = "sort over engines";
pub const PROGRAMS: &str = "programs";
pub const CLUSTER: &str = "programs on nodes";
pub const CONFIGURATIONS: &str = "configurations";
/// Milliseconds of a round of [`TILING`] by the bytes of a tile, of which the last is all data at once (figure 2.6).
pub const TILES: &str = "tiles";
/// The bars of the last.
pub const ONE_NODE: &str = "one node";
pub const TWO_NODES: &str = "two nodes";
pub const OWN_NODES: &str = "a node for each rank";
/// The path that others are compared with.
pub const BASE: &str = "shm-basic";

/// The programs that print their time.
pub const NAMES: [&str; 4] = ["is", "cg", "heat", "md"];
/// Arguments with which each takes tenths of a second or more, by [`NAMES`].
const ARGUMENTS: [&[&str]; 4] = [&["4000000"], &["256", "1000"], &["1024", "1024", "100"], &["48", "20"]];
const SORT: &str = NAMES[0];
/// Keys of the sort, which stand for the classes of NAS's IS.
const KEYS: [&str; 3] = ["250000", "1000000", "4000000"];
/// Ranks of the programs on two nodes.
const ON_NODES: u32 = 4;
const NODES: &[&str] = &["--nodes", "2"];
/// Runs, of which the best counts.
const TURNS: u32 = 3;
/// The program of data tiling, and its paths: shared memory, which the document has, and the one that copies once.
pub const TILING: &str = "tiling";
const TILED: [&str; 2] = [BASE, "smartmap"];
/// Bytes of a rank's data, beyond a core's own caches (the document has 64 MB), and of quick runs; of the smallest tile, of which each is four times as long as the one before.
const DATA: u64 = 16 << 20;
const DATA_IN_HASTE: u64 = 64 << 10;
const LEAST: u64 = 4 << 10;
const ROUNDS: u32 = 4;

/// Runs what is asked for.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    if asked.wants(SPEEDUP) {
        NAMES.iter().zip(ARGUMENTS).for_each(|(name, arguments)| speed_up(asked, name, arguments, &mut all));
    }
    for (test, paths) in [
        (SORT_LIMIC, &[BASE, "limic"][..]),
        (SORT_LIMIC2, &[BASE, "limic2"][..]),
        (SORT_ENGINES, &[BASE, "sci", "mci", "mcni"][..]),
    ] {
        if asked.wants(test) {
            paths.iter().for_each(|path| sort(asked, test, path, &mut all));
        }
    }
    if asked.wants(TILES) {
        TILED.iter().for_each(|path| tile(asked, path, &mut all));
    }
    let programs = || NAMES.iter().zip(ARGUMENTS);
    if asked.wants(PROGRAMS) {
        for (name, arguments) in programs() {
            for path in [BASE, "limic2", "hybrid"] {
                let way = Way { path: Some(path), more: APART };
                bar(asked, PROGRAMS, path, (name, arguments), asked.ranks, &way, &mut all);
            }
        }
    }
    if asked.wants(CLUSTER) {
        for (name, arguments) in programs() {
            for path in [BASE, "hybrid"] {
                let way = Way { path: Some(path), more: NODES };
                bar(asked, CLUSTER, path, (name, arguments), ON_NODES, &way, &mut all);
            }
        }
    }
    if asked.wants(CONFIGURATIONS) {
        let each = asked.ranks.to_string();
        let of_each = ["--nodes", each.as_str()];
        let mut lines = vec![(OWN_NODES, &of_each[..]), (ONE_NODE, &[])];
        if asked.ranks > 2 {
            lines.insert(1, (TWO_NODES, NODES));
        }
        for (name, arguments) in programs() {
            for (line, more) in &lines {
                let way = Way { path: None, more };
                bar(asked, CONFIGURATIONS, line, (name, arguments), asked.ranks, &way, &mut all);
            }
        }
    }
    all
}

/// How a program is run: over a path, with more options of the command.
struct Way<'w> {
    path: Option<&'w str>,
    more: &'w [&'w str],
}

const APART: &[&str] = &["--apart"];
const USUAL: Way<'_> = Way { path: None, more: &[] };

/// Seconds of a program, as a bar of a line.
fn bar(
    asked: &Asked<'_>,
    test: &str,
    line: &str,
    (name, arguments): (&str, &[&str]),
    ranks: u32,
    way: &Way<'_>,
    all: &mut Outcomes,
) {
    let seconds = best(asked, name, arguments, ranks, way);
    let one = |seconds| Some(of(PROGRAM, test, line, ranks, ("program", name.into()), (seconds, "s")));
    file(all, &format!("{name}, {line}"), seconds.map(one));
}

/// How many times as fast as on one rank.
fn speed_up(asked: &Asked<'_>, name: &str, arguments: &[&str], all: &mut Outcomes) {
    let mut alone = None;
    for ranks in 1..=asked.ranks {
        let seconds = best(asked, name, arguments, ranks, &USUAL);
        let one = |seconds: f64| -> Option<Measurement> {
            let alone = *alone.get_or_insert(seconds);
            Some(of(
                PROGRAM,
                SPEEDUP,
                name,
                asked.ranks,
                ("ranks", ranks.to_string()),
                (alone / seconds, "times"),
            ))
        };
        file(all, &format!("{name} on {ranks} ranks"), seconds.map(one));
    }
}

/// Seconds of the sort over a path, by keys.
fn sort(asked: &Asked<'_>, test: &str, path: &str, all: &mut Outcomes) {
    for keys in KEYS {
        let seconds = best(asked, SORT, &[keys], asked.ranks, &Way { path: Some(path), more: APART });
        let one = |seconds| Some(of(PROGRAM, test, path, asked.ranks, ("keys", keys.into()), (seconds, "s")));
        file(all, &format!("{SORT} of {keys} keys over {path}"), seconds.map(one));
    }
}

/// Seconds of the best run.
fn best(asked: &Asked<'_>, name: &str, arguments: &[&str], ranks: u32, way: &Way<'_>) -> Result<f64, String> {
    let _step = Step::begin(
        format!(
            "timing {name} on {ranks} ranks over {} {}",
            way.path.unwrap_or("smartmap"),
            way.more.join(" ")
        ),
        asked.verbose,
    );
    let more = [&["--env", "TIMES=1"], way.more].concat();
    // Quick runs take the programs' own sizes, which are small.
    let (arguments, turns) = if asked.place.quick { (&[][..], 1) } else { (arguments, TURNS) };
    let arguments: Vec<String> = arguments.iter().map(|word| String::from(*word)).collect();
    let mut best = f64::INFINITY;
    for _ in 0..turns {
        let ended = asked.place.run_with(name, ranks, way.path, &more, &arguments)?;
        let seconds = time(&ended.stdout, " s").ok_or_else(|| format!("{name} does not print its time"))?;
        // A run of no time at all took less than the clock shows.
        best = best.min(seconds.max(0.001));
    }
    Ok(best)
}

/// Milliseconds of a round of tiling over a path, by the bytes of a tile.
fn tile(asked: &Asked<'_>, path: &str, all: &mut Outcomes) {
    for bytes in tiles(asked.place.quick) {
        let what = format!("tiles of {bytes} bytes over {path}");
        let _step = Step::begin(format!("timing {what}"), asked.verbose);
        let one =
            |time| Some(of(PROGRAM, TILES, path, asked.ranks, (BYTES, bytes.to_string()), (time, "ms")));
        file(all, &what, round(asked, path, bytes).map(one));
    }
}

fn data(quick: bool) -> u64 {
    if quick { DATA_IN_HASTE } else { DATA }
}

fn tiles(quick: bool) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(LEAST), |tile| Some(tile * 4)).take_while(move |tile| *tile <= data(quick))
}

/// Milliseconds of a round in the best run.
fn round(asked: &Asked<'_>, path: &str, tile: u64) -> Result<f64, String> {
    let arguments = [tile.to_string(), data(asked.place.quick).to_string(), ROUNDS.to_string()];
    let more = ["--env", "TIMES=1"];
    let mut best = f64::INFINITY;
    for _ in 0..if asked.place.quick { 1 } else { TURNS } {
        let ended = asked.place.run_with(TILING, asked.ranks, Some(path), &more, &arguments)?;
        best = best.min(time(&ended.stdout, " ms a round").ok_or("tiling does not print its time")?);
    }
    Ok(best)
}

/// The time in a line such as `is: 2 ranks, 0.125 s`, which ends with this unit.
fn time(text: &str, unit: &str) -> Option<f64> {
    let mut lines = text.lines().filter(|line| line.contains(" ranks, "));
    lines.find_map(|line| line.strip_suffix(unit))?.rsplit(' ').next()?.parse().ok()
}

/// Whether the bars of the first path are lower than those of shared memory, for every thing that a test is about.
pub fn is_better(all: &[Measurement], test: &str, path: &str) -> Option<bool> {
    let own = || all.iter().filter(|one| one.program == PROGRAM && one.test == test);
    let pairs = own().filter(|one| one.transport == BASE).map(|base| {
        let other = own().find(|one| one.transport == path && one.of == base.of)?;
        Some(other.value < base.value)
    });
    let better: Vec<bool> = pairs.collect::<Option<_>>()?;
    (!better.is_empty()).then(|| better.into_iter().all(|it| it))
}

/// Whether the sort and the solver, which contend for caches and memory in the document, take longer on one node than on a node for each rank.
pub fn contend(all: &[Measurement]) -> Option<bool> {
    let own = || all.iter().filter(|one| one.program == PROGRAM && one.test == CONFIGURATIONS);
    let seconds = |name: &str, line: &str| {
        own().find(|one| one.of == name && one.transport == line).map(|one| one.value)
    };
    let longer = [SORT, NAMES[1]].map(|name| Some(seconds(name, ONE_NODE)? > seconds(name, OWN_NODES)?));
    longer.into_iter().collect::<Option<Vec<bool>>>().map(|longer| longer.into_iter().all(|it| it))
}

/// Whether some program reaches nine tenths of the ideal on all ranks.
pub fn some_scale(all: &[Measurement]) -> Option<bool> {
    let own = || all.iter().filter(|one| one.program == PROGRAM && one.test == SPEEDUP);
    let most = own().filter_map(|one| one.of.parse::<u32>().ok()).max().filter(|most| *most > 1)?;
    let mut last = own().filter(|one| one.of == most.to_string());
    Some(last.any(|one| one.value >= 0.9 * f64::from(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_the_programs_last_line() {
        assert_eq!(time("is: 5 keys sorted, checksum 1\nis: 2 ranks, 0.125 s\n", " s"), Some(0.125));
        assert_eq!(time("cg: 2 ranks, 40 steps, 1.5 s\n", " s"), Some(1.5));
        assert_eq!(time("is: 2 ranks\n", " s"), None);
        assert_eq!(time("tiling: 2 ranks, 1.5 ms a round\n", " ms a round"), Some(1.5));
    }

    #[test]
    fn the_last_tile_is_all_data() {
        assert_eq!(
            tiles(false).collect::<Vec<_>>(),
            [4, 16, 64, 256, 1024, 4096, 16_384].map(|kib| kib << 10)
        );
        assert_eq!(tiles(true).last(), Some(DATA_IN_HASTE));
    }

    #[test]
    fn conclusions_are_of_all_bars() {
        let one = |path: &str, of_what: &str, value| {
            of(PROGRAM, PROGRAMS, path, 2, ("program", of_what.into()), (value, "s"))
        };
        let all =
            [one(BASE, "is", 2.0), one("hybrid", "is", 1.0), one(BASE, "cg", 2.0), one("hybrid", "cg", 3.0)];
        assert_eq!(is_better(&all, PROGRAMS, "hybrid"), Some(false));
        assert_eq!(is_better(&all[..2], PROGRAMS, "hybrid"), Some(true));
        assert_eq!(is_better(&all[..3], PROGRAMS, "hybrid"), None);
        assert_eq!(is_better(&[], PROGRAMS, "hybrid"), None);
        let took = |line: &str, name: &str, value| {
            of(PROGRAM, CONFIGURATIONS, line, 2, ("program", name.into()), (value, "s"))
        };
        let is = [took(ONE_NODE, "is", 2.0), took(OWN_NODES, "is", 1.0)];
        let cg = |value| [took(ONE_NODE, "cg", value), took(OWN_NODES, "cg", 1.0)];
        assert_eq!(contend(&[is.clone(), cg(1.5)].concat()), Some(true));
        assert_eq!(contend(&[is.clone(), cg(0.5)].concat()), Some(false));
        assert_eq!(contend(&is), None);
        let scaled =
            |ranks: u32, value| of(PROGRAM, SPEEDUP, "cg", 2, ("ranks", ranks.to_string()), (value, "times"));
        assert_eq!(some_scale(&[scaled(1, 1.0), scaled(2, 1.85)]), Some(true));
        assert_eq!(some_scale(&[scaled(1, 1.0), scaled(2, 1.7)]), Some(false));
        assert_eq!(some_scale(&[scaled(1, 1.0)]), None);
    }
}
