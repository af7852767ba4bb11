//! `cargo lwk test bochs`: a choice of jobs in Bochs, which is stricter than QEMU's emulation: it has x2APIC, keeps what processors keep masked, and checks what they check.
//!
//! The image is the one that `cargo lwk image` writes, for BIOS. Bochs connects its serial port to a socket of this command, which listens until the
//! node says that the job has ended; the emulator itself would stand at halted processors for ever.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lwk::child;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages;
use lwk::show;
use lwk::subcommand::{Lwk, Program};
use lwk::tree::Tree;

use crate::cli::TestOptions;

/// The word of the command line.
pub const COMMAND: &str = "bochs";

/// Processors: Skylake-X with AVX-512, Zen, Tiger Lake, and one of 2008 without x2APIC.
const MODELS: [&str; 4] = ["corei7_skylake_x", "ryzen", "tigerlake", "core2_penryn_t9600"];
const PACKAGES: [&str; 4] = ["bochs", "bochsbios", "vgabios", "bochs-sdl"];
const ROMS: [&str; 2] = ["/usr/share/bochs/BIOS-bochs-latest", "/usr/share/bochs/VGABIOS-lgpl-latest"];
const MEMORY_MIB: u32 = 256;
/// A boot takes a minute of a core; this is for a busy machine.
const LIMIT: Duration = Duration::from_secs(1800);
/// Bytes of a cylinder of the disk, of which it has whole ones.
const CYLINDER_BYTES: u64 = 16 * 63 * 512;
/// Begins the last line of a node.
const ENDED: &str = "the job has ended with status ";

/// A job, and what must be said of it.
struct Row {
    name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    options: &'static [&'static str],
    said: &'static [&'static str],
    status: i32,
    /// Models that it runs on.
    models: &'static [&'static str],
}

const ROWS: [Row; 6] = [
    Row {
        name: "ring",
        program: "smap-ring",
        arguments: &[],
        options: &["-n", "2", "--log", "info"],
        said: &["2 cores, ", "0 wrong words"],
        status: 0,
        models: &MODELS,
    },
    Row {
        name: "protections",
        program: "hello",
        arguments: &[],
        options: &["-n", "2", "--log", "debug"],
        said: &["core 1: ", "NO_EXECUTE_ENABLE", "hello from rank 1 of 2"],
        status: 0,
        models: &MODELS,
    },
    Row {
        name: "null-pointer",
        program: "crash",
        arguments: &["null-read"],
        options: &["-n", "2"],
        said: &["rank 0", "    at "],
        status: 139,
        models: &MODELS,
    },
    Row {
        name: "time-limit",
        program: "test:hang",
        arguments: &[],
        options: &["-n", "2", "--timeout", "1"],
        said: &["the job has run into its time limit", "rank 0 on core 0", "rank 1 on core 1"],
        status: 124,
        models: &MODELS,
    },
    // The second core's counter is far ahead.
    Row {
        name: "clocks",
        program: "test:clock",
        arguments: &[],
        options: &["-n", "2", "--log", "info", "--inject", "skewed-counters"],
        said: &[
            "the time stamp counter of core 1 is ahead by 10995116",
            "rank 1 saw time go backwards 0 times",
        ],
        status: 0,
        models: &["corei7_skylake_x"],
    },
    // By AMD's instruction; none of the models has Intel's.
    Row {
        name: "sleeps",
        program: "test:waits",
        arguments: &[],
        options: &["-n", "2", "--log", "debug", "--wait", "mwait"],
        said: &["while rank 0 waits, it sleeps", "mwait: true"],
        status: 0,
        models: &["ryzen"],
    },
];

/// Runs every row on each of its models. Status 0 if all pass, else 1.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let wanted = |model: &str, row: &Row| {
        let name = format!("{model}-{}", row.name);
        let asked = options.row.as_deref().is_none_or(|part| name.contains(part));
        (asked && row.models.contains(&model)).then_some(name)
    };
    let all: Vec<_> = MODELS
        .iter()
        .flat_map(|model| ROWS.iter().filter_map(move |row| Some((wanted(model, row)?, *model, row))))
        .collect();
    if all.is_empty() {
        return Err(Failure::usage("no test in Bochs has that in its name; --list shows all"));
    }
    if options.list {
        all.iter().for_each(|(name, ..)| show!("{name}"));
        return Ok(0);
    }
    let there = packages::find_command("bochs").is_some() && ROMS.iter().all(|rom| Path::new(rom).is_file());
    if !there {
        packages::install(&PACKAGES, options.verbose)?;
    }
    let lwk = Lwk::new(tree)?;
    let mut failed = 0;
    for (name, model, row) in &all {
        let begun = Instant::now();
        match boot(&lwk, model, row) {
            Ok(()) => show!("ok    {name} ({:.0} s)", begun.elapsed().as_secs_f64()),
            Err(why) => {
                failed += 1;
                show!("FAIL  {name}\n      {}", why.replace('\n', "\n      "));
            }
        }
    }
    show!("{} passed, {failed} failed", all.len() - failed);
    Ok(i32::from(failed > 0))
}

