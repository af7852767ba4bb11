//! Tests of the compiler wrappers as other tools use them: by hand, by make, by CMake's FindMPI; and of object files that another
//! implementation's header of the standard binary interface has made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Test;
use lwk::cc;
use lwk::fortran;
use lwk::packages::find_command;
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::Tree;

/// A small program that the suite has anyway.
const SOURCE: &str = "conformance/messages.c";
/// What its run on two ranks prints.
const RESULT: &str = "messages: 2 ranks, ";

/// The test that needs another implementation's header.
const OTHER_HEADER: &str = "links-objects-of-another-header";
/// The package of PyPI that has one: MPICH 5.
const OTHER_PACKAGE: &str = "mpich==5.*";
/// Its header of the standard binary interface, in the package.
const OTHER_FILE: &str = "mpi_abi.h";
/// Programs that are compiled against it.
const OTHER_PROGRAMS: [&str; 3] = ["messages", "requests", "datatypes"];

/// Calls of a program that has not started MPI or OpenSHMEM.
const BEFORE_THE_START: [&str; 6] = [
    "printf(\"%f\\n\", MPI_Wtime());",
    "printf(\"%f\\n\", MPI_Wtick());",
    "char name[MPI_MAX_PROCESSOR_NAME]; int length; MPI_Get_processor_name(name, &length);",
    "MPI_Barrier(MPI_COMM_WORLD);",
    "MPI_Info all; MPI_Info_create_env(0, NULL, &all);",
    "shmem_barrier_all();",
];

type Check = fn(&Lwk) -> Result<(), String>;

/// All of them; those whose tools this machine lacks are left out, and said to be by [`left_out`].
pub fn all() -> Vec<Test> {
    let mut checks: Vec<(&str, Check)> = vec![
        ("compiles-and-links-in-steps", in_steps),
        ("says-what-it-would-do", shows),
        ("refuses-a-dynamic-program", dynamic),
        ("links-a-profiler", profiled),
        ("programs-started-directly-are-jobs-of-one-rank", started_directly),
    ];
    let mut optional = |commands: &str, name: &'static str, check: Check| {
        if commands.split(' ').all(|command| find_command(command).is_some()) {
            checks.push((name, check));
        }
    };
    optional("make", "serves-make", make);
    optional("cmake", "serves-cmakes-findmpi", cmake);
    optional("musl-gcc", "links-musl-where-asked", musl);
    optional("g++ gfortran", "links-objects-in-all-languages-and-openmp", mixed);
    optional("g++", "compiles-cxx", cxx);
    optional("cmake g++ gfortran", "serves-cmakes-findmpi-in-cxx-and-fortran", cmake_cxx_fortran);
    optional("autoconf make", "serves-configure", configure);
    optional("g++", "cxx-uses-files", cxx_files);
    optional("gfortran", "fortran-uses-files", fortran_files);
    checks.push((OTHER_HEADER, objects_of_another_header));
    checks.into_iter().map(|(name, check)| test(name, check)).collect()
}

/// Lines on what is left out because this machine lacks it, one for each command.
pub fn left_out() -> Vec<String> {
    let missing = ["make", "cmake", "g++", "gfortran", "autoconf"]
        .into_iter()
        .filter(|command| find_command(command).is_none());
    missing.map(|command| format!("skip  margay-cc under {command}, which is not installed")).collect()
}

/// Leaves out what needs a header that cannot be had: a line that says so.
pub fn without_header(tree: &Tree, tests: &mut Vec<Test>) -> Option<&'static str> {
    let name = format!("margay-cc-{OTHER_HEADER}");
    if !tests.iter().any(|test| test.name == name) || fetch_header(tree).is_some() {
        return None;
    }
    tests.retain(|test| test.name != name);
    Some("skip  margay-cc-links-objects-of-another-header: PyPI's mpich cannot be had")
}

/// The folder where another implementation's header lies as `mpi.h`; downloaded once.
fn header_folder(tree: &Tree) -> PathBuf {
    tree.root().join("target/lwk/another-header")
}

