//! The rows of the comparison: names, units, aims.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Value, json};

use crate::linux_guest::Figures;

/// A figure that both systems have.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What programs and this tool call it.
    pub name: &'static str,
    /// What the table calls it.
    pub what: &'static str,
    /// What to show it in, and by how much to divide for that.
    pub unit: &'static str,
    pub scale: f64,
    pub aim: Aim,
}

/// What is aimed at of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Aim {
    None,
    /// Linux's figure is this many times Margay's, or more.
    Times(f64),
    /// Margay's is zero.
    Zero,
}

impl Figure {
    // Names of the figures that programs do not print: the tool takes them from reports and from what Linux says.
    pub const ENTRY: &'static str = "entry_us";
    pub const MEMORY: &'static str = "memory_bytes";
    pub const PAGE_TABLES: &'static str = "page_table_bytes";
    pub const INTERRUPTS: &'static str = "interrupts";
    pub const SWITCHES: &'static str = "switches";
}

const fn figure(name: &'static str, what: &'static str, unit: &'static str, scale: f64, aim: Aim) -> Figure {
    Figure { name, what, unit, scale, aim }
}

/// A third of the time: what collectives aim at. Half: what messages do.
const THIRD: Aim = Aim::Times(3.0);
const HALF: Aim = Aim::Times(2.0);

/// What is compared of one node.
pub static OF_ONE_NODE: [Figure; 19] = [
    figure(Figure::ENTRY, "kernel entry to first user instruction", "ms", 1000.0, Aim::Times(4.0)),
    figure(Figure::MEMORY, "memory gone after boot", "MiB", 1_048_576.0, Aim::Times(6.0)),
    figure(Figure::PAGE_TABLES, "page tables of 1 GiB", "KiB", 1024.0, Aim::None),
    figure(Figure::INTERRUPTS, "interrupts in 1 s of computing, all cores", "", 1.0, Aim::Zero),
    figure(Figure::SWITCHES, "context switches in 1 s of computing", "", 1.0, Aim::Zero),
    figure("longest_gap_us", "longest gap in 1 s of computing", "us", 1.0, Aim::None),
    figure("system_call_us", "a system call", "us", 1.0, Aim::None),
    figure("latency_0_us", "half round trip, 0 B", "us", 1.0, HALF),
    figure("latency_8_us", "half round trip, 8 B", "us", 1.0, HALF),
    figure("latency_64k_us", "half round trip, 64 KiB", "us", 1.0, HALF),
    figure("barrier_us", "barrier", "us", 1.0, THIRD),
    figure("bcast_8_us", "bcast, 8 B", "us", 1.0, THIRD),
    figure("bcast_64k_us", "bcast, 64 KiB", "us", 1.0, THIRD),
    figure("reduce_8_us", "reduce, 8 B", "us", 1.0, THIRD),
    figure("reduce_64k_us", "reduce, 64 KiB", "us", 1.0, THIRD),
    figure("allreduce_8_us", "allreduce, 8 B", "us", 1.0, THIRD),
    figure("allreduce_64k_us", "allreduce, 64 KiB", "us", 1.0, THIRD),
    figure("alltoall_8_us", "alltoall, 8 B", "us", 1.0, THIRD),
    figure("alltoall_64k_us", "alltoall, 64 KiB", "us", 1.0, THIRD),
];

/// What is compared of two nodes on one Ethernet.
pub static OF_TWO_NODES: [Figure; 15] = [
    figure("latency_0_us", "half round trip, 0 B", "us", 1.0, HALF),
    figure("latency_8_us", "half round trip, 8 B", "us", 1.0, HALF),
    figure("latency_8k_us", "half round trip, 8 KiB", "us", 1.0, Aim::None),
    figure("latency_64k_us", "half round trip, 64 KiB", "us", 1.0, Aim::None),
    figure("stream_8_us", "a message of many, 8 B (rate)", "us", 1.0, HALF),
    figure("stream_8k_us", "a message of many, 8 KiB (bandwidth)", "us", 1.0, HALF),
    figure("work_8_us", "processor time of a message, 8 B", "us", 1.0, THIRD),
    figure("work_1k_us", "processor time of a message, 1 KiB", "us", 1.0, THIRD),
    figure("barrier_us", "barrier", "us", 1.0, HALF),
    figure("bcast_8_us", "bcast, 8 B", "us", 1.0, HALF),
    figure("bcast_64k_us", "bcast, 64 KiB", "us", 1.0, HALF),
    figure("allreduce_8_us", "allreduce, 8 B", "us", 1.0, HALF),
    figure("allreduce_64k_us", "allreduce, 64 KiB", "us", 1.0, HALF),
    figure("alltoall_8_us", "alltoall, 8 B", "us", 1.0, HALF),
    figure("alltoall_64k_us", "alltoall, 64 KiB", "us", 1.0, HALF),
];

/// One figure of both systems, as far as each has it.
#[derive(Clone, Debug)]
pub struct Row {
    figure: &'static Figure,
    margay: Option<f64>,
    linux: Option<f64>,
}

