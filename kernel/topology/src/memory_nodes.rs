//! Memory nodes: which memory is near which cores.
//!
//! The firmware names proximity domains; here they are nodes, numbered from 0 in the order in which the firmware's table names them, as Linux
//! does: first those of cores, then those of memory alone.

use arrayvec::ArrayVec;
use lwk_acpi::{Affinity, Distances, NODES_MAX, Range};

/// The most ranges of memory that are told apart, those of one node that touch counted as one.
const RANGES_MAX: usize = 64;

/// The memory nodes of a machine; none if the firmware tells of none.
#[derive(Clone, Debug, Default)]
pub struct MemoryNodes<'m> {
    affinity: Option<Affinity<'m>>,
    distances: Distances<'m>,
    /// Domain of each node.
    domains: ArrayVec<u32, NODES_MAX>,
    ranges: ArrayVec<Range, RANGES_MAX>,
}

impl<'m> MemoryNodes<'m> {
    /// Nodes and memory beyond what can be told apart are left out: they are near nobody.
    pub fn new(affinity: Option<Affinity<'m>>, distances: Distances<'m>) -> MemoryNodes<'m> {
        let mut nodes = MemoryNodes { affinity, distances, ..MemoryNodes::default() };
        let Some(affinity) = affinity else { return nodes };
        let of_cores = affinity.initiators().map(|initiator| initiator.domain);
        for domain in of_cores.chain(affinity.ranges().map(|range| range.domain)) {
            if !nodes.domains.contains(&domain) {
                // Full: left out.
                let _ = nodes.domains.try_push(domain);
            }
        }
        for range in affinity.ranges() {
            let touches = |known: &&mut Range| known.domain == range.domain && known.end == range.start;
            match nodes.ranges.iter_mut().find(touches) {
                Some(known) => known.end = range.end,
                None => {
                    // Full: left out.
                    let _ = nodes.ranges.try_push(range);
                }
            }
        }
        nodes
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.domains.len()
    }

    /// The node of the core with this interrupt controller number, if the firmware tells.
    pub fn of_core(&self, apic_id: u32) -> Option<usize> {
        let initiator = self.affinity?.initiators().find(|initiator| initiator.apic_id == apic_id)?;
        self.number(initiator.domain)
    }

    /// The node of the memory at a physical address, if the firmware tells.
    pub fn of_memory(&self, address: u64) -> Option<usize> {
        let range = self.ranges.iter().find(|range| (range.start..range.end).contains(&address))?;
        self.number(range.domain)
    }

    /// The nodes that have memory which cores of `node` can reach, nearest first.
    pub fn nearest(&self, node: usize) -> ArrayVec<usize, NODES_MAX> {
        let Some(own) = self.domains.get(node) else { return ArrayVec::new() };
        let has_memory = |domain: &u32| self.ranges.iter().any(|range| range.domain == *domain);
        let domains: ArrayVec<u32, NODES_MAX> = self.domains.iter().copied().filter(has_memory).collect();
        self.distances.nearest(*own, &domains).into_iter().filter_map(|domain| self.number(domain)).collect()
    }

    /// First and end addresses of the memory of `node`.
    pub fn memory(&self, node: usize) -> impl Iterator<Item = (u64, u64)> + Clone {
        let domain = self.domains.get(node).copied();
        let ranges = self.ranges.iter().filter(move |range| Some(range.domain) == domain);
        ranges.map(|range| (range.start, range.end))
    }

    fn number(&self, domain: u32) -> Option<usize> {
        self.domains.iter().position(|known| *known == domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwk_acpi::{Memory, Tables};
    use std::vec::Vec;

    /// Memory with tables at [`TABLES`].
    #[derive(Clone, Copy)]
    struct Flat<'m>(&'m [u8]);

    impl<'m> Memory<'m> for Flat<'m> {
        fn read(self, address: u64, bytes: usize) -> Option<&'m [u8]> {
            self.0.get(address as usize..)?.get(..bytes)
        }
    }

    const POINTER: u64 = 16;

    fn mend(bytes: &mut [u8], place: usize) {
        bytes[place] = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte));
    }

    /// Root pointer, short list, and an SRAT of these cores (number, domain) and this memory (start, bytes, domain).
    fn firmware(cores: &[(u8, u8)], memory: &[(u64, u64, u32)]) -> Vec<u8> {
        let mut entries = std::vec![0; 12];
        for (id, domain) in cores {
            entries.extend([0, 16, *domain, *id, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        for (start, bytes, domain) in memory {
            entries.extend([1, 40]);
            entries.extend(domain.to_le_bytes());
            entries.extend([0; 2]);
            entries.extend(start.to_le_bytes());
            entries.extend(bytes.to_le_bytes());
            entries.extend([0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        let table = |signature: &[u8; 4], body: &[u8]| {
            let mut bytes = signature.to_vec();
            bytes.extend((36 + body.len() as u32).to_le_bytes());
            bytes.extend([2; 28]);
            bytes.extend(body);
            bytes[9] = 0;
            mend(&mut bytes, 9);
            bytes
        };
        let list = 64u32;
        let mut content = std::vec![0; 16];
        let mut pointer = b"RSD PTR \0MARGAY\0".to_vec();
        pointer.extend(list.to_le_bytes());
        mend(&mut pointer, 8);
        content.extend(pointer);
        content.resize(list as usize, 0);
        content.extend(table(b"RSDT", &(list + 40).to_le_bytes()));
        content.extend(table(b"SRAT", &entries));
        content
    }

    fn nodes(content: &[u8]) -> MemoryNodes<'_> {
        let tables = Tables::new(Flat(content), POINTER).expect("the root is valid");
        MemoryNodes::new(Some(Affinity::new(tables.find(b"SRAT").expect("a table"))), Distances::default())
    }

    #[test]
    fn cores_and_memory_of_a_domain_are_a_node() {
        let content =
            firmware(&[(0, 5), (1, 5), (2, 3)], &[(0, 0x1000, 5), (0x1000, 0x1000, 5), (0x9000, 0x1000, 3)]);
        let nodes = nodes(&content);
        assert_eq!(nodes.count(), 2);
        assert_eq!([0, 1, 2, 3].map(|id| nodes.of_core(id)), [Some(0), Some(0), Some(1), None]);
        assert_eq!(nodes.memory(0).collect::<Vec<_>>(), [(0, 0x2000)], "ranges that touch are one");
        assert_eq!(nodes.nearest(1)[..], [1, 0]);
        assert_eq!([0x1fff, 0x2000, 0x9000].map(|at| nodes.of_memory(at)), [Some(0), None, Some(1)]);
    }

    #[test]
    fn a_node_without_memory_has_that_of_others_and_one_without_cores_is_last() {
        let content = firmware(&[(0, 0), (1, 1)], &[(0, 0x1000, 2), (0x1000, 0x1000, 0)]);
        let nodes = nodes(&content);
        assert_eq!(nodes.count(), 3);
        assert_eq!(nodes.nearest(0)[..], [0, 2]);
        assert_eq!(nodes.nearest(1)[..], [0, 2], "equally far ones in order");
        assert_eq!(nodes.memory(1).count(), 0);
        assert!(nodes.nearest(7).is_empty());
    }

    #[test]
    fn without_a_table_there_are_none() {
        let nodes = MemoryNodes::new(None, Distances::default());
        assert_eq!((nodes.count(), nodes.of_core(0), nodes.of_memory(0)), (0, None, None));
        assert!(nodes.nearest(0).is_empty());
    }
}
