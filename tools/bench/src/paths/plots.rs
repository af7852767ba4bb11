//! The pictures: each target as a grey line beside what was measured.

use lwk_abi::runtime::{DISTANCES, TRANSPORTS};

use super::rounds::{HYBRID, KERNEL, LATENCY, LIMIC2, PARTS, TWICE, WINDOW};
use super::samples::Samples;
use super::targets::{FIRST, OF_BETTER, OF_COPYING, OF_OTHERS, OF_PARTS, better};
use crate::node::figures::{Line, Plot};
use crate::skew;

/// All that something was measured for.
pub fn all(samples: &Samples) -> Vec<Plot> {
    let mut plots = vec![plot(
        "limic2 beside its parts",
        "Time (of trap, matching and one copy)",
        vec![line(LIMIC2, samples, PARTS, |bytes| samples.time(PARTS, LIMIC2, bytes))],
        ("target: at most", OF_PARTS),
    )];
    for (test, title) in [(LATENCY, "Half a round trip by other paths"), (WINDOW, "A window by other paths")]
    {
        let others = TRANSPORTS.into_iter().skip(1);
        let lines =
            others.map(|way| line(way, samples, test, |bytes| samples.ratio(test, [way, FIRST], bytes)));
        plots.push(plot(title, "Time (of smartmap's)", lines.collect(), ("target: at least", OF_OTHERS)));
    }
    for distance in DISTANCES {
        let lines = [TWICE, KERNEL, HYBRID].map(|way| {
            let of_better = |bytes| samples.ratio(distance, [way, better(samples, distance, bytes)], bytes);
            line(way, samples, distance, of_better)
        });
        let title = format!("hybrid and its parts, {distance}");
        plots.push(plot(&title, "Time (of the better part's)", lines.into(), ("target: at most", OF_BETTER)));
    }
    plots.retain(|plot| plot.lines.iter().any(|line| !line.points.is_empty()));
    let waits = skew::WAYS.map(|way| line(way, samples, skew::TEST, |at| samples.time(skew::TEST, way, at)));
    if waits.iter().any(|line| !line.points.is_empty()) {
        let most = |at| OF_COPYING * samples.time(skew::TEST, skew::TWICE, at);
        plots.push(Plot {
            title: "A producer whose consumer computes".into(),
            x: "microseconds that the consumer computes".into(),
            y: "Producer's time for a message (us)".into(),
            lines: waits.into(),
            floor: Some(line("target by skew: at most", samples, skew::TEST, most)),
            in_bytes: false,
            groups: None,
        });
    }
    plots
}

fn line(name: &str, samples: &Samples, test: &str, value: impl Fn(u64) -> f64) -> Line {
    let points = samples.sizes(test).into_iter().map(|at| (at as f64, value(at)));
    let points = points.filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite()).collect();
    Line { name: name.into(), points, at_zero: None }
}

fn plot(title: &str, y: &str, lines: Vec<Line>, (name, target): (&str, f64)) -> Plot {
    let longest = lines.iter().max_by_key(|line| line.points.len());
    let points = longest.map_or(Vec::new(), |line| line.points.iter().map(|(x, _)| (*x, target)).collect());
    let floor = Line { name: format!("{name} {target}"), points, at_zero: None };
    Plot {
        title: title.into(),
        x: String::new(),
        y: y.into(),
        lines,
        floor: Some(floor),
        in_bytes: true,
        groups: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_drawn_with_its_target() {
        assert!(all(&Samples::default()).is_empty());
        let mut samples = Samples::default();
        samples.add((PARTS, LIMIC2), 8192, 1.5);
        samples.add((skew::TEST, skew::TWICE), 50, 2.0);
        let plots = all(&samples);
        assert_eq!(plots.len(), 2);
        let target = plots[0].floor.as_ref().unwrap();
        assert_eq!(
            (target.name.as_str(), &target.points[..]),
            ("target: at most 1.15", &[(8192.0, 1.15)][..])
        );
        assert_eq!(plots[1].floor.as_ref().unwrap().points, [(50.0, 2.4)]);
    }
}
