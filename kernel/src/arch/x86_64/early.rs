//! A core before it has its structure: interrupts are off, and an exception ends the node with a report, where a processor without
//! tables would reset the machine without a word.

use x86_64::instructions::segmentation::{CS, DS, ES, SS, Segment};
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};

use super::exceptions::{self, Handlers};
use super::{core_block, descriptors, interrupts};

static TABLE: spin::Once<GlobalDescriptorTable> = spin::Once::new();

/// Guards this core until [`core_block::CoreBlock::take_over`], and says who sees to what happens to it; the boot core's word counts for all.
/// The first thing that a core does: firmware may have left interrupts on.
pub fn guard(handlers: &'static Handlers) {
    interrupts::disable();
    core_block::clear();
    exceptions::set_handlers(handlers);
    let table = TABLE.call_once(|| {
        let mut table = GlobalDescriptorTable::new();
        let code = table.append(Descriptor::kernel_code_segment());
        assert!(code.0 == descriptors::KERNEL_CODE, "the gates name the kernel's code by its selector");
        table
    });
    table.load();
    // SAFETY: the selector names the code segment of the table just loaded; data segments may be null in 64-bit mode.
    unsafe {
        CS::set_reg(SegmentSelector(descriptors::KERNEL_CODE));
        SS::set_reg(SegmentSelector::NULL);
        DS::set_reg(SegmentSelector::NULL);
        ES::set_reg(SegmentSelector::NULL);
    }
    interrupts::load_early();
}
