//! The comparison: Margay's figures beside the best peer's, targets and floors, for each state of the machine; printed, and as JSON.

use serde_json::{Value, json};

use crate::peers::rows::{self, Floor, Row};
use crate::peers::samples::{Median, Samples, State};

/// Number of Margay's setting.
const MARGAY: usize = 0;
/// The target between nodes: no row slower.
const LEVEL: f64 = 1.0;
/// What is said if no state has a figure of Margay's.
pub const NOTHING: &str =
    "the machine did not stay in one state under any of Margay's figures: there is nothing to compare";
/// What makes a row red on a terminal, and what ends it.
const RED: (&str, &str) = ("\u{1b}[31m", "\u{1b}[0m");

/// One row in one state of the machine: Margay's figure and what stands beside it.
#[derive(Clone, Debug)]
pub struct Line {
    pub row: &'static Row,
    pub margay: Median,
    /// All peers' medians by setting, the best first.
    pub peers: Vec<(String, Median)>,
    /// The physical limit in the same unit.
    pub floor: Option<f64>,
    pub target: Option<f64>,
}

impl Line {
    /// How many times better than the best peer; none without peers.
    pub fn ratio(&self) -> Option<f64> {
        self.peers.first().map(|(_, best)| self.row.ratio(self.margay.value, best.value))
    }

    /// The part of the physical limit that is reached: 1 is at the limit.
    pub fn of_floor(&self) -> Option<f64> {
        self.floor.map(|floor| self.row.ratio(self.margay.value, floor))
    }

    /// Slower than the best peer by more than the spread of the rounds: its median is worse, and the middle halves of both's rounds have nothing
    /// in common.
    pub fn is_behind(&self) -> bool {
        self.is_less() && self.peers.first().is_some_and(|(_, best)| !self.margay.overlaps(best))
    }

    /// Whether the median is worse than the best peer's, by however little.
    fn is_less(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio < 1.0)
    }

    /// Whether the targets are reached, beside peers and beside the physical limit; none without either.
    pub fn is_met(&self) -> Option<bool> {
        let beside_peers = self.ratio().zip(self.target).map(|(ratio, target)| ratio >= target);
        let of_floor = self.of_floor().zip(self.row.of_floor).map(|(part, target)| part >= target);
        beside_peers.into_iter().chain(of_floor).reduce(|one, other| one && other)
    }

    /// A word for it: `BEHIND`, `met`, `missed`, `level`, or none without targets.
    pub fn verdict(&self) -> &'static str {
        match (self.is_behind(), self.is_met()) {
            (true, _) => "BEHIND",
            (false, Some(true)) => "met",
            (false, Some(false)) => "missed",
            (false, None) if self.is_less() => "level",
            (false, None) => "",
        }
    }
}

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// By state, only those that Margay was seen in.
    pub states: Vec<(State, Vec<Line>)>,
    /// Peers that took no part, and why.
    pub absent: Vec<(String, String)>,
    /// Settings with runs that failed, and why.
    pub failed: Vec<(String, String)>,
    /// Figures taken by all, and those dropped because the state changed under them.
    pub taken: usize,
    pub dropped: usize,
}

impl Comparison {
    /// Compares what was sampled; `absent` are peers that took no part, and why.
    pub fn of(samples: &Samples, absent: Vec<(String, String)>) -> Self {
        let lines = |state| rows::all().filter_map(|row| line(samples, state, row)).collect::<Vec<_>>();
        let states =
            State::ALL.map(|state| (state, lines(state))).into_iter().filter(|(_, lines)| !lines.is_empty());
        let failed = samples.failures().map(|(name, why, runs)| {
            let times = if runs > 1 { format!("{runs} runs failed: ") } else { "a run failed: ".into() };
            (name.to_owned(), times + why)
        });
        let (taken, dropped) = samples.taken_and_dropped();
        Self { states: states.collect(), absent, failed: failed.collect(), taken, dropped }
    }

    /// Rows of all states that have a peer's figure beside Margay's.
    pub fn compared(&self) -> impl Iterator<Item = &Line> {
        self.states.iter().flat_map(|(_, lines)| lines).filter(|line| line.ratio().is_some())
    }

    /// Whether Margay is slower than a peer somewhere ([`Line::is_behind`]).
    pub fn is_behind(&self) -> bool {
        self.compared().any(Line::is_behind)
    }

