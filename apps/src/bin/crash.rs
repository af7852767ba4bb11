//! One named way to die per argument; `list` prints the names
//!
//! The kernel's promises about failing programs, one by one: which faults end a job, with which status, and that a peer that
//! waits for the dead rank is stopped with it. README.md beside the sources has the table of names and expected statuses; `table`
//! prints it.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use core::hint::black_box;
use lwk_apps::arch::x86_64 as machine;
use lwk_apps::cli::{Argument, Cli, fail};
use lwk_user::abi::address::{JOB_PAGE, NULL_END, SEGMENT_LIMIT, SLOT_BYTES, STACK_GUARD_BYTES, remote};
use lwk_user::abi::exit::{SIGNAL_BASE, TIMEOUT, signal};
use lwk_user::barrier::node_barrier;
use lwk_user::smartmap::{Peer, remote_address};
use lwk_user::{Env, NodeRank, eprintln, job, print, println, start, wait};

const USAGE: &str = "crash [--rank R|all] NAME; `crash list` prints the names";

const ILL: i32 = SIGNAL_BASE + signal::SIGILL;
const TRAP: i32 = SIGNAL_BASE + signal::SIGTRAP;
const ABRT: i32 = SIGNAL_BASE + signal::SIGABRT;
const BUS: i32 = SIGNAL_BASE + signal::SIGBUS;
const FPE: i32 = SIGNAL_BASE + signal::SIGFPE;
const SEGV: i32 = SIGNAL_BASE + signal::SIGSEGV;

/// An address in the kernel's half.
const KERNEL: u64 = 0xffff_8000_0000_0000;
/// An address in neither half.
const NONCANONICAL: u64 = 0x0000_8000_0000_0000;

