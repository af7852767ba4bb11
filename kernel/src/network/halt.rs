//! The sleep of a rank that waits for other nodes (`--wait halt`): its core halts until the network has interrupted, here or on the core that takes the network's interrupts.

use lwk_abi::syscall::JOB_HALT_NS;
use lwk_words::Sleeper;

use super::{NETWORK, Network, now};
use crate::arch::{interrupt_controller, interrupts};
use crate::core_local::{self, Core};
use crate::node;

/// The core of the node's only rank.
static SLEEPER: Sleeper = Sleeper::new();

/// Has the core of the node's only rank sleep until the network has interrupted since the last such call, or for [`JOB_HALT_NS`]; or until it is interrupted for another reason.
pub fn halt(core: &Core) {
    // From here on an interrupt stays until the core waits.
    if SLEEPER.may_sleep() {
        if let Some(network) = NETWORK.lock().as_mut() {
            let now = now();
            network.sleeps_until = Some(now + JOB_HALT_NS / 1000);
            network.after_call(core, now);
        }
        interrupts::wait();
    }
    SLEEPER.wake();
}

impl Network {
    /// What came with an interrupt is where a rank looks for it: wakes the one that sleeps. On the core that takes the network's interrupts.
    pub(super) fn wake(&self) {
        if !self.halts || !SLEEPER.tell() {
            return;
        }
        let sleeper = node::job().and_then(|job| core_local::core(job.core_of(0)));
        if let Some(sleeper) = sleeper.filter(|sleeper| sleeper.index() != self.core.index()) {
            interrupt_controller::interrupt_core(sleeper.block(), interrupts::WAKE);
        }
    }
}
