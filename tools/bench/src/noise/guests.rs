//! The three guests that the loops run in: a Margay node, Linux, and one that has nothing else. Each gives what it has printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::NoiseOptions;
use crate::linux_guest::figures;
use crate::linux_guest::guest::{COMMAND_LINE, Guest, Linux, listen};
use crate::linux_guest::system::System;
use crate::linux_guest::{compile_for_mpich, compile_static, run_compiler};
use crate::noise::samples::{self, Core};
use lwk::accel::Accelerator;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages;
use lwk::qemu::{Boot, Machine, Node};
use lwk::subcommand::{Lwk, Program};
use lwk::tree::{RunFolder, Tree};

/// The program of Margay and of Linux, and that of the third guest.
pub const PROGRAM: &str = "apps/c/bench/noise.c";
const BARE: &str = "apps/c/bench/arch/bare.c";
/// The emulated processor of all three.
const CPU: &str = "max,erms=off,fsrm=off";
/// Memory of a rank, and of a guest besides, in MiB.
const RANK_MIB: u64 = 64;
const GUEST_MIB: u64 = 512;

/// How time passes in a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// As on the host, with all that interrupts the emulator.
    Host,
    /// With the instructions that the guest's one core executes: a nanosecond each. The host cannot be seen.
    Instructions,
}

impl Clock {
    fn qemu(self) -> Vec<String> {
        match self {
            Clock::Host => Vec::new(),
            Clock::Instructions => ["-icount", "shift=0"].map(String::from).into(),
        }
    }
}

/// What a guest has seen.
#[derive(Clone, Debug)]
pub struct Seen {
    pub cores: Vec<Core>,
    /// Frequency of the counter; of a guest that cannot know it, that of the node.
    pub hz: Option<f64>,
    /// Interrupts during the loops, of all cores.
    pub interrupts: Option<f64>,
}

/// All that is needed to boot them.
pub struct Guests<'a> {
    pub options: &'a NoiseOptions,
    pub lwk: Lwk,
    pub qemu: PathBuf,
    pub folder: RunFolder,
    pub margay: PathBuf,
    bare: PathBuf,
    /// The system, its first program, and what it runs.
    linux: Option<(System, PathBuf, PathBuf)>,
}

impl<'a> Guests<'a> {
    /// Compiles what each runs, and downloads Linux if it takes part.
    pub fn new(tree: &Tree, options: &'a NoiseOptions, qemu: PathBuf, margay: PathBuf) -> Outcome<Self> {
        let folder = RunFolder::new(tree)?;
        let bare = folder.file("bare");
        compile_bare(tree, &bare)?;
        let linux = match options.against {
            None => None,
            Some(_) => {
                let system = System::fetch(tree, options.verbose)?;
                let (init, program) = (folder.file("init"), folder.file("noise"));
                compile_static(tree, &init)?;
                compile_for_mpich(tree, &system, PROGRAM, &program)?;
                Some((system, init, program))
            }
        };
        Ok(Self { options, lwk: Lwk::new(tree)?, qemu, folder, margay, bare, linux })
    }

    fn machine(&self, boot: Boot, cores: u32, clock: Clock) -> Machine {
        Machine {
            boot,
            firmware: None,
            cores,
            memory_mib: GUEST_MIB + RANK_MIB * u64::from(cores),
            accelerator: self.options.accel.settle(),
            cpu: Some(CPU.into()),
            more: clock.qemu(),
            gdb: false,
            host_cores: lwk::run::host_cores(),
            card: None,
        }
    }