/// A name, the status of the job that dies so, and how.
type Way = (&'static str, i32, fn());

const WAYS: &[Way] = &[
    ("null-read", SEGV, || load(0)),
    ("null-write", SEGV, || store(0)),
    ("null-call", SEGV, || machine::jump(0)),
    ("null-offset-read", SEGV, || load(NULL_END - 8)),
    ("text-write", SEGV, || store(code_address())),
    ("rodata-write", SEGV, || store((&raw const RODATA).addr() as u64)),
    ("job-page-write", SEGV, || store(JOB_PAGE)),
    ("job-page-exec", SEGV, || machine::jump(JOB_PAGE)),
    ("data-exec", SEGV, || machine::jump(DATA.as_ptr().addr() as u64)),
    ("stack-exec", SEGV, || {
        let code = black_box(RETURN);
        machine::jump(code.as_ptr().addr() as u64)
    }),
    ("heap-exec", SEGV, || machine::jump(Box::leak(Box::new(black_box(RETURN))).as_ptr().addr() as u64)),
    ("stack-overflow", SEGV, || {
        black_box(recurse(0));
    }),
    ("guard-read", SEGV, || load(job().page().stack_start - STACK_GUARD_BYTES / 2)),
    ("segment-end-read", SEGV, || load(job().page().stack_end)),
    ("slot-end-read", SEGV, || load(SEGMENT_LIMIT)),
    ("kernel-jump", SEGV, || machine::jump(KERNEL)),
    ("kernel-read", SEGV, || load(KERNEL)),
    ("kernel-write", SEGV, || store(KERNEL)),
    ("kernel-top-read", SEGV, || load(0xffff_ffff_ffff_f000)),
    ("vsyscall-call", SEGV, || machine::jump(0xffff_ffff_ff60_0000)),
    ("empty-slot-read", SEGV, || load(remote(job().page().segment_start, Peer::count()))),
    ("empty-slot-write", SEGV, || store(remote(job().page().segment_start, Peer::count()))),
    ("last-slot-read", SEGV, || load(255 * SLOT_BYTES + job().page().segment_start)),
    ("noncanonical-read", SEGV, || load(NONCANONICAL)),
    ("noncanonical-jump", SEGV, || machine::jump(NONCANONICAL)),
    ("peer-null", SEGV, || load(at_neighbour(0))),
    ("peer-text-write", SEGV, || store(at_neighbour(code_address()))),
    ("peer-rodata-write", SEGV, || store(at_neighbour((&raw const RODATA).addr() as u64))),
    ("peer-job-page-write", SEGV, || store(at_neighbour(JOB_PAGE))),
    ("peer-guard", SEGV, || load(at_neighbour(job().page().stack_start - STACK_GUARD_BYTES / 2))),
    ("peer-data-exec", SEGV, || machine::jump(at_neighbour(DATA.as_ptr().addr() as u64))),
    ("privileged-hlt", SEGV, machine::halt),
    ("privileged-cli", SEGV, machine::disable_interrupts),
    ("privileged-in", SEGV, machine::port_input),
    ("privileged-out", SEGV, machine::port_output),
    ("privileged-wrmsr", SEGV, machine::write_msr),
    ("privileged-rdmsr", SEGV, machine::read_msr),
    ("privileged-cr3", SEGV, machine::load_cr3),
    ("privileged-swapgs", SEGV, machine::swap_gs),
    ("privileged-sysret", SEGV, machine::system_return),
    ("privileged-lidt", SEGV, machine::load_idt),
    ("privileged-wbinvd", SEGV, machine::invalidate_caches),
    ("kernel-selector", SEGV, machine::load_kernel_selector),
    ("bad-selector", SEGV, machine::load_bad_selector),
    ("int80", SEGV, machine::interrupt_80),
    ("int14", SEGV, machine::interrupt_page_fault),
    ("ud2", ILL, machine::undefined),
    ("divide", FPE, machine::divide_by_zero),
    ("divide-overflow", FPE, machine::divide_overflow),
    ("simd-divide", FPE, machine::vector_divide_by_zero),
    ("x87-divide", FPE, machine::x87_divide_by_zero),
    ("alignment", BUS, machine::unaligned_load),
    ("breakpoint", TRAP, machine::breakpoint),
    ("debug-trap", TRAP, machine::debug_trap),
    ("single-step", TRAP, machine::single_step),
    ("single-step-syscall", TRAP, machine::single_step_syscall),
    ("null-stack-syscall", SEGV, || machine::syscall_on_stack(0)),
    ("kernel-stack-syscall", SEGV, || machine::syscall_on_stack(KERNEL + 0x1000)),
    ("noncanonical-stack-syscall", BUS, || machine::syscall_on_stack(NONCANONICAL + 0x1000)),
    ("null-stack-ud2", ILL, || machine::undefined_on_stack(0)),
    ("kernel-stack-ud2", ILL, || machine::undefined_on_stack(KERNEL + 0x1000)),
    ("noncanonical-stack-ud2", ILL, || machine::undefined_on_stack(NONCANONICAL + 0x1000)),
    ("nested-task-ud2", ILL, machine::undefined_with_nested_task),
    ("panic", ABRT, || panic!("as asked")),
    ("panic-lines", ABRT, || assert_eq!(black_box(1), 2, "as asked")),
    ("heap-exhausted", ABRT, exhaust_heap),
    ("abort", ABRT, || start::abort(ABRT)),
    ("abort-zero", 1, || start::abort(0)),
    ("exit-3", 3, || start::exit(3)),
    ("exit-255", 255, || start::exit(255)),
    ("exit-256", 0, || start::exit(256)),
    ("exit-without-newline", 0, || {
        print!("rank {} leaves without a newline", job().rank());
        start::exit(0)
    }),
    ("partial-line", SEGV, || {
        print!("rank {} dies within a line", job().rank());
        load(0)
    }),
    ("long-line", SEGV, || {
        for part in 0..400 {
            print!("{part:08} ");
        }
        println!();
        load(0)
    }),
    ("hang", TIMEOUT, || wait::spin_until(|| false)),
    ("hang-with-peers", TIMEOUT, || wait::spin_until(|| false)),
];

/// Which ranks die.
enum Victim {
    One(Peer),
    All,
}

lwk_user::entry!(main);

fn main(env: &Env) {
    let (name, victim) = parse(env);
    let Some((name, status, die)) = WAYS.iter().find(|way| way.0 == name) else {
        match name {
            "list" => list(|(name, _, _)| println!("{name}")),
            "table" => list(|(name, status, _)| println!("{name} {status}")),
            _ => fail(2, &format_args!("no way to die is called `{name}` (usage: {USAGE})")),
        }
        return;
    };
    let me = Peer::me();
    let dies = match victim {
        Victim::One(peer) => peer == me,
        Victim::All => true,
    };
    // So that the victim dies in the middle of its peers' lives, not before they have begun.
    node_barrier();
    // `hang` is every rank for itself; the others end well when the victim has, or wait for it in vain.
    if dies || *name == "hang" {
        die();
        eprintln!("rank {} survived {name}", me);
        start::abort(1);
    }
    if *status != 0 {
        node_barrier();
    }
}

fn parse(env: &Env) -> (&'static str, Victim) {
    let mut cli = Cli::new(env, USAGE);
    let mut victim = Victim::One(Peer::root());
    let mut name = None;
    while let Some(argument) = cli.argument() {
        match argument {
            Argument::Option("rank") => {
                let text = cli.text();
                let rank = text.parse().ok().and_then(|rank| Peer::new(NodeRank(rank)));
                victim = match (text, rank) {
                    ("all", _) => Victim::All,
                    (_, Some(peer)) => Victim::One(peer),
                    _ => {
                        let last = Peer::count() - 1;
                        cli.refuse(&format_args!(
                            "--rank takes a rank from 0 to {last} or `all`, not `{text}`"
                        ))
                    }
                };
            }
            Argument::Word(word) if name.is_none() => name = Some(word),
            other => cli.unknown(other),
        }
    }
    match name {
        Some(name) => (name, victim),
        None => cli.refuse(&"which way to die?"),
    }
}

fn list(line: impl Fn(&Way)) {
    if Peer::me() == Peer::root() {
        WAYS.iter().for_each(line);
    }
}

/// What an attempt to execute data finds: a return instruction, so that without protection it would simply return.
const RETURN: [u8; 16] = [0xc3; 16];
/// Constant data.
static RODATA: [u8; 16] = RETURN;
/// Writable data; the interior mutability keeps it out of the read-only section.
static DATA: lwk_user::smartmap::Symmetric<[u8; 16]> = lwk_user::smartmap::Symmetric::new(RETURN);

fn load(address: u64) {
    let pointer: *const u64 = core::ptr::with_exposed_provenance(address as usize);
    // SAFETY: volatile, of an address where nothing is that may be read: it faults, which ends the rank.
    unsafe { pointer.read_volatile() };
}

fn store(address: u64) {
    let pointer: *mut u8 = core::ptr::with_exposed_provenance_mut(address as usize);
    // SAFETY: volatile, to an address where nothing is that may be written: it faults, which ends the rank.
    unsafe { pointer.write_volatile(0) };
}

/// An address in the middle of this program's code.
fn code_address() -> u64 {
    (main as fn(&Env)) as usize as u64
}

/// The neighbour's copy of a place; with one rank, this rank's own in its slot.
fn at_neighbour(local: u64) -> u64 {
    let local: *const u8 = core::ptr::with_exposed_provenance(local as usize);
    remote_address(Peer::me().right(), local).addr() as u64
}

/// Runs off the stack, a page at a time (the end is out of reach). Each call's array is needed after the next, so none is a
/// jump.
fn recurse(depth: u64) -> u64 {
    let page = black_box([depth; 512]);
    if depth == black_box(u64::MAX) { 0 } else { recurse(depth + 1) + page[depth as usize % 512] }
}

/// Takes memory until there is none.
fn exhaust_heap() {
    loop {
        // Without the black box the compiler sees that nobody needs the memory, and takes none.
        Box::leak(black_box(alloc::vec![0u8; 1 << 20].into_boxed_slice()));
    }
}
