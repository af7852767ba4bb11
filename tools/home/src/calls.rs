//! The program's system calls: each `syscall` instruction outside of the gate lands in [`on_system_call`], which answers
//! as the kernel would.
//!
//! Calls that mean the same to Linux go to it through the gate, after the kernel's own check of user pointers: they must
//! lead into a segment of the job, whosever. Calls about memory, identity and exit are answered here. All others are
//! answered `-ENOSYS` and counted.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use std::sync::atomic::Ordering;

use lwk_abi::address::{PAGE_BYTES, SLOT_BYTES, USER_END, slot_of};
use lwk_abi::exit::{SIGNAL_BASE, signal::SIGSEGV};
use lwk_abi::syscall::{CORE_COUNTERS, JOB_ABORT, errno, linux};
use lwk_failure::{Reason, Registers};
use lwk_mm::Access;
use lwk_mm::heap::{Grant, Heap, HeapError, Span};

use crate::arch::Gate;
use crate::fault;
use crate::rank::{AREAS_MAX, Rank};

/// Linux's `si_code` of a dispatched system call.
const SYS_USER_DISPATCH: i32 = 2;
/// Linux's `AUDIT_ARCH_X86_64`: the call was made by the `syscall` instruction.
const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// Length of the other instructions that Linux takes for a system call.
const OLD_CALL_BYTES: i64 = 2;
/// Vector of the exception that those instructions raise on a node.
const GENERAL_PROTECTION: u8 = 13;
/// Most bytes of one `write` (Linux's `MAX_RW_COUNT`).
const BYTES_MAX: u64 = 0x7fff_f000;
/// Most bytes of one `getrandom` (random(4)).
const RANDOM_BYTES_MAX: u64 = 33_554_431;
/// Most entries of a `writev` (Linux's `UIO_MAXIOV`).
const VECTORS_MAX: u64 = 1024;

/// Linux's codes of `arch_prctl`.
const SET_GS: u32 = 0x1001;
const SET_FS: u32 = 0x1002;

/// Linux's `siginfo_t` of a `SIGSYS`.
#[repr(C)]
struct DispatchInfo {
    signal: i32,
    errno: i32,
    code: i32,
    padding: i32,
    address: u64,
    number: i32,
    machine: u32,
}

/// Handles `SIGSYS`.
pub extern "C" fn on_system_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: Linux passes both structures to a handler installed with SA_SIGINFO, for as long as it runs.
    let (call, context) =
        unsafe { (info.cast::<DispatchInfo>().read(), &mut *context.cast::<libc::ucontext_t>()) };
    if call.code != SYS_USER_DISPATCH {
        return fault::on_fault(signal, info, (&raw mut *context).cast());
    }
    let rank = Rank::current();
    if call.machine != AUDIT_ARCH_X86_64 {
        // `int 0x80` and the like are no system calls here, as on a node.
        context.uc_mcontext.gregs[libc::REG_RIP as usize] -= OLD_CALL_BYTES;
        fault::report(rank, Reason::Exception(GENERAL_PROTECTION), &fault::registers(context));
        rank.exit(SIGNAL_BASE + SIGSEGV);
    }
    answer(rank, context);
}

/// Handles `SIGILL` where instructions that raise it have taken the place of system calls.
pub extern "C" fn on_replaced_call(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let rank = Rank::current();
    // SAFETY: Linux passes the structure to a handler installed with SA_SIGINFO, for as long as it runs.
    let machine = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    let registers = &mut machine.uc_mcontext.gregs;
    let Some(site) = rank.call_at(registers[libc::REG_RIP as usize] as u64) else {
        return fault::on_fault(signal, info, context);
    };
    let word = |index: i32| registers[index as usize] as u64;
    let sets_base = matches!(word(libc::REG_RDI) as u32, SET_FS | SET_GS) && word(libc::REG_RSI) < USER_END;
    if word(libc::REG_RAX) == linux::ARCH_PRCTL && sets_base {
        // When a handler returns, valgrind puts back the bases from before it: so the call is made afterwards.
        // Relaxed: a count of this one thread.
        rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
        registers[libc::REG_RIP as usize] = Gate::in_program(site.end) as i64;
        return;
    }
    // As the instruction leaves them.
    registers[libc::REG_RIP as usize] = site.end as i64;
    registers[libc::REG_RCX as usize] = site.end as i64;
    registers[libc::REG_R11 as usize] = registers[libc::REG_EFL as usize];
    answer(rank, machine);
}

/// Answers the call that these registers make.
fn answer(rank: &'static Rank, context: &mut libc::ucontext_t) {
    // Relaxed: a count of this one thread.
    rank.entry().syscalls.fetch_add(1, Ordering::Relaxed);
    let registers = &mut context.uc_mcontext.gregs;
    let word = |index: i32| registers[index as usize] as u64;
    let number = word(libc::REG_RAX);
    let arguments =
        [libc::REG_RDI, libc::REG_RSI, libc::REG_RDX, libc::REG_R10, libc::REG_R8, libc::REG_R9].map(word);
    let call = Call { rank, number, arguments };
    let result = match number {
        JOB_ABORT => call.abort(&fault::registers(context)),
        _ => call.answer(),
    };
    context.uc_mcontext.gregs[libc::REG_RAX as usize] = result;
}

