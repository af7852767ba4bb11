//! Set-up and end (the standard, section 9.1).

use super::collective::{partners, synchronise};
use super::far;
use super::fatal::stop;
use super::group::Group;
use super::heap;
use super::info::{SPECIFICATION, vendor_name};
use super::life::{self, Life, is_running};
use super::order::complete;
use super::pair::{Kind, MOST, gone_word};
use super::pe::{look_around, my_pe, n_pes};
use super::settings::Settings;
use lwk_place::wall;
use lwk_user::{println, start, syscall};

/// `SHMEM_THREAD_SINGLE`: one thread. The only level this library has, as a rank is one thread.
pub const THREAD_SINGLE: i32 = 0;
/// `SHMEM_THREAD_FUNNELED`.
pub const THREAD_FUNNELED: i32 = 1;
/// `SHMEM_THREAD_SERIALIZED`.
pub const THREAD_SERIALIZED: i32 = 2;
/// `SHMEM_THREAD_MULTIPLE`.
pub const THREAD_MULTIPLE: i32 = 3;

/// Sets the library up (`shmem_init`). Collective; returns in all PEs or in none. Calling it again changes nothing.
pub fn init(settings: &Settings) {
    match life::now() {
        Life::Running => return,
        Life::After => {
            stop(format_args!("shmem_init: called after shmem_finalize; a program is set up once"))
        }
        Life::Before => {}
    }
    start::require_job();
    let world = Group::world();
    if world.size() as usize > MOST {
        stop(format_args!("shmem_init: {} PEs are too many: there can be {MOST}", world.size()));
    }
    if settings.wall {
        wall::build();
    }
    life::enter(Life::Running);
    syscall::hold_job(true);
    if !look_around() {
        far::open(partners(world));
    }
    synchronise(world, Kind::SetUp);
    heap::create(settings.symmetric_bytes);
    if my_pe() == 0 {
        tell(settings);
    }
    // What PE 0 has to say comes before what any PE does.
    synchronise(Group::world(), Kind::SetUp);
}

/// As [`init`], for callers of which one alone may finalize: a second call, while the library is set up or after, ends the job.
pub fn init_first(settings: &Settings) {
    if is_running() {
        stop(format_args!("init: called twice; a program is set up once"));
    }
    init(settings);
}

/// As [`init`]; returns the level of thread support, which is always [`THREAD_SINGLE`] (`shmem_init_thread`). The standard lets
/// a library give less than was asked for. Errors: 1 for a level that is none; then nothing is set up.
pub fn init_thread(settings: &Settings, requested: i32) -> Result<i32, i32> {
    if !(THREAD_SINGLE..=THREAD_MULTIPLE).contains(&requested) {
        return Err(1);
    }
    init(settings);
    Ok(THREAD_SINGLE)
}

/// The level of thread support (`shmem_query_thread`).
pub fn query_thread() -> i32 {
    THREAD_SINGLE
}

fn tell(settings: &Settings) {
    let (major, minor) = SPECIFICATION;
    if settings.version {
        println!("{}, OpenSHMEM {major}.{minor}", vendor_name());
    }
    if settings.info {
        println!(
            "SHMEM_SYMMETRIC_SIZE  bytes of each PE's symmetric heap, with k, m, g or t; default: half of its memory"
        );
        println!("SHMEM_VERSION         any value: print the library's version at start-up");
        println!("SHMEM_INFO            any value: print this list");
        println!("SHMEM_DEBUG           any value: print what start-up has found");
    }
    if settings.debug
        && let Some((start, bytes)) = heap::extent()
    {
        println!("shmem: {} PEs, symmetric heap of {bytes} bytes at {start:#x}", n_pes());
    }
}

/// Ends the use of the library (`shmem_finalize`): waits for all PEs and completes everything. Calling it again, or before
/// set-up, changes nothing.
pub fn finalize() {
    if !is_running() {
        return;
    }
    synchronise(Group::world(), Kind::Finalize);
    complete();
    heap::destroy();
    life::enter(Life::After);
    syscall::hold_job(false);
}

/// What the exit of a program does that has not called [`finalize`] (the standard's execution model): this PE's part of it, without waiting.
///
/// Whether the exit is that of a failure is not known here: with another status than 0 it ends the job, and with that status, so
/// peers that are in some call must not take it for a mistake of theirs before. So the home tells them, once this PE has
/// exited with status 0: those that finalize go on, and in any other collective call the job ends. What this PE has put is there, and its
/// memory stays until the job ends.
pub fn leave() {
    if !is_running() {
        return;
    }
    complete();
    life::enter(Life::After);
    syscall::leave_job(gone_word());
}

/// Ends the whole job with the low byte of a status, whatever the other PEs are doing (`shmem_global_exit`).
pub fn global_exit(status: i32) -> ! {
    syscall::end_job(status)
}
