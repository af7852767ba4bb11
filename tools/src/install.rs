//! `cargo lwk install DIR`: all that is needed to compile and run programs, in one folder, for use from anywhere, without cargo and without
//! this tree. Everything is built here, so that nothing is built, and nothing said about it, when programs are run.
//!
//! | place in DIR | what |
//! | --- | --- |
//! | `bin` | this command as `margay`, `margay-host` for jobs on this machine; `mpiexec` and its kin, which are links to it; the compilers ([`cc`]) |
//! | `include`, `lib` | headers, libraries, files for pkg-config |
//! | `lib/margay` | kernel, image builder with the boot loader inside, bundled programs and their list |
//! | `share` | manual pages, completions for shells |

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::build::{self, Builder, kernel_files};
use crate::catalog::{self, Named};
use crate::cc::{self, Language};
use crate::cli::{InstallOptions, Margay};
use crate::delegate::{self, HOST, INSTALLED_HOST};
use crate::emulator::find_qemu;
use crate::failure::{Doing, Failure, Outcome};
use crate::loader::{self, COMMAND, LAUNCHERS};
use crate::progress::Step;
use crate::qemu::Firmware;
use crate::tree::{PROGRAMS, Tree};

/// Names of the files for pkg-config, and what each asks the linker for: MPI, as others call it, and OpenSHMEM.
const PACKAGES: [(&str, &str, &str); 5] = [
    ("margay-mpi", "Margay's MPI for C", "-lmpi"),
    ("mpi", "Margay's MPI for C", "-lmpi"),
    ("mpi-cxx", "Margay's MPI for C++", "-lmpi"),
    ("mpi-fort", "Margay's MPI for Fortran", "-lmpifort -lmpi"),
    ("oshmem", "Margay's OpenSHMEM", "-lmpi"),
];
/// Section of the manual for commands.
const SECTION: &str = "man1";

/// Builds everything and lays it in the folder. Status 0.
pub fn run(tree: &Tree, options: &InstallOptions) -> Outcome<i32> {
    let builder = Builder::new(tree, false, options.verbose)?;
    let folder = &options.folder;
    make(folder)?;
    let folder = &folder.canonicalize().doing(|| format!("find the folder {}", folder.display()))?;
    for language in Language::ALL {
        cc::find_compiler(language, cc::Libc::Glibc)?;
    }
    let bin = folder.join("bin");
    make(&bin)?;
    let [command, host] = host_commands(tree, options)?;
    copy_program(&command, &bin.join(COMMAND))?;
    copy_program(&host, &bin.join(INSTALLED_HOST))?;
    cc::install(tree, &builder, folder)?;
    let installed = Tree::installed(folder);
    make(&installed.parts())?;
    install_node(&builder, &installed)?;
    install_programs(tree, &builder, &installed)?;
    install_packages(folder)?;
    install_manual(folder)?;
    install_completions(folder)?;
    find_qemu(&installed, options.verbose)?;
    show!(
        "{}: add its bin to PATH; then mpicc, mpicxx and mpifort compile, and mpiexec runs",
        folder.display()
    );
    Ok(0)
}

fn make(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))
}

/// Copies what can be executed.
fn copy_program(from: &Path, to: &Path) -> Outcome<()> {
    cc::copy(from, to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))
        .doing(|| format!("make {} executable", to.display()))
}

/// This command and its part for jobs on this machine, built for speed: that is on the way of every system call of a rank.
fn host_commands(tree: &Tree, options: &InstallOptions) -> Outcome<[PathBuf; 2]> {
    if options.own {
        delegate::build(tree, HOST)?;
        let own = std::env::current_exe().doing(|| "find this command's own file".into())?;
        return Ok([own, delegate::sibling(HOST)?]);
    }
    let _step = Step::begin("building the command itself", options.verbose);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = tree.root().join("target");
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--package", "lwk", "--package", HOST, "--bins", "--target-dir"]);
    let output = command.arg(&target).current_dir(tree.root()).output().doing(|| "start cargo".into())?;
    if !output.status.success() {
        crate::tell::error(format_args!("{}", String::from_utf8_lossy(&output.stderr)));
        return Err(Failure::host("the command itself does not build; the compiler's messages are above"));
    }
    Ok(["lwk", HOST].map(|name| target.join("release").join(name)))
}

/// Kernel and image builder.
fn install_node(builder: &Builder, installed: &Tree) -> Outcome<()> {
    let (from, to) = (builder.kernel()?, kernel_files(installed));
    cc::copy(&from.elf, &to.elf)?;
    cc::copy(&from.stripped, &to.stripped)?;
    [Firmware::Bios, Firmware::Uefi].into_iter().try_for_each(|firmware| {
        copy_program(&builder.image_builder(firmware)?, &installed.image_builder(firmware))
    })
}

