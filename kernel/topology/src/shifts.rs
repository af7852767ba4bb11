//! How the number of an interrupt controller divides (Intel SDM volume 3, section 9.9; AMD64 volume 3, appendix E.4).

/// What the processor answers to `CPUID` with a leaf and a subleaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub eax: u32,
    pub ebx: u32,
    pub ecx: u32,
    pub edx: u32,
}

/// How interrupt controller numbers divide: a field's value is `id >> shift`, with shifts of 0 to 31.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shifts {
    /// Processors with equal values are threads of one core; those of the other fields in one package, at one cache of the second level,
    /// and at one of the third. Without a third level the second is the last, and without both a core's own.
    pub core: u32,
    pub package: u32,
    pub l2: u32,
    pub l3: u32,
}

/// Of a processor that does not tell: one thread a core, caches of their own, and one package.
const UNTOLD: Shifts = Shifts { core: 0, package: 16, l2: 0, l3: 0 };

/// Leaves that list levels of topology, the ones with more kinds of levels first.
const TOPOLOGY: [u32; 3] = [0x8000_0026, 0x1f, 0x0b];
/// Kinds of levels in those leaves: the threads of a core, and all that there is below the package. The last level of each list is the
/// one below the package, whatever it is called.
const THREADS_OF_A_CORE: u32 = 1;
/// Leaves that list caches: Intel's, and AMD's, whose form is the same.
const CACHES: [u32; 2] = [0x04, 0x8000_001d];
/// AMD's leaves of processors that list no levels.
const AMD_SIZES: u32 = 0x8000_0008;
const AMD_CORE: u32 = 0x8000_001e;
/// AMD's leaf of cache sizes, of processors that list no caches: the third level, if there is one, is the package's.
const AMD_CACHES: u32 = 0x8000_0006;
/// Most subleaves of one leaf that are looked at. Real ones have up to seven; what does not end is no answer.
const SUBLEAVES_MAX: u32 = 16;

impl Shifts {
    /// What the processor says by `cpuid(leaf, subleaf)`; whatever it says not is as if nothing were shared but the package.
    pub fn read(cpuid: impl Fn(u32, u32) -> Answer) -> Shifts {
        let has = |leaf: u32| cpuid(leaf & 0x8000_0000, 0).eax >= leaf;
        let levels = TOPOLOGY.into_iter().filter(|leaf| has(*leaf)).find_map(|leaf| levels(&cpuid, leaf));
        let (core, package) = levels.unwrap_or_else(|| match has(AMD_SIZES) && has(AMD_CORE) {
            true => amd_sizes(cpuid(AMD_SIZES, 0), cpuid(AMD_CORE, 0)),
            false => (UNTOLD.core, UNTOLD.package),
        });
        let listed = CACHES.into_iter().filter(|leaf| has(*leaf)).find_map(|leaf| caches(&cpuid, leaf));
        let [l2, l3] = listed.unwrap_or_else(|| {
            // The size in the upper bits; Intel's processors have none there.
            let third = has(AMD_CACHES) && cpuid(AMD_CACHES, 0).edx >> 18 != 0;
            [None, third.then_some(package)]
        });
        // Threads of a core share its caches, and those of one second level its third; a cache is within a package.
        let l2 = l2.unwrap_or(core).clamp(core, package);
        Shifts { core, package, l2, l3: l3.unwrap_or(l2).clamp(l2, package) }
    }
}

/// What a processor says of itself alone. Those of one machine may be of two kinds, with caches of their own kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    pub shifts: Shifts,
    /// It is of the kind that saves energy (Intel SDM volume 2A, CPUID leaf 1Ah).
    pub slow: bool,
}

impl Own {
    /// What this processor says by `cpuid(leaf, subleaf)`.
    pub fn read(cpuid: impl Fn(u32, u32) -> Answer) -> Own {
        const STRUCTURED: u32 = 7;
        const HYBRID: u32 = 1 << 15;
        const KIND: u32 = 0x1a;
        /// The kind "Atom", in the highest byte.
        const SAVES_ENERGY: u32 = 0x20;
        let hybrid = cpuid(0, 0).eax >= KIND && cpuid(STRUCTURED, 0).edx & HYBRID != 0;
        let slow = hybrid && cpuid(KIND, 0).eax >> 24 == SAVES_ENERGY;
        Own { shifts: Shifts::read(cpuid), slow }
    }

