//! What the host home gives to the calls of `lwk-personality`: the program's memory at its own addresses, Linux's clocks, the node's
//! streams and files.
//!
//! Runs in a signal handler on its own stack; see [`crate::rank`] for what it may use.

use std::sync::atomic::Ordering;

use lwk_abi::address::{JOB_PAGE, SLOT_BYTES, USER_END, slot_of};
use lwk_abi::console::REPORT;
use lwk_abi::job_page::JobPage;
use lwk_abi::syscall::errno::{EFAULT, EINVAL, ENODEV, ENOMEM};
use lwk_abi::syscall::membarrier::{GLOBAL_EXPEDITED, REGISTER_GLOBAL_EXPEDITED};
use lwk_abi::syscall::{CoreCounters, arch_prctl};
use lwk_engine::{Counts, Order};
use lwk_failure::LostNode;
use lwk_files::Files;
use lwk_limic::Queues;
use lwk_mm::Access;
use lwk_mm::heap::{Span, Transfer};
use lwk_mm::layout::Layout;
use lwk_personality::{Answer, Clock, Errno, Facts, Home, Machine, Process, Registers, Stream};
use lwk_words::Told;

use crate::arch::Gate;
use crate::console::Report;
use crate::files::SharedPages;
use crate::own_files;
use crate::rank::Rank;

/// The machine as one rank has it.
pub struct HostMachine {
    pub rank: &'static Rank,
    /// The program's registers.
    pub registers: Registers,
    /// What Linux saved of the program's extended state, and will load again when the handler returns; null if nothing.
    pub float: *mut u8,
}

/// Bytes of the oldest form of the extended state, and where in it Linux tells of a longer one (`struct _fpx_sw_bytes`).
const FLOAT_BYTES: u64 = 512;
const AT_LONGER: usize = 464;
/// `FP_XSTATE_MAGIC1`: there is a longer one.
const LONGER: u32 = 0x4650_5853;
/// What a program that has not used it finds in the control words (System V ABI, AMD64 supplement, section 3.4.1).
const X87_CONTROL: u16 = 0x037f;
const MXCSR: u32 = 0x1f80;

impl HostMachine {
    /// The slot-0 address behind a user address: every rank's segment has the same layout.
    fn local(&self, address: u64) -> Result<u64, Errno> {
        if address >= USER_END || slot_of(address) > u64::from(self.rank.ranks) {
            return Err(Errno(EFAULT));
        }
        Ok(address % SLOT_BYTES)
    }
}

fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Writes to one of the rank's streams.
///
/// # Safety
/// The memory is readable.
unsafe fn print(stream: Stream, address: u64, bytes: u64) -> Answer {
    let fd = match stream {
        Stream::Out => 1,
        Stream::Error => 2,
    };
    let mut done = 0;
    while done < bytes {
        // SAFETY: the call only reads the memory, which is readable (this function's contract).
        let result = unsafe { Gate::call(libc::SYS_write, [fd, address + done, bytes - done, 0, 0, 0]) };
        match result {
            0.. => done += result as u64,
            _ if -result == i64::from(libc::EINTR) => {}
            error if done == 0 => return Err(Errno(-error)),
            _ => break,
        }
    }
    Ok(done)
}

impl Machine for HostMachine {
    type Pages = SharedPages;

    fn layout(&self) -> &Layout {
        &self.rank.layout
    }

    fn facts(&self) -> Facts {
        let page = std::ptr::with_exposed_provenance::<JobPage>(JOB_PAGE as usize);
        // SAFETY: the rank's job page is mapped there, readable and never written.
        let (ticks_a_second, memory_node) =
            unsafe { ((*page).tsc_hz, (*page).places[self.rank.rank as usize].memory_node.into()) };
        let mut system = [0u64; 14];
        // SAFETY: the call writes 112 bytes, which the array has.
        unsafe { Gate::call(libc::SYS_sysinfo, [system.as_mut_ptr() as u64, 0, 0, 0, 0, 0]) };
        let unit = system[13] & u64::from(u32::MAX);
        Facts {
            rank: self.rank.rank,
            core: self.rank.core,
            memory_node,
            cores: self.rank.cores,
            memory_bytes: system[4].saturating_mul(unit),
            free_bytes: system[5].saturating_mul(unit),
            ticks_a_second,
        }
    }

    fn program_name(&self) -> &[u8] {
        &self.rank.program_name
    }

