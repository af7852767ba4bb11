//! `cargo lwk bench portals`: messages between two nodes, beside raw frames of the same driver in the same run, as a table with targets, a JSON file and
//! plots; and what few and many connected peers cost, over a wire ([`connected`]) and without one ([`peers`]).
//!
//! Only ratios of one run are compared. A run that fails is named, and the status is 1.

mod connected;
mod peers;

use lwk::build;
use lwk::failure::{Failure, Outcome};
use lwk::progress::Step;
use lwk::subcommand::{Lwk, Program};
use lwk::tree::Tree;
use serde_json::{Value, json};

use crate::cli::BenchPortalsOptions;
use crate::figure::Figure;
use crate::node::figures::{Line, Plot};
use crate::node::plot;
use crate::out;

const PROGRAM: &str = "portals-bench";
/// Status if a run failed.
const FAILED: i32 = 1;
/// Frames lost in the run that is compared with one over the same switch without.
const LOSS: &str = "loss=0.01,seed=7";
const NO_LOSS: &str = "loss=0,seed=7";
/// A wire that is slower than two nodes that share cores: what is left of a receive then is what a card leaves.
const SLOW: &str = "bandwidth=1000";
/// O2G's figures: connected peers, and bytes of a message.
const PEERS: [u16; 4] = [2, 10, 100, 1_000];
const PEER_SIZES: [u64; 8] = [64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192];
const OVERLAP: &str = "receive of 1 MiB: time left for computation";
const MIB: u64 = 1 << 20;
/// Threads that work at once: a rank of each of two nodes, and the core that takes each node's interrupts.
const THREADS: usize = 4;

/// Measures, prints and draws. Status 0 if every run ended well, whatever the figures, else 1.
pub fn run(tree: &Tree, options: &BenchPortalsOptions) -> Outcome<i32> {
    let out = out::folder(tree, options.out.as_ref(), "target/lwk/bench/portals")?;
    options.place.prepare(tree, &[build::APPS])?;
    let lwk = Lwk::new(tree)?;
    let place = options.place.whereabouts("nodes");
    let (mut runs, mut failed) = (Vec::new(), Vec::new());
    for number in 1..=options.rounds {
        let _step =
            Step::begin(format!("measuring, run {number} of {}", options.rounds), options.place.verbose);
        match once(&lwk, options, None) {
            Ok(document) => runs.push(document),
            Err(why) => failed.push(format!("run {number}: {why}")),
        }
    }
    let mut figures = compared(&runs);
    match goodput(&lwk, options) {
        Ok(figure) => figures.push(figure),
        Err(why) => failed.push(format!("with {LOSS}: {why}")),
    }
    match overlap(&lwk, options) {
        Ok(figure) => figures.push(figure),
        Err(why) => failed.push(format!("with {SLOW}: {why}")),
    }
    let over_wire = match connected::measure(&lwk, options, &PEERS) {
        Ok(rows) => rows,
        Err(why) => {
            failed.push(format!("with idle peers: {why}"));
            Vec::new()
        }
    };
    figures.extend(connected::figures(&PEERS, &over_wire));
    let step = Step::begin("measuring receives with up to 1,000 peers", options.place.verbose);
    let costs = peers::measure(&PEERS, &PEER_SIZES).map_err(Failure::host)?;
    drop(step);
    figures.extend(peers::figures(&costs));

    show!("# {place}, medians of {} runs", runs.len());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let short = cores < THREADS;
    if short {
        show!(
            "# {cores} cores for {THREADS} threads: two ranks, and the interrupts of two nodes. What is a matter of time cannot be seen here"
        );
    }
    show!("# {:<60}{:>10}  target", "what", "ratio");
    figures.iter().for_each(|figure| show!("{}", figure.line(short)));
    failed.iter().for_each(|why| tell!("lwk: {why}"));
    let document = json!({
        "place": place, "short_of_cores": short, "runs": runs, "figures": figures.iter().map(Figure::json).collect::<Vec<_>>(),
        "receive_ns": { "peers": PEERS, "bytes": PEER_SIZES, "ns": costs },
        "connected": connected::json(&PEERS, &over_wire), "failed": failed,
    });
    out::write(&out.join("portals.json"), &format!("{document:#}\n"))?;
    let [puts, trips] = connected::plots(&PEERS, &over_wire);
    let plots = [bandwidth(&runs), puts, trips, receives(&costs)];
    let svg = plot::figure("Portals between nodes", &place, &plots)
        .map_err(|error| Failure::host(format!("cannot draw: {error}")))?;
    out::write(&out.join("portals.svg"), &svg)?;
    show!("# portals.json and portals.svg are in {}", out.display());
    Ok(if failed.is_empty() { 0 } else { FAILED })
}