/// One system call.
struct Call {
    rank: &'static Rank,
    number: u64,
    arguments: [u64; 6],
}

/// A result as Linux's calls have it; an error is a positive error number.
type Answer = Result<i64, i64>;

impl Call {
    fn answer(&self) -> i64 {
        let [a, b, c, ..] = self.arguments;
        let answer = match self.number {
            linux::WRITE => self.write(a, b, c),
            linux::WRITEV => self.write_vector(a, b, c),
            linux::READ => self.read(a, b, c),
            linux::SCHED_YIELD => self.pass(),
            linux::CLOCK_GETTIME => self.clock_gettime(a, b),
            linux::GETRANDOM => self.getrandom(a, b, c),
            linux::ARCH_PRCTL => self.thread_base(a, b),
            linux::BRK => self.with_heap(|heap| Ok(heap.brk(a))),
            linux::MMAP => self.mmap(),
            linux::MUNMAP => self.munmap(a, b),
            linux::GETPID | linux::GETTID => Ok(i64::from(self.rank.rank) + 1),
            linux::UNAME => self.uname(a),
            linux::EXIT | linux::EXIT_GROUP => self.rank.exit((a & 0xff) as i32),
            // What it would tell of a core only a kernel counts.
            CORE_COUNTERS => Err(errno::ENOSYS),
            _ => {
                self.rank.entry().count_unsupported(self.number);
                Err(errno::ENOSYS)
            }
        };
        answer.unwrap_or_else(|error| -error)
    }

    /// Has Linux do it.
    fn pass(&self) -> Answer {
        self.pass_with(self.arguments)
    }

    fn pass_with(&self, arguments: [u64; 6]) -> Answer {
        // SAFETY: pointers have been checked to lead into the program's memory.
        let result = unsafe { Gate::call(self.number as i64, arguments) };
        if result < 0 { Err(-result) } else { Ok(result) }
    }

    fn write(&self, fd: u64, source: u64, bytes: u64) -> Answer {
        output(fd)?;
        self.readable(source, bytes.min(BYTES_MAX))?;
        self.pass()
    }

    /// The lengths are checked as a whole before anything is written; entries before a bad one count.
    fn write_vector(&self, fd: u64, vectors: u64, count: u64) -> Answer {
        output(fd)?;
        let count = u64::from(count as u32);
        if count > VECTORS_MAX {
            return Err(errno::EINVAL);
        }
        self.readable(vectors, count * 16)?;
        let entry = |index: u64| {
            let vector = std::ptr::with_exposed_provenance::<[u64; 2]>((vectors + index * 16) as usize);
            // SAFETY: checked to be readable memory of the program.
            unsafe { vector.read_unaligned() }
        };
        let mut total: u64 = 0;
        for [_, bytes] in (0..count).map(entry) {
            total = total.checked_add(bytes).filter(|sum| *sum <= i64::MAX as u64).ok_or(errno::EINVAL)?;
        }
        let (mut good, mut room) = (0, BYTES_MAX);
        for [address, bytes] in (0..count).map(entry) {
            match self.readable(address, bytes.min(room)) {
                Ok(()) => room -= bytes.min(room),
                Err(error) if room == BYTES_MAX => return Err(error),
                Err(_) => break,
            }
            good += 1;
        }
        self.pass_with([fd, vectors, good, 0, 0, 0])
    }

    /// Standard input is at its end from the start, as on a node.
    fn read(&self, fd: u64, target: u64, bytes: u64) -> Answer {
        if fd as u32 != 0 {
            return Err(errno::EBADF);
        }
        self.writable(target, bytes).map(|()| 0)
    }

    fn clock_gettime(&self, clock: u64, target: u64) -> Answer {
        // Real time, monotonic, processor times, raw, the coarse ones, since boot; and TAI.
        if !matches!(clock as u32, 0..=7 | 11) {
            return Err(errno::EINVAL);
        }
        self.writable(target, 16)?;
        self.pass()
    }

    fn getrandom(&self, target: u64, bytes: u64, flags: u64) -> Answer {
        const RANDOM: u32 = 2;
        const INSECURE: u32 = 4;
        const ALL: u32 = 7;
        let flags = flags as u32;
        if flags & !ALL != 0 || flags & (RANDOM | INSECURE) == RANDOM | INSECURE {
            return Err(errno::EINVAL);
        }
        self.writable(target, bytes.min(RANDOM_BYTES_MAX))?;
        self.pass()
    }

    fn thread_base(&self, code: u64, address: u64) -> Answer {
        const GET_FS: u32 = 0x1003;
        const GET_GS: u32 = 0x1004;
        match code as u32 {
            SET_FS | SET_GS if address >= USER_END => Err(errno::EPERM),
            SET_FS | SET_GS => self.pass(),
            GET_FS | GET_GS => self.writable(address, 8).and_then(|()| self.pass()),
            _ => Err(errno::EINVAL),
        }
    }

