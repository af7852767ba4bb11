//! Builds what runs on a node, and the image builder. Cargo sees to it that nothing unchanged is built again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Doing, Failure, Outcome};
use crate::progress::Step;
use crate::qemu::Firmware;
use crate::toolchain::Toolchain;
use crate::tree::Tree;

/// Builds of the guest side: what each of them needs.
#[derive(Clone, Debug)]
pub struct Builder {
    tree: Tree,
    /// None: take what has been built, build nothing.
    toolchain: Option<Toolchain>,
    verbose: bool,
}

/// The kernel's files.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// With symbols.
    pub elf: PathBuf,
    /// Without, as it is booted.
    pub stripped: PathBuf,
}

/// Where the kernel is once it has been built.
pub fn kernel_files(tree: &Tree) -> Kernel {
    let elf = tree.kernel();
    let stripped = elf.with_extension("stripped");
    Kernel { elf, stripped }
}

/// A package of guest programs: one binary for each file in its `src/bin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Programs {
    /// The package's name.
    pub package: &'static str,
    /// Its folder in the tree.
    pub folder: &'static str,
}

/// The bundled programs on the bare library.
pub const APPS: Programs = Programs { package: "lwk-apps", folder: "apps" };
/// Those on MPI and OpenSHMEM: a package of their own, so that others are built without the runtime.
pub const MPI_APPS: Programs = Programs { package: "lwk-mpi-apps", folder: "apps/mpi" };
/// All bundled programs.
pub const BUNDLED: [Programs; 2] = [APPS, MPI_APPS];
/// The programs of the boot tests.
pub const BOOT_TESTS: Programs = Programs { package: "lwk-boot-tests", folder: "qemu-tests" };

/// Options of every guest build.
const BUILD_STD: [&str; 3] = ["--release", "-Zjson-target-spec", "-Zbuild-std=core,alloc,compiler_builtins"];

/// `memcpy` and its like come with the program; in C programs they are the C library's.
const OWN_MEMCPY: &str = "-Zbuild-std-features=compiler-builtins-mem";

/// Adds the options of a guest build for the target file `target` in the tree's root.
pub fn guest_options<'c>(command: &'c mut Command, tree: &Tree, target: &str) -> &'c mut Command {
    library_options(command, tree, target).arg(OWN_MEMCPY)
}

/// As [`guest_options`], for what a C program links.
pub fn library_options<'c>(command: &'c mut Command, tree: &Tree, target: &str) -> &'c mut Command {
    command
        .args(BUILD_STD)
        .arg("--target")
        .arg(tree.root().join(target))
        .arg("--target-dir")
        .arg(tree.guest_target())
}

/// The package of `libmpi.a`, MPI and OpenSHMEM for C.
pub const MPI_LIBRARY: &str = "lwk-mpi-c";

/// How programs that `libmpi.a` is linked into are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// At a fixed address: 2.6 to 2.8 % fewer instructions a short message than [`Form::Any`].
    Fixed,
    /// In any way, position-independent executables among them.
    Any,
}

/// The step of building the image builder.
const BOOT_LOADER: &str = "building the boot loader";

/// What overrides the boot loader's own profiles, by variables of cargo's.
const STAGES_DEBUG: [&str; 2] = ["CARGO_PROFILE_STAGE_3_DEBUG", "CARGO_PROFILE_STAGE_4_DEBUG"];

/// Target file of the kernel, in the tree's root.
pub const KERNEL_TARGET: &str = "x86_64-lwk.json";
/// Target file of programs, in the tree's root.
pub const USER_TARGET: &str = "x86_64-lwk-user.json";
/// As [`USER_TARGET`], for [`Form::Any`].
const PIE_TARGET: &str = "x86_64-lwk-user-pie.json";

impl Builder {
    /// A builder that finds or installs the tools first; with `built`, one that only checks that all is there.
    ///
    /// # Errors
    /// As [`Toolchain::prepare`]. Those of the builds below: what does not build, or with `built`, what is not there.
    pub fn new(tree: &Tree, built: bool, verbose: bool) -> Outcome<Self> {
        let toolchain =
            if built || tree.is_installed() { None } else { Some(Toolchain::prepare(tree, verbose)?) };
        Ok(Self { tree: tree.clone(), toolchain, verbose })
    }

    /// Whether it builds at all, rather than take what is there.
    pub fn builds(&self) -> bool {
        self.toolchain.is_some()
    }

    /// Builds the kernel, and strips it.
    pub fn kernel(&self) -> Outcome<Kernel> {
        let Kernel { elf, stripped } = kernel_files(&self.tree);
        if let Some(toolchain) = &self.toolchain {
            let _step = Step::begin("building the kernel", self.verbose);
            let mut command = toolchain.cargo(&self.tree);
            command.args(["build", "--package", "margay-kernel"]);
            self.run(guest_options(&mut command, &self.tree, KERNEL_TARGET), "the kernel")?;
            if !is_of_the_same_time(&stripped, &elf) {
                strip(toolchain, &elf, &stripped)?;
            }
        }
        self.check(&stripped)?;
        Ok(Kernel { elf, stripped })
    }

    /// Builds all programs of packages; they are where [`Tree::program`] says.
    pub fn programs(&self, packages: &[Programs]) -> Outcome<()> {
        let folders: Vec<&str> = packages.iter().map(|it| it.folder).collect();
        let which = packages.iter().flat_map(|it| ["--package", it.package]);
        self.guest_programs(
            format!("building the programs in {}", folders.join(", ")),
            which.chain(["--bins"]),
        )
    }

