//! What the loops of `apps/c/bench/noise.h` have seen: read from what the programs print, and summed up.

use std::collections::BTreeMap;

/// Detours from this length on are what a kernel is judged by: a microsecond.
pub const LONG_NS: f64 = 1000.0;

/// What one core has seen, in ticks of the time stamp counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// The shortest gap between two readings of the clock.
    pub shortest: u64,
    pub gaps: u64,
    /// How long the last loop ran.
    pub elapsed: u64,
    /// Detours, those that had no room among them.
    pub detours: u64,
    /// Start and length.
    pub noted: Vec<(u64, u64)>,
    /// Times of equal work.
    pub work: Vec<u64>,
    /// Work done in equal times.
    pub time: Vec<u64>,
}

/// Reads the lines `core`, `detour`, `work` and `time`; any other is skipped. Numbers are decimal, or hexadecimal with `0x`.
///
/// # Errors
/// A line that is cut short or has no number where one belongs; no core at all.
pub fn read(text: &str) -> Result<Vec<Core>, String> {
    let mut cores: BTreeMap<u64, Core> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let kind = words.next().unwrap_or_default();
        let wanted = match kind {
            "core" => 5..=5,
            "detour" => 3..=3,
            "work" | "time" => 2..=usize::MAX,
            _ => continue,
        };
        let numbers: Vec<u64> = words.map_while(number).collect();
        let (&[core], rest) = numbers.split_at(numbers.len().min(1)) else {
            return Err(format!("no core in `{line}`"));
        };
        if !wanted.contains(&numbers.len())
            || number(line.split_ascii_whitespace().next_back().unwrap_or_default()).is_none()
        {
            return Err(format!("`{line}` is cut short"));
        }
        let core = cores.entry(core).or_default();
        match (kind, rest) {
            ("core", &[shortest, gaps, elapsed, detours]) => {
                *core = Core { shortest, gaps, elapsed, detours, ..std::mem::take(core) };
            }
            ("detour", &[start, length]) => core.noted.push((start, length)),
            ("work", ticks) => core.work.extend(ticks),
            (_, done) => core.time.extend(done),
        }
    }
    let whole = |core: &Core| core.elapsed > 0 && !core.work.is_empty() && !core.time.is_empty();
    if cores.is_empty() || !cores.values().all(whole) {
        return Err("a core has not told all that it saw".into());
    }
    Ok(cores.into_values().collect())
}

fn number(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The sum of all cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Detours of [`LONG_NS`] and more, a second of one core.
    pub long_a_second: f64,
    pub longest_us: f64,
    /// Part of the time that detours took, long ones or not.
    pub stolen_percent: f64,
    /// By how much the median, and the longest, of equal pieces of work took longer than the shortest.
    pub work_median_percent: f64,
    pub work_longest_percent: f64,
    /// By how much the least work done in equal times is below the most.
    pub time_least_percent: f64,
}

/// Sums up; `hz` is the counter's frequency.
pub fn summary(cores: &[Core], hz: f64) -> Summary {
    let seconds: f64 = cores.iter().map(|core| core.elapsed as f64 / hz).sum();
    let lengths = || cores.iter().flat_map(|core| core.noted.iter().map(|(_, length)| *length as f64 / hz));
    let over = |core: &Core, part: fn(&[u64]) -> f64| (part(&core.work) / least(&core.work) - 1.0) * 100.0;
    let worst = |of: &dyn Fn(&Core) -> f64| cores.iter().map(of).fold(0.0, f64::max);
    Summary {
        long_a_second: lengths().filter(|length| *length * 1e9 >= LONG_NS).count() as f64 / seconds,
        longest_us: lengths().fold(0.0, f64::max) * 1e6,
        stolen_percent: lengths().fold(0.0, |sum, length| sum + length) / seconds * 100.0,
        work_median_percent: worst(&|core| over(core, median)),
        work_longest_percent: worst(&|core| over(core, most)),
        time_least_percent: worst(&|core| (1.0 - least(&core.time) / most(&core.time)) * 100.0),
    }
}

fn least(values: &[u64]) -> f64 {
    values.iter().min().map_or(1.0, |value| (*value).max(1) as f64)
}

fn most(values: &[u64]) -> f64 {
    values.iter().max().map_or(1.0, |value| (*value).max(1) as f64)
}

fn median(values: &[u64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).map_or(1.0, |value| *value as f64)
}

/// Detours by length: the lower end of each class of powers of two, in nanoseconds, and how many a second of one core it holds. Empty classes are left out.
pub fn histogram(cores: &[Core], hz: f64) -> Vec<(f64, f64)> {
    let seconds: f64 = cores.iter().map(|core| core.elapsed as f64 / hz).sum();
    let mut classes: BTreeMap<i32, f64> = BTreeMap::new();
    for (_, length) in cores.iter().flat_map(|core| &core.noted) {
        let nanoseconds = (*length as f64 / hz * 1e9).max(1.0);
        *classes.entry(nanoseconds.log2().floor() as i32).or_default() += 1.0 / seconds;
    }
    classes.into_iter().map(|(class, count)| (2f64.powi(class), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HZ: f64 = 1e9;

    fn text() -> String {
        let ends = |core: u32| format!("work {core} 100 100\nwork {core} 150\ntime {core} 8 10\n");
        format!(
            "core 0 10 1000 1000000000 3\ndetour 0 5 999\ndetour 0 9 1000\ndetour 0 20 4000\n{}margay: hello\n@hz 1e9\ncore 0x1 0xa 0x1 0x3b9aca00 0x0\n{}",
            ends(0),
            ends(1)
        )
    }

    #[test]
    fn cores_are_read_in_both_notations() {
        let cores = read(&text()).unwrap();
        assert_eq!(cores.len(), 2);
        assert_eq!(cores[0].noted, [(5, 999), (9, 1000), (20, 4000)]);
        assert_eq!((cores[1].shortest, cores[1].elapsed), (10, 1_000_000_000));
        assert_eq!(cores[1].work, [100, 100, 150]);
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        for wrong in ["", "core", "core 0 1 2 3", "detour 0 1", "core 0 1 2 x 4", "core 0 1 2 3 4"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        for (from, to) in [("time 1 8 10", "time 1"), ("time 1 8 10", "time 1 8 1x"), ("work 1 150", "work")]
        {
            assert!(read(&text().replace(from, to)).is_err(), "{to}");
        }
    }

    #[test]
    fn sums_are_of_all_cores() {
        let sum = summary(&read(&text()).unwrap(), HZ);
        assert_eq!(sum.long_a_second, 1.0, "two in two seconds: 999 ns are none");
        assert_eq!(sum.longest_us, 4.0);
        assert!((sum.stolen_percent - 5999.0 / 2e9 * 100.0).abs() < 1e-9);
        assert_eq!((sum.work_median_percent, sum.work_longest_percent), (0.0, 50.0));
        assert!((sum.time_least_percent - 20.0).abs() < 1e-9);
    }

    #[test]
    fn classes_are_powers_of_two() {
        let classes = histogram(&read(&text()).unwrap(), HZ);
        assert_eq!(classes, [(512.0, 1.0), (2048.0, 0.5)]);
    }
}
