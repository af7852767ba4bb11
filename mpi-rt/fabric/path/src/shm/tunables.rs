//! The sizes of the shared-memory transports, from the environment; the defaults are the dissertation's.

use crate::setting::Bad;
use alloc::format;
use core::ops::RangeInclusive;
use lwk_shm::BLOCK;
use lwk_user::abi::runtime::{HYBRID_ABOVE, HYBRID_MOST};

/// Sizes, in bytes if not said otherwise; those of memory are multiples of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunables {
    /// `MARGAY_SHM_BASIC_BUFFER`: one FIFO of `shm-basic` (section 3.2.3: 1 MB by default).
    pub basic_buffer: usize,
    /// `MARGAY_SHM_BASIC_CHUNK`: bytes of a rendezvous that are handed over at a time. The dissertation names none.
    pub basic_chunk: usize,
    /// `MARGAY_SHM_RECEIVE_BUFFER`: one receive buffer of `shm-advanced` (section 3.2.1).
    pub receive_buffer: usize,
    /// `MARGAY_SHM_CELL`: one cell of its send buffer pool (section 3.2.1).
    pub cell: usize,
    /// `MARGAY_SHM_CELLS`: cells of the pool, a number (section 3.2.1).
    pub cells: usize,
    /// `MARGAY_SHM_SMALL`: messages up to this many bytes go through the receive buffer. The dissertation names none.
    pub small: usize,
    /// `MARGAY_SHM_PACKETS`: cells that one control message names at most, a number; to be found by experiment (section 3.2.4).
    pub packets: usize,
    /// `MARGAY_SHM_KERNEL_ABOVE`: messages of more bytes are copied by the kernel with `limic2` (section 4.3.1: 4 KB).
    pub kernel_above: usize,
    /// `MARGAY_SHM_HYBRID_CACHE`, `_PACKAGE`, `_NODE`: the same with `hybrid`, for a peer with a cache in common, on the same package, and elsewhere on the node
    /// (section 6.3.1: 32, 2 and 1 KB).
    pub hybrid_above: [usize; 3],
    /// `MARGAY_SHM_SKEW_ABOVE`: the least of these while the peer is late: "medium messages"; 0 switches at no time. Not measured: four of figure 6.6's messages, a 16th of
    /// a FIFO.
    pub skew_above: usize,
    /// `MARGAY_SHM_ENGINE_ABOVE`: messages of more bytes are copied by a worker with `mcni`, by a copy engine with `mci` and `sci` (section 5.3: 32 KB).
    pub engine_above: usize,
}

/// The variables.
pub const VARIABLES: [&str; 13] = [
    "MARGAY_SHM_BASIC_BUFFER",
    "MARGAY_SHM_BASIC_CHUNK",
    "MARGAY_SHM_RECEIVE_BUFFER",
    "MARGAY_SHM_CELL",
    "MARGAY_SHM_CELLS",
    "MARGAY_SHM_SMALL",
    "MARGAY_SHM_PACKETS",
    "MARGAY_SHM_KERNEL_ABOVE",
    HYBRID_ABOVE[0],
    HYBRID_ABOVE[1],
    HYBRID_ABOVE[2],
    "MARGAY_SHM_SKEW_ABOVE",
    "MARGAY_SHM_ENGINE_ABOVE",
];
/// How they begin.
pub const PREFIX: &str = "MARGAY_SHM_";

impl Default for Tunables {
    fn default() -> Tunables {
        Tunables {
            basic_buffer: 1 << 20,
            basic_chunk: 32 << 10,
            receive_buffer: 32 << 10,
            cell: 8 << 10,
            cells: 128,
            small: 2 << 10,
            packets: 4,
            kernel_above: 4 << 10,
            hybrid_above: [32 << 10, 2 << 10, 1 << 10],
            skew_above: 64 << 10,
            engine_above: 32 << 10,
        }
    }
}

