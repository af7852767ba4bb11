//! The first instructions of a core that is not the boot core: from real mode, at a page below one megabyte, straight to
//! 64-bit mode and the kernel.

use core::arch::global_asm;
use core::sync::atomic::AtomicU64;

use lwk_mm::address::PhysAddr;

use super::linear_map::linear;

global_asm!(
    ".section .rodata.ap_trampoline, \"a\"",
    ".balign 16",
    ".code16",
    ".global ap_trampoline",
    "ap_trampoline:",
    "cli",
    "cld",
    "movw %cs, %ax",
    "movw %ax, %ds",
    // Long mode at one go: physical address extension, root, long-mode and no-execute enable, then protection and paging.
    "movl $0x20, %eax",
    "movl %eax, %cr4",
    "movl ap_root - ap_trampoline, %eax",
    "movl %eax, %cr3",
    "movl $0xc0000080, %ecx",
    "rdmsr",
    "orl $0x900, %eax",
    "wrmsr",
    "lgdtl ap_table_pointer - ap_trampoline",
    "movl $0x80010033, %eax",
    "movl %eax, %cr0",
    // The far pointer is filled in by `Trampoline::install`.
    "ljmpl *(ap_far_pointer - ap_trampoline)",
    ".code64",
    "ap_long_mode:",
    "xorl %eax, %eax",
    "movw %ax, %ds",
    "movw %ax, %es",
    "movw %ax, %ss",
    "movl $1, %edi",
    "movq ap_tickets(%rip), %rax",
    "lock xaddq %rdi, (%rax)",
    "movq ap_stacks(%rip), %rax",
    "movq (%rax, %rdi, 8), %rsp",
    "xorl %ebp, %ebp",
    "callq *ap_entry(%rip)",
    "ud2",
    ".balign 8",
    "ap_table:",
    ".quad 0",
    ".quad 0x00af9b000000ffff",
    "ap_table_end:",
    ".balign 8",
    "ap_table_pointer:",
    ".word ap_table_end - ap_table - 1",
    ".long 0",
    ".balign 8",
    "ap_far_pointer:",
    ".long 0",
    ".word 8",
    ".balign 8",
    "ap_root:",
    ".quad 0",
    "ap_tickets:",
    ".quad 0",
    "ap_stacks:",
    ".quad 0",
    "ap_entry:",
    ".quad 0",
    ".global ap_trampoline_end",
    "ap_trampoline_end:",
    // Where `install` writes, relative to the start.
    ".balign 8",
    ".global ap_offsets",
    "ap_offsets:",
    ".quad ap_table_pointer + 2 - ap_trampoline",
    ".quad ap_table - ap_trampoline",
    ".quad ap_far_pointer - ap_trampoline",
    ".quad ap_long_mode - ap_trampoline",
    ".quad ap_root - ap_trampoline",
    ".quad ap_tickets - ap_trampoline",
    ".quad ap_stacks - ap_trampoline",
    ".quad ap_entry - ap_trampoline",
    ".text",
    options(att_syntax),
);

/// Offsets of the trampoline's variables from its start.
#[repr(C)]
struct Offsets {
    table_base: u64,
    table: u64,
    far_pointer: u64,
    long_mode: u64,
    root: u64,
    tickets: u64,
    stacks: u64,
    entry: u64,
}

unsafe extern "C" {
    static ap_trampoline: u8;
    static ap_trampoline_end: u8;
    static ap_offsets: Offsets;
}

/// What a starting core needs.
pub struct Start {
    /// Page tables that map the trampoline's page at its physical address besides the kernel; below 4 GiB.
    pub root: PhysAddr,
    /// The next ticket, counted up from 0 by the cores that start; the trampoline's own page is not writable.
    pub tickets: &'static AtomicU64,
    /// Virtual addresses of the ends of stacks; the core that draws ticket `n` takes the `n`-th.
    pub stacks: *const u64,
    /// Called with the core's ticket.
    pub entry: extern "C" fn(ticket: u64) -> !,
}

/// Copies the trampoline to `page` and fills in its variables.
///
/// # Safety
/// `page` is a free page below one megabyte that nothing else uses while cores start, and `start` is what it says: its tables are valid, and
/// `stacks` holds as many ends of unused stacks as cores will start.
pub unsafe fn install(page: PhysAddr, start: &Start) {
    let base = page.as_u64();
    let target = linear(page);
    // SAFETY: the symbols delimit the code above, which is smaller than a page; nothing else uses the page (this function's contract).
    unsafe {
        let code = &raw const ap_trampoline;
        let bytes = (&raw const ap_trampoline_end).offset_from(code) as usize;
        core::ptr::copy_nonoverlapping(code, target, bytes);
        let put32 =
            |offset: u64, value: u64| target.add(offset as usize).cast::<u32>().write_unaligned(value as u32);
        let put64 =
            |offset: u64, value: u64| target.add(offset as usize).cast::<u64>().write_unaligned(value);
        let offsets = &ap_offsets;
        put32(offsets.table_base, base + offsets.table);
        put32(offsets.far_pointer, base + offsets.long_mode);
        put64(offsets.root, start.root.as_u64());
        put64(offsets.tickets, start.tickets.as_ptr() as u64);
        put64(offsets.stacks, start.stacks as u64);
        put64(offsets.entry, start.entry as *const () as u64);
    }
}