fn fetch_header(tree: &Tree) -> Option<PathBuf> {
    let folder = header_folder(tree);
    let header = folder.join("mpi.h");
    if header.is_file() {
        return Some(header);
    }
    find_command("pip")?;
    fs::create_dir_all(&folder).ok()?;
    let mut pip = Command::new("timeout");
    pip.args(["120", "pip", "download", "--quiet", "--no-deps", OTHER_PACKAGE, "--dest"]).arg(&folder);
    if !pip.output().ok()?.status.success() {
        return None;
    }
    let wheel = fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
    let wheel = wheel.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"))?;
    Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(&wheel)
        .arg(folder.join("wheel"))
        .output()
        .ok()?;
    let file = find_file(&folder.join("wheel"), OTHER_FILE)?;
    // Under another name first: a command that is killed leaves nothing that looks complete.
    let fresh = header.with_extension(std::process::id().to_string());
    fs::copy(file, &fresh).and_then(|_| fs::rename(&fresh, &header)).ok()?;
    Some(header)
}

fn find_file(folder: &Path, name: &str) -> Option<PathBuf> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let found = if path.is_dir() { find_file(&path, name) } else { path.ends_with(name).then_some(path) };
        if found.is_some() {
            return found;
        }
    }
    None
}

fn test(name: &str, check: Check) -> Test {
    Test {
        name: format!("margay-cc-{name}"),
        alone: false,
        on_host: true,
        // What the wrappers need is built with the programs.
        sources: vec![SOURCE.into()],
        run: Box::new(check),
    }
}

fn bin(lwk: &Lwk) -> PathBuf {
    cc::prefix(lwk.tree()).join("bin")
}

fn wrapper(lwk: &Lwk) -> Command {
    Command::new(bin(lwk).join("margay-cc"))
}

/// Runs a command; what it prints, or all of it if its status is not as wanted.
fn output(command: &mut Command, status: i32) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(status) {
        return Ok(out.into_owned() + &err);
    }
    Err(format!("{command:?} ends with {}\n{out}{err}", output.status))
}

