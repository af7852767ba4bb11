//! `cargo lwk run --host`: the same job, by the same rules, in the host home (crate `lwk-home`) instead of a node in QEMU.
//!
//! Promises: as [`lwk::session`]; the job is gone when it returns.

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use lwk_abi::exit::{KERNEL_PANIC, TIMEOUT};
use lwk_home::{Home, Plug, Surroundings, Tools, Valgrind, Volume};

use lwk::build::Builder;
use lwk::catalog::Named;
use lwk::cli::RunOptions;
use lwk::console::printer::Printer;
use lwk::console::record::Parser;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::files;
use lwk::image;
use lwk::nodes::loopback;
use lwk::packages;
use lwk::reports;
use lwk::run::{ask_runtime, job_of};
use lwk::session::{GRACE, is_time_out};
use lwk::switch::command;
use lwk::symbols::Symbols;
use lwk::tree::Tree;

/// MiB that files may take in a job under valgrind that is not told otherwise.
const VALGRIND_FILE_MIB: u64 = 64;

/// Runs a job on this machine and gives its status. Errors: those of [`lwk::run::run`], as far as they have to do with no emulator.
pub fn run(tree: &Tree, options: &RunOptions) -> Outcome<i32> {
    if options.nodes > 1 {
        return crate::nodes::run(tree, options);
    }
    lwk::nodes::refuse_for_one(options)?;
    let mut job = job_of(&options.job)?;
    job.log = options.log.map(|level| level.of_job());
    job.report = options.report || options.report_json.is_some();
    ask_runtime(&mut job, options);
    loopback::place(&mut job, options);
    if options.cwd.is_some() && (!options.job.file.is_empty() || options.out.is_some()) {
        return Err(Failure::usage(
            "on this machine --cwd is for its own files, and --file and --out are for the job's; leave the one or the others away",
        ));
    }
    let surroundings = Surroundings {
        folder: options.cwd.clone(),
        input: options.launched.is_some(),
        alone: options.launched.as_ref().is_some_and(|launched| launched.alone),
    };
    if let Some(folder) = options.cwd.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(Failure::usage(format!(
            "the current folder cannot be {}: there is no such folder",
            folder.display()
        )));
    }
    let given = files::image(&options.job, None)?;
    options.out.as_deref().map_or(Ok(()), files::check_out)?;
    let program = match Named::find(tree, &options.job.app)? {
        // Nothing is built, and so nothing needed for it.
        Named::File(path) => path,
        named => named.build(tree, &Builder::new(tree, options.built, options.verbose)?)?,
    };
    let (plug, switch) = match options.job.is_loop() {
        true => {
            let (wires, switch, _) = crate::nodes::wires(options)?;
            (Some(Plug::Wire { wires, node: 0 }), switch)
        }
        false => (None, None),
    };
    let tools = Tools { hold: options.gdb, valgrind: valgrind(options)?, plug, ..Tools::default() };
    let started_ns = files::now_ns();
    let volume = Volume::with_image(&given, file_space(options));
    let volume = volume.doing(|| "make the job's file system".into())?;
    let home = Home::start(&program, &job.encode(), &tools, &volume, &surroundings);
    let mut home = home.doing(|| "start the host home".into())?;
    if options.verbose {
        tell!("lwk: the node is process {}", home.process());
    }
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let symbols = Symbols::of_program(&program, tree.root());
    let mut printer = Printer::new(&mut out, &mut err, options.tag, symbols, Symbols::none());
    let ended = supervise(&mut home, &mut printer, options.limit());
    // Every rank has ended, and the node with them.
    drop(home);
    let back: Vec<_> = options.out.as_deref().map(files::Back::out).into_iter().collect();
    volume.release_lock();
    let mut brought_back = Ok(());
    let opened = volume.with(|files| {
        brought_back = files::bring_back(files, &back);
        files::tell_lost(files, started_ns, &back);
        Ok(())
    });
    let brought_back = opened.map_err(|_| files::lost("the file system is damaged")).and(brought_back);
    let ended = files::conclude(ended, brought_back);
    let status = ended.as_ref().map_or_else(|failure| failure.status, |status| *status);
    let report = &printer.heard().report;
    if let Some(file) = &options.report_json {
        image::write_file(file, format!("{:#}\n", report.json(status)).as_bytes())?;
    }
    reports::print(report, options);
    let status = ended?;
    switch.map_or(Ok(()), |switch| command::check_capture(&switch.stop()))?;
    Ok(status)
}

/// Bytes that files may take, if that is said or the job runs under valgrind: memcheck's search for leaks reads, and so takes, all memory that a
/// rank can write, this among it.
fn file_space(options: &RunOptions) -> Option<u64> {
    let under_valgrind = options.valgrind.is_some().then_some(VALGRIND_FILE_MIB);
    options.job.file_space.or(under_valgrind).map(|mib| mib << 20)
}

/// Valgrind, if it is asked for.
fn valgrind(options: &RunOptions) -> Outcome<Option<Valgrind>> {
    let Some(words) = &options.valgrind else { return Ok(None) };
    Ok(Some(Valgrind {
        command: packages::find_valgrind(options.verbose)?,
        options: words.split_whitespace().map(Into::into).collect(),
        ranks: options.valgrind_rank.clone(),
    }))
}

/// Listens to the node until it ends and gives the status of the command.
fn supervise(home: &mut Home, printer: &mut Printer<'_>, limit: Option<Duration>) -> Outcome<i32> {
    let mut parser = Parser::default();
    let mut deadline = limit.map(|limit| Instant::now() + limit);
    let mut asked = false;
    let mut bytes = [0u8; 16 << 10];
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) {
            if asked {
                home.turn_away();
                break;
            }
            // A node that cannot be told has ended, and what it has said until then is still to be read.
            asked = home.time_is_up().is_ok();
            printer.time_is_up();
            deadline = asked.then(|| Instant::now() + GRACE);
            continue;
        }
        home.console().set_read_timeout(left).doing(|| "wait for the node".into())?;
        let length = match home.console().read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if is_time_out(error.kind()) => continue,
            // The node was killed with bytes unread on its side.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error).doing(|| "read the node's console".into()),
        };
        let mut printed = Ok(());
        parser.feed(&bytes[..length], |record| {
            if printed.is_ok() {
                printed = printer.record(&record);
            }
        });
        printed.doing(|| "write the job's output".into())?;
    }
    home.stop().doing(|| "wait for the node".into())?;
    printer.finish().doing(|| "write the job's output".into())?;
    if asked {
        let limit = limit.unwrap_or_default().as_secs();
        let message = format!("the job ran into its time limit of {limit} s and was ended");
        return Err(Failure { message, status: TIMEOUT });
    }
    match printer.heard().end {
        Some(status) => Ok(i32::try_from(status).unwrap_or(KERNEL_PANIC)),
        None => Err(Failure {
            message: "the process of the host home's node ended before the job had (was it killed?)".into(),
            status: KERNEL_PANIC,
        }),
    }
}
