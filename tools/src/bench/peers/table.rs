//! The comparison: Margay's figures beside the best peer's, targets and floors, for each state of the machine; printed, and as JSON.

use serde_json::{Value, json};

use crate::bench::peers::rows::{Floor, ROWS, Row};
use crate::bench::peers::samples::{Median, Samples, State};

/// Number of Margay's setting.
const MARGAY: usize = 0;
/// What makes a row red on a terminal, and what ends it.
const RED: (&str, &str) = ("\u{1b}[31m", "\u{1b}[0m");

/// One row in one state.
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

    /// Slower than a peer.
    pub fn is_behind(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio < 1.0)
    }

    /// Whether the target is reached; none without target or peers.
    pub fn is_met(&self) -> Option<bool> {
        Some(self.ratio()? >= self.target?)
    }

    /// A word for it.
    pub fn verdict(&self) -> &'static str {
        match (self.is_behind(), self.is_met()) {
            (true, _) => "BEHIND",
            (false, Some(true)) => "met",
            (false, Some(false)) => "missed",
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
    pub absent: Vec<(&'static str, String)>,
    /// Runs that failed: whose, and why.
    pub failed: Vec<(String, String)>,
    pub straddled: usize,
}

impl Comparison {
    /// Compares what was sampled.
    pub fn of(samples: &Samples, absent: Vec<(&'static str, String)>) -> Self {
        let lines = |state| ROWS.iter().filter_map(|row| line(samples, state, row)).collect::<Vec<_>>();
        let states =
            State::ALL.map(|state| (state, lines(state))).into_iter().filter(|(_, lines)| !lines.is_empty());
        let failed = samples.failures().map(|(name, why)| (name.to_owned(), why.to_owned()));
        Self { states: states.collect(), absent, failed: failed.collect(), straddled: samples.straddled() }
    }

    /// Whether Margay is slower than a peer somewhere.
    pub fn is_behind(&self) -> bool {
        self.states.iter().flat_map(|(_, lines)| lines).any(Line::is_behind)
    }

    /// Prints a table for each state; rows that are behind in red if `colour`.
    pub fn print(&self, colour: bool) {
        for (state, lines) in &self.states {
            println!(
                "# cores {}; medians, in brackets the spread; ratio: how many times better than the best peer; limit: part of the physical limit",
                state.name()
            );
            println!(
                "# {:<46}{:>10} {:<20}{:>10}  {:<22}{:>6}{:>8}{:>7}",
                "what", "margay", "", "best peer", "", "ratio", "target", "limit"
            );
            for line in lines {
                let (start, end) = if colour && line.is_behind() { RED } else { ("", "") };
                println!("{start}{}{end}", text(line));
            }
        }
        if self.states.is_empty() {
            println!(
                "# the machine did not stay in one state during any of Margay's runs: there is nothing to compare"
            );
        }
        println!("# runs dropped because the state of the machine changed under them: {}", self.straddled);
        self.absent.iter().for_each(|(name, why)| println!("# {name}: takes no part: {why}"));
        self.failed.iter().for_each(|(name, why)| println!("# {name}: a run failed: {why}"));
    }

    /// `{"states": {"near": [row, …]}, "absent": […], "failed": […], "runs": […]}`.
    pub fn json(&self, samples: &Samples) -> Value {
        let median =
            |it: &Median| json!({ "median": it.value, "least": it.least, "most": it.most, "runs": it.runs });
        let row = |line: &Line| {
            json!({
                "name": line.row.name, "what": line.row.what, "unit": line.row.unit, "margay": median(&line.margay),
                "peers": line.peers.iter().map(|(name, it)| json!({ "name": name, "figure": median(it) })).collect::<Vec<_>>(),
                "ratio": line.ratio(), "target": line.target, "met": line.is_met(), "floor": line.floor, "of_floor": line.of_floor(),
            })
        };
        let pair = |(name, why): (&str, &str)| json!({ "name": name, "why": why });
        let states: serde_json::Map<String, Value> = self
            .states
            .iter()
            .map(|(state, lines)| (state.name().to_owned(), lines.iter().map(row).collect()))
            .collect();
        json!({
            "states": states, "straddled": self.straddled, "runs": samples.json(),
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

/// Three significant digits.
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
    use crate::bench::peers::samples::Run;

    fn samples(of: &[(&str, f64, f64)]) -> Samples {
        let mut samples = Samples::new(of.iter().map(|(name, _, _)| (*name).to_owned()).collect());
        for (number, (_, latency, rate)) in of.iter().enumerate() {
            let text = format!(
                "@line_before_us 0.02\n@latency_8_us {latency}\n@rate_8_mps {rate}\n@line_after_us 0.02\n"
            );
            samples.add(number, Run::of(&text));
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

    #[test]
    fn without_peers_nothing_is_met_or_missed() {
        let found = Comparison::of(&samples(&[("margay", 0.05, 25.0)]), vec![("a", "why".into())]);
        assert_eq!(of(&found, "latency_8_us").verdict(), "");
        assert!(!found.is_behind());
    }
}
