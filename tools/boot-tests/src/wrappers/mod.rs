//! Tests of the compiler wrappers as other tools use them: by hand, by make, by CMake's FindMPI; and of object files that another
//! implementation's header of the standard binary interface has made.

mod build_systems;
mod languages;
mod other_header;

pub use other_header::without_header;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use build_systems::{cmake, cmake_cxx_fortran, configure, make};
use languages::{cxx, cxx_files, fortran_files, mixed, musl};
use other_header::{OTHER_HEADER, objects_of_another_header};

use super::Test;
use crate::needs::Needs;
use lwk::cc;
use lwk::packages::find_command;
use lwk::subcommand::{Lwk, PATIENCE, Program};

/// A small program that the suite has anyway.
const SOURCE: &str = "conformance/messages.c";
/// What its run on two ranks prints.
const RESULT: &str = "messages: 2 ranks, ";

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

fn test(name: &str, check: Check) -> Test {
    Test {
        name: format!("margay-cc-{name}"),
        alone: false,
        on_host: true,
        // What the wrappers need is built with the programs.
        sources: vec![SOURCE.into()],
        needs: Needs::Any,
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
