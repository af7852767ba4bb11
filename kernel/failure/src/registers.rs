//! The register lines of a failure report.

use core::fmt;

/// The registers of a rank at its death.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the processor's own names
pub struct Registers {
    pub rip: u64,
    pub rsp: u64,
    pub rflags: u64,
    pub rax: u64,
    pub rbx: u64,
    pub rcx: u64,
    pub rdx: u64,
    pub rsi: u64,
    pub rdi: u64,
    pub rbp: u64,
    pub r8: u64,
    pub r9: u64,
    pub r10: u64,
    pub r11: u64,
    pub r12: u64,
    pub r13: u64,
    pub r14: u64,
    pub r15: u64,
}

/// One printable line of up to four registers.
#[derive(Clone, Copy, Debug)]
pub struct RegisterLine([Option<(&'static str, u64)>; 4]);

impl Registers {
    /// The five lines of a report, in order.
    pub fn lines(&self) -> [RegisterLine; 5] {
        let line = |a, b, c, d| RegisterLine([Some(a), Some(b), Some(c), d]);
        [
            line(("rip", self.rip), ("rsp", self.rsp), ("rbp", self.rbp), Some(("rfl", self.rflags))),
            line(("rax", self.rax), ("rbx", self.rbx), ("rcx", self.rcx), Some(("rdx", self.rdx))),
            line(("rsi", self.rsi), ("rdi", self.rdi), ("r8 ", self.r8), Some(("r9 ", self.r9))),
            line(("r10", self.r10), ("r11", self.r11), ("r12", self.r12), Some(("r13", self.r13))),
            RegisterLine([Some(("r14", self.r14)), Some(("r15", self.r15)), None, None]),
        ]
    }
}

impl fmt::Display for RegisterLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(" ")?;
        self.0.iter().flatten().try_for_each(|(name, value)| write!(f, " {name} {value:016x}"))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_line_reads_so() {
        let r = Registers { rip: 0x401000, rsp: 1, rbp: 2, rflags: 0x246, ..Default::default() };
        let line = "  rip 0000000000401000 rsp 0000000000000001 rbp 0000000000000002 rfl 0000000000000246";
        assert_eq!(r.lines()[0].to_string(), line);
        assert_eq!(r.lines()[4].to_string(), "  r14 0000000000000000 r15 0000000000000000");
    }
}
