//! The table of thresholds: from which size on what moves bytes, for both runtimes. Nothing else decides by a size of its own.
//!
//! "far" and "near" cores are those without and with a common second-level cache; the machines are those of docs/measurements. Sizes that the
//! form of a line or a cell gives stand with the line: they follow from a layout and cannot be tuned. What walks a datatype's blocks
//! (`lwk-datatype`) decides by the blocks, and the dissertation's paths by its numbers (`MARGAY_SHM_…`).

use core::ops::RangeInclusive;

// Copies within a rank's reach.

/// Up to this many bytes are copied by a few overlapping words, without a loop. Measured with TWO_STRETCHES.
pub const FEW: usize = 64;
/// Up to this many by two stretches of 64 that overlap. Measured with `shmem-bench put_latency` of 16 to 128 bytes: 12 ns through a loop, 7 ns so.
pub const TWO_STRETCHES: usize = 128;
/// From this size on the string instruction copies where the processor says that it is quick. Measured with `shmem-bench put_bw` on a server processor of 2.7 GHz: 16 KiB move at 219 GB/s
/// by vectors of 64 bytes and at 214 by the string instruction, 32 KiB at 45 and 49. Measured by MPI's alltoall of two ranks: 64 to 256 KiB for each
/// take 0.93 of the loop's time, 0.75 at 64 KiB if the owners have just used their buffers; below, no difference.
pub const STRING_FROM: usize = 32 << 10;
/// Bytes that a reduction takes at a time: what one source leaves in the first-level cache serves the next. Not measured: an eighth of the usual cache.
pub const REDUCED_AT_A_TIME: usize = 4 << 10;

// Messages.

/// Messages up to this many bytes travel in `smartmap`'s cells. Measured on two far cores: half a round trip of 256 bytes takes 0.30 us
/// through the ring and 0.26 us by single copy; windows of 512 bytes pass at 3.4 GB/s through the ring, of 2 KiB at 19 GB/s by single copy,
/// since the ring's lines must be fetched for writing one after another.
pub const EAGER_LIMIT: usize = 256;
/// Messages up to this many bytes are put to another node with their content; longer ones are fetched, which takes a round trip more and a copy less. Not
/// measured: 16 of them fill what a sender has for them.
pub const PUT_LIMIT: usize = 8 << 10;
/// Messages of so many bytes belong to the table of paths' second class. Not measured: both classes go by one path but in tests.
pub const LONG_FROM: usize = 1 << 10;
/// Messages of so many bytes that stay at the sender are received by the call that begins their receive, if they are there. Longer ones
/// would take it too long, and waiting for them is done with the sender's help. With shorter ones the receiver would keep so close behind
/// the sender that each waits for the other's lines. Measured with windows of 64 between far cores: 8 KiB 150 ns a message instead of 164,
/// 2 KiB 105 instead of 94, 8 B 39 instead of 29.
pub const AT_ONCE: RangeInclusive<usize> = 4 << 10..=32 << 10;
/// A standard send up to this many bytes is copied at the sender if its receiver does not come. Not measured: copying longer ones takes longer than
/// most waits.
pub const AHEAD_LIMIT: usize = 16 << 10;
/// Content for one peer that is copied so at a time, at most. Not measured: four of the longest.
pub const AHEAD_OF_ONE_PEER: usize = 64 << 10;
/// Content from this size on is copied by both ranks of a message. Measured in a prototype of
/// two ranks: halves lose below 16 KiB, gain from 64 KiB.
pub const HELP_FROM: usize = 64 << 10;
/// Bytes that one of the two takes at a time. Measured with `HELP_FROM`.
pub const HELPED_AT_A_TIME: usize = 32 << 10;

// Updates of windows' elements.

/// From so many words on an update takes the target's lock and goes through the reductions' loops instead of by one locked instruction a word. Measured
/// between far cores, with a flush: 2 words take 50 ns by instructions and 26 under the lock.
pub const BULK_ELEMENTS: usize = 2;
/// Bytes of words that are updated under the lock at a time, so that others wait no longer. Not measured: what takes about a microsecond.
pub const BULK_BYTES: usize = 16 << 10;

// Collectives.

/// MPI's broadcast to one: from this size on both ranks copy a half. Measured as [`HELP_FROM`], which it is.
pub const HALVES_FROM: usize = HELP_FROM;
/// OpenSHMEM's broadcast: from this size on the root copies its share. Measured in a prototype: both cores copying lose below 16 KiB, since a second signal
/// costs more than it saves.
pub const ROOT_HELPS_FROM: usize = 16 << 10;
/// MPI's allreduce: contributions up to this many bytes are told to all instead of posted: a KiB, and what is left of the lines that it and a word
/// take. Measured on far cores with contributions just written: 512 B and 1 KiB take 0.65 and 0.7 of the time of shares.
pub const TOLD_LIMIT: usize = 1080;
/// Alltoall between neighbours with parts that differ: groups of at most so many ranks tell all, in larger ones only neighbours wait for each other. Not
/// measured: neighbours in a grid of three dimensions, and as many again.
pub const NEIGHBOURS_TELL_UP_TO: u32 = 12;
/// MPI's gather with parts that differ, of more than two ranks: parts of so many bytes are copied by their leaves, shorter ones by the root. Not measured: a copy
/// takes longer than the way there and back that it costs.
pub const LEAVES_COPY_FROM: usize = 16 << 10;
