//! Tests of the compiler wrappers as other tools use them: by hand, by make, by CMake's FindMPI; and of object files that another
//! implementation's header of the standard binary interface has made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Test;
use super::command::{Lwk, Program};
use crate::cc;
use crate::packages::find_command;
use crate::tree::Tree;

/// A small program that the suite has anyway.
const SOURCE: &str = "conformance/messages.c";
/// Time limit of its jobs, in seconds.
const LIMIT: u64 = 30;
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

type Check = fn(&Lwk) -> Result<(), String>;

/// All of them; those whose tools this machine lacks are left out, and said to be by [`left_out`].
pub fn all() -> Vec<Test> {
    let mut checks: Vec<(&str, Check)> = vec![
        ("compiles-and-links-in-steps", in_steps),
        ("says-what-it-would-do", shows),
        ("refuses-a-dynamic-program", dynamic),
        ("replaced-function-calls-the-library", replaced),
    ];
    let mut optional = |command: &str, name: &'static str, check: Check| {
        if find_command(command).is_some() {
            checks.push((name, check));
        }
    };
    optional("make", "serves-make", make);
    optional("cmake", "serves-cmakes-findmpi", cmake);
    optional("g++", "compiles-cxx", cxx);
    checks.push((OTHER_HEADER, objects_of_another_header));
    checks.into_iter().map(|(name, check)| test(name, check)).collect()
}

/// Lines on what is left out.
pub fn left_out() -> Vec<String> {
    let missing = ["make", "cmake", "g++"].into_iter().filter(|command| find_command(command).is_none());
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
        .status()
        .ok()?;
    let file = find_file(&folder.join("wheel"), OTHER_FILE)?;
    fs::copy(file, &header).ok()?;
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
    let options =
        ["-n", "2", "--mem", "16", "--timeout", "30", "--host", "--oversubscribe"].map(str::to_owned);
    let ended = lwk.command(&lwk.run_words(&Program::File(program.into()), &options, &[]), LIMIT)?;
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
        ("-showme:libs", "mpi \n".into()),
        ("-showme:command", "musl-gcc\n".into()),
        ("-compile_info", format!("-I{include}\n")),
        ("-link_info", format!("-static -no-pie -Wl,--gc-sections -L{lib} -lmpi\n")),
    ];
    for (option, text) in wanted {
        let told = output(wrapper(lwk).arg(option), 0)?;
        if told != text {
            return Err(format!("{option} tells {told:?}, not {text:?}"));
        }
    }
    let told = output(wrapper(lwk).args(["-show", "-c", "no-such-file.c"]), 0)?;
    if told != format!("musl-gcc -I{include} -c no-such-file.c\n") {
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
        let ended = lwk.command(&["run".into(), home.into(), program.clone().into()], LIMIT)?;
        let told = &ended.stderr;
        if ended.status != Some(2) || told.lines().count() != 1 || !told.contains("static") {
            return Err(format!("{home}: status {:?}, {told:?}", ended.status));
        }
    }
    Ok(())
}

/// A tool's own `MPI_Barrier` is called instead of the library's, which it reaches as `PMPI_Barrier`.
fn replaced(lwk: &Lwk) -> Result<(), String> {
    let folder = lwk.folder()?;
    let (source, program) = (folder.file("it.c"), folder.file("it"));
    write(
        &source,
        "#include <mpi.h>\n#include <stdio.h>\nstatic int calls;\n\
         int MPI_Barrier(MPI_Comm comm) { calls++; return PMPI_Barrier(comm); }\n\
         int main(int argc, char **argv) {\n  int rank;\n  MPI_Init(&argc, &argv);\n\
         MPI_Barrier(MPI_COMM_WORLD);\n  MPI_Barrier(MPI_COMM_WORLD);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  if (rank == 0) printf(\"%d calls\\n\", calls);\n\
         return MPI_Finalize();\n}\n",
    )?;
    output(wrapper(lwk).arg(&source).arg("-o").arg(&program), 0)?;
    runs(lwk, &program, "2 calls\n")
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

/// Every constant of this header has the same value in another implementation's, and objects that were compiled against that one link and run.
fn objects_of_another_header(lwk: &Lwk) -> Result<(), String> {
    let (tree, folder) = (lwk.tree(), lwk.folder()?);
    let (own, other) = (tree.root().join("mpi-rt/c/include"), header_folder(tree));
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
            Command::new("musl-gcc")
                .args(["-std=c11", "-c", "-I"])
                .arg(&other)
                .arg(source)
                .arg("-o")
                .arg(&object),
            0,
        )?;
        output(wrapper(lwk).arg(&object).arg("-o").arg(&program), 0)?;
        runs(lwk, &program, &format!("{name}: 2 ranks, "))?;
    }
    Ok(())
}
