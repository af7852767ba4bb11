//! Where a benchmark measures: on nodes in QEMU, or on this machine.

use lwk::accel::{Accelerator, Choice};
use lwk::build::{Builder, Programs};
use lwk::emulator;
use lwk::failure::Outcome;
use lwk::qemu::Firmware;
use lwk::tree::Tree;

use crate::cli::PlaceOptions;

impl PlaceOptions {
    /// Builds programs, and what a node in QEMU needs if there is to be one. Errors: a build fails, or this machine lacks something.
    pub fn prepare(&self, tree: &Tree, programs: &[Programs]) -> Outcome<Builder> {
        let builder = Builder::new(tree, self.built, self.verbose)?;
        builder.programs(programs)?;
        if !self.host {
            emulator::find_qemu(tree, self.verbose)?;
            builder.kernel()?;
            builder.image_builder(Firmware::Bios)?;
        }
        Ok(builder)
    }

    /// In titles: which machine has been measured, and whether its figures mean something. `nodes` is `node` or `nodes`.
    pub fn whereabouts(&self, nodes: &str) -> String {
        let place = match (self.host, Choice::Auto.settle()) {
            (true, _) => format!("{nodes} as processes on this machine"),
            (false, Accelerator::Kvm) => format!("{nodes} in QEMU with KVM"),
            (false, Accelerator::Tcg) => format!("{nodes} in QEMU, emulated"),
        };
        if self.quick { format!("{place}, quick: figures mean nothing") } else { place }
    }
}
