//! `cargo lwk run` and `cargo lwk image`: from a program's name to the status of its job.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use lwk_abi::address::{MAX_RANKS, SEGMENT_BYTES_MIN};
use lwk_abi::portals::KERNEL_BYTES;
use lwk_abi::runtime::{APART, PROFILE, REPORT, TRANSPORT};
use lwk_job::{INJECTIONS, Inject};

use crate::build::{Builder, Kernel};
use crate::catalog::Named;
use crate::cli::{ImageOptions, JobOptions, Level, MachineEnd, RunOptions};
use crate::console::printer::Printer;
use crate::emulator::{self, find_qemu};
use crate::failure::{Doing, Failure, Outcome};
use crate::job::{AtEnd, ConsoleForm, Job};
use crate::nodes::loopback::{self, Loop};
use crate::progress::Step;
use crate::qemu::{Boot, GDB_PORT, Machine, Node};
use crate::reports;
use crate::session::{self, Plan};
use crate::symbols::{Symbols, bias_of};
use crate::tree::{RunFolder, Tree};
use crate::tuning::Tuning;
use crate::{files, image, memory};

/// OpenMP's variable for the most threads of a program, with its equals sign (OpenMP 5.2, section 21.1.4).
const THREAD_LIMIT: &str = "OMP_THREAD_LIMIT=";

/// The program that looks at a machine, and the one in whose place it comes.
const CHECK: &str = "check";
const CHECKED: &str = "smap-ring";

/// Most cores of a node: one for each rank it can hold.
pub const CORES_MAX: u32 = MAX_RANKS as u32;

/// The way to fail with this name. Errors: there is none.
pub fn injection(name: &str) -> Outcome<Inject> {
    let wrong = || Failure::usage(format!("--inject takes {INJECTIONS}, not {name:?}"));
    Inject::parse(name.as_bytes()).ok_or_else(wrong)
}

/// Runs a job on a node in QEMU and gives its status.
///
/// # Errors
/// Wrong use, something that the host lacks, the time limit, or a node that dies: each with its status ([`crate::failure`]).
pub fn run(tree: &Tree, options: &RunOptions) -> Outcome<i32> {
    if options.nodes > 1 {
        return crate::nodes::qemu::run(tree, options);
    }
    crate::nodes::refuse_for_one(options)?;
    let mut job = job_of(&options.job)?;
    let cores = check_cores(options)?;
    job.log = options.log.map(|level| level.of_job());
    job.report = options.report || options.report_json.is_some();
    ask_runtime(&mut job, options);
    loopback::place(&mut job, options);
    let current = options.cwd.as_deref().map(files::Back::current).transpose()?;
    job.folder = current.as_ref().map(|back| back.path().to_vec());
    job.out = options.out.is_some() || current.is_some();
    // For whoever looks at the node when the job has ended.
    job.at_end = if options.screen.is_some() || job.out { AtEnd::Wait } else { AtEnd::Exit };
    let given = files::image(&options.job, current.as_ref())?;
    options.out.as_deref().map_or(Ok(()), files::check_out)?;
    job.inject = options.inject.as_deref().map(injection).transpose()?;
    let named = Named::find(tree, &options.job.app)?;
    memory_needed(options, cores, 0)?;

    let verbose = options.verbose;
    let builder = Builder::new(tree, options.built, verbose)?;
    let qemu = find_qemu(tree, verbose)?;
    let firmware = emulator::firmware(tree, options.firmware, verbose)?;
    let (image_builder, (file, program, kernel)) = builder.with_image_builder(options.firmware, || {
        let file = named.build(tree, &builder)?;
        let program = image::read_program(&file)?;
        if !options.no_check {
            check_program(&file, &program)?;
        }
        Ok((file, program, builder.kernel()?))
    })?;

    let folder = RunFolder::new(tree)?;
    let disk = folder.file("disk.img");
    let any_given = !options.job.file.is_empty() || current.is_some();
    let ram_disk = image::ram_disk(&job, &program, any_given.then_some(&given[..]))?;
    {
        let _step = Step::begin("making the disk image", verbose);
        let ram_disk_file = folder.file("ramdisk.tar");
        image::write_file(&ram_disk_file, &ram_disk)?;
        image::write(&image_builder, &kernel.stripped, &ram_disk_file, &disk, &folder.file(""))?;
    }
    // What is given is in the RAM disk and in the file system.
    let given_bytes = given.as_flattened().len() as u64;
    let memory_mib = memory_needed(options, cores, ram_disk.len() as u64 + given_bytes)?;
    let accelerator = options.accel.settle();
    let wire = Loop::start(options)?;
    let machine = Machine {
        boot: Boot::Disk(disk),
        firmware,
        cores,
        memory_mib,
        accelerator,
        cpu: options.cpu.clone(),
        more: options.qemu.split_ascii_whitespace().map(str::to_owned).collect(),
        gdb: options.gdb,
        host_cores: host_cores(),
        card: wire.as_ref().map(Loop::card).transpose()?,
    };
    let back = options.out.as_deref().map(files::Back::out).into_iter().chain(current).collect();
    let status = boot(tree, options, &qemu, &machine, &folder, (&kernel, &file), back)?;
    wire.map_or(Ok(()), |wire| wire.end(options.report))?;
    Ok(status)
}

