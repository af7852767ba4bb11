//! Boot tests that a table cannot say: what is on the screen, broken program files, killed processes, the image for real
//! machines.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Test;
use super::judge::Expected;
use super::{odd_firmware, real_machine, screen_text};
use crate::needs::Needs;
use lwk::screen::Picture;
use lwk::subcommand::{Lwk, PATIENCE, Program, Running, shown};

/// How long something that must happen soon may take on a busy machine.
const SOON: Duration = Duration::from_secs(PATIENCE);

type Check = fn(&Lwk) -> Result<(), String>;

/// These tests.
pub fn all() -> Vec<Test> {
    let checks: [(&str, Check); 23] = [
        ("screen-shows-the-console", screen),
        ("every-way-to-die-has-a-case", every_way_to_die),
        ("sizes-are-within-their-targets", sizes),
        ("no-interrupts-during-noise", no_interrupts),
        ("killed-qemu-is-a-failure", killed_qemu),
        ("qemu-dies-with-the-command", killed_command),
        ("image-for-real-machines-boots", |lwk| real_machine::runs_an_image(lwk, &[])),
        ("image-that-resets-the-machine", |lwk| real_machine::runs_an_image(lwk, &["--at-end", "reset"])),
        ("image-with-a-time-limit-switches-the-machine-off", real_machine::keeps_a_limit),
        ("image-that-checks-its-machine", |lwk| real_machine::checks_itself(lwk, true)),
        ("image-that-checks-a-machine-without-a-screen", |lwk| real_machine::checks_itself(lwk, false)),
        ("five-levels-of-page-tables-are-refused", odd_firmware::refuses_five_levels),
        ("memory-behind-all-that-can-be-mapped-is-refused", odd_firmware::refuses_far_memory),
        ("breakpoints-of-the-firmware-do-not-strike", odd_firmware::leaves_no_breakpoint),
        ("a-screen-whose-colours-are-not-bytes", odd_firmware::boots_without_colours),
        ("a-screen-whose-colours-are-bytes-by-masks", odd_firmware::draws_by_masks),
        ("a-machine-that-says-nothing-ends", real_machine::ends_in_silence),
        ("a-serial-port-in-memory", real_machine::speaks_in_memory),
        ("an-uncorrected-machine-check-is-decoded", |lwk| {
            real_machine::decodes_a_check(lwk, &real_machine::UNCORRECTED)
        }),
        ("a-corrected-machine-check-is-decoded", |lwk| {
            real_machine::decodes_a_check(lwk, &real_machine::CORRECTED)
        }),
        ("a-slow-host-loses-no-last-words", super::slow_host::loses_no_last_words),
        ("files-go-in-and-come-back", files_on_a_node),
        ("files-of-mpi-come-back-from-a-full-disk", |lwk| mpi_files(lwk, &[])),
    ];
    let checks = checks.into_iter().map(|(name, check)| test(name.into(), check));
    let broken = BROKEN.into_iter().map(|(what, spoil)| {
        test(format!("broken-program-{what}"), move |lwk: &Lwk| broken_program(lwk, what, spoil))
    });
    let on_host = [
        test("files-go-in-and-come-back-on-the-host".into(), |lwk| {
            files_in_and_out(lwk, &["--host", "--oversubscribe"])
        }),
        test("files-of-mpi-come-back-from-a-full-disk-on-the-host".into(), |lwk| {
            mpi_files(lwk, &["--host", "--oversubscribe"])
        }),
    ];
    let on_host = on_host.map(|test| Test { on_host: true, ..test });
    let with_source = |test: Test| Test { sources: vec![IN_AND_OUT.into(), MPI_DISK.into()], ..test };
    let (files, others): (Vec<_>, Vec<_>) = checks.partition(|test| test.name.starts_with("files-"));
    let instructions = Test {
        on_host: true,
        sources: vec![lwk_bench::instructions::SOURCE.into()],
        ..test("bench-instructions-counts-every-row".into(), instructions)
    };
    let others = others.into_iter().chain(broken).chain([instructions]);
    others.chain(files.into_iter().chain(on_host).map(with_source)).collect()
}

/// A test of that name, which boots.
pub fn test(name: String, run: impl Fn(&Lwk) -> Result<(), String> + Send + Sync + 'static) -> Test {
    Test { name, alone: false, on_host: false, sources: Vec::new(), needs: Needs::Any, run: Box::new(run) }
}

