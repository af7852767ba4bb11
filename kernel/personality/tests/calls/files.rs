//! Files, folders, pipes and the console.

use lwk_abi::syscall::errno::{
    EACCES, EAGAIN, EBADF, EDEADLK, EEXIST, EFAULT, EINVAL, EISDIR, EMFILE, ENOENT, ENOTDIR, ENOTEMPTY,
    EPIPE, ERANGE, ESPIPE,
};
use lwk_abi::syscall::linux;
use lwk_personality::{Answer, Machine, Stream};

use super::home::{NOWHERE, Program, error};

const WRITE_ONLY: u64 = 1;
const READ_WRITE: u64 = 2;
const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const TRUNCATE: u64 = 0o1000;
const APPEND: u64 = 0o2000;
const NON_BLOCKING: u64 = 0o4000;

fn open(program: &mut Program, path: &str, flags: u64) -> Answer {
    let path = program.path(path);
    program.call(linux::OPEN, &[path, flags, 0o644])
}

fn write(program: &mut Program, fd: u64, text: &[u8]) -> Answer {
    let bytes = program.put(text);
    program.call(linux::WRITE, &[fd, bytes, text.len() as u64])
}

/// What a read of at most so many bytes brings.
fn read(program: &mut Program, fd: u64, bytes: u64) -> Result<Vec<u8>, lwk_personality::Errno> {
    let target = program.put(&vec![0; bytes as usize]);
    let count = program.call(linux::READ, &[fd, target, bytes])?;
    Ok(program.get(target, count as usize))
}

#[test]
fn what_is_written_is_read_at_any_place() {
    let mut program = Program::new();
    let file = open(&mut program, "/tmp/file", CREATE | READ_WRITE).expect("a new file");
    assert_eq!(write(&mut program, file, b"0123456789"), Ok(10));
    assert_eq!(read(&mut program, file, 4), Ok(vec![]));
    assert_eq!(program.call(linux::LSEEK, &[file, 3, 0]), Ok(3));
    assert_eq!(read(&mut program, file, 4), Ok(b"3456".to_vec()));
    assert_eq!(program.call(linux::LSEEK, &[file, -2i64 as u64, 1]), Ok(5));
    assert_eq!(program.call(linux::LSEEK, &[file, -1i64 as u64, 2]), Ok(9));
    assert_eq!(program.call(linux::LSEEK, &[file, -1i64 as u64, 0]), error(EINVAL));
    assert_eq!(read(&mut program, file, 4), Ok(b"9".to_vec()));
    // A place of its own leaves the offset.
    let target = program.put(&[0; 4]);
    assert_eq!(program.call(linux::PREAD64, &[file, target, 4, 1]), Ok(4));
    assert_eq!(program.get(target, 4), b"1234");
    assert_eq!(program.call(linux::LSEEK, &[file, 0, 1]), Ok(10));
    let mut allocate =
        |offset: i64, bytes: i64| program.call(linux::FALLOCATE, &[file, 0, offset as u64, bytes as u64]);
    assert_eq!(
        (allocate(0, 0), allocate(-1, 4), allocate(0, -4)),
        (error(EINVAL), error(EINVAL), error(EINVAL))
    );
    assert_eq!(allocate(8, 4), Ok(0));
    assert_eq!(program.call(linux::LSEEK, &[file, 0, 2]), Ok(12));
    assert_eq!(program.call(linux::FTRUNCATE, &[file, 2]), Ok(0));
    assert_eq!(program.call(linux::LSEEK, &[file, 0, 2]), Ok(2));
    assert_eq!(program.call(linux::CLOSE, &[file]), Ok(0));
    assert_eq!(program.call(linux::CLOSE, &[file]), error(EBADF));
}

