//! The guest compiler and its tools, and the one environment that every guest build runs in.
//!
//! A guest build needs a compiler with the library's source, because no precompiled core library exists for the
//! targets of this tree. Two sources are known: Debian's `rustc-web`, `cargo-web` and `rust-web-src`, which is what this
//! tree is tested with, and a rustup toolchain with the component `rust-src`. Linker and object tools are found in
//! rustup's toolchain or in Debian's `lld` and `llvm`.
//!
//! The boot loader's build script finds `llvm-objcopy` only below the folder that `rustc --print sysroot` names. So a
//! folder of links under `target/` comes first in `PATH`: its `rustc` names a sysroot of links when asked exactly that
//! and is the real compiler otherwise. The system stays untouched.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Doing, Failure, Outcome};
use crate::packages::{self, find_command, is_file};
use crate::tree::Tree;

/// The oldest compiler that builds the tree: 1.96 accepts the target files and the boot loader's sources.
const OLDEST: (u32, u32) = (1, 96);
/// As in `.cargo/config.toml`, for the boot loader's build script, which runs cargo outside of the tree.
const RETRY: (&str, &str) = ("CARGO_NET_RETRY", "10");
/// The only host that is supported.
const HOST: &str = "x86_64-unknown-linux-gnu";
/// Debian's packages of the compiler, of the same version each.
const COMPILER_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// The guest compiler, ready for use.
#[derive(Clone, Debug)]
pub struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    objcopy: PathBuf,
    path: OsString,
}

impl Toolchain {
    /// Finds the compiler and its tools, installs what is missing, and lays the links. Errors: something is missing and cannot be installed, or
    /// the links cannot be made.
    pub fn prepare(tree: &Tree, verbose: bool) -> Outcome<Self> {
        let mut missing = Vec::new();
        if Compiler::find().is_none() {
            missing.extend(COMPILER_PACKAGES);
        }
        if find_linker().is_none() {
            missing.push("lld");
        }
        if find_llvm("llvm-objcopy").is_none() || find_llvm("llvm-objdump").is_none() {
            missing.push("llvm");
        }
        if !missing.is_empty() {
            packages::install(&missing, verbose)?;
        }
        let absent =
            |what: &str| Failure::host(format!("{what} is still missing after installing {missing:?}"));
        let compiler = Compiler::find().ok_or_else(|| {
            absent(&format!(
                "a Rust compiler with its library's source, version {}.{} or later,",
                OLDEST.0, OLDEST.1
            ))
        })?;
        let linker = find_linker().ok_or_else(|| absent("rust-lld"))?;
        let objcopy = find_llvm("llvm-objcopy").ok_or_else(|| absent("llvm-objcopy"))?;
        let objdump = find_llvm("llvm-objdump").ok_or_else(|| absent("llvm-objdump"))?;
        let path = lay_links(tree, &compiler, &linker, &objcopy, &objdump)?;
        Ok(Self { cargo: compiler.cargo, rustc: compiler.rustc, objcopy, path })
    }

    /// The guest cargo in the guest environment, to be run at the root of the tree.
    ///
    /// What the surrounding cargo and rustup have set is taken out: it belongs to another compiler.
    pub fn cargo(&self, tree: &Tree) -> Command {
        let mut command = Command::new(&self.cargo);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(is_another_compilers) {
                command.env_remove(name);
            }
        }
        command.env("PATH", &self.path).env("RUSTC", &self.rustc).env("RUSTC_BOOTSTRAP", "1");
        if std::env::var_os(RETRY.0).is_none() {
            command.env(RETRY.0, RETRY.1);
        }
        command.current_dir(tree.root());
        command
    }

    /// Whether cargo's `clippy` of this very compiler is there.
    pub fn has_clippy(&self) -> bool {
        let beside = |name| is_file(self.cargo.with_file_name(name));
        beside("cargo-clippy") && beside("clippy-driver")
    }

    /// A command that is `llvm-objcopy`, without arguments yet.
    pub fn objcopy(&self) -> Command {
        Command::new(&self.objcopy)
    }
}

/// Whether an environment variable would mislead the guest compiler. Where cargo keeps its downloads, and how it
/// reaches the registry, is the user's and stays.
fn is_another_compilers(name: &str) -> bool {
    const KEPT: [&str; 6] =
        ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_"];
    let cargos = name == "CARGO" || name.starts_with("CARGO_");
    let rusts = name.starts_with("RUSTC") || name.starts_with("RUSTDOC") || name == "RUSTFLAGS";
    (cargos && !KEPT.iter().any(|kept| name.starts_with(kept)))
        || rusts
        || name == "RUSTUP_TOOLCHAIN"
        || name == "LD_LIBRARY_PATH"
}

struct Compiler {
    cargo: PathBuf,
    rustc: PathBuf,
    sysroot: PathBuf,
}

impl Compiler {
    fn find() -> Option<Self> {
        let system = Some(PathBuf::from("/usr"));
        system.into_iter().chain(rustup_sysroot()).find_map(Self::at)
    }

