//! What the rounds gave: figures by setting and round, the state of the machine, medians and spread.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::bench::peers::rows::{LINE, LINE_AFTER};

/// A line handed over takes longer than this, in microseconds, when the cores are far apart: between the two states seen.
const FAR_FROM: f64 = 0.1;
/// The line at the beginning and at the end may differ by this factor within one state.
const STEADY: f64 = 1.6;

/// The machine's state: how far apart the two cores are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Near,
    Far,
}

impl State {
    pub const ALL: [Self; 2] = [Self::Near, Self::Far];

    pub fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "far",
        }
    }
}

/// One run of the program.
#[derive(Clone, Debug)]
pub enum Run {
    /// In a state that it began and ended in.
    Steady(State, BTreeMap<String, f64>),
    /// The state changed under it.
    Straddled,
    Failed(String),
}

impl Run {
    /// Two runs, one after the other, as one.
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Steady(state, mut figures), Self::Steady(its, more)) if state == its => {
                // The line that both have measured stays that of the first.
                more.into_iter().for_each(|(name, value)| {
                    figures.entry(name).or_insert(value);
                });
                Self::Steady(state, figures)
            }
            (Self::Failed(why), _) | (_, Self::Failed(why)) => Self::Failed(why),
            _ => Self::Straddled,
        }
    }

    /// Reads the program's output: lines `@name value`.
    pub fn of(text: &str) -> Self {
        let figures: BTreeMap<String, f64> = text
            .lines()
            .filter_map(|line| {
                let (name, value) = line.trim().strip_prefix('@')?.split_once(' ')?;
                Some((name.to_owned(), value.trim().parse().ok()?))
            })
            .collect();
        match (figures.get(LINE), figures.get(LINE_AFTER)) {
            (Some(before), Some(after)) => {
                let state = |line: f64| if line < FAR_FROM { State::Near } else { State::Far };
                let steady = before.max(*after) <= before.min(*after) * STEADY;
                if steady && state(*before) == state(*after) {
                    Self::Steady(state(*before), figures)
                } else {
                    Self::Straddled
                }
            }
            _ => Self::Failed("it ended well, but has not printed its figures".into()),
        }
    }
}

/// A median with its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    pub value: f64,
    pub least: f64,
    pub most: f64,
    pub runs: usize,
}

/// All runs of all settings.
#[derive(Clone, Debug)]
pub struct Samples {
    names: Vec<String>,
    runs: Vec<Vec<Run>>,
}

impl Samples {
    pub fn new(names: Vec<String>) -> Self {
        let runs = vec![Vec::new(); names.len()];
        Self { names, runs }
    }

    pub fn add(&mut self, setting: usize, run: Run) {
        self.runs[setting].push(run);
    }

    /// Settings by number; the first is Margay.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn runs(&self, setting: usize) -> &[Run] {
        &self.runs[setting]
    }

    /// Runs that failed: whose, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().zip(&self.runs).flat_map(|(name, runs)| {
            runs.iter().filter_map(move |run| match run {
                Run::Failed(why) => Some((name.as_str(), why.as_str())),
                _ => None,
            })
        })
    }

    /// A figure's median in a state; none if no run of the setting in that state has it.
    pub fn median(&self, setting: usize, state: State, figure: &str) -> Option<Median> {
        let mut values: Vec<f64> = self.runs[setting]
            .iter()
            .filter_map(|run| match run {
                Run::Steady(its, figures) if *its == state => figures.get(figure).copied(),
                _ => None,
            })
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        Some(Median { value: values[(values.len() - 1) / 2], least, most, runs: values.len() })
    }

    /// Runs that were dropped because the state changed under them.
    pub fn straddled(&self) -> usize {
        self.runs.iter().flatten().filter(|run| matches!(run, Run::Straddled)).count()
    }

    /// Everything, run by run.
    pub fn json(&self) -> Value {
        let run = |run: &Run| match run {
            Run::Steady(state, figures) => json!({ "state": state.name(), "figures": figures }),
            Run::Straddled => json!({ "state": "changed" }),
            Run::Failed(why) => json!({ "failed": why }),
        };
        let all = self.names.iter().zip(&self.runs);
        all.map(|(name, runs)| json!({ "name": name, "runs": runs.iter().map(run).collect::<Vec<_>>() }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: f64, after: f64, value: f64) -> Run {
        Run::of(&format!("@line_before_us {before}\n@a {value}\nnoise\n@line_after_us {after}\n"))
    }

    #[test]
    fn a_run_under_which_the_state_changes_is_dropped() {
        let mut samples = Samples::new(vec!["x".into()]);
        for one in [
            run(0.02, 0.021, 3.0),
            run(0.02, 0.17, 99.0),
            run(0.17, 0.18, 7.0),
            run(0.02, 0.02, 5.0),
            run(0.02, 0.02, 4.0),
        ] {
            samples.add(0, one);
        }
        let near = samples.median(0, State::Near, "a").unwrap();
        assert_eq!((near.value, near.least, near.most, near.runs), (4.0, 3.0, 5.0, 3));
        assert_eq!(samples.median(0, State::Far, "a").map(|far| far.value), Some(7.0));
        assert_eq!(samples.median(0, State::Far, "b"), None);
        assert_eq!(samples.straddled(), 1);
    }

    #[test]
    fn output_without_figures_is_a_failure() {
        let mut samples = Samples::new(vec!["x".into()]);
        samples.add(0, Run::of("all is well\n"));
        assert_eq!(samples.failures().count(), 1);
    }
}