#[test]
fn how_a_file_is_opened_says_what_may_be_done() {
    let mut program = Program::new();
    assert_eq!(open(&mut program, "/tmp/none", 0), error(ENOENT));
    let writer = open(&mut program, "/tmp/file", CREATE | EXCLUSIVE | WRITE_ONLY).expect("a new file");
    assert_eq!(open(&mut program, "/tmp/file", CREATE | EXCLUSIVE | WRITE_ONLY), error(EEXIST));
    assert_eq!(write(&mut program, writer, b"abc"), Ok(3));
    assert_eq!(read(&mut program, writer, 1), Err(lwk_personality::Errno(EBADF)));
    let reader = open(&mut program, "/tmp/file", 0).expect("the file");
    assert_eq!(write(&mut program, reader, b"x"), error(EBADF));
    let appender = open(&mut program, "/tmp/file", WRITE_ONLY | APPEND).expect("the file");
    assert_eq!(write(&mut program, appender, b"de"), Ok(2));
    assert_eq!(read(&mut program, reader, 9), Ok(b"abcde".to_vec()));
    open(&mut program, "/tmp/file", WRITE_ONLY | TRUNCATE).expect("the file");
    assert_eq!(program.call(linux::LSEEK, &[reader, 0, 2]), Ok(0));
    assert_eq!(open(&mut program, "/tmp", WRITE_ONLY), error(EISDIR));
    assert_eq!(open(&mut program, "/tmp/file/below", 0), error(ENOTDIR));
}

#[test]
fn what_the_system_makes_up_is_read_and_devices_are_written_too() {
    let mut program = Program::new();
    let zero = open(&mut program, "/dev/zero", READ_WRITE).expect("a device");
    assert_eq!(write(&mut program, zero, b"x"), Ok(1));
    assert_eq!(read(&mut program, zero, 3), Ok(vec![0; 3]));
    assert_eq!(open(&mut program, "/proc/meminfo", WRITE_ONLY), error(EACCES));
    let memory = open(&mut program, "/proc/meminfo", 0).expect("a text");
    let text = read(&mut program, memory, 512).expect("a text");
    assert!(text.starts_with(b"MemTotal:"), "{}", String::from_utf8_lossy(&text));
    assert_eq!(write(&mut program, memory, b"x"), error(EBADF));
}

#[test]
fn vectors_are_checked_as_a_whole_before_anything_is_written() {
    let mut program = Program::new();
    let file = open(&mut program, "/tmp/file", CREATE | READ_WRITE).expect("a new file");
    let (one, two) = (program.put(b"ab"), program.put(b"cde"));
    let good = program.put_words(&[one, 2, two, 3]);
    assert_eq!(program.call(linux::WRITEV, &[file, good, 2]), Ok(5));
    let wrong = program.put_words(&[one, 2, two, u64::MAX]);
    assert_eq!(program.call(linux::WRITEV, &[file, wrong, 2]), error(EINVAL));
    assert_eq!(program.call(linux::WRITEV, &[file, NOWHERE, 2]), error(EFAULT));
    assert_eq!(program.call(linux::LSEEK, &[file, 0, 2]), Ok(5));
    let target = program.put(&[0; 8]);
    let into = program.put_words(&[target + 4, 4, target, 4]);
    assert_eq!(program.call(linux::PREADV, &[file, into, 2, 0]), Ok(5));
    assert_eq!(program.get(target, 8), b"e\0\0\0abcd");
}

#[test]
fn descriptors_are_the_lowest_free_and_share_their_offset() {
    let mut program = Program::new();
    let file = open(&mut program, "/tmp/file", CREATE | READ_WRITE).expect("a new file");
    assert_eq!(file, 3);
    let twin = program.call(linux::DUP, &[file]).expect("another");
    assert_eq!(twin, 4);
    assert_eq!(write(&mut program, file, b"abc"), Ok(3));
    assert_eq!(program.call(linux::LSEEK, &[twin, 0, 1]), Ok(3));
    assert_eq!(program.call(linux::DUP2, &[file, 7]), Ok(7));
    assert_eq!(program.call(linux::DUP2, &[file, file]), Ok(file));
    assert_eq!(program.call(linux::DUP3, &[file, file, 0]), error(EINVAL));
    assert_eq!(program.call(linux::DUP, &[99]), error(EBADF));
    assert_eq!(program.call(linux::CLOSE, &[file]), Ok(0));
    assert_eq!(program.call(linux::DUP, &[twin]), Ok(3));
    let full = loop {
        match program.call(linux::DUP, &[twin]) {
            Ok(_) => {}
            Err(problem) => break problem,
        }
    };
    assert_eq!(full, lwk_personality::Errno(EMFILE));
}

