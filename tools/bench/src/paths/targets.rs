//! What paths should cost, and whether they do: ratios of one run, each beside its target.

use lwk_abi::runtime::{DISTANCES, TRANSPORTS};

use super::rounds::{HYBRID, KERNEL, LATENCY, LIMIC2, PARTS, TWICE, WINDOW};
use super::samples::Samples;
use crate::figure::Figure;
use crate::node::plot;
use crate::skew;

/// The most that each may take of what it is compared with.
pub const OF_PARTS: f64 = 1.15;
pub const OF_OTHERS: f64 = 1.0;
pub const OF_BETTER: f64 = 1.05;
pub const OF_COPYING: f64 = 1.2;
/// Microseconds that the consumer computes where the producer's time is compared.
pub const LATE: u64 = 50;
/// The path that is to be first.
pub const FIRST: &str = TRANSPORTS[0];

/// A target, and the figures that it is about.
pub struct Target {
    pub title: &'static str,
    pub figures: Vec<Figure>,
}

impl Target {
    /// How many of its figures meet it.
    pub fn summary(&self) -> String {
        let met = self.figures.iter().filter(|figure| figure.is_met()).count();
        format!("{}: met by {met} of {}", self.title, self.figures.len())
    }
}

/// All targets.
pub fn all(samples: &Samples) -> Vec<Target> {
    let mut targets = vec![
        Target {
            title: "limic2 takes at most 1.15 times a trap, matching and one copy, measured apart",
            figures: of_parts(samples),
        },
        Target {
            title: "from 64 KiB smartmap is never slower than another path",
            figures: of_first(samples),
        },
        Target {
            title: "hybrid is never slower than the better of its parts by more than 5 %",
            figures: of_hybrid(samples),
        },
        Target {
            title: "by skew a producer waits at most 1.2 times as long as by copying",
            figures: vec![Figure::at_most(
                &format!("{}, consumer computes {LATE} us, of {}", skew::BY_SKEW, skew::TWICE),
                samples.ratio(skew::TEST, [skew::BY_SKEW, skew::TWICE], LATE),
                OF_COPYING,
            )],
        },
    ];
    for target in targets.iter_mut().filter(|target| target.figures.is_empty()) {
        // Nothing measured is nothing met.
        target.figures.push(Figure::at_most("nothing was measured", f64::NAN, 1.0));
    }
    targets
}

fn of_parts(samples: &Samples) -> Vec<Figure> {
    let one = |bytes| {
        let what = format!("{LIMIC2}, {}, of its parts", named(bytes));
        Figure::at_most(&what, samples.time(PARTS, LIMIC2, bytes), OF_PARTS)
    };
    samples.sizes(PARTS).into_iter().map(one).collect()
}

fn of_first(samples: &Samples) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (test, name) in [(LATENCY, "half a round trip"), (WINDOW, "a window")] {
        for bytes in samples.sizes(test) {
            let others = TRANSPORTS.into_iter().skip(1);
            let ratios = others.map(|other| (samples.ratio(test, [FIRST, other], bytes), other));
            let nearest = ratios.filter(|(ratio, _)| !ratio.is_nan()).max_by(|a, b| a.0.total_cmp(&b.0));
            let (ratio, other) = nearest.unwrap_or((f64::NAN, "another path"));
            let what = format!("{FIRST}, {name} of {}, of {other}", named(bytes));
            figures.push(Figure::at_most(&what, ratio, OF_OTHERS));
        }
    }
    figures
}

fn of_hybrid(samples: &Samples) -> Vec<Figure> {
    let sizes = DISTANCES
        .iter()
        .flat_map(|distance| samples.sizes(distance).into_iter().map(|bytes| (*distance, bytes)));
    let one = |(distance, bytes)| {
        let part = better(samples, distance, bytes);
        let what = format!("{HYBRID}, {}, {distance}, of {part}", named(bytes));
        Figure::at_most(&what, samples.ratio(distance, [HYBRID, part], bytes), OF_BETTER)
    };
    sizes.map(one).collect()
}

/// The part of the hybrid that takes less time.
pub fn better(samples: &Samples, distance: &'static str, bytes: u64) -> &'static str {
    let [twice, kernel] = [TWICE, KERNEL].map(|part| samples.time(distance, part, bytes));
    if twice <= kernel { TWICE } else { KERNEL }
}

fn named(bytes: u64) -> String {
    let text = plot::bytes(bytes as f64);
    if bytes < 1 << 10 { format!("{text} B") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in which everything is as it should be.
    fn good() -> Samples {
        let mut samples = Samples::default();
        for _ in 0..3 {
            for (at, ratio) in [(8192, 1.1), (1 << 20, 1.05)] {
                samples.add((PARTS, LIMIC2), at, ratio);
            }
            for (test, transport) in
                [LATENCY, WINDOW].into_iter().flat_map(|test| TRANSPORTS.map(|it| (test, it)))
            {
                let time = if transport == FIRST { 1.0 } else { 2.0 };
                samples.add((test, transport), 65_536, time);
            }
            for (way, short, long) in [(TWICE, 1.0, 9.0), (KERNEL, 2.0, 5.0), (HYBRID, 1.04, 5.1)] {
                samples.add(("package", way), 64, short);
                samples.add(("package", way), 65_536, long);
            }
            samples.add((skew::TEST, skew::TWICE), LATE, 2.0);
            samples.add((skew::TEST, skew::BY_SKEW), LATE, 2.3);
        }
        samples
    }

    fn missed(samples: &Samples) -> Vec<String> {
        let figures = all(samples).into_iter().flat_map(|target| target.figures);
        figures.filter(|figure| !figure.is_met()).map(|figure| figure.what).collect()
    }

    #[test]
    fn every_target_is_met_by_a_good_run_and_missed_by_none() {
        assert!(missed(&good()).is_empty());
        assert_eq!(missed(&Samples::default()).len(), 4);
        let hybrid = &all(&good())[2];
        assert_eq!(hybrid.figures[1].what, "hybrid, 64 KiB, package, of by the kernel");
        assert!(hybrid.summary().ends_with("met by 2 of 2"));
    }

    #[test]
    fn a_figure_that_misses_is_named() {
        let spoil = |line: (&'static str, &'static str), at, value| {
            let mut samples = good();
            (0..9).for_each(|_| samples.add(line, at, value));
            missed(&samples)
        };
        assert_eq!(spoil((PARTS, LIMIC2), 8192, 1.16), ["limic2, 8 KiB, of its parts"]);
        assert_eq!(spoil((WINDOW, "mcni"), 65_536, 0.99), ["smartmap, a window of 64 KiB, of mcni"]);
        assert_eq!(spoil(("package", HYBRID), 64, 1.06), ["hybrid, 64 B, package, of copied twice"]);
        // The other part has become the better one.
        assert_eq!(spoil(("package", TWICE), 65_536, 4.0), ["hybrid, 64 KiB, package, of copied twice"]);
        assert_eq!(
            spoil((skew::TEST, skew::BY_SKEW), LATE, 2.5),
            ["hybrid, by skew, consumer computes 50 us, of shm-basic"]
        );
    }
}
