//! Start-up and end of a program: [`entry!`](crate::entry!), arguments, environment, exit.
//!
//! Both homes start a rank with the Linux x86-64 initial stack: argument count, argument pointers, null, environment
//! pointers, null, auxiliary vector (System V ABI, AMD64 supplement, section 3.4.1).

use alloc::borrow::Cow;
use alloc::string::String;
use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

pub use crate::syscall::{abort, exit};

/// What the home gave the program: arguments and environment. Texts live as long as the program.
pub struct Env {
    arguments: &'static [*const c_char],
    environment: &'static [*const c_char],
}

// SAFETY: the initial stack's pointers and strings are never written after start-up, and stay for the life of the program.
unsafe impl Sync for Env {}

impl Env {
    /// Reads the initial stack.
    ///
    /// # Safety
    /// `stack` must point to the initial stack of the process, and nobody may write to it any more.
    #[cfg(all(target_os = "none", not(feature = "c-program")))]
    unsafe fn from_stack(stack: *const usize) -> Env {
        // SAFETY: the layout of the initial stack (this function's contract): a count, that many pointers, a null pointer, pointers, a null pointer.
        unsafe {
            let count = stack.read();
            let arguments = stack.add(1).cast::<*const c_char>();
            let environment = arguments.add(count + 1);
            set_environment(environment);
            let mut variables = 0;
            while !environment.add(variables).read().is_null() {
                variables += 1;
            }
            Env {
                arguments: core::slice::from_raw_parts(arguments, count),
                environment: core::slice::from_raw_parts(environment, variables),
            }
        }
    }

    /// The arguments as bytes; the first is the program's name.
    pub fn args_bytes(&self) -> impl ExactSizeIterator<Item = &'static [u8]> + use<> {
        // SAFETY: each pointer of the initial stack leads to a NUL-terminated string that is never written.
        self.arguments.iter().map(|argument| unsafe { CStr::from_ptr(*argument) }.to_bytes())
    }

    /// The arguments as text; the first is the program's name. What is not UTF-8 reads as U+FFFD.
    pub fn args(&self) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        self.args_bytes().map(text)
    }

    /// The environment as name and value. What is not UTF-8 reads as U+FFFD; an entry without `=` has an empty value.
    pub fn vars(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        // SAFETY: each pointer of the initial stack leads to a NUL-terminated string that is never written.
        let entries = self.environment.iter().map(|entry| text(unsafe { CStr::from_ptr(*entry) }.to_bytes()));
        entries.map(|entry| entry.split_once('=').unwrap_or((entry, "")))
    }

    /// The value of an environment variable, the first with that name.
    pub fn var(&self, name: &str) -> Option<&'static str> {
        self.vars().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// The environment of this program, for libraries that are not handed an [`Env`]: null-terminated, or null before it is known.
static ENVIRONMENT: AtomicPtr<*const c_char> = AtomicPtr::new(core::ptr::null_mut());

/// Tells libraries the environment. [`entry!`](crate::entry!) has done so before `main`; a program with another start (a C program) does it
/// with its `environ`.
///
/// # Safety
/// `environment` is null, or a null-terminated array of NUL-terminated texts that are not written any more.
pub unsafe fn set_environment(environment: *const *const c_char) {
    // Relaxed: this rank alone reads and writes it.
    ENVIRONMENT.store(environment.cast_mut(), Ordering::Relaxed);
}

/// The names and values of the environment; none before [`set_environment`]. What is not UTF-8 reads as U+FFFD.
pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    // Relaxed: as in `set_environment`.
    let mut entry = ENVIRONMENT.load(Ordering::Relaxed).cast_const();
    core::iter::from_fn(move || {
        // SAFETY: null, or a null-terminated array of NUL-terminated texts (contract of `set_environment`);
        // `entry` stays at the null pointer once there.
        let bytes = unsafe {
            if entry.is_null() || (*entry).is_null() {
                return None;
            }
            let bytes = CStr::from_ptr(*entry).to_bytes();
            entry = entry.add(1);
            bytes
        };
        let entry = text(bytes);
        Some(entry.split_once('=').unwrap_or((entry, "")))
    })
}

