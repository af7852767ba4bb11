//! What a processor says of itself by CPUID (Intel SDM volume 2A, CPUID; AMD APM volume 3, appendix E), decoded.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Asks the processor: leaf and subleaf, answered by `eax`, `ebx`, `ecx`, `edx`.
pub trait Ask: Fn(u32, u32) -> [u32; 4] {}
impl<F: Fn(u32, u32) -> [u32; 4]> Ask for F {}

/// A processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    pub vendor: String,
    pub brand: String,
    /// Who runs the processor, if it is a virtual one.
    pub hypervisor: Option<String>,
    pub family: u32,
    pub model: u32,
    pub stepping: u32,
    pub physical_bits: u32,
    pub virtual_bits: u32,
    /// The time stamp counter runs at one frequency always.
    pub invariant_counter: bool,
    /// Leaf 15h: denominator, numerator, Hz of the crystal; zeroes where it does not tell.
    pub crystal: [u32; 3],
    /// Leaf 16h: base and highest frequency in MHz; zeroes where it does not tell.
    pub megahertz: [u32; 2],
    /// There are cores of several kinds.
    pub hybrid: bool,
    pub features: Vec<&'static str>,
    pub caches: Vec<Cache>,
}

/// A cache of the core that was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    pub level: u32,
    pub kind: &'static str,
    pub bytes: u64,
    pub ways: u32,
    pub line: u32,
    /// Most hardware threads that share it.
    pub shared_by: u32,
}

