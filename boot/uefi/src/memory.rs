//! The firmware's memory map, and page tables to leave the firmware's by.

use bootloader_api::info::MemoryRegionKind;
use bootloader_x86_64_common::legacy_memory_region::{LegacyFrameAllocator, LegacyMemoryRegion};
use bootloader_x86_64_common::{PageTables, RawFrameBufferInfo};
use uefi::table::boot::{MemoryDescriptor, MemoryMap, MemoryType, PAGE_SIZE};
use x86_64::registers::control::{Cr3, Cr3Flags};
use x86_64::structures::paging::{FrameAllocator, OffsetPageTable, PageTable, PhysFrame, Size4KiB};
use x86_64::{PhysAddr, VirtAddr};

/// A piece of the firmware's map.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    descriptor: MemoryDescriptor,
    /// The firmware's tables are in it, whatever it is said to be for.
    has_tables: bool,
}

impl Piece {
    fn holds(&self, address: u64) -> bool {
        (self.start().as_u64()..self.start().as_u64() + self.len()).contains(&address)
    }
}

impl LegacyMemoryRegion for Piece {
    fn start(&self) -> PhysAddr {
        PhysAddr::new(self.descriptor.phys_start)
    }

    fn len(&self) -> u64 {
        self.descriptor.page_count * PAGE_SIZE as u64
    }

    fn kind(&self) -> MemoryRegionKind {
        match self.descriptor.ty {
            MemoryType::CONVENTIONAL => MemoryRegionKind::Usable,
            MemoryType(kind) => MemoryRegionKind::UnknownUefi(kind),
        }
    }

    /// Boot services and this program are done with when the kernel begins (UEFI specification 2.10, table 7.10), unless boot services have the tables (U-Boot's do).
    fn usable_after_bootloader_exit(&self) -> bool {
        match self.descriptor.ty {
            MemoryType::CONVENTIONAL => true,
            MemoryType::LOADER_CODE
            | MemoryType::LOADER_DATA
            | MemoryType::BOOT_SERVICES_CODE
            | MemoryType::BOOT_SERVICES_DATA => !self.has_tables,
            _ => false,
        }
    }
}

/// Room for what a firmware keeps behind its stack: descriptor tables, its own data.
const BEHIND_STACK_BYTES: u64 = 1 << 20;

/// Page frames of free memory. Some firmware (U-Boot) says that the memory of its stack is free, which this program stands on: frames are from behind it then, and the
/// rest is the kernel's, which has a stack of its own.
pub fn frames<'m>(
    map: &'m MemoryMap<'_>,
    tables: Option<[u64; 2]>,
) -> LegacyFrameAllocator<impl ExactSizeIterator<Item = Piece> + Clone + use<'m>, Piece> {
    let pieces = map.entries().map(move |descriptor| {
        let piece = Piece { descriptor: *descriptor, has_tables: false };
        Piece { has_tables: tables.iter().flatten().any(|table| piece.holds(*table)), ..piece }
    });
    let here = 0u8;
    let stack = (&raw const here).addr() as u64;
    let of_stack = pieces.clone().find(|piece| piece.holds(stack));
    let is_free = of_stack.is_some_and(|piece| piece.descriptor.ty == MemoryType::CONVENTIONAL);
    // The allocator itself leaves the first MiB out.
    let first = if is_free { stack + BEHIND_STACK_BYTES } else { 0 };
    LegacyFrameAllocator::new_starting_at(PhysFrame::containing_address(PhysAddr::new(first)), pieces)
}

/// A copy of the firmware's top-level table, which may be read-only, put in use, and an empty table for the kernel.
pub fn page_tables<I: ExactSizeIterator<Item = Piece> + Clone>(
    frames: &mut LegacyFrameAllocator<I, Piece>,
    screen: Option<&RawFrameBufferInfo>,
) -> PageTables {
    let last = frames.max_phys_addr().as_u64() - 1;
    // SAFETY: the table in use, mapped at its own address as all memory is; nobody writes to it.
    let firmwares = unsafe { &*table_at(Cr3::read().0) };
    let (own_frame, own) = empty_table(frames);
    // The frame buffer need not lie where memory does.
    let screen = screen.map(|screen| (screen.addr.as_u64(), screen.info.byte_len as u64));
    for (start, bytes) in [Some((0, last + 1)), screen].into_iter().flatten() {
        let entry = |address| usize::from(VirtAddr::new(address).p4_index());
        for index in entry(start)..=entry(start + bytes - 1) {
            own[index] = firmwares[index].clone();
        }
    }
    // SAFETY: it maps all memory as the firmware's table does, with this program and its stack.
    unsafe { Cr3::write(own_frame, Cr3Flags::empty()) };
    let (kernel_frame, kernel) = empty_table(frames);
    let at_its_own_address = VirtAddr::new(0);
    // SAFETY: both are top-level tables, and all physical memory is mapped at its own address.
    unsafe {
        PageTables {
            bootloader: OffsetPageTable::new(own, at_its_own_address),
            kernel: OffsetPageTable::new(kernel, at_its_own_address),
            kernel_level_4_frame: kernel_frame,
        }
    }
}

fn table_at(frame: PhysFrame) -> *mut PageTable {
    frame.start_address().as_u64() as *mut PageTable
}

fn empty_table(frames: &mut impl FrameAllocator<Size4KiB>) -> (PhysFrame, &'static mut PageTable) {
    let frame = frames.allocate_frame().expect("a machine has memory for two page tables");
    let table = table_at(frame);
    // SAFETY: a frame that was just allocated, mapped at its own address, is nobody else's.
    let table = unsafe {
        table.write(PageTable::new());
        &mut *table
    };
    (frame, table)
}
