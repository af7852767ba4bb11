//! Which accelerator QEMU uses.
//!
//! `/dev/kvm` alone proves nothing: it can exist and open on a machine whose processor shows no virtualisation, where
//! a guest dies on entering long mode. `auto` therefore asks for the processor's flag too.

use std::io::ErrorKind;
use std::sync::Once;

use clap::ValueEnum;

/// What the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// KVM where this machine can, else emulation
    Auto,
    /// The processor's own virtualisation
    Kvm,
    /// QEMU's emulation, on any machine
    Tcg,
}

/// What QEMU runs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    Kvm,
    Tcg,
}

impl Accelerator {
    /// Its name on QEMU's command line and on that of `cargo lwk`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }
}

/// Where KVM would be.
const DEVICE: &str = "/dev/kvm";
/// Begins the line on a device that is there and of no use. Which machine a test runs on is nothing that it may judge.
pub const FALLBACK: &str = "lwk: /dev/kvm is there, but";

impl Choice {
    /// Settles `auto`: KVM if `/dev/kvm` can be opened and the processor shows `vmx` or `svm`; what the user has named is taken as it is. If the
    /// device is there and cannot be used, one line says so, once.
    pub fn settle(self) -> Accelerator {
        static TOLD: Once = Once::new();
        match self {
            Self::Kvm => Accelerator::Kvm,
            Self::Tcg => Accelerator::Tcg,
            Self::Auto => {
                let device = std::fs::OpenOptions::new().read(true).write(true).open(DEVICE);
                let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
                let (accelerator, why) =
                    settle_auto(device.map(drop).map_err(|error| error.kind()), &processor);
                if let Some(why) = why {
                    TOLD.call_once(|| tell!("{FALLBACK} {why}: the node's cores are emulated"));
                }
                accelerator
            }
        }
    }
}

/// What `auto` comes to, by how opening the device went and by `/proc/cpuinfo`; and why not KVM, if the device is there.
fn settle_auto(device: Result<(), ErrorKind>, cpuinfo: &str) -> (Accelerator, Option<&'static str>) {
    match device {
        Ok(()) if virtualises(cpuinfo) => (Accelerator::Kvm, None),
        Ok(()) => (Accelerator::Tcg, Some("the processor shows neither vmx nor svm")),
        Err(ErrorKind::NotFound) => (Accelerator::Tcg, None),
        Err(ErrorKind::PermissionDenied) => {
            (Accelerator::Tcg, Some("you may not open it (join its group, often kvm)"))
        }
        Err(_) => (Accelerator::Tcg, Some("it does not open")),
    }
}

/// Whether the text of `/proc/cpuinfo` has the flag of Intel's or AMD's virtualisation.
fn virtualises(cpuinfo: &str) -> bool {
    cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .flat_map(str::split_whitespace)
        .any(|word| word == "vmx" || word == "svm")
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::{Accelerator, settle_auto, virtualises};

    #[test]
    fn a_device_that_is_there_and_of_no_use_is_said() {
        const SVM: &str = "flags\t\t: fpu svm\n";
        assert_eq!(settle_auto(Ok(()), SVM), (Accelerator::Kvm, None));
        assert_eq!(settle_auto(Err(ErrorKind::NotFound), SVM), (Accelerator::Tcg, None));
        for (device, cpuinfo) in
            [(Ok(()), ""), (Err(ErrorKind::PermissionDenied), SVM), (Err(ErrorKind::Other), SVM)]
        {
            let (accelerator, why) = settle_auto(device, cpuinfo);
            assert!(accelerator == Accelerator::Tcg && why.is_some(), "{device:?} {cpuinfo}");
        }
    }

    #[test]
    fn only_the_flag_itself_counts() {
        assert!(virtualises("flags\t\t: fpu vmx ept\n"));
        assert!(virtualises("model: 1\nflags\t\t: fpu svm\n"));
        assert!(!virtualises("flags\t\t: fpu svm_lock xvmx\n"));
        assert!(!virtualises("model name\t: vmx\n"));
        assert!(!virtualises(""));
    }
}