/// The bundled programs, and their list, which says last that the installation is whole.
fn install_programs(tree: &Tree, builder: &Builder, installed: &Tree) -> Outcome<()> {
    builder.programs(&build::BUNDLED)?;
    let mut entries: Vec<_> = catalog::list(tree)?.into_iter().map(|(entry, _)| entry).collect();
    let mut in_c = catalog::list_c(tree)?;
    // Without a compiler for Fortran there is no library for it either.
    in_c.retain(|(_, source)| cc::has_fortran() || !cc::is_fortran(source));
    {
        let _step = Step::begin("building the programs in C and Fortran", false);
        cc::build_programs(tree, builder, &in_c.iter().map(|(_, source)| source).collect())?;
    }
    entries.extend(in_c.into_iter().map(|(entry, _)| entry));
    let bin = installed.root().join("bin");
    let mut list = String::new();
    for entry in &entries {
        let from = Named::find(tree, &entry.name)?.path(tree);
        let to = installed.program(&entry.name);
        make(to.parent().unwrap_or(Path::new(".")))?;
        loader::copy(&from, &to, &bin)?;
        // Writing to a text cannot fail.
        let _ = writeln!(list, "{}\t{}", entry.name, entry.description);
    }
    cc::replace(&installed.root().join(PROGRAMS), list.as_bytes())
}

/// Files for pkg-config, which find the folder by their own place.
fn install_packages(folder: &Path) -> Outcome<()> {
    let packages = folder.join("lib/pkgconfig");
    make(&packages)?;
    for (name, description, libraries) in PACKAGES {
        let text = format!(
            "prefix=${{pcfiledir}}/../..\n\nName: {name}\nDescription: {description}\nVersion: {}\n\
             Cflags: -I${{prefix}}/include\nLibs: -static -no-pie -Wl,--gc-sections -L${{prefix}}/lib {libraries}\n",
            env!("CARGO_PKG_VERSION")
        );
        cc::replace(&packages.join(format!("{name}.pc")), text.as_bytes())?;
    }
    Ok(())
}

/// A page for each command; what has another name leads to the page of the first.
fn install_manual(folder: &Path) -> Outcome<()> {
    let pages = folder.join("share/man").join(SECTION);
    make(&pages)?;
    clap_mangen::generate_to(Margay::command(), &pages).doing(|| format!("write to {}", pages.display()))?;
    let plain = |name: &str, what: &str, text: &str| {
        // A line that begins with a dot or an apostrophe would be a request.
        let text = text.replace('\\', "\\e").replace("\n.", "\n\\&.").replace("\n'", "\n\\&'");
        let name_of_page = name.to_uppercase();
        format!(".TH {name_of_page} 1\n.SH NAME\n{name} \\- {what}\n.SH DESCRIPTION\n.nf\n{text}.fi\n")
    };
    let page = |name: &str, text: &str| cc::replace(&pages.join(format!("{name}.1")), text.as_bytes());
    let [first, others @ ..] = LAUNCHERS;
    let text = told_by(&folder.join("bin").join(first), "--help")?;
    page(first, &plain(first, "start a program on this machine or on a node", &text))?;
    for other in others {
        page(other, &format!(".so {SECTION}/{first}.1\n"))?;
    }
    for language in Language::ALL {
        let wrapper = language.wrapper();
        let text = told_by(&folder.join("bin").join(wrapper), "-showme:help")?;
        page(wrapper, &plain(wrapper, "compile a program for Margay", &text))?;
        for other in language.other_names() {
            page(other, &format!(".so {SECTION}/{wrapper}.1\n"))?;
        }
    }
    Ok(())
}

/// What a command tells of itself.
fn told_by(command: &Path, option: &str) -> Outcome<String> {
    let told = Command::new(command).arg(option).output().doing(|| format!("run {}", command.display()))?;
    Ok(String::from_utf8_lossy(&told.stdout).into_owned())
}

/// Completions, where each shell looks for them below a prefix.
fn install_completions(folder: &Path) -> Outcome<()> {
    let places = [
        (Shell::Bash, "share/bash-completion/completions", COMMAND.to_owned()),
        (Shell::Zsh, "share/zsh/site-functions", format!("_{COMMAND}")),
        (Shell::Fish, "share/fish/vendor_completions.d", format!("{COMMAND}.fish")),
    ];
    for (shell, place, name) in places {
        let place = folder.join(place);
        make(&place)?;
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Margay::command(), COMMAND, &mut text);
        cc::replace(&place.join(name), &text)?;
    }
    Ok(())
}
