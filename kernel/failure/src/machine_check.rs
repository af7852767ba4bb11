//! What a bank of machine-check registers says, in words (Intel SDM volume 3B, sections 16.3.2.2 and 16.9; AMD64 volume 2, section 9.3, has
//! the same codes).

use core::fmt;

/// Bits of a bank's status register.
const VALID: u64 = 1 << 63;
const LOST: u64 = 1 << 62;
const UNCORRECTED: u64 = 1 << 61;
const HAS_ADDRESS: u64 = 1 << 58;
const CORRUPT: u64 = 1 << 57;

/// An error that a bank holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineCheck {
    bank: u8,
    status: u64,
    address: Option<u64>,
}

impl MachineCheck {
    /// That of a bank with this status, if it holds one; `address` reads the bank's address register, which is there if the status says so.
    pub fn new(bank: u8, status: u64, address: impl FnOnce() -> u64) -> Option<MachineCheck> {
        if status & VALID == 0 {
            return None;
        }
        let address = (status & HAS_ADDRESS != 0).then(address);
        Some(MachineCheck { bank, status, address })
    }

    /// Whether the hardware has corrected it, so that nothing is lost.
    pub fn is_corrected(&self) -> bool {
        self.status & UNCORRECTED == 0
    }
}

impl fmt::Display for MachineCheck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.is_corrected() { "corrected" } else { "uncorrected" };
        write!(out, "{how} machine check in bank {}: {}", self.bank, Code(self.status as u16))?;
        if let Some(address) = self.address {
            write!(out, ", at {address:#x}")?;
        }
        if self.status & CORRUPT != 0 {
            write!(out, ", the processor's state is corrupt")?;
        }
        if self.status & LOST != 0 {
            write!(out, ", and more that are lost")?;
        }
        write!(out, " (status {:#x})", self.status)
    }
}

/// The error code, bits 0 to 15 of a status: a number of its own or a compound (tables 16-8 and 16-9).
struct Code(u16);

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Corrected errors like it may be left out: says nothing of what it is.
        const FILTERED: u16 = 1 << 12;
        let code = self.0 & !FILTERED;
        let field = |shift: u16, bits: u16| usize::from(code >> shift & ((1 << bits) - 1));
        let (level, kind, request) = (LEVELS[field(0, 2)], KINDS[field(2, 2)], REQUESTS[field(4, 4)]);
        match code {
            0 => write!(out, "no error"),
            1 => write!(out, "unclassified"),
            2 => write!(out, "parity of the microcode"),
            3 => write!(out, "an external error"),
            4 => write!(out, "two processors that check each other differ"),
            5 => write!(out, "internal parity"),
            6 => write!(out, "code outside of system management memory"),
            0x400 => write!(out, "internal timer"),
            0x401..=0x7ff => write!(out, "internal, unclassified"),
            0xe0b => write!(out, "input or output"),
            0x00c..=0x00f => write!(out, "cache, {level}"),
            0x010..=0x01f => write!(out, "{kind} TLB, {level}"),
            0x080..=0x0ff => memory(out, "memory controller", field(4, 3), field(0, 4)),
            0x100..=0x1ff => write!(out, "{kind} cache, {level}, {request}"),
            0x280..=0x2ff => memory(out, "memory used as a cache", field(4, 3), field(0, 4)),
            0x800..=0xfff => {
                let timed_out = if field(8, 1) == 1 { ", timed out" } else { "" };
                write!(out, "bus, {}, {request}, {level}{timed_out}", PARTIES[field(9, 2)])
            }
            _ => write!(out, "code {code:#x}"),
        }
    }
}

const LEVELS: [&str; 4] = ["level 0", "level 1", "level 2", "any level"];
const KINDS: [&str; 4] = ["instruction", "data", "common", "unknown"];
const REQUESTS: [&str; 16] = [
    "any request",
    "read",
    "write",
    "data read",
    "data write",
    "instruction fetch",
    "prefetch",
    "eviction",
    "snoop",
    "request 9",
    "request 10",
    "request 11",
    "request 12",
    "request 13",
    "request 14",
    "request 15",
];
const PARTIES: [&str; 4] =
    ["of this processor", "answered by this processor", "seen by this processor", "of anybody"];

fn memory(out: &mut fmt::Formatter<'_>, what: &str, transaction: usize, channel: usize) -> fmt::Result {
    const TRANSACTIONS: [&str; 5] = ["any request", "read", "write", "address or command", "scrubbing"];
    const NO_CHANNEL: usize = 15;
    write!(out, "{what}, {}", TRANSACTIONS.get(transaction).unwrap_or(&"unknown"))?;
    if channel == NO_CHANNEL { Ok(()) } else { write!(out, ", channel {channel}") }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::{String, ToString};

    fn said(status: u64) -> Option<String> {
        MachineCheck::new(4, status, || 0x1234_5000).map(|it| it.to_string())
    }

    fn code(code: u16) -> String {
        Code(code).to_string()
    }

    #[test]
    fn a_bank_that_holds_nothing_says_nothing() {
        assert_eq!(said(0), None);
        assert_eq!(said(!VALID), None);
    }

    #[test]
    fn errors_of_machines_logs_are_read() {
        // A load from poisoned memory on a server; a corrected error of a memory channel, several times; a bus that timed out.
        assert_eq!(
            said(0xbd80_0000_0010_0134).as_deref(),
            Some(
                "uncorrected machine check in bank 4: data cache, level 0, data read, at 0x12345000 (status 0xbd80000000100134)"
            )
        );
        assert_eq!(
            said(0xdc00_0040_0001_0092).as_deref(),
            Some(
                "corrected machine check in bank 4: memory controller, read, channel 2, at 0x12345000, and more that are lost (status 0xdc00004000010092)"
            )
        );
        assert_eq!(
            said(0xb200_0000_0000_0f0f).as_deref(),
            Some(
                "uncorrected machine check in bank 4: bus, of anybody, any request, any level, timed out, the processor's state is corrupt (status 0xb200000000000f0f)"
            )
        );
    }

    #[test]
    fn every_form_of_code_has_words() {
        for (number, words) in [
            (0x0005, "internal parity"),
            (0x0400, "internal timer"),
            (0x000e, "cache, level 2"),
            (0x0014, "data TLB, level 0"),
            (0x00c3, "memory controller, scrubbing, channel 3"),
            (0x009f, "memory controller, read"),
            (0x110a, "common cache, level 2, any request"),
            (0x0151, "instruction cache, level 1, instruction fetch"),
            (0x0291, "memory used as a cache, read, channel 1"),
            (0x0e0b, "input or output"),
            (0x0020, "code 0x20"),
        ] {
            assert_eq!(code(number), words, "{number:#x}");
        }
    }

    #[test]
    fn no_status_is_too_odd() {
        for number in 0..=u16::MAX {
            assert!(!code(number).is_empty());
        }
    }
}
