//! KVM on a machine that has none: Debian's kernel boots in an emulated machine with AMD's virtualisation and a small initramfs. That loads KVM's modules, mounts
//! this machine's files (read-only, by 9p), changes its root to them, and starts this very program there, which finds a `/dev/kvm` that works. So all that runs in it
//! is that of every day.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use object::{Object, ObjectSection};

use crate::linux_guest::initramfs::Initramfs;
use crate::linux_guest::system::System;
use lwk::accel::Accelerator;
use lwk::debs::Packages;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::qemu::{Boot, Machine, Node};
use lwk::tree::{RunFolder, Tree};

const PACKAGES: Packages = Packages {
    what: "the Linux guest with KVM",
    names: &["linux-image-amd64", "busybox-static"],
    on_this_system: false,
    backports: false,
};
/// The modules that the guest needs, beside those that they need: this machine's files, and KVM.
const MODULES: [&str; 4] = ["virtio_pci", "9pnet_virtio", "9p", "kvm_amd"];
/// A processor whose virtualisation the emulator has.
const CPU: &str = "EPYC-v2,+svm,+npt";
const CORES: u32 = 2;
/// Linux takes time stamp counters of AMD for unsynchronised unless told otherwise, and KVM would then let those of virtual cores drift apart.
const COMMAND_LINE: &str = "console=ttyS0 loglevel=0 panic=-1 mitigations=off tsc=reliable";
/// Begins the guest's last line, before the status of the command in it.
const STATUS: &str = "@status ";
/// Begins the line by which the command in the guest hands out what it would have written to a file: it can write to no folder that stays.
pub const RESULT: &str = "@result ";
/// Begins the lines of the guest that are not for the user.
const OWN: char = '@';
/// How long the guest may be silent, in seconds: longer than any row takes there.
const SILENCE: u64 = 1500;

/// How the command in the guest has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub status: i32,
    /// What it has handed out ([`RESULT`]).
    pub result: Option<String>,
}

/// Boots Debian's kernel with so much memory, runs this program in it with these words, shows what it says, and gives how it ended. It finds this machine's files
/// as they are, and `target/lwk/run` alone can be written to.
///
/// # Errors
/// The guest cannot be made, falls silent, or ends without a status.
pub fn run(tree: &Tree, words: &[String], memory_mib: u64, verbose: bool) -> Outcome<Ended> {
    let system = System::of(&PACKAGES, tree, "kvm-guest", verbose)?;
    let qemu = lwk::emulator::find_qemu(tree, verbose)?;
    let folder = RunFolder::new(tree)?;
    let initramfs = folder.file("initramfs.cpio");
    let archive = initramfs_of(tree, &system, words)?.archive()?;
    fs::write(&initramfs, archive).doing(|| format!("write {}", initramfs.display()))?;
    let machine = Machine {
        boot: Boot::Linux { kernel: system.kernel()?, initramfs, command_line: COMMAND_LINE.into() },
        firmware: None,
        cores: CORES,
        memory_mib,
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
    lwk::memory::check_host(memory_mib)?;
    show!(
        "KVM does not work here: an emulated machine with AMD's virtualisation boots Debian's kernel, and KVM runs in it"
    );
    let mut node = Node::start(&qemu, &machine, folder.file("qemu.log"))?;
    hear(&mut node)
}

/// Shows what the command in the guest says, and gives how it ended.
fn hear(node: &mut Node) -> Outcome<Ended> {
    let what = || "listen to the Linux guest".to_owned();
    node.serial.set_read_timeout(Some(Duration::from_secs(SILENCE))).doing(what)?;
    let mut lines = BufReader::new(node.serial.try_clone().doing(what)?);
    let (mut last, mut result) = (String::new(), None);
    loop {
        let mut line = Vec::new();
        match (&mut lines).take(1 << 20).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) if lwk::session::is_time_out(error.kind()) => {
                return Err(Failure::host(format!(
                    "the Linux guest says nothing for {SILENCE} s; its last line: {last}"
                )));
            }
            Err(error) => return Err(error).doing(what),
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if let Some(status) = text.strip_prefix(STATUS) {
            let status =
                status.parse().map_err(|_| Failure::host(format!("the Linux guest ends with {status:?}")))?;
            return Ok(Ended { status, result });
        }
        if let Some(text) = text.strip_prefix(RESULT) {
            result = Some(text.to_owned());
        }
        if !text.starts_with(OWN) {
            show!("{text}");
        }
        last = text.to_owned();
    }
    let why = node.last_message().unwrap_or_default();
    Err(Failure::host(format!("the Linux guest ended without a status; its last line: {last}; {why}")))
}

