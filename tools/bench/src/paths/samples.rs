//! What the rounds have measured, and what it comes to. All are times, or ratios of times: less is better.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Values of one test by one way: at a size, of each round.
type Rows = BTreeMap<u64, Vec<f64>>;

/// So many times the least is of another state of the machine.
const ANOTHER_STATE: f64 = 2.0;

/// All values.
#[derive(Default)]
pub struct Samples(BTreeMap<(&'static str, &'static str), Rows>);

impl Samples {
    /// Files a value of a round.
    pub fn add(&mut self, (test, way): (&'static str, &'static str), at: u64, value: f64) {
        self.0.entry((test, way)).or_default().entry(at).or_default().push(value);
    }

    /// Where any way of a test has been measured.
    pub fn sizes(&self, test: &str) -> BTreeSet<u64> {
        let own = self.0.iter().filter(|((its, _), _)| *its == test);
        own.flat_map(|(_, rows)| rows.keys().copied()).collect()
    }

    /// What it takes while the machine is in the state in which it is faster: the median of the rounds that take at most twice the least. Cores of a machine that is
    /// shared are near each other or far apart, in turn, and a message takes several times as long then. Not a number if there are no rounds.
    pub fn time(&self, test: &'static str, way: &'static str, at: u64) -> f64 {
        let rounds = self.0.get(&(test, way)).and_then(|rows| rows.get(&at));
        let mut values: Vec<f64> =
            rounds.into_iter().flatten().copied().filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        let least = values.first().copied().unwrap_or(f64::NAN);
        values.retain(|value| *value <= ANOTHER_STATE * least);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// How many times as long one way takes as another.
    pub fn ratio(&self, test: &'static str, [one, other]: [&'static str; 2], at: u64) -> f64 {
        self.time(test, one, at) / self.time(test, other, at)
    }

    pub fn json(&self) -> Value {
        let one = |((test, way), rows): (&(&str, &str), &Rows)| {
            let rows: Vec<Value> =
                rows.iter().map(|(at, rounds)| json!({ "at": at, "rounds": rounds })).collect();
            json!({ "test": test, "way": way, "rows": rows })
        };
        self.0.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_compared_in_one_state_of_the_machine() {
        let mut samples = Samples::default();
        // Of the first way's rounds the machine was slow in one, of the other's in most.
        for (a, b) in [(2.0, 4.0), (2.2, 1.0), (2.1, 4.1), (9.0, 4.2)] {
            samples.add(("latency", "a"), 64, a);
            samples.add(("latency", "b"), 64, b);
        }
        assert_eq!((samples.time("latency", "a", 64), samples.time("latency", "b", 64)), (2.1, 1.0));
        assert_eq!(samples.ratio("latency", ["a", "b"], 64), 2.1);
        assert!(samples.ratio("latency", ["a", "c"], 64).is_nan() && samples.time("bw", "a", 64).is_nan());
        assert_eq!(samples.sizes("latency").into_iter().collect::<Vec<_>>(), [64]);
        assert_eq!(samples.json()[0]["rows"][0]["rounds"], json!([2.0, 2.2, 2.1, 9.0]));
    }
}
