//! How a program may have the processor wait: with MONITOR and MWAIT themselves only a kernel may.

use crate::Answer;

/// Instructions by which a program has its processor sleep until a time, and earlier if it is interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramWait {
    /// `tpause` (Intel SDM volume 2, feature WAITPKG).
    Tpause,
    /// `monitorx` and `mwaitx` with a timer (AMD64 volume 3, feature MONITORX).
    Mwaitx,
}

impl ProgramWait {
    /// What the processor has by its answers to `cpuid(leaf, subleaf)`.
    pub fn read(cpuid: impl Fn(u32, u32) -> Answer) -> Option<ProgramWait> {
        const FEATURES: u32 = 7;
        const WAITPKG: u32 = 1 << 5;
        const EXTENDED: u32 = 0x8000_0000;
        const EXTENDED_FEATURES: u32 = 0x8000_0001;
        const MONITORX: u32 = 1 << 29;
        // A leaf beyond the last may answer anything.
        let word = |first, leaf| if cpuid(first, 0).eax >= leaf { cpuid(leaf, 0).ecx } else { 0 };
        if word(0, FEATURES) & WAITPKG != 0 {
            Some(ProgramWait::Tpause)
        } else if word(EXTENDED, EXTENDED_FEATURES) & MONITORX != 0 {
            Some(ProgramWait::Mwaitx)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(leaves: &[(u32, u32, u32)]) -> Option<ProgramWait> {
        ProgramWait::read(|leaf, _| {
            let found = leaves.iter().find(|(known, ..)| *known == leaf);
            found.map_or(Answer::default(), |&(_, eax, ecx)| Answer { eax, ecx, ..Answer::default() })
        })
    }

    #[test]
    fn what_is_there_is_found() {
        assert_eq!(of(&[(0, 0x20, 0), (7, 2, 1 << 5)]), Some(ProgramWait::Tpause));
        let amd = [(0, 0x10, 0), (7, 0, 0), (0x8000_0000, 0x8000_0023, 0), (0x8000_0001, 0, 1 << 29)];
        assert_eq!(of(&amd), Some(ProgramWait::Mwaitx));
        assert_eq!(of(&[(0, 0x16, 0), (7, 0, 1 << 4), (0x8000_0000, 0x8000_0008, 0)]), None);
    }

    #[test]
    fn leaves_beyond_the_last_say_nothing() {
        assert_eq!(of(&[(0, 6, 0), (7, 0, u32::MAX), (0x8000_0000, 0, 0), (0x8000_0001, 0, u32::MAX)]), None);
    }
}
