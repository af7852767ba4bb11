//! Processor features: which are required, which are used where present, and switching them on for a core.

use core::arch::asm;

use raw_cpuid::{CpuId, CpuIdReaderNative};
use x86_64::registers::control::{Cr0, Cr0Flags, Cr4, Cr4Flags};
use x86_64::registers::model_specific::{Efer, EferFlags, Msr};
use x86_64::registers::xcontrol::{XCr0, XCr0Flags};

use super::extended_state::STATE_BYTES;

type Cpu = CpuId<CpuIdReaderNative>;

/// Optional features, found once on the boot core; every core of a node has the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    pub smep: bool,
    pub smap: bool,
    pub umip: bool,
    pub fsgsbase: bool,
    pub xsave: bool,
    pub x2apic: bool,
    /// Frame buffers can be mapped write-combining.
    pub combining: bool,
    pub machine_check: bool,
    pub machine_check_banks: bool,
    /// The processor counts system management interrupts.
    pub management_interrupts: bool,
    pub gigabyte_pages: bool,
    pub random: bool,
    /// Idle cores wait by MWAIT. Not in QEMU's emulation, whose MWAIT does not wait.
    pub mwait: bool,
    /// SSE4.2, for its checksum.
    pub crc32: bool,
    /// The string instruction copies by lines ("enhanced REP MOVSB/STOSB", Intel SDM volume 1, section 7.3.9.3). Not in emulation.
    pub fast_string: bool,
    /// The processor is emulated in software rather than run.
    pub emulated: bool,
    /// CPUID leaf 1, `edx`: what the auxiliary vector tells programs.
    pub basic_word: u32,
    /// State components that XSAVE manages here: bits of XCR0.
    pub state_components: u64,
    /// Bytes of a core's extended state in XSAVE's standard format, or in FXSAVE's where there is no XSAVE.
    pub state_bytes: usize,
}

impl Features {
    /// What the auxiliary vector tells programs beside [`Features::basic_word`] (`AT_HWCAP2`): whether they may use the FSGSBASE
    /// instructions.
    pub fn auxiliary_word(&self) -> u64 {
        const FSGSBASE: u64 = 1 << 1;
        if self.fsgsbase { FSGSBASE } else { 0 }
    }
}

/// The page attribute table (Intel SDM volume 3A, section 12.12.2): entry 1 is write-combining, the others are as after a reset.
const PAGE_ATTRIBUTES: u32 = 0x277;
const PAGE_ATTRIBUTE_TABLE: u64 = 0x0007_0406_0007_0106;

static FEATURES: spin::Once<Features> = spin::Once::new();

/// The node's features; the first call, on the boot core, finds them.
pub fn features() -> Features {
    *FEATURES.call_once(detect)
}

/// Checks that the processor has all that the kernel and its programs need.
///
/// # Errors
/// The name of the first feature that it lacks, to end the words "this processor has no".
pub fn require() -> Result<(), &'static str> {
    let cpu = Cpu::new();
    let basic = cpu.get_feature_info().ok_or("feature information (CPUID leaf 1)")?;
    let extended = cpu.get_extended_processor_and_feature_identifiers().ok_or("64-bit mode")?;
    let needed = [
        (basic.has_tsc(), "time stamp counter (TSC)"),
        (basic.has_msr(), "model-specific registers (MSR)"),
        (basic.has_apic(), "local interrupt controller (APIC)"),
        (basic.has_fxsave_fxstor(), "FXSAVE"),
        (basic.has_sse2(), "SSE2"),
        (basic.has_pge(), "global pages (PGE)"),
        (basic.has_cmpxchg16b(), "CMPXCHG16B"),
        (extended.has_execute_disable(), "no-execute pages (NX)"),
        (extended.has_syscall_sysret(), "SYSCALL"),
    ];
    match needed.iter().find(|(present, _)| !present) {
        Some((_, name)) => Err(name),
        None => Ok(()),
    }
}

