//! Ranks under valgrind: how a rank's process becomes valgrind, and how the loader inside of it becomes the rank.
//!
//! Valgrind translates the code of a process it has started itself. So the forked rank executes valgrind, which loads this
//! executable once more, and that takes the node's memory objects over by their descriptors. Two things are as valgrind needs
//! them:
//!
//! * Addresses. Valgrind would load the loader where the program belongs. So it is told to keep below [`LOADER_START`] free
//!   (`--aspace-minaddr`), and to start the dynamic linker, which is small and goes below the job page, with this
//!   executable as its argument. Valgrind itself lies at `0x5800_0000` and between 64 GiB and 128 GiB, in slot 0.
//! * System calls. Valgrind makes the program's from its own code, so Linux cannot tell the two apart and dispatch is of no
//!   use. Instead, the program's `syscall` instructions ([`crate::call_sites`]) are replaced by `ud2` in this process's own
//!   copy of the code, and arrive as `SIGILL`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lwk_abi::address::SLOT_SHIFT;
use lwk_abi::console as kind;
use lwk_mm::Access;
use lwk_mm::layout::Layout;
use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::Pid;
use object::{Object, ObjectSegment, SegmentFlags, elf};

use crate::arch;
use crate::board::Board;
use crate::call_sites::{self, CallSite, Unclear};
use crate::console::record;
use crate::files::Volume;
use crate::handlers::LOW_STACK;
use crate::pages::Pages;
use crate::rank::{self, Life, Start};
use crate::segment::{self, Segment};
use crate::setup::{self, FilePart, HOST_LACKS, Setup, SetupError};

/// The loader's own memory under valgrind begins here, and every segment ends here or below.
const LOADER_START: u64 = 0x4000_0000;
/// First argument of the loader under valgrind; the second is the descriptor of the [`Plan`].
pub const RANK: &str = "--margay-host-rank";
/// Words of a [`Plan`] before the first descriptor of a segment.
const FIXED_WORDS: usize = 15;

/// Valgrind, for some ranks or all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Valgrind {
    /// Its command.
    pub command: PathBuf,
    /// Further options, its own and its tool's.
    pub options: Vec<OsString>,
    /// The ranks to run under it; all, if none is named.
    pub ranks: Vec<u32>,
}

impl Valgrind {
    /// Whether this rank runs under it.
    pub fn takes(&self, rank: u32) -> bool {
        self.ranks.is_empty() || self.ranks.contains(&rank)
    }

    /// As arguments of the node's process: command, ranks separated by commas, options.
    pub fn arguments(&self) -> Vec<OsString> {
        let ranks: Vec<String> = self.ranks.iter().map(u32::to_string).collect();
        let mut arguments = vec![self.command.clone().into(), ranks.join(",").into()];
        arguments.extend(self.options.iter().cloned());
        arguments
    }

    /// The other end of [`Valgrind::arguments`]; nothing, if there are none.
    pub fn from_arguments(mut arguments: impl Iterator<Item = OsString>) -> Option<Valgrind> {
        let (command, ranks) = (arguments.next()?, arguments.next()?);
        let ranks = ranks.to_str()?.split(',').filter_map(|rank| rank.parse().ok()).collect();
        Some(Valgrind { command: command.into(), options: arguments.collect(), ranks })
    }

    /// Checks what this job asks of it, and finds the program's system calls.
    ///
    /// # Errors
    /// A rank that the job has not, a segment that reaches above 1 GiB, or code in which a system call cannot be told from data.
    pub fn check(&self, setup: &Setup, program: &Path) -> Result<Vec<CallSite>, SetupError> {
        let ranks = setup.places.len();
        if let Some(rank) = self.ranks.iter().find(|rank| **rank as usize >= ranks) {
            return Err(SetupError::usage(format!(
                "rank {rank} shall run under valgrind, and the job has ranks 0 to {}",
                ranks - 1
            )));
        }
        if setup.layout.stack_end > LOADER_START {
            let start = setup.layout.segment_start;
            let most = LOADER_START.saturating_sub(start) >> 20;
            return Err(SetupError::usage(format!(
                "a rank under valgrind can have {most} MiB at most; give a smaller --mem"
            )));
        }
        let cannot = |why: String| SetupError::usage(format!("{}: {why}", program.display()));
        let content = whole(&setup.file).map_err(|error| cannot(error.to_string()))?;
        let parsed = lwk_elf::parse(&content).map_err(|error| cannot(error.to_string()))?;
        call_sites::find(&parsed, &content).map_err(|Unclear(address)| {
            cannot(format!(
                "the bytes at {address:#x} may be a system call, which valgrind needs to know; give it a program with its \
                 symbols (not stripped)"
            ))
        })
    }
}

