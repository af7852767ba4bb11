//! A program that is started by its file becomes a job of one rank in the host home, as with other MPIs: before its first instruction it
//! executes the host's command, which starts it again as a rank.
//!
//! The command is `bin/margay` of the folder that `MARGAY_HOME` names, else the path that was recorded when program or library was
//! installed, else `margay` in `PATH`. If there is none, the program ends with one line.

use core::ffi::{CStr, c_char};

use lwk_abi::runtime::{ALONE, HOME, LOADER_BYTES, LOADER_MARK};

use crate::start;
use crate::syscall::{mmap, raw};

/// Linux's numbers of the calls that only a program outside of a job makes.
const EXECVE: u64 = 59;
const READLINK: u64 = 89;
/// Most bytes of a path, with its NUL (Linux's `PATH_MAX`).
const PATH_BYTES: usize = 4096;
/// The command's name in a folder of `PATH`.
const COMMAND: &[u8] = b"/margay";
/// The same in the folder of an installation.
const COMMAND_AT_HOME: &[u8] = b"/bin/margay";

/// Where the command is, as the installation has recorded it.
#[repr(C)]
struct Loader {
    mark: [u8; LOADER_MARK.len()],
    path: [u8; LOADER_BYTES],
}

/// Found by its mark in the file of the program or of the library, and filled in there.
#[used]
static LOADER: Loader = Loader { mark: LOADER_MARK, path: [0; LOADER_BYTES] };

/// Runs first in a C program: the C library calls it before any other constructor, with the array of the environment in place.
#[cfg(all(target_os = "none", feature = "c-program"))]
#[used]
#[unsafe(link_section = ".init_array.00001")]
pub(crate) static AT_START: extern "C" fn() = at_start;

#[cfg(all(target_os = "none", feature = "c-program"))]
extern "C" fn at_start() {
    unsafe extern "C" {
        /// POSIX's array of the environment, in the C library.
        static environ: *const *const c_char;
    }
    if start::is_in_job() {
        return;
    }
    // SAFETY: nothing of the program has run, so the array is where the system has put it: above the arguments, their null pointer and,
    // below them, their count, which no pointer equals, since nothing is mapped at such low addresses.
    unsafe {
        let words = environ.cast::<usize>();
        let mut count = 0;
        while words.sub(count + 2).read() != count {
            count += 1;
        }
        become_job(environ.sub(count + 1), environ);
    }
}

/// Returns if this program is part of a job. Otherwise it becomes one, or ends with a line that says how to start it.
///
/// # Safety
/// Both are null-terminated arrays of NUL-terminated texts.
pub(crate) unsafe fn become_job(arguments: *const *const c_char, environment: *const *const c_char) {
    if start::is_in_job() {
        return;
    }
    // SAFETY: both are null-terminated arrays of NUL-terminated texts (this function's contract).
    unsafe { execute(arguments, environment) };
    start::refuse();
}

/// Executes the command with this program's file and arguments; comes back if there is none.
///
/// # Safety
/// As [`become_job`].
unsafe fn execute(arguments: *const *const c_char, environment: *const *const c_char) {
    let (mut own, mut command) = (Path::new(), Path::new());
    own.read_own();
    let mut count = 0;
    // SAFETY: the array ends with a null pointer, before which it is read.
    while !unsafe { arguments.add(count).read() }.is_null() {
        count += 1;
    }
    // The command, its first argument, the program's file, the arguments and the null pointer.
    const BEFORE: usize = 3;
    let Ok(vector) = mmap((BEFORE + count + 1) * size_of::<*const c_char>()) else { return };
    let vector = vector.cast::<*const c_char>().as_ptr();
    let alone = Path::of([ALONE.as_bytes()]);
    let first = arguments;
    // SAFETY: the new memory has so many words, aligned to a page.
    unsafe {
        vector.add(1).write(alone.pointer());
        vector.add(2).write(if own.used == 0 && count > 0 { *first } else { own.pointer() });
        vector.add(BEFORE).copy_from_nonoverlapping(arguments, count + 1);
    }
    let mut attempt = |parts: [&[u8]; 2]| {
        command.set(parts);
        if command.used == 0 {
            return;
        }
        // SAFETY: `vector` has room for the word and is null-terminated, as is `environment` (this function's
        // contract); the call reads them and comes back only if it has changed nothing.
        unsafe {
            vector.write(command.pointer());
            let [path, vector, environment] =
                [command.pointer().addr(), vector.addr(), environment.addr()].map(|word| word as u64);
            raw(EXECVE, [path, vector, environment, 0, 0, 0]);
        }
    };
    // SAFETY: the environment is a null-terminated array of NUL-terminated texts (this function's contract).
    let value = |name: &str| unsafe { variable(environment, name) }.unwrap_or_default();
    match value(HOME) {
        b"" => {}
        home => attempt([home, COMMAND_AT_HOME]),
    }
    // SAFETY: a static. It is read as memory that others have written, since the file has been changed behind the compiler's back.
    let recorded = unsafe { core::ptr::read_volatile(&raw const LOADER.path) };
    attempt([recorded.split(|byte| *byte == 0).next().unwrap_or_default(), b""]);
    for folder in value("PATH").split(|byte| *byte == b':').filter(|folder| !folder.is_empty()) {
        attempt([folder, COMMAND]);
    }
}

/// The value of a variable.
///
/// # Safety
/// As [`become_job`]; the texts stay as long as the program.
unsafe fn variable(environment: *const *const c_char, name: &str) -> Option<&'static [u8]> {
    let mut entry = environment;
    // SAFETY: the array ends with a null pointer, before which it is read, and its texts with NUL.
    unsafe {
        while !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(value) = text.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"=")) {
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// A path with its NUL.
struct Path {
    bytes: [u8; PATH_BYTES],
    used: usize,
}

impl Path {
    const fn new() -> Path {
        Path { bytes: [0; PATH_BYTES], used: 0 }
    }

    fn of<const N: usize>(parts: [&[u8]; N]) -> Path {
        let mut path = Path::new();
        path.set(parts);
        path
    }

    /// Becomes these bytes, one behind the other; empty if they are too long.
    fn set<const N: usize>(&mut self, parts: [&[u8]; N]) {
        self.used = 0;
        for part in parts {
            let end = self.used + part.len();
            let Some(room) = self.bytes[..PATH_BYTES - 1].get_mut(self.used..end) else {
                self.used = 0;
                break;
            };
            room.copy_from_slice(part);
            self.used = end;
        }
        self.bytes[self.used] = 0;
    }

    /// Becomes the path of this program's file; empty if the system does not tell.
    fn read_own(&mut self) {
        let from = c"/proc/self/exe".as_ptr().expose_provenance() as u64;
        let to = self.bytes.as_mut_ptr().expose_provenance() as u64;
        // SAFETY: the call reads the text and writes at most so many bytes, which the array has room for.
        let read = unsafe { raw(READLINK, [from, to, PATH_BYTES as u64 - 1, 0, 0, 0]) };
        self.used = usize::try_from(read).unwrap_or(0);
        self.bytes[self.used] = 0;
    }

    fn pointer(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}
