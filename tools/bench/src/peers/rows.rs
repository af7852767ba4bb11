//! The figures that are compared: what each is called, which way is better, its floor, and how far ahead of the best peer it should be.

use crate::peers::types;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

/// A target for the ratio to the best peer, for the two states of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub near: f64,
    pub far: f64,
}

/// One row: a figure that all programs print.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What the program calls it.
    pub name: &'static str,
    pub what: &'static str,
    pub unit: &'static str,
    pub better: Better,
    pub target: Option<Target>,
    /// The figure that is its physical limit, and by how much to multiply it to have the row's unit; a bandwidth's is a time of a
    /// copy, of so many bytes.
    pub floor: Option<Floor>,
    /// The part of the physical limit to be reached.
    pub of_floor: Option<f64>,
}

/// A physical limit, by the name of the figure that measures it.
#[derive(Clone, Copy, Debug)]
pub enum Floor {
    /// So many times that time.
    Time(&'static str, f64),
    /// That time is for so many bytes: as a bandwidth in GB/s.
    Copy(&'static str, f64),
}

pub(super) const fn both(near: f64, far: f64) -> Option<Target> {
    Some(Target { near, far })
}

const fn time(name: &'static str, what: &'static str, target: Option<Target>, floor: &'static str) -> Row {
    let floor = Some(Floor::Time(floor, 1.0));
    Row { name, what, unit: "us", better: Better::Less, target, floor, of_floor: None }
}

const fn without_limit(name: &'static str, what: &'static str, target: f64) -> Row {
    Row { floor: None, ..time(name, what, both(target, target), LINE) }
}

const fn bandwidth(
    name: &'static str,
    what: &'static str,
    target: f64,
    floor: &'static str,
    bytes: f64,
) -> Row {
    let (target, floor) = (both(target, target), Some(Floor::Copy(floor, bytes)));
    Row { name, what, unit: "GB/s", better: Better::More, target, floor, of_floor: Some(OF_COPY) }
}

/// A line handed over, in microseconds, measured before and after every figure; also what tells the machine's state.
pub const LINE: &str = "line_us";

const KIB: f64 = 1024.0;
/// The part of a copy's bandwidth that windows of messages should reach, and the part of a line's time that a store and a wait should.
const OF_COPY: f64 = 0.95;
const OF_LINE: f64 = 1.0 / 1.05;

/// All rows, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(types::rows())
}

/// The rows that are measured if none is named.
pub static ROWS: [Row; 27] = [
    time("latency_0_us", "half round trip, 0 B", both(1.6, 1.25), LINE),
    time("latency_8_us", "half round trip, 8 B", both(1.6, 1.25), LINE),
    time("latency_64k_us", "half round trip, 64 KiB, rewritten each time", both(1.5, 1.5), "copy_64k_us"),
    time("latency_4m_us", "half round trip, 4 MiB", both(1.5, 1.5), "copy_4m_us"),
    Row {
        name: "rate_8_mps",
        what: "8-byte messages",
        unit: "M/s",
        better: Better::More,
        target: both(2.5, 1.8),
        floor: None,
        of_floor: None,
    },
    bandwidth("bw_8k_gbs", "windows of 64 messages, 8 KiB", 2.2, "copy_again_8k_us", 8.0 * KIB),
    bandwidth("bw_64k_gbs", "windows of 64 messages, 64 KiB", 1.9, "copy_again_64k_us", 64.0 * KIB),
    bandwidth("bw_1m_gbs", "windows of 64 messages, 1 MiB", 1.4, "copy_again_1m_us", KIB * KIB),
    time("barrier_us", "barrier", both(2.2, 1.5), LINE),
    without_limit("bcast_8_us", "bcast, 8 B", 1.5),
    time("bcast_64k_us", "bcast, 64 KiB", both(1.9, 1.9), "copy_again_64k_us"),
    without_limit("reduce_8_us", "reduce, 8 B", 1.5),
    time("reduce_64k_us", "reduce, 64 KiB", both(2.0, 2.0), "copy_again_64k_us"),
    time("reduce_1m_us", "reduce, 1 MiB", both(1.8, 1.8), "copy_again_1m_us"),
    time("allreduce_8_us", "allreduce, 8 B", both(1.8, 1.35), LINE),
    time("allreduce_64k_us", "allreduce, 64 KiB", both(2.4, 2.4), "copy_again_64k_us"),
    time("allreduce_1m_us", "allreduce, 1 MiB", both(2.0, 2.0), "copy_again_1m_us"),
    time("alltoall_8_us", "alltoall, 8 B", both(1.5, 1.5), LINE),
    // Each rank has two parts to copy, its own and the other's.
    Row {
        floor: Some(Floor::Time("copy_again_64k_us", 2.0)),
        ..time("alltoall_64k_us", "alltoall, 64 KiB", both(2.0, 2.0), LINE)
    },
    time("put_fence_8_us", "put with fence, 8 B", both(2.0, 2.0), LINE),
    // Nobody waits for these, or for the two above that have a root: a line there and back is not their limit.
    without_limit("put_flush_8_us", "put with flush, 8 B", 1.0),
    without_limit("get_flush_8_us", "get with flush, 8 B", 1.0),
    Row {
        of_floor: Some(OF_LINE),
        ..time("shmem_p_wait_us", "SHMEM: p with wait_until, 8 B, one way", None, LINE)
    },
    without_limit("shmem_put_quiet_us", "SHMEM: put with quiet, 8 B", 1.5),
    time("shmem_barrier_us", "SHMEM: barrier_all", both(2.0, 2.0), LINE),
    time("shmem_sum_8_us", "SHMEM: sum, 8 B", both(1.8, 1.8), LINE),
    time("shmem_sum_64k_us", "SHMEM: sum, 64 KiB", both(6.0, 6.0), "copy_again_64k_us"),
];

impl Row {
    /// Whether OpenSHMEM's program measures it.
    pub fn is_shmem(&self) -> bool {
        self.name.starts_with("shmem_")
    }

    /// Whether the program of datatypes measures it.
    pub fn is_types(&self) -> bool {
        self.name.starts_with(types::PREFIX)
    }

    /// Whether it is asked for: its name begins with one of these, or there are none. Those of datatypes, of which there are hundreds, must be asked for.
    pub fn is_wanted(&self, figures: &[String]) -> bool {
        figures.is_empty() && !self.is_types()
            || figures.iter().any(|figure| self.name.starts_with(figure.as_str()))
    }

    /// How many times better `ours` is than `theirs`.
    pub fn ratio(&self, ours: f64, theirs: f64) -> f64 {
        match self.better {
            Better::Less => theirs / ours,
            Better::More => ours / theirs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_above_one_is_better_whichever_way_that_is() {
        let (time, rate) = (&ROWS[0], &ROWS[4]);
        assert_eq!((time.ratio(1.0, 2.0), rate.ratio(4.0, 2.0)), (2.0, 2.0));
    }
}
