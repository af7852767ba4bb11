//! What the rounds gave: figures by setting, each with the state of the machine that it was taken in, medians and spread.

use serde_json::{Value, json};

use crate::peers::rows::LINE;

/// A line handed over takes longer than this, in microseconds, when the cores are far apart: between the two states seen.
const FAR_FROM: f64 = 0.1;
/// The line before and after a figure may differ by this factor within one state.
const STEADY: f64 = 1.6;
/// Most of a wrong line that a message shows, in characters.
const SHOWN: usize = 60;

/// The machine's state: how far apart the two cores are. Messages between nodes take so much longer that it does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Near,
    Far,
    Nodes,
}

impl State {
    /// All, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Near, Self::Far, Self::Nodes];

    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Near => "near",
            Self::Far => "far",
            Self::Nodes => "nodes",
        }
    }

    /// What tables and pages say.
    pub fn title(self) -> &'static str {
        match self {
            Self::Near => "cores near",
            Self::Far => "cores far",
            Self::Nodes => "two nodes, others by TCP",
        }
    }

    /// The state in which a line took this many microseconds.
    fn of(line: f64) -> Self {
        if line < FAR_FROM { Self::Near } else { Self::Far }
    }

    /// The state that held from one line to the next; none if it changed.
    fn between(before: f64, after: f64) -> Option<Self> {
        let steady = before.max(after) <= before.min(after) * STEADY;
        (steady && Self::of(before) == Self::of(after)).then(|| Self::of(before))
    }
}

/// A figure, and the state it was taken in; none if that changed meanwhile, so that it counts for nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub name: String,
    /// In the unit that ends the name.
    pub value: f64,
    pub state: Option<State>,
}

/// One run of the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// In the order they were taken.
    Done(Vec<Figure>),
    /// Why, in one line.
    Failed(String),
}

impl Run {
    /// Two runs, one after the other, as one, which has failed if either has.
    pub fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Done(mut figures), Self::Done(more)) => {
                figures.extend(more);
                Self::Done(figures)
            }
            (Self::Failed(why), _) | (_, Self::Failed(why)) => Self::Failed(why),
        }
    }

    /// The same with one more figure, which was taken after the others, in the state of the last of them.
    pub fn and_figure(self, name: &str, value: f64) -> Self {
        match self {
            Self::Done(mut figures) => {
                let state = figures.last().and_then(|figure| figure.state);
                figures.push(Figure { name: name.to_owned(), value, state });
                Self::Done(figures)
            }
            failed @ Self::Failed(_) => failed,
        }
    }

    /// Reads the program's output, lines `@name value`, among them the time of a line before and after each figure, unless the state is known. Whatever else begins
    /// with an at sign, and any of the names `wanted` that is missing, is a failure.
    pub fn of(text: &str, wanted: &[&str], state: Option<State>) -> Self {
        let mut taken: Vec<(String, f64)> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| line.starts_with('@')) {
            let Some(figure) = figure(line) else {
                let shown: String = line.chars().take(SHOWN).collect();
                return Self::Failed(format!("it printed {shown:?}, which is no figure"));
            };
            taken.push(figure);
        }
        if let Some(missing) = wanted.iter().find(|name| !taken.iter().any(|(its, _)| its == *name)) {
            return Self::Failed(format!("it ended well, but has not printed {missing}"));
        }
        if state.is_some() {
            let figures = taken.into_iter().map(|(name, value)| Figure { name, value, state });
            return Self::Done(figures.collect());
        }
        let lines: Vec<Option<f64>> =
            taken.iter().map(|(name, value)| (name == LINE).then_some(*value)).collect();
        let mut figures = Vec::new();
        for (at, (name, value)) in taken.into_iter().enumerate() {
            let before = lines[..=at].iter().rev().find_map(|line| *line);
            let after = lines[at..].iter().find_map(|line| *line);
            let (Some(before), Some(after)) = (before, after) else {
                return Self::Failed(format!("it has not measured a line before and after {name}"));
            };
            figures.push(Figure { name, value, state: State::between(before, after) });
        }
        Self::Done(figures)
    }
}

/// A line `@name value`; none unless the value is a positive number.
fn figure(line: &str) -> Option<(String, f64)> {
    let (name, value) = line.strip_prefix('@')?.split_once(' ')?;
    let value: f64 = value.trim().parse().ok()?;
    (value.is_finite() && value > 0.0).then(|| (name.to_owned(), value))
}

/// A median with its spread, in the figure's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    pub value: f64,
    pub least: f64,
    pub most: f64,
    /// The quartiles: the middle half of the runs lies between them. Unlike least and most they do not grow with what happens once.
    pub lower: f64,
    pub upper: f64,
    pub runs: usize,
}

impl Median {
    /// Of the values of all runs; none without any.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let [lower, upper] = [last / 4, last - last / 4].map(|place| values[place]);
        Some(Self {
            value: values[last / 2],
            least: values[0],
            most: values[last],
            lower,
            upper,
            runs: values.len(),
        })
    }

    /// Whether the middle halves of both's runs have a value in common: then the one cannot be said to differ from the other.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower <= other.upper && other.lower <= self.upper
    }
}

/// All runs of all settings.
#[derive(Clone, Debug)]
pub struct Samples {
    names: Vec<String>,
    runs: Vec<Vec<Run>>,
}

impl Samples {
    /// No runs of settings with these names, of which the first is Margay.
    pub fn new(names: Vec<String>) -> Self {
        let runs = vec![Vec::new(); names.len()];
        Self { names, runs }
    }

    /// Adds a run of the setting with a number.
    pub fn add(&mut self, setting: usize, run: Run) {
        self.runs[setting].push(run);
    }

