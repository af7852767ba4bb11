//! `cargo lwk test kvm`: a choice of boot tests under KVM, which forgives less than QEMU's emulation.
//!
//! Where `/dev/kvm` can be used they run on this machine. Elsewhere KVM runs one level deeper: Debian's kernel boots in an emulated machine
//! with AMD's virtualisation and a small initramfs. That loads the modules, mounts this machine's files (read-only, by 9p), changes its
//! root to them, and starts this very command there, which finds a `/dev/kvm` that works. So the rows, the tool that runs them and QEMU
//! are those of every day.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use goblin::elf::Elf;

use lwk::accel::{Accelerator, Choice};
use lwk::debs::Packages;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::{Boot, Machine, Node};
use lwk::show;
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::{RunFolder, Tree};
use lwk_bench::linux_guest::initramfs::Initramfs;
use lwk_bench::linux_guest::system::System;

use super::judge::Expected;
use super::{Test, case, special};
use crate::cli::TestOptions;

/// The word of the command line.
pub const COMMAND: &str = "kvm";

/// The boot tests that KVM may judge otherwise than the emulation: cores, interrupts of all kinds, yields, time, devices, firmware.
const ROWS: [&str; 20] = [
    "hello-over-uefi",
    "ring-on-eight-cores",
    "ranks-share-a-core-when-asked",
    "registers-are-a-ranks-own",
    "report-counts-the-node",
    "whole-lines-never-interleave",
    "system-calls-see-whole-words",
    "nothing-of-firmware-is-readable",
    "time-limit-tells-where-each-rank-was",
    "a-dying-rank-takes-its-peers-along",
    "all-ranks-die-at-once",
    "crash-null-read",
    "crash-divide",
    "crash-stack-overflow",
    "kernel-panic",
    "kernel-runs-off-its-stack",
    "kernel-fails-on-a-core-that-starts",
    "screen-shows-the-console",
    "files-go-in-and-come-back",
    "no-interrupts-during-noise",
];

/// Those that the Linux guest leaves out unless one is asked for by name. With UEFI firmware in it, the emulated virtualisation of QEMU 7.2
/// ends with a failed assertion (`tcg_handle_interrupt`). AVX ends with an invalid instruction there now and then; that this is the
/// emulation's doing is likely and has not been shown.
const NOT_NESTED: [&str; 3] =
    ["hello-over-uefi", "nothing-of-firmware-is-readable", "registers-are-a-ranks-own"];

const PACKAGES: Packages = Packages {
    what: "the Linux guest with KVM",
    names: &["linux-image-amd64", "busybox-static"],
    on_this_system: false,
};
/// The modules that the guest needs, beside those that they need: this machine's files, and KVM.
const MODULES: [&str; 4] = ["virtio_pci", "9pnet_virtio", "9p", "kvm_amd"];
/// A processor whose virtualisation the emulator has.
const CPU: &str = "EPYC-v2,+svm,+npt";
const CORES: u32 = 2;
const MEMORY_MIB: u64 = 4096;
/// Linux takes time stamp counters of AMD for unsynchronised unless told otherwise, and KVM would then let those of virtual cores drift apart.
const COMMAND_LINE: &str = "console=ttyS0 loglevel=0 panic=-1 mitigations=off tsc=reliable";
/// Begins the guest's last line, before the status of the command in it.
const STATUS: &str = "@status ";
/// Begins the lines of the guest that are not the command's.
const OWN: char = '@';
/// How long the guest may be silent, in seconds: longer than any row takes there.
const SILENCE: u64 = 1500;

/// Runs them. Status 0 if all pass, else 1.
pub fn run(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let mut tests = tests(tree, options.row.as_deref())?;
    if options.inside && options.row.is_none() {
        tests.retain(|test| !NOT_NESTED.contains(&test.name.as_str()));
        show!("left out here: {}", NOT_NESTED.join(", "));
    }
    if options.list {
        tests.iter().for_each(|test| show!("{}", test.name));
        return Ok(0);
    }
    if tests.is_empty() {
        return Err(Failure::usage("no test under KVM has that in its name; --list shows all"));
    }
    if !options.built {
        super::build_all(tree, options.verbose, &tests)?;
    }
    if Choice::Auto.settle() == Accelerator::Kvm {
        // One at a time: there they share two emulated cores.
        let tests = VecDeque::from(tests);
        return Ok(super::conclude(super::run_boots(&Lwk::new(tree)?, tests, 1)));
    }
    if options.inside {
        return Err(Failure::host("KVM does not work in the Linux guest"));
    }
    in_guest(tree, options)
}

/// The tests of [`ROWS`], and the one that there is here only, that have `row` in their names.
fn tests(tree: &Tree, row: Option<&str>) -> Outcome<Vec<Test>> {
    let mut tests = case::load(tree)?;
    tests.extend(special::all());
    tests.retain(|test| ROWS.contains(&test.name.as_str()));
    tests.push(special::test("processors-with-numbers-above-255".into(), numbers_above_255));
    tests.retain(|test| row.is_none_or(|row| test.name.contains(row)));
    Ok(tests)
}