fn detect() -> Features {
    let cpu = Cpu::new();
    let basic = cpu.get_feature_info();
    let has_basic = |test: fn(&raw_cpuid::FeatureInfo) -> bool| basic.as_ref().is_some_and(test);
    let structured = cpu.get_extended_feature_info();
    let has_structured =
        |test: fn(&raw_cpuid::ExtendedFeatures) -> bool| structured.as_ref().is_some_and(test);
    let extended = cpu.get_extended_processor_and_feature_identifiers();
    let mut found = Features {
        smep: has_structured(|f| f.has_smep()),
        smap: has_structured(|f| f.has_smap()),
        umip: has_structured(|f| f.has_umip()),
        fsgsbase: has_structured(|f| f.has_fsgsbase()),
        xsave: has_basic(|f| f.has_xsave()),
        x2apic: has_basic(|f| f.has_x2apic()),
        combining: has_basic(|f| f.has_pat()),
        machine_check: has_basic(|f| f.has_mce()),
        machine_check_banks: has_basic(|f| f.has_mce() && f.has_mca()),
        management_interrupts: counts_management_interrupts(&cpu),
        mwait: has_basic(|f| f.has_monitor_mwait()) && !is_emulated(&cpu),
        random: has_basic(|f| f.has_rdrand()),
        crc32: has_basic(|f| f.has_sse42()),
        gigabyte_pages: extended.as_ref().is_some_and(|f| f.has_1gib_pages()),
        fast_string: has_structured(|f| f.has_rep_movsb_stosb()) && !is_emulated(&cpu),
        emulated: is_emulated(&cpu),
        basic_word: raw_cpuid::native_cpuid::cpuid_count(1, 0).edx,
        state_components: 0,
        state_bytes: FXSAVE_BYTES,
    };
    if found.xsave {
        (found.state_components, found.state_bytes) =
            extended_state(&cpu, has_structured(|f| f.has_avx512f()));
    }
    assert!(found.state_bytes <= STATE_BYTES, "the processor's extended state fits the room for it");
    found
}

/// Whether the processor counts system management interrupts: Intel's of family 6 from Nehalem on. Hypervisors may answer the register by a fault; QEMU's
/// emulation has it.
fn counts_management_interrupts(cpu: &Cpu) -> bool {
    const NEHALEM: u8 = 0x1a;
    let by_intel = cpu.get_vendor_info().is_some_and(|vendor| vendor.as_str() == "GenuineIntel");
    let alone = is_emulated(cpu) || cpu.get_hypervisor_info().is_none();
    let recent = |info: raw_cpuid::FeatureInfo| info.base_family_id() == 6 && info.model_id() >= NEHALEM;
    by_intel && alone && cpu.get_feature_info().is_some_and(recent)
}

/// QEMU's emulator names itself in the hypervisor leaf.
fn is_emulated(cpu: &Cpu) -> bool {
    cpu.get_hypervisor_info().is_some_and(|info| matches!(info.identify(), raw_cpuid::Hypervisor::QEMU))
}

/// Bytes of the legacy FXSAVE area, which every extended state starts with.
const FXSAVE_BYTES: usize = 512;
/// Bytes of the header behind it.
const XSAVE_HEADER_BYTES: usize = 64;

/// The components that the kernel keeps for programs (x87, SSE, AVX, AVX-512 as far as the processor has them) and the
/// bytes they need in the standard, non-compacted format (Intel SDM volume 1, section 13.4).
fn extended_state(cpu: &Cpu, avx512: bool) -> (u64, usize) {
    let legacy = XCr0Flags::X87 | XCr0Flags::SSE;
    let Some(leaf) = cpu.get_extended_state_info() else {
        return (legacy.bits(), FXSAVE_BYTES + XSAVE_HEADER_BYTES);
    };
    let mut wanted = legacy;
    if leaf.xcr0_supports_avx_256() {
        wanted |= XCr0Flags::AVX;
    }
    if avx512 && leaf.xcr0_supports_avx512_opmask() {
        wanted |= XCr0Flags::OPMASK | XCr0Flags::ZMM_HI256 | XCr0Flags::HI16_ZMM;
    }
    let component_end = |index: u32| {
        let sub = raw_cpuid::native_cpuid::cpuid_count(0xd, index);
        (sub.eax + sub.ebx) as usize
    };
    let highest = (2..63u32).filter(|index| wanted.bits() & (1 << index) != 0).map(component_end).max();
    (wanted.bits(), highest.unwrap_or(0).max(FXSAVE_BYTES + XSAVE_HEADER_BYTES))
}

