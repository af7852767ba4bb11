//! Object files that another implementation's header of the standard binary interface has made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lwk::cc;
use lwk::fortran;
use lwk::packages::find_command;
use lwk::subcommand::Lwk;
use lwk::tree::Tree;

use super::{output, runs, wrapper, write};
use crate::Test;

/// The test that needs another implementation's header.
pub(super) const OTHER_HEADER: &str = "links-objects-of-another-header";
/// The package of PyPI that has one: MPICH 5.
const OTHER_PACKAGE: &str = "mpich==5.*";
/// Its header of the standard binary interface, in the package.
const OTHER_FILE: &str = "mpi_abi.h";
/// Programs that are compiled against it.
const OTHER_PROGRAMS: [&str; 3] = ["messages", "requests", "datatypes"];

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
pub(super) fn objects_of_another_header(lwk: &Lwk) -> Result<(), String> {
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
