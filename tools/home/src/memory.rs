//! How much memory this machine can still give, and whether it has run out.

use std::fs;

use nix::sys::resource::{Resource, getrlimit};

use crate::pages::HUGE_BYTES;

/// Bytes that the system (`MemAvailable`, proc(5)) and the control group (cgroup v2, `memory.max`) can still give, the smaller of the two,
/// reserved huge pages aside; nothing if neither says.
pub fn available_bytes() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| by_system(&text));
    let read = |name| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let group = by_group(read("memory.max"), read("memory.current"), read("memory.stat"));
    system.into_iter().chain(group).min()
}

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

fn by_system(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

/// What a group uses has the pages of files that it has read and written, which Linux takes back when memory is asked for: a build in a
/// container fills its limit with them.
fn by_group(most: Option<String>, used: Option<String>, parts: Option<String>) -> Option<u64> {
    let number = |text: String| text.trim().parse::<u64>().ok();
    let (most, used) = (number(most?)?, number(used?)?);
    let parts = parts.unwrap_or_default();
    let part = |name: &str| {
        let value = parts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.parse::<u64>().ok()).unwrap_or(0)
    };
    let comes_back = part("inactive_file") + part("active_file") + part("slab_reclaimable");
    Some(most.saturating_sub(used.saturating_sub(comes_back)))
}

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

    #[test]
    fn meminfo_is_read_in_kib() {
        assert_eq!(by_system("MemTotal: 9 kB\nMemAvailable:   2048000 kB\n"), Some(2_048_000 << 10));
        assert_eq!(by_system("nothing"), None);
    }

    #[test]
    fn the_pages_of_files_come_back() {
        let group = |most: &str, used: &str, parts: &str| {
            by_group(Some(most.into()), Some(used.into()), Some(parts.into()))
        };
        let parts = "anon 100\nfile 700\ninactive_file 500\nactive_file 200\nslab_reclaimable 50\n";
        assert_eq!(group("1000\n", "990\n", parts), Some(760));
        assert_eq!(group("1000", "990", ""), Some(10));
        assert_eq!(group("1000", "1200", ""), Some(0));
        assert_eq!(group("max", "990", parts), None);
        assert_eq!(by_group(None, None, None), None);
    }
}
