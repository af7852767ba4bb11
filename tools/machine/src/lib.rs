//! What the machine that runs the tools has to give, and how its debugger is told of a program: for the command, which boots nodes in an emulator, and
//! for the host home.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

/// Bytes that the system (`MemAvailable`, proc(5)) and the control group (cgroup v2, `memory.max`) can still give, the smaller of the two,
/// reserved huge pages aside; nothing if neither says.
pub fn available_bytes() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| by_system(&text));
    let read = |name| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let group = by_group(read("memory.max"), read("memory.current"), read("memory.stat"));
    system.into_iter().chain(group).min()
}

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

/// The command by which gdb finds a program's symbols; `bias` is what has been added to its addresses.
pub fn add_symbols(program: &Path, bias: u64) -> String {
    match bias {
        0 => format!("add-symbol-file {}", program.display()),
        bias => format!("add-symbol-file {} -o {bias:#x}", program.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