    /// Builds one program of a package, without its siblings.
    pub fn program(&self, programs: Programs, name: &str) -> Outcome<()> {
        self.guest_programs(format!("building {name}"), ["--package", programs.package, "--bin", name])
    }

    /// Builds what cargo's options say.
    fn guest_programs<'a>(&self, step: String, which: impl IntoIterator<Item = &'a str>) -> Outcome<()> {
        let Some(toolchain) = &self.toolchain else { return Ok(()) };
        let _step = Step::begin(step, self.verbose);
        let mut command = toolchain.cargo(&self.tree);
        command.arg("build").args(which);
        self.run(guest_options(&mut command, &self.tree, USER_TARGET), "a program")
    }

    /// Builds `libmpi.a` for programs of that form and gives its file.
    pub fn mpi_library(&self, form: Form) -> Outcome<PathBuf> {
        let (file, target, what) = match form {
            Form::Fixed => (self.tree.program("libmpi.a"), USER_TARGET, "building libmpi.a"),
            Form::Any => (
                self.tree.guest_target().join("x86_64-lwk-user-pie/release/libmpi.a"),
                PIE_TARGET,
                "building libmpi.a for position-independent programs",
            ),
        };
        if let Some(toolchain) = &self.toolchain {
            let _step = Step::begin(what, self.verbose);
            let mut command = toolchain.cargo(&self.tree);
            command.args(["build", "--package", MPI_LIBRARY]);
            self.run(library_options(&mut command, &self.tree, target), "libmpi.a")?;
        }
        self.check(&file)?;
        Ok(file)
    }

    /// Builds the image builder for one firmware, with that boot loader inside, and gives its file.
    pub fn image_builder(&self, firmware: Firmware) -> Outcome<PathBuf> {
        let _step = self.builds().then(|| Step::begin(BOOT_LOADER, self.verbose));
        self.quiet_image_builder(firmware)
    }

    /// Does `others` while the image builder for `firmware` is built, which leaves cores idle at times and shares nothing with guest builds.
    pub fn with_image_builder<T>(
        &self,
        firmware: Firmware,
        others: impl FnOnce() -> Outcome<T>,
    ) -> Outcome<(PathBuf, T)> {
        std::thread::scope(|scope| {
            let image_builder = scope.spawn(|| self.quiet_image_builder(firmware));
            let done = others();
            // One step is shown at a time.
            let _step = self.builds().then(|| Step::begin(BOOT_LOADER, self.verbose));
            let image_builder = image_builder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.and_then(|done| Ok((image_builder?, done)))
        })
    }

    /// Without debug information of the stages for BIOS, whose own profiles ask for it: it is stripped in any case, and costs a quarter of their build.
    /// A firmware's image builder has a target folder of its own, since cargo would replace one by the other; so only the boot loader
    /// that is needed is built.
    fn quiet_image_builder(&self, firmware: Firmware) -> Outcome<PathBuf> {
        let target = self.tree.boot_target(firmware);
        let file = self.tree.image_builder(firmware);
        if let Some(toolchain) = &self.toolchain {
            let mut command = toolchain.cargo(&self.tree);
            // By option and not by CARGO_TARGET_DIR: the boot loader's build script runs cargo again, and a target
            // folder inherited from here would be locked by the build that waits for it.
            command.args(["build", "--release", "--features", firmware.name(), "--target-dir"]).arg(&target);
            command.envs(STAGES_DEBUG.map(|name| (name, "0")));
            self.run(command.current_dir(self.tree.root().join("boot")), "the boot loader")?;
        }
        self.check(&file)?;
        Ok(file)
    }

    fn run(&self, command: &mut Command, what: &str) -> Outcome<()> {
        use std::io::IsTerminal;
        if std::io::stderr().is_terminal() {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let output = command.output().doing(|| format!("start {}", command.get_program().display()))?;
        if output.status.success() {
            return Ok(());
        }
        crate::tell::error(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
        Err(Failure::host(format!("{what} does not build; the compiler's messages are above")))
    }

    fn check(&self, file: &Path) -> Outcome<()> {
        if file.is_file() {
            return Ok(());
        }
        let what = if self.tree.is_installed() {
            "is missing; install again"
        } else {
            "has not been built; run without --built"
        };
        Err(Failure::host(format!("{} {what}", file.display())))
    }
}

/// Whether `made` is what was made of `source` as it is: [`strip`] gives both one time. An older source is another one, too: cargo puts back
/// what it has built before if only a profile changes.
fn is_of_the_same_time(made: &Path, source: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|data| data.modified());
    matches!((time(made), time(source)), (Ok(made), Ok(source)) if made == source)
}

/// The kernel keeps its section table, where the boot loader finds its configuration, and loses its symbols.
fn strip(toolchain: &Toolchain, elf: &Path, stripped: &Path) -> Outcome<()> {
    let fresh = stripped.with_extension(std::process::id().to_string());
    let status = toolchain.objcopy().arg("--strip-all").arg(elf).arg(&fresh).status();
    let done = status.doing(|| "start llvm-objcopy".into())?.success();
    if !done {
        return Err(Failure::host("llvm-objcopy cannot strip the kernel; its message is above"));
    }
    let dated = || -> std::io::Result<()> {
        let built = elf.metadata()?.modified()?;
        std::fs::File::options().write(true).open(&fresh)?.set_modified(built)?;
        std::fs::rename(&fresh, stripped)
    };
    dated().doing(|| format!("write {}", stripped.display()))
}