    /// Prints a table for each state; rows that are behind in red if `colour`.
    pub fn print(&self, colour: bool) {
        for (state, lines) in &self.states {
            show!(
                "# {}; medians, in brackets the spread; ratio: how many times better than the best peer; limit: part of the physical limit",
                state.title()
            );
            show!(
                "# behind: slower than the best peer by more than the spread, that is, the middle halves of both's rounds do not overlap; level: they do"
            );
            show!(
                "# {:<46}{:>10} {:<20}{:>10}  {:<22}{:>6}{:>8}{:>7}",
                "what",
                "margay",
                "",
                "best peer",
                "",
                "ratio",
                "target",
                "limit"
            );
            for line in lines {
                let (start, end) = if colour && line.is_behind() { RED } else { ("", "") };
                show!("{start}{}{end}", text(line));
            }
        }
        if self.states.is_empty() {
            show!("# {NOTHING}");
        }
        show!(
            "# figures dropped because the state of the machine changed under them: {} of {}",
            self.dropped,
            self.taken
        );
        self.absent.iter().for_each(|(name, why)| show!("# {name}: takes no part: {why}"));
        self.failed.iter().for_each(|(name, why)| show!("# {name}: {why}"));
    }

    /// `{"states": {"near": [row, …]}, "taken": N, "dropped": N, "absent": […], "failed": […], "runs": […]}`.
    pub fn json(&self, samples: &Samples) -> Value {
        let median = |it: &Median| json!({ "median": it.value, "least": it.least, "most": it.most, "middle_half": [it.lower, it.upper], "runs": it.runs });
        let row = |line: &Line| {
            json!({
                "name": line.row.name, "what": line.row.what, "unit": line.row.unit, "margay": median(&line.margay),
                "peers": line.peers.iter().map(|(name, it)| json!({ "name": name, "figure": median(it) })).collect::<Vec<_>>(),
                "ratio": line.ratio(), "target": line.target, "met": line.is_met(), "behind": line.is_behind(),
                "floor": line.floor, "of_floor": line.of_floor(), "of_floor_target": line.row.of_floor,
            })
        };
        let pair = |(name, why): (&str, &str)| json!({ "name": name, "why": why });
        let states: serde_json::Map<String, Value> = self
            .states
            .iter()
            .map(|(state, lines)| (state.name().to_owned(), lines.iter().map(row).collect()))
            .collect();
        json!({
            "states": states, "taken": self.taken, "dropped": self.dropped, "runs": samples.json(),
            "absent": self.absent.iter().map(|(name, why)| pair((name, why))).collect::<Vec<_>>(),
            "failed": self.failed.iter().map(|(name, why)| pair((name, why))).collect::<Vec<_>>(),
        })
    }
}

fn line(samples: &Samples, state: State, row: &'static Row) -> Option<Line> {
    let margay = samples.median(MARGAY, state, row.name)?;
    let others = samples.names().iter().enumerate().skip(MARGAY + 1);
    let mut peers: Vec<(String, Median)> = others
        .filter_map(|(number, name)| Some((name.clone(), samples.median(number, state, row.name)?)))
        .collect();
    peers.sort_by(|left, right| row.ratio(right.1.value, left.1.value).total_cmp(&1.0));
    let least_of_all = |figure: &str| {
        (0..samples.names().len())
            .filter_map(|number| samples.median(number, state, figure))
            .map(|median| median.value)
            .min_by(f64::total_cmp)
    };
    let floor = row.floor.and_then(|floor| match floor {
        Floor::Time(figure, times) => least_of_all(figure).map(|time| time * times),
        Floor::Copy(figure, bytes) => least_of_all(figure).map(|time| bytes / time / 1e3),
    });
    let target = row.target.map(|target| match state {
        State::Near => target.near,
        State::Far => target.far,
        State::Nodes => LEVEL,
    });
    Some(Line { row, margay, peers, floor, target })
}

/// A line of the table.
fn text(line: &Line) -> String {
    let spread = |it: &Median| format!("({} to {})", short(it.least), short(it.most));
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    let (value, name) = match line.peers.first() {
        Some((name, best)) => (short(best.value), name.as_str()),
        None => ("-".into(), ""),
    };
    format!(
        "{:<48}{:>10} {:<20}{value:>10}  {name:<22}{:>6}{:>8}{:>7} {:<5}{}",
        line.row.what,
        short(line.margay.value),
        spread(&line.margay),
        number(line.ratio()),
        number(line.target),
        number(line.of_floor()),
        line.row.unit,
        line.verdict()
    )
}