/// Switches the features on for this core (CR0, CR4, EFER, XCR0), and syscalls and no-execute pages with them. What firmware has left in
/// these registers, and in those for debugging, is switched off.
pub fn enable() {
    let found = features();
    // SAFETY: write protection and SSE constrain and enable user code; the kernel itself uses no floating point, and
    // its own writable mappings are writable. The mode stays what it is: protected, with paging.
    unsafe {
        Cr0::write(
            Cr0Flags::PROTECTED_MODE_ENABLE
                | Cr0Flags::PAGING
                | Cr0Flags::WRITE_PROTECT
                | Cr0Flags::MONITOR_COPROCESSOR
                | Cr0Flags::NUMERIC_ERROR
                | Cr0Flags::ALIGNMENT_MASK,
        );
    }
    let mut control = Cr4Flags::PHYSICAL_ADDRESS_EXTENSION
        | Cr4Flags::OSFXSR
        | Cr4Flags::OSXMMEXCPT_ENABLE
        | Cr4Flags::PAGE_GLOBAL;
    control.set(Cr4Flags::SUPERVISOR_MODE_EXECUTION_PROTECTION, found.smep);
    control.set(Cr4Flags::SUPERVISOR_MODE_ACCESS_PREVENTION, found.smap);
    control.set(Cr4Flags::USER_MODE_INSTRUCTION_PREVENTION, found.umip);
    control.set(Cr4Flags::FSGSBASE, found.fsgsbase);
    control.set(Cr4Flags::OSXSAVE, found.xsave);
    super::machine_check::enable();
    // Without it a machine check resets the machine instead of being reported.
    control.set(Cr4Flags::MACHINE_CHECK_EXCEPTION, found.machine_check);
    // The levels of the page tables cannot be changed while paging is on.
    let levels = Cr4::read_raw() & Cr4Flags::L5_PAGING.bits();
    // SAFETY: each bit is set only if the processor has the feature; the kernel reaches user memory through its linear
    // map, so access prevention cannot hit it, and it has no user mapping it would execute. The mode stays 64-bit.
    unsafe {
        Cr4::write_raw(control.bits() | levels);
        Efer::write(
            EferFlags::LONG_MODE_ENABLE
                | EferFlags::LONG_MODE_ACTIVE
                | EferFlags::NO_EXECUTE_ENABLE
                | EferFlags::SYSTEM_CALL_EXTENSIONS,
        );
    }
    clear_breakpoints();
    if found.combining {
        // SAFETY: the register is there. Entry 1 is what nothing is mapped with but by `Caching::Combining`; the others stay as after a reset.
        unsafe { Msr::new(PAGE_ATTRIBUTES).write(PAGE_ATTRIBUTE_TABLE) };
    }
    if found.xsave {
        // SAFETY: OSXSAVE is set and the components are ones the processor reported.
        unsafe { XCr0::write(XCr0Flags::from_bits_truncate(found.state_components)) };
    }
}

/// Switches off breakpoints that firmware has left in the debug registers: values after a reset (Intel SDM volume 3, table 9-1).
fn clear_breakpoints() {
    const STATUS: u64 = 0xffff_0ff0;
    const CONTROL: u64 = 0x400;
    // SAFETY: no breakpoint is left that could strike; the kernel sets none.
    unsafe {
        asm!(
            "mov dr7, {control}",
            "mov dr6, {status}",
            "mov dr0, {zero}",
            "mov dr1, {zero}",
            "mov dr2, {zero}",
            "mov dr3, {zero}",
            control = in(reg) CONTROL,
            status = in(reg) STATUS,
            zero = in(reg) 0u64,
            options(nomem, nostack, preserves_flags),
        );
    }
}

/// Says in a message what is switched on on this core, read back from its registers.
pub fn describe(core: usize) {
    let components = if features().xsave { XCr0::read() } else { XCr0Flags::empty() };
    log::debug!("core {core}: {:?} {:?} {:?} {components:?}", Cr0::read(), Cr4::read(), Efer::read());
}
