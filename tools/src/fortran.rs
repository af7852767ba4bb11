//! Fortran's part of the folder that the wrappers lie in: `mpif.h`, the modules `mpi` and `mpi_f08`, and `libmpifort.a`, which stands behind them.
//!
//! Most of it is made of the description of MPI's functions (`mpi-rt/c/description`) by `lwk_bindings`; the rest is in `mpi-rt/c/fortran`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lwk_bindings::Description;

use crate::cc::{files, newest, replace, run_tool};
use crate::failure::{Doing, Failure, Outcome};
use crate::tree::Tree;

/// The modules in the order in which they are compiled, and whether they have functions of their own.
const MODULES: [(&str, bool); 3] = [("mpi_f08_types", true), ("mpi", false), ("mpi_f08", false)];
/// `mpif.h`'s parts; the second is made.
const MPIF: [&str; 5] =
    ["mpif_begin.inc", "older_constants.inc", "mpif_addresses.inc", "mpif_functions.inc", "mpif_results.inc"];

/// Reads the tree's description. Errors: wrong use, with the line that is wrong.
pub fn description(tree: &Tree) -> Outcome<Description> {
    Description::read(&tree.root().join("mpi-rt/c/description")).map_err(Failure::usage)
}

/// Lays `mpif.h`, the modules, and `libmpifort.a` there, which are the compiler's own, unless they are newer than their sources.
pub fn install(tree: &Tree, description: &Description, include: &Path, lib: &Path) -> Outcome<()> {
    let by_hand = tree.root().join("mpi-rt/c/fortran");
    let made = tree.root().join("target/lwk/fortran");
    make(description, &by_hand, &made)?;
    let sources = [files(&by_hand)?, files(&made)?].concat();
    let read = |name: &str| {
        let folder = if made.join(name).is_file() { &made } else { &by_hand };
        fs::read_to_string(folder.join(name)).doing(|| format!("read {name}"))
    };
    let mpif: Vec<_> = MPIF.into_iter().map(read).collect::<Outcome<_>>()?;
    replace(&include.join("mpif.h"), mpif.concat().as_bytes())?;

    let library = lib.join("libmpifort.a");
    let module = |name: &str| include.join(format!("{name}.mod"));
    let headers = [files(include)?, files(&include.join("margay"))?].concat();
    let headers = headers.into_iter().filter(|file| file.extension().is_some_and(|end| end == "h"));
    let newest = newest(&[sources.clone(), headers.collect()].concat())?;
    // The library is made last.
    let age = library.metadata().and_then(|library| library.modified()).ok();
    if age.is_some_and(|age| age >= newest) && MODULES.iter().all(|it| module(it.0).is_file()) {
        return Ok(());
    }
    // Under other names first: another command may be compiling or linking.
    let fresh = lib.join(format!("fortran.{}", std::process::id()));
    fs::create_dir_all(&fresh).doing(|| format!("make the folder {}", fresh.display()))?;
    let built = build(&sources, [&by_hand, &made], include, &fresh);
    if built.is_ok() {
        let archive = fresh.join("libmpifort.a");
        fs::rename(&archive, &library).doing(|| format!("write {}", library.display()))?;
    }
    fs::remove_dir_all(&fresh).doing(|| format!("remove {}", fresh.display()))?;
    built
}

/// Builds all in a folder, and lays the modules with the headers.
fn build(sources: &[PathBuf], folders: [&Path; 2], include: &Path, fresh: &Path) -> Outcome<()> {
    let mut objects = compile_c(sources, folders[0], include, fresh)?;
    for (name, has_functions) in MODULES {
        objects.extend(compile_module(name, has_functions, folders, fresh)?);
    }
    run_tool(Command::new("ar").arg("crs").arg(fresh.join("libmpifort.a")).args(&objects))?;
    for (name, _) in MODULES {
        let file = format!("{name}.mod");
        fs::rename(fresh.join(&file), include.join(&file)).doing(|| format!("write {file}"))?;
    }
    Ok(())
}

/// Makes what is made of the description, and removes what no chapter makes any more.
fn make(description: &Description, by_hand: &Path, made: &Path) -> Outcome<()> {
    fs::create_dir_all(made).doing(|| format!("make the folder {}", made.display()))?;
    let all = [description.sources(), description.included()].concat();
    for (name, text) in &all {
        if by_hand.join(name).exists() {
            return Err(Failure::usage(format!(
                "{} is made of the description; remove it",
                by_hand.join(name).display()
            )));
        }
        replace(&made.join(name), text.as_bytes())?;
    }
    for file in files(made)? {
        let name = file.file_name().unwrap_or_default();
        if !all.iter().any(|it| it.0.as_str() == name) {
            fs::remove_file(&file).doing(|| format!("remove {}", file.display()))?;
        }
    }
    Ok(())
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// Compiles the C sources, as many at a time as there are cores. The objects.
fn compile_c(sources: &[PathBuf], by_hand: &Path, include: &Path, to: &Path) -> Outcome<Vec<PathBuf>> {
    let sources: Vec<_> =
        sources.iter().filter(|file| file.extension().is_some_and(|end| end == "c")).collect();
    let compile = |source: &PathBuf| {
        let object = to.join(source.with_extension("o").file_name().unwrap_or_default());
        let mut command = Command::new("gcc");
        command.args(["-std=c11", "-O2", "-fPIE", "-ffunction-sections", "-c"]).arg(option("-I", include));
        run_tool(command.arg(option("-I", by_hand)).arg(source).arg("-o").arg(&object))?;
        Ok(object)
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let parts = sources.chunks(sources.len().div_ceil(cores).max(1));
    std::thread::scope(|scope| {
        let compile = &compile;
        let workers: Vec<_> = parts
            .map(|part| scope.spawn(move || part.iter().map(|it| compile(it)).collect::<Outcome<Vec<_>>>()))
            .collect();
        // A worker that panics is a bug of this command: let it show.
        let ended: Outcome<Vec<_>> =
            workers.into_iter().map(|it| it.join().expect("no worker panics")).collect();
        Ok(ended?.concat())
    })
}

/// Compiles a module into the folder; its object if it has functions.
fn compile_module(
    name: &str,
    has_functions: bool,
    folders: [&Path; 2],
    to: &Path,
) -> Outcome<Option<PathBuf>> {
    let object = to.join(format!("{name}.o"));
    let mut command = Command::new("gfortran");
    command
        .args(["-w", "-O2", "-fPIE", "-ffunction-sections"])
        .arg(option("-I", folders[1]))
        .arg(option("-J", to));
    if has_functions {
        command.arg("-c").arg("-o").arg(&object);
    } else {
        command.arg("-fsyntax-only");
    }
    run_tool(command.arg(folders[0].join(format!("{name}.f90"))))?;
    Ok(has_functions.then_some(object))
}