fn initramfs_of(tree: &Tree, system: &System, words: &[String]) -> Outcome<Initramfs> {
    let mut files = Initramfs::default();
    files.add_program("bin/busybox", &system.root().join("bin/busybox"), &[])?;
    let modules = modules(&system.root().join("lib/modules"))?;
    let names: Vec<String> = modules.iter().map(|(name, _)| format!("/modules/{name}.ko")).collect();
    for (name, file) in &modules {
        files
            .add(&format!("modules/{name}.ko"), fs::read(file).doing(|| format!("read {}", file.display()))?);
    }
    let binary = std::env::current_exe().doing(|| "find this command's own file".into())?;
    files.add("init", script(tree.root(), &binary, &names, words)?.into());
    Ok(files)
}

/// The guest's first program.
fn script(tree: &Path, binary: &Path, modules: &[String], words: &[String]) -> Outcome<String> {
    let quoted = |path: &Path| -> Outcome<String> {
        let text = path.to_str().filter(|text| !text.contains(['\'', '\n']));
        let text =
            text.ok_or_else(|| Failure::host(format!("{} cannot be named in a script", path.display())))?;
        Ok(format!("'{text}'"))
    };
    let words: Outcome<Vec<String>> = words.iter().map(|word| quoted(Path::new(word))).collect();
    let words = words?.join(" ");
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
         chroot /files /usr/bin/env -i HOME=/root PATH={path} TMPDIR={tree}/target/lwk/run /bin/sh -c 'cd \"$1\" && shift && exec \"$@\"' sh {tree} {binary} {words}\n\
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
fn needs(module: &[u8]) -> object::Result<Vec<String>> {
    let file = object::File::parse(module)?;
    let bytes = file.section_by_name(".modinfo").map_or(Ok(&[][..]), |section| section.data())?;
    let list = bytes.split(|byte| *byte == 0).find_map(|text| text.strip_prefix(b"depends="));
    let list = String::from_utf8_lossy(list.unwrap_or_default()).replace('-', "_");
    Ok(list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object file for this machine with nothing in it but a section of that name and content.
    fn object_with(name: &str, content: &[u8]) -> Vec<u8> {
        let names = [&b"\0"[..], name.as_bytes(), b"\0"].concat();
        let (at_content, at_names) = (64, 64 + content.len());
        let table = (at_names + names.len()).next_multiple_of(8);
        let mut file = b"\x7fELF\x02\x01\x01".to_vec();
        file.resize(16, 0);
        for (bytes, value) in [
            (2, 1),
            (2, 62),
            (4, 1),
            (8, 0),
            (8, 0),
            (8, table),
            (4, 0),
            (2, 64),
            (2, 0),
            (2, 0),
            (2, 64),
            (2, 3),
            (2, 2),
        ] {
            file.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
        file.extend_from_slice(content);
        file.extend_from_slice(&names);
        file.resize(table + 64, 0);
        for (name, kind, start, bytes) in [(1, 1, at_content, content.len()), (0, 3, at_names, names.len())] {
            for (size, value) in
                [(4, name), (4, kind), (8, 0), (8, 0), (8, start), (8, bytes), (4, 0), (4, 0), (8, 1), (8, 0)]
            {
                file.extend_from_slice(&usize::to_le_bytes(value)[..size]);
            }
        }
        file
    }

    #[test]
    fn a_module_says_which_others_it_needs() {
        let words = b"license=GPL\0depends=virtio-ring,failover\0";
        assert_eq!(needs(&object_with(".modinfo", words)).unwrap(), ["virtio_ring", "failover"]);
        assert_eq!(needs(&object_with(".modinfo", b"depends=\0")).unwrap(), [""; 0]);
        assert_eq!(needs(&object_with(".text", words)).unwrap(), [""; 0]);
        assert!(needs(b"#!/bin/sh").is_err());
    }

    #[test]
    fn names_that_a_script_cannot_hold_are_refused() {
        assert!(script(Path::new("/a tree"), Path::new("/a/b"), &[], &["row".into()]).is_ok());
        assert!(script(Path::new("/it's"), Path::new("/a/b"), &[], &[]).is_err());
        assert!(script(Path::new("/a"), Path::new("/b"), &[], &["x';reboot".into()]).is_err());
    }
}
