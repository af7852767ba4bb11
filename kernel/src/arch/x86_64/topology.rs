//! Which hardware a core shares with which others, from its interrupt controller number (Intel SDM volume 3, section 9.9;
//! AMD64 volume 3, appendix E.4.7).

use raw_cpuid::{CacheType, CpuId, TopologyType};

/// How interrupt controller numbers divide: a field's value is `id >> shift`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shifts {
    /// Cores (hardware threads) with equal values are in one physical core; those of the other fields in one package, and at one cache
    /// of the second and of the third level.
    pub physical_core: u32,
    pub package: u32,
    pub l2: u32,
    pub l3: u32,
}

/// The node's division; all its cores are alike. A processor that does not tell has one hardware thread a core, caches of
/// their own, and one package.
pub fn shifts() -> Shifts {
    let cpu = CpuId::new();
    let mut shifts = Shifts { physical_core: 0, package: 16, l2: 0, l3: 16 };
    if let Some(levels) = cpu.get_extended_topology_info() {
        for level in levels {
            match level.level_type() {
                TopologyType::SMT => shifts.physical_core = level.shift_right_for_next_apic_id(),
                TopologyType::Core => shifts.package = level.shift_right_for_next_apic_id(),
                _ => {}
            }
        }
    }
    shifts.l2 = shifts.physical_core;
    shifts.l3 = shifts.package;
    if let Some(caches) = cpu.get_cache_parameters() {
        for cache in caches.filter(|cache| matches!(cache.cache_type(), CacheType::Unified | CacheType::Data))
        {
            let shift = (cache.max_cores_for_cache().max(1) as u32).next_power_of_two().trailing_zeros();
            match cache.level() {
                2 => shifts.l2 = shift,
                3 => shifts.l3 = shift,
                _ => {}
            }
        }
    }
    shifts
}