/// Words of a command line.
pub fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Words of a run of `program` with `options`, under the limit.
fn words(lwk: &Lwk, program: &Program, options: &[&str]) -> Vec<std::ffi::OsString> {
    let mut options = strings(options);
    options.extend(strings(&["--mem", "16", "--timeout", &PATIENCE.to_string()]));
    lwk.run_words(program, &options, &[])
}

/// Rank output and kernel messages are readable on the screen.
fn screen(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let png = folder.file("screen.png");
    let option = png.to_str().ok_or("the tree's path is not UTF-8")?;
    let ended = lwk.command(
        &words(lwk, &Program::named("hello"), &["-n", "2", "--log", "info", "--screen", option]),
        PATIENCE,
    )?;
    Expected::default().judge(&ended)?;
    let picture = Picture::read_png(&png).map_err(|failure| failure.message)?;
    let lines = screen_text::read(&picture);
    let screen = lines.join("\n");
    for line in ended.stdout.lines() {
        // A line may be broken at the screen's edge or carry a prefix, but its beginning stands somewhere.
        let start: String = line.chars().take(40).collect();
        if !screen.contains(&start) {
            return Err(format!("the screen lacks {start:?}; it shows\n{}", screen.trim_end()));
        }
    }
    if ended.stdout.lines().count() != 2 {
        return Err(format!("two ranks print two lines\n{}", shown(&ended)));
    }
    Ok(())
}

/// Reads what it is given, and leaves files under `/out`; with an argument it then dies.
const IN_AND_OUT: &str = "qemu-tests/c/in-and-out.c";

/// Writes lines under `/out` by MPI, then fills the file system.
const MPI_DISK: &str = "qemu-tests/c/mpi-disk.c";

/// What ranks write by MPI comes back, and nothing of it is lost when the file system is full.
fn mpi_files(lwk: &Lwk, options: &[&str]) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (given, out) = (folder.file("given"), folder.file("out"));
    std::fs::write(&given, "given").map_err(|error| error.to_string())?;
    let file = format!("{}=in/given", given.display());
    let out_option = out.to_str().ok_or("the tree's path is not UTF-8")?;
    let mut all = vec!["-n", "3", "--file", &file, "--out", out_option, "--file-space", "4"];
    all.extend(options);
    let mut command = words(lwk, &Program::named(&format!("c:{MPI_DISK}")), &all);
    command.push("/in/given".into());
    let ended = lwk.command(&command, PATIENCE)?;
    Expected {
        stdout: strings(&["^rank 0: written and full$", "^rank 2: written and full$"]),
        ..Expected::default()
    }
    .judge(&ended)?;
    let lines = std::fs::read_to_string(out.join("lines")).map_err(|error| format!("lines: {error}"))?;
    let more = std::fs::read(out.join("more")).map_err(|error| format!("more: {error}"))?;
    if lines != "line of rank 0\nline of rank 1\nline of rank 2\n" || more.len() != 256 << 10 {
        return Err(format!("{lines:?} and {} bytes\n{}", more.len(), shown(&ended)));
    }
    Ok(())
}

fn files_on_a_node(lwk: &Lwk) -> Result<(), String> {
    files_in_and_out(lwk, &[])
}

/// A folder that is given can be read by every rank, and what they leave under `/out` comes back, also from a job that fails.
fn files_in_and_out(lwk: &Lwk, options: &[&str]) -> Result<(), String> {
    let folder = lwk.folder()?;
    let failed = |error: std::io::Error| error.to_string();
    let given = folder.file("given");
    std::fs::create_dir_all(given.join("deep")).map_err(failed)?;
    let content: Vec<u8> = (0..200_000u32).map(|index| (index % 251) as u8).collect();
    std::fs::write(given.join("deep/data"), &content).map_err(failed)?;
    for (word, status) in [("end", 0), ("die", 139), ("escape", 69)] {
        let out = folder.file(word);
        let file = format!("{}=in", given.display());
        let out_option = out.to_str().ok_or("the tree's path is not UTF-8")?;
        let mut all = vec!["-n", "2", "--file", &file, "--out", out_option];
        all.extend(options);
        let mut command = words(lwk, &Program::named(&format!("c:{IN_AND_OUT}")), &all);
        command.push(word.into());
        let ended = lwk.command(&command, PATIENCE)?;
        let stderr = match word {
            "escape" => strings(&[
                "^lwk: the job's files have not all been brought back: .*escape is a link that leads out of /out",
            ]),
            _ => Vec::new(),
        };
        Expected {
            status,
            stdout: strings(&["^rank 1 has copied 200000 bytes$"]),
            stderr,
            ..Expected::default()
        }
        .judge(&ended)?;
        if std::fs::symlink_metadata(out.join("escape")).is_ok() {
            return Err("a link leads out of the folder".into());
        }
        for copy in ["copies/of-rank-1", "copies/of-rank-2", "copies/link-of-rank-1"] {
            if std::fs::read(out.join(copy)).map_err(|error| format!("{copy}: {error}"))? != content {
                return Err(format!("{copy} differs\n{}", shown(&ended)));
            }
        }
    }
    Ok(())
}

