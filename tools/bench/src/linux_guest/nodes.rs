//! `cargo lwk bench linux-guest --nodes 2`: two Margay nodes beside two Linux guests with MPICH over TCP, in the same QEMU, with the same
//! virtio-net cards on the same switch.
//!
//! A node or guest has one core, for its rank and for all that messages need besides. Both have frames of 9,000 bytes.

use std::path::PathBuf;

use lwk::build::{self, Builder};
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::memory;
use lwk::qemu::{Boot, Card, CardKind, Firmware, Machine};
use lwk::subcommand::{Lwk, Program};
use lwk::switch::{Setup, Switch};
use lwk::tree::{RunFolder, Tree};
use lwk_frames::NodeId;
use serde_json::json;

use super::figures::{self, OF_TWO_NODES, Row};
use super::guest::{COMMAND_LINE, Guest, Linux};
use super::system::System;
use super::{CPU, Figures, Rounds, compile_for_mpich, compile_static, document, keep, words};
use crate::cli::LinuxGuestOptions;

/// The program that both run.
const PROGRAM: &str = "apps/c/bench/guest-nodes.c";
/// Memory of a node's rank, and of a guest, in MiB.
const RANK_MIB: u64 = 128;
const GUEST_MIB: u64 = 512;

/// Measures both and prints them. Status 0 if both ran, whatever the figures.
pub fn run(tree: &Tree, options: &LinuxGuestOptions) -> Outcome<i32> {
    memory::check_host(GUEST_MIB * u64::from(options.nodes))?;
    let builder = Builder::new(tree, false, options.verbose)?;
    let qemu = lwk::emulator::find_qemu(tree, options.verbose)?;
    builder.kernel()?;
    builder.image_builder(Firmware::Bios)?;
    builder.programs(&build::BUNDLED)?;
    let source = PathBuf::from(PROGRAM);
    cc::build_programs(tree, &builder, &[&source].into())?;
    let system = System::fetch(tree, options.verbose)?;
    let folder = RunFolder::new(tree)?;
    let (init, program) = (folder.file("init"), folder.file("guest"));
    compile_static(tree, &init)?;
    compile_for_mpich(tree, &system, PROGRAM, &program)?;
    let linux = Linux { qemu: &qemu, system: &system, init: &init, folder: &folder, limit: options.timeout };
    let guests: Vec<Guest<'_>> = (0..options.nodes)
        .map(|node| Guest::OfNodes { program: &program, node, nodes: options.nodes })
        .collect();
    let mut rounds = Rounds::default();
    for _ in 0..options.rounds {
        rounds.margay.push(margay(tree, options, &cc::program(tree, &source))?);
        rounds.linux.push(beside(&linux, options, &guests)?);
    }
    let medians = (figures::medians(&rounds.margay), figures::medians(&rounds.linux));
    let rows = figures::rows(&OF_TWO_NODES, &medians.0, &medians.1);
    show!(
        "# {} nodes of one rank and one core, virtio-net, medians of {} rounds; {}",
        options.nodes,
        options.rounds,
        words(options.accel.settle())
    );
    show!("{}", Row::HEADER);
    rows.iter().for_each(|row| show!("{row}"));
    show!(
        "# ratio: Linux by Margay. A message of many is one of 32 that are sent at once; processor time is that of one sent and one received."
    );
    let document = document(json!({ "nodes": options.nodes }), &rows, &rounds);
    keep(tree, options, "linux-guest-nodes.json", &document)?;
    Ok(0)
}

/// The program on Margay's nodes.
fn margay(tree: &Tree, options: &LinuxGuestOptions, program: &std::path::Path) -> Outcome<Figures> {
    let said = |error: String| Failure::host(error);
    let (lwk, nodes) = (Lwk::new(tree)?, options.nodes.to_string());
    let (mem, limit) = (RANK_MIB.to_string(), options.timeout.to_string());
    let accel = options.accel.settle().name();
    let words = [
        "--nodes",
        &nodes,
        "-n",
        &nodes,
        "--nic",
        "virtio",
        "--mem",
        &mem,
        "--timeout",
        &limit,
        // As the guests do: what a node does not need, others of the emulator's threads have.
        "--wait",
        "halt",
        "--cpu",
        CPU,
        "--accel",
        accel,
    ];
    let words: Vec<String> = words.map(str::to_owned).into();
    let words = lwk.run_words(&Program::File(program.into()), &words, &[]);
    let ended = lwk.command(&words, options.timeout).map_err(said)?;
    if ended.status != Some(0) {
        return Err(Failure::host(format!("the job on Margay failed: {}", ended.stderr.trim_end())));
    }
    Ok(figures::read(&ended.stdout))
}

/// The program on Linux guests: what the first rank has printed.
fn beside(linux: &Linux<'_>, options: &LinuxGuestOptions, guests: &[Guest<'_>]) -> Outcome<Figures> {
    let pinned: Vec<_> = (0..).take(guests.len()).map(|node| NodeId(node).address()).collect();
    let setup = Setup { stations: pinned.len(), pinned, ..Setup::default() };
    let (switch, stations) = Switch::start(setup).doing(|| "start the switch".into())?;
    let cards = (0..).zip(&stations).map(|(node, wire)| Card::new(CardKind::Virtio, node, wire));
    let cards = cards.collect::<Outcome<Vec<Card>>>()?;
    let machine = |node: u32, initramfs: PathBuf, kernel: PathBuf| Machine {
        boot: Boot::Linux { kernel, initramfs, command_line: COMMAND_LINE.into() },
        firmware: None,
        cores: 1,
        memory_mib: GUEST_MIB,
        accelerator: options.accel.settle(),
        cpu: Some(CPU.into()),
        more: Vec::new(),
        gdb: false,
        // As `run --nodes` has it: all nodes share them.
        host_cores: lwk::run::host_cores() / options.nodes,
        card: cards.get(node as usize).copied(),
    };
    let texts = linux.together(guests, &machine)?;
    drop(switch);
    Ok(texts.first().map(|text| figures::read(text)).unwrap_or_default())
}
