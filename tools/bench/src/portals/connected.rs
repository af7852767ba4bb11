//! Two nodes that work while others are connected and silent (O2G slides): the idle ones are made by the switch (`run --idle-peers`). The job has as many nodes
//! whatever their number, so all that differs is how many have been heard of. Numbers of peers take turns; figures are medians of the rounds.

use lwk::progress::Step;
use lwk::subcommand::Lwk;
use serde_json::{Value, json};

use super::{document, line, median, two_nodes};
use crate::cli::BenchPortalsOptions;
use crate::figure::Figure;
use crate::node::figures::Plot;

/// Rounds for each of those that are asked for: a run is short, and each differs from the next by more than peers should cost.
const ROUNDS: u32 = 3;
/// Round trips of each size.
const TRIPS: u32 = 2_000;
/// Largest message, in bytes.
const LARGEST: u64 = 8_192;
/// Most that many peers may cost or take away.
const MOST: f64 = 1.05;

/// What two nodes do with some number of peers, by sizes.
pub struct Row {
    bytes: Vec<u64>,
    put_mb_s: Vec<f64>,
    trip_ns: Vec<f64>,
}

/// A row for each number of peers, in their order.
///
/// # Errors
/// A run does not end well.
pub fn measure(lwk: &Lwk, options: &BenchPortalsOptions, peers: &[u16]) -> Result<Vec<Row>, String> {
    let _step = Step::begin("measuring with up to 1,000 connected peers", options.place.verbose);
    let (rounds, trips) = if options.place.quick { (1, 10) } else { (ROUNDS * options.rounds, TRIPS) };
    let mut runs: Vec<Vec<Value>> = vec![Vec::new(); peers.len()];
    for _ in 0..rounds {
        for (runs, peers) in runs.iter_mut().zip(peers) {
            let mut words = two_nodes(options);
            words.extend(["--oversubscribe".into(), "--idle-peers".into(), (peers - 1).to_string()]);
            let arguments =
                ["--json".into(), "--peers".into(), peers.to_string(), "--rounds".into(), trips.to_string()];
            let sizes = ["--max-size".into(), LARGEST.to_string()];
            let arguments: Vec<String> = arguments.into_iter().chain(sizes).collect();
            runs.push(document(lwk, options, &words, &arguments)?);
        }
    }
    Ok(runs.iter().map(|runs| row(runs)).collect())
}

fn row(runs: &[Value]) -> Row {
    let rows = runs.first().and_then(|run| run["bandwidth"].as_array()).cloned().unwrap_or_default();
    let bytes: Vec<u64> = rows.iter().filter_map(|row| row["bytes"].as_u64()).collect();
    let of = |column: &'static str| {
        let value = |bytes: &u64| median(runs, |run| super::at(&run["bandwidth"], *bytes, column));
        bytes.iter().map(value).collect()
    };
    Row { put_mb_s: of("put_mb_s"), trip_ns: of("latency_ns"), bytes }
}

/// The largest number of peers beside the smallest: the worst size of each kind.
pub fn figures(peers: &[u16], rows: &[Row]) -> Vec<Figure> {
    let (Some(few), Some(many), Some(most)) = (rows.first(), rows.last(), peers.last()) else {
        return Vec::new();
    };
    // Not a number, and no target met, where nothing was measured.
    let worst = |few: &[f64], many: &[f64]| {
        let ratios = few.iter().zip(many).map(|(few, many)| many / few);
        ratios.reduce(|one, other| if one >= other || one.is_nan() { one } else { other }).unwrap_or(f64::NAN)
    };
    let what = |kind: &str| format!("{kind}, {most} peers, of that with {}, worst size", peers[0]);
    vec![
        // Time of a message: the inverse.
        Figure::at_most(&what("time of a put at full rate"), worst(&many.put_mb_s, &few.put_mb_s), MOST)
            .of_time(),
        Figure::at_most(&what("half a round trip of a put"), worst(&few.trip_ns, &many.trip_ns), MOST)
            .of_time(),
    ]
}

pub fn json(peers: &[u16], rows: &[Row]) -> Value {
    let of = |(peers, row): (&u16, &Row)| json!({ "peers": peers, "bytes": row.bytes, "put_mb_s": row.put_mb_s, "half_round_trip_ns": row.trip_ns });
    peers.iter().zip(rows).map(of).collect()
}

/// Bandwidth and half round trips by sizes, a line for each number of peers.
pub fn plots(peers: &[u16], rows: &[Row]) -> [Plot; 2] {
    let plot = |title: &str, y: &str, of: fn(&Row) -> &Vec<f64>| {
        let lines = peers.iter().zip(rows).map(|(peers, row)| {
            let points =
                row.bytes.iter().zip(of(row)).map(|(bytes, value)| (*bytes as f64, *value)).collect();
            line(&format!("{peers} peers"), points)
        });
        Plot {
            title: title.into(),
            x: String::new(),
            y: y.into(),
            lines: lines.collect(),
            floor: None,
            in_bytes: true,
            groups: None,
        }
    };
    [
        plot("Bandwidth of puts with connected peers", "Million bytes a second", |row| &row.put_mb_s),
        plot("Half a round trip of a put with connected peers", "Nanoseconds", |row| &row.trip_ns),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;

    fn run_of(rate: f64, trip: f64) -> Value {
        json!({ "bandwidth": [{ "bytes": 64, "put_mb_s": rate, "latency_ns": trip }, { "bytes": 128, "put_mb_s": rate, "latency_ns": trip }] })
    }

    #[test]
    fn many_peers_are_compared_with_few() {
        let few = row(&[run_of(100.0, 50.0), run_of(90.0, 60.0), run_of(500.0, 1.0)]);
        assert_eq!((few.put_mb_s[1], few.trip_ns[1]), (100.0, 50.0));
        let same = figures(&[2, 1_000], &[row(&[run_of(100.0, 50.0)]), row(&[run_of(97.0, 52.0)])]);
        assert!(same.len() == 2 && same.iter().all(Figure::is_met));
        let slower = figures(&[2, 1_000], &[few, row(&[run_of(90.0, 60.0)])]);
        assert!(slower.iter().all(|figure| !figure.is_met()));
        assert_eq!(number(&json(&[2], &[row(&[run_of(1.0, 2.0)])])[0]["half_round_trip_ns"][0]), 2.0);
    }
}
