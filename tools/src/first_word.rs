//! Boots that come to nothing where virtualisation is itself emulated.
//!
//! Under QEMU's emulation of AMD-V, of 7.2 and of 10.0, a node in thirty to a node in ten comes to nothing before it has said anything: it resets itself in the firmware, or
//! its first core is left with the registers of the host that runs it, and faults for ever. Of machines with virtualisation of their own nothing such is known.

use std::arch::x86_64::__cpuid;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};

use crate::accel::Accelerator;
use crate::failure::{Doing, Outcome};
use crate::qemu::Machine;

/// How often such a node is started at most.
pub const TRIES: u32 = 3;
/// How long it may take to say something, where it takes ten seconds, or five times that on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(90);

/// Whether a node of this machine may come to nothing for no fault of its own.
pub fn is_in_doubt(machine: &Machine) -> bool {
    machine.accelerator == Accelerator::Kvm && !machine.gdb && is_emulated()
}

/// Whether this program's processor is emulated by QEMU: the name in its hypervisor's leaf.
fn is_emulated() -> bool {
    const HYPERVISOR: u32 = 1 << 31;
    let name = __cpuid(0x4000_0000);
    __cpuid(1).ecx & HYPERVISOR != 0
        && [name.ebx, name.ecx, name.edx].map(u32::to_le_bytes).as_flattened() == b"TCGTCGTCGTCG"
}

/// Waits at most `limit` until something can be read from the node, which stays to be read. False if it says nothing, or ends.
///
/// # Errors
/// The serial line cannot be waited for.
pub fn comes(serial: &UnixStream, limit: Duration) -> Outcome<bool> {
    let what = || "wait for the node's first word".to_owned();
    let end = Instant::now() + limit;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let time = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut [PollFd::new(serial, PollFlags::IN)], Some(&time)) {
            Ok(0) => return Ok(false),
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error)).doing(what),
        }
    }
    match recv(serial, &mut [0u8; 1], RecvFlags::PEEK) {
        Ok((bytes, _)) => Ok(bytes > 0),
        Err(rustix::io::Errno::CONNRESET) => Ok(false),
        Err(error) => Err(std::io::Error::from(error)).doing(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_word_stays_to_be_read() {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        far.write_all(b"word").unwrap();
        assert!(comes(&near, LIMIT).unwrap());
        let mut bytes = [0; 4];
        near.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"word");
    }

    #[test]
    fn an_end_is_no_word() {
        let (near, far) = UnixStream::pair().unwrap();
        drop(far);
        assert!(!comes(&near, LIMIT).unwrap());
    }

    #[test]
    fn silence_is_no_word() {
        let (near, _far) = UnixStream::pair().unwrap();
        assert!(!comes(&near, Duration::ZERO).unwrap());
    }
}
