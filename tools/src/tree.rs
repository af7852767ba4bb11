//! Where things are: the source tree and what is built under its `target` folder.
//!
//! Every output of `cargo lwk` is below `target/`, so that `cargo clean` removes all of it. Guest builds have target
//! folders of their own: another compiler builds them, and cargo would rebuild what two compilers share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::{Doing, Failure, Outcome};
use crate::qemu::Firmware;

/// A file that only the root of the source tree has.
const LANDMARK: &str = "x86_64-lwk.json";

/// A file that only an installation has: its bundled programs, a line each with name, tab and description.
pub const PROGRAMS: &str = "lib/margay/programs.tsv";

/// The source tree, or an installation of what it builds, by the folder that is its root.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    installed: bool,
}

impl Tree {
    /// Finds the installation that this command's own file is part of. Otherwise the tree: cargo says where this package is; a binary that was
    /// started by hand looks upward from its own file and from the current folder. Errors: neither is inside of it.
    pub fn find() -> Outcome<Self> {
        let own = std::env::current_exe().and_then(|file| file.canonicalize());
        let own = own.doing(|| "find this command's own file".into())?;
        if let Some(prefix) = own.ancestors().nth(2).filter(|prefix| prefix.join(PROGRAMS).is_file()) {
            return Ok(Self::installed(prefix));
        }
        let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = std::env::current_dir().doing(|| "find the current folder".into())?;
        package
            .iter()
            .chain([&own, &here])
            .flat_map(|start| start.ancestors())
            .find(|folder| folder.join(LANDMARK).is_file())
            .map(|root| Self { root: root.to_path_buf(), installed: false })
            .ok_or_else(|| Failure::usage("not inside Margay's source tree; change into it and try again"))
    }

    /// The installation in `prefix`.
    pub fn installed(prefix: &Path) -> Self {
        Self { root: prefix.to_path_buf(), installed: true }
    }

    /// The root of the tree, or the folder of the installation.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether this is an installation, in which nothing is built.
    pub fn is_installed(&self) -> bool {
        self.installed
    }

    /// What users type to start this command.
    pub fn command(&self) -> &'static str {
        if self.installed { "margay" } else { "cargo lwk" }
    }

    /// Where an installation has what is neither for people nor for compilers.
    pub fn parts(&self) -> PathBuf {
        self.root.join("lib/margay")
    }

    /// Target folder of the kernel and of guest programs.
    pub fn guest_target(&self) -> PathBuf {
        self.root.join("target/guest")
    }

    /// Target folder of the image builder for one firmware.
    pub fn boot_target(&self, firmware: Firmware) -> PathBuf {
        self.root.join("target/boot").join(firmware.name())
    }

    /// Links and wrappers that guest builds find first in `PATH`.
    pub fn guest_tools(&self) -> PathBuf {
        self.root.join("target/guest-tools")
    }

    /// The file of a guest program, or of a library, with that name, once it has been built; with symbols.
    pub fn program(&self, name: &str) -> PathBuf {
        if self.installed {
            return self.parts().join("programs").join(name);
        }
        self.guest_target().join("x86_64-lwk-user/release").join(name)
    }

    /// Where the kernel is once it has been built, with symbols.
    pub fn kernel(&self) -> PathBuf {
        if self.installed {
            return self.parts().join("margay-kernel");
        }
        self.guest_target().join("x86_64-lwk/release/margay-kernel")
    }

    /// Where the image builder for one firmware is once it has been built.
    pub fn image_builder(&self, firmware: Firmware) -> PathBuf {
        if self.installed {
            return self.parts().join("margay-boot-".to_owned() + firmware.name());
        }
        self.boot_target(firmware).join("release/margay-boot")
    }

    /// Where an emulator is unpacked that cannot be installed.
    pub fn emulator(&self) -> PathBuf {
        if self.installed { self.parts().join("qemu") } else { self.root.join("target/lwk/qemu") }
    }

    /// Where the files of single runs go.
    fn runs(&self) -> PathBuf {
        if self.installed {
            // Of this user alone: another's folder could not be written to.
            return std::env::temp_dir().join(format!("margay-{}", rustix::process::getuid().as_raw()));
        }
        self.root.join("target/lwk/run")
    }
}

/// A folder for the files of one run, removed when dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes an empty folder, and removes those of processes that were killed before they could. Errors: it cannot be made.
    pub fn new(tree: &Tree) -> Outcome<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let runs = tree.runs();
        remove_stale(&runs);
        // Relaxed: the counter only has to give each run of this process another number.
        let name = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = runs.join(name);
        // Numbers of processes come again: what is there is of one that was killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).doing(|| format!("make the folder {}", path.display()))?;
        Ok(Self { path })
    }

    /// The path of the file `name` in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // Nothing can be done about a folder that does not go away; the next run tries again.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes run folders whose process is gone. Failure costs disk space only, so it is not reported.
fn remove_stale(runs: &Path) {
    for entry in std::fs::read_dir(runs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.split('-').next()).unwrap_or("");
        if process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