/// Boots the image and listens to the node until its end.
fn boot(
    tree: &Tree,
    options: &RunOptions,
    qemu: &Path,
    machine: &Machine,
    folder: &RunFolder,
    (kernel, program): (&Kernel, &Path),
    back: Vec<files::Back>,
) -> Outcome<i32> {
    // Not a step of progress: the terminal is the job's now.
    let started = Instant::now();
    let mut node = Node::start(qemu, machine, folder.file("qemu.log"))?;
    if options.gdb {
        print_debugger(&kernel.elf, program);
    }
    if options.verbose {
        let words: Vec<_> =
            machine.arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        tell!("lwk: process {}: {} {}", node.process(), qemu.display(), words.join(" "));
    }
    let limit = options.limit();
    let screen = options.screen.as_ref().map(|png| (folder.file("screen.ppm"), png.clone()));
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let of_program = Symbols::of_program(program, tree.root());
    let of_kernel = Symbols::of(&kernel.elf, tree.root());
    let mut printer = Printer::new(&mut out, &mut err, options.tag, of_program, of_kernel);
    let back = (!back.is_empty()).then(|| (folder.file("memory"), back));
    let ended = session::supervise(&mut node, &mut printer, &Plan { limit, screen, back });
    if options.verbose {
        tell!("lwk: {:6.3} s running the job", started.elapsed().as_secs_f64());
    }
    let status = ended.as_ref().map_or_else(|failure| failure.status, |status| *status);
    let report = &printer.heard().report;
    if let Some(file) = &options.report_json {
        image::write_file(file, format!("{:#}\n", report.json(status)).as_bytes())?;
    }
    reports::print(report, options);
    ended
}

/// Writes a disk image for a real machine and says how to use it. Errors: as [`run`], before anything boots.
pub fn write_image(tree: &Tree, options: &ImageOptions) -> Outcome<i32> {
    let wanted = if options.check { check_job(&options.job)? } else { options.job.clone() };
    let mut job = job_of(&wanted)?;
    job.on_each_core = options.check;
    let log = options.log.or(options.check.then_some(Level::Debug));
    job.log = log.map(Level::of_job);
    job.console = ConsoleForm::Plain;
    job.limit = options.timeout;
    job.inject = options.inject.as_deref().map(injection).transpose()?;
    let end;
    (job.at_end, end) = match options.at_end {
        MachineEnd::Halt => (AtEnd::Halt, "stops its cores"),
        MachineEnd::Off => (AtEnd::Off, "switches itself off"),
        MachineEnd::Reset => (AtEnd::Reset, "resets itself"),
    };
    let named = Named::find(tree, &wanted.app)?;
    let builder = Builder::new(tree, false, options.verbose)?;
    let (image_builder, (program, kernel)) = builder.with_image_builder(options.firmware, || {
        let file = named.build(tree, &builder)?;
        let program = image::read_program(&file)?;
        check_program(&file, &program)?;
        Ok((program, builder.kernel()?))
    })?;
    let folder = RunFolder::new(tree)?;
    let ram_disk = folder.file("ramdisk.tar");
    let given = files::image(&options.job, None)?;
    let given = (!options.job.file.is_empty()).then_some(&given[..]);
    image::write_file(&ram_disk, &image::ram_disk(&job, &program, given)?)?;
    let output = &options.output;
    image::write(&image_builder, &kernel.stripped, &ram_disk, output, &folder.file(""))?;
    let bytes = output.metadata().doing(|| format!("read {}", output.display()))?.len();
    show!("{}: {} MiB, boots on any 64-bit UEFI machine", output.display(), bytes.div_ceil(1 << 20));
    show!("Write it to a USB stick (everything on the stick is lost; /dev/sdX is the stick, see lsblk):");
    show!("    sudo dd if={} of=/dev/sdX bs=4M conv=fsync status=progress", output.display());
    show!("Switch Secure Boot off and boot from the stick. Output goes to the screen and to the serial port");
    show!(
        "that is the firmware's console (else the first, 115200 baud, 8N1); the machine {end} when the job has ended."
    );
    Ok(0)
}