    fn check_readable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        let local = self.local(address)?;
        self.rank.layout.check_read(local, bytes).map(|_| ()).map_err(|_| Errno(EFAULT))
    }

    fn check_writable(&self, address: u64, bytes: u64) -> Result<(), Errno> {
        let local = self.local(address)?;
        self.rank.layout.check(local, bytes, Access::RW).map(|_| ()).map_err(|_| Errno(EFAULT))
    }

    fn read(&self, address: u64, into: &mut [u8]) -> Result<(), Errno> {
        self.check_readable(address, into.len() as u64)?;
        let from = pointer(address);
        // SAFETY: checked to be readable memory of the program, which no Rust reference leads to; peers may change it, and any
        // bytes will do. Words are volatile, since a copy by the C library is not promised to be one access.
        unsafe {
            match into.len() {
                4 if address.is_multiple_of(4) => {
                    into.copy_from_slice(&from.cast::<u32>().read_volatile().to_ne_bytes());
                }
                8 if address.is_multiple_of(8) => {
                    into.copy_from_slice(&from.cast::<u64>().read_volatile().to_ne_bytes());
                }
                bytes => into.as_mut_ptr().copy_from_nonoverlapping(from, bytes),
            }
        }
        Ok(())
    }

    fn write(&self, address: u64, from: &[u8]) -> Result<(), Errno> {
        self.check_writable(address, from.len() as u64)?;
        let to = pointer(address);
        // SAFETY: checked to be writable memory of the program, which no Rust reference leads to. Words are
        // volatile, as in `read`.
        unsafe {
            match (<[u8; 4]>::try_from(from), <[u8; 8]>::try_from(from)) {
                (Ok(word), _) if address.is_multiple_of(4) => {
                    to.cast::<u32>().write_volatile(u32::from_ne_bytes(word));
                }
                (_, Ok(word)) if address.is_multiple_of(8) => {
                    to.cast::<u64>().write_volatile(u64::from_ne_bytes(word));
                }
                _ => to.copy_from_nonoverlapping(from.as_ptr(), from.len()),
            }
        }
        Ok(())
    }

    fn tell(&self, address: u64, word: u64) -> Result<(), Errno> {
        self.check_writable(address, 8)?;
        assert!(address.is_multiple_of(8), "an aligned word");
        // SAFETY: an aligned word (asserted) checked to be writable memory of the program, which no Rust reference leads to but to such words.
        unsafe { Told::at(pointer(address).cast()) }.tell(word);
        Ok(())
    }

    fn copy_pages(&self, transfer: Transfer) {
        let (to, from) = (pointer(transfer.to().start()), pointer(transfer.from().start()));
        // SAFETY: both are pages of the program's heap, which is mapped, and do not overlap (`Transfer`).
        unsafe { to.copy_from_nonoverlapping(from, transfer.from().bytes() as usize) };
    }

    fn granted(&self, start: u64, end: u64) {
        // SAFETY: asked once in a call, by this function alone.
        let collapsed = unsafe { self.rank.collapsed() };
        collapsed.grant(&self.rank.layout, start, end);
        // Relaxed: the node reads it after it has waited for this process.
        self.rank.entry().huge_bytes.store(collapsed.bytes(), Ordering::Relaxed);
    }

    fn clear_pages(&self, span: Span) {
        // SAFETY: pages of the program's heap, which is mapped (`Span`), that the program has given up or says that it needs no more.
        unsafe { pointer(span.start()).write_bytes(0, span.bytes() as usize) };
    }

    fn print(&self, stream: Stream, address: u64, bytes: u64) -> Answer {
        self.check_readable(address, bytes)?;
        // SAFETY: checked to be readable.
        unsafe { print(stream, address, bytes) }
    }

    fn print_own(&self, stream: Stream, bytes: &[u8]) -> Answer {
        // SAFETY: the bytes of a slice are readable.
        unsafe { print(stream, bytes.as_ptr() as u64, bytes.len() as u64) }
    }

    fn clock(&self, clock: Clock) -> u64 {
        let number = match clock {
            Clock::Real => libc::CLOCK_REALTIME,
            Clock::Monotonic => libc::CLOCK_MONOTONIC,
            Clock::Processor => libc::CLOCK_PROCESS_CPUTIME_ID,
        };
        let mut time = [0u64; 2];
        // SAFETY: the call writes one timespec, which the array has room for.
        unsafe { Gate::call(libc::SYS_clock_gettime, [number as u64, time.as_mut_ptr() as u64, 0, 0, 0, 0]) };
        time[0].saturating_mul(1_000_000_000).saturating_add(time[1])
    }

    fn random(&self, into: &mut [u8]) -> bool {
        let arguments = [into.as_mut_ptr() as u64, into.len() as u64, 0, 0, 0, 0];
        // SAFETY: the call writes into the slice. Up to 256 bytes come as a whole (getrandom(2)).
        unsafe { Gate::call(libc::SYS_getrandom, arguments) == into.len() as i64 }
    }

    fn thread_base(&self, gs: bool) -> u64 {
        let mut base = 0u64;
        let code = u64::from(if gs { arch_prctl::GET_GS } else { arch_prctl::GET_FS });
        // SAFETY: the call writes one word, into this function's variable.
        unsafe { Gate::call(libc::SYS_arch_prctl, [code, &raw mut base as u64, 0, 0, 0, 0]) };
        base
    }

    fn set_thread_base(&self, gs: bool, address: u64) {
        let code = u64::from(if gs { arch_prctl::SET_GS } else { arch_prctl::SET_FS });
        // SAFETY: the handlers use no thread-local memory, and the program has asked for it.
        unsafe { Gate::call(libc::SYS_arch_prctl, [code, address, 0, 0, 0, 0]) };
    }

    fn stack_pointer(&self) -> u64 {
        self.registers.rsp
    }

    fn float_bytes(&self) -> u64 {
        if self.float.is_null() {
            return 0;
        }
        // SAFETY: Linux's state has 512 bytes at least, aligned.
        let [magic, bytes] = unsafe { self.float.add(AT_LONGER).cast::<[u32; 2]>().read() };
        if magic == LONGER { u64::from(bytes).max(FLOAT_BYTES) } else { FLOAT_BYTES }
    }

    fn save_float(&self, address: u64) -> Result<(), Errno> {
        let bytes = self.float_bytes();
        self.check_writable(address, bytes)?;
        // SAFETY: Linux's state has so many bytes; the other place has been checked.
        unsafe { pointer(address).copy_from_nonoverlapping(self.float, bytes as usize) };
        Ok(())
    }

    fn load_float(&self, address: u64) -> Result<(), Errno> {
        let bytes = self.float_bytes() as usize;
        if bytes == 0 {
            return Ok(());
        }
        if address != 0 {
            self.check_readable(address, bytes as u64)?;
            // What Linux says about the form stays; it checks the rest when it loads it.
            let after = FLOAT_BYTES as usize;
            // SAFETY: Linux's state has so many bytes; the other place has been checked to be readable.
            unsafe {
                self.float.copy_from_nonoverlapping(pointer(address), AT_LONGER);
                self.float.add(after).copy_from_nonoverlapping(pointer(address).add(after), bytes - after);
            }
            return Ok(());
        }
        // SAFETY: Linux's state has so many bytes: registers, then the header that says which of them hold something.
        unsafe {
            self.float.write_bytes(0, AT_LONGER);
            self.float.cast::<u16>().write(X87_CONTROL);
            self.float.add(24).cast::<u32>().write(MXCSR);
            if bytes > FLOAT_BYTES as usize {
                self.float.add(FLOAT_BYTES as usize).cast::<u64>().write(0);
            }
        }
        Ok(())
    }

    fn can_fence_ranks(&self) -> bool {
        // SAFETY: the call touches no memory.
        unsafe { Gate::call(libc::SYS_membarrier, [REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0]) == 0 }
    }

    fn fence_ranks(&self) {
        // SAFETY: the call touches no memory. It has no error where `can_fence_ranks` said yes.
        unsafe { Gate::call(libc::SYS_membarrier, [GLOBAL_EXPEDITED, 0, 0, 0, 0, 0]) };
    }

    fn idle(&self, nanoseconds: u64) {
        let time = [nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000];
        // Not a synchronisation: the program asked for time to pass.
        // SAFETY: the call reads one timespec.
        unsafe { Gate::call(libc::SYS_nanosleep, [time.as_ptr() as u64, 0, 0, 0, 0, 0]) };
    }

    fn files<R>(
        &self,
        work: impl FnOnce(&mut Files<'_, SharedPages>) -> Result<R, Errno>,
    ) -> Result<R, Errno> {
        self.rank.volume.with(work)
    }

    fn count_unsupported(&self, number: u64) {
        self.rank.entry().count_unsupported(number);
    }
}

