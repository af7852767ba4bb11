//! `cargo lwk cc`, `c++` and `fc`: compile programs in C, C++ and Fortran for Margay.
//!
//! The work is that of the shell script `mpi-rt/c/margay-cc`, which needs nothing but the folder it lies in: `bin`, `include` and
//! `lib`. This command builds the libraries, lays that folder under `target/`, and calls the script; `cargo lwk install DIR`
//! ([`crate::install`]) lays it somewhere else, with all that is needed to run programs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::SystemTime;

use crate::build::{Builder, Form};
use crate::delegate;
use crate::failure::{Doing, Failure, Outcome};
use crate::fortran;
use crate::loader::{self, LAUNCHERS};
use crate::packages;
use crate::toolchain::link;
use crate::tree::Tree;

/// Languages that programs are written in, each with a compiler and a wrapper of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

/// C libraries that programs are linked with, statically.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Libc {
    /// That of the system's compilers, so that objects in all languages link.
    Glibc,
    /// For C alone.
    Musl,
}

impl Libc {
    /// Environment variable of the wrappers that chooses it.
    const VARIABLE: &str = "MARGAY_LIBC";
    /// Option of the wrappers that does.
    const OPTION: &str = "--libc";

    /// What these words for a wrapper, else the environment, choose.
    fn chosen(words: &[OsString]) -> Libc {
        let joined = format!("{}=", Libc::OPTION);
        let behind = words.windows(2).rev().find(|pair| pair[0] == Libc::OPTION).map(|pair| pair[1].clone());
        let option = words.iter().rev().find_map(|word| word.to_str()?.strip_prefix(&joined).map(Into::into));
        let name = behind.or(option).or_else(|| std::env::var_os(Libc::VARIABLE));
        if name.is_some_and(|name| name == "musl") { Libc::Musl } else { Libc::Glibc }
    }
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Self::C, Self::Cxx, Self::Fortran];

    /// The script's name for it.
    pub fn wrapper(self) -> &'static str {
        match self {
            Self::C => "margay-cc",
            Self::Cxx => "margay-c++",
            Self::Fortran => "margay-fc",
        }
    }

    /// What other implementations of MPI and OpenSHMEM call it.
    pub fn other_names(self) -> &'static [&'static str] {
        match self {
            Self::C => &["mpicc", "oshcc"],
            Self::Cxx => &["mpicxx", "mpic++", "mpiCC", "oshc++", "oshcxx", "oshCC"],
            Self::Fortran => &["mpifort", "mpif77", "mpif90", "oshfort"],
        }
    }

    /// The compiler, the variable that names another one, and Debian's packages.
    fn compiler(self, libc: Libc) -> (&'static str, &'static str, &'static [&'static str]) {
        match (self, libc) {
            (Self::C, Libc::Musl) => ("musl-gcc", "MARGAY_CC", &["musl-tools"]),
            (Self::C, Libc::Glibc) => ("gcc", "MARGAY_CC", &["gcc", "libc6-dev"]),
            (Self::Cxx, _) => ("g++", "MARGAY_CXX", &["g++", "libc6-dev"]),
            (Self::Fortran, _) => ("gfortran", "MARGAY_FC", &["gfortran", "libc6-dev"]),
        }
    }
}

/// The program of these tools that is installed as `margay`.
const OWN_PROGRAM: &str = "lwk";

/// MPI and OpenSHMEM. The wrappers have the linker look in `lib/fixed` first for programs at a fixed address, in `lib/pie` for those that are
/// position-independent, and in `lib` then. An installation's in `lib` is for any program, a tree's for those at a fixed address: one library is
/// enough to build for most work there.
const LIBRARY: &str = "libmpi.a";
const FIXED: &str = "fixed";
const PIE: &str = "pie";
/// Compilers' options for position-independent executables.
const PIE_OPTIONS: [&str; 2] = ["-static-pie", "-pie"];

