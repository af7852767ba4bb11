//! What the Linux guest is made of: Debian's cloud kernel, busybox and MPICH with all they need, as packages unpacked in a folder as for an
//! empty system.

use std::fs;
use std::path::{Path, PathBuf};

use lwk::debs::Packages;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::tree::Tree;

const PACKAGES: Packages = Packages {
    what: "the Linux guest",
    names: &["linux-image-cloud-amd64", "busybox-static", "mpich", "libmpich-dev", "libc6"],
    on_this_system: false,
    backports: false,
};

/// Its folder.
const FOLDER: &str = "linux-guest";

fn folder(tree: &Tree, name: &str) -> PathBuf {
    tree.root().join("target/lwk").join(name)
}

/// An unpacked system.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// Downloads and unpacks, below `target/`, what is not there yet. Errors: as [`Packages::fetch`].
    pub fn fetch(tree: &Tree, verbose: bool) -> Outcome<Self> {
        Self::of(&PACKAGES, tree, FOLDER, verbose)
    }

    /// What [`System::fetch`] has unpacked before, for who can write nothing.
    pub fn fetched(tree: &Tree) -> Self {
        Self { root: Packages::root(&folder(tree, FOLDER)) }
    }

    /// As [`System::fetch`] for a system of other packages, in `folder` below `target/lwk`.
    pub fn of(packages: &Packages<'_>, tree: &Tree, folder: &str, verbose: bool) -> Outcome<Self> {
        Ok(Self { root: packages.fetch(&self::folder(tree, folder), verbose)? })
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The kernel's compressed file (`vmlinuz-…`). Errors: there is none.
    pub fn kernel(&self) -> Outcome<PathBuf> {
        let boot = self.root.join("boot");
        let what = || format!("list {}", boot.display());
        let files: Vec<PathBuf> = fs::read_dir(&boot)
            .doing(what)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .doing(what)?;
        let kernel = |file: &&PathBuf| {
            file.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("vmlinuz-"))
        };
        files.iter().find(kernel).cloned().ok_or_else(|| {
            Failure::host(format!("{} has no kernel; remove it and try again", boot.display()))
        })
    }

    /// The files of modules of the kernel's. Errors: one is not there.
    pub fn drivers(&self, names: &[&str]) -> Outcome<Vec<PathBuf>> {
        let modules = self.root.join("lib/modules");
        names
            .iter()
            .map(|name| {
                find(&modules, &format!("{name}.ko"))?.ok_or_else(|| {
                    Failure::host(format!(
                        "{} has no module {name}; remove it and try again",
                        modules.display()
                    ))
                })
            })
            .collect()
    }

    /// Folders of shared libraries, the dynamic linker's order.
    pub fn libraries(&self) -> Vec<PathBuf> {
        ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/slurm-wlm", "lib64"]
            .iter()
            .map(|folder| self.root.join(folder))
            .collect()
    }
}

/// A file below a folder.
fn find(folder: &Path, name: &str) -> Outcome<Option<PathBuf>> {
    let what = || format!("list {}", folder.display());
    for entry in fs::read_dir(folder).doing(what)? {
        let entry = entry.doing(what)?;
        let kind = entry.file_type().doing(what)?;
        if kind.is_file() && entry.file_name() == name {
            return Ok(Some(entry.path()));
        }
        if kind.is_dir()
            && let Some(found) = find(&entry.path(), name)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