/// What `image --check` boots in the place of [`CHECKED`]. Errors: another program is asked for.
fn check_job(options: &JobOptions) -> Outcome<JobOptions> {
    if options.app != CHECKED {
        return Err(Failure::usage(format!(
            "--check brings its own program in the place of {CHECKED}: give that name, not {:?}",
            options.app
        )));
    }
    Ok(JobOptions { app: CHECK.into(), args: vec!["--colour".into()], ..options.clone() })
}

/// The job as far as `run`, on a node or on this machine, and `image` share it.
pub fn job_of(options: &JobOptions) -> Outcome<Job> {
    if options.ranks > CORES_MAX {
        return Err(Failure::usage(format!("a node holds at most {MAX_RANKS} ranks, not {}", options.ranks)));
    }
    job_of_nodes(options)
}

/// As [`job_of`], where the ranks may be more than a node holds.
pub fn job_of_nodes(options: &JobOptions) -> Outcome<Job> {
    if options.ranks == 0 {
        return Err(Failure::usage("a job needs at least one rank; give -n 1 or more"));
    }
    let bytes_of = |mib: u64| {
        mib.checked_mul(1 << 20).filter(|bytes| *bytes >= SEGMENT_BYTES_MIN).ok_or_else(|| {
            let least = SEGMENT_BYTES_MIN >> 20;
            Failure::usage(format!("--mem {mib} is not possible; a rank has {least} MiB or more"))
        })
    };
    let memory = options.mem.map(bytes_of).transpose()?;
    for variable in &options.env {
        if variable.as_bytes().iter().position(|byte| *byte == b'=').is_none_or(|at| at == 0) {
            return Err(Failure::usage(format!("--env takes NAME=VALUE, not {}", variable.display())));
        }
    }
    if let Some(bind) = &options.bind
        && lwk_job::Bind::parse(bind.as_bytes()).is_none()
    {
        return Err(Failure::usage(format!("--bind takes {}, not {bind:?}", lwk_job::BINDINGS)));
    }
    let mut arguments = vec![OsString::from(&options.app)];
    arguments.extend(options.args.iter().cloned());
    let mut environment = options.env.clone();
    // A rank has one thread: what is compiled with -fopenmp then asks for no more.
    if !environment.iter().any(|variable| variable.as_bytes().starts_with(THREAD_LIMIT.as_bytes())) {
        environment.push(format!("{THREAD_LIMIT}1").into());
    }
    // Behind what the user sets: one variable is more particular than a file.
    environment.extend(Tuning::of(options)?.variables());
    if options.apart {
        environment.insert(0, format!("{APART}=1").into());
    }
    if let Some(transport) = &options.transport {
        // Before what the user sets: the first of two variables of one name counts, and --transport is the more particular.
        environment.insert(0, format!("{TRANSPORT}={transport}").into());
    }
    Ok(Job {
        ranks: options.ranks,
        on_each_core: false,
        memory,
        arguments,
        environment,
        log: None,
        oversubscribe: options.oversubscribe,
        report: false,
        cores: options.cores,
        bind: options.bind.clone(),
        wait: options.wait.of_job(),
        console: ConsoleForm::Framed,
        at_end: AtEnd::Exit,
        file_space: options.file_space.map(|mib| mib << 20),
        folder: None,
        out: false,
        inject: None,
        network: None,
        irq_core: None,
        workers: options.workers(),
        limit: None,
    })
}

