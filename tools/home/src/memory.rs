//! How much memory this machine can still give, and whether it has run out.

use std::fs;

use lwk_machine::available_bytes;
use nix::sys::resource::{Resource, getrlimit};

use crate::pages::HUGE_BYTES;

/// Bytes for each of `ranks` ranks that are not told otherwise: they share what this machine has free, or the huge pages that are reserved on it; 128 MiB at
/// least, which is taken as it is touched. `most` is the most that there can be.
pub fn default_bytes(ranks: u32, reserved: u64, most: u64) -> u64 {
    let whole = |bytes: u64| (bytes / u64::from(ranks)) & !(HUGE_BYTES - 1);
    let shared = if whole(reserved) >= LEAST { reserved } else { available_bytes().unwrap_or(0) };
    whole(shared).max(LEAST).min(most).min(allowed(ranks))
}

/// Bytes of a segment that this process's limits (`ulimit -f`, `-v`) allow: each of the ranks maps them all.
fn allowed(ranks: u32) -> u64 {
    // For what a process has besides, and what lies below a segment.
    const BESIDES: u64 = 64 << 20;
    let limit = |resource| getrlimit(resource).map_or(u64::MAX, |(soft, _)| soft).saturating_sub(BESIDES);
    let mapped = limit(Resource::RLIMIT_AS) / (u64::from(ranks) + 1);
    mapped.min(limit(Resource::RLIMIT_FSIZE)) & !(HUGE_BYTES - 1)
}

/// The least memory of a rank that is not told otherwise, in bytes.
const LEAST: u64 = 128 << 20;

/// Processes that Linux has killed so far because memory had run out, of the machine or of a control group (`oom_kill` of `/proc/vmstat`); 0 if it does
/// not say.
pub fn killed_for_memory() -> u64 {
    kills(&fs::read_to_string("/proc/vmstat").unwrap_or_default())
}

fn kills(vmstat: &str) -> u64 {
    let count = vmstat.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_what_is_free_or_reserved() {
        const GIB: u64 = 1 << 30;
        assert_eq!(default_bytes(4, GIB, u64::MAX), GIB / 4);
        assert_eq!(default_bytes(3, GIB, u64::MAX), 340 << 20, "whole huge pages");
        // Too little is reserved for any use of it.
        let free = default_bytes(2, 1 << 20, u64::MAX);
        assert!(free >= LEAST && free <= available_bytes().unwrap_or(0).max(LEAST), "{free}");
        let many = default_bytes(255, 0, 2 * LEAST);
        assert!((LEAST..=2 * LEAST).contains(&many), "{many}");
    }

    #[test]
    fn kills_are_counted_by_their_name() {
        assert_eq!(kills("drop_pagecache 9\noom_kill 3\noom_kill_x 4\n"), 3);
        assert_eq!(kills("oom_killer 5\n"), 0);
    }
}
