//! Which cores the job may use and what they share, from the process's affinity and Linux's sysfs
//! (Documentation/admin-guide/cputopology.rst; `cache/` as in ABI/testing/sysfs-devices-system-cpu).

use std::arch::x86_64::__cpuid_count;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lwk_abi::job_page::RankPlace;
use lwk_topology::{Answer, ProgramWait};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;

const SYSFS: &str = "/sys/devices/system/cpu";

/// How programs may have the processor wait.
pub fn program_wait() -> Option<ProgramWait> {
    ProgramWait::read(|leaf, subleaf| {
        let found = __cpuid_count(leaf, subleaf);
        Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
    })
}

/// The cores this process may run on (sched_getaffinity(2)), by Linux's numbers, ascending. Errors: Linux refuses to tell.
pub fn usable_cores() -> nix::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    Ok((0..CpuSet::count()).filter(|&core| set.is_set(core).unwrap_or(false)).collect())
}

/// The places of these cores, in their order. What sysfs does not tell counts as not shared.
pub fn places(cores: &[usize]) -> Vec<RankPlace> {
    read_places(Path::new(SYSFS), cores)
}

fn read_places(sysfs: &Path, cores: &[usize]) -> Vec<RankPlace> {
    let [mut packages, mut physical, mut l2, mut l3, mut nodes] = [const { Dense::new() }; 5];
    let mut threads: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    let mut places: Vec<RankPlace> = Vec::new();
    for &core in cores {
        let folder = sysfs.join(format!("cpu{core}"));
        let read = |name: &str| fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_owned());
        let alone = || format!("cpu{core}");
        let package = read("topology/physical_package_id").unwrap_or_default();
        let own = read("topology/core_id").map_or_else(alone, |id| format!("{package}/{id}"));
        let cache = |level: &str| {
            (0..8).find_map(|index| {
                let is_level = read(&format!("cache/index{index}/level"))? == level;
                let holds_data = read(&format!("cache/index{index}/type"))? != "Instruction";
                if is_level && holds_data {
                    read(&format!("cache/index{index}/shared_cpu_list"))
                } else {
                    None
                }
            })
        };
        // Without a cache of that level the one before is the last.
        let second = cache("2").unwrap_or_else(|| own.clone());
        let last = cache("3").unwrap_or_else(|| second.clone());
        let physical_core = physical.number(own);
        let siblings = threads.entry(physical_core).or_default();
        let thread = siblings.iter().position(|&sibling| sibling == core).unwrap_or_else(|| {
            siblings.push(core);
            siblings.len() - 1
        });
        places.push(RankPlace {
            core: core as u16,
            package: packages.number(package),
            physical_core,
            l2: l2.number(second),
            l3: l3.number(last),
            thread: thread as u16,
            memory_node: nodes.number(memory_node(&folder).unwrap_or_default()),
        });
    }
    places
}

/// The name of a core's memory node: its folder has a link of that name (ABI/stable/sysfs-devices-system-cpu).
fn memory_node(core: &Path) -> Option<String> {
    let names = fs::read_dir(core).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .into_iter()
        .find(|name| name.strip_prefix("node").is_some_and(|number| number.parse::<u16>().is_ok()))
}

/// Dense numbers for names, in the order of their first appearance.
struct Dense(BTreeMap<String, u16>);

impl Dense {
    const fn new() -> Dense {
        Dense(BTreeMap::new())
    }

    fn number(&mut self, name: String) -> u16 {
        let next = self.0.len() as u16;
        *self.0.entry(name).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sharing_is_read_from_sysfs() {
        let root = std::env::temp_dir().join(format!("lwk-home-topology-{}", std::process::id()));
        // Of a test that was killed, whose process had the same number.
        let _ = fs::remove_dir_all(&root);
        // Two packages of one core each; the first core has two threads, 0 and 2.
        for (cpu, package, core, shared) in [(0, 0, 0, "0,2"), (1, 1, 0, "1"), (2, 0, 0, "0,2")] {
            let folder = root.join(format!("cpu{cpu}"));
            for (name, text) in [
                ("topology/physical_package_id", package.to_string()),
                ("topology/core_id", core.to_string()),
                ("cache/index0/level", "2".into()),
                ("cache/index0/type", "Unified".into()),
                ("cache/index0/shared_cpu_list", shared.into()),
                (&format!("node{package}/cpulist"), shared.into()),
            ] {
                fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
                fs::write(folder.join(name), text + "\n").unwrap();
            }
        }
        let places = read_places(&root, &[0, 1, 2]);
        fs::remove_dir_all(&root).unwrap();
        let place = |core, package, physical_core, l2, l3, thread, memory_node| RankPlace {
            core,
            package,
            physical_core,
            l2,
            l3,
            thread,
            memory_node,
        };
        assert_eq!(
            places,
            // There is no third level: what shares the second shares the last.
            [place(0, 0, 0, 0, 0, 0, 0), place(1, 1, 1, 1, 1, 0, 1), place(2, 0, 0, 0, 0, 1, 0)]
        );
    }

    #[test]
    fn this_machine_has_cores() {
        let cores = usable_cores().unwrap();
        assert_eq!(places(&cores).len(), cores.len());
        assert!(!cores.is_empty());
    }
}