/// `libsma.a` is a linker script: OpenSHMEM is in `libmpi.a`, which every program is linked with anyway, so that a program can use both.
const LIBSMA: &[u8] = b"/* OpenSHMEM is in libmpi.a. */\nINPUT(-lmpi)\n";
/// `libportals.a` is one, too.
const LIBPORTALS: &[u8] = b"/* Portals is in libmpi.a. */\nINPUT(-lmpi)\n";

/// Where the headers, libraries and wrappers of this tree are laid, or have been installed.
pub fn prefix(tree: &Tree) -> PathBuf {
    if tree.is_installed() { tree.root().to_path_buf() } else { tree.root().join("target/margay") }
}

/// Compiles: all `words` are the compiler's. Gives the compiler's status.
pub fn run(tree: &Tree, language: Language, words: &[OsString]) -> Outcome<i32> {
    if words.first().is_some_and(|word| word == "--install") {
        return Err(Failure::usage(
            "it is `cargo lwk install DIR` now, which lays mpicc, mpiexec and all that they need in DIR",
        ));
    }
    if words.is_empty() {
        return Err(Failure::usage(format!(
            "no input: {} {} SOURCE … -o PROGRAM, as for any compiler",
            tree.command(),
            if language == Language::C { "cc" } else { "c++ or fc" }
        )));
    }
    let prefix = prefix(tree);
    if !tree.is_installed() {
        find_compiler(language, Libc::chosen(words))?;
        let builder = Builder::new(tree, false, false)?;
        install(tree, &builder, &prefix)?;
        if words.iter().any(|word| PIE_OPTIONS.iter().any(|option| word == option)) {
            let (pie, bin) = (prefix.join("lib").join(PIE), prefix.join("bin"));
            fs::create_dir_all(&pie).doing(|| format!("make the folder {}", pie.display()))?;
            loader::copy(&builder.mpi_library(Form::Any)?, &pie.join(LIBRARY), &bin)?;
        }
    }
    let status = Command::new(prefix.join("bin").join(language.wrapper())).args(words).status();
    let status = status.doing(|| format!("run {}", language.wrapper()))?;
    status.code().ok_or_else(|| Failure::host("the compiler was killed"))
}

/// Sees to it that the language's compiler is there, and glibc's static library where it is needed.
pub fn find_compiler(language: Language, libc: Libc) -> Outcome<()> {
    let (compiler, variable, packages) = language.compiler(libc);
    if std::env::var_os(variable).is_some() {
        return Ok(());
    }
    let there = packages::find_command(compiler).is_some_and(|compiler| {
        // It answers with the whole path of a library that it finds, and with the bare name of one that it does not.
        let told = Command::new(compiler).arg("-print-file-name=libc.a").output();
        told.is_ok_and(|told| told.stdout.contains(&b'/'))
    });
    if there { Ok(()) } else { packages::install(packages, false) }
}

/// What begins the path of a source in C that is linked with musl's library.
pub const MUSL: &str = "musl";

/// The file of a C or Fortran program of the tree, once it has been built; `source` is relative to the tree, behind [`MUSL`] or not.
pub fn program(tree: &Tree, source: &Path) -> PathBuf {
    tree.root().join("target/lwk/c").join(source.with_extension(""))
}

/// Whether the compiler for Fortran is there.
pub fn has_fortran() -> bool {
    packages::find_command(Language::Fortran.compiler(Libc::Glibc).0).is_some()
}

/// Whether a source is Fortran's, by the end of its name.
pub fn is_fortran(source: &Path) -> bool {
    source.extension().is_some_and(|end| end == "f" || end == "f90")
}

