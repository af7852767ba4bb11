//! The folder that a benchmark writes to.

use std::fs;
use std::path::{Path, PathBuf};

use lwk::failure::{Failure, Outcome};
use lwk::tree::Tree;

/// The folder that the user has asked for, or the usual one in the tree; it is there then. Errors: it cannot be made.
pub fn folder(tree: &Tree, asked: Option<&PathBuf>, usual: &str) -> Outcome<PathBuf> {
    let folder = asked.cloned().unwrap_or_else(|| tree.root().join(usual));
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    Ok(folder)
}

/// Writes a file. Errors: it cannot be written.
pub fn write(file: &Path, text: &str) -> Outcome<()> {
    fs::write(file, text).map_err(|error| unwritable(file, &error))
}

/// Says so, and what to do.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write to {}: {error}; choose a folder with --out", path.display()))
}