/// Runs a program on two ranks of the host home; its output begins as given.
fn runs(lwk: &Lwk, program: &Path, begins: &str) -> Result<(), String> {
    let limit = PATIENCE.to_string();
    let options =
        ["-n", "2", "--mem", "16", "--timeout", &limit, "--host", "--oversubscribe"].map(str::to_owned);
    let ended = lwk.command(&lwk.run_words(&Program::File(program.into()), &options, &[]), PATIENCE)?;
    if ended.status == Some(0) && ended.stdout.starts_with(begins) {
        return Ok(());
    }
    Err(format!("{}: status {:?}\n{}{}", program.display(), ended.status, ended.stdout, ended.stderr))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// `-c`, an archive, and a link that names it by `-L` and `-l`.
fn in_steps(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (object, archive, program) = (folder.file("it.o"), folder.file("libit.a"), folder.file("it"));
    output(wrapper(lwk).args(["-O2", "-c", "-o"]).arg(&object).arg(lwk.tree().root().join(SOURCE)), 0)?;
    output(Command::new("ar").arg("crs").arg(&archive).arg(&object), 0)?;
    output(wrapper(lwk).arg("-L").arg(folder.file("")).args(["-Wl,-u,main", "-lit", "-o"]).arg(&program), 0)?;
    runs(lwk, &program, RESULT)
}

/// The forms by which MPICH and Open MPI tell their flags, and that no compiler is started for them.
fn shows(lwk: &Lwk) -> Result<(), String> {
    let prefix = cc::prefix(lwk.tree());
    let (include, lib) = (prefix.join("include"), prefix.join("lib"));
    let (include, lib) = (include.display(), lib.display());
    let wanted = [
        ("-showme:compile", format!("-I{include}\n")),
        ("-showme:incdirs", format!("{include}\n")),
        ("-showme:libdirs", format!("{lib}\n")),
        ("-showme:libs", "mpi m \n".into()),
        ("-showme:command", "gcc\n".into()),
        ("--showme:incdirs", format!("{include}\n")),
        ("-compile_info", format!("-I{include}\n")),
        ("-link_info", format!("-static -no-pie -Wl,--gc-sections -L{lib} -lmpi -lm\n")),
    ];
    for (option, text) in wanted {
        let told = output(wrapper(lwk).arg(option), 0)?;
        if told != text {
            return Err(format!("{option} tells {told:?}, not {text:?}"));
        }
    }
    let told = output(wrapper(lwk).args(["-show", "-c", "no-such-file.c"]), 0)?;
    if told != format!("gcc -I{include} -c no-such-file.c\n") {
        return Err(format!("-show -c tells {told:?}"));
    }
    // Asked for its version, the compiler gets nothing to link.
    output(wrapper(lwk).arg("--version"), 0)?;
    let told = output(wrapper(lwk).env("MARGAY_CC", "no-such-compiler").arg("x.c"), 127)?;
    if !told.contains("there is no no-such-compiler") || told.lines().count() != 1 {
        return Err(format!("a missing compiler is told as {told:?}"));
    }
    Ok(())
}

/// A program that needs a dynamic linker is refused with one line that tells how to link.
fn dynamic(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.c"), folder.file("it"));
    write(&source, "int main(void) { return 0; }\n")?;
    output(Command::new("cc").arg(&source).arg("-o").arg(&program), 0)?;
    for home in ["--host", "--built"] {
        let ended = lwk.command(&["run".into(), home.into(), program.clone().into()], PATIENCE)?;
        let told = &ended.stderr;
        if ended.status != Some(2) || told.lines().count() != 1 || !told.contains("static") {
            return Err(format!("{home}: status {:?}, {told:?}", ended.status));
        }
    }
    Ok(())
}

/// A profiling library in an archive of its own takes the place of several functions, which it reaches under their other names; without it the
/// same object runs as it is.
fn profiled(lwk: &Lwk) -> Result<(), String> {
    let (folder, sources) = (lwk.folder()?, lwk.tree().root().join("qemu-tests/c"));
    for name in ["profiler", "profiled"] {
        let source = sources.join(name).with_extension("c");
        output(wrapper(lwk).args(["-O2", "-c", "-o"]).arg(folder.file(&format!("{name}.o"))).arg(source), 0)?;
    }
    let (program, object) = (folder.file("it"), folder.file("profiled.o"));
    output(
        Command::new("ar").arg("crs").arg(folder.file("libprofiler.a")).arg(folder.file("profiler.o")),
        0,
    )?;
    output(wrapper(lwk).arg(&object).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "")?;
    output(
        wrapper(lwk).arg(&object).arg("-L").arg(folder.file("")).arg("-lprofiler").arg("-o").arg(&program),
        0,
    )?;
    runs(lwk, &program, "7 sends of 241 bytes, 6 receives, 6 waits, 2 reductions\n")
}

/// The wrapper as make's `CC`.
fn make(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let source = lwk.tree().root().join(SOURCE);
    let text =
        format!("messages: messages.o\nmessages.o: {0}\n\t$(CC) $(CFLAGS) -c {0} -o $@\n", source.display());
    write(&folder.file("Makefile"), &text)?;
    let mut cc = std::ffi::OsString::from("CC=");
    cc.push(bin(lwk).join("margay-cc"));
    output(Command::new("make").arg("-C").arg(folder.file("")).arg(cc).arg("CFLAGS=-O2"), 0)?;
    runs(lwk, &folder.file("messages"), RESULT)
}

/// CMake's own module finds MPI by the wrapper, and its imported target compiles and links: with the wrapper as the compiler, and with
/// another, which must be told to link statically, because the module passes no such option on.
fn cmake(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(it C)\nfind_package(MPI REQUIRED COMPONENTS C)\n\
         add_executable(it {})\ntarget_link_libraries(it MPI::MPI_C)\n",
        lwk.tree().root().join(SOURCE).display()
    );
    write(&folder.file("CMakeLists.txt"), &text)?;
    let wrapper = bin(lwk).join("margay-cc");
    for (build, variable) in [("by-cc", "-DCMAKE_C_COMPILER="), ("by-mpicc", "-DMPI_C_COMPILER=")] {
        let mut option = std::ffi::OsString::from(variable);
        option.push(&wrapper);
        let build = folder.file(build);
        let mut command = Command::new("cmake");
        command.arg("-S").arg(folder.file("")).arg("-B").arg(&build).arg(option);
        if build.ends_with("by-mpicc") {
            command.arg("-DCMAKE_EXE_LINKER_FLAGS=-static -no-pie");
        }
        output(&mut command, 0)?;
        output(Command::new("cmake").arg("--build").arg(&build), 0)?;
        runs(lwk, &build.join("it"), RESULT)?;
    }
    Ok(())
}