/// A number with three significant digits, three after the point below 1.
pub fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::samples::Run;

    fn samples(of: &[(&str, f64, f64)]) -> Samples {
        let mut samples = Samples::new(of.iter().map(|(name, _, _)| (*name).to_owned()).collect());
        for (number, (_, latency, rate)) in of.iter().enumerate() {
            let text = format!("@line_us 0.02\n@latency_8_us {latency}\n@rate_8_mps {rate}\n@line_us 0.02\n");
            samples.add(number, Run::of(&text, &[], None));
        }
        samples
    }

    fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a Line {
        comparison.states[0].1.iter().find(|line| line.row.name == name).unwrap()
    }

    #[test]
    fn the_best_peer_is_the_one_to_beat() {
        let samples = samples(&[("margay", 0.0625, 100.0), ("a", 0.25, 30.0), ("b", 0.125, 20.0)]);
        let found = Comparison::of(&samples, Vec::new());
        let (latency, rate) = (of(&found, "latency_8_us"), of(&found, "rate_8_mps"));
        assert_eq!((latency.peers[0].0.as_str(), rate.peers[0].0.as_str()), ("b", "a"));
        assert_eq!((latency.ratio(), latency.verdict()), (Some(2.0), "met"));
        assert_eq!(latency.of_floor(), Some(0.02 / 0.0625));
        assert!(!found.is_behind());
    }

    #[test]
    fn a_row_that_is_slower_than_any_peer_is_behind() {
        let samples = samples(&[("margay", 0.05, 25.0), ("a", 0.09, 30.0)]);
        let found = Comparison::of(&samples, Vec::new());
        assert_eq!(of(&found, "rate_8_mps").verdict(), "BEHIND");
        assert!(found.is_behind());
    }

    /// Margay's and a peer's times of three rounds.
    fn rounds(margay: [f64; 3], peer: [f64; 3]) -> Comparison {
        let mut samples = Samples::new(vec!["margay".into(), "a".into()]);
        for (number, times) in [margay, peer].into_iter().enumerate() {
            for time in times {
                let text = format!(
                    "@line_us 0.02\n@shmem_p_wait_us {time}\n@put_fence_8_us {time}\n@rate_8_mps {}\n@line_us 0.02\n",
                    1.0 / time
                );
                samples.add(number, Run::of(&text, &[], None));
            }
        }
        Comparison::of(&samples, Vec::new())
    }

    #[test]
    fn a_row_is_behind_only_if_the_difference_is_more_than_the_spread() {
        let names = ["shmem_p_wait_us", "put_fence_8_us", "rate_8_mps"];
        // Worse by a little, within what the rounds differ by themselves: not behind, in times and in rates.
        let level = rounds([0.5, 0.51, 0.53], [0.49, 0.5, 0.505]);
        assert!(!level.is_behind());
        for name in names {
            assert!(of(&level, name).ratio().is_some_and(|ratio| ratio < 1.0), "{name}");
            assert_ne!(of(&level, name).verdict(), "BEHIND", "{name}");
        }
        // The same difference of the medians, and rounds that hardly differ.
        let behind = rounds([0.509, 0.51, 0.511], [0.499, 0.5, 0.501]);
        for name in names {
            assert_eq!(of(&behind, name).verdict(), "BEHIND", "{name}");
        }
        // Faster, by however little and with whatever spread, is never behind.
        assert!(!rounds([0.49, 0.5, 0.505], [0.5, 0.51, 0.53]).is_behind());
        assert!(!rounds([0.499, 0.5, 0.501], [0.509, 0.51, 0.511]).is_behind());
    }

    #[test]
    fn without_peers_nothing_is_met_or_missed() {
        let found = Comparison::of(&samples(&[("margay", 0.05, 25.0)]), vec![("a".into(), "why".into())]);
        assert_eq!(of(&found, "latency_8_us").verdict(), "");
        assert!(!found.is_behind());
    }

    #[test]
    fn a_part_of_the_limit_can_be_a_target_without_peers() {
        let of_line = |wait: f64| {
            let mut samples = Samples::new(vec!["margay".into()]);
            let text = format!("@line_us 0.02\n@shmem_p_wait_us {wait}\n@line_us 0.02\n");
            samples.add(0, Run::of(&text, &[], None));
            of(&Comparison::of(&samples, Vec::new()), "shmem_p_wait_us").verdict()
        };
        assert_eq!((of_line(0.0209), of_line(0.0211)), ("met", "missed"));
    }
}
