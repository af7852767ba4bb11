//! Tables 2.1, 4.2, 5.3 and 6.1 of Chai's dissertation, and figure 2.4: the messages of the bundled programs by distance and by size, as `--profile` counts them, beside the
//! document's own. Ranks are apart, so that collectives are counted as the messages that they are there. Counts do not depend on time: ranks may share cores.

use lwk::progress::Step;
use lwk_abi::runtime::{PROFILE_DISTANCES, SIZE_LIMITS, SIZES};
use serde_json::Value;

use super::applications::{BASE, NAMES};
use super::asked::{Asked, Outcomes, file, of};
use super::distribution::{MESSAGES, VOLUME, report};
use super::profile_rows::{
    COLUMNS_4_2, COLUMNS_5_3, COLUMNS_6_1, FIGURE_2_4, TABLE_2_1, TABLE_4_2, TABLE_5_3, TABLE_6_1,
};
use crate::node::results::Measurement;

/// The source's name, and its tests: table 2.1 by messages and by volume, figure 2.4, and tables 4.2, 5.3 and 6.1, the last with the document's rows apart.
pub const PROGRAM: &str = "profiles";
pub const NEAR_MESSAGES: &str = "messages by distance";
pub const NEAR_VOLUME: &str = "volume by distance";
pub const MANY_RANKS: &str = "distance on many ranks";
pub const SORT: &str = "sizes of a sort by ranks";
pub const SORT_SHARES: &str = "shares of a sort";
pub const SIZES_HERE: &str = "sizes";
pub const SIZES_THERE: &str = "sizes of the document";

/// What a bar is about, where small letters are programs here.
const PROGRAMS: &str = "program (capitals: the document's)";
const RANKS: &str = "ranks (nodes x ranks: the document's)";
/// Lines of distances: those of a node, and what the document has beyond them.
const NEAR: [&str; 4] = ["itself", "common cache (intra-CMP)", "package", "node (inter-CMP)"];
const FAR: &str = "between nodes";
/// Above this a message of table 6.1 is large.
const LARGE: [&str; 2] = [COLUMNS_6_1[2].1, COLUMNS_6_1[3].1];

/// Ranks of table 2.1 here, as many as there, and of figure 2.4, all on four nodes, and the same of quick runs; of table 6.1; and those of tables 4.2 and 5.3.
const FEW: u32 = 16;
const MANY: u32 = 32;
const NODES: u32 = 4;
const IN_HASTE: (u32, u32) = (4, 2);
const EIGHT: u32 = 8;
const BY_RANKS: [u32; 3] = [2, 4, 8];
/// Of bars for several numbers of ranks, or for the document's.
const SEVERAL: u32 = 0;
/// The sort of tables 4.2 and 5.3, of class A of NAS's IS; quick runs take the program's own.
const KEYS: &str = "8388608";
const IS: &str = NAMES[0];
/// What moves in a box, and the least length of one that so many ranks can divide.
const MD: &str = NAMES[3];
const ROOM: &str = "34";
/// The solver of figure 2.4, as HPL is one.
const SOLVER: &str = NAMES[1];

/// Messages or bytes of a class, of all ranks.
struct Counts {
    counted: &'static str,
    /// By distance and size.
    by: [[f64; SIZES.len()]; PROFILE_DISTANCES.len()],
}

impl Counts {
    fn of(report: &Value, counted: &'static str) -> Self {
        let mut by = [[0.0; SIZES.len()]; PROFILE_DISTANCES.len()];
        for record in report["profile"].as_array().into_iter().flatten() {
            let place = |names: &[&str], field: &str| names.iter().position(|name| record[field] == **name);
            let places = (place(&PROFILE_DISTANCES, "distance"), place(&SIZES, "size"));
            if let (Some(distance), Some(size)) = places {
                by[distance][size] += record[counted].as_f64().unwrap_or(0.0);
            }
        }
        Self { counted, by }
    }

    fn by_distance(&self) -> Vec<(&'static str, f64)> {
        NEAR.into_iter().chain([FAR]).zip(self.by.iter().map(|row| row.iter().sum())).collect()
    }