impl Tunables {
    /// Reads the environment by a function that finds a variable. Errors: what is wrong, in one line.
    pub fn from_environment(find: impl Fn(&str) -> Option<&'static str>) -> Result<Tunables, Bad> {
        let mut it = Tunables::default();
        let memory = 4096..=256 << 20;
        let [cache, package, node] = &mut it.hybrid_above;
        // In the order of the variables.
        let all: [(&mut usize, RangeInclusive<usize>, usize); 13] = [
            (&mut it.basic_buffer, memory.clone(), BLOCK),
            (&mut it.basic_chunk, 64..=256 << 20, 1),
            (&mut it.receive_buffer, memory, BLOCK),
            (&mut it.cell, 64..=16 << 20, BLOCK),
            (&mut it.cells, 2..=1 << 20, 1),
            (&mut it.small, 0..=256 << 20, 1),
            (&mut it.packets, 1..=super::packet::CELLS_MAX, 1),
            (&mut it.kernel_above, 0..=256 << 20, 1),
            (cache, 0..=HYBRID_MOST as usize, 1),
            (package, 0..=HYBRID_MOST as usize, 1),
            (node, 0..=HYBRID_MOST as usize, 1),
            (&mut it.skew_above, 0..=HYBRID_MOST as usize, 1),
            (&mut it.engine_above, 0..=256 << 20, 1),
        ];
        for (name, (value, range, multiple)) in VARIABLES.into_iter().zip(all) {
            let Some(text) = find(name) else { continue };
            match size(text).filter(|size| range.contains(size) && size.is_multiple_of(multiple)) {
                Some(size) => *value = size,
                None => {
                    let (low, high) = (range.start(), range.end());
                    let of = if multiple > 1 { format!(", a multiple of {multiple}") } else { "".into() };
                    return Err(Bad(format!("{name}={text}: give a number from {low} to {high}{of}")));
                }
            }
        }
        // A chunk and a request behind it fit the buffer, and so does a small message.
        it.basic_chunk = it.basic_chunk.min(it.basic_buffer / 2);
        it.small = it.small.min(it.receive_buffer / 2);
        Ok(it)
    }
}

/// A number, with `k` or `m` behind it if you like.
fn size(text: &str) -> Option<usize> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => (&text[..text.len() - 1], 10),
        b'm' => (&text[..text.len() - 1], 20),
        _ => (text, 0),
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> Result<Tunables, Bad> {
        Tunables::from_environment(|wanted| (wanted == name).then_some(value))
    }

    #[test]
    fn the_defaults_are_the_dissertations() {
        let it = Tunables::from_environment(|_| None).unwrap();
        assert_eq!(it, Tunables::default());
        assert_eq!(
            (it.basic_buffer, it.receive_buffer, it.cell, it.cells),
            (1 << 20, 32 << 10, 8 << 10, 128)
        );
    }

    #[test]
    fn sizes_are_read_and_kept_possible() {
        assert_eq!(with("MARGAY_SHM_CELL", "16k").unwrap().cell, 16 << 10);
        assert_eq!(with("MARGAY_SHM_CELLS", "7").unwrap().cells, 7);
        let small = with("MARGAY_SHM_BASIC_BUFFER", "8192").unwrap();
        assert_eq!((small.basic_buffer, small.basic_chunk), (8192, 4096));
        assert_eq!(with("MARGAY_SHM_SMALL", "1m").unwrap().small, 16 << 10);
    }

    #[test]
    fn what_is_no_size_is_told_with_its_name() {
        for text in ["", "k", "-1", "x", "65", "99999999m", "18446744073709551615k"] {
            let Bad(line) = with("MARGAY_SHM_CELL", text).unwrap_err();
            assert!(line.starts_with(&format!("MARGAY_SHM_CELL={text}: ")), "{line}");
        }
        assert!(with("MARGAY_SHM_PACKETS", "0").is_err());
        assert!(with("MARGAY_SHM_PACKETS", "1000").is_err());
    }
}
