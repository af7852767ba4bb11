//! Counting events (the reference, section 3.14): two words of the program's own memory, which the kernel writes.

use core::ffi::{c_int, c_uint};

use lwk_user::abi::syscall::portals as call;
use lwk_user::portals::abi::{COUNTER_BYTES, status as code};
use lwk_user::wait::Poll;
use lwk_words::counts::Counts;

use crate::aborted;
use crate::interfaces::checked;
use crate::memory::{Memory, Named, Register, shared};
use crate::queues::Deadline;
use crate::status::{Result, Status, ask, give, place, read, run};
use crate::types::{Count, Handle};

struct Counter {
    handle: Handle,
    interface: Handle,
    words: Memory,
}

impl Named for Counter {
    fn handle(&self) -> Handle {
        self.handle
    }

    fn interface(&self) -> Handle {
        self.interface
    }
}

impl Counter {
    fn count(&self) -> Count {
        // SAFETY: a counter's words, which the kernel has been given as they were made.
        let (success, failure) = unsafe { Counts::at(self.words.start()) }.get();
        Count { success, failure }
    }

    /// What is counted, if that has come so far.
    fn reached(&self, test: u64) -> Option<Count> {
        let count = self.count();
        (count.success.wrapping_add(count.failure) >= test).then_some(count)
    }
}

/// As many as the kernel has of all ranks of a node.
static COUNTERS: Register<Counter, 16_384> = Register::new();

/// Forgets the counters of an interface that is closed.
pub fn forget_all(interface: Handle) {
    COUNTERS.remove_all(interface);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlCTAlloc(ni_handle: Handle, ct_handle: *mut Handle) -> c_int {
    let allocate = || {
        let interface = checked(ni_handle)?;
        let words = shared(COUNTER_BYTES as usize)?;
        // SAFETY: the memory is the counter's as long as the kernel has it, and the kernel keeps to its form.
        let handle = unsafe { ask(call::COUNTER_ALLOCATE, [interface.into(), words.address(), 0, 0]) }?;
        COUNTERS.add(Counter { handle, interface, words })?;
        Ok(handle)
    };
    // SAFETY: `ct_handle` is null or writable (the crate's contract).
    unsafe { give(ct_handle, allocate) }
}

#[unsafe(no_mangle)]
extern "C" fn PtlCTFree(ct_handle: Handle) -> c_int {
    run(|| {
        // SAFETY: no memory is involved: the kernel writes less.
        unsafe { ask(call::COUNTER_FREE, [ct_handle.into(), 0, 0, 0]) }?;
        COUNTERS.remove(ct_handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn PtlCTCancelTriggered(ct_handle: Handle) -> c_int {
    run(|| {
        // SAFETY: no memory is involved.
        unsafe { ask(call::COUNTER_CANCEL, [ct_handle.into(), 0, 0, 0]) }.map(drop)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlCTGet(ct_handle: Handle, event: *mut Count) -> c_int {
    // SAFETY: `event` is null or writable (the crate's contract).
    unsafe { give(event, || COUNTERS.get(ct_handle).map(Counter::count)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlCTWait(ct_handle: Handle, test: u64, event: *mut Count) -> c_int {
    let wait = || {
        let counter = COUNTERS.get(ct_handle)?;
        let mut poll = Poll::new();
        loop {
            aborted()?;
            if let Some(count) = counter.reached(test) {
                return Ok(count);
            }
            poll.pause();
        }
    };
    // SAFETY: `event` is null or writable (the crate's contract).
    unsafe { give(event, wait) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlCTPoll(
    ct_handles: *const Handle,
    tests: *const u64,
    size: c_uint,
    timeout: c_uint,
    event: *mut Count,
    which: *mut c_uint,
) -> c_int {
    let wait = || {
        let which = place(which)?;
        place(ct_handles.cast_mut())?;
        place(tests.cast_mut())?;
        let (mut interface, mut deadline) = (None, Deadline::new(timeout));
        if size == 0 {
            return Err(Status::ARG_INVALID);
        }
        // SAFETY: both arrays have `size` readable elements (the crate's contract), and each index is below.
        let pair = |at: c_uint| unsafe { (read(ct_handles.add(at as usize)), read(tests.add(at as usize))) };
        for at in 0..size {
            let counter = COUNTERS.get(pair(at).0?)?;
            if *interface.get_or_insert(counter.interface) != counter.interface {
                return Err(Status::ARG_INVALID);
            }
        }
        loop {
            aborted()?;
            for at in 0..size {
                let (handle, test) = pair(at);
                if let Some(count) = COUNTERS.get(handle?)?.reached(test?) {
                    // SAFETY: `which` is not null and so writable (the crate's contract).
                    unsafe { which.write(at) };
                    return Ok(count);
                }
            }
            if deadline.is_over() {
                return Err(Status(code::CT_NONE_REACHED));
            }
        }
    };
    // SAFETY: `event` is null or writable (the crate's contract).
    unsafe { give(event, wait) }
}

/// Adds to a counter, or sets it.
fn change(counter: Handle, by: Count, set: bool) -> Result<()> {
    let arguments = [counter.into(), by.success, by.failure, set.into()];
    // SAFETY: the call writes to the counter's own memory.
    unsafe { ask(call::COUNTER_CHANGE, arguments) }.map(drop)
}

#[unsafe(no_mangle)]
extern "C" fn PtlCTSet(ct_handle: Handle, new_ct: Count) -> c_int {
    run(|| change(ct_handle, new_ct, true))
}

#[unsafe(no_mangle)]
extern "C" fn PtlCTInc(ct_handle: Handle, increment: Count) -> c_int {
    run(|| {
        is_increment(increment)?;
        change(ct_handle, increment, false)
    })
}

/// One of the two counts stays as it is (the reference, section 3.14.8).
pub fn is_increment(by: Count) -> Result<()> {
    if by.success != 0 && by.failure != 0 { Err(Status::ARG_INVALID) } else { Ok(()) }
}
