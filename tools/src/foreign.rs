//! Programs of the tests that know nothing of Margay: compiled from one source of the tree, and linked as other toolchains do it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cc;
use crate::failure::{Doing, Failure, Outcome};
use crate::packages;
use crate::tree::Tree;

/// A way to link, by the word that begins the path of a source that is linked so, and the compiler's words for it.
struct Way {
    word: &'static str,
    rust: bool,
    options: &'static [&'static str],
}

/// All ways. What Rust does by default for its static target is position independent; the linker that it brings along puts others at `0x200000`, as
/// is asked of GNU ld here.
static WAYS: [Way; 4] = [
    Way { word: "static-pie", rust: false, options: &["-fPIE", "-static-pie"] },
    Way { word: "low", rust: false, options: &["-static", "-no-pie", "-Wl,-Ttext-segment=0x200000"] },
    Way { word: "rust", rust: true, options: &["-Ctarget-feature=+crt-static"] },
    Way {
        word: "rust-fixed",
        rust: true,
        options: &["-Ctarget-feature=+crt-static", "-Crelocation-model=static"],
    },
];

fn way_of(source: &Path) -> Option<&'static Way> {
    WAYS.iter().find(|way| source.starts_with(way.word))
}

/// Whether `word` names one of these ways.
pub fn is_way(word: &str) -> bool {
    WAYS.iter().any(|way| way.word == word)
}

/// Whether a source is built here: the first part of its path names the way.
pub fn is_foreign(source: &Path) -> bool {
    way_of(source).is_some()
}

/// Builds the programs of these sources, to where [`cc::program`] says. One that is newer than its source stays as it is.
///
/// # Errors
/// A compiler that is not there or refuses a source.
pub fn build_programs(tree: &Tree, sources: &BTreeSet<&PathBuf>) -> Outcome<()> {
    for source in sources {
        let Some(way) = way_of(source) else { continue };
        build_program(tree, way, source)?;
    }
    Ok(())
}

fn build_program(tree: &Tree, way: &Way, source: &Path) -> Outcome<()> {
    let output = cc::program(tree, source);
    let source = tree.root().join(source.strip_prefix(way.word).unwrap_or(source));
    let changed = |file: &Path| file.metadata().and_then(|data| data.modified()).ok();
    if changed(&output).is_some_and(|made| Some(made) > changed(&source)) {
        return Ok(());
    }
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    if packages::find_command("gcc").is_none() {
        // It also links for Rust.
        packages::install(&["gcc", "libc6-dev"], false)?;
    }
    let mut command = if way.rust { Command::new(rust_compiler()) } else { Command::new("gcc") };
    command.args(if way.rust { &["--edition=2024", "-O", "-g", "-Dwarnings"][..] } else { &C_OPTIONS });
    // Under another name first: a command that is killed leaves nothing that looks complete.
    let fresh = output.with_extension(std::process::id().to_string());
    command.args(way.options).arg("-o").arg(&fresh).arg(&source);
    let ended = command.output().doing(|| format!("run {}", command.get_program().display()))?;
    if !ended.status.success() {
        crate::tell::error(format_args!("{}", String::from_utf8_lossy(&ended.stderr)));
        return Err(Failure::host(format!(
            "{} does not build; the compiler's messages are above",
            source.display()
        )));
    }
    fs::rename(&fresh, &output).doing(|| format!("write {}", output.display()))
}

const C_OPTIONS: [&str; 6] = ["-std=c11", "-O2", "-g", "-Wall", "-Wextra", "-Werror"];

/// The host's Rust compiler: the one beside the cargo that runs this command, since the first in the path may be the guest's.
fn rust_compiler() -> PathBuf {
    let beside = std::env::var_os("CARGO").map(|cargo| PathBuf::from(cargo).with_file_name("rustc"));
    beside.filter(|file| file.is_file()).unwrap_or_else(|| "rustc".into())
}