/// What the loader under valgrind starts from, besides the program's file.
#[derive(Debug)]
struct Plan {
    rank: u32,
    core: u32,
    cores: u32,
    ranks: u32,
    node: i32,
    report: RawFd,
    board: RawFd,
    program: RawFd,
    files: RawFd,
    /// 1 if calls on files are Linux's.
    own_files: u64,
    memory: u64,
    pages: Pages,
    sharing: u64,
    stack_pointer: u64,
    /// Of each rank, the second -1 without reserved huge pages.
    segments: Vec<[RawFd; 2]>,
    sites: Vec<CallSite>,
}

impl Plan {
    fn words(&self) -> Vec<u64> {
        let fd = |fd: RawFd| fd as u64;
        let mut words = vec![
            self.rank.into(),
            self.core.into(),
            self.cores.into(),
            self.ranks.into(),
            self.node as u64,
            fd(self.report),
            fd(self.board),
            fd(self.program),
            fd(self.files),
            self.own_files,
            self.memory,
            self.pages as u64,
            self.sharing,
            self.stack_pointer,
            self.sites.len() as u64,
        ];
        words.extend(self.segments.iter().flatten().map(|object| fd(*object)));
        words.extend(self.sites.iter().flat_map(|site| [site.start, site.end]));
        words
    }

    fn from_words(words: &[u64]) -> Option<Plan> {
        let (fixed, rest) = words.split_first_chunk::<FIXED_WORDS>()?;
        let [
            rank,
            core,
            cores,
            ranks,
            node,
            report,
            board,
            program,
            files,
            own_files,
            memory,
            pages,
            sharing,
            stack_pointer,
            sites,
        ] = *fixed;
        let fd = |word: u64| word as RawFd;
        let (segments, rest) = rest.split_at_checked(ranks as usize * 2)?;
        let plan = Plan {
            rank: rank as u32,
            core: core as u32,
            cores: cores as u32,
            ranks: ranks as u32,
            node: node as i32,
            report: fd(report),
            board: fd(board),
            program: fd(program),
            files: fd(files),
            own_files,
            memory,
            pages: Pages::from_number(pages)?,
            sharing,
            stack_pointer,
            segments: segments.chunks_exact(2).map(|pair| [fd(pair[0]), fd(pair[1])]).collect(),
            sites: rest.chunks_exact(2).map(|pair| CallSite { start: pair[0], end: pair[1] }).collect(),
        };
        (plan.sites.len() as u64 == sites).then_some(plan)
    }

    /// Everything that must outlive the change of executable.
    fn descriptors(&self) -> impl Iterator<Item = RawFd> {
        let segments = self.segments.iter().flatten().copied().filter(|fd| *fd >= 0);
        [self.report, self.board, self.program, self.files].into_iter().chain(segments)
    }
}

/// The forked rank's part: becomes valgrind. Comes back only to say why it could not.
pub fn execute(
    start: &Start<'_>,
    valgrind: &Valgrind,
    sites: &[CallSite],
) -> Result<std::convert::Infallible, String> {
    let setup = start.setup;
    let plan = Plan {
        rank: start.rank,
        core: setup.places[start.rank as usize].core.into(),
        cores: rank::cores(setup),
        ranks: setup.segments.len() as u32,
        node: start.node.as_raw(),
        report: start.report,
        board: start.board_object,
        program: setup.file.as_raw_fd(),
        files: start.volume.descriptor(),
        own_files: start.own_files.is_some().into(),
        memory: setup.layout.segment_bytes,
        pages: setup.pages,
        sharing: setup.sharing,
        stack_pointer: setup.stack_pointer,
        segments: setup.segments.iter().map(Segment::descriptors).collect(),
        sites: sites.to_vec(),
    };
    let prepare = || -> io::Result<(OwnedFd, PathBuf, PathBuf)> {
        let handed = hand_over(&plan)?;
        let loader = std::env::current_exe()?;
        let linker = interpreter(&fs::read(&loader)?)?;
        Ok((handed, linker, loader))
    };
    let (handed, linker, loader) =
        prepare().map_err(|error| format!("cannot prepare for valgrind: {error}"))?;
    let mut command = std::process::Command::new(&valgrind.command);
    command.arg(format!("--aspace-minaddr={LOADER_START:#x}"));
    // `ud2` is no error here; what valgrind would run at the end needs the loader's libc, whose thread pointer is gone; and a
    // program's heap must stay in its segment.
    command.args(["--sigill-diagnostics=no", "--run-libc-freeres=no", "--run-cxx-freeres=no"]);
    command.arg("--soname-synonyms=somalloc=nouserintercepts");
    command.args(&valgrind.options).arg(linker).arg(loader).arg(RANK).arg(handed.as_raw_fd().to_string());
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(format!("cannot start {}: {error}", valgrind.command.display()))
}

