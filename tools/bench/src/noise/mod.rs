//! `cargo lwk bench noise`: what interrupts a program that computes, on a Margay node, in a Linux guest, and in a guest that has nothing but the loops.
//!
//! Emulation has noise of its own, and the host's. Two things tell it apart: the third guest runs the same loops with interrupts off on the same
//! QEMU, so what it sees is not a kernel's; and in a second part time is counted in instructions, so that the host cannot be seen at all.

mod guests;
mod plot;
mod samples;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::NoiseOptions;
use guests::{Clock, Guests, Seen};
use lwk::build::Builder;
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::Firmware;
use lwk::tree::Tree;
use plot::Shown;
use samples::Summary;

/// Status if an aim is missed.
const MISSED: i32 = 1;

/// The guests' names.
const NODE: &str = "Margay";
const LINUX: &str = "Linux";
const BARE: &str = "nothing";

/// What the guests have seen, round by round; they take turns.
#[derive(Default)]
struct Part {
    margay: Vec<Seen>,
    linux: Vec<Seen>,
    bare: Vec<Seen>,
}

/// Measures and prints. Status 0 if both aims are met, else 1.
pub fn run(tree: &Tree, options: &NoiseOptions) -> Outcome<i32> {
    let builder = Builder::new(tree, false, options.verbose)?;
    let qemu = lwk::emulator::find_qemu(tree, options.verbose)?;
    builder.kernel()?;
    builder.image_builder(Firmware::Bios)?;
    let source = PathBuf::from(guests::PROGRAM);
    cc::build_programs(tree, &builder, &[&source].into())?;
    let guests = Guests::new(tree, options, qemu, cc::program(tree, &source))?;

    let out = options.out.clone().unwrap_or_else(|| tree.root().join("target/lwk/bench/noise"));
    fs::create_dir_all(&out).doing(|| format!("make the folder {}", out.display()))?;
    let cores = options.cores;
    let host = measure(&guests, cores, Clock::Host, options.rounds)?;
    show!(
        "# noise: fixed work, fixed time, and 1 s of reading the clock, on {cores} cores at once; medians of {} rounds",
        options.rounds
    );
    let mut met = print(&host, &out.join("noise.svg"), "What interrupts a program that computes")?;
    let exact = match options.accel.settle() {
        lwk::accel::Accelerator::Kvm => None,
        lwk::accel::Accelerator::Tcg => {
            let exact = measure(&guests, 1, Clock::Instructions, 1)?;
            show!(
                "\n# the same on 1 core whose clock counts its instructions, a nanosecond each: nothing of the emulator or the host is seen"
            );
            met &= print(
                &exact,
                &out.join("noise-exact.svg"),
                "The same, with a clock that counts instructions",
            )?;
            met &= aim("Margay has no detour of 1 us or more by that clock", long(&exact.margay) == 0.0);
            Some(exact)
        }
    };
    let document = json!({ "cores": cores, "host_clock": rounds(&host), "instruction_clock": exact.as_ref().map(rounds) });
    write(&out.join("noise.json"), &format!("{document:#}\n"))?;
    show!("# pictures and JSON: {}", out.display());
    Ok(if met { 0 } else { MISSED })
}

fn measure(guests: &Guests<'_>, cores: u32, clock: Clock, rounds: u32) -> Outcome<Part> {
    let mut part = Part::default();
    for _ in 0..rounds {
        let margay = guests.margay(cores, clock)?;
        // The counter is the emulator's, the same in all guests.
        let hz = margay.hz;
        part.margay.push(margay);
        part.linux.extend(guests.linux(cores, clock)?);
        part.bare.extend(guests.bare(cores, clock)?.map(|bare| Seen { hz, interrupts: Some(0.0), ..bare }));
    }
    Ok(part)
}

