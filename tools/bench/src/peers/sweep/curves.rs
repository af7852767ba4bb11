//! Curves: an operation's points by size, each beside the peers'; which are behind, and which sizes cost far more than their neighbours.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use crate::peers::samples::{Median, Samples, State};

/// A size is a cliff if it costs more than so many times as much for each byte as one half or twice as large. A time that stays the same makes two.
const CLIFF: f64 = 3.0;
/// What a point should reach at least; so many are below, the summary says.
const WANTED: f64 = 1.2;

/// All curves with so many ranks in one state of the machine.
#[derive(Clone, Debug)]
pub struct Section {
    pub ranks: u32,
    /// None where ranks share cores: how far apart they are then changes all the time.
    pub state: Option<State>,
    pub curves: Vec<Curve>,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Curve {
    pub operation: &'static str,
    /// By growing size.
    pub points: Vec<Point>,
}

/// One size: microseconds.
#[derive(Clone, Debug)]
pub struct Point {
    pub bytes: u64,
    pub margay: Median,
    /// By setting, the best first.
    pub peers: Vec<(String, Median)>,
}

impl Point {
    /// How many times faster than the best peer; none without peers.
    pub fn ratio(&self) -> Option<f64> {
        self.peers.first().map(|(_, best)| best.value / self.margay.value)
    }

    /// Slower than the best peer by more than the spread: its median is worse, and the middle halves have nothing in common.
    fn is_behind(&self) -> bool {
        self.peers
            .first()
            .is_some_and(|(_, best)| best.value < self.margay.value && !self.margay.overlaps(best))
    }

    fn for_a_byte(&self) -> f64 {
        self.margay.value / self.bytes as f64
    }
}

/// A point that a list names.
#[derive(Clone, Debug)]
pub struct Named<'c> {
    pub operation: &'static str,
    pub point: &'c Point,
    /// For a cliff: the neighbour, and how many times its cost for each byte.
    beside: Option<(u64, f64)>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (point, margay) = (self.point, self.point.margay.value);
        write!(to, "{:<26}{:>9} B {margay:>10.3} us", self.operation, point.bytes)?;
        match (self.beside, point.peers.first()) {
            (Some((bytes, factor)), _) => {
                write!(to, "   {factor:.1} times what {bytes} B cost for each byte")
            }
            (None, Some((name, best))) => {
                let ratio = point.ratio().unwrap_or(f64::NAN);
                write!(to, "   {:>10.3} us {name:<22} {ratio:.2}", best.value)
            }
            (None, None) => Ok(()),
        }
    }
}

impl Section {
    /// The sections of what was sampled with so many ranks, for each state that Margay was seen in.
    pub fn all_of(samples: &Samples, ranks: u32, operations: &[&'static str]) -> Vec<Section> {
        let section = |state| {
            let curves = operations.iter().filter_map(|operation| curve(samples, state, operation));
            let shown = (ranks <= crate::peers::RANKS).then_some(state);
            Section { ranks, state: shown, curves: curves.collect() }
        };
        State::ALL.map(section).into_iter().filter(|section| !section.curves.is_empty()).collect()
    }

    /// What it is, in a few words.
    pub fn title(&self) -> String {
        match self.state {
            Some(state) => format!("{} ranks, {}", self.ranks, state.title()),
            None => format!("{} ranks on {} cores", self.ranks, crate::peers::RANKS),
        }
    }

    fn points(&self) -> impl Iterator<Item = Named<'_>> {
        self.curves.iter().flat_map(|curve| {
            curve.points.iter().map(|point| Named { operation: curve.operation, point, beside: None })
        })
    }

    /// The ratios of all points that have one.
    pub fn ratios(&self) -> impl Iterator<Item = f64> {
        self.points().filter_map(|it| it.point.ratio())
    }

    /// Points, their geometric mean, how many are behind and how many below what is wanted, in one line.
    pub fn summary(&self) -> String {
        let ratios: Vec<f64> = self.ratios().collect();
        if ratios.is_empty() {
            return format!("{} points, none of which a peer has", self.points().count());
        }
        let count = ratios.len() as f64;
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count).exp();
        let low = ratios.iter().filter(|ratio| **ratio < WANTED).count();
        format!(
            "{} points: geometric mean {mean:.2}; {} behind; {low} ({:.0} %) below {WANTED}; {} cliffs",
            ratios.len(),
            self.behind().len(),
            100.0 * low as f64 / count,
            self.cliffs().len()
        )
    }

    /// The points that are behind, worst first.
    pub fn behind(&self) -> Vec<Named<'_>> {
        let mut behind: Vec<Named<'_>> = self.points().filter(|it| it.point.is_behind()).collect();
        behind.sort_by(|one, other| {
            one.point.ratio().partial_cmp(&other.point.ratio()).unwrap_or(std::cmp::Ordering::Equal)
        });
        behind
    }

    /// Sizes of Margay's that cost far more than their neighbours for each byte, worst first.
    pub fn cliffs(&self) -> Vec<Named<'_>> {
        let mut cliffs: Vec<Named<'_>> = self.curves.iter().flat_map(Curve::cliffs).collect();
        let factor = |it: &Named<'_>| it.beside.map_or(0.0, |(_, factor)| factor);
        cliffs.sort_by(|one, other| factor(other).total_cmp(&factor(one)));
        cliffs
    }

    /// All sizes, growing.
    pub fn sizes(&self) -> Vec<u64> {
        let sizes: BTreeSet<u64> = self.points().map(|it| it.point.bytes).collect();
        sizes.into_iter().collect()
    }

    /// Everything, for the file.
    pub fn json(&self) -> Value {
        let named = |all: Vec<Named<'_>>| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let point = |it: &Point| {
            let peers: Vec<Value> =
                it.peers.iter().map(|(name, median)| json!({ "name": name, "us": median.value })).collect();
            json!({ "bytes": it.bytes, "us": it.margay.value, "ratio": it.ratio(), "behind": it.is_behind(), "peers": peers })
        };
        let curve = |it: &Curve| json!({ "operation": it.operation, "points": it.points.iter().map(point).collect::<Vec<_>>() });
        json!({
            "what": self.title(), "summary": self.summary(), "behind": named(self.behind()), "cliffs": named(self.cliffs()),
            "curves": self.curves.iter().map(curve).collect::<Vec<_>>(),
        })
    }
}

