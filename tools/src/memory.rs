//! How much memory a node gets, and whether the host has it.

use lwk_abi::job_file::FILE_SPACE_MIN;

use crate::failure::{Failure, Outcome};

/// Memory of a node beside its ranks' and the RAM disk, in MiB: the boot loader, the kernel and its tables.
const NODE_MIB: u64 = 64;
/// Cores that share one more MiB of that (128 KiB a core).
const CORES_PER_MIB: u64 = 8;
/// QEMU's own memory, in MiB, as it counts towards what the host must have.
const QEMU_MIB: u64 = 128;

/// The memory below 4 GiB of QEMU's q35 machine, in MiB: all of it up to 2816 MiB; with more than that only 2048, and
/// the rest from 4 GiB upward (QEMU, `pc_q35_init`).
const Q35_ALL_LOW_BELOW: u64 = 2816;
const Q35_LOW: u64 = 2048;

/// MiB of a segment from which the kernel maps it with pages of 1 GiB, if their alignment can be had.
const HUGE_FROM: u64 = 2048;
const GIB: u64 = 1024;

/// MiB for each rank of a node that is not told otherwise. Its kernel shares out what the node has free, and clears it: more would cost every
/// start time and this machine memory.
pub const DEFAULT_MIB: u64 = 128;

/// MiB that files may take in a node that is not told otherwise, whose ranks have `mib` each: what its kernel keeps back for them, an eighth of what is
/// free, but no less than [`FILE_SPACE_MIN`].
pub fn default_file_mib(ranks: u32, mib: u64) -> u64 {
    (u64::from(ranks).saturating_mul(mib) / 7).clamp(FILE_SPACE_MIN >> 20, 1024)
}

/// MiB of memory for a node with `ranks` ranks of `mib` each, `cores` cores and a RAM disk of `ramdisk` bytes.
///
/// A segment is physically contiguous, so none may straddle the hole below 4 GiB: where the memory is split, the upper
/// part holds as many whole segments as the lower cannot. `None` if no machine can have that much.
pub fn node_mib(ranks: u32, mib: u64, cores: u32, ramdisk: u64) -> Option<u64> {
    let ranks = u64::from(ranks);
    let own = NODE_MIB + u64::from(cores).div_ceil(CORES_PER_MIB) + ramdisk.div_ceil(1 << 20);
    let sum = ranks.checked_mul(mib)?.checked_add(own)?;
    if sum < Q35_ALL_LOW_BELOW {
        return Some(sum);
    }
    if mib >= HUGE_FROM {
        // All above 4 GiB, each at a distance of whole GiB from the next, and room to start at any of them.
        return Some(Q35_LOW + ranks.checked_mul(mib.checked_next_multiple_of(GIB)?)?.checked_add(GIB)?);
    }
    let low = Q35_LOW.saturating_sub(own).checked_div(mib).unwrap_or(0).min(ranks);
    Some(sum.max(Q35_LOW + (ranks - low) * mib))
}

/// Checks that the host can give a node `mib` MiB now, and QEMU its own; a host that does not tell passes. Errors: it cannot, which is wrong
/// use.
pub fn check_host(mib: u64) -> Outcome<()> {
    let Some(available) = lwk_machine::available_bytes().map(|bytes| bytes >> 20) else { return Ok(()) };
    if mib.saturating_add(QEMU_MIB) <= available {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the node needs {mib} MiB of memory, and this machine has {} MiB to give; ask for fewer ranks or a smaller --mem or --node-mem",
        available.saturating_sub(QEMU_MIB)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_what_the_kernel_keeps_back_for_them() {
        assert_eq!(
            (default_file_mib(1, 16), default_file_mib(4, 512), default_file_mib(255, 512)),
            (32, 292, 1024)
        );
    }

    #[test]
    fn small_nodes_get_what_they_use() {
        assert_eq!(node_mib(4, 128, 4, 3 << 20), Some(4 * 128 + 64 + 1 + 3));
        assert_eq!(node_mib(1, 2, 64, 1), Some(2 + 64 + 8 + 1));
    }

    #[test]
    fn segments_fit_on_either_side_of_the_hole() {
        // One rank of 1 GiB fits below 2 GiB beside the kernel, so three of four must fit above 4 GiB.
        assert_eq!(node_mib(4, 1024, 4, 0), Some(2048 + 3 * 1024));
        for ranks in 1..=64 {
            for mib in [2, 100, 1024, 1500, 4096] {
                let own = 64 + 8;
                let total = node_mib(ranks, mib, 64, 0).unwrap();
                let (low, high) =
                    if total < Q35_ALL_LOW_BELOW { (total, 0) } else { (Q35_LOW, total - Q35_LOW) };
                assert!((low - own) / mib + high / mib >= u64::from(ranks), "{ranks} ranks of {mib} MiB");
            }
        }
    }

    #[test]
    fn huge_segments_have_room_to_align() {
        assert_eq!(node_mib(2, 3072, 2, 0), Some(2048 + 2 * 3072 + 1024));
        assert_eq!(node_mib(2, 2500, 2, 0), Some(2048 + 2 * 3072 + 1024));
    }

    #[test]
    fn absurd_sizes_are_none_or_refused() {
        assert_eq!(node_mib(255, u64::MAX / 2, 255, 0), None);
        let refused = check_host(1 << 40).unwrap_err();
        assert!(refused.message.contains("this machine has") && refused.status == 2);
    }
}