/// Every row has a count, in the table and in the JSON. (Whether it meets its target is the benchmark's to say.)
fn instructions(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let out = folder.file("instructions.json");
    let path = out.to_str().ok_or("the tree's path is not UTF-8")?;
    let words = ["bench", "instructions", "--built", "--out", path].map(Into::into);
    let ended = lwk.command(&words, 4 * PATIENCE)?;
    let text =
        std::fs::read_to_string(&out).map_err(|error| format!("{path}: {error}\n{}", shown(&ended)))?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let rows = json["instructions"].as_array().ok_or("no rows in the JSON")?;
    let counted = rows.iter().filter(|row| row["count"].as_f64().is_some_and(|count| count > 0.0)).count();
    let lines = ended.stdout.lines().filter(|line| !line.starts_with('#')).count();
    if counted == 0 || counted != rows.len() || lines != rows.len() || !matches!(ended.status, Some(0 | 1)) {
        return Err(format!("{counted} rows of {} have a count\n{}", rows.len(), shown(&ended)));
    }
    Ok(())
}

/// What `crash list` prints is what the table has.
fn every_way_to_die(lwk: &Lwk) -> Result<(), String> {
    let mut listing = words(lwk, &Program::named("crash"), &[]);
    listing.push("list".into());
    let ended = lwk.command(&listing, PATIENCE)?;
    Expected::default().judge(&ended)?;
    let cases = super::case::load(lwk.tree()).map_err(|failure| failure.message)?;
    let has_case = |way: &&str| cases.iter().any(|test| test.name.strip_prefix("crash-") == Some(*way));
    let missing: Vec<&str> = ended.stdout.lines().filter(|way| !has_case(way)).collect();
    if missing.is_empty() && ended.stdout.lines().count() > 1 {
        return Ok(());
    }
    Err(format!("qemu-tests/cases.toml has no case for {missing:?}\n{}", shown(&ended)))
}

/// Kernel file, kernel memory and page tables.
fn sizes(lwk: &Lwk) -> Result<(), String> {
    let figures = lwk_bench::boot::sizes(lwk).map_err(|failure| failure.message)?;
    let missed: Vec<String> =
        figures.iter().filter(|figure| !figure.is_met()).map(|figure| figure.to_string()).collect();
    if missed.is_empty() { Ok(()) } else { Err(missed.join("\n")) }
}

/// A core is not interrupted once while its rank computes for a second, by the kernel's own count.
fn no_interrupts(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let file = folder.file("report.json");
    let option = file.to_str().ok_or("the tree's path is not UTF-8")?;
    let mut noise = words(lwk, &Program::named("noise"), &["-n", "2", "--report-json", option]);
    noise.extend(["--seconds".into(), "1".into()]);
    let ended = lwk.command(&noise, PATIENCE)?;
    Expected::default().judge(&ended)?;
    let text = std::fs::read_to_string(&file).map_err(|error| error.to_string())?;
    let report: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let cores = report["cores"].as_array().map_or(&[][..], Vec::as_slice);
    let quiet = |core: &serde_json::Value| core["interrupts"] == 0 && core["faults"] == 0;
    if cores.len() == 2 && cores.iter().all(quiet) {
        return Ok(());
    }
    Err(format!("two quiet cores are expected\n{text}\n{}", shown(&ended)))
}

/// A way to break the program file given.
type Break = fn(&mut Vec<u8>);

/// Offset in the file of the first program header of a segment to load.
fn first_load(file: &[u8]) -> usize {
    let table =
        file.get(32..40).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes) as usize;
    let is_load = |at: &usize| file.get(*at..*at + 4) == Some(&1u32.to_le_bytes()[..]);
    (table..file.len()).step_by(56).find(is_load).unwrap_or(table)
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Sets the field at `offset` in the header of the first segment to load.
fn put_load(file: &mut [u8], offset: usize, value: u64) {
    let at = first_load(file) + offset;
    put(file, at, &value.to_le_bytes());
}

