//! Which accelerator QEMU uses.
//!
//! `/dev/kvm` alone proves nothing: it can exist and open on a machine whose processor shows no virtualisation, where
//! a guest dies on entering long mode. `auto` therefore asks for the processor's flag too.

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

impl Choice {
    /// Settles `auto`: KVM if `/dev/kvm` can be opened and the processor shows `vmx` or `svm`; what the user has named is taken as it is.
    pub fn settle(self) -> Accelerator {
        let opens = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok();
        let processor = || std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        match self {
            Self::Kvm => Accelerator::Kvm,
            Self::Tcg => Accelerator::Tcg,
            Self::Auto if opens() && virtualises(&processor()) => Accelerator::Kvm,
            Self::Auto => Accelerator::Tcg,
        }
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
    use super::virtualises;

    #[test]
    fn only_the_flag_itself_counts() {
        assert!(virtualises("flags\t\t: fpu vmx ept\n"));
        assert!(virtualises("model: 1\nflags\t\t: fpu svm\n"));
        assert!(!virtualises("flags\t\t: fpu svm_lock xvmx\n"));
        assert!(!virtualises("model name\t: vmx\n"));
        assert!(!virtualises(""));
    }
}