#[test]
fn folders_hold_files_until_they_are_empty() {
    let mut program = Program::new();
    let folder = program.path("/tmp/folder");
    assert_eq!(program.call(linux::MKDIR, &[folder, 0o755]), Ok(0));
    assert_eq!(program.call(linux::MKDIR, &[folder, 0o755]), error(EEXIST));
    assert_eq!(program.call(linux::CHDIR, &[folder]), Ok(0));
    open(&mut program, "below", CREATE | WRITE_ONLY).expect("a file in the current folder");
    let place = program.put(&[0; 16]);
    assert_eq!(program.call(linux::GETCWD, &[place, 16]), Ok(12));
    assert_eq!(program.get(place, 12), b"/tmp/folder\0");
    assert_eq!(program.call(linux::GETCWD, &[place, 11]), error(ERANGE));
    assert_eq!(program.call(linux::RMDIR, &[folder]), error(ENOTEMPTY));
    let (below, beside) = (program.path("/tmp/folder/below"), program.path("/tmp/beside"));
    assert_eq!(program.call(linux::UNLINK, &[folder]), error(EISDIR));
    assert_eq!(program.call(linux::RENAME, &[below, beside]), Ok(0));
    assert_eq!(program.call(linux::ACCESS, &[below, 0]), error(ENOENT));
    assert_eq!(program.call(linux::ACCESS, &[beside, 0]), Ok(0));
    assert_eq!(program.call(linux::UNLINK, &[beside]), Ok(0));
    assert_eq!(program.call(linux::UNLINK, &[beside]), error(ENOENT));
    // Flags that there are not.
    assert_eq!(program.call(linux::UNLINKAT, &[0, folder, 1]), error(EINVAL));
    assert_eq!(program.call(linux::RENAMEAT2, &[0, folder, 0, beside, 2]), error(EINVAL));
    assert_eq!(program.call(linux::ACCESS, &[folder, 0]), Ok(0));
    assert_eq!(program.call(linux::ACCESS, &[folder, 8]), error(EINVAL));
    assert_eq!(program.call(linux::FACCESSAT2, &[0, folder, 0, 1]), error(EINVAL));
}

#[test]
fn a_file_tells_what_it_is() {
    const CURRENT: u64 = -100i64 as u64;
    const EMPTY_PATH: u64 = 0x1000;
    const REGULAR: u32 = 0o100_000;
    const FOLDER: u32 = 0o040_000;
    let mut program = Program::new();
    let file = open(&mut program, "/tmp/file", CREATE | WRITE_ONLY).expect("a new file");
    assert_eq!(write(&mut program, file, &[1; 1000]), Ok(1000));
    let [path, folder, empty] = ["/tmp/file", "/tmp", ""].map(|path| program.path(path));
    let place = program.put(&[0xff; 256]);
    let kind_and_size = |program: &Program| {
        let mode = u32::from_le_bytes(program.get(place + 24, 4).try_into().expect("four bytes"));
        (mode, program.word(place + 48))
    };
    // New files lack what the usual mask takes away.
    for call in [&[linux::STAT, path][..], &[linux::FSTAT, file], &[linux::LSTAT, path]] {
        assert_eq!(program.call(call[0], &[call[1], place]), Ok(0));
        assert_eq!(kind_and_size(&program), (REGULAR | 0o644, 1000));
    }
    assert_eq!(program.call(linux::NEWFSTATAT, &[file, empty, place, EMPTY_PATH]), Ok(0));
    assert_eq!(program.call(linux::NEWFSTATAT, &[file, empty, place, 0]), error(ENOENT));
    assert_eq!(program.call(linux::NEWFSTATAT, &[file, empty, place, 1]), error(EINVAL));
    assert_eq!(program.call(linux::STAT, &[folder, place]), Ok(0));
    assert_eq!(kind_and_size(&program).0 & !0o7777, FOLDER);
    assert_eq!(program.call(linux::STAT, &[path, NOWHERE]), error(EFAULT));
    // Of `statx`: the mode is a half word at 28, the size a word at 40.
    assert_eq!(program.call(linux::STATX, &[CURRENT, path, 0, 0x7ff, place]), Ok(0));
    let mode = u16::from_le_bytes(program.get(place + 28, 2).try_into().expect("two bytes"));
    assert_eq!((u32::from(mode), program.word(place + 40)), (REGULAR | 0o644, 1000));
    assert_eq!(program.call(linux::STATX, &[CURRENT, path, 0, 1 << 31, place]), error(EINVAL));
    assert_eq!(program.call(linux::STATX, &[CURRENT, path, 0x6000, 0x7ff, place]), error(EINVAL));
}

