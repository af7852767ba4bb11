//! CRC-32C (Castagnoli) over memory that may change meanwhile, by the processor's instruction where it has it. Not in emulation: QEMU goes through each
//! bit there, which takes several times as long as words and tables do.

use core::arch::asm;

use lwk_frames::checksum::{LANES, Source, Sparse};

use super::features::features;

/// Whoever computes a sum has the network's lock already, so nobody waits for this one.
static SPARSE: spin::Mutex<Sparse> = spin::Mutex::new(Sparse::new());

/// Bytes that are mapped.
struct Mapped {
    start: *const u8,
    bytes: usize,
}

impl Source for Mapped {
    fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline(always)]
    fn words(&self, at: usize, count: usize, mut each: impl FnMut(usize, u64)) {
        let end = count.checked_mul(8).and_then(|bytes| bytes.checked_add(at));
        assert!(end.is_some_and(|end| end <= self.bytes), "words of those that are mapped");
        for number in 0..count {
            let word;
            // SAFETY: reads eight bytes that are mapped (whoever has made this value), which others may write meanwhile.
            unsafe {
                let start = self.start.add(at + 8 * number);
                asm!("mov {}, [{}]", out(reg) word, in(reg) start, options(nostack, readonly, preserves_flags));
            }
            each(number, word);
        }
    }

    #[inline(always)]
    fn byte(&self, at: usize) -> u8 {
        assert!(at < self.bytes, "a byte of those that are mapped");
        // SAFETY: a byte that is mapped, which others may write meanwhile.
        unsafe { self.start.add(at).read_volatile() }
    }
}

/// Continues the checksum `seed` (0: of nothing) over `bytes` bytes at `start`.
///
/// # Safety
/// The bytes are mapped for the kernel.
pub unsafe fn crc32c(seed: u32, start: *const u8, bytes: usize) -> u32 {
    if features().crc32 && !features().emulated {
        // SAFETY: the bytes are mapped (this function's contract), and the processor has the instruction.
        return unsafe { by_instruction(seed, start, bytes) };
    }
    SPARSE.lock().append(seed, &Mapped { start, bytes })
}

/// See [`crc32c`].
///
/// # Safety
/// As there, and the processor has SSE4.2.
unsafe fn by_instruction(seed: u32, start: *const u8, bytes: usize) -> u32 {
    let (mut sum, mut start, mut bytes) = (!seed, start, bytes);
    for lane in &LANES {
        while bytes >= 3 * lane.bytes {
            // SAFETY: three pieces of the lane's length are mapped (this function's contract), and the processor has the instruction.
            sum = lane.join(unsafe { three_at_once(sum, start, lane.bytes) });
            (start, bytes) = (start.wrapping_add(3 * lane.bytes), bytes - 3 * lane.bytes);
        }
    }
    let mut sum = u64::from(sum);
    // SAFETY: reads the bytes that are mapped (this function's contract), eight at a time and then one.
    unsafe {
        asm!(
            "jmp 3f",
            "2:",
            "crc32 {sum}, qword ptr [{start}]",
            "add {start}, 8",
            "sub {left}, 8",
            "3:",
            "cmp {left}, 8",
            "jae 2b",
            "jmp 5f",
            "4:",
            "crc32 {sum:e}, byte ptr [{start}]",
            "inc {start}",
            "dec {left}",
            "5:",
            "test {left}, {left}",
            "jnz 4b",
            sum = inout(reg) sum,
            start = inout(reg) start => _,
            left = inout(reg) bytes => _,
            options(nostack, readonly),
        );
    }
    !(sum as u32)
}

/// Raw sums of three pieces of `bytes` bytes, one behind the other, of which the first begins with `sum`.
///
/// # Safety
/// They are mapped for the kernel, `bytes` is a multiple of 8 and not 0, and the processor has SSE4.2.
unsafe fn three_at_once(sum: u32, start: *const u8, bytes: usize) -> [u32; 3] {
    let (mut first, mut second, mut third) = (u64::from(sum), 0u64, 0u64);
    // SAFETY: reads the three pieces (this function's contract), eight bytes of each at a time.
    unsafe {
        asm!(
            "2:",
            "crc32 {first}, qword ptr [{start}]",
            "crc32 {second}, qword ptr [{start} + {bytes}]",
            "crc32 {third}, qword ptr [{start} + 2 * {bytes}]",
            "add {start}, 8",
            "cmp {start}, {end}",
            "jne 2b",
            first = inout(reg) first,
            second = inout(reg) second,
            third = inout(reg) third,
            start = inout(reg) start => _,
            end = in(reg) start.wrapping_add(bytes),
            bytes = in(reg) bytes,
            options(nostack, readonly),
        );
    }
    [first, second, third].map(|sum| sum as u32)
}