impl Curve {
    fn cliffs(&self) -> Vec<Named<'_>> {
        let doubled = |one: &&Point, other: &Point| one.bytes > 0 && one.bytes * 2 == other.bytes;
        let pairs =
            self.points.iter().zip(self.points.iter().skip(1)).filter(|(one, other)| doubled(one, other));
        pairs
            .filter_map(|(one, other)| {
                let (point, beside) =
                    if one.for_a_byte() > other.for_a_byte() { (one, other) } else { (other, one) };
                let factor = point.for_a_byte() / beside.for_a_byte();
                (factor > CLIFF).then_some(Named {
                    operation: self.operation,
                    point,
                    beside: Some((beside.bytes, factor)),
                })
            })
            .collect()
    }
}

/// The curve of an operation in a state; none without points of Margay's.
fn curve(samples: &Samples, state: State, operation: &'static str) -> Option<Curve> {
    let mut points: Vec<Point> = sizes(samples, operation)
        .into_iter()
        .filter_map(|bytes| {
            let name = format!("{operation}.{bytes}");
            let margay = samples.median(0, state, &name)?;
            let others = samples.names().iter().enumerate().skip(1);
            let mut peers: Vec<(String, Median)> = others
                .filter_map(|(number, setting)| {
                    Some((setting.clone(), samples.median(number, state, &name)?))
                })
                .collect();
            peers.sort_by(|(_, one), (_, other)| one.value.total_cmp(&other.value));
            Some(Point { bytes, margay, peers })
        })
        .collect();
    points.sort_by_key(|point| point.bytes);
    (!points.is_empty()).then_some(Curve { operation, points })
}

/// The sizes for which Margay has printed figures of an operation.
fn sizes(samples: &Samples, operation: &str) -> BTreeSet<u64> {
    let size = |name: &str| name.strip_prefix(operation)?.strip_prefix('.')?.parse().ok();
    samples.figures(0).filter_map(|figure| size(&figure.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::samples::Run;

    fn samples(margay: &str, peer: &str) -> Samples {
        let mut samples = Samples::new(vec!["margay".into(), "other best".into()]);
        for (number, text) in [margay, peer].into_iter().enumerate() {
            samples.add(number, Run::of(&format!("@line_us 0.2\n{text}@line_us 0.2\n"), &[], None));
        }
        samples
    }

    #[test]
    fn points_behind_are_named_worst_first() {
        let samples =
            samples("@get.8 2\n@get.16 4\n@put.8 1\n@getx.8 9\n", "@get.8 1\n@get.16 1\n@put.8 4\n");
        let sections = Section::all_of(&samples, 2, &["get", "put"]);
        let [section] = &sections[..] else { panic!("{sections:?}") };
        let behind: Vec<(&str, u64)> =
            section.behind().iter().map(|it| (it.operation, it.point.bytes)).collect();
        assert_eq!(behind, [("get", 16), ("get", 8)]);
        assert_eq!(section.title(), "2 ranks, cores far");
        assert!(
            section.summary().starts_with("3 points: geometric mean 0.79; 2 behind; 2 (67 %)"),
            "{}",
            section.summary()
        );
        assert_eq!(section.sizes(), [8, 16]);
    }

    #[test]
    fn a_size_that_costs_far_more_than_its_neighbours_is_a_cliff() {
        let steady = samples("@get.1 1\n@get.2 1\n@get.4 1\n@get.8 2\n", "");
        assert!(Section::all_of(&steady, 4, &["get"])[0].cliffs().is_empty());
        let jump = samples("@get.0 1\n@get.1 1\n@get.2 1\n@get.4 7\n@get.8 7\n@get.16 2\n@get.64 90\n", "");
        let sections = Section::all_of(&jump, 4, &["get"]);
        let cliffs: Vec<u64> = sections[0].cliffs().iter().map(|it| it.point.bytes).collect();
        assert_eq!(cliffs, [8, 4]);
        assert_eq!(sections[0].title(), "4 ranks on 2 cores");
        assert!(sections[0].cliffs()[1].to_string().ends_with("3.5 times what 2 B cost for each byte"));
    }
}
