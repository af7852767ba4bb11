//! A copy that a rank orders and a worker or a copy engine makes.

use lwk_abi::limic::DONE;

use crate::Told;

/// A copy in memory of the rank that orders it ([`lwk_abi::engine::Copy`]).
#[repr(C)]
#[derive(Debug, Default)]
pub struct Copy {
    pub(crate) state: Told,
    pub(crate) from: Told,
    pub(crate) to: Told,
    pub(crate) bytes: Told,
}

#[cfg(not(all(test, feature = "loom")))]
const _: () = assert!(size_of::<Copy>() == size_of::<lwk_abi::engine::Copy>() && lwk_abi::limic::WAITS == 0);

impl Copy {
    lwk_primitive::made! {
        /// One that has not been ordered.
        pub fn new() -> Copy {
            Copy { state: Told::new(), from: Told::new(), to: Told::new(), bytes: Told::new() }
        }
    }

    /// Says what is to be copied. Nobody else has it now; the system call that orders it comes behind.
    pub fn set(&self, from: u64, to: u64, bytes: u64) {
        self.from.set(from);
        self.to.set(to);
        self.bytes.set(bytes);
    }

    /// Whether it is done: then the bytes are there.
    pub fn is_done(&self) -> bool {
        self.state.look() == DONE
    }

    /// Where it is, for the system.
    pub fn address(&self) -> u64 {
        self.state.address()
    }
}