/// Builds C and Fortran programs of the tree, as many at a time as there are cores, warnings as errors: they are written to the standard.
/// What is up to date stays as it is.
pub fn build_programs(tree: &Tree, builder: &Builder, sources: &BTreeSet<&PathBuf>) -> Outcome<()> {
    if sources.is_empty() {
        return Ok(());
    }
    find_compiler(Language::C, Libc::Glibc)?;
    if sources.iter().any(|source| source.starts_with(MUSL)) {
        find_compiler(Language::C, Libc::Musl)?;
    }
    if sources.iter().any(|source| is_fortran(source)) {
        find_compiler(Language::Fortran, Libc::Glibc)?;
    }
    let prefix = prefix(tree);
    install(tree, builder, &prefix)?;
    let newest = newest_of_all(&prefix)?;
    let left = Mutex::new(sources.iter());
    // A compiler is the work of one core, and there are dozens of programs.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let worker = || {
            // A poisoned lock means that another worker panicked, which is a bug of this command: let it show.
            while let Some(source) = { left.lock().expect("no worker panics").next() } {
                build_program(tree, &prefix, source, newest)?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        // All are waited for, whatever the first says.
        let ended: Vec<Outcome<()>> =
            workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect();
        ended.into_iter().collect()
    })
}

/// When the last of what every program is made from was changed: headers, library, wrappers, and this command, which knows the options.
fn newest_of_all(prefix: &Path) -> Outcome<SystemTime> {
    let include = prefix.join("include");
    let mut all = [files(&prefix.join("bin"))?, files(&prefix.join("lib"))?].concat();
    all.extend([files(&include)?, files(&include.join("margay"))?].concat());
    all.push(delegate::sibling("lwk")?);
    newest(&all)
}

/// When the last of these files was changed.
pub fn newest(files: &[PathBuf]) -> Outcome<SystemTime> {
    let time = |file: &PathBuf| {
        file.metadata().and_then(|data| data.modified()).doing(|| format!("read {}", file.display()))
    };
    files.iter().map(time).try_fold(SystemTime::UNIX_EPOCH, |newest, time| Ok(newest.max(time?)))
}

/// Builds one program, unless it is newer than its source, the headers beside and above that, and what all are made from.
fn build_program(tree: &Tree, prefix: &Path, source: &Path, newest_of_all: SystemTime) -> Outcome<()> {
    let output = program(tree, source);
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    let (source, libc) = match source.strip_prefix(MUSL) {
        Ok(source) => (source, Some("--libc=musl")),
        Err(_) => (source, None),
    };
    let source = tree.root().join(source);
    let is_header = |file: &PathBuf| file.extension().is_some_and(|end| end == "h" || end == "inc");
    let mut depends = vec![source.clone()];
    for folder in source.ancestors().skip(1).take(2) {
        depends.extend(files(folder)?.into_iter().filter(is_header));
    }
    let newest = newest(&depends)?.max(newest_of_all);
    let made = output.metadata().and_then(|data| data.modified()).ok();
    if made.is_some_and(|made| made > newest) {
        return Ok(());
    }
    let language = if is_fortran(&source) { Language::Fortran } else { Language::C };
    let mut command = Command::new(prefix.join("bin").join(language.wrapper()));
    command.args(libc);
    if language == Language::C {
        // Strict C alone hides what POSIX adds.
        command.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror"]);
    } else if let Some(folder) = output.parent() {
        // A program's own modules lie beside it, not in the folder that the user is in.
        command.arg("-J").arg(folder);
    }
    // Under another name first: a command that is killed leaves nothing that looks complete.
    let fresh = output.with_extension(std::process::id().to_string());
    command.args(["-O2", "-g", "-o"]).arg(&fresh);
    run_tool(command.arg(&source))?;
    fs::rename(&fresh, &output).doing(|| format!("write {}", output.display()))
}

