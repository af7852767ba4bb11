//! The reference's types (`include/portals4.h`).

use core::ffi::{c_int, c_uchar, c_uint, c_void};

pub type Handle = u32;

/// `ptl_process_t`: node and process, or rank and nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Rank or node.
    pub first: u32,
    pub pid: u32,
}

/// `ptl_ni_limits_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_entries: c_int,
    pub max_unexpected_headers: c_int,
    pub max_mds: c_int,
    pub max_cts: c_int,
    pub max_eqs: c_int,
    pub max_pt_index: c_int,
    pub max_iovecs: c_int,
    pub max_list_size: c_int,
    pub max_triggered_ops: c_int,
    pub max_msg_size: u64,
    pub max_atomic_size: u64,
    pub max_fetch_atomic_size: u64,
    pub max_waw_ordered_size: u64,
    pub max_war_ordered_size: u64,
    pub max_volatile_size: u64,
    pub features: c_uint,
}

/// `ptl_md_t`: the kernel's [`lwk_user::portals::abi::Descriptor`], whose last word is padding here.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    pub start: *mut c_void,
    pub length: u64,
    pub options: c_uint,
    pub eq_handle: Handle,
    pub ct_handle: Handle,
}

/// `ptl_le_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ListEntry {
    pub start: *mut c_void,
    pub length: u64,
    pub ct_handle: Handle,
    pub uid: u32,
    pub options: c_uint,
}

/// `ptl_me_t`: the kernel's [`lwk_user::portals::abi::Entry`] without its end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MatchEntry {
    pub start: *mut c_void,
    pub length: u64,
    pub ct_handle: Handle,
    pub uid: u32,
    pub options: c_uint,
    pub match_id: Process,
    pub match_bits: u64,
    pub ignore_bits: u64,
    pub min_free: u64,
}

/// `ptl_ct_event_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    pub success: u64,
    pub failure: u64,
}

/// `ptl_event_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub start: *mut c_void,
    pub user_ptr: *mut c_void,
    pub hdr_data: u64,
    pub match_bits: u64,
    pub rlength: u64,
    pub mlength: u64,
    pub remote_offset: u64,
    pub initiator: Process,
    pub uid: u32,
    pub pt_index: u32,
    pub kind: c_uchar,
    pub ptl_list: c_uchar,
    pub ni_fail_type: c_uchar,
    pub atomic_operation: c_uchar,
    pub atomic_type: c_uchar,
}

const _: () = {
    use lwk_user::portals::abi;
    assert!(size_of::<Descriptor>() == size_of::<abi::Descriptor>());
    assert!(size_of::<MatchEntry>() == core::mem::offset_of!(abi::Entry, user));
    assert!(core::mem::offset_of!(MatchEntry, match_bits) == core::mem::offset_of!(abi::Entry, bits));
    assert!(core::mem::offset_of!(MatchEntry, match_id) == core::mem::offset_of!(abi::Entry, node));
    assert!(core::mem::offset_of!(MatchEntry, min_free) == core::mem::offset_of!(abi::Entry, min_free));
    assert!(core::mem::offset_of!(Descriptor, ct_handle) == core::mem::offset_of!(abi::Descriptor, counter));
};