    /// Names of the settings by number; the first is Margay.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The runs of the setting with a number, in their order.
    pub fn runs(&self, setting: usize) -> &[Run] {
        &self.runs[setting]
    }

    /// Settings with runs that failed: whose, why the first did, and how many.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.names.iter().zip(&self.runs).filter_map(|(name, runs)| {
            let mut reasons = runs.iter().filter_map(|run| match run {
                Run::Failed(why) => Some(why.as_str()),
                Run::Done(_) => None,
            });
            let first = reasons.next()?;
            Some((name.as_str(), first, 1 + reasons.count()))
        })
    }

    /// What the runs of a setting that ended well have printed.
    pub fn figures(&self, setting: usize) -> impl Iterator<Item = &Figure> {
        let done = self.runs[setting].iter().filter_map(|run| match run {
            Run::Done(figures) => Some(figures),
            Run::Failed(_) => None,
        });
        done.flatten()
    }

    /// A figure's median in a state; none if it was never taken in that state.
    pub fn median(&self, setting: usize, state: State, figure: &str) -> Option<Median> {
        let of_it = self.figures(setting).filter(|it| it.state == Some(state) && it.name == figure);
        Median::of(of_it.map(|it| it.value).collect())
    }

    /// Figures that were taken, and those of them that were dropped because the state changed under them; without the lines.
    pub fn taken_and_dropped(&self) -> (usize, usize) {
        let all =
            || (0..self.names.len()).flat_map(|setting| self.figures(setting)).filter(|it| it.name != LINE);
        (all().count(), all().filter(|it| it.state.is_none()).count())
    }

    /// Everything, run by run: `[{"name", "runs": [{"figures": [{"name", "value", "state"}]} or {"failed"}]}]`.
    pub fn json(&self) -> Value {
        let figure = |it: &Figure| json!({ "name": it.name, "value": it.value, "state": it.state.map_or("changed", State::name) });
        let run = |run: &Run| match run {
            Run::Done(figures) => json!({ "figures": figures.iter().map(figure).collect::<Vec<_>>() }),
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

    /// A run in which a figure is taken between two lines.
    fn run(before: f64, after: f64, value: f64) -> Run {
        Run::of(&format!("@line_us {before}\n@a {value}\nnoise\n@line_us {after}\n"), &["a"], None)
    }

    #[test]
    fn where_the_state_is_known_no_line_is_needed() {
        let Run::Done(figures) = Run::of("@a 1\n@b 2\n", &["a"], Some(State::Nodes)) else {
            panic!("it has failed");
        };
        assert!(figures.iter().all(|figure| figure.state == Some(State::Nodes)));
        assert_eq!(figures.len(), 2);
        assert!(matches!(Run::of("@b 2\n", &["a"], Some(State::Nodes)), Run::Failed(_)));
    }

    #[test]
    fn a_figure_under_which_the_state_changes_is_dropped() {
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
        assert_eq!(samples.taken_and_dropped(), (5, 1));
    }

    #[test]
    fn quartiles_leave_out_what_happens_once_and_middle_halves_that_touch_overlap() {
        let of = |values: &[f64]| Median::of(values.to_vec()).unwrap();
        let steady = of(&[5.0, 1.0, 3.0, 4.0, 2.0, 99.0, 3.5]);
        assert_eq!((steady.lower, steady.value, steady.upper, steady.most), (2.0, 3.5, 5.0, 99.0));
        let once = of(&[6.0]);
        assert_eq!((once.lower, once.upper), (6.0, 6.0));
        for (other, overlap) in [(&[5.0, 9.0, 9.0][..], true), (&[5.1, 9.0, 9.0], false), (&[1.9], false)] {
            assert_eq!(steady.overlaps(&of(other)), overlap, "{other:?}");
            assert_eq!(of(other).overlaps(&steady), overlap, "{other:?}");
        }
        assert_eq!(Median::of(Vec::new()), None);
    }

    #[test]
    fn a_change_costs_only_the_figure_it_happens_under() {
        let run = Run::of(
            "@line_us 0.02\n@a 1\n@line_us 0.02\n@b 2\n@line_us 0.2\n@a 3\n@line_us 0.19\n",
            &[],
            None,
        );
        let Run::Done(figures) = run else { panic!("{run:?}") };
        let states: Vec<_> = figures.iter().filter(|it| it.name != LINE).map(|it| it.state).collect();
        assert_eq!(states, [Some(State::Near), None, Some(State::Far)]);
    }

    #[test]
    fn output_without_its_figures_is_a_failure() {
        let failure = |text: &str| match Run::of(text, &["a"], None) {
            Run::Failed(why) => why,
            Run::Done(figures) => panic!("{text:?} passes: {figures:?}"),
        };
        assert!(failure("all is well\n").contains("has not printed a"));
        assert!(failure("@a 1\n").contains("a line before and after a"));
        assert!(failure("@line_us 1\n@a 1\n").contains("a line before and after a"));
        for wrong in ["@a", "@a x", "@a 0", "@a -1", "@a NaN", "@a inf", "@"] {
            let why = failure(&format!("@line_us 0.02\n{wrong}\n@line_us 0.02\n"));
            assert!(why.contains("which is no figure"), "{wrong}: {why}");
        }
    }

    #[test]
    fn a_setting_fails_once_however_many_runs_do() {
        let mut samples = Samples::new(vec!["x".into(), "y".into()]);
        for why in ["first", "second"] {
            samples.add(1, Run::Failed(why.into()));
        }
        assert_eq!(samples.failures().collect::<Vec<_>>(), [("y", "first", 2)]);
    }
}