/// Builds the libraries and lays them with headers and wrappers in `folder`, those for any kind of program too if that is an installation. What is up to
/// date stays as it is.
pub fn install(tree: &Tree, builder: &Builder, folder: &Path) -> Outcome<()> {
    let fixed = builder.mpi_library(Form::Fixed)?;
    let folder = &std::path::absolute(folder).doing(|| format!("find the folder {}", folder.display()))?;
    let (bin, include, lib) = (folder.join("bin"), folder.join("include"), folder.join("lib"));
    for folder in [&bin, &include, &lib] {
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    let source = tree.root().join("mpi-rt/c");
    copy_tree(&source.join("include"), &include)?;
    let description = fortran::description(tree)?;
    for (name, text) in description.headers() {
        replace(&include.join("margay").join(name), text.as_bytes())?;
    }
    copy_tree(&tree.root().join("mpi-rt/shmem/c/include"), &include)?;
    copy_tree(&tree.root().join("userlib/portals/include"), &include)?;
    if *folder == prefix(tree) {
        loader::copy(&fixed, &lib.join(LIBRARY), &bin)?;
    } else {
        let apart = lib.join(FIXED);
        fs::create_dir_all(&apart).doing(|| format!("make the folder {}", apart.display()))?;
        loader::copy(&fixed, &apart.join(LIBRARY), &bin)?;
        loader::copy(&builder.mpi_library(Form::Any)?, &lib.join(LIBRARY), &bin)?;
    }
    replace(&lib.join("libsma.a"), LIBSMA)?;
    replace(&lib.join("libportals.a"), LIBPORTALS)?;
    let script = source.join("margay-cc");
    let script = fs::read_to_string(&script).doing(|| format!("read {}", script.display()))?;
    let script = script.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    for language in Language::ALL {
        let file = bin.join(language.wrapper());
        replace(&file, script.as_bytes())?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))
            .doing(|| format!("make {} executable", file.display()))?;
        for name in language.other_names() {
            link(Path::new(language.wrapper()), &bin.join(name))?;
        }
    }
    if *folder == prefix(tree) {
        // An installation has a copy.
        link(&delegate::sibling(OWN_PROGRAM)?, &bin.join(loader::COMMAND))?;
        if builder.builds() {
            // What programs need that are started by their file, or by a launcher.
            delegate::build(tree, delegate::HOST)?;
        }
    }
    for name in LAUNCHERS {
        link(Path::new(loader::COMMAND), &bin.join(name))?;
    }
    if has_fortran() {
        fortran::install(tree, &description, &include, &lib)?;
    }
    Ok(())
}

/// Runs a compiler or archiver; what it says is shown if it fails.
pub fn run_tool(command: &mut Command) -> Outcome<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().doing(|| format!("run {name}"))?;
    if output.status.success() {
        return Ok(());
    }
    crate::tell::error(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
    Err(Failure::host(format!("{name} fails; its messages are above")))
}

/// The files of a folder.
pub fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let what = || format!("list {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).doing(what)? {
        let path = entry.doing(what)?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    Ok(files)
}

/// Copies a folder's files and folders.
pub fn copy_tree(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).doing(|| format!("make the folder {}", to.display()))?;
    let what = || format!("list {}", from.display());
    for entry in fs::read_dir(from).doing(what)? {
        let path = entry.doing(what)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy_tree(&path, &to.join(name))?;
        } else {
            copy(&path, &to.join(name))?;
        }
    }
    Ok(())
}

/// Copies a file unless the copy is as large and no older: libraries are large, and make looks at times.
pub fn copy(from: &Path, to: &Path) -> Outcome<()> {
    if is_copy(from, to)? {
        return Ok(());
    }
    let bytes = fs::read(from).doing(|| format!("read {}", from.display()))?;
    replace(to, &bytes)
}

/// Whether `to` is as large as `from` and no older.
pub fn is_copy(from: &Path, to: &Path) -> Outcome<bool> {
    let old = to.metadata().ok();
    let new = from.metadata().doing(|| format!("read {}", from.display()))?;
    Ok(old.is_some_and(|old| {
        let times = (old.modified().ok(), new.modified().ok());
        old.len() == new.len() && matches!(times, (Some(old), Some(new)) if old >= new)
    }))
}

/// Writes a file under another name and moves it into place: another command may be reading the old one.
pub fn replace(file: &Path, bytes: &[u8]) -> Outcome<()> {
    if fs::read(file).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let mut fresh = file.as_os_str().to_owned();
    fresh.push(format!(".{}", std::process::id()));
    fs::write(&fresh, bytes).doing(|| format!("write {}", file.display()))?;
    fs::rename(&fresh, file).doing(|| format!("write {}", file.display()))
}