    /// Numbers that are equal for processors, by the numbers of their interrupt controllers, that share a part below the package; `shift` is that of the
    /// part. Cores of different kinds never do.
    pub fn part(&self, id: u32, shift: u32) -> u64 {
        u64::from(id >> shift) << 1 | u64::from(self.slow)
    }

    /// As [`Own::part`], of a package or a last-level cache, which cores of different kinds share if they divide their numbers alike.
    pub fn whole(&self, id: u32, shift: u32) -> u64 {
        u64::from(shift) << 32 | u64::from(id >> shift)
    }
}

/// Shifts of core and package by a leaf that lists levels from the threads up; none if it lists none.
fn levels(cpuid: &impl Fn(u32, u32) -> Answer, leaf: u32) -> Option<(u32, u32)> {
    let mut found: Option<(u32, u32)> = None;
    for answer in (0..SUBLEAVES_MAX).map(|subleaf| cpuid(leaf, subleaf)) {
        let (kind, shift) = (answer.ecx >> 8 & 0xff, answer.eax & 0x1f);
        if kind == 0 || answer.ebx & 0xffff == 0 {
            break;
        }
        let core = if kind == THREADS_OF_A_CORE { shift } else { found.map_or(0, |(core, _)| core) };
        found = Some((core, shift));
    }
    // AMD's first kind is the core, whose shift is that of its threads; a package is never smaller than a core.
    found.map(|(core, package)| (core, package.max(core)))
}

/// Shifts of the caches of data of the second and of the third level by a leaf that lists caches; none if it lists no cache at all.
fn caches(cpuid: &impl Fn(u32, u32) -> Answer, leaf: u32) -> Option<[Option<u32>; 2]> {
    let mut found = None;
    for cache in (0..SUBLEAVES_MAX).map(|subleaf| cpuid(leaf, subleaf)) {
        let (kind, level) = (cache.eax & 0x1f, cache.eax >> 5 & 0x7);
        if kind == 0 {
            break;
        }
        let [l2, l3] = found.get_or_insert([None; 2]);
        let shift = shift_of(((cache.eax >> 14 & 0xfff) + 1).into());
        // A cache of instructions says nothing about data.
        match (kind, level) {
            (1 | 3, 2) => *l2 = Some(shift),
            (1 | 3, 3) => *l3 = Some(shift),
            _ => {}
        }
    }
    found
}

/// Shifts of core and package by AMD's leaves of sizes: bits of a number within a package, and threads of a core.
fn amd_sizes(sizes: Answer, core: Answer) -> (u32, u32) {
    let threads = (core.ebx >> 8 & 0xff) + 1;
    let package = match sizes.ecx >> 12 & 0xf {
        0 => shift_of(u64::from(sizes.ecx & 0xff) + 1),
        bits => bits,
    };
    let core = shift_of(threads.into());
    (core, package.max(core))
}