/// The same for C++ and Fortran, with the wrappers as the compilers.
fn cmake_cxx_fortran(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.16)\nproject(it C CXX Fortran)\nfind_package(MPI REQUIRED COMPONENTS C CXX Fortran)\n\
         add_executable(cxx it.cpp)\ntarget_link_libraries(cxx MPI::MPI_CXX)\n\
         add_executable(fortran it.f90)\ntarget_link_libraries(fortran MPI::MPI_Fortran)\n",
    )?;
    write(
        &folder.file("it.cpp"),
        "#include <mpi.h>\n#include <iostream>\nint main(int argc, char **argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) std::cout << \"C++ is here\" << std::endl;\n\
         return MPI_Finalize();\n}\n",
    )?;
    write(
        &folder.file("it.f90"),
        "program it\n  use mpi\n  implicit none\n  integer :: rank, code\n  call MPI_Init(code)\n\
         call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)\n  if (rank == 0) print '(a)', 'Fortran is here'\n\
         call MPI_Finalize(code)\nend program\n",
    )?;
    let build = folder.file("build");
    let mut command = Command::new("cmake");
    command.arg("-S").arg(folder.file("")).arg("-B").arg(&build);
    for (language, wrapper) in [("C", "margay-cc"), ("CXX", "margay-c++"), ("Fortran", "margay-fc")] {
        let mut option = std::ffi::OsString::from(format!("-DCMAKE_{language}_COMPILER="));
        option.push(bin(lwk).join(wrapper));
        command.arg(option);
    }
    output(&mut command, 0)?;
    output(Command::new("cmake").arg("--build").arg(&build), 0)?;
    runs(lwk, &build.join("cxx"), "C++ is here\n")?;
    runs(lwk, &build.join("fortran"), "Fortran is here\n")
}

/// A `configure` script that autoconf has made, and the Makefile that it makes, with the wrapper as `CC`.
fn configure(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("configure.ac"),
        "AC_INIT([it], [1])\nAC_PROG_CC\nAC_CHECK_HEADERS([mpi.h shmem.h], [], [AC_MSG_ERROR([a header is missing])])\n\
         AC_CHECK_SIZEOF([long])\nAC_SEARCH_LIBS([MPI_Init], [mpi], [], [AC_MSG_ERROR([MPI is missing])])\n\
         AC_CHECK_FUNCS([MPI_Comm_spawn shmem_init no_such_function])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    )?;
    write(
        &folder.file("Makefile.in"),
        "CC = @CC@\nit: it.o\n\t$(CC) @CFLAGS@ @LDFLAGS@ -o $@ it.o @LIBS@\nit.o: it.c\n\t$(CC) @CFLAGS@ @CPPFLAGS@ @DEFS@ -c it.c\n",
    )?;
    write(
        &folder.file("it.c"),
        "#include <mpi.h>\n#include <stdio.h>\n#ifdef HAVE_NO_SUCH_FUNCTION\n#error found what is not there\n#endif\n\
         int main(int argc, char **argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) printf(\"configured %d %d %d\\n\", SIZEOF_LONG, \
         HAVE_MPI_COMM_SPAWN, HAVE_SHMEM_INIT);\n  return MPI_Finalize();\n}\n",
    )?;
    let here = folder.file("");
    output(Command::new("autoconf").current_dir(&here), 0)?;
    let mut cc = std::ffi::OsString::from("CC=");
    cc.push(bin(lwk).join("margay-cc"));
    output(Command::new("sh").arg("./configure").arg(cc).current_dir(&here), 0)?;
    output(Command::new("make").current_dir(&here), 0)?;
    runs(lwk, &folder.file("it"), "configured 8 1 1\n")
}