/// The figures that a program has printed, a line `@name value` each.
pub fn read(text: &str) -> Figures {
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.trim().strip_prefix('@')?.split_once(' ')?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        })
        .collect()
}

/// The median of each figure over rounds; of an even number, the lower of the two in the middle.
pub fn medians(rounds: &[Figures]) -> Figures {
    let names: BTreeSet<&String> = rounds.iter().flat_map(BTreeMap::keys).collect();
    let median = |name: &String| {
        let mut values: Vec<f64> = rounds.iter().filter_map(|round| round.get(name).copied()).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len().saturating_sub(1) / 2).map(|value| (name.clone(), *value))
    };
    names.into_iter().filter_map(median).collect()
}

/// The rows of the table, in its order; what a system has no figure for is left open.
pub fn rows(figures: &'static [Figure], margay: &Figures, linux: &Figures) -> Vec<Row> {
    let of = |figures: &Figures, figure: &Figure| figures.get(figure.name).copied();
    figures
        .iter()
        .map(|figure| Row { figure, margay: of(margay, figure), linux: of(linux, figure) })
        .collect()
}

impl Row {
    /// The head of the table.
    pub const HEADER: &'static str =
        "# what                                              margay         linux     ratio       aim";

    /// Linux's figure by Margay's, where both are there and Margay's is not zero.
    fn ratio(&self) -> Option<f64> {
        let margay = self.margay.filter(|value| *value > 0.0)?;
        Some(self.linux? / margay)
    }

    /// Whether the aim is reached; none if there is no aim, or a figure is missing.
    fn is_met(&self) -> Option<bool> {
        match self.figure.aim {
            Aim::None => None,
            Aim::Times(times) => self.ratio().map(|ratio| ratio >= times),
            Aim::Zero => self.margay.map(|value| value == 0.0),
        }
    }

    /// As one object: `{"name", "what", "margay", "linux", "ratio", "aim", "met"}`; times and bytes in the unit that ends the name, as the
    /// programs gave them.
    pub fn json(&self) -> Value {
        let aim = match self.figure.aim {
            Aim::None => Value::Null,
            Aim::Times(times) => times.into(),
            Aim::Zero => "zero".into(),
        };
        json!({
            "name": self.figure.name, "what": self.figure.what, "margay": self.margay, "linux": self.linux,
            "ratio": self.ratio(), "aim": aim, "met": self.is_met(),
        })
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |value: Option<f64>| match value.map(|value| value / self.figure.scale) {
            None => "-".to_owned(),
            Some(0.0) => "0".to_owned(),
            Some(value) if value >= 100.0 => format!("{value:.0}"),
            Some(value) => format!("{value:.2}"),
        };
        let aim = match self.figure.aim {
            Aim::None => String::new(),
            Aim::Times(times) => format!("{times:.0}"),
            Aim::Zero => "none".into(),
        };
        let verdict = match self.is_met() {
            None => "",
            Some(true) => "met",
            Some(false) => "MISSED",
        };
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let (what, unit) = (self.figure.what, self.figure.unit);
        write!(
            f,
            "{what:<44}{:>14}{:>14}{ratio:>10}{aim:>10} {unit:<4}{verdict}",
            number(self.margay),
            number(self.linux)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_lines_that_begin_with_an_at_sign() {
        let read = read("noise\n@a 1.5\r\n @b 2\n@c x\n@d\n[  1.0] @e 3\n");
        assert_eq!(read.into_iter().collect::<Vec<_>>(), [("a".into(), 1.5), ("b".into(), 2.0)]);
    }

    #[test]
    fn a_median_is_of_the_rounds_that_have_the_figure() {
        let round =
            |pairs: &[(&str, f64)]| pairs.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        let rounds =
            [round(&[("a", 9.0), ("b", 1.0)]), round(&[("a", 1.0)]), round(&[("a", 2.0), ("b", 5.0)])];
        assert_eq!(medians(&rounds), round(&[("a", 2.0), ("b", 1.0)]));
        assert!(medians(&[]).is_empty());
    }

    #[test]
    fn a_missing_figure_is_neither_met_nor_missed() {
        let rows = |margay: &[(&str, f64)], linux: &[(&str, f64)]| {
            let of =
                |pairs: &[(&str, f64)]| pairs.iter().map(|(name, value)| ((*name).into(), *value)).collect();
            super::rows(&OF_ONE_NODE, &of(margay), &of(linux))
        };
        let met =
            |rows: &[Row], name: &str| rows.iter().find(|row| row.figure.name == name).and_then(Row::is_met);
        let some = rows(
            &[("entry_us", 10.0), ("interrupts", 0.0), ("barrier_us", 1.0)],
            &[("entry_us", 39.0), ("barrier_us", 3.0)],
        );
        assert_eq!(met(&some, "entry_us"), Some(false));
        assert_eq!(met(&some, "interrupts"), Some(true));
        assert_eq!(met(&some, "barrier_us"), Some(true));
        assert_eq!(met(&some, "bcast_8_us"), None);
        assert_eq!(met(&rows(&[("interrupts", 3.0)], &[]), "interrupts"), Some(false));
    }
}