/// Leaf, subleaf, register (0 to 3 for `eax` to `edx`), bit, name.
type Feature = (u32, u32, usize, u32, &'static str);

/// What matters to the kernel and to programs.
const FEATURES: [Feature; 44] = [
    (1, 0, 2, 0, "sse3"),
    (1, 0, 2, 3, "monitor"),
    (1, 0, 2, 9, "ssse3"),
    (1, 0, 2, 12, "fma"),
    (1, 0, 2, 13, "cx16"),
    (1, 0, 2, 17, "pcid"),
    (1, 0, 2, 19, "sse4.1"),
    (1, 0, 2, 20, "sse4.2"),
    (1, 0, 2, 21, "x2apic"),
    (1, 0, 2, 23, "popcnt"),
    (1, 0, 2, 24, "tsc-deadline"),
    (1, 0, 2, 26, "xsave"),
    (1, 0, 2, 28, "avx"),
    (1, 0, 2, 30, "rdrand"),
    (1, 0, 3, 7, "mce"),
    (1, 0, 3, 14, "mca"),
    (1, 0, 3, 16, "pat"),
    (1, 0, 3, 28, "threads"),
    (7, 0, 1, 0, "fsgsbase"),
    (7, 0, 1, 3, "bmi1"),
    (7, 0, 1, 5, "avx2"),
    (7, 0, 1, 7, "smep"),
    (7, 0, 1, 8, "bmi2"),
    (7, 0, 1, 9, "erms"),
    (7, 0, 1, 16, "avx512f"),
    (7, 0, 1, 17, "avx512dq"),
    (7, 0, 1, 20, "smap"),
    (7, 0, 1, 28, "avx512cd"),
    (7, 0, 1, 30, "avx512bw"),
    (7, 0, 1, 31, "avx512vl"),
    (7, 0, 2, 2, "umip"),
    (7, 0, 2, 5, "waitpkg"),
    (7, 0, 2, 16, "la57"),
    (7, 0, 2, 27, "movdiri"),
    (7, 0, 3, 4, "fsrm"),
    (7, 0, 3, 15, "hybrid"),
    (7, 0, 3, 24, "amx-tile"),
    (0xd, 1, 0, 1, "xsavec"),
    (0x8000_0001, 0, 3, 11, "syscall"),
    (0x8000_0001, 0, 3, 20, "nx"),
    (0x8000_0001, 0, 3, 26, "1gib-pages"),
    (0x8000_0001, 0, 3, 27, "rdtscp"),
    (0x8000_0001, 0, 2, 22, "topology-extensions"),
    (0x8000_0007, 0, 3, 8, "invariant-tsc"),
];

/// First leaf of the hypervisor's own.
const HYPERVISOR: u32 = 0x4000_0000;
/// First of the extended leaves.
const EXTENDED: u32 = 0x8000_0000;

/// Reads the processor's leaves; what it does not have reads as zero.
pub fn read(ask: impl Ask) -> Processor {
    let highest = ask(0, 0)[0];
    let highest_extended = ask(EXTENDED, 0)[0];
    let leaf = |number: u32, sub: u32| {
        let most = if number >= EXTENDED { highest_extended } else { highest };
        if number <= most { ask(number, sub) } else { [0; 4] }
    };
    let [_, b, c, d] = ask(0, 0);
    let [signature, _, c1, _] = leaf(1, 0);
    let family = (signature >> 8) & 0xf;
    let model = (signature >> 4) & 0xf;
    let extended_model = (signature >> 12) & 0xf0;
    let [widths, ..] = leaf(EXTENDED + 8, 0);
    let brand = (2..=4).flat_map(|part| leaf(EXTENDED + part, 0));
    let features: Vec<&'static str> = FEATURES
        .iter()
        .filter(|(number, sub, register, bit, _)| leaf(*number, *sub)[*register] >> bit & 1 == 1)
        .map(|(.., name)| *name)
        .collect();
    let [denominator, numerator, hz, _] = leaf(0x15, 0);
    let [base, most, ..] = leaf(0x16, 0);
    let virtual_machine = c1 >> 31 == 1;
    let hypervisor = || {
        let [_, b, c, d] = ask(HYPERVISOR, 0);
        text([b, c, d].into_iter())
    };
    Processor {
        vendor: text([b, d, c].into_iter()),
        brand: text(brand),
        hypervisor: virtual_machine.then(hypervisor),
        family: if family == 0xf { family + (signature >> 20 & 0xff) } else { family },
        model: if matches!(family, 6 | 0xf) { model | extended_model } else { model },
        stepping: signature & 0xf,
        physical_bits: widths & 0xff,
        virtual_bits: widths >> 8 & 0xff,
        invariant_counter: features.contains(&"invariant-tsc"),
        crystal: [denominator, numerator, hz],
        megahertz: [base & 0xffff, most & 0xffff],
        hybrid: features.contains(&"hybrid"),
        caches: caches(&leaf, features.contains(&"topology-extensions")),
        features,
    }
}

/// The core's caches: leaf 4, or AMD's 8000001Dh, which has the same form.
fn caches(leaf: &impl Ask, of_amd: bool) -> Vec<Cache> {
    /// No processor has as many; what goes on for ever ends there.
    const MOST: u32 = 16;
    let number = if of_amd { EXTENDED + 0x1d } else { 4 };
    let cache = |[a, b, c, _]: [u32; 4]| {
        let kind = match a & 0x1f {
            1 => "data",
            2 => "instructions",
            3 => "both",
            _ => return None,
        };
        let (ways, partitions, line) = ((b >> 22) + 1, (b >> 12 & 0x3ff) + 1, (b & 0xfff) + 1);
        let bytes = u64::from(ways) * u64::from(partitions) * u64::from(line) * (u64::from(c) + 1);
        Some(Cache { level: a >> 5 & 7, kind, bytes, ways, line, shared_by: (a >> 14 & 0xfff) + 1 })
    };
    (0..MOST).map_while(|sub| cache(leaf(number, sub))).collect()
}

/// What a core says of itself alone: its number among the machine's interrupt controllers, and its kind.
pub fn core(ask: impl Ask) -> (u32, &'static str) {
    let highest = ask(0, 0)[0];
    let has_level = |number: u32| number <= highest && ask(number, 0)[1] != 0;
    let number = match [0x1f, 0xb].into_iter().find(|number| has_level(*number)) {
        Some(number) => ask(number, 0)[3],
        None => ask(1, 0)[1] >> 24,
    };
    let hybrid = highest >= 0x1a && ask(7, 0)[3] >> 15 & 1 == 1;
    let kind = match hybrid.then(|| ask(0x1a, 0)[0] >> 24) {
        Some(0x40) => "performance",
        Some(0x20) => "efficiency",
        Some(_) => "unknown",
        None => "-",
    };
    (number, kind)
}

/// The characters in registers, without what fills them up.
fn text(registers: impl Iterator<Item = u32>) -> String {
    let bytes: Vec<u8> = registers.flat_map(u32::to_le_bytes).take_while(|byte| *byte != 0).collect();
    let is_shown = |c: &char| matches!(c, ' '..='~');
    String::from_utf8_lossy(&bytes).chars().filter(is_shown).collect::<String>().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some leaves of a Core i7-12700 (Alder Lake), as its cores of the two kinds answer.
    fn alder_lake(kind: u32) -> impl Ask {
        move |leaf, sub| match (leaf, sub) {
            (0, _) => [0x20, 0x756e_6547, 0x6c65_746e, 0x4965_6e69],
            (1, _) => [0x9_0672, 0x0080_0800, 0x7ffa_fbbf, 0xbfeb_fbff],
            (4, 0) => [0xfc00_4121, 0x2c0_003f, 0x3f, 0],
            (4, 1) => [0xfc00_4122, 0x1c0_003f, 0x3f, 0],
            (4, 2) => [0xfc01_c143, 0x240_003f, 0x7ff, 0],
            (7, 0) => [2, 0x239c_27eb, 0x98c0_27ac, 0xfc1c_c410],
            (0xb, 0) | (0x1f, 0) => [1, 2, 0x100, 0x1_0023],
            (0x15, _) => [2, 0x6d, 38_400_000, 0],
            (0x16, _) => [2100, 4900, 100, 0],
            (0x1a, _) => [kind << 24 | 1, 0, 0, 0],
            (0x8000_0000, _) => [0x8000_0008, 0, 0, 0],
            (0x8000_0001, _) => [0, 0, 0x121, 0x2c10_0800],
            (0x8000_0002, _) => [0x6874_3231, 0x6e65_4720, 0x746e_4920, 0x0000_6c65],
            (0x8000_0007, _) => [0, 0, 0, 0x100],
            (0x8000_0008, _) => [0x302e, 0, 0, 0],
            _ => [0; 4],
        }
    }

    #[test]
    fn a_hybrid_processor_is_read() {
        let read = read(alder_lake(0x40));
        assert_eq!((read.vendor.as_str(), read.brand.as_str()), ("GenuineIntel", "12th Gen Intel"));
        assert_eq!((read.family, read.model, read.stepping), (6, 0x97, 2));
        assert_eq!((read.physical_bits, read.virtual_bits), (46, 48));
        assert_eq!((read.crystal, read.megahertz), ([2, 0x6d, 38_400_000], [2100, 4900]));
        assert!(read.hybrid && read.invariant_counter && read.hypervisor.is_none());
        let second = Cache { level: 2, kind: "both", bytes: 1_310_720, ways: 10, line: 64, shared_by: 8 };
        assert_eq!((read.caches.len(), read.caches[2]), (3, second));
        assert_eq!(core(alder_lake(0x40)), (0x1_0023, "performance"));
        assert_eq!(core(alder_lake(0x20)), (0x1_0023, "efficiency"));
    }

    #[test]
    fn what_says_nothing_is_read_as_nothing() {
        let read = read(|_, _| [0; 4]);
        assert!(read.features.is_empty() && read.caches.is_empty() && read.brand.is_empty());
        assert_eq!(core(|_, _| [0; 4]), (0, "-"));
    }

    #[test]
    fn caches_without_end_end() {
        assert!(read(|_, _| [u32::MAX; 4]).caches.is_empty());
        assert_eq!(read(|_, _| [0xffff_ffe1; 4]).caches.len(), 16);
    }
}