/// Streams and folders of C++'s standard library.
fn cxx_files(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.cpp"), folder.file("it"));
    write(
        &source,
        "#include <chrono>\n#include <filesystem>\n#include <fstream>\n#include <iostream>\n#include <random>\n#include <string>\n\
         #include <thread>\nnamespace fs = std::filesystem;\n#define THAT(it) if (!(it)) return __LINE__\n\
         int main() {\n  fs::path top = \"/tmp/cxx\" + std::to_string(std::random_device{}());\n\
         THAT(fs::create_directories(top / \"below\"));\n  { std::ofstream out(top / \"below\" / \"it\"); out << \"hello \" << 3.5 << std::endl; }\n\
         std::string word; double number = 0;\n  { std::ifstream in(top / \"below\" / \"it\"); in >> word >> number; }\n\
         THAT(word == \"hello\" && number == 3.5);\n  THAT(fs::copy_file(top / \"below\" / \"it\", top / \"copy\"));\n\
         THAT(fs::file_size(top / \"copy\") == 10);\n  int entries = 0;\n\
         for (auto &entry : fs::recursive_directory_iterator(top)) entries += entry.is_regular_file() ? 1 : 10;\n  THAT(entries == 12);\n\
         fs::resize_file(top / \"copy\", 3);\n  fs::last_write_time(top / \"copy\", fs::file_time_type::clock::now());\n\
         fs::permissions(top / \"copy\", fs::perms::owner_all);\n  fs::rename(top / \"copy\", top / \"below\" / \"it\");\n\
         THAT(fs::file_size(top / \"below\" / \"it\") == 3);\n  std::error_code code;\n\
         fs::create_symlink(\"below/it\", top / \"link\", code);\n  THAT(!code && fs::is_symlink(top / \"link\"));\n\
         THAT(fs::read_symlink(top / \"link\") == \"below/it\" && fs::file_size(top / \"link\") == 3);\n\
         { std::fstream both(top / \"both\", std::ios::in | std::ios::out | std::ios::trunc); both << \"abc\"; both.seekg(1); THAT(both.get() == 'b'); }\n\
         { std::ofstream more(top / \"both\", std::ios::app); more << \"def\"; }\n  THAT(fs::file_size(top / \"both\") == 6);\n\
         THAT(fs::remove_all(top) == 5 && !fs::exists(top));\n\
         std::this_thread::sleep_for(std::chrono::milliseconds(1));\n  std::cout << \"all there \" << fs::current_path() << std::endl;\n}\n",
    )?;
    let mut command = Command::new(bin(lwk).join("margay-c++"));
    output(command.args(["-std=c++17", "-O1"]).arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "all there \"/\"\nall there \"/\"\n")
}

/// Fortran's files: formatted, stream, direct, scratch, appended, inquired about.
fn fortran_files(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.f90"), folder.file("it"));
    write(
        &source,
        "program it\n  implicit none\n  integer :: u, i, bytes\n  real(8) :: x(100), y(100)\n  character(40) :: name, text\n  logical :: there\n\
         call random_number(x)\n  write(name, '(a,i0)') '/tmp/fortran', getpid()\n\
         open(newunit=u, file=name, form='unformatted', access='stream', status='replace')\n  write(u) x\n  close(u)\n\
         open(newunit=u, file=name, form='unformatted', access='stream', status='old', action='read')\n  read(u) y\n  close(u, status='delete')\n\
         if (any(x /= y)) stop 1\n  inquire(file=name, exist=there)\n  if (there) stop 2\n\
         open(newunit=u, file=name, status='new', action='readwrite')\n  do i = 1, 10\n    write(u, '(i5)') i\n  end do\n  rewind(u)\n  read(u, *) i\n\
         if (i /= 1) stop 3\n  read(u, *) i\n  backspace(u)\n  read(u, '(a)') text\n  if (text /= '    2') stop 4\n  flush(u)\n  close(u)\n\
         open(newunit=u, file=name, position='append')\n  write(u, '(a)') 'more'\n  endfile(u)\n  close(u)\n  inquire(file=name, size=bytes)\n\
         if (bytes /= 65) stop 5\n\
         open(newunit=u, file=name, status='replace', access='direct', recl=80, form='unformatted')\n  write(u, rec=5) x(1:10)\n  read(u, rec=5) y(11:20)\n\
         if (any(y(11:20) /= x(1:10))) stop 6\n  close(u, status='delete')\n  open(newunit=u, status='scratch')\n  write(u, *) 42\n  rewind(u)\n  read(u, *) i\n\
         if (i /= 42) stop 7\n  close(u)\n  open(newunit=u, file='/not/there', status='old', iostat=i)\n  if (i == 0) stop 8\n\
         print '(a)', 'all there'\nend program\n",
    )?;
    output(Command::new(bin(lwk).join("margay-fc")).arg("-O1").arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "all there\nall there\n")
}

