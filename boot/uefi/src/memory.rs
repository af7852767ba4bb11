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
pub struct Piece(MemoryDescriptor);

impl LegacyMemoryRegion for Piece {
    fn start(&self) -> PhysAddr {
        PhysAddr::new(self.0.phys_start)
    }

    fn len(&self) -> u64 {
        self.0.page_count * PAGE_SIZE as u64
    }

    fn kind(&self) -> MemoryRegionKind {
        match self.0.ty {
            MemoryType::CONVENTIONAL => MemoryRegionKind::Usable,
            MemoryType(kind) => MemoryRegionKind::UnknownUefi(kind),
        }
    }

    /// Boot services and this program are done with when the kernel begins (UEFI specification 2.10, table 7.10).
    fn usable_after_bootloader_exit(&self) -> bool {
        matches!(
            self.0.ty,
            MemoryType::CONVENTIONAL
                | MemoryType::LOADER_CODE
                | MemoryType::LOADER_DATA
                | MemoryType::BOOT_SERVICES_CODE
                | MemoryType::BOOT_SERVICES_DATA
        )
    }
}

/// Page frames of free memory.
pub fn frames<'m>(
    map: &'m MemoryMap<'_>,
) -> LegacyFrameAllocator<impl ExactSizeIterator<Item = Piece> + Clone + use<'m>, Piece> {
    LegacyFrameAllocator::new(map.entries().map(|descriptor| Piece(*descriptor)))
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
