//! The bundled programs: in Rust one file each in `apps/src/bin` and `apps/mpi/src/bin`, whose first `//!` line says what it does; in C and Fortran one file each in `apps/c`,
//! `apps/c/bench` and `apps/fortran`, whose first line does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::build::{self, Builder, Programs};
use crate::cc;
use crate::failure::{Doing, Failure, Outcome};
use crate::tree::Tree;

/// A bundled program, as `cargo lwk list` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// One line.
    pub description: String,
}

/// The bundled programs in Rust, by name, each with its package. Errors: their sources cannot be read, here and below.
pub fn list(tree: &Tree) -> Outcome<Vec<(Entry, Programs)>> {
    if tree.is_installed() {
        return installed(tree);
    }
    let mut entries = Vec::new();
    for programs in build::BUNDLED {
        let folder = tree.root().join(programs.folder).join("src/bin");
        let what = || format!("list the programs in {}", folder.display());
        for entry in fs::read_dir(&folder).doing(what)? {
            let path = entry.doing(what)?.path();
            if let (Some(name), Some("rs")) =
                (path.file_stem(), path.extension().and_then(|end| end.to_str()))
            {
                let source = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
                let name = name.to_string_lossy().into_owned();
                entries.push((Entry { name, description: first_line(&source) }, programs));
            }
        }
    }
    entries.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    Ok(entries)
}

/// The programs of an installation, in C as well, as [`crate::install`] has listed them; nothing of them is built.
fn installed(tree: &Tree) -> Outcome<Vec<(Entry, Programs)>> {
    let file = tree.root().join(crate::tree::PROGRAMS);
    let text = fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
    let entry = |(name, description): (&str, &str)| {
        (Entry { name: name.into(), description: description.into() }, build::APPS)
    };
    Ok(text.lines().filter_map(|line| line.split_once('\t')).map(entry).collect())
}

/// Where the programs in C and Fortran are.
const FOLDERS: [&str; 3] = ["apps/c", "apps/c/bench", "apps/fortran"];
/// The ends of their names.
const ENDS: [&str; 2] = ["c", "f90"];

/// The programs in C and Fortran, by name, each with its source relative to the tree.
pub fn list_c(tree: &Tree) -> Outcome<Vec<(Entry, PathBuf)>> {
    let mut entries = Vec::new();
    if tree.is_installed() {
        return Ok(entries);
    }
    for folder in FOLDERS.map(Path::new) {
        let what = || format!("list the programs in {}", folder.display());
        for entry in fs::read_dir(tree.root().join(folder)).doing(what)? {
            let path = entry.doing(what)?.path();
            let is_program = path.extension().is_some_and(|end| ENDS.iter().any(|it| end == *it));
            if let (Some(name), Some(file), true) = (path.file_stem(), path.file_name(), is_program) {
                let source = fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
                let name = name.to_string_lossy().into_owned();
                let description = first_comment(&source);
                entries.push((Entry { name, description }, folder.join(file)));
            }
        }
    }
    entries.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    Ok(entries)
}

/// The first line of a comment in front, without what belongs to the comment.
fn first_comment(source: &str) -> String {
    let line = source
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("/*").or(line.strip_prefix('!')))
        .unwrap_or("");
    line.trim_end_matches("*/").trim().trim_end_matches(['.', ':']).to_owned()
}

fn first_line(source: &str) -> String {
    source.lines().find_map(|line| line.strip_prefix("//!")).unwrap_or("").trim().to_owned()
}

/// A program as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// By its file.
    File(PathBuf),
    /// By its name among the programs of a package.
    Bundled(String, Programs),
    /// A bundled program in C or Fortran, by its source, relative to the tree.
    C(PathBuf),
}

impl Named {
    /// A name with a slash, or that of a file, is a file; anything else is a bundled program. Errors: there is none of that name.
    pub fn find(tree: &Tree, name: &str) -> Outcome<Self> {
        let path = Path::new(name);
        if name.contains('/') || path.is_file() {
            if !path.exists() {
                return Err(Failure::usage(format!(
                    "there is no program {name}; give the path of a static ELF file"
                )));
            }
            return Ok(Self::File(path.to_path_buf()));
        }
        if let Some((_, programs)) = list(tree)?.into_iter().find(|(entry, _)| entry.name == name) {
            return Ok(Self::Bundled(name.into(), programs));
        }
        if let Some((_, source)) = list_c(tree)?.into_iter().find(|(entry, _)| entry.name == name) {
            return Ok(Self::C(source));
        }
        Err(Failure::usage(format!(
            "there is no program {name:?}; `{} list` shows the bundled ones, a path with a slash names any other",
            tree.command()
        )))
    }

    /// Builds the program if it is a bundled one and gives the path of its file.
    pub fn build(&self, tree: &Tree, builder: &Builder) -> Outcome<PathBuf> {
        match self {
            Self::Bundled(name, programs) => builder.program(*programs, name)?,
            Self::C(source) if builder.builds() => {
                cc::build_programs(tree, builder, &BTreeSet::from([source]))?;
            }
            Self::File(_) | Self::C(_) => {}
        }
        Ok(self.path(tree))
    }

    /// The path of its file, once it has been built.
    pub fn path(&self, tree: &Tree) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Bundled(name, _) => tree.program(name),
            Self::C(source) => cc::program(tree, source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{first_comment, first_line};

    #[test]
    fn the_first_line_of_the_front_comment_describes_the_program() {
        assert_eq!(first_line("// licence\n//! Says hello.\n//!\n//! More.\n"), "Says hello.");
        assert_eq!(first_line("fn main() {}\n"), "");
    }

    #[test]
    fn the_first_line_of_a_c_program_describes_it() {
        assert_eq!(first_comment("/* Sorts: args [KEYS].\n *\n * More. */\n"), "Sorts: args [KEYS]");
        assert_eq!(first_comment("/* Sorts. */\nint x;\n"), "Sorts");
        assert_eq!(first_comment("! Sorts: args [KEYS].\nprogram sort\n"), "Sorts: args [KEYS]");
        assert_eq!(first_comment("int x;\n"), "");
    }
}