/// The bits that so many numbers take, at least 1 of them.
fn shift_of(count: u64) -> u32 {
    count.next_power_of_two().trailing_zeros().min(31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    /// Answers by leaf and subleaf, as `cpuid -r` prints them; all others are zero.
    type Dump = &'static [(u32, u32, [u32; 4])];

    fn read(dump: Dump) -> Shifts {
        Shifts::read(|leaf, subleaf| {
            let found = dump.iter().find(|(l, s, _)| (*l, *s) == (leaf, subleaf));
            let [eax, ebx, ecx, edx] = found.map_or([0; 4], |(_, _, registers)| *registers);
            Answer { eax, ebx, ecx, edx }
        })
    }

    /// Intel Core with cores of two kinds: one that saves energy, and shares its second-level cache with three others.
    const SLOW: Dump = &[
        (0, 0, [0x20, 0, 0, 0]),
        (4, 0, [0xfc00_4121, 0, 0, 0]),
        (4, 1, [0xfc01_c143, 0, 0, 0]),
        (4, 2, [0xfc1f_c163, 0, 0, 0]),
        (7, 0, [2, 0, 0, 1 << 15]),
        (0xb, 0, [1, 1, 0x100, 0x40]),
        (0xb, 1, [7, 20, 0x201, 0x40]),
        (0x1a, 0, [0x2000_0001, 0, 0, 0]),
    ];

    #[test]
    fn kinds_of_cores_have_caches_of_their_own() {
        let own = |dump: Dump| {
            Own::read(|leaf, subleaf| {
                let found = dump.iter().find(|(l, s, _)| (*l, *s) == (leaf, subleaf));
                let [eax, ebx, ecx, edx] = found.map_or([0; 4], |(_, _, registers)| *registers);
                Answer { eax, ebx, ecx, edx }
            })
        };
        let slow = own(SLOW);
        assert_eq!(slow, Own { shifts: Shifts { core: 1, package: 7, l2: 3, l3: 7 }, slow: true });
        assert!(!own(SKYLAKE).slow && !own(&[]).slow);
        // Four slow cores at one cache; a fast one with the same number of a part is elsewhere.
        let parts = [0x40, 0x42, 0x46].map(|id| slow.part(id, slow.shifts.l2));
        assert_eq!(parts, [parts[0]; 3]);
        assert_ne!(parts[0], Own { slow: false, ..slow }.part(8, 0));
        assert_ne!(slow.part(0x48, 3), parts[0]);
        let fast = Own { slow: false, ..slow };
        assert_eq!(slow.whole(0x40, 7), fast.whole(8, 7), "one package");
        assert_ne!(slow.whole(0x40, 7), slow.whole(0x80, 7));
    }

    /// Intel Core of four cores with two threads each.
    const SKYLAKE: Dump = &[
        (0, 0, [0x16, 0, 0, 0]),
        (4, 0, [0x1c00_4121, 0, 0, 0]),
        (4, 1, [0x1c00_4122, 0, 0, 0]),
        (4, 2, [0x1c00_4143, 0, 0, 0]),
        (4, 3, [0x1c03_c163, 0, 0, 0]),
        (0xb, 0, [1, 2, 0x100, 0]),
        (0xb, 1, [4, 8, 0x201, 0]),
        (0xb, 2, [0, 0, 2, 0]),
        (0x8000_0000, 0, [0x8000_0008, 0, 0, 0]),
    ];
    /// Intel Xeon (Sapphire Rapids) of 56 cores with two threads each, with leaf 1Fh.
    const SAPPHIRE_RAPIDS: Dump = &[
        (0, 0, [0x20, 0, 0, 0]),
        (4, 0, [0xfc00_4121, 0, 0, 0]),
        (4, 1, [0xfc00_4122, 0, 0, 0]),
        (4, 2, [0xfc00_4143, 0, 0, 0]),
        (4, 3, [0xfc1f_c163, 0, 0, 0]),
        (0xb, 0, [1, 2, 0x100, 0]),
        (0xb, 1, [7, 112, 0x201, 0]),
        (0x1f, 0, [1, 2, 0x100, 0]),
        (0x1f, 1, [7, 112, 0x201, 0]),
        (0x8000_0000, 0, [0x8000_0008, 0, 0, 0]),
    ];
    /// AMD EPYC (Rome): 64 cores with two threads, four cores at a third-level cache.
    const ROME: Dump = &[
        (0, 0, [0x10, 0, 0, 0]),
        (0xb, 0, [1, 2, 0x100, 0]),
        (0xb, 1, [7, 128, 0x201, 0]),
        (0x8000_0000, 0, [0x8000_0020, 0, 0, 0]),
        (0x8000_0008, 0, [0x3030, 0, 0x707f, 0]),
        (0x8000_001d, 0, [0x4121, 0, 0, 0]),
        (0x8000_001d, 1, [0x4122, 0, 0, 0]),
        (0x8000_001d, 2, [0x4143, 0, 0, 0]),
        (0x8000_001d, 3, [0x1_c163, 0, 0, 0]),
        (0x8000_001e, 0, [0, 0x100, 0, 0]),
    ];
    /// AMD EPYC (Genoa): 96 cores, with the leaf of cores, complexes and dies.
    const GENOA: Dump = &[
        (0, 0, [0x10, 0, 0, 0]),
        (0xb, 0, [1, 2, 0x100, 0]),
        (0xb, 1, [8, 192, 0x201, 0]),
        (0x8000_0000, 0, [0x8000_0028, 0, 0, 0]),
        (0x8000_001d, 0, [0x4121, 0, 0, 0]),
        (0x8000_001d, 1, [0x4122, 0, 0, 0]),
        (0x8000_001d, 2, [0x4143, 0, 0, 0]),
        (0x8000_001d, 3, [0x3_c163, 0, 0, 0]),
        (0x8000_0026, 0, [1, 2, 0x100, 0]),
        (0x8000_0026, 1, [4, 16, 0x201, 0]),
        (0x8000_0026, 2, [8, 192, 0x302, 0]),
        (0x8000_0026, 3, [8, 192, 0x403, 0]),
    ];
    /// Intel Core 2 Quad: no leaf of levels, pairs of cores at a second-level cache.
    const PENRYN: Dump = &[
        (0, 0, [0xa, 0, 0, 0]),
        (4, 0, [0x0c00_0121, 0, 0, 0]),
        (4, 1, [0x0c00_0122, 0, 0, 0]),
        (4, 2, [0x0c00_4143, 0, 0, 0]),
        (0x8000_0000, 0, [0x8000_0008, 0, 0, 0]),
    ];
    /// AMD Opteron of twelve cores, with neither leaf of levels nor of caches, and a third-level cache.
    const OPTERON: Dump = &[
        (0, 0, [5, 0, 0, 0]),
        (0x8000_0000, 0, [0x8000_001e, 0, 0, 0]),
        (0x8000_0006, 0, [0, 0, 0x0200_8140, 0x0018_9140]),
        (0x8000_0008, 0, [0x3030, 0, 0x400b, 0]),
        (0x8000_001e, 0, [0, 0, 0, 0]),
    ];

    /// AMD Athlon 64 X2: two cores with second-level caches of their own, and nothing behind.
    const ATHLON: Dump = &[
        (0, 0, [1, 0, 0, 0]),
        (0x8000_0000, 0, [0x8000_0018, 0, 0, 0]),
        (0x8000_0006, 0, [0, 0, 0x0200_8140, 0]),
        (0x8000_0008, 0, [0x3028, 0, 1, 0]),
    ];
    /// Intel Core with cores of two kinds and, on a die of their own, two that save more energy and have no third-level cache.
    const LOW_POWER: Dump = &[
        (0, 0, [0x20, 0, 0, 0]),
        (4, 0, [0xfc00_4121, 0, 0, 0]),
        (4, 1, [0xfc00_4122, 0, 0, 0]),
        (4, 2, [0xfc00_c143, 0, 0, 0]),
        (0x1f, 0, [1, 1, 0x100, 0x40]),
        (0x1f, 1, [7, 22, 0x201, 0x40]),
    ];

    #[test]
    fn without_a_third_level_the_second_is_the_last() {
        let shifts = |core, package, l2, l3| Shifts { core, package, l2, l3 };
        assert_eq!(read(PENRYN), shifts(0, 16, 1, 1));
        assert_eq!(read(LOW_POWER), shifts(1, 7, 2, 2));
        assert_eq!(read(ATHLON), shifts(0, 16, 0, 0));
    }

    #[test]
    fn real_processors_are_read() {
        let shifts = |core, package, l2, l3| Shifts { core, package, l2, l3 };
        assert_eq!(read(SKYLAKE), shifts(1, 4, 1, 4));
        assert_eq!(read(SAPPHIRE_RAPIDS), shifts(1, 7, 1, 7));
        assert_eq!(read(ROME), shifts(1, 7, 1, 3));
        assert_eq!(read(GENOA), shifts(1, 8, 1, 4));
        assert_eq!(read(OPTERON), shifts(0, 4, 0, 4));
        assert_eq!(read(&[]), UNTOLD);
    }

    /// Whatever a processor says, all bits set or a list without end, shifts are shifts and a core lies in a package.
    #[test]
    fn nonsense_is_bounded() {
        let words = [0, 1, 0x1f, 0xff, 0xffff, 0x1234_5678, 0x8000_0026, u32::MAX];
        for eax in words {
            for ebx in words {
                for ecx in words {
                    let found = Shifts::read(|_, _| Answer { eax, ebx, ecx, edx: 0 });
                    let all: Vec<u32> = [found.core, found.package, found.l2, found.l3].into();
                    assert!(all.iter().all(|shift| *shift < 32), "{found:?}");
                    assert!(found.core <= found.l2 && found.l2 <= found.l3, "{found:?}");
                    assert!(found.l3 <= found.package, "{found:?}");
                }
            }
        }
    }
}