/// A processor whose number only x2APIC can name, which QEMU's emulation does not have: it is started, runs a rank, and is stopped.
fn numbers_above_255(lwk: &Lwk) -> Result<(), String> {
    const SHAPE: &str =
        "-smp 1,sockets=288,cores=1,maxcpus=288 -device host-x86_64-cpu,socket-id=287,core-id=0,thread-id=0";
    let words = |program: &str, arguments: &[&str]| {
        let options = ["-n", "2", "--mem", "16", "--timeout", "1000", "--qemu", SHAPE];
        lwk.run_words(&Program::named(program), &special::strings(&options), &special::strings(arguments))
    };
    let check = lwk.command(&words("check", &["--size", "10000"]), PATIENCE)?;
    let seen = special::strings(&["^ +1 +1 +287 ", "^# check: every result is right$"]);
    Expected { stdout: seen, ..Expected::default() }.judge(&check)?;
    // Its rank is stopped by an interrupt from the other core.
    let crash = lwk.command(&words("crash", &["--rank", "0", "null-write"]), PATIENCE)?;
    Expected {
        status: 139,
        stderr: special::strings(&["^margay: rank 0 on core 0 died of a write"]),
        ..Expected::default()
    }
    .judge(&crash)
}

/// Boots Debian's kernel and runs this command in it. Errors: the guest cannot be made, falls silent, or ends without a status.
fn in_guest(tree: &Tree, options: &TestOptions) -> Outcome<i32> {
    let system = System::of(&PACKAGES, tree, "kvm-guest", options.verbose)?;
    let qemu = lwk::emulator::find_qemu(tree, options.verbose)?;
    let folder = RunFolder::new(tree)?;
    let initramfs = folder.file("initramfs.cpio");
    let archive = initramfs_of(tree, &system, options.row.as_deref())?.archive()?;
    fs::write(&initramfs, archive).doing(|| format!("write {}", initramfs.display()))?;
    let machine = Machine {
        boot: Boot::Linux { kernel: system.kernel()?, initramfs, command_line: COMMAND_LINE.into() },
        uefi_code: None,
        cores: CORES,
        memory_mib: MEMORY_MIB,
        accelerator: Accelerator::Tcg,
        cpu: Some(CPU.into()),
        more: [
            "-fsdev",
            "local,id=files,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device",
            "virtio-9p-pci,fsdev=files,mount_tag=files",
        ]
        .map(str::to_owned)
        .into(),
        gdb: false,
        // A thread for each: they are Linux's, which waits by halting.
        host_cores: CORES,
        card: None,
    };
    lwk::memory::check_host(MEMORY_MIB)?;
    show!(
        "KVM does not work here: an emulated machine with AMD's virtualisation boots Debian's kernel, and KVM runs in it"
    );
    let mut node = Node::start(&qemu, &machine, folder.file("qemu.log"))?;
    hear(&mut node)
}

/// Shows what the command in the guest says, and gives its status.
fn hear(node: &mut Node) -> Outcome<i32> {
    let what = || "listen to the Linux guest".to_owned();
    node.serial.set_read_timeout(Some(Duration::from_secs(SILENCE))).doing(what)?;
    let mut lines = BufReader::new(node.serial.try_clone().doing(what)?);
    let mut last = String::new();
    loop {
        let mut line = Vec::new();
        match (&mut lines).take(1 << 20).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) if lwk::host::is_time_out(error.kind()) => {
                return Err(Failure::host(format!(
                    "the Linux guest says nothing for {SILENCE} s; its last line: {last}"
                )));
            }
            Err(error) => return Err(error).doing(what),
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if let Some(status) = text.strip_prefix(STATUS) {
            return status
                .parse()
                .map_err(|_| Failure::host(format!("the Linux guest ends with {status:?}")));
        }
        if !text.starts_with(OWN) {
            show!("{text}");
        }
        last = text.to_owned();
    }
    let why = node.last_message().unwrap_or_default();
    Err(Failure::host(format!("the Linux guest ended without a status; its last line: {last}; {why}")))
}

fn initramfs_of(tree: &Tree, system: &System, row: Option<&str>) -> Outcome<Initramfs> {
    let mut files = Initramfs::default();
    files.add_program("bin/busybox", &system.root().join("bin/busybox"), &[])?;
    let modules = modules(&system.root().join("lib/modules"))?;
    let names: Vec<String> = modules.iter().map(|(name, _)| format!("/modules/{name}.ko")).collect();
    for (name, file) in &modules {
        files
            .add(&format!("modules/{name}.ko"), fs::read(file).doing(|| format!("read {}", file.display()))?);
    }
    let binary = std::env::current_exe().doing(|| "find this command's own file".into())?;
    files.add("init", script(tree.root(), &binary, &names, row)?.into());
    Ok(files)
}

