//! The symmetric heap (the standard, section 9.3): a region at the same address of every PE, and its accounts.
//!
//! Every call is collective over all PEs. Each PE keeps accounts of its own; equal calls give equal addresses. At the
//! synchronisation that the standard asks for anyway, each PE also compares its call with that of its neighbour: of calls that
//! differ at least one PE notices, and the job ends with a line that shows both.

mod region;

use super::collective::synchronise;
use super::fatal::stop;
use super::group::Group;
use super::pair::Kind;
use super::rma::getmem;
use super::single::Single;
use crate::protocol::calls::{CALL_WORDS, Calls};
use core::ptr::{null_mut, with_exposed_provenance_mut};
use lwk_user::smartmap::{Shared, Symmetric};
use lwk_user::syscall;
use region::{GRANULE, Region};

/// Hint: the object is the target of atomics (`SHMEM_MALLOC_ATOMICS_REMOTE`). All objects have cache lines of their own here.
pub const MALLOC_ATOMICS_REMOTE: i64 = 1 << 0;
/// Hint: the object is the target of signals (`SHMEM_MALLOC_SIGNAL_REMOTE`).
pub const MALLOC_SIGNAL_REMOTE: i64 = 1 << 1;

/// The heap of this PE, between set-up and finalization.
struct Heap {
    start: usize,
    bytes: usize,
    region: Region,
}

static HEAP: Single<Option<Heap>> = Single::new(None);

// SAFETY: atomics only, no addresses.
unsafe impl Shared for Calls {}

/// What a PE has called.
static CALLS: Symmetric<Calls> = Symmetric::new(Calls::new());
/// Calls so far.
static CALL_COUNT: Single<u64> = Single::new(0);

/// Which call.
#[derive(Clone, Copy)]
enum Call {
    Create = 1,
    Allocate,
    Free,
    Reallocate,
}

impl Call {
    fn name(call: u64) -> &'static str {
        match call {
            1 => "the symmetric heap at",
            2 => "an allocation of",
            3 => "a free of",
            4 => "a reallocation of",
            _ => "no call with",
        }
    }
}

/// Waits for all PEs and compares this PE's call with its neighbour's.
fn agree(call: Call, first: usize, second: usize) {
    let number = CALL_COUNT.with(|count| {
        *count += 1;
        *count
    });
    let mine = [number, call as u64, first as u64, second as u64];
    CALLS.here().tell(number, mine);
    let world = Group::world();
    synchronise(world, Kind::Heap);
    let neighbour = world.ahead(1 % world.size());
    let mut theirs: [u64; CALL_WORDS] = [0; CALL_WORDS];
    // SAFETY: a static, so the neighbour has it at the same address; it does not change the words of this call before it has synchronised again.
    unsafe {
        let from = CALLS.as_ptr().cast::<u8>().wrapping_add(Calls::offset_of(number));
        getmem(theirs.as_mut_ptr().cast(), from, size_of_val(&theirs), neighbour);
    }
    if theirs != mine {
        let show = |call: [u64; CALL_WORDS]| (Call::name(call[1]), call[2], call[3]);
        let ((mine, a, b), (theirs, c, d)) = (show(mine), show(theirs));
        stop(format_args!(
            "calls do not match: {mine} {a:#x} ({b:#x}) here, {theirs} {c:#x} ({d:#x}) in PE {neighbour}; all PEs must make the \
             same calls of the symmetric heap in the same order"
        ));
    }
}

/// Makes the heap: `bytes` bytes or, without a wish, half of what the PE's memory has left. Collective.
pub(crate) fn create(bytes: Option<usize>) {
    let page = lwk_user::job().page();
    let bytes = bytes.unwrap_or((page.heap_end - page.heap_start) as usize / 2);
    let Some(bytes) = bytes.checked_next_multiple_of(lwk_user::abi::address::PAGE_BYTES as usize) else {
        stop(format_args!("no room for a symmetric heap of {bytes} bytes"));
    };
    let start = match syscall::mmap(bytes) {
        Ok(start) => start.as_ptr().expose_provenance(),
        Err(error) => stop(format_args!(
            "no room for a symmetric heap of {bytes} bytes ({error}): give each PE more memory (--mem) or ask for less \
             (SHMEM_SYMMETRIC_SIZE)"
        )),
    };
    agree(Call::Create, start, bytes);
    HEAP.with(|heap| *heap = Some(Heap { start, bytes, region: Region::new(start, bytes) }));
}

/// Gives the heap back. All PEs must have stopped using it.
pub(crate) fn destroy() {
    let Some(heap) = HEAP.with(Option::take) else { return };
    if let Some(start) = core::ptr::NonNull::new(with_exposed_provenance_mut(heap.start)) {
        // SAFETY: mapped by `create` with that size; no PE uses it since the synchronisation of `finalize`,
        // the only caller. Should the home refuse, the memory stays taken until the job ends, which harms
        // nobody.
        let _ = unsafe { syscall::munmap(start, heap.bytes) };
    }
}