    /// A node, with a rank on each core.
    pub fn margay(&self, cores: u32, clock: Clock) -> Outcome<Seen> {
        let said = |error: String| Failure::host(error);
        let folder = self.lwk.folder().map_err(said)?;
        let report = folder.file("report.json");
        let mut words = vec!["-n".to_owned(), cores.to_string()];
        words.extend(["--mem".into(), RANK_MIB.to_string(), "--cpu".into(), CPU.into()]);
        words.extend(["--accel".into(), self.options.accel.settle().name().into()]);
        words.extend(["--timeout".into(), self.options.timeout.to_string()]);
        words.extend(["--report-json".into(), report.display().to_string()]);
        if clock != Clock::Host {
            words.extend(["--qemu".into(), clock.qemu().join(" ")]);
        }
        let program = Program::File(self.margay.clone());
        let ended = self
            .lwk
            .command(&self.lwk.run_words(&program, &words, &[]), self.options.timeout)
            .map_err(said)?;
        if ended.status != Some(0) {
            return Err(Failure::host(format!("the job on Margay failed: {}", ended.stderr.trim_end())));
        }
        let mut seen = read("Margay", &ended.stdout)?;
        let text = fs::read_to_string(&report).doing(|| format!("read {}", report.display()))?;
        let report: Value = serde_json::from_str(&text).doing(|| "read the exit report".into())?;
        let counts = report["cores"].as_array().into_iter().flatten();
        seen.interrupts = counts.map(|core| core["interrupts"].as_u64().map(|count| count as f64)).sum();
        Ok(seen)
    }

    /// Linux with MPICH, if it takes part.
    pub fn linux(&self, cores: u32, clock: Clock) -> Outcome<Option<Seen>> {
        let Some((system, init, program)) = &self.linux else { return Ok(None) };
        let machine = |initramfs, kernel| {
            self.machine(Boot::Linux { kernel, initramfs, command_line: COMMAND_LINE.into() }, cores, clock)
        };
        let (qemu, folder, limit) = (&*self.qemu, &self.folder, self.options.timeout);
        let linux = Linux { qemu, system, init, folder, limit };
        let (text, _) = linux.text(&Guest::WithMpi { program, argument: "", ranks: cores }, &machine)?;
        read("Linux", &text).map(Some)
    }

    /// Nothing but the loops, with interrupts off. None under KVM on a machine that QEMU's loader does not start: it is emulation that it tells of.
    pub fn bare(&self, cores: u32, clock: Clock) -> Outcome<Option<Seen>> {
        if self.options.accel.settle() != Accelerator::Tcg {
            return Ok(None);
        }
        let boot = Boot::Kernel { file: self.bare.clone(), command_line: cores.to_string() };
        let machine = self.machine(boot, cores, clock);
        let mut node = Node::start(&self.qemu, &machine, self.folder.file("bare-qemu.log"))?;
        let text = listen(&mut node, std::time::Duration::from_secs(self.options.timeout))?;
        read("the bare guest", &text).map(Some)
    }
}

fn read(who: &str, text: &str) -> Outcome<Seen> {
    let failed = |why| Failure::host(format!("{who} has measured nothing: {why}"));
    let cores = samples::read(text).map_err(failed)?;
    let mut said = figures::read(text);
    Ok(Seen { cores, hz: said.remove("hz"), interrupts: said.remove("interrupts") })
}

/// A 32-bit program without a library.
fn compile_bare(tree: &Tree, output: &Path) -> Outcome<()> {
    let compiler = packages::find_command("gcc")
        .ok_or_else(|| Failure::host("gcc is not in PATH; install Debian's gcc"))?;
    let mut command = Command::new(compiler);
    command.args([
        "-m32",
        "-O2",
        "-Wall",
        "-Wextra",
        "-ffreestanding",
        "-nostdlib",
        "-static",
        "-fno-pic",
        "-no-pie",
    ]);
    command.args([
        "-fno-stack-protector",
        "-fcf-protection=none",
        "-mno-sse",
        "-fno-asynchronous-unwind-tables",
    ]);
    command.arg("-Wl,-Ttext-segment=0x100000,--build-id=none,-z,noexecstack");
    run_compiler(command.arg("-o").arg(output).arg(tree.root().join(BARE)))
}
