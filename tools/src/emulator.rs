//! The emulator and its firmware: found, installed or unpacked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::debs::Packages;
use crate::failure::{Doing, Failure, Outcome};
use crate::packages;
use crate::qemu::{Firmware, FirmwareFile};
use crate::tree::Tree;

/// The emulator's command.
const QEMU: &str = "qemu-system-x86_64";
/// Debian's package of it.
const PACKAGE: &str = "qemu-system-x86";
/// The same for a machine where the package cannot be installed.
const UNPACKED: Packages =
    Packages { what: "QEMU", names: &[PACKAGE], on_this_system: true, backports: false };
/// A later one, with all that it needs.
const LATER: Packages =
    Packages { what: "a later QEMU", names: &[PACKAGE], on_this_system: false, backports: true };
/// The first major version whose emulation has x2APIC.
const LATER_VERSION: u32 = 9;
/// Starts the unpacked emulator with the libraries, the firmware and the modules that were unpacked with it. Some versions find the latter two beside themselves, others do not.
const STARTER: &str = "\
#!/bin/sh
root=${0%/*}/root
export LD_LIBRARY_PATH=\"$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu\"
export QEMU_MODULE_DIR=\"$root/usr/lib/x86_64-linux-gnu/qemu\"
exec \"$root/usr/bin/qemu-system-x86_64\" -L \"$root/usr/share/seabios\" -L \"$root/usr/share/qemu\" \"$@\"
";
/// Another firmware with UEFI's interfaces, and its file in that package.
const U_BOOT: Packages =
    Packages { what: "U-Boot", names: &["u-boot-qemu"], on_this_system: false, backports: false };
const U_BOOT_FILE: &str = "usr/lib/u-boot/qemu-x86_64/u-boot.rom";
/// Where OVMF's code is, by distribution (Debian, Fedora, Arch).
const OVMF: [&str; 4] = [
    "/usr/share/OVMF/OVMF_CODE.fd",
    "/usr/share/OVMF/OVMF_CODE_4M.fd",
    "/usr/share/edk2/ovmf/OVMF_CODE.fd",
    "/usr/share/edk2/x64/OVMF_CODE.4m.fd",
];

/// QEMU: the one in `PATH`, else installed.
///
/// Where it cannot be installed, for instance because another package of QEMU's is there in a later version than the system's own (Debian's
/// backports), its packages are unpacked ([`Tree::emulator`]), and what is installed stays as it is.
///
/// # Errors
/// It can neither be installed nor unpacked.
pub fn find_qemu(tree: &Tree, verbose: bool) -> Outcome<PathBuf> {
    if let Some(qemu) = packages::find_command(QEMU) {
        return Ok(qemu);
    }
    let folder = tree.emulator();
    if UNPACKED.there(&folder) {
        return lay_starter(&folder);
    }
    match packages::install(&[PACKAGE], verbose) {
        Ok(()) => {
            packages::find_command(QEMU).ok_or_else(|| Failure::host(format!("{QEMU} is still not in PATH")))
        }
        Err(failure) => {
            UNPACKED.fetch(&folder, verbose).map_err(|_| failure)?;
            tell!(
                "lwk: {PACKAGE} cannot be installed beside what this machine has; it is unpacked in {}",
                folder.display()
            );
            lay_starter(&folder)
        }
    }
}

/// The folder of a QEMU of version 9 at least, whose emulation has x2APIC and later processors: the one in `PATH`, else Debian's backport, which is unpacked
/// under `target/`.
///
/// # Errors
/// It cannot be unpacked.
pub fn find_later_qemu(tree: &Tree, verbose: bool) -> Outcome<PathBuf> {
    if let Some(qemu) = packages::find_command(QEMU)
        && version(&qemu).is_some_and(|version| version >= LATER_VERSION)
        && let Some(folder) = qemu.parent()
    {
        return Ok(folder.into());
    }
    let folder = tree.root().join("target/lwk/later-qemu");
    LATER.fetch(&folder, verbose)?;
    lay_starter(&folder)?;
    Ok(folder)
}

/// The major version that an emulator says it is.
pub fn version(qemu: &Path) -> Option<u32> {
    let output = Command::new(qemu).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.strip_prefix("QEMU emulator version ")?;
    number.split('.').next()?.parse().ok()
}

/// Writes the script that starts the unpacked emulator, at once as a whole: others may be starting it.
fn lay_starter(folder: &Path) -> Outcome<PathBuf> {
    let starter = folder.join(QEMU);
    if fs::read_to_string(&starter).is_ok_and(|there| there == STARTER) {
        return Ok(starter);
    }
    let what = || format!("write {}", starter.display());
    let new = folder.join(format!("{QEMU}.{}", std::process::id()));
    fs::write(&new, STARTER).doing(what)?;
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).doing(what)?;
    fs::rename(&new, &starter).doing(what)?;
    Ok(starter)
}

/// The file of a firmware, fetched if missing; none for the one that QEMU has of its own.
///
/// # Errors
/// It cannot be had.
pub fn firmware(tree: &Tree, firmware: Firmware, verbose: bool) -> Outcome<Option<FirmwareFile>> {
    Ok(match firmware {
        Firmware::Bios => None,
        Firmware::Uefi => Some(FirmwareFile::Flash(find_ovmf(verbose)?)),
        Firmware::UBoot => Some(FirmwareFile::Rom(find_u_boot(tree, verbose)?)),
    })
}

/// U-Boot for QEMU's machines, unpacked under `target/` if it is not installed. Errors: it cannot be had.
fn find_u_boot(tree: &Tree, verbose: bool) -> Outcome<PathBuf> {
    let installed = Path::new("/").join(U_BOOT_FILE);
    if installed.is_file() {
        return Ok(installed);
    }
    let folder = tree.root().join("target/lwk/u-boot");
    // Who cannot write here may find it all the same.
    let root =
        if U_BOOT.there(&folder) { Packages::root(&folder) } else { U_BOOT.fetch(&folder, verbose)? };
    Ok(root.join(U_BOOT_FILE))
}

/// OVMF's code, installed if missing. Errors: it cannot be installed.
pub fn find_ovmf(verbose: bool) -> Outcome<PathBuf> {
    let find = || OVMF.iter().map(PathBuf::from).find(|file| file.is_file());
    if let Some(code) = find() {
        return Ok(code);
    }
    packages::install(&["ovmf"], verbose)?;
    find().ok_or_else(|| Failure::host(format!("none of {} exists", OVMF.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts it until no other test's child holds a file that was just written (`ETXTBSY`): the starter itself, or what that starts, of which
    /// its shell says 126.
    fn output(command: &mut Command) -> std::process::Output {
        loop {
            match command.output() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                Ok(output) if output.status.code() == Some(126) => {}
                done => return done.unwrap(),
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_starter_hands_on_its_arguments_and_shows_the_libraries() {
        let folder = std::env::temp_dir().join(format!("lwk-emulator-{} with a space", std::process::id()));
        // Of a test that was killed, whose process had the same number.
        let _ = fs::remove_dir_all(&folder);
        let binaries = Packages::root(&folder).join("usr/bin");
        fs::create_dir_all(&binaries).unwrap();
        let emulator = binaries.join(QEMU);
        fs::write(&emulator, "#!/bin/sh\nprintf '%s|' \"$LD_LIBRARY_PATH\" \"$@\"; exit 3\n").unwrap();
        fs::set_permissions(&emulator, fs::Permissions::from_mode(0o755)).unwrap();
        let starter = lay_starter(&folder).unwrap();
        assert_eq!(lay_starter(&folder).unwrap(), starter, "it is there already");
        let ended = output(Command::new(&starter).args(["-append", "two words", ""]));
        let root = Packages::root(&folder).display().to_string();
        let libraries = format!("{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu");
        let firmware = format!("-L|{root}/usr/share/seabios|-L|{root}/usr/share/qemu");
        let wanted = format!("{libraries}|{firmware}|-append|two words||");
        assert_eq!(String::from_utf8(ended.stdout).unwrap(), wanted);
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(version(&starter), None, "it says something else");
        fs::remove_dir_all(&folder).unwrap();
    }
}