    /// By the columns of a table.
    fn by_size(&self, columns: &[(usize, &'static str)]) -> Vec<(&'static str, f64)> {
        let column = |class: usize| {
            let least = if class == 0 { 0 } else { SIZE_LIMITS[class - 1] };
            columns.iter().rposition(|(from, _)| *from <= least)
        };
        let mut sums: Vec<(&str, f64)> = columns.iter().map(|(_, name)| (*name, 0.0)).collect();
        for row in &self.by {
            for (class, count) in row.iter().enumerate() {
                if let Some(column) = column(class) {
                    sums[column].1 += count;
                }
            }
        }
        sums
    }
}

/// Counts what is asked for.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    all.0.extend(printed());
    if asked.wants(NEAR_MESSAGES) || asked.wants(NEAR_VOLUME) {
        for name in NAMES {
            let bars = |report: &Value| {
                [(NEAR_MESSAGES, MESSAGES), (NEAR_VOLUME, VOLUME)].map(|(test, counted)| {
                    bar(test, (PROGRAMS, name), FEW, Counts::of(report, counted).by_distance())
                })
            };
            let arguments: &[&str] = if name == MD && !asked.place.quick { &[ROOM] } else { &[] };
            count(asked, name, on_nodes(asked, FEW), arguments, &mut all, |report| bars(report).concat());
        }
    }
    if asked.wants(MANY_RANKS) {
        count(asked, SOLVER, on_nodes(asked, MANY), &[], &mut all, |report| {
            let [messages, volume] = [MESSAGES, VOLUME].map(|counted| Counts::of(report, counted));
            let group = |counts: &Counts| {
                format!("{SOLVER}{}", if counts.counted == VOLUME { ", bytes" } else { "" })
            };
            [messages, volume]
                .iter()
                .flat_map(|it| bar(MANY_RANKS, (PROGRAMS, &group(it)), MANY, it.by_distance()))
                .collect()
        });
    }
    if asked.wants(SORT) || asked.wants(SORT_SHARES) {
        let keys: &[&str] = if asked.place.quick { &[] } else { &[KEYS] };
        for ranks in BY_RANKS {
            count(asked, IS, (ranks, 1), keys, &mut all, |report| {
                let messages = Counts::of(report, MESSAGES);
                let mut bars =
                    bar(SORT, (RANKS, &ranks.to_string()), SEVERAL, messages.by_size(&COLUMNS_4_2));
                let name = format!("{IS}.{ranks}");
                bars.extend(bar(SORT_SHARES, (PROGRAMS, &name), SEVERAL, messages.by_size(&COLUMNS_5_3)));
                bars
            });
        }
    }
    if asked.wants(SIZES_HERE) {
        for name in NAMES {
            let keys: &[&str] = if name == IS && !asked.place.quick { &[KEYS] } else { &[] };
            count(asked, name, (EIGHT, 1), keys, &mut all, |report| {
                let sizes = Counts::of(report, MESSAGES).by_size(&COLUMNS_6_1);
                bar(SIZES_HERE, (PROGRAMS, name), EIGHT, sizes)
            });
        }
    }
    all.0.retain(|one| asked.wants(&one.test));
    all
}

/// Ranks and nodes.
fn on_nodes(asked: &Asked<'_>, ranks: u32) -> (u32, u32) {
    if asked.place.quick { IN_HASTE } else { (ranks, NODES) }
}

/// Runs a program, and files what is made of its report.
fn count(
    asked: &Asked<'_>,
    name: &str,
    (ranks, nodes): (u32, u32),
    arguments: &[&str],
    all: &mut Outcomes,
    bars: impl FnOnce(&Value) -> Vec<Measurement>,
) {
    let what = format!("messages of {name} on {ranks} ranks");
    let _step = Step::begin(format!("counting {what}"), asked.verbose);
    let arguments: Vec<String> = arguments.iter().map(|word| String::from(*word)).collect();
    let path = asked.out.join(format!("profile-{name}-{ranks}.json"));
    let nodes = nodes.to_string();
    let options = ["--apart", "--nodes", nodes.as_str()];
    let found = report(asked.place, name, ranks, &path, (Some(BASE), &options), &arguments);
    let found = found.map(|report| bars(&report)).and_then(|bars| match bars.is_empty() {
        true => Err("no messages were counted".into()),
        false => Ok(bars),
    });
    file(all, &what, found);
}

/// A bar of parts, in percent of their sum; none if they are nothing. Parts of nothing are in it, so that all bars have the same.
fn bar(
    test: &str,
    (key, name): (&str, &str),
    ranks: u32,
    parts: Vec<(&'static str, f64)>,
) -> Vec<Measurement> {
    let whole: f64 = parts.iter().map(|(_, part)| part).sum();
    if whole == 0.0 {
        return Vec::new();
    }
    let share = |(part, value): (&str, f64)| {
        of(PROGRAM, test, part, ranks, (key, name.into()), (100.0 * value / whole, "%"))
    };
    parts.into_iter().map(share).collect()
}

/// The document's own rows.
fn printed() -> Vec<Measurement> {
    let near = |shares: [f64; 3]| {
        let [chip, node, far] = shares;
        NEAR.into_iter().chain([FAR]).zip([0.0, chip, 0.0, node, far]).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (name, [messages, volume]) in TABLE_2_1 {
        all.extend(bar(NEAR_MESSAGES, (PROGRAMS, name), SEVERAL, near(messages)));
        all.extend(bar(NEAR_VOLUME, (PROGRAMS, name), SEVERAL, near(volume)));
    }
    for (name, shares) in FIGURE_2_4 {
        all.extend(bar(MANY_RANKS, (PROGRAMS, name), SEVERAL, near(shares)));
    }
    let named = |columns: &[(usize, &'static str)], shares: &[f64]| -> Vec<(&'static str, f64)> {
        columns.iter().map(|(_, name)| *name).zip(shares.iter().copied()).collect()
    };
    for (name, counts) in TABLE_4_2 {
        all.extend(bar(SORT, (RANKS, name), SEVERAL, named(&COLUMNS_4_2, &counts)));
    }
    for (name, shares) in TABLE_5_3 {
        all.extend(bar(SORT_SHARES, (PROGRAMS, name), SEVERAL, named(&COLUMNS_5_3, &shares)));
    }
    for (name, shares) in TABLE_6_1 {
        all.extend(bar(SIZES_THERE, (PROGRAMS, name), EIGHT, named(&COLUMNS_6_1, &shares)));
    }
    all
}

/// What a bar consists of: shares of it by part.
fn parts<'m>(all: &'m [Measurement], test: &'m str, name: &'m str) -> impl Iterator<Item = (&'m str, f64)> {
    let own = move |one: &&Measurement| one.program == PROGRAM && one.test == test && one.of == name;
    all.iter().filter(own).map(|one| (one.transport.as_str(), one.value))
}

/// The share of a program's messages that stays within a node.
fn within(all: &[Measurement], test: &str, name: &str) -> Option<f64> {
    let mut own = parts(all, test, name).peekable();
    own.peek()?;
    Some(own.filter(|(part, _)| *part != FAR).map(|(_, share)| share).sum())
}

/// In percent, if every rank of these speaks as often to every other.
fn even(ranks: u32) -> f64 {
    100.0 * f64::from(ranks / NODES - 1) / f64::from(ranks - 1)
}

/// Whether twice as many messages of the programs as that, in the mean, stay within a node.
pub fn stay_within(all: &[Measurement]) -> Option<bool> {
    let shares: Vec<f64> =
        NAMES.into_iter().map(|name| within(all, NEAR_MESSAGES, name)).collect::<Option<_>>()?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64 >= 2.0 * even(FEW))
}

/// The same of the solver on many ranks.
pub fn stay_within_on_many(all: &[Measurement]) -> Option<bool> {
    Some(within(all, MANY_RANKS, SOLVER)? >= 2.0 * even(MANY))
}

/// Whether the longest messages of a sort are of a smaller class the more ranks share it.
pub fn shrinks(all: &[Measurement]) -> Option<bool> {
    let longest = BY_RANKS.map(|ranks| {
        let class = |(part, _): (&str, f64)| COLUMNS_4_2.iter().position(|(_, name)| *name == part);
        let name = ranks.to_string();
        parts(all, SORT, &name).filter(|(_, share)| *share > 0.0).filter_map(class).max()
    });
    let longest: Vec<usize> = longest.into_iter().collect::<Option<_>>()?;
    Some(longest.is_sorted_by(|more, fewer| more > fewer))
}

/// Whether a quarter of a sort's messages or more have above 1 MiB, on two ranks.
pub fn sort_is_long(all: &[Measurement]) -> Option<bool> {
    let name = format!("{IS}.2");
    let mut own = parts(all, SORT_SHARES, &name).peekable();
    own.peek()?;
    Some(own.any(|(part, share)| part == COLUMNS_5_3[2].1 && share >= 25.0))
}

/// Whether the sort has the largest share of large messages of all programs.
pub fn sort_is_longest(all: &[Measurement]) -> Option<bool> {
    let large = |name: &str| -> Option<f64> {
        let mut own = parts(all, SIZES_HERE, name).peekable();
        own.peek()?;
        Some(own.filter(|(part, _)| LARGE.contains(part)).map(|(_, share)| share).sum())
    };
    let shares: Vec<f64> = NAMES.into_iter().map(large).collect::<Option<_>>()?;
    Some(shares[0] > 0.0 && shares[1..].iter().all(|share| *share < shares[0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told() -> Value {
        let record = |distance: &str, size: &str, messages: u64, bytes: u64| json!({ "rank": 0, "distance": distance, "size": size, "messages": messages, "bytes": bytes });
        json!({ "profile": [
            record("self", "<256", 1, 100),
            record("shared-cache", "4K-8K", 2, 10_000),
            record("shared-cache", "1M-4M", 1, 2_000_000),
            record("other-node", "1M-4M", 4, 8_000_000),
        ] })
    }

    #[test]
    fn counts_are_summed_by_distance_and_by_the_columns_of_a_table() {
        let messages = Counts::of(&told(), MESSAGES);
        let distances = [(NEAR[0], 1.0), (NEAR[1], 3.0), (NEAR[2], 0.0), (NEAR[3], 0.0), (FAR, 4.0)];
        assert_eq!(messages.by_distance(), distances);
        let counts =
            |columns| messages.by_size(columns).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
        // What is below a table's first column is not in it.
        assert_eq!(counts(&COLUMNS_4_2), [2.0, 0.0, 0.0, 5.0, 0.0]);
        assert_eq!(counts(&COLUMNS_5_3), [3.0, 0.0, 5.0]);
        assert_eq!(counts(&COLUMNS_6_1), [1.0, 2.0, 0.0, 5.0]);
        let bar = bar(SORT, (RANKS, "2"), 2, messages.by_size(&COLUMNS_5_3));
        assert_eq!(bar.iter().map(|one| one.value).collect::<Vec<_>>(), [37.5, 0.0, 62.5]);
    }

    #[test]
    fn columns_are_whole_classes() {
        let begins = |from: usize| from == 0 || SIZE_LIMITS.contains(&from);
        let all = COLUMNS_4_2.iter().chain(&COLUMNS_5_3).chain(&COLUMNS_6_1);
        assert!(all.into_iter().all(|(from, _)| begins(*from)));
    }

    #[test]
    fn the_documents_rows_are_wholes() {
        let near_whole = |shares: &[f64]| (shares.iter().sum::<f64>() - 100.0).abs() <= 1.0;
        assert!(TABLE_2_1.iter().flat_map(|(_, both)| both).all(|row| near_whole(row)));
        assert!(FIGURE_2_4.iter().all(|(_, row)| near_whole(row)));
        assert!(TABLE_5_3.iter().all(|(_, row)| near_whole(row)));
        assert!(TABLE_6_1.iter().all(|(_, row)| near_whole(row)));
    }

    #[test]
    fn what_stays_within_a_node_is_compared_with_ranks_that_speak_to_all_alike() {
        assert_eq!((even(FEW), even(MANY).round()), (20.0, 23.0));
        let of =
            |test, name, near| bar(test, (PROGRAMS, name), FEW, vec![(NEAR[3], near), (FAR, 100.0 - near)]);
        let all = |is| NAMES.map(|name| of(NEAR_MESSAGES, name, if name == IS { is } else { 45.0 })).concat();
        assert_eq!((stay_within(&all(30.0)), stay_within(&all(20.0))), (Some(true), Some(false)));
        assert_eq!((stay_within(&all(30.0)[2..]), stay_within(&printed())), (None, None));
        let many = |near| stay_within_on_many(&of(MANY_RANKS, SOLVER, near));
        assert_eq!(
            (many(50.0), many(30.0), stay_within_on_many(&printed())),
            (Some(true), Some(false), None)
        );
    }

    #[test]
    fn conclusions_are_of_what_was_counted_here() {
        assert_eq!(
            (shrinks(&printed()), sort_is_long(&printed()), sort_is_longest(&printed())),
            (None, None, None)
        );
        let sort = |ranks: u32, column: usize| {
            bar(SORT, (RANKS, &ranks.to_string()), ranks, vec![(COLUMNS_4_2[column].1, 1.0)])
        };
        assert_eq!(shrinks(&[sort(2, 4), sort(4, 3), sort(8, 2)].concat()), Some(true));
        assert_eq!(shrinks(&[sort(2, 4), sort(4, 4), sort(8, 2)].concat()), Some(false));
        let two = |long| {
            bar(
                SORT_SHARES,
                (PROGRAMS, "is.2"),
                2,
                vec![(COLUMNS_5_3[0].1, 100.0 - long), (COLUMNS_5_3[2].1, long)],
            )
        };
        assert_eq!((sort_is_long(&two(30.0)), sort_is_long(&two(0.0))), (Some(true), Some(false)));
        let sizes = |name, long| {
            bar(
                SIZES_HERE,
                (PROGRAMS, name),
                8,
                vec![(COLUMNS_6_1[0].1, 100.0 - long), (COLUMNS_6_1[2].1, long)],
            )
        };
        let all = |is| [sizes("is", is), sizes("cg", 0.0), sizes("heat", 10.0), sizes("md", 1.0)].concat();
        assert_eq!((sort_is_longest(&all(40.0)), sort_is_longest(&all(5.0))), (Some(true), Some(false)));
    }
}