#[test]
fn a_pipe_gives_back_what_went_in_and_never_waits_for_nobody() {
    let mut program = Program::new();
    let ends = program.put(&[0; 8]);
    assert_eq!(program.call(linux::PIPE2, &[ends, 0]), Ok(0));
    let end = |program: &Program, at| {
        u64::from(u32::from_le_bytes(program.get(ends + at, 4).try_into().expect("four bytes")))
    };
    let (reader, writer) = (end(&program, 0), end(&program, 4));
    assert_eq!(read(&mut program, reader, 4), Err(lwk_personality::Errno(EDEADLK)));
    assert_eq!(write(&mut program, writer, b"abcdef"), Ok(6));
    assert_eq!(read(&mut program, reader, 4), Ok(b"abcd".to_vec()));
    assert_eq!(read(&mut program, reader, 4), Ok(b"ef".to_vec()));
    assert_eq!(program.call(linux::LSEEK, &[reader, 0, 0]), error(ESPIPE));
    assert_eq!(write(&mut program, reader, b"x"), error(EBADF));
    assert_eq!(program.call(linux::CLOSE, &[writer]), Ok(0));
    assert_eq!(read(&mut program, reader, 4), Ok(vec![]), "the end of what there is");
    assert_eq!(program.call(linux::PIPE2, &[ends, NON_BLOCKING]), Ok(0));
    let (reader, writer) = (end(&program, 0), end(&program, 4));
    assert_eq!(read(&mut program, reader, 4), Err(lwk_personality::Errno(EAGAIN)));
    assert_eq!(program.call(linux::CLOSE, &[reader]), Ok(0));
    assert_eq!(write(&mut program, writer, b"x"), error(EPIPE));
    assert!(program.process.has_pending_signal(), "SIGPIPE");
}

#[test]
fn a_pipe_is_ready_when_nobody_would_have_to_wait() {
    const IN: u16 = 1;
    const OUT: u16 = 4;
    const HANG_UP: u16 = 0x10;
    const INVALID: u16 = 0x20;
    const ROOM: usize = 64 << 10;
    let mut program = Program::new();
    let ends = program.put(&[0; 8]);
    assert_eq!(program.call(linux::PIPE2, &[ends, 0]), Ok(0));
    let (reader, writer) = (3u32, 4u32);
    let found = |program: &mut Program, fd: u32, wanted: u16| {
        let entry = [&fd.to_le_bytes()[..], &wanted.to_le_bytes(), &[0; 2]].concat();
        let list = program.put(&entry);
        let ready = program.call(linux::POLL, &[list, 1, 0]).expect("a list of one");
        let found = u16::from_le_bytes(program.get(list + 6, 2).try_into().expect("two bytes"));
        assert_eq!(ready, u64::from(found != 0));
        found
    };
    assert_eq!(found(&mut program, reader, IN), 0);
    assert_eq!(found(&mut program, writer, OUT), OUT);
    let heap = program.node.layout().heap_start;
    assert_eq!(program.call(linux::WRITE, &[u64::from(writer), heap, ROOM as u64]), Ok(ROOM as u64));
    assert_eq!(found(&mut program, reader, IN), IN);
    assert_eq!(found(&mut program, writer, OUT), 0);
    // Both at once, each in its place.
    let entry = |fd: u32, wanted: u16| [&fd.to_le_bytes()[..], &wanted.to_le_bytes(), &[0; 2]].concat();
    let list = program.put(&[entry(writer, OUT), entry(reader, IN)].concat());
    assert_eq!(program.call(linux::POLL, &[list, 2, 0]), Ok(1));
    assert_eq!(program.get(list + 6, 10), [&[0; 2][..], &entry(reader, IN)[..6], &IN.to_le_bytes()].concat());
    assert_eq!(program.call(linux::CLOSE, &[u64::from(writer)]), Ok(0));
    assert_eq!(found(&mut program, reader, IN), IN | HANG_UP);
    assert_eq!(found(&mut program, writer, OUT), INVALID);
}

#[test]
fn what_is_said_of_a_descriptor_is_kept() {
    const DUP: u64 = 0;
    const GET_FD: u64 = 1;
    const SET_FD: u64 = 2;
    const GET_FLAGS: u64 = 3;
    const SET_FLAGS: u64 = 4;
    let mut program = Program::new();
    let file = open(&mut program, "/tmp/file", CREATE | READ_WRITE).expect("a new file");
    let mut control = |command, value| program.call(linux::FCNTL, &[file, command, value]);
    assert_eq!(control(GET_FD, 0), Ok(0));
    assert_eq!(control(SET_FD, 1), Ok(0));
    assert_eq!(control(GET_FD, 0), Ok(1));
    assert_eq!(control(SET_FD, 2), Ok(0));
    assert_eq!(control(GET_FD, 0), Ok(0));
    assert_eq!(control(SET_FLAGS, APPEND | CREATE), Ok(0));
    assert_eq!(control(GET_FLAGS, 0).map(|flags| flags & (APPEND | READ_WRITE)), Ok(APPEND | READ_WRITE));
    assert_eq!(control(DUP, 9), Ok(9));
    assert_eq!(control(77, 0), error(EINVAL));
}

