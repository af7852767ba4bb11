//! Memory that system calls may write, between memory that they may not.

use lwk_user::smartmap::{Peer, Symmetric, remote_address};

/// Bytes that calls may write.
pub const SCRATCH_BYTES: usize = 4096;
/// Words of each canary.
const CANARY_WORDS: usize = 1024;
/// What the canaries hold.
const CANARY: u64 = 0x5ca1_ab1e_0ddb_a115;

#[repr(C, align(4096))]
struct Fenced {
    front: [u64; CANARY_WORDS],
    scratch: [u8; SCRATCH_BYTES],
    back: [u64; CANARY_WORDS],
}

static FENCED: Symmetric<Fenced> = Symmetric::new(Fenced {
    front: [CANARY; CANARY_WORDS],
    scratch: [0; SCRATCH_BYTES],
    back: [CANARY; CANARY_WORDS],
});

unsafe extern "C" {
    /// First byte of the program image; defined by the linker.
    static __executable_start: u8;
    /// First byte after the code; defined by the linker.
    static etext: u8;
}

/// Address of this rank's scratch.
pub fn own() -> u64 {
    // SAFETY: only computes the address of a field of a static.
    unsafe { &raw const (*FENCED.as_ptr()).scratch }.expose_provenance() as u64
}

/// Address of a peer's scratch.
pub fn of(peer: Peer) -> u64 {
    let own: *const u8 = core::ptr::with_exposed_provenance(own() as usize);
    remote_address(peer, own).addr() as u64
}

/// An address in the middle of the code.
pub fn code() -> u64 {
    let (start, end) = ((&raw const __executable_start).addr() as u64, (&raw const etext).addr() as u64);
    end - (end - start) / 4
}

/// Whether the canaries around this rank's scratch are as they were.
pub fn is_intact() -> bool {
    let fenced = FENCED.as_ptr();
    // SAFETY: nobody writes the canaries, or so it should be; volatile, because a kernel that breaks the rule does so behind
    // the compiler's back.
    let (front, back) = unsafe {
        ((&raw const (*fenced).front).read_volatile(), (&raw const (*fenced).back).read_volatile())
    };
    front.iter().chain(&back).all(|word| *word == CANARY)
}

/// A checksum of the program's code and constants (FNV-1a).
pub fn code_checksum() -> u64 {
    let start: *const u8 = &raw const __executable_start;
    let bytes = (&raw const etext).addr() - start.addr();
    (0..bytes).fold(0xcbf2_9ce4_8422_2325, |sum, offset| {
        // SAFETY: from the image's first byte to the end of its code everything is mapped and readable; volatile as above.
        let byte = unsafe { start.wrapping_add(offset).read_volatile() };
        (sum ^ byte as u64).wrapping_mul(0x100_0000_01b3)
    })
}