/// Leaves open across the change of executable what the plan names, and the plan itself, in the object returned.
fn hand_over(plan: &Plan) -> io::Result<OwnedFd> {
    const CLOSE_RANGE_CLOEXEC: libc::c_uint = 4;
    // SAFETY: changes only what happens to descriptors in an `exec`.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    for fd in plan.descriptors() {
        // SAFETY: changes only what happens to this descriptor in an `exec`.
        if unsafe { libc::fcntl(fd, libc::F_SETFD, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let mut object = File::from(memfd_create(c"margay-plan", MFdFlags::empty())?);
    let bytes: Vec<u8> = plan.words().into_iter().flat_map(u64::to_ne_bytes).collect();
    object.write_all(&bytes)?;
    Ok(object.into())
}

/// The dynamic linker that an executable names.
fn interpreter(executable: &[u8]) -> io::Result<PathBuf> {
    use object::read::elf::{ElfFile64, ProgramHeader};
    let other = |why: &str| io::Error::other(why.to_string());
    let file =
        ElfFile64::<object::Endianness>::parse(executable).map_err(|error| other(&error.to_string()))?;
    let endian = file.endianness();
    let named =
        file.elf_program_headers().iter().find_map(|header| header.interpreter(endian, executable).ok()?);
    named
        .map(|name| OsString::from_vec(name.to_vec()).into())
        .ok_or_else(|| other("this command is linked statically; build it with the system's libraries"))
}

/// The whole life of the loader under valgrind; the status says only that it could not become the rank.
pub fn main(handed: Option<OsString>) -> ExitCode {
    let Some(plan) = handed.and_then(|fd| read_plan(fd.to_str()?.parse().ok()?)) else {
        eprintln!("margay: error: {RANK} is not for people; use cargo lwk run --host --valgrind");
        return ExitCode::from(HOST_LACKS as u8);
    };
    let report = plan.report;
    let rank = plan.rank;
    let Err(message) = become_rank(plan).map(|never| match never {});
    let text = format!("rank {rank}: {message}");
    // SAFETY: the descriptor was handed over for reports, and nobody else has it.
    let mut report = unsafe { File::from_raw_fd(report) };
    // If that fails too, the status still says that the rank did not start.
    let _ = record(&mut report, kind::KERNEL, 1, text.as_bytes());
    ExitCode::from(HOST_LACKS as u8)
}

fn read_plan(fd: RawFd) -> Option<Plan> {
    if fd < 3 {
        return None;
    }
    // SAFETY: the descriptor was handed over for this; a wrong one cannot be read as a plan.
    let object = unsafe { File::from_raw_fd(fd) };
    let bytes = whole(&object).ok()?;
    let words: Vec<u64> =
        bytes.chunks_exact(8).filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))).collect();
    Plan::from_words(&words)
}

/// All of a file, whose offset other processes share.
fn whole(file: &File) -> io::Result<Vec<u8>> {
    let mut content = vec![0; file.metadata()?.len() as usize];
    file.read_exact_at(&mut content, 0)?;
    Ok(content)
}

