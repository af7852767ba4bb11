//! Event queues (the reference, section 3.13): rings in the program's own memory, which the kernel writes.

use core::cell::Cell;
use core::ffi::{c_int, c_uint, c_void};
use core::time::Duration;

use lwk_user::abi::syscall::portals as call;
use lwk_user::clock::Instant;
use lwk_user::portals::abi::{self, QUEUE_EVENTS, QUEUE_MAX, TABLE_SIZE, status as code};
use lwk_user::wait::Poll;
use lwk_words::events;

use crate::aborted;
use crate::interfaces::checked;
use crate::memory::{Memory, Named, Register, shared};
use crate::status::{Result, Status, ask, place, read, run};
use crate::types::{Event, Handle, Process};

/// `PTL_TIME_FOREVER`.
const FOREVER: c_uint = c_uint::MAX;

struct Queue {
    handle: Handle,
    interface: Handle,
    ring: Memory,
    size: u64,
    taken: Cell<u64>,
}

impl Named for Queue {
    fn handle(&self) -> Handle {
        self.handle
    }

    fn interface(&self) -> Handle {
        self.interface
    }
}

impl Queue {
    /// The next event, if it is there.
    fn next(&self) -> Option<abi::Event> {
        let taken = self.taken.get();
        // SAFETY: a ring of that size, which the kernel has been given as it was made; a program is one thread.
        let event = unsafe { events::take(self.ring.start(), self.size, taken) }?;
        self.taken.set(taken + 1);
        Some(event)
    }

    /// Takes the next event to `to`. False if there is none. Errors: it was taken, and some before it have been dropped.
    ///
    /// # Safety
    /// `to` is writable.
    unsafe fn take(&self, to: *mut Event) -> Result<bool> {
        let Some(event) = self.next() else { return Ok(false) };
        // SAFETY: `to` is writable (this function's contract).
        unsafe { to.write(program_event(&event)) };
        if event.dropped == 0 { Ok(true) } else { Err(Status(code::EQ_DROPPED)) }
    }
}

/// An event as programs have it.
fn program_event(event: &abi::Event) -> Event {
    let pointer = |address: u64| core::ptr::with_exposed_provenance_mut::<c_void>(address as usize);
    Event {
        start: pointer(event.start),
        user_ptr: pointer(event.user),
        hdr_data: event.data,
        match_bits: event.bits,
        rlength: event.requested,
        mlength: event.done,
        remote_offset: event.remote_offset,
        initiator: Process { first: event.node, pid: event.process },
        uid: event.uid,
        pt_index: event.table,
        kind: event.kind as u8,
        ptl_list: event.list as u8,
        ni_fail_type: event.failure as u8,
        atomic_operation: event.atomic as u8,
        atomic_type: event.datatype as u8,
    }
}

/// As many as the kernel has of all ranks of a node.
static QUEUES: Register<Queue, 4_096> = Register::new();

/// Forgets the queues of an interface that is closed.
pub fn forget_all(interface: Handle) {
    QUEUES.remove_all(interface);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlEQAlloc(ni_handle: Handle, count: u64, eq_handle: *mut Handle) -> c_int {
    let allocate = || {
        let interface = checked(ni_handle)?;
        // Room for each table to tell that it is disabled (the reference, section 3.13.3).
        let size = count.checked_add(TABLE_SIZE.into()).filter(|size| *size <= QUEUE_MAX);
        let size = size.ok_or(Status::NO_SPACE)?;
        let ring = shared((QUEUE_EVENTS + size * size_of::<abi::Event>() as u64) as usize)?;
        let arguments = [interface.into(), ring.address(), size, 0];
        // SAFETY: the memory is the queue's as long as the kernel has it, and the kernel keeps to its form.
        let handle = unsafe { ask(call::QUEUE_ALLOCATE, arguments) }?;
        QUEUES.add(Queue { handle, interface, ring, size, taken: Cell::new(0) })?;
        Ok(handle)
    };
    // SAFETY: `eq_handle` is null or writable (the crate's contract).
    unsafe { crate::status::give(eq_handle, allocate) }
}

#[unsafe(no_mangle)]
extern "C" fn PtlEQFree(eq_handle: Handle) -> c_int {
    run(|| {
        // SAFETY: no memory is involved: the kernel writes less.
        unsafe { ask(call::QUEUE_FREE, [eq_handle.into(), 0, 0, 0]) }?;
        QUEUES.remove(eq_handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlEQGet(eq_handle: Handle, event: *mut Event) -> c_int {
    run(|| {
        let (queue, event) = (QUEUES.get(eq_handle)?, place(event)?);
        // SAFETY: `event` is not null and so writable (the crate's contract).
        let taken = unsafe { queue.take(event) }?;
        if taken { Ok(()) } else { Err(Status(code::EQ_EMPTY)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlEQWait(eq_handle: Handle, event: *mut Event) -> c_int {
    run(|| {
        let (queue, event) = (QUEUES.get(eq_handle)?, place(event)?);
        let mut poll = Poll::new();
        loop {
            aborted()?;
            // SAFETY: `event` is not null and so writable (the crate's contract).
            if unsafe { queue.take(event) }? {
                return Ok(());
            }
            poll.pause();
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn PtlEQPoll(
    eq_handles: *const Handle,
    size: c_uint,
    timeout: c_uint,
    event: *mut Event,
    which: *mut c_uint,
) -> c_int {
    run(|| {
        let (event, which) = (place(event)?, place(which)?);
        place(eq_handles.cast_mut())?;
        let (mut interface, mut deadline) = (None, Deadline::new(timeout));
        if size == 0 {
            return Err(Status::ARG_INVALID);
        }
        // SAFETY: the array has `size` readable elements (the crate's contract), and each index is below.
        let handle = |at: c_uint| unsafe { read(eq_handles.add(at as usize)) };
        for at in 0..size {
            let queue = QUEUES.get(handle(at)?)?;
            if *interface.get_or_insert(queue.interface) != queue.interface {
                return Err(Status::ARG_INVALID);
            }
        }
        loop {
            aborted()?;
            for at in 0..size {
                // SAFETY: `event` is not null and so writable (the crate's contract).
                let taken = unsafe { QUEUES.get(handle(at)?)?.take(event) };
                if taken != Ok(false) {
                    // SAFETY: `which` is not null and so writable (the crate's contract).
                    unsafe { which.write(at) };
                    return taken.map(drop);
                }
            }
            if deadline.is_over() {
                return Err(Status(code::EQ_EMPTY));
            }
        }
    })
}

/// How long a program wants to wait, in milliseconds or for ever.
pub struct Deadline {
    since: Instant,
    limit: Option<Duration>,
    poll: Poll,
}

impl Deadline {
    pub fn new(timeout: c_uint) -> Deadline {
        let limit = (timeout != FOREVER).then(|| Duration::from_millis(timeout.into()));
        Deadline { since: Instant::now(), limit, poll: Poll::new() }
    }

    /// Pauses for a moment, unless that is over.
    pub fn is_over(&mut self) -> bool {
        let over = self.limit.is_some_and(|limit| self.since.elapsed() >= limit);
        if !over {
            self.poll.pause();
        }
        over
    }
}