/// The guest's first program.
fn script(tree: &Path, binary: &Path, modules: &[String], row: Option<&str>) -> Outcome<String> {
    let quoted = |path: &Path| -> Outcome<String> {
        let text = path.to_str().filter(|text| !text.contains(['\'', '\n']));
        let text =
            text.ok_or_else(|| Failure::host(format!("{} cannot be named in a script", path.display())))?;
        Ok(format!("'{text}'"))
    };
    let row = row.map_or(Ok(String::new()), |row| quoted(Path::new(row)))?;
    let (tree, binary) = (quoted(tree)?, quoted(binary)?);
    let modules = modules.join(" ");
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    Ok(format!(
        "#!/bin/busybox sh\n\
         /bin/busybox --install -s /bin\n\
         mkdir -p /proc /sys /dev /files\n\
         mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys\n\
         exec </dev/ttyS0 >/dev/ttyS0 2>&1\n\
         stty -opost 2>/dev/null\n\
         for module in {modules}; do insmod $module || echo \"{OWN}$module does not load\"; done\n\
         mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=524288 files /files\n\
         mount -t tmpfs none /files/{tree}/target/lwk/run\n\
         for folder in dev proc sys; do mount --bind /$folder /files/$folder; done\n\
         chroot /files /usr/bin/env -i HOME=/root PATH={path} TMPDIR={tree}/target/lwk/run /bin/sh -c 'cd \"$1\" && exec \"$2\" test {COMMAND} --built --inside $3' sh {tree} {binary} {row}\n\
         echo \"{STATUS}$?\"\n\
         poweroff -f\n"
    ))
}

/// The modules of [`MODULES`] below `folder` and those that they need, by name, each before those that need it.
fn modules(folder: &Path) -> Outcome<Vec<(String, PathBuf)>> {
    let mut all = BTreeMap::new();
    collect(folder, &mut all)?;
    let mut ordered = Vec::new();
    for name in MODULES {
        add_module(name, &all, &mut ordered)?;
    }
    Ok(ordered)
}

/// Puts the files of all modules below `folder` under their names.
fn collect(folder: &Path, all: &mut BTreeMap<String, PathBuf>) -> Outcome<()> {
    let what = || format!("list {}", folder.display());
    for entry in fs::read_dir(folder).doing(what)? {
        let path = entry.doing(what)?.path();
        // Not through links: `build` and `source` lead elsewhere.
        if path.is_dir() && !path.is_symlink() {
            collect(&path, all)?;
        } else if path.extension().is_some_and(|extension| extension == "ko") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().replace('-', "_");
            all.insert(name, path);
        }
    }
    Ok(())
}

fn add_module(
    name: &str,
    all: &BTreeMap<String, PathBuf>,
    ordered: &mut Vec<(String, PathBuf)>,
) -> Outcome<()> {
    if ordered.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let file = all.get(name).ok_or_else(|| Failure::host(format!("Debian's kernel has no module {name}")))?;
    let bytes = fs::read(file).doing(|| format!("read {}", file.display()))?;
    for needed in needs(&bytes).doing(|| format!("read {} as an ELF file", file.display()))? {
        add_module(&needed, all, ordered)?;
    }
    ordered.push((name.to_owned(), file.clone()));
    Ok(())
}

/// The modules that a module needs, as its section `.modinfo` says: strings that end with NUL, one of them `depends=`, with commas.
fn needs(module: &[u8]) -> goblin::error::Result<Vec<String>> {
    let elf = Elf::parse(module)?;
    let is_information = |name: Option<&str>| name == Some(".modinfo");
    let section =
        elf.section_headers.iter().find(|header| is_information(elf.shdr_strtab.get_at(header.sh_name)));
    let bytes = section.and_then(|header| module.get(header.file_range()?)).unwrap_or_default();
    let list = bytes.split(|byte| *byte == 0).find_map(|text| text.strip_prefix(b"depends="));
    let list = String::from_utf8_lossy(list.unwrap_or_default()).replace('-', "_");
    Ok(list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_there() {
        let tree = Tree::find().unwrap();
        let found: Vec<_> = tests(&tree, None).unwrap().into_iter().map(|test| test.name).collect();
        let missing: Vec<_> = ROWS.iter().filter(|row| !found.iter().any(|name| name == *row)).collect();
        assert!(missing.is_empty() && found.len() == ROWS.len() + 1, "{missing:?}");
    }

    #[test]
    fn names_that_a_script_cannot_hold_are_refused() {
        assert!(script(Path::new("/a tree"), Path::new("/a/b"), &[], Some("row")).is_ok());
        assert!(script(Path::new("/it's"), Path::new("/a/b"), &[], None).is_err());
        assert!(script(Path::new("/a"), Path::new("/b"), &[], Some("x';reboot")).is_err());
    }
}