/// Files that are no programs, by what is wrong with them (ELF-64 offsets).
const BROKEN: [(&str, Break); 9] = [
    ("text", |file| *file = b"#!/bin/sh\n".to_vec()),
    ("empty", |file| file.clear()),
    ("truncated-in-its-header", |file| file.truncate(40)),
    ("truncated-in-its-code", |file| file.truncate(5000)),
    ("other-machine", |file| put(file, 18, &183u16.to_le_bytes())),
    // What has no entry is a library.
    ("shared-object", |file| {
        put(file, 16, &3u16.to_le_bytes());
        put(file, 24, &0u64.to_le_bytes());
    }),
    ("far-segment", |file| put_load(file, 16, 1 << 60)),
    ("huge-segment", |file| put_load(file, 40, 1 << 50)),
    ("entry-outside", |file| put(file, 24, &0x10u64.to_le_bytes())),
];

/// A broken file is refused in one line: by the host before it boots anything, and by the kernel if the host lets it
/// pass.
fn broken_program(lwk: &Lwk, name: &str, spoil: Break) -> Result<(), String> {
    let folder = lwk.folder()?;
    let mut file = std::fs::read(lwk.program(&Program::named("hello"))).map_err(|error| error.to_string())?;
    spoil(&mut file);
    let path = folder.file(name);
    std::fs::write(&path, file).map_err(|error| error.to_string())?;
    let program = Program::File(path);
    let refused = Expected { status: 2, stdout_lines: Some(0), stderr_lines: Some(1), ..Expected::default() };
    let by_host = Expected { stderr: strings(&["^lwk: .* cannot run on a node: "]), ..refused.clone() };
    by_host
        .judge(&lwk.command(&words(lwk, &program, &[]), PATIENCE)?)
        .map_err(|why| format!("by the host: {why}"))?;
    let by_kernel = Expected { kernel: strings(&["^margay: error: the program cannot be run: "]), ..refused };
    let ended = lwk.command(&words(lwk, &program, &["--no-check"]), PATIENCE)?;
    by_kernel.judge(&ended).map_err(|why| format!("by the kernel: {why}"))
}

/// Starts a job that never ends and waits until its rank has spoken. Gives QEMU's process number.
fn start_hanging(lwk: &Lwk, folder: &lwk::tree::RunFolder) -> Result<(Running, u32), String> {
    let mut running = lwk.start(&words(lwk, &Program::named("test:hang"), &["--verbose"]), folder)?;
    let started = Instant::now();
    while !running.stdout().contains("hanging") {
        let over = running.child.try_wait().map_err(|error| error.to_string())?.is_some();
        if over || started.elapsed() > SOON {
            let ended = running.end(0)?;
            return Err(format!("the rank did not speak\n{}", shown(&ended)));
        }
        // The output is a file: there is nothing to wait on but its growth.
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = running.stderr();
    let process =
        text.lines().find_map(|line| line.strip_prefix("lwk: process ")?.split(':').next()?.parse().ok());
    process.map(|process| (running, process)).ok_or_else(|| format!("no process number in\n{text}"))
}

fn kill(process: u32) -> Result<(), String> {
    let process =
        i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw).ok_or("no process 0")?;
    rustix::process::kill_process(process, rustix::process::Signal::KILL).map_err(|error| error.to_string())
}

/// A node whose QEMU is killed has not passed anything.
fn killed_qemu(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (mut running, qemu) = start_hanging(lwk, &folder)?;
    kill(qemu)?;
    let expected = Expected { status: 70, stderr: strings(&["killed by signal 9"]), ..Expected::default() };
    expected.judge(&running.end(PATIENCE)?)
}

/// A command that is killed without warning takes its QEMU along.
fn killed_command(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (mut running, qemu) = start_hanging(lwk, &folder)?;
    kill(running.child.id())?;
    running.end(0)?;
    let started = Instant::now();
    let process = Path::new("/proc").join(qemu.to_string()).join("comm");
    while std::fs::read_to_string(&process).is_ok_and(|name| name.starts_with("qemu")) {
        if is_dead(qemu) {
            return Ok(());
        }
        if started.elapsed() > SOON {
            kill(qemu)?;
            return Err(format!("QEMU, process {qemu}, outlived its command"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Whether a process is dead and only waits to be collected by whoever adopted it.
fn is_dead(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && line.contains('Z'))
}
