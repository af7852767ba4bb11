//! The figures of the SMARTMAP paper (Brightwell, Pedretti, Hudson: "SMARTMAP: Operating system support for efficient data
//! sharing among processes on a multi-core processor", SC 2008, section V) and the tests that correspond to their panels.

use super::bars::{self, Groups};
use super::results::{BYTES, Measurement};
use super::table::family;

/// A figure of the paper.
#[derive(Debug)]
pub struct Figure {
    pub number: u32,
    /// Where it is from.
    pub source: &'static str,
    pub title: &'static str,
    pub panels: &'static [Panel],
}

/// One of its plots: which test of which program it shows.
#[derive(Debug)]
pub struct Panel {
    pub letter: char,
    pub title: &'static str,
    pub program: &'static str,
    /// Tests that measure it, the nearest to the paper's first; the first that the program has is taken.
    pub tests: &'static [&'static str],
    pub ranks: Ranks,
    /// What the value axis shows; the unit is the benchmark's.
    pub quantity: &'static str,
    /// The unit, for tests that report several; empty: any.
    pub unit: &'static str,
    pub form: Form,
}

/// How a panel shows its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line for each transport, by size or ranks; both axes are logarithmic.
    Lines,
    /// The same, as multiples of this transport's line.
    LinesOver(&'static str),
    /// A bar for each transport, beside each other for each thing that was measured, as multiples of this transport's bar.
    BarsOver(&'static str),
    /// Bars, one on the other: the transports are parts of a whole.
    Stacked,
}

impl Form {
    /// The height of a measurement's point; none if what it is a multiple of has not been measured.
    pub fn height(self, own: &[&Measurement], one: &Measurement) -> Option<f64> {
        let (Form::LinesOver(base) | Form::BarsOver(base)) = self else { return Some(one.value) };
        let is_base = |it: &&&Measurement| it.of == one.of && it.ranks == one.ranks && it.transport == base;
        own.iter().find(is_base).map(|base| one.value / base.value).filter(|ratio| ratio.is_finite())
    }

    /// What the value axis says.
    pub fn axis(self, quantity: &str, unit: &str) -> String {
        match self {
            Form::LinesOver(base) | Form::BarsOver(base) => format!("{quantity} (of {base}'s)"),
            Form::Lines | Form::Stacked => format!("{quantity} ({unit})"),
        }
    }
}

/// Ranks that a test is run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// Two.
    Pair,
    /// All that the user allows.
    All,
    /// 2, 3, … up to all; the ranks are the plot's horizontal axis.
    Each,
}

pub const MPI: &str = "mpi-bench";
pub const SHMEM: &str = "shmem-bench";

/// A panel of `mpi-bench` on two ranks.
pub const fn panel(
    letter: char,
    title: &'static str,
    tests: &'static [&'static str],
    quantity: &'static str,
) -> Panel {
    Panel { letter, title, program: MPI, tests, ranks: Ranks::Pair, quantity, unit: "", form: Form::Lines }
}