    /// The compiler in `sysroot`, if it is new enough and has its library's source.
    fn at(sysroot: PathBuf) -> Option<Self> {
        let (cargo, rustc) = (sysroot.join("bin/cargo"), sysroot.join("bin/rustc"));
        let source = sysroot.join("lib/rustlib/src/rust/library/core/Cargo.toml");
        if !is_file(&cargo) || !is_file(source) {
            return None;
        }
        let output = Command::new(&rustc).arg("--version").env_remove("LD_LIBRARY_PATH").output().ok()?;
        let version = version_of(&String::from_utf8_lossy(&output.stdout))?;
        (version >= OLDEST).then_some(Self { cargo, rustc, sysroot })
    }
}

/// Major and minor version out of `rustc 1.96.0 (…)`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("rustc ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The sysroot of the rustup toolchain that runs this command: cargo tells its own path.
fn rustup_sysroot() -> Option<PathBuf> {
    let cargo = std::env::var_os("CARGO").map(PathBuf::from)?;
    Some(cargo.parent()?.parent()?.to_path_buf())
}

fn find_linker() -> Option<PathBuf> {
    let rustups =
        rustup_sysroot().map(|sysroot| tools_of(&sysroot).join("rust-lld")).filter(|file| is_file(file));
    rustups.or_else(|| find_command("lld"))
}

fn find_llvm(tool: &str) -> Option<PathBuf> {
    let rustups = rustup_sysroot().map(|sysroot| tools_of(&sysroot).join(tool)).filter(|file| is_file(file));
    rustups.or_else(|| find_command(tool))
}

fn tools_of(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(HOST).join("bin")
}

/// Lays the folder of links and gives the `PATH` that begins with it.
fn lay_links(
    tree: &Tree,
    compiler: &Compiler,
    linker: &Path,
    objcopy: &Path,
    objdump: &Path,
) -> Outcome<OsString> {
    let (bin, sysroot) = (tree.guest_tools().join("bin"), tree.guest_tools().join("sysroot"));
    let tools = tools_of(&sysroot);
    for folder in [&bin, &tools] {
        fs::create_dir_all(folder).doing(|| format!("make the folder {}", folder.display()))?;
    }
    link(linker, &bin.join("rust-lld"))?;
    link(objcopy, &tools.join("llvm-objcopy"))?;
    link(objdump, &tools.join("llvm-objdump"))?;
    let wrapper = format!(
        "#!/bin/sh\n# See tools/src/toolchain.rs: the boot loader looks for llvm-objcopy below this sysroot.\n\
         if [ \"$*\" = '--print sysroot' ]; then echo {}; else exec {} \"$@\"; fi\n",
        quoted(&sysroot)?,
        quoted(&compiler.rustc)?
    );
    write_script(&bin.join("rustc"), &wrapper)?;
    let own = [bin, compiler.sysroot.join("bin")];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&inherited)))
        .doing(|| "form PATH (this tree's path may hold no colon)".into())
}

/// `path` as one word of a shell script.
fn quoted(path: &Path) -> Outcome<String> {
    let text =
        path.to_str().ok_or_else(|| Failure::usage("the path of this tree is not UTF-8; move the tree"))?;
    Ok(format!("'{}'", text.replace('\'', r"'\''")))
}

/// Makes a symbolic link, or makes it lead there. Errors: it cannot be made.
pub fn link(target: &Path, link: &Path) -> Outcome<()> {
    if fs::read_link(link).is_ok_and(|old| old == target) {
        return Ok(());
    }
    replace(link, |fresh| symlink(target, fresh))
}

fn write_script(file: &Path, text: &str) -> Outcome<()> {
    if fs::read_to_string(file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    replace(file, |fresh| {
        fs::write(fresh, text)?;
        fs::set_permissions(fresh, fs::Permissions::from_mode(0o755))
    })
}

/// Makes a file under another name and moves it into place: another command may be using the old one.
fn replace(file: &Path, make: impl Fn(&Path) -> std::io::Result<()>) -> Outcome<()> {
    let fresh = file.with_extension(std::process::id().to_string());
    // Of a command that was killed, whose process had the same number: a link is not made over it.
    let _ = fs::remove_file(&fresh);
    make(&fresh).and_then(|()| fs::rename(&fresh, file)).doing(|| format!("write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version_of("rustc 1.96.0 (ac68faa20 2026-05-25)\n"), Some((1, 96)));
        assert!(version_of("rustc 1.100.0").unwrap() > OLDEST);
        assert!(version_of("rustc 1.63.0").unwrap() < OLDEST);
        assert_eq!(version_of("cargo 1.96.0"), None);
    }

    #[test]
    fn only_the_way_to_the_registry_is_inherited() {
        for gone in
            ["CARGO", "CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN"]
        {
            assert!(is_another_compilers(gone), "{gone}");
        }
        for kept in
            ["CARGO_HOME", "CARGO_HTTP_PROXY", "CARGO_NET_OFFLINE", "RUST_BACKTRACE", "PATH", "CARGOX"]
        {
            assert!(!is_another_compilers(kept), "{kept}");
        }
    }
}