/// Boots a row's image on a model. The error says what was wrong.
fn boot(lwk: &Lwk, model: &str, row: &Row) -> Result<(), String> {
    let plain = |failure: Failure| failure.message;
    let folder = lwk.folder()?;
    let (image, configuration, commands) =
        (folder.file("disk.img"), folder.file("bochsrc"), folder.file("commands"));
    make_image(lwk, row, &image)?;
    let cylinders = pad(&image).map_err(plain)?;
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let text = configuration_of(model, &image, cylinders, port);
    fs::write(&configuration, text).doing(|| "write Bochs's configuration".into()).map_err(plain)?;
    // Debian's is built with its debugger, which waits for a command.
    fs::write(&commands, "c\n").doing(|| "write Bochs's commands".into()).map_err(plain)?;
    let log = fs::File::create(folder.file("bochs.log")).map_err(|error| error.to_string())?;
    let mut command = Command::new("bochs");
    command.arg("-q").arg("-f").arg(&configuration).arg("-rc").arg(&commands);
    command.env("SDL_VIDEODRIVER", "dummy").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let mut emulator =
        child::spawn_bound(&mut command).map_err(|error| format!("bochs does not start: {error}"))?;
    let heard = accept(&listener, &emulator).and_then(|line| listen(line, Instant::now() + LIMIT));
    child::kill(&mut emulator);
    judge(row, &heard?)
}

fn make_image(lwk: &Lwk, row: &Row, image: &Path) -> Result<(), String> {
    let mut words: Vec<std::ffi::OsString> =
        ["image", "--firmware", "bios", "--mem", "16"].iter().chain(row.options).map(Into::into).collect();
    let program = lwk.program(&Program::named(row.program));
    words.extend(["-o".into(), image.as_os_str().to_owned(), program.into_os_string()]);
    if !row.arguments.is_empty() {
        words.push("--".into());
        words.extend(row.arguments.iter().map(Into::into));
    }
    let ended = lwk.command(&words, LIMIT.as_secs())?;
    if ended.status == Some(0) { Ok(()) } else { Err(format!("no image: {}", ended.stderr.trim_end())) }
}

/// Fills the image up to whole cylinders, and gives their number.
fn pad(image: &Path) -> Outcome<u64> {
    let what = || format!("lengthen {}", image.display());
    let file = fs::File::options().write(true).open(image).doing(what)?;
    let cylinders = file.metadata().doing(what)?.len().div_ceil(CYLINDER_BYTES);
    file.set_len(cylinders * CYLINDER_BYTES).doing(what)?;
    Ok(cylinders)
}

fn configuration_of(model: &str, image: &Path, cylinders: u64, port: u16) -> String {
    let [bios, vga] = ROMS;
    format!(
        "cpu: model={model}, count=2:1:1, ips=100000000, reset_on_triple_fault=0\n\
         memory: guest={MEMORY_MIB}, host={MEMORY_MIB}\n\
         romimage: file={bios}\n\
         vgaromimage: file={vga}\n\
         ata0: enabled=1\n\
         ata0-master: type=disk, path={}, mode=flat, cylinders={cylinders}, heads=16, spt=63\n\
         boot: disk\n\
         com1: enabled=1, mode=socket-client, dev=127.0.0.1:{port}\n\
         display_library: sdl2\n\
         panic: action=fatal\n\
         error: action=report\n\
         log: {}\n",
        image.display(),
        image.with_extension("log").display(),
    )
}

/// The emulator's connection. Errors: it has ended instead.
fn accept(listener: &TcpListener, emulator: &std::process::Child) -> Result<TcpStream, String> {
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    loop {
        match listener.accept() {
            Ok((line, _)) => {
                line.set_nonblocking(false).map_err(|error| error.to_string())?;
                return Ok(line);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.to_string()),
        }
        // Returns at once if it has ended, and is what this loop waits by.
        if child::ends_within(emulator, Duration::from_millis(50)).map_err(|error| error.to_string())? {
            return Err("bochs ended before the node could say anything".into());
        }
    }
}

/// All that the node says until its job has ended.
fn listen(mut line: TcpStream, deadline: Instant) -> Result<String, String> {
    let (mut heard, mut bytes) = (String::new(), [0; 4096]);
    loop {
        let done = heard.rfind(ENDED).is_some_and(|at| heard[at..].contains('\n'));
        if done {
            return Ok(heard);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(format!("the node has not ended; heard:\n{heard}"));
        }
        line.set_read_timeout(Some(left)).map_err(|error| error.to_string())?;
        match line.read(&mut bytes) {
            Ok(0) => return Err(format!("bochs ended; heard:\n{heard}")),
            Ok(length) => heard.push_str(&String::from_utf8_lossy(&bytes[..length])),
            Err(error) if lwk::session::is_time_out(error.kind()) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn judge(row: &Row, heard: &str) -> Result<(), String> {
    let ended = format!("{ENDED}{}.", row.status);
    let missing: Vec<_> =
        row.said.iter().copied().chain([&*ended]).filter(|words| !heard.contains(words)).collect();
    if missing.is_empty() && !heard.contains("margay: warn") && !heard.contains("margay: panic") {
        return Ok(());
    }
    Err(format!("not said: {missing:?}; heard:\n{heard}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_end_is_no_pass() {
        let row = &ROWS[0];
        let good = "margay: 2 cores, x\n0 wrong words\nmargay: the job has ended with status 0.\n";
        assert!(judge(row, good).is_ok());
        assert!(judge(row, &good.replace("status 0", "status 1")).is_err());
        assert!(judge(row, &good.replace("0 wrong", "7 wrung")).is_err());
        assert!(judge(row, &format!("margay: panic: x\n{good}")).is_err());
    }

    #[test]
    fn the_disk_has_whole_cylinders() {
        let file = std::env::temp_dir().join(format!("lwk-bochs-{}", std::process::id()));
        fs::write(&file, [7]).unwrap();
        assert_eq!(pad(&file).unwrap(), 1);
        assert_eq!(fs::metadata(&file).unwrap().len(), CYLINDER_BYTES);
        assert_eq!(pad(&file).unwrap(), 1);
        fs::remove_file(&file).unwrap();
    }
}