/// A program that somebody starts by its file is a job of one rank, in C and in Rust, whether it is in PATH or not, with the caller's environment,
/// arguments, name, files, standard input and status; where no command is found, it says so in one line and ends as wrong use does.
fn started_directly(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let mut programs = Vec::new();
    for source in [SOURCE, "conformance/shmem/remote.c", "qemu-tests/c/session-only.c"] {
        let program = folder.file(&programs.len().to_string());
        output(wrapper(lwk).arg(lwk.tree().root().join(source)).arg("-o").arg(&program), 0)?;
        programs.push(program);
    }
    // What may be called before the start works as well, and what may not is that error.
    let mut early = Vec::new();
    for (index, call) in BEFORE_THE_START.into_iter().enumerate() {
        let (source, program) = (folder.file(&format!("{index}.c")), folder.file(&format!("before-{index}")));
        let includes = "#include <mpi.h>\n#include <shmem.h>\n#include <stdio.h>\n";
        write(&source, &format!("{includes}int main(void)\n{{\n    {call}\n    return 0;\n}}\n"))?;
        output(wrapper(lwk).arg(&source).arg("-o").arg(&program), 0)?;
        early.push(program);
    }
    // The last one's status is that of an error that it makes at its end.
    for (program, status) in programs.iter().zip([0, 0, 5]) {
        let told = output(Command::new(program).current_dir(folder.file("")), status)?;
        if told.contains("mpiexec") {
            return Err(format!("{} says {told:?}", program.display()));
        }
    }
    for (program, status) in early.iter().zip([0, 0, 0, 1, 0, 1]) {
        let told = Command::new(program).output().map_err(|error| error.to_string())?;
        if (told.status.code() == Some(0)) != (status == 0) {
            return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&told.stderr)));
        }
    }
    let (source, program) = (folder.file("alone.c"), folder.file("alone"));
    write(
        &source,
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         int main(int argc, char **argv) {\n  int size, c; char line[64] = \"\";\n  puts(\"once\");\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_size(MPI_COMM_WORLD, &size);\n  if (!fgets(line, sizeof line, stdin)) return 9;\n\
         FILE *file = fopen(\"left\", \"a+\"); if (!file) return 8;\n  fputs(line, file); fclose(file);\n\
         printf(\"%d %s %s %s %s\", size, argv[0], argc > 2 ? argv[2] : \"\", getenv(\"MARGAY_WORD\"), line);\n\
         fflush(stdout); MPI_Finalize();\n  return argc + 40;\n}\n",
    )?;
    output(wrapper(lwk).arg("-O1").arg(&source).arg("-o").arg(&program), 0)?;
    let shell = |script: &str, status: i32| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder.file("")).env("MARGAY_WORD", "w x");
        output(command.env("PATH", "/usr/bin:/bin"), status)
    };
    let told = shell("echo in | ./alone '' 'a  b'", 43)?;
    let left = fs::read_to_string(folder.file("left")).unwrap_or_default();
    // Nothing is said of its status: that is its own affair.
    if told != "once\n1 ./alone a  b w x in\n" || left != "in\n" {
        return Err(format!("alone prints {told:?} and leaves {left:?}"));
    }
    // A program in Rust in the tree has no place recorded: an environment variable names the folder, or PATH has the command.
    let hello = lwk.program(&Program::named("hello"));
    let prefix = cc::prefix(lwk.tree());
    let told = output(Command::new(&hello).env("MARGAY_HOME", &prefix).env("PATH", "/usr/bin:/bin"), 0)?;
    if !told.contains("hello from rank 0 of 1") {
        return Err(format!("hello says {told:?}"));
    }
    output(Command::new(&hello).env_remove("MARGAY_HOME").env("PATH", prefix.join("bin")), 0)?;
    let told = output(Command::new(&hello).env_remove("MARGAY_HOME").env("PATH", "/usr/bin:/bin"), 2)?;
    if told.lines().count() != 1 || !told.contains("mpiexec") || !told.contains("MARGAY_HOME") {
        return Err(format!("without a command, hello says {told:?}"));
    }
    Ok(())
}