/// Options of a run on two nodes.
fn two_nodes(options: &BenchPortalsOptions) -> Vec<String> {
    let limit = options.place.timeout.to_string();
    let mut words: Vec<String> =
        ["--nodes", "2", "-n", "2", "--mem", "64", "--timeout", &limit].map(String::from).into();
    if options.place.host {
        words.push("--host".into());
    } else {
        // A core for the rank, and one for the card.
        words.extend(["--cores", "2"].map(String::from));
    }
    words
}

/// Runs the program; its JSON.
fn document(
    lwk: &Lwk,
    options: &BenchPortalsOptions,
    words: &[String],
    arguments: &[String],
) -> Result<Value, String> {
    let words = lwk.run_words(&Program::named(PROGRAM), words, arguments);
    let ended = lwk.command(&words, options.place.timeout)?;
    if ended.status != Some(0) {
        return Err(format!("{PROGRAM} ends with {:?}: {}", ended.status, ended.stderr.trim()));
    }
    serde_json::from_str(&ended.stdout).map_err(|error| error.to_string())
}

/// One run of the program on two nodes: its JSON.
fn once(lwk: &Lwk, options: &BenchPortalsOptions, wire: Option<&str>) -> Result<Value, String> {
    let mut words = two_nodes(options);
    words.extend(wire.into_iter().flat_map(|wire| ["--wire".to_owned(), wire.to_owned()]));
    let mut arguments: Vec<String> = ["--json", "--floors"].map(String::from).into();
    if options.place.quick {
        arguments.extend(["--rounds", "10", "--max-size", "65536"].map(String::from));
    }
    let document = document(lwk, options, &words, &arguments)?;
    if document["floors"].is_null() { Err("the ranks are on one node".into()) } else { Ok(document) }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// The median of a figure of all runs; not a number if none has it.
fn median(runs: &[Value], of: impl Fn(&Value) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A column of the row of a size.
fn at(rows: &Value, bytes: u64, column: &str) -> f64 {
    let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().find(|row| row["bytes"] == bytes).map_or(f64::NAN, |row| number(&row[column]))
}

/// The largest size that was measured, up to 1 MiB.
fn largest(runs: &[Value]) -> u64 {
    let rows = runs.first().and_then(|run| run["bandwidth"].as_array());
    rows.and_then(|rows| rows.iter().filter_map(|row| row["bytes"].as_u64()).max()).unwrap_or(MIB)
}

/// Figures of runs without loss.
fn compared(runs: &[Value]) -> Vec<Figure> {
    let floors = |run: &Value, name: &str| number(&run["floors"][name]);
    let bytes = largest(runs);
    let share = |run: &Value, floor: &str| {
        at(&run["bandwidth"], bytes, "put_mb_s") / at(&run["floors"]["bandwidth"], bytes, floor)
    };
    vec![
        Figure::at_most(
            "8-byte put, half round trip, of a raw frame's",
            median(runs, |run| number(&run["latency_ns"]) / floors(run, "raw_latency_ns")),
            1.4,
        )
        .of_time(),
        Figure::at_most(
            "8-byte put and its acknowledgement, the same",
            median(runs, |run| floors(run, "acknowledged_latency_ns") / floors(run, "raw_latency_ns")),
            1.4,
        )
        .of_time(),
        Figure::at_most(
            "frames of a node for a put that a put answers",
            median(runs, |run| number(&run["frames_a_put"])),
            1.1,
        ),
        Figure::at_least(
            &format!("puts of {bytes} bytes, of raw frames' bandwidth"),
            median(runs, |run| share(run, "raw_mb_s")),
            0.9,
        )
        .of_time(),
        Figure::at_least(
            "the same, of raw frames with checksum and copy",
            median(runs, |run| share(run, "checked_mb_s")),
            0.9,
        )
        .of_time(),
        Figure::at_least(OVERLAP, median(runs, |run| floors(run, "overlap")), 0.9).of_time(),
        Figure::at_most(
            "interrupts a message at low rate",
            median(runs, |run| floors(run, "interrupts_a_message")),
            1.0,
        ),
        Figure::at_most(
            "interrupts a frame at full rate",
            median(runs, |run| floors(run, "interrupts_a_frame")),
            0.1,
        ),
        Figure::at_most(
            "copies of the payload at the receiver",
            median(runs, |run| floors(run, "copies_to_receive")),
            1.0,
        ),
        Figure::at_most(
            "resets of the card, most of a run",
            runs.iter().map(|run| floors(run, "card_resets")).reduce(f64::max).unwrap_or(f64::NAN),
            0.0,
        ),
    ]
}

/// Goodput with frames lost, of that without: the same wires, in turns.
fn goodput(lwk: &Lwk, options: &BenchPortalsOptions) -> Result<Figure, String> {
    let _step = Step::begin("measuring with loss", options.place.verbose);
    let (mut lossy, mut whole) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        lossy.push(once(lwk, options, Some(LOSS))?);
        whole.push(once(lwk, options, Some(NO_LOSS))?);
    }
    let bytes = largest(&whole);
    let rate = |runs: &[Value]| median(runs, |run| at(&run["bandwidth"], bytes, "put_mb_s"));
    Ok(Figure::at_least("goodput with 1 % loss, of that without", rate(&lossy) / rate(&whole), 0.7))
}

/// What a receive leaves for computation where the wire sets the pace.
fn overlap(lwk: &Lwk, options: &BenchPortalsOptions) -> Result<Figure, String> {
    let _step = Step::begin("measuring over a slow wire", options.place.verbose);
    let runs = (0..options.rounds).map(|_| once(lwk, options, Some(SLOW))).collect::<Result<Vec<_>, _>>()?;
    let value = median(&runs, |run| number(&run["floors"]["overlap"]));
    Ok(Figure::at_least(&format!("{OVERLAP}, wire of 1 Gb/s"), value, 0.9).of_time())
}

fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    // A logarithmic axis shows only what is above 0.
    let points = points.into_iter().filter(|(x, y)| *x > 0.0 && *y > 0.0 && y.is_finite()).collect();
    Line { name: name.into(), points, at_zero: None }
}