/// The figures that the bundled benchmarks can show.
pub static FIGURES: [Figure; 7] = [
    Figure {
        number: 4,
        source: "SMARTMAP paper: figure 4",
        title: "SHMEM put",
        panels: &[
            Panel {
                program: SHMEM,
                unit: "us",
                ..panel('a', "SHMEM put, one way", &["netpipe", "put_flag", "put_latency"], "Latency")
            },
            Panel {
                program: SHMEM,
                unit: "MB/s",
                ..panel('b', "SHMEM put", &["netpipe", "put_bw"], "Bandwidth")
            },
        ],
    },
    Figure {
        number: 5,
        source: "SMARTMAP paper: figure 5",
        title: "MPI point to point",
        panels: &[
            panel('a', "MPI ping-pong, half round trip", &["pingpong", "latency"], "Latency"),
            panel('b', "MPI bandwidth, window of messages", &["bw"], "Bandwidth"),
            panel('c', "MPI exchange", &["exchange"], "Bandwidth"),
            panel('d', "MPI sendrecv", &["sendrecv"], "Bandwidth"),
        ],
    },
    Figure {
        number: 6,
        source: "SMARTMAP paper: figure 6",
        title: "MPI message rate",
        panels: &[Panel {
            ranks: Ranks::All,
            ..panel('a', "MPI message rate, all pairs", &["mbw_mr"], "Rate")
        }],
    },
    Figure {
        number: 8,
        source: "SMARTMAP paper: figure 8",
        title: "MPI collectives",
        panels: &[
            Panel { ranks: Ranks::All, ..panel('a', "MPI broadcast", &["bcast"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('b', "MPI reduce", &["reduce"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('c', "MPI allreduce", &["allreduce"], "Latency") },
            Panel { ranks: Ranks::All, ..panel('d', "MPI alltoall", &["alltoall"], "Latency") },
            Panel { ranks: Ranks::Each, ..panel('e', "MPI barrier", &["barrier"], "Latency") },
        ],
    },
    // Of the dissertation (L. Chai), not of the paper: its figure 3.5.
    Figure {
        number: 35,
        source: "dissertation: figure 3.5",
        title: "Memory of the transports",
        panels: &[Panel { ranks: Ranks::Each, ..panel('a', "Memory of all ranks", &["memory"], "Memory") }],
    },
    // Its figures 6.6 and 6.8.
    Figure {
        number: 66,
        source: "dissertation: figures 6.6 and 6.8",
        title: "A producer and a consumer that is late",
        panels: &[panel('a', "Producer, by what the consumer computes", &["skew_by_computing"], "Latency")],
    },
    // Its figure 7.5, for the question whether a choice pays where a peer's memory is at hand: below 1 it would.
    Figure {
        number: 75,
        source: "dissertation: figure 7.5",
        title: "What another path than smartmap would take",
        panels: &[Panel {
            form: Form::LinesOver("smartmap"),
            ..panel('a', "MPI ping-pong, half round trip", &["latency"], "Latency")
        }],
    },
];

/// The panels of all figures, in their order.
pub fn panels() -> impl Iterator<Item = &'static Panel> {
    FIGURES.iter().flat_map(|figure| figure.panels)
}

impl Panel {
    /// The test that measures it, among those that its program has.
    pub fn test<'t>(&self, offered: &'t [String]) -> Option<&'t str> {
        self.tests.iter().find_map(|test| offered.iter().find(|offered| offered == test)).map(String::as_str)
    }

    /// Its lines: one for each transport, in the order of measurement, and the floor of the first.
    pub fn plot(&self, measurements: &[Measurement]) -> Option<Plot> {
        let is_own = |one: &&Measurement| {
            one.program == self.program
                && self.tests.contains(&one.test.as_str())
                && (self.unit.is_empty() || one.unit == self.unit)
        };
        let first = measurements.iter().find(is_own)?;
        let own: Vec<&Measurement> = measurements
            .iter()
            .filter(is_own)
            .filter(|one| one.test == first.test && one.unit == first.unit)
            .collect();
        if matches!(self.form, Form::BarsOver(_) | Form::Stacked) {
            return bars::plot(self, &own);
        }
        let mut lines: Vec<Line> = Vec::new();
        let mut floor = Line::named("floor (no library)");
        for one in &own {
            let x = if self.ranks == Ranks::Each { Some(one.ranks as f64) } else { one.of.parse().ok() };
            let (Some(x), Some(y)) = (x, self.form.height(&own, one)) else { continue };
            if one.transport == first.transport
                && self.form == Form::Lines
                && let Some(y) = one.floor
            {
                floor.add(x, y);
            }
            let at = lines.iter().position(|line| line.name == one.transport).unwrap_or_else(|| {
                lines.push(Line::named(&one.transport));
                lines.len() - 1
            });
            lines[at].add(x, y);
        }
        lines.iter_mut().chain([&mut floor]).for_each(Line::sort);
        lines.retain(|line| !line.points.is_empty());
        let x = if self.ranks == Ranks::Each { "ranks" } else { first.key.as_str() };
        (!lines.is_empty()).then(|| Plot {
            title: match self.ranks {
                Ranks::Each => format!("({}) {}", self.letter, self.title),
                _ => format!("({}) {}, {} ranks", self.letter, self.title, first.ranks),
            },
            x: x.into(),
            y: self.form.axis(self.quantity, &first.unit),
            lines,
            floor: Some(floor).filter(|floor| !floor.points.is_empty()),
            in_bytes: x == BYTES,
            groups: None,
        })
    }

    /// Its name in messages: `figure 5(c) MPI exchange (mpi exchange)`.
    pub fn name(&self) -> String {
        let number =
            FIGURES.iter().find(|figure| figure.panels.iter().any(|panel| std::ptr::eq(panel, self)));
        let number = number.map_or(0, |figure| figure.number);
        format!(
            "figure {number}({}) {} ({} {})",
            self.letter,
            self.title,
            family(self.program),
            self.tests.join(" or ")
        )
    }
}

/// A panel with its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub title: String,
    /// What the horizontal axis counts.
    pub x: String,
    /// Quantity and unit.
    pub y: String,
    pub lines: Vec<Line>,
    pub floor: Option<Line>,
    /// Whether the horizontal axis counts bytes.
    pub in_bytes: bool,
    /// Of bars: what is at 1, 2, … of the horizontal axis.
    pub groups: Option<Groups>,
}

