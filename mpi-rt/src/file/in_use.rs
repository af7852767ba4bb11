//! Which files the ranks have open, so that deleting one that is answers `FILE_IN_USE` (MPI-5.0, section 14.2.3: whether an open file is
//! deleted is the library's to decide, and this is the class if it is not).
//!
//! Each rank has a word for each of its descriptors, which says what file it has open; who deletes looks at all ranks' words. A rank that
//! opens a file while another deletes it may be seen or not; who has heard that the file is open, or closed, sees it so.

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_user::abi::syscall::DESCRIPTORS_MAX;
use lwk_user::smartmap::{Symmetric, peers};

/// By descriptor: the number of the file with [`OPEN`], or 0.
static FILES: Symmetric<[AtomicU64; DESCRIPTORS_MAX]> =
    Symmetric::new([const { AtomicU64::new(0) }; DESCRIPTORS_MAX]);

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
    if let Some(place) = FILES.here().get(descriptor as usize) {
        // Relaxed: the word is all there is, and who must see it has been told by a message.
        place.store(word, Ordering::Relaxed);
    }
}

/// Whether any rank of the node has that file open.
pub(super) fn is_open(file: u64) -> bool {
    // Relaxed: as in `store`.
    let by = |place: &AtomicU64| place.load(Ordering::Relaxed) == OPEN | file;
    peers().any(|peer| FILES.at(peer).get().iter().any(by))
}