impl Home for HostMachine {
    fn registers(&self) -> Registers {
        self.registers
    }

    fn node_rank(&self) -> u32 {
        self.rank.rank
    }

    fn copy_memory(&self, to: u64, from: u64, bytes: u64) -> Answer {
        crate::peer_memory::copy(self.rank, to, from, bytes)
    }

    fn limic(&self, work: &mut dyn FnMut(&mut Queues<'_>)) -> Result<(), Errno> {
        self.rank.board.limic(self.rank.ranks, work).ok_or(Errno(ENOMEM))
    }

    fn workers(&self) -> u32 {
        self.rank.board.engine.workers()
    }

    fn order(&self, order: &Order) {
        self.rank.board.engine.order(order);
    }

    fn look_after_engine(&self) -> u64 {
        self.rank.board.engine.look()
    }

    fn engine_counts(&self) -> Counts {
        self.rank.board.engine.device.counts()
    }

    fn engine_fault(&self, after: u64, fault: u64) -> Answer {
        let engine = &self.rank.board.engine;
        match engine.workers() {
            0 => Err(Errno(ENODEV)),
            _ if engine.device.fail(after, fault) => Ok(0),
            _ => Err(Errno(EINVAL)),
        }
    }

    /// Only a kernel counts what disturbs a core.
    fn core_counters(&self) -> Option<CoreCounters> {
        None
    }

    fn report(&self, text: &str) {
        let mut report = Report::new();
        report.add(REPORT, 0, format_args!("runtime-{text}"));
        self.rank.send(&report);
    }

    fn lost_node(&self) -> Option<LostNode> {
        self.rank.network?.lost_node()
    }

    fn portals(&self, call: lwk_portals::Call) -> Option<Answer> {
        let answer = self.rank.network?.call(self.rank.rank, call);
        Some(u64::try_from(answer).map_err(|_| Errno(-answer)))
    }

    fn files_elsewhere(&self, process: &mut Process, number: u64, arguments: [u64; 6]) -> Option<Answer> {
        if !self.rank.own_files {
            return None;
        }
        own_files::call(self, process, number, arguments)
    }
}