impl Part {
    /// The guests that took part, by name.
    fn systems(&self) -> impl Iterator<Item = (&'static str, &[Seen])> {
        let all = [(NODE, &self.margay), (LINUX, &self.linux), (BARE, &self.bare)];
        all.into_iter().filter(|(_, rounds)| !rounds.is_empty()).map(|(name, rounds)| (name, &rounds[..]))
    }
}

fn colour(name: &str) -> plotters::style::RGBColor {
    match name {
        NODE => plot::BLUE,
        LINUX => plot::RED,
        _ => plot::GREY,
    }
}

/// The median of a figure over the rounds.
fn median(rounds: &[Seen], figure: impl Fn(&Seen) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = rounds.iter().filter_map(figure).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

fn of_summary(figure: fn(Summary) -> f64) -> impl Fn(&Seen) -> Option<f64> {
    move |seen| Some(figure(samples::summary(&seen.cores, seen.hz?)))
}

fn long(rounds: &[Seen]) -> f64 {
    median(rounds, of_summary(|sum| sum.long_a_second)).unwrap_or(f64::INFINITY)
}

/// Prints the table, draws the picture; whether the node took no interrupt.
fn print(part: &Part, picture: &Path, title: &str) -> Outcome<bool> {
    let names: String = part.systems().map(|(name, _)| format!("{name:>14}")).collect();
    show!("# {:<48}{names}", "");
    let row = |what: &str, figure: &dyn Fn(&Seen) -> Option<f64>| {
        let shown = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
        let values: String =
            part.systems().map(|(_, rounds)| format!("{:>14}", shown(median(rounds, figure)))).collect();
        show!("{what:<50}{values}");
    };
    row("interrupts, all cores", &|seen| seen.interrupts);
    row("detours of 1 us or more, a second and core", &of_summary(|sum| sum.long_a_second));
    row("longest detour, us", &of_summary(|sum| sum.longest_us));
    row("time in detours, %", &of_summary(|sum| sum.stolen_percent));
    row("fixed work: median above the shortest, %", &of_summary(|sum| sum.work_median_percent));
    row("fixed work: longest above the shortest, %", &of_summary(|sum| sum.work_longest_percent));
    row("fixed time: least below the most, %", &of_summary(|sum| sum.time_least_percent));
    let last: Vec<Shown<'_>> = part
        .systems()
        .filter_map(|(name, rounds)| rounds.last().map(|seen| (name, seen)))
        .filter_map(|(name, seen)| {
            Some(Shown { name, colour: colour(name), cores: &seen.cores, hz: seen.hz? })
        })
        .collect();
    let drawn = plot::figure(title, &last);
    write(picture, &drawn.map_err(|why| Failure::host(format!("the picture cannot be drawn: {why}")))?)?;
    Ok(aim("Margay takes no interrupt", part.margay.iter().all(|seen| seen.interrupts == Some(0.0))))
}

/// Prints whether an aim is met, and gives it.
fn aim(what: &str, met: bool) -> bool {
    show!("{}  {what}", if met { "ok  " } else { "FAIL" });
    met
}

fn rounds(part: &Part) -> serde_json::Value {
    let one = |seen: &Seen| {
        let sum = seen.hz.map(|hz| samples::summary(&seen.cores, hz));
        json!({
            "hz": seen.hz, "interrupts": seen.interrupts,
            "long_detours_a_second": sum.map(|sum| sum.long_a_second), "longest_us": sum.map(|sum| sum.longest_us),
            "stolen_percent": sum.map(|sum| sum.stolen_percent), "work_longest_percent": sum.map(|sum| sum.work_longest_percent),
            "time_least_percent": sum.map(|sum| sum.time_least_percent),
        })
    };
    let all = part.systems().map(|(name, rounds)| (name.to_owned(), rounds.iter().map(one).collect()));
    serde_json::Value::Object(all.collect())
}

fn write(path: &Path, text: &str) -> Outcome<()> {
    fs::write(path, text).doing(|| format!("write {}", path.display()))
}
