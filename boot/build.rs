//! Builds the boot loader for UEFI, `uefi/`, which the image builder carries. The compiler is the one that builds this package, in the environment that
//! `cargo lwk` makes.

use std::env;
use std::path::PathBuf;
use std::process::Command;

const TARGET: &str = "x86_64-unknown-uefi";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_UEFI").is_some() {
        build_loader();
    }
}

/// Builds it, and tells the compiler where it is, as `MARGAY_UEFI_LOADER`.
fn build_loader() {
    for source in [
        "uefi/src",
        "uefi/Cargo.toml",
        "uefi/Cargo.lock",
        "../kernel/screen/src",
        "../kernel/screen/Cargo.toml",
    ] {
        println!("cargo:rerun-if-changed={source}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("uefi");
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    command.args(["build", "--release", "--locked", "--target", TARGET, "-Zbuild-std=core"]);
    command.args([
        "-Zbuild-std-features=compiler-builtins-mem",
        "--manifest-path",
        "uefi/Cargo.toml",
        "--target-dir",
    ]);
    command.arg(&out);
    // Of the build that waits for this one, or of a linter.
    for inherited in
        ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"]
    {
        command.env_remove(inherited);
    }
    let status = command.status().expect("cargo, which runs this, can be started");
    assert!(status.success(), "the boot loader for UEFI does not build");
    let loader = out.join(TARGET).join("release/margay-uefi.efi");
    println!("cargo:rustc-env=MARGAY_UEFI_LOADER={}", loader.display());
}
