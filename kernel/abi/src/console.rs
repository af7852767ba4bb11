//! The console's line format between a node and the host tool.
//!
//! In the framed form every line the kernel prints on the serial line is
//! `RS kind number US text LF`, where `RS` is [`HEADER_START`], `kind` one of the letters below, `number` decimal digits
//! (meaning as said) and `US` is [`HEADER_END`]. Anything else on the line (firmware, boot loader) is not a record. The
//! kernel writes a record as a whole under one lock, so records never interleave. Text is bytes, not necessarily UTF-8, and
//! holds no LF. In the plain form the same lines carry a short readable prefix instead.

/// First byte of a framed record (ASCII record separator).
pub const HEADER_START: u8 = 0x1e;
/// Ends the header of a framed record (ASCII unit separator).
pub const HEADER_END: u8 = 0x1f;

/// Longest piece of a rank's line that the kernel holds back, in bytes; a longer line is sent in pieces
/// ([`STDOUT_PART`], [`STDERR_PART`]) that the host joins.
pub const LINE_BYTES: usize = 2048;

/// Kernel message; number: level, 1 error, 2 warn, 3 info, 4 debug, 5 trace.
pub const KERNEL: u8 = b'k';
/// A whole line of a rank's standard output, or the end of one; number: rank.
pub const STDOUT: u8 = b'o';
/// A piece of a rank's standard output that does not end its line; number: rank.
pub const STDOUT_PART: u8 = b'O';
/// A whole line of a rank's standard error, or the end of one; number: rank.
pub const STDERR: u8 = b'e';
/// A piece of a rank's standard error that does not end its line; number: rank.
pub const STDERR_PART: u8 = b'E';
/// A line of a failure report about a rank; number: rank.
pub const FAILURE: u8 = b'f';
/// A frame of the back trace of a rank, innermost first; number: rank. Text: `0x` and the address in hexadecimal.
pub const FRAME: u8 = b'b';
/// A line of a kernel panic's report; number: core.
pub const PANIC: u8 = b'p';
/// A frame of a kernel panic's back trace; number: core. Text: as [`FRAME`].
pub const PANIC_FRAME: u8 = b'q';
/// A record of the exit report; number: 0. Text: a word that names the record, then `key=value` words.
///
/// * `node kernel_entry_to_user_us=… kernel_image_bytes=… kernel_memory_bytes=… memory_bytes=… cores=… tsc_hz=…`
/// * `rank rank=… core=… memory_node=… segment_node=… page_table_bytes=… segment_bytes=… status=…`
/// * `core core=… syscalls=… faults=… interrupts=… vectors=V:N,V:N,…` (`vectors=-` if there were none)
/// * `place core=… package=… l3=… l2=… unit=… node=…`: equal values for what cores share, a physical core being a unit
/// * `memory node=… bytes=…`, if the firmware tells of memory nodes
/// * `unsupported number=… count=…` (a system call that was answered `-ENOSYS`)
/// * `runtime-…`: what the program's runtime has said of itself ([`crate::syscall::REPORT`])
pub const REPORT: u8 = b'r';
/// Where a piece of the file system is in the node's memory, for the host tool to fetch; in the order of its pages, before
/// [`END`]. Number: pages of 4 KiB. Text: `address=0x…`, physical, and `sum=0x…`, by `lwk_files::checksum`.
pub const FILES: u8 = b'd';
/// The job's ranks are about to start; number: 0. Its time limit counts from here: firmware and boot take as long as the host
/// lets them.
pub const START: u8 = b's';
/// The job's end, the last record; number: exit status of the host command.
pub const END: u8 = b'x';
/// Text of the last record if a rank has ended the job on all its nodes, whatever others do.
pub const END_OF_ALL: &str = "all";
