//! Options of interfaces, portal-table entries, list entries and memory descriptors: words of structures and of calls, whose bits stand here. Bits that no name has
//! are refused.

use bitflags::bitflags;

/// [`EntryOptions::IOVEC`], [`DescriptorOptions::IOVEC`].
const IOVEC: u32 = 1 << 20;

bitflags! {
    /// Of a network interface; one of each pair.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct InterfaceOptions: u32 {
        const MATCHING = 1 << 0;
        const NO_MATCHING = 1 << 1;
        const LOGICAL = 1 << 2;
        const PHYSICAL = 1 << 3;
    }

    /// Of a portal-table entry.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TableOptions: u32 {
        const ONLY_USE_ONCE = 1 << 0;
        const ONLY_TRUNCATE = 1 << 1;
        /// A message for which there is no room disables the entry instead of being dropped.
        const FLOWCTRL = 1 << 2;
        /// It begins disabled.
        const ALLOC_DISABLED = 1 << 3;
        /// A hint that is not needed: exact bits are found by hash anyway, in the list's order.
        const MATCH_UNORDERED = 1 << 4;
    }

    /// Of a list entry.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct EntryOptions: u32 {
        const OP_PUT = 1 << 0;
        const OP_GET = 1 << 1;
        const USE_ONCE = 1 << 2;
        const ACK_DISABLE = 1 << 3;
        const UNEXPECTED_HDR_DISABLE = 1 << 4;
        const MANAGE_LOCAL = 1 << 5;
        const NO_TRUNCATE = 1 << 6;
        const MAY_ALIGN = 1 << 7;
        const EVENT_COMM_DISABLE = 1 << 8;
        const EVENT_FLOWCTRL_DISABLE = 1 << 9;
        const EVENT_SUCCESS_DISABLE = 1 << 10;
        const EVENT_OVER_DISABLE = 1 << 11;
        const EVENT_UNLINK_DISABLE = 1 << 12;
        const EVENT_LINK_DISABLE = 1 << 13;
        const EVENT_CT_COMM = 1 << 14;
        const EVENT_CT_OVERFLOW = 1 << 15;
        const EVENT_CT_BYTES = 1 << 16;
        /// An entry that manages its offset moves it by the bytes asked for of every unexpected message that it finds when it is appended.
        const LOCAL_INC_UH_RLENGTH = 1 << 17;
        /// All of its memory is the program's, as it must be anyway.
        const IS_ACCESSIBLE = 1 << 18;
        /// Margay's own: an entry that fetches what a put announces ([`super::ANNOUNCED`]). The descriptor of [`Entry::reserved`](super::Entry::reserved) gets it by a get of the kernel's,
        /// with the entry's `user`, and the put's event comes at once, `requested` being the bytes announced. Other puts go into its memory. It is appended only if all messages that have matched
        /// the overflow list are those that `min_free` counts, else [`IN_USE`](super::status::IN_USE). Where there is no room to get, the put goes on to the overflow list and `AUTO_UNLINK` tells
        /// that the entry is gone.
        const FETCH = 1 << 19;
        /// `start` and `bytes` are those of an array of vectors, each an address and a length; `bytes` is their number.
        const IOVEC = IOVEC;
    }

    /// Of a memory descriptor.
    #[repr(transparent)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DescriptorOptions: u32 {
        const EVENT_SUCCESS_DISABLE = 1 << 0;
        const EVENT_SEND_DISABLE = 1 << 1;
        const EVENT_CT_SEND = 1 << 2;
        const EVENT_CT_REPLY = 1 << 3;
        const EVENT_CT_ACK = 1 << 4;
        const EVENT_CT_BYTES = 1 << 5;
        const UNORDERED = 1 << 6;
        /// What is put may change as soon as the call has returned, up to [`Limits::volatile_bytes`](super::Limits::volatile_bytes).
        const VOLATILE = 1 << 7;
        /// Messages may get lost. None is.
        const UNRELIABLE = 1 << 8;
        /// As [`EntryOptions::IOVEC`].
        const IOVEC = IOVEC;
    }
}

impl EntryOptions {
    /// The options of an entry that fetches: all of these, and `IOVEC` if it likes.
    pub const FETCHES: EntryOptions = EntryOptions::FETCH
        .union(EntryOptions::OP_PUT)
        .union(EntryOptions::USE_ONCE)
        .union(EntryOptions::MANAGE_LOCAL)
        .union(EntryOptions::EVENT_LINK_DISABLE)
        .union(EntryOptions::EVENT_UNLINK_DISABLE);
}