fn become_rank(plan: Plan) -> Result<std::convert::Infallible, String> {
    let say = |what: &'static str| move |error: Errno| format!("cannot {what}: {}", error.desc());
    // SAFETY: here and below: the descriptors were handed over for this, and are closed when these owners go.
    let owned = |fd: RawFd| unsafe { OwnedFd::from_raw_fd(fd) };
    let board = Board::of(&owned(plan.board)).map_err(say("map the board"))?;
    let program = File::from(owned(plan.program));
    let volume =
        Volume::of(owned(plan.files)).map_err(|error| format!("cannot map the job's files: {error}"))?;
    // For as long as this process lives.
    let volume: &'static Volume = Box::leak(Box::new(volume));
    let content = whole(&program).map_err(|error| format!("cannot read the program: {error}"))?;
    let parsed = lwk_elf::parse(&content).map_err(|error| error.to_string())?;
    let layout = Layout::new(&setup::ranges(&parsed), plan.memory).map_err(|error| error.to_string())?;
    let segments: Vec<Segment> = plan
        .segments
        .iter()
        .map(|[small, huge]| Segment::from_descriptors(owned(*small), (*huge >= 0).then(|| owned(*huge))))
        .collect();
    let mine = segments.get(plan.rank as usize).ok_or("is not in its own job")?;

    check_free(&layout, plan.ranks)?;
    for (rank, segment) in segments.iter().enumerate() {
        // SAFETY: `check_free` has found nothing in this slot.
        unsafe { segment.map_over(&layout, rank as u64 + 1, |_| true) }
            .map_err(say("map a peer's segment"))?;
    }
    // Valgrind reads a file's symbols once it has seen all of it mapped, code last. What this process shares with its peers
    // takes the place of the rest at once. What cannot be mapped so has no symbols, as in a rank of its own.
    for (part, access) in data_of(&content, parsed.bias) {
        // SAFETY: `check_free` has found nothing in slot 0, and nothing uses what has been mapped there
        // since.
        let _ = unsafe { segment::map_part(&part, access, &program) };
    }
    let code = setup::code_of(&parsed, &content);
    let executable = parsed.segments.iter().filter(|segment| segment.access.execute);
    let all_code =
        code.len() == executable.count() && code.iter().all(|part| segment::map_code(part, &program).is_ok());
    // SAFETY: `check_free` has found nothing in slot 0, and the program, whose parts have been mapped there
    // since, does not run yet.
    unsafe { mine.map_over(&layout, 0, |region| !(all_code && region.access.execute)) }
        .map_err(say("map the segment at slot 0"))?;
    replace_calls(&layout, &plan.sites).map_err(say("take over system calls"))?;
    arch::register_stack(layout.stack_start, layout.stack_end);
    let life = Life {
        rank: plan.rank,
        core: plan.core,
        cores: plan.cores,
        ranks: plan.ranks,
        layout,
        board,
        node: Pid::from_raw(plan.node),
        report: plan.report,
        pages: plan.pages,
        sharing: plan.sharing,
        entry: parsed.entry,
        stack_pointer: plan.stack_pointer,
        hold: false,
        volume,
        network: None,
        own_files: (plan.own_files != 0).then(Vec::new),
        sites: Some(plan.sites),
    };
    drop(parsed);
    drop((segments, program, content));
    rank::live(life)
}

/// Constants and variables of a program in its file. Variables that are all zero are the page where they would be, which
/// valgrind wants to see, too. All is `bias` above the file's addresses.
fn data_of(content: &[u8], bias: u64) -> Vec<(FilePart, Access)> {
    let Ok(file) = object::File::parse(content) else { return Vec::new() };
    let parts = file.segments().filter_map(|segment| {
        let SegmentFlags::Elf { p_flags, .. } = segment.flags() else { return None };
        let (offset, bytes) = segment.file_range();
        let access = if (p_flags & elf::PF_W).0 != 0 { Access::RW } else { Access::R };
        let part = FilePart::new(segment.address().wrapping_add(bias), bytes.max(1), offset)?;
        ((p_flags & elf::PF_X).0 == 0).then_some((part, access))
    });
    parts.collect()
}

/// Valgrind cannot map only where nothing is; so this looks first.
fn check_free(layout: &Layout, ranks: u32) -> Result<(), String> {
    let mut text = String::new();
    File::open("/proc/self/maps")
        .and_then(|mut maps| maps.read_to_string(&mut text))
        .map_err(|error| format!("cannot read what is mapped: {error}"))?;
    let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
    for line in text.lines() {
        let mut ends = line.split([' ', '-']).map_while(number);
        let (Some(start), Some(end)) = (ends.next(), ends.next()) else { continue };
        for slot in 0..=u64::from(ranks) {
            let base = slot << SLOT_SHIFT;
            if start < base + layout.stack_end && base + LOW_STACK as u64 <= end {
                return Err(format!(
                    "valgrind has put something of its own where a segment belongs ({line}); ask for fewer ranks or a \
                     smaller --mem"
                ));
            }
        }
    }
    Ok(())
}

/// Puts `ud2` in the place of every `syscall` in slot 0, in this process alone: code is mapped privately.
fn replace_calls(layout: &Layout, sites: &[CallSite]) -> nix::Result<()> {
    segment::code_writable(layout, true)?;
    for site in sites {
        let opcode = site.end - call_sites::UD2.len() as u64;
        segment::fill(layout, 0, opcode, &call_sites::UD2)?;
    }
    segment::code_writable(layout, false)
}