    /// Anonymous memory only; see the kernel's.
    fn mmap(&self) -> Answer {
        const EXECUTE: u64 = 4;
        const FIXED: u64 = 0x10;
        const FIXED_NOREPLACE: u64 = 0x10_0000;
        const ANONYMOUS: u64 = 0x20;
        const KIND: u64 = 0xf;
        let [address, bytes, protection, flags, fd, offset] = self.arguments;
        if !offset.is_multiple_of(PAGE_BYTES) {
            return Err(errno::EINVAL);
        }
        if flags & ANONYMOUS == 0 {
            return Err(if fd as u32 <= 2 { errno::ENODEV } else { errno::EBADF });
        }
        // Shared, private, or shared and validated.
        if !matches!(flags & KIND, 1..=3) || bytes == 0 {
            return Err(errno::EINVAL);
        }
        if protection & EXECUTE != 0 {
            return Err(errno::EACCES);
        }
        self.with_heap(|heap| {
            let end = address.saturating_add(bytes);
            let taken = |area: &Span| area.start < end && address < area.end;
            if flags & FIXED_NOREPLACE != 0 && heap.areas().iter().any(taken) {
                return Err(errno::EEXIST);
            }
            if flags & (FIXED | FIXED_NOREPLACE) != 0 {
                return heap.map_fixed(address, bytes).map_err(HeapError::errno);
            }
            heap.map(bytes).map_err(HeapError::errno)
        })
    }

    fn munmap(&self, address: u64, bytes: u64) -> Answer {
        // SAFETY: asked once, by this call.
        let memory = unsafe { self.rank.memory() };
        memory.heap.unmap(address, bytes).map(|()| 0).map_err(HeapError::errno)
    }

    /// Changes the heap, then makes what it grants ready: large pages, and zeros where it has been used before.
    fn with_heap(&self, change: impl FnOnce(&mut Heap<AREAS_MAX>) -> Result<Grant, i64>) -> Answer {
        // SAFETY: asked once, by this call.
        let memory = unsafe { self.rank.memory() };
        let grant = change(&mut memory.heap)?;
        let layout = &self.rank.layout;
        let (start, end) = match self.number {
            // The break is the end of what is granted; blocks below are done already.
            linux::BRK => (grant.address.saturating_sub(1).max(layout.heap_start), grant.address),
            _ => (grant.address, grant.address.saturating_add(self.arguments[1])),
        };
        memory.collapsed.grant(layout, start, end);
        self.rank.entry().huge_bytes.store(memory.collapsed.bytes(), Ordering::Relaxed);
        for stale in &grant.stale {
            let first = std::ptr::with_exposed_provenance_mut::<u8>(stale.start as usize);
            // SAFETY: memory of the heap that the program has given up before.
            unsafe { first.write_bytes(0, (stale.end - stale.start) as usize) };
        }
        Ok(grant.address as i64)
    }

    /// Names as the kernel has them.
    fn uname(&self, address: u64) -> Answer {
        const FIELD: u64 = 65;
        let release = concat!("6.1.0-margay-", env!("CARGO_PKG_VERSION")).as_bytes();
        let fields: [&[u8]; 6] = [b"Margay", b"margay", release, b"#1", b"x86_64", b"(none)"];
        self.writable(address, FIELD * fields.len() as u64)?;
        for (index, field) in fields.into_iter().enumerate() {
            let to = std::ptr::with_exposed_provenance_mut::<u8>((address + FIELD * index as u64) as usize);
            // SAFETY: checked to be the program's writable memory; the names are shorter than their field.
            unsafe {
                to.write_bytes(0, FIELD as usize);
                to.copy_from_nonoverlapping(field.as_ptr(), field.len());
            }
        }
        Ok(0)
    }

    fn abort(&self, registers: &Registers) -> ! {
        let status = match (self.arguments[0] & 0xff) as i32 {
            0 => 1,
            status => status,
        };
        fault::report(self.rank, Reason::Abort(status), registers);
        self.rank.exit(status)
    }

    fn readable(&self, address: u64, bytes: u64) -> Result<(), i64> {
        let local = self.local(address)?;
        self.rank.layout.check_read(local, bytes).map(|_| ()).map_err(|_| errno::EFAULT)
    }

    fn writable(&self, address: u64, bytes: u64) -> Result<(), i64> {
        let local = self.local(address)?;
        self.rank.layout.check(local, bytes, Access::RW).map(|_| ()).map_err(|_| errno::EFAULT)
    }

    /// The slot-0 address behind a user address: every rank's segment has the same layout.
    fn local(&self, address: u64) -> Result<u64, i64> {
        if address >= USER_END || slot_of(address) > u64::from(self.rank.ranks) {
            return Err(errno::EFAULT);
        }
        Ok(address % SLOT_BYTES)
    }
}

/// Only standard output and error can be written. A descriptor is an `int`: the upper half of the register means nothing.
fn output(fd: u64) -> Result<(), i64> {
    if matches!(fd as u32, 1 | 2) { Ok(()) } else { Err(errno::EBADF) }
}