/// The value of an environment variable, the first with that name; none if there is none, or the environment is not known.
pub fn variable(name: &str) -> Option<&'static str> {
    variables().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Bytes of the initial stack as text. Replaced text is kept for the life of the program, as the original is.
fn text(bytes: &'static [u8]) -> &'static str {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.leak(),
    }
}

/// What a program's main function may return.
pub trait ExitStatus {
    /// The rank's exit status, 0 to 255.
    fn status(self) -> i32;
}

impl ExitStatus for () {
    fn status(self) -> i32 {
        0
    }
}

impl ExitStatus for i32 {
    fn status(self) -> i32 {
        self
    }
}

/// An error is printed as one line on standard error; the status is 1.
impl<T: ExitStatus, E: core::fmt::Display> ExitStatus for Result<T, E> {
    fn status(self) -> i32 {
        match self {
            Ok(value) => value.status(),
            Err(error) => {
                crate::eprintln!("rank {}: {error}", crate::job().rank());
                1
            }
        }
    }
}

/// Names the program's main function: `fn(&Env)`, returning anything that is an [`ExitStatus`].
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        // SAFETY: the name is the library's own; a program has one entry.
        #[unsafe(no_mangle)]
        extern "Rust" fn lwk_main(env: &'static $crate::start::Env) -> i32 {
            $crate::start::ExitStatus::status($main(env))
        }
    };
}

/// Whether this program has been seen to be part of a job. Relaxed throughout: a rank is one thread.
static IN_JOB: AtomicBool = AtomicBool::new(false);

/// Ends a program that is not part of a job, with one line and the status of wrong use. Nothing else of the library works there, for want of
/// the job page. Start-up sees to it that this is never so (`alone.rs`). Costs a look at a variable, and the first time a system call.
#[inline]
pub fn require_job() {
    if !IN_JOB.load(Ordering::Relaxed) {
        look_for_job();
    }
}

#[cold]
fn look_for_job() {
    // Whatever uses the library is linked with its start-up code by this.
    #[cfg(all(target_os = "none", feature = "c-program"))]
    core::hint::black_box(&crate::alone::AT_START);
    if !is_in_job() {
        refuse();
    }
}

/// Whether a home has started this program.
pub(crate) fn is_in_job() -> bool {
    let in_job = IN_JOB.load(Ordering::Relaxed) || crate::syscall::is_in_job();
    IN_JOB.store(in_job, Ordering::Relaxed);
    in_job
}

/// Ends a program that no home has started and that finds none.
pub(crate) fn refuse() -> ! {
    let _ = crate::syscall::write(
        2,
        b"margay: this program needs `margay` of its installation to run: start it with mpiexec, or set MARGAY_HOME to the installation's folder\n",
    );
    exit(lwk_abi::exit::USAGE);
}

/// Called by the entry point with the initial stack.
///
/// # Safety
/// `stack` is the initial stack (System V ABI, AMD64 supplement, section 3.4.1), which nobody else reads.
#[cfg(all(target_os = "none", not(feature = "c-program")))]
pub(crate) unsafe extern "C" fn begin(stack: *const usize) -> ! {
    unsafe extern "Rust" {
        /// Defined by [`entry!`](crate::entry!) in the program.
        safe fn lwk_main(env: &'static Env) -> i32;
    }
    // SAFETY: the layout of the initial stack (this function's contract): a count, that many pointers, a null pointer, and the environment's.
    unsafe {
        let arguments = stack.add(1).cast::<*const c_char>();
        crate::alone::become_job(arguments, arguments.add(stack.read() + 1));
    }
    if !crate::job().is_valid() {
        // Nothing of the library works without the page, so the text goes out as it is.
        let _ = crate::syscall::write(
            2,
            b"lwk-user: no job page of this version: rebuild the program and its home\n",
        );
        exit(lwk_abi::exit::USAGE);
    }
    // SAFETY: the initial stack, which only this function reads (this function's contract).
    let env: &'static Env =
        alloc::boxed::Box::leak(alloc::boxed::Box::new(unsafe { Env::from_stack(stack) }));
    exit(lwk_main(env))
}