/// Objects in C, C++ and Fortran are one program, with all their libraries, and OpenMP's runs with one thread, whatever it asks for.
fn mixed(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    write(
        &folder.file("c.c"),
        "#include <mpi.h>\n#include <omp.h>\n#include <stdio.h>\nvoid in_cxx(int *); void in_fortran_(int *);\n\
         int main(int argc, char **argv) {\n  int rank, all, sum = 0, threads = 0;\n  MPI_Init(&argc, &argv);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  omp_set_num_threads(4);\n\
         #pragma omp parallel num_threads(3) reduction(+ : threads)\n  threads += 1;\n\
         #pragma omp parallel for reduction(+ : sum)\n  for (int i = 0; i < 10; i++) sum += i;\n\
         in_cxx(&sum); in_fortran_(&sum);\n  MPI_Reduce(&sum, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);\n\
         if (rank == 0) printf(\"mixed %d, %d thread\\n\", all, threads);\n  return MPI_Finalize();\n}\n",
    )?;
    write(
        &folder.file("cxx.cpp"),
        "#include <mpi.h>\n#include <stdexcept>\n#include <string>\nextern \"C\" void in_cxx(int *sum) {\n\
         try { throw std::runtime_error(std::to_string(*sum)); } catch (std::exception &it) { *sum = std::stoi(it.what()) + 100; }\n\
         int size; MPI_Comm_size(MPI_COMM_WORLD, &size); *sum += size;\n}\n",
    )?;
    write(
        &folder.file("f.f90"),
        "subroutine in_fortran(sum)\n  use mpi\n  implicit none\n  integer :: sum, size, code, i\n  character(20) :: text\n\
         call MPI_Comm_size(MPI_COMM_WORLD, size, code)\n  write(text, '(i0)') sum\n  read(text, *) sum\n  !$omp parallel do reduction(+:sum)\n\
         do i = 1, size\n    sum = sum + 1000\n  end do\nend subroutine\n",
    )?;
    let objects =
        [("margay-cc", "c.c"), ("margay-c++", "cxx.cpp"), ("margay-fc", "f.f90")].map(|(wrapper, name)| {
            let object = folder.file(name).with_extension("o");
            let mut command = Command::new(bin(lwk).join(wrapper));
            output(command.args(["-O2", "-fopenmp", "-c"]).arg(folder.file(name)).arg("-o").arg(&object), 0)?;
            Ok::<_, String>(object)
        });
    let objects = objects.into_iter().collect::<Result<Vec<_>, _>>()?;
    // By each language's own wrapper, with the libraries of the others.
    for (wrapper, further) in [
        ("mpicc", &["-lmpifort", "-lgfortran", "-lquadmath", "-lstdc++", "-lm"][..]),
        ("mpicxx", &["-lmpifort", "-lgfortran", "-lquadmath"]),
        ("mpifort", &["-lstdc++"]),
    ] {
        let program = folder.file(wrapper);
        let mut command = Command::new(bin(lwk).join(wrapper));
        output(command.arg("-fopenmp").args(&objects).args(further).arg("-o").arg(&program), 0)?;
        runs(lwk, &program, "mixed 4294, 1 thread\n")?;
    }
    Ok(())
}

/// `--libc musl` and its variable choose musl's library for C, and are refused in one line for what musl has no library for.
fn musl(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let source = lwk.tree().root().join(SOURCE);
    for (index, options) in [&["--libc", "musl"][..], &["--libc=musl"], &[]].into_iter().enumerate() {
        let program = folder.file(&index.to_string());
        let mut command = wrapper(lwk);
        if options.is_empty() {
            command.env("MARGAY_LIBC", "musl");
        }
        output(command.args(options).args(["-O1", "-o"]).arg(&program).arg(&source), 0)?;
        let bytes = fs::read(&program).map_err(|error| error.to_string())?;
        if bytes.windows(5).any(|piece| piece == b"GLIBC") {
            return Err(format!("{options:?} links glibc"));
        }
        runs(lwk, &program, RESULT)?;
    }
    for (wrapper, libc) in [("mpicxx", "musl"), ("mpifort", "musl"), ("mpicc", "dietlibc")] {
        let told = output(Command::new(bin(lwk).join(wrapper)).args(["--libc", libc, "it.o"]), 2)?;
        if told.lines().count() != 1 || !told.contains("glibc") {
            return Err(format!("{wrapper} --libc {libc} says {told:?}"));
        }
    }
    Ok(())
}