fn bandwidth(runs: &[Value]) -> Plot {
    let rows = runs.first().and_then(|run| run["bandwidth"].as_array()).cloned().unwrap_or_default();
    let sizes: Vec<u64> = rows.iter().filter_map(|row| row["bytes"].as_u64()).collect();
    let of = |column: &'static str, floor: bool| {
        let value = |bytes: u64| {
            median(runs, |run| {
                let rows = if floor { &run["floors"]["bandwidth"] } else { &run["bandwidth"] };
                at(rows, bytes, column)
            })
        };
        sizes.iter().map(|bytes| (*bytes as f64, value(*bytes))).collect()
    };
    Plot {
        title: "Bandwidth".into(),
        x: String::new(),
        y: "Million bytes a second".into(),
        lines: vec![line("put", of("put_mb_s", false)), line("get", of("get_mb_s", false))],
        floor: Some(line("raw frames", of("raw_mb_s", true))),
        in_bytes: true,
        groups: None,
    }
}

fn receives(costs: &[Vec<f64>]) -> Plot {
    let lines = PEERS.iter().zip(costs).map(|(peers, row)| {
        let points = PEER_SIZES.iter().zip(row).map(|(bytes, ns)| (*bytes as f64, *ns)).collect();
        line(&format!("{peers} peers"), points)
    });
    Plot {
        title: "Cost of a receive, matching and delivery alone".into(),
        x: String::new(),
        y: "Nanoseconds".into(),
        lines: lines.collect(),
        floor: None,
        in_bytes: true,
        groups: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(latency: f64, put: f64) -> Value {
        json!({
            "latency_ns": latency, "frames_a_put": 1.0,
            "bandwidth": [{ "bytes": 64, "put_mb_s": 1.0, "get_mb_s": 1.0 },
                { "bytes": MIB, "put_mb_s": put, "get_mb_s": 50.0 }],
            "floors": {
                "raw_latency_ns": 1000.0, "acknowledged_latency_ns": 1000.0, "bandwidth": [{ "bytes": MIB, "raw_mb_s": 100.0, "checked_mb_s": 100.0 }], "overlap": 0.95,
                "interrupts_a_message": 1.0, "interrupts_a_frame": 0.05, "copies_to_receive": 1.0, "card_resets": 0,
            },
        })
    }

    #[test]
    fn figures_are_medians_beside_their_targets() {
        let runs = [run_of(1300.0, 95.0), run_of(9000.0, 10.0), run_of(1200.0, 91.0)];
        let figures = compared(&runs);
        assert_eq!((figures[0].value, figures[3].value), (1.3, 0.91));
        assert!(figures.iter().all(Figure::is_met));
        let missed = compared(&runs[1..2]);
        assert!(!missed[0].is_met() && !missed[3].is_met());
        let mut reset = runs.clone();
        reset[1]["floors"]["card_resets"] = json!(1);
        assert!(!compared(&reset).iter().all(Figure::is_met), "a reset in one run of three");
        assert!(missed[0].line(true).contains("short of cores") && missed[0].line(false).contains("MISSED"));
        assert!(compared(&[]).iter().all(|figure| !figure.is_met()), "nothing measured is nothing met");
        assert!(figures[0].line(true).contains(" met"));
        assert_eq!(bandwidth(&runs).lines[0].points.len(), 2);
    }
}