#[test]
fn the_current_folder_stays_until_it_is_left() {
    let mut program = Program::new();
    let [outer, other, root] = ["/tmp/outer", "/tmp/other", "/"].map(|path| program.path(path));
    assert_eq!(program.call(linux::MKDIR, &[outer, 0o755]), Ok(0));
    assert_eq!(program.call(linux::MKDIR, &[other, 0o755]), Ok(0));
    assert_eq!(program.call(linux::CHDIR, &[outer]), Ok(0));
    assert_eq!(program.call(linux::RMDIR, &[outer]), Ok(0));
    let place = program.put(&[0; 16]);
    assert_eq!(program.call(linux::GETCWD, &[place, 16]), error(ENOENT));
    assert_eq!(program.call(linux::CHDIR, &[other]), Ok(0));
    assert_eq!(program.call(linux::CHDIR, &[root]), Ok(0));
    assert_eq!(program.call(linux::GETCWD, &[place, 16]), Ok(2));
    let none = program.path("/tmp/none");
    assert_eq!(program.call(linux::CHDIR, &[none]), error(ENOENT));
    // And no longer: more often than there is room for folders.
    for _ in 0..2000 {
        assert_eq!(program.call(linux::MKDIR, &[outer, 0o755]), Ok(0));
        assert_eq!(program.call(linux::CHDIR, &[outer]), Ok(0));
        assert_eq!(program.call(linux::RMDIR, &[outer]), Ok(0));
        assert_eq!(program.call(linux::CHDIR, &[root]), Ok(0));
    }
}

#[test]
fn the_console_is_the_first_three_descriptors() {
    let mut program = Program::new();
    assert_eq!(write(&mut program, 1, b"out"), Ok(3));
    assert_eq!(write(&mut program, 2, b"error"), Ok(5));
    let printed = [(Stream::Out, b"out".to_vec()), (Stream::Error, b"error".to_vec())];
    assert_eq!(*program.node.printed.borrow(), printed);
    assert_eq!(read(&mut program, 0, 4), Ok(vec![]));
    assert_eq!(program.call(linux::WRITE, &[1, NOWHERE, 4]), error(EFAULT));
    assert_eq!(program.node.printed.borrow().len(), 2);
}

#[test]
fn devices_have_the_modes_and_numbers_that_linux_gives_them() {
    const CHARACTERS: u64 = 0o020_000;
    let mut program = Program::new();
    let place = program.put(&[0; 144]);
    let mut facts = |path: &str| {
        let path = program.path(path);
        program.call(linux::STAT, &[path, place]).expect("it is there");
        let bytes = program.get(place, 144);
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        (word(24) & 0o170_000, word(40))
    };
    assert_eq!(facts("/dev/null"), (CHARACTERS, 0x103));
    assert_eq!(facts("/dev/zero"), (CHARACTERS, 0x105));
    assert_eq!(facts("/dev/urandom"), (CHARACTERS, 0x109));
    // A text that is made up is a file of no device.
    assert_eq!(facts("/proc/meminfo"), (0o100_000, 0));
}

#[test]
fn an_end_of_a_pipe_is_written_or_read() {
    let mut program = Program::new();
    let place = program.put(&[0; 8]);
    assert_eq!(program.call(linux::PIPE2, &[place, NON_BLOCKING]), Ok(0));
    let ends = program.get(place, 8);
    let end = |at: usize| u64::from(u32::from_le_bytes(ends[at..at + 4].try_into().expect("four bytes")));
    assert_eq!(write(&mut program, end(0), b"x"), error(EBADF));
    assert_eq!(read(&mut program, end(4), 1), Err(lwk_personality::Errno(EBADF)));
    assert_eq!(write(&mut program, end(4), b"xy"), Ok(2));
    assert_eq!(read(&mut program, end(0), 9), Ok(b"xy".to_vec()));
}