/// A program in C++, with exceptions and the standard library.
fn cxx(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.cpp"), folder.file("it"));
    write(
        &source,
        "#include <mpi.h>\n#include <iostream>\n#include <numeric>\n#include <stdexcept>\n#include <vector>\n\
         int main(int argc, char **argv) {\n  MPI_Init(&argc, &argv);\n  int rank, size, sum = 0;\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         std::vector<int> mine(10, rank + 1);\n  int own = std::accumulate(mine.begin(), mine.end(), 0);\n\
         MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n\
         try { if (rank == 0) throw std::runtime_error(\"caught\"); }\n\
         catch (const std::exception &it) { std::cout << it.what() << ' ' << sum << std::endl; }\n\
         MPI_Finalize();\n}\n",
    )?;
    output(Command::new(bin(lwk).join("margay-c++")).arg("-O2").arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "caught 30\n")
}

/// The prototypes, which are made of the description, say what another implementation's header says: a compiler takes both for the same functions.
fn same_prototypes(lwk: &Lwk, own: &Path, other: &Path) -> Result<(), String> {
    let description = fortran::description(lwk.tree()).map_err(|failure| failure.message)?;
    // Conversions for Fortran are no part of the binary interface.
    let chapters =
        description.chapters.iter().filter(|it| !["conversions", "removed"].contains(&it.name.as_str()));
    let included: String = chapters.map(|it| format!("#include \"margay/{}.h\"\n", it.name)).collect();
    let folder = lwk.folder()?;
    let source = folder.file("prototypes.c");
    write(
        &source,
        &format!(
            "#include <mpi.h>\n#define MARGAY_MPI(type, name, arguments) type MPI_##name arguments; type PMPI_##name arguments;\n{included}"
        ),
    )?;
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-fsyntax-only", "-I"]).arg(other).arg("-idirafter").arg(own);
    output(command.arg(&source), 0).map(|_| ())
}

/// Every constant of this header has the same value in another implementation's, and objects that were compiled against that one link and run.
fn objects_of_another_header(lwk: &Lwk) -> Result<(), String> {
    let (tree, folder) = (lwk.tree(), lwk.folder()?);
    let (own, other) = (cc::prefix(tree).join("include"), header_folder(tree));
    same_prototypes(lwk, &own, &other)?;
    let mut names = Vec::new();
    for file in ["handles.h", "constants.h", "tool_types.h"] {
        let file = own.join("margay").join(file);
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        for line in text.lines() {
            let line = line.trim();
            let name = line
                .strip_prefix("#define ")
                .unwrap_or(line)
                .split([' ', '=', ','])
                .next()
                .unwrap_or_default();
            let constant = line.starts_with("#define") || line.contains(" = ");
            // Constants of mpif.h are no part of the C interface.
            if constant && name.starts_with("MPI_") && !name.starts_with("MPI_F_") {
                names.push(name.to_owned());
            }
        }
    }
    let lines: String = names.iter().map(|name| format!("    SHOW({name})\n")).collect();
    let source = folder.file("constants.c");
    let text = format!(
        "#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\n\
         #define SHOW(name) printf(\"%s %lld\\n\", #name, (long long)(name));\n\
         int main(void) {{\n{lines}    printf(\"status %zu %zu %zu %zu\\n\", sizeof(MPI_Status), \
         offsetof(MPI_Status, MPI_SOURCE), offsetof(MPI_Status, MPI_TAG), offsetof(MPI_Status, MPI_ERROR));\n}}\n"
    );
    write(&source, &text)?;
    let mut told = Vec::new();
    for include in [&own, &other] {
        let program = folder.file("constants");
        output(Command::new("cc").arg("-w").arg("-I").arg(include).arg(&source).arg("-o").arg(&program), 0)?;
        told.push(output(&mut Command::new(&program), 0)?);
    }
    if told[0] != told[1] || told[0].lines().count() < 300 {
        let differ = told[0].lines().zip(told[1].lines()).find(|(ours, theirs)| ours != theirs);
        return Err(format!("constants differ: {differ:?}, of {}", told[0].lines().count()));
    }
    for name in OTHER_PROGRAMS {
        let (object, program) = (folder.file(&format!("{name}.o")), folder.file(name));
        let source = tree.root().join("conformance").join(name).with_extension("c");
        output(
            Command::new("gcc").args(["-std=c11", "-c", "-I"]).arg(&other).arg(source).arg("-o").arg(&object),
            0,
        )?;
        output(wrapper(lwk).arg(&object).arg("-o").arg(&program), 0)?;
        runs(lwk, &program, &format!("{name}: 2 ranks, "))?;
    }
    Ok(())
}
