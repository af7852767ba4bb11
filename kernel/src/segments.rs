//! Memory for the ranks' segments: near their cores, and where large pages can map it.

use arrayvec::ArrayVec;
use lwk_abi::address::MAX_RANKS;
use lwk_mm::layout::Layout;
use lwk_topology::MemoryNodes;

use crate::arch::features::features;
use crate::core_local;
use crate::job::Job;
use crate::memory;
use crate::user_memory::FreshFrames;

const MIB2: u64 = 2 << 20;
const GIB: u64 = 1 << 30;

pub type Segments = ArrayVec<FreshFrames, MAX_RANKS>;

/// Memory for a segment of this layout for each rank of `job`. Each lies in the memory nearest to its rank's core if there is room for all there; else some
/// lie as near as can be, and a warning says how many. Physical addresses are congruent to the virtual ones modulo 1 GiB where a segment
/// can hold such a page and that wastes too little to matter, else modulo 2 MiB. None if they do not fit at all.
pub fn allocate(job: &Job, layout: &Layout, nodes: &MemoryNodes<'_>) -> Option<Segments> {
    let gigabyte = (features().gigabyte_pages && layout.segment_bytes >= 2 * GIB).then_some(GIB);
    let aligns = || gigabyte.into_iter().chain([MIB2]);
    let all = |align, anywhere| allocate_all(job, layout, nodes, align, anywhere);
    if let Some(segments) = aligns().find_map(|align| all(align, false)) {
        return Some(segments);
    }
    let segments = aligns().find_map(|align| all(align, true))?;
    let is_far = |(number, segment): &(usize, &FreshFrames)| {
        let nearest = node_of_rank(job, *number, nodes).and_then(|node| nodes.nearest(node).first().copied());
        nearest.is_some() && nearest != nodes.of_memory(segment.start().as_u64())
    };
    let far = segments.iter().enumerate().filter(is_far).count();
    if far > 0 {
        log::warn!(
            "segments that are not in the memory nearest to their cores, since it is too small: {far}"
        );
    }
    Some(segments)
}

/// The memory node of the core of a rank, if the firmware tells.
pub fn node_of_rank(job: &Job, number: usize, nodes: &MemoryNodes<'_>) -> Option<usize> {
    nodes.of_core(core_local::core(job.core_of(number))?.block().controller_id())
}

fn allocate_all(
    job: &Job,
    layout: &Layout,
    nodes: &MemoryNodes<'_>,
    align: u64,
    anywhere: bool,
) -> Option<Segments> {
    let mut segments = Segments::new();
    for number in 0..job.size() {
        match allocate_near(node_of_rank(job, number, nodes), layout, nodes, align, anywhere) {
            Some(segment) => segments.push(segment),
            None => {
                segments.into_iter().for_each(memory::release_segment);
                return None;
            }
        }
    }
    Some(segments)
}

/// One segment in the memory nearest to `node`; with `anywhere`, in the nearest that has room.
fn allocate_near(
    node: Option<usize>,
    layout: &Layout,
    nodes: &MemoryNodes<'_>,
    align: u64,
    anywhere: bool,
) -> Option<FreshFrames> {
    let (bytes, residue) = (layout.segment_bytes, layout.segment_start % align);
    let nearest = node.map(|node| nodes.nearest(node)).unwrap_or_default();
    let candidates = if anywhere { &nearest[..] } else { &nearest[..nearest.len().min(1)] };
    let near = candidates
        .iter()
        .find_map(|node| memory::allocate_segment_inside(bytes, align, residue, nodes.memory(*node)));
    // Where the firmware says nothing of this core, all memory is equally near.
    let all_the_same = anywhere || nearest.is_empty();
    near.or_else(|| all_the_same.then(|| memory::allocate_segment(bytes, align, residue)).flatten())
}