/// Start and bytes of the heap, if there is one.
pub(crate) fn extent() -> Option<(usize, usize)> {
    HEAP.with(|heap| heap.as_ref().map(|heap| (heap.start, heap.bytes)))
}

/// Runs `f` on the accounts; before set-up and after finalization the job ends.
fn accounts<R>(call: &str, f: impl FnOnce(&mut Region) -> R) -> R {
    super::life::check(call);
    HEAP.with(|heap| heap.as_mut().map(|heap| f(&mut heap.region)))
        .unwrap_or_else(|| stop(format_args!("{call}: there is no symmetric heap; call init first")))
}

/// Bytes of the symmetric heap that are not in use; they need not be in one piece.
pub fn heap_free_bytes() -> usize {
    accounts("the heap's free bytes", |region| region.free_bytes())
}

/// An object of `bytes` bytes, in all PEs at the same address (`shmem_malloc`). Null for 0 bytes, or if there is no room.
/// Collective; ends with a barrier, unless `bytes` is 0.
pub fn malloc(bytes: usize) -> *mut u8 {
    allocate("shmem_malloc", bytes, 1)
}

/// As [`malloc`], with hints (`shmem_malloc_with_hints`): any of the `MALLOC_…` bits, which need nothing here, since every object has lines of its own, and
/// others, which mean nothing.
pub fn malloc_with_hints(bytes: usize, _hints: i64) -> *mut u8 {
    allocate("shmem_malloc_with_hints", bytes, 1)
}

/// As [`malloc`], at a multiple of `alignment`, a power of two (`shmem_align`). Null also for any other alignment.
pub fn align(alignment: usize, bytes: usize) -> *mut u8 {
    if !alignment.is_power_of_two() {
        return null_mut();
    }
    allocate("shmem_align", bytes, alignment)
}

/// An object of `count * bytes` zero bytes (`shmem_calloc`). Null as of [`malloc`].
pub fn calloc(count: usize, bytes: usize) -> *mut u8 {
    let Some(bytes) = count.checked_mul(bytes) else { return null_mut() };
    if bytes == 0 {
        return null_mut();
    }
    let object = accounts("shmem_calloc", |region| region.allocate(bytes, GRANULE));
    let object = object.map_or(null_mut(), with_exposed_provenance_mut::<u8>);
    if !object.is_null() {
        // SAFETY: a block of that size of this PE's heap, which no PE knows of before the barrier.
        unsafe { object.write_bytes(0, bytes) };
    }
    agree(Call::Allocate, bytes, 1);
    object
}

fn allocate(call: &str, bytes: usize, align: usize) -> *mut u8 {
    if bytes == 0 {
        super::life::check(call);
        return null_mut();
    }
    let object = accounts(call, |region| region.allocate(bytes, align));
    agree(Call::Allocate, bytes, align);
    object.map_or(null_mut(), with_exposed_provenance_mut)
}

/// Gives an object back (`shmem_free`). Collective; begins with a barrier. A null pointer is ignored.
pub fn free(object: *mut u8) {
    if object.is_null() {
        super::life::check("shmem_free");
        return;
    }
    agree(Call::Free, object.addr(), 0);
    if accounts("shmem_free", |region| region.release(object.addr())).is_err() {
        not_an_object("shmem_free", object);
    }
}

/// Changes an object's size, moving it if need be (`shmem_realloc`). Null if there is no room; the object is then as before.
/// A null object is [`malloc`], 0 bytes are [`free`]. Collective; begins and ends with a barrier.
///
/// # Safety
/// Nobody may use the object during the call.
pub unsafe fn realloc(object: *mut u8, bytes: usize) -> *mut u8 {
    if object.is_null() {
        return allocate("shmem_realloc", bytes, 1);
    }
    if bytes == 0 {
        free(object);
        return null_mut();
    }
    agree(Call::Reallocate, object.addr(), bytes);
    let start = object.addr();
    let moved = accounts("shmem_realloc", |region| {
        let before = region.asked(start)?;
        if region.resize(start, bytes)? {
            return Ok(object);
        }
        let Some(moved) = region.allocate(bytes, GRANULE) else { return Ok(null_mut()) };
        let moved: *mut u8 = with_exposed_provenance_mut(moved);
        // SAFETY: two distinct blocks of this PE's heap that hold the smaller of the two sizes; nobody uses
        // `object` during the call (this function's contract).
        unsafe { lwk_user::copy::copy(object, moved, before.min(bytes)) };
        region.release(start)?;
        Ok(moved)
    });
    let moved = match moved {
        Ok(moved) => moved,
        Err(region::NotAllocated) => not_an_object("shmem_realloc", object),
    };
    synchronise(Group::world(), Kind::Heap);
    moved
}

#[cold]
fn not_an_object(call: &str, object: *mut u8) -> ! {
    stop(format_args!("{call}: {object:p} is not the start of an object of the symmetric heap"))
}
