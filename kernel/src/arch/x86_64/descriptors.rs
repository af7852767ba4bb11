//! Segment descriptors and task state, one set a core.

use x86_64::instructions::segmentation::{CS, DS, ES, FS, GS, SS, Segment};
use x86_64::instructions::tables::load_tss;
use x86_64::structures::gdt::{Descriptor, GlobalDescriptorTable, SegmentSelector};
use x86_64::structures::tss::TaskStateSegment;
use x86_64::{PrivilegeLevel, VirtAddr};

/// Selector of the kernel's code. SYSCALL and SYSRET count on an order (Intel SDM volume 3, section 5.8.8): kernel code, kernel data,
/// then user data before user code.
pub const KERNEL_CODE: u16 = 0x08;
/// Selector of a program's data and stack, with its privilege level.
pub const USER_DATA: u16 = 0x18 | 3;
/// Selector of a program's code, with its privilege level.
pub const USER_CODE: u16 = 0x20 | 3;

/// Stacks of their own, so that these can be handled whatever the state of the interrupted stack. The value is the number that a gate
/// gives, from 1 (Intel SDM volume 3, section 6.14.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum InterruptStack {
    NonMaskable = 1,
    DoubleFault = 2,
    MachineCheck = 3,
    Debug = 4,
}

impl InterruptStack {
    /// All of them, in the order of their numbers.
    pub const ALL: [InterruptStack; 4] = [
        InterruptStack::NonMaskable,
        InterruptStack::DoubleFault,
        InterruptStack::MachineCheck,
        InterruptStack::Debug,
    ];
}

/// A core's descriptor table and its task state, which the table refers to by address once [`Descriptors::load`] has run.
pub struct Descriptors {
    table: GlobalDescriptorTable,
    task: TaskStateSegment,
    task_selector: SegmentSelector,
}

impl Descriptors {
    /// Tables of a core whose stacks end at the virtual addresses given, those of interrupts in the order of [`InterruptStack::ALL`];
    /// [`Self::load`] finishes them.
    pub(super) fn new(kernel_stack: u64, interrupt_stacks: [u64; InterruptStack::ALL.len()]) -> Descriptors {
        let mut task = TaskStateSegment::new();
        task.privilege_stack_table[0] = VirtAddr::new(kernel_stack);
        for (stack, end) in InterruptStack::ALL.into_iter().zip(interrupt_stacks) {
            task.interrupt_stack_table[stack as usize - 1] = VirtAddr::new(end);
        }
        Descriptors {
            table: GlobalDescriptorTable::new(),
            task,
            task_selector: SegmentSelector::new(0, PrivilegeLevel::Ring0),
        }
    }

    /// Loads the tables into this core, for ever: the reference is the proof that they stay where they are.
    pub(super) fn load(&'static mut self) {
        let code = self.table.append(Descriptor::kernel_code_segment());
        let data = self.table.append(Descriptor::kernel_data_segment());
        let user_data = self.table.append(Descriptor::user_data_segment());
        let user_code = self.table.append(Descriptor::user_code_segment());
        assert!(
            (code.0, user_data.0, user_code.0) == (KERNEL_CODE, USER_DATA, USER_CODE),
            "selectors stand where SYSRET computes them"
        );
        self.task_selector = self.table.append(Descriptor::tss_segment(&self.task));
        self.table.load();
        // SAFETY: the selectors name segments of the table just loaded; FS and GS bases are set through their registers
        // after this, and a null GS or FS is allowed in 64-bit mode.
        unsafe {
            CS::set_reg(code);
            SS::set_reg(data);
            DS::set_reg(SegmentSelector::NULL);
            ES::set_reg(SegmentSelector::NULL);
            FS::set_reg(SegmentSelector::NULL);
            GS::set_reg(SegmentSelector::NULL);
            load_tss(self.task_selector);
        }
    }
}