/// Tells the runtime of the program what to report, by its environment, and the program its name, if it is not that of its file.
pub fn ask_runtime(job: &mut Job, options: &RunOptions) {
    if let (Some(name), Some(first)) =
        (options.launched.as_ref().and_then(|launched| launched.name.clone()), job.arguments.first_mut())
    {
        *first = name;
    }
    let asked = [(job.report, REPORT), (options.profile, PROFILE)];
    job.environment
        .extend(asked.iter().filter(|(asked, _)| *asked).map(|(_, name)| format!("{name}=1").into()));
}

/// Cores of the node: as asked for, else one for each rank and worker.
fn check_cores(options: &RunOptions) -> Outcome<u32> {
    let (ranks, workers) = (options.job.ranks, options.job.workers());
    let cores = options.job.cores.unwrap_or(ranks + workers);
    if cores == 0 || cores > CORES_MAX {
        return Err(Failure::usage(format!("a node has 1 to {CORES_MAX} cores, not {cores}")));
    }
    if workers >= cores && !options.no_check {
        return Err(Failure::usage(needs_workers(&options.job, cores)));
    }
    if workers > 0 && ranks > cores - workers && !options.job.oversubscribe && !options.no_check {
        return Err(Failure::usage(format!(
            "{}; or give --oversubscribe to let ranks share cores",
            needs_workers(&options.job, cores)
        )));
    }
    if ranks > cores && !options.job.oversubscribe && !options.no_check {
        return Err(Failure::usage(format!(
            "{ranks} ranks do not fit on {cores} cores; give more --cores, or --oversubscribe to share cores"
        )));
    }
    Ok(cores)
}

/// What to do if there is no core for each worker beside the ranks'.
pub fn needs_workers(options: &JobOptions, cores: u32) -> String {
    let what = match (&options.transport, options.workers) {
        (Some(transport), None) => format!("--transport {transport}"),
        _ => "--workers".into(),
    };
    format!(
        "{what} needs {} core(s) beside those of the {} rank(s), and there are {cores} in all; give more --cores or fewer ranks",
        options.workers(),
        options.ranks
    )
}

/// MiB of the node; a failure if the host does not have them.
fn memory_needed(options: &RunOptions, cores: u32, ram_disk: u64) -> Outcome<u64> {
    let job = &options.job;
    let of_rank = job.mem.unwrap_or(memory::DEFAULT_MIB);
    let files = job.file_space.unwrap_or_else(|| memory::default_file_mib(job.ranks, of_rank));
    let of_network = if job.is_loop() { KERNEL_BYTES } else { 0 };
    let beside = ram_disk.saturating_add(files << 20).saturating_add(of_network);
    let mib = match options.node_mem {
        Some(mib) => mib,
        None => memory::node_mib(job.ranks, of_rank, cores, beside)
            .ok_or_else(|| Failure::usage(format!("--mem {of_rank} is more than any machine has")))?,
    };
    memory::check_host(mib)?;
    Ok(mib)
}

/// The same check that the kernel makes, before anything boots.
pub fn check_program(file: &Path, program: &[u8]) -> Outcome<()> {
    match lwk_elf::parse(program) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::usage(format!("{} cannot run on a node: {error}", file.display()))),
    }
}

/// Cores of this machine that this process may use, and so QEMU; at least 1.
pub fn host_cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

fn print_debugger(kernel: &Path, program: &Path) {
    tell!("lwk: the node waits for a debugger; in another terminal, run");
    tell!(
        "    gdb -ex 'target remote :{GDB_PORT}' -ex '{}' {}",
        lwk_machine::add_symbols(program, bias_of(program)),
        kernel.display()
    );
    tell!("lwk: set a breakpoint with `hbreak` (code is not in memory yet), then `continue`");
}
