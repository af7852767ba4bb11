//! Which files the ranks have open, so that deleting one that is answers `FILE_IN_USE` (MPI-5.0, section 14.2.3: whether an open file is
//! deleted is the library's to decide, and this is the class if it is not).
//!
//! Each rank has a word for each of its descriptors, which says what file it has open; who deletes looks at all ranks' words. A rank that
//! opens a file while another deletes it may be seen or not; who has heard that the file is open, or closed, sees it so. Only ranks within reach are
//! looked at: what only ranks of other nodes have open can be deleted.

use lwk_place::{WorldRank, world_rank_of};
use lwk_ring::Notes;
use lwk_user::abi::syscall::DESCRIPTORS_MAX;
use lwk_user::smartmap::{Shared, Symmetric, peers};

/// By descriptor: the number of the file with [`OPEN`], or 0.
struct Files(Notes<DESCRIPTORS_MAX>);

// SAFETY: atomics only, no addresses.
unsafe impl Shared for Files {}

static FILES: Symmetric<Files> = Symmetric::new(Files(Notes::new()));

/// Set in the word of an open file, whose number may be 0.
const OPEN: u64 = 1 << 63;

/// Says that this rank has a file open by that descriptor.
pub(super) fn opened(descriptor: u64, file: u64) {
    store(descriptor, OPEN | file);
}

/// Says that it has not any more.
pub(super) fn closed(descriptor: u64) {
    store(descriptor, 0);
}

fn store(descriptor: u64, word: u64) {
    if descriptor < DESCRIPTORS_MAX as u64 {
        FILES.here().0.set(descriptor as usize, word);
    }
}

/// Whether any rank that can be reached has that file open.
pub(super) fn is_open(file: u64, reaches: impl Fn(WorldRank) -> bool) -> bool {
    peers().filter(|peer| reaches(world_rank_of(*peer))).any(|peer| FILES.at(peer).get().0.have(OPEN | file))
}