/// A line of a plot, by growing x.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub name: String,
    /// Only what a logarithmic axis can show: both above 0.
    pub points: Vec<(f64, f64)>,
    /// The value at size 0, which a logarithmic axis cannot show.
    pub at_zero: Option<f64>,
}

impl Line {
    pub fn named(name: &str) -> Self {
        Self { name: name.into(), points: Vec::new(), at_zero: None }
    }

    fn add(&mut self, x: f64, y: f64) {
        if x == 0.0 {
            self.at_zero = Some(y);
        } else if x > 0.0 && y > 0.0 && x.is_finite() && y.is_finite() {
            self.points.push((x, y));
        }
    }

    fn sort(&mut self) {
        self.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(test: &str, transport: &str, ranks: u64, of: &str, value: f64) -> Measurement {
        Measurement {
            program: MPI.into(),
            test: test.into(),
            transport: transport.into(),
            ranks,
            key: BYTES.into(),
            of: of.into(),
            value,
            unit: "us".into(),
            floor: Some(value / 2.0),
            ratio: Some(2.0),
        }
    }

    fn panel_of(test: &str) -> &'static Panel {
        panels().find(|panel| panel.program == MPI && panel.tests.contains(&test)).unwrap()
    }

    #[test]
    fn each_transport_is_a_line_and_size_zero_is_told_apart() {
        let measured = [
            one("latency", "smartmap", 2, "8", 2.0),
            one("latency", "smartmap", 2, "0", 1.0),
            one("latency", "smartmap", 2, "1", 1.5),
            one("latency", "shm-basic", 2, "8", 4.0),
            one("bw", "smartmap", 2, "8", 9.0),
        ];
        let plot = panel_of("latency").plot(&measured).unwrap();
        assert_eq!(plot.lines.len(), 2);
        assert_eq!(plot.lines[0].points, [(1.0, 1.5), (8.0, 2.0)]);
        assert_eq!(plot.lines[0].at_zero, Some(1.0));
        assert_eq!(plot.lines[1].points, [(8.0, 4.0)]);
        assert_eq!(plot.floor.unwrap().points, [(1.0, 0.75), (8.0, 1.0)]);
        assert_eq!((plot.x.as_str(), plot.y.as_str(), plot.in_bytes), (BYTES, "Latency (us)", true));
    }

    #[test]
    fn lines_are_multiples_of_one() {
        let measured = [
            one("latency", "smartmap", 2, "0", 1.0),
            one("latency", "smartmap", 2, "8", 2.0),
            one("latency", "shm-basic", 2, "8", 5.0),
            one("latency", "shm-basic", 2, "64", 5.0),
        ];
        let panel = panels().find(|panel| panel.form == Form::LinesOver("smartmap")).unwrap();
        let plot = panel.plot(&measured).unwrap();
        assert_eq!(
            (&plot.lines[0].points[..], &plot.lines[1].points[..]),
            (&[(8.0, 1.0)][..], &[(8.0, 2.5)][..])
        );
        assert_eq!((plot.y.as_str(), plot.floor), ("Latency (of smartmap's)", None));
    }

    #[test]
    fn barriers_are_drawn_against_ranks() {
        let measured = [one("barrier", "smartmap", 3, "0", 2.0), one("barrier", "smartmap", 2, "0", 1.0)];
        let plot = panel_of("barrier").plot(&measured).unwrap();
        assert_eq!(
            (plot.lines[0].points.as_slice(), plot.x.as_str()),
            (&[(2.0, 1.0), (3.0, 2.0)][..], "ranks")
        );
    }

    #[test]
    fn nothing_measured_is_nothing_drawn() {
        assert_eq!(panel_of("latency").plot(&[one("bw", "smartmap", 2, "8", 1.0)]), None);
        // What a logarithmic axis cannot show leaves no line.
        assert_eq!(panel_of("latency").plot(&[one("latency", "smartmap", 2, "0", 1.0)]), None);
    }

    #[test]
    fn the_nearest_test_that_the_program_has_is_taken() {
        let offered = ["put_latency", "put_flag"].map(String::from);
        let put = panels().next().unwrap();
        assert_eq!(put.test(&offered), Some("put_flag"));
        assert_eq!(put.test(&[]), None);
        assert!(put.name().starts_with("figure 4(a)"), "{}", put.name());
    }
}
