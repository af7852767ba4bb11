//! Time: the time stamp counter, its frequency, and the wall clock at boot.

use core::arch::x86_64::{_mm_lfence, _rdtsc};
use core::fmt;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

use lwk_acpi::Timer;
use lwk_clock::{Arrivals, Known, Source, Timer as By};
use raw_cpuid::CpuId;
use x86_64::registers::model_specific::Msr;

use super::ports;

// Relaxed, everywhere: all three are written once on the boot core, before any other core runs; starting a core orders them.
static TICKS_A_SECOND: AtomicU64 = AtomicU64::new(0);
static WALL_BASE_NANOSECONDS: AtomicU64 = AtomicU64::new(0);
static WALL_BASE_TICKS: AtomicU64 = AtomicU64::new(0);

/// The time stamp counter, in ticks of [`ticks_a_second`]; not read before earlier loads are done (Intel SDM volume 2, RDTSC).
pub fn ticks() -> u64 {
    // SAFETY: `features::require` refuses processors without the counter and SSE2.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

/// Sets this core's counter, for tests. QEMU's emulation ignores it.
pub fn set_ticks(ticks: u64) {
    /// Intel SDM volume 3B, section 18.17.3.
    const COUNTER: u32 = 0x10;
    // SAFETY: every processor with the counter has the register, and nobody on this core has taken a time yet that is compared with a later one.
    unsafe { Msr::new(COUNTER).write(ticks) };
}

/// Nothing tells how fast the counter runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoReference;

impl fmt::Display for NoReference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "this machine has no event timer, no ACPI timer and no interval timer that runs, and its processor does not tell the frequency of its counter"
        )
    }
}

/// Frequency of the counter in Hz; 0 before [`calibrate`].
pub fn ticks_a_second() -> u64 {
    TICKS_A_SECOND.load(Ordering::Relaxed)
}

/// Nanoseconds that `ticks` of the counter last, rounded down; 0 before [`calibrate`].
pub fn nanoseconds(ticks: u64) -> u64 {
    match ticks_a_second() {
        0 => 0,
        hz => (u128::from(ticks) * 1_000_000_000 / u128::from(hz)) as u64,
    }
}

/// The wall clock's base: nanoseconds since the Unix epoch, and the counter then.
pub fn wall_base() -> (u64, u64) {
    (WALL_BASE_NANOSECONDS.load(Ordering::Relaxed), WALL_BASE_TICKS.load(Ordering::Relaxed))
}

/// Waits for at least `microseconds`. Only after [`calibrate`].
pub fn delay(microseconds: u64) {
    let end = ticks() + ticks_a_second() * microseconds / 1_000_000;
    while ticks() < end {
        core::hint::spin_loop();
    }
}

/// Waits for `condition`, at most `microseconds`; says whether it came true.
pub fn wait_until(condition: impl Fn() -> bool, microseconds: u64) -> bool {
    let end = ticks() + ticks_a_second() / 1_000_000 * microseconds;
    while !condition() {
        if ticks() > end {
            return false;
        }
        core::hint::spin_loop();
    }
    true
}

/// Waits for `condition` as long as `count` changes at least once in so many microseconds; says whether the condition came true.
pub fn wait_for_arrivals(condition: impl Fn() -> bool, count: impl Fn() -> usize, microseconds: u64) -> bool {
    let mut arrivals = Arrivals::new(ticks(), ticks_a_second() / 1_000_000 * microseconds);
    while !condition() {
        if arrivals.are_late(ticks(), count()) {
            return false;
        }
        core::hint::spin_loop();
    }
    true
}

/// What the firmware says that can be measured against.
#[derive(Clone, Copy)]
pub struct Timers {
    pub event: Option<EventTimer>,
    pub acpi: Option<Timer>,
}

/// The registers of a high precision event timer.
#[derive(Clone, Copy)]
pub struct EventTimer(NonNull<u8>);

/// Finds the counter's frequency: as `lwk_clock` says; a timer that does not run is as if it were not there. Reads the wall clock.
///
/// # Errors
/// [`NoReference`] if nobody tells it and the timer that is left does not run.
pub fn calibrate(timers: Timers) -> Result<(), NoReference> {
    let mut known = known(&timers);
    let (source, hz) = loop {
        let source = lwk_clock::source(&known);
        let hz = match source {
            Source::Told(hz, _) => Some(hz),
            Source::Measured(By::Event) => timers.event.and_then(EventTimer::frequency),
            Source::Measured(By::Acpi) => timers.acpi.and_then(frequency_by_acpi),
            Source::Measured(By::Interval) => frequency_by_interval_timer(),
        };
        match (hz, source) {
            (Some(hz), _) => break (source, hz),
            (None, Source::Measured(By::Event)) => known.has_event_timer = false,
            (None, Source::Measured(By::Acpi)) => known.has_acpi_timer = false,
            (None, _) => return Err(NoReference),
        }
    };
    TICKS_A_SECOND.store(hz, Ordering::Relaxed);
    WALL_BASE_NANOSECONDS.store(real_time_clock_seconds() * 1_000_000_000, Ordering::Relaxed);
    WALL_BASE_TICKS.store(ticks(), Ordering::Relaxed);
    log::debug!("time stamp counter runs at {} kHz ({source})", hz / 1000);
    if !is_invariant() {
        log::info!("the processor does not say that its time stamp counter runs at one frequency always");
    }
    Ok(())
}

fn known(timers: &Timers) -> Known {
    let cpu = CpuId::new();
    Known {
        crystal: cpu
            .get_tsc_info()
            .map(|info| [info.denominator(), info.numerator(), info.nominal_frequency()]),
        base_mhz: cpu.get_processor_frequency_info().map(|info| info.processor_base_frequency()),
        hypervisor_khz: cpu.get_hypervisor_info().and_then(|info| info.tsc_frequency()),
        has_event_timer: timers.event.is_some(),
        has_acpi_timer: timers.acpi.is_some(),
    }
}

/// Whether the counter's frequency is the same in all states of the processor (CPUID leaf 0x80000007).
fn is_invariant() -> bool {
    CpuId::new().get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc())
}

/// The interval timer runs at this frequency; its channel 2 counts once from [`INTERVAL_COUNT`] to 0, in 10 ms.
const INTERVAL_HZ: u64 = 1_193_182;
const INTERVAL_COUNT: u16 = (INTERVAL_HZ / 100) as u16;
/// No counter does as much in that time: a timer that has not ended then is not there.
const INTERVAL_TICKS_MAX: u64 = 10_000_000_000;

/// Against channel 2 of the interval timer (8254), whose gate and output are at port 0x61. None if it does not run.
fn frequency_by_interval_timer() -> Option<u64> {
    const GATE: u8 = 1;
    const SPEAKER: u8 = 2;
    const OUTPUT: u8 = 0x20;
    /// Channel 2, both bytes, mode 0: the output rises when the count has ended.
    const ONCE: u8 = 0b1011_0000;
    let [low, high] = INTERVAL_COUNT.to_le_bytes();
    // SAFETY: the timer's channel 2 and its gate, which only this function uses; the speaker is off.
    let (begun, ended) = unsafe {
        let control = ports::read_u8(0x61) & !(SPEAKER | GATE);
        ports::write_u8(0x61, control);
        ports::write_u8(0x43, ONCE);
        ports::write_u8(0x42, low);
        ports::write_u8(0x42, high);
        ports::write_u8(0x61, control | GATE);
        let begun = ticks();
        while ports::read_u8(0x61) & OUTPUT == 0 {
            if ticks() - begun > INTERVAL_TICKS_MAX {
                return None;
            }
        }
        let ended = ticks();
        ports::write_u8(0x61, control);
        (begun, ended)
    };
    let passed = ended - begun;
    // A port that nothing is behind reads as ones: the count would have ended at once.
    let hz = passed * INTERVAL_HZ / u64::from(INTERVAL_COUNT);
    (hz > INTERVAL_HZ).then_some(hz)
}

/// ACPI's timer runs at this frequency (ACPI specification 6.5, section 4.8.2.1).
const ACPI_TIMER_HZ: u64 = 3_579_545;
/// One in so many of a second is the length of the calibration: 10 ms, which bounds the error by the few microseconds a reading takes.
const CALIBRATION_PART: u64 = 100;
/// Readings of which the quickest is taken: between the two clocks of any one of them a virtual machine's core may have had to wait for its turn.
const READINGS: usize = 16;

fn frequency_by_acpi(timer: Timer) -> Option<u64> {
    // SAFETY: reading the timer has no effect.
    frequency_by(&|| unsafe { ports::read_u32(timer.port) }, timer.mask, ACPI_TIMER_HZ)
}

impl EventTimer {
    /// # Safety
    /// The registers of such a timer are there, aligned to 8 bytes, mapped for ever; only `calibrate` uses them.
    pub unsafe fn at(registers: NonNull<u8>) -> EventTimer {
        EventTimer(registers)
    }

    /// The counter's frequency against this one's count, which runs meanwhile. None if it does not, or says what no such timer does.
    fn frequency(self) -> Option<u64> {
        /// Offsets of the period, the configuration and the count's lower half; the bit that lets it count. All are read by four bytes, which every
        /// such timer allows.
        const PERIOD: usize = 4;
        const CONFIGURATION: usize = 0x10;
        const COUNT: usize = 0xf0;
        const ENABLED: u32 = 1;
        let at = |offset: usize| self.0.as_ptr().wrapping_add(offset).cast::<u32>();
        // SAFETY: an aligned register of the timer, mapped for ever (`EventTimer::at`).
        let read = |offset: usize| unsafe { at(offset).read_volatile() };
        // SAFETY: an aligned register of the timer, mapped for ever, which only this function uses (`EventTimer::at`).
        let configure = |bits: u32| unsafe { at(CONFIGURATION).write_volatile(bits) };
        let hz = lwk_clock::event_timer_hz(read(PERIOD))?;
        let before = read(CONFIGURATION);
        configure(before | ENABLED);
        let found = frequency_by(&|| read(COUNT), u32::MAX, hz);
        configure(before);
        found
    }
}

/// Against a count of `hz` a second, in these bits. None if it stands still.
fn frequency_by(read: &dyn Fn() -> u32, mask: u32, hz: u64) -> Option<u64> {
    let moment = || {
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..READINGS {
            let (before, count, after) = (ticks(), read(), ticks());
            let width = after.saturating_sub(before);
            if width < best.0 {
                best = (width, count, before + width / 2);
            }
        }
        (best.1, best.2)
    };
    let (start, start_ticks) = moment();
    loop {
        let (now, now_ticks) = moment();
        let elapsed = u64::from(now.wrapping_sub(start) & mask);
        let passed = now_ticks - start_ticks;
        if elapsed >= hz / CALIBRATION_PART {
            return Some((u128::from(passed) * u128::from(hz) / u128::from(elapsed)) as u64);
        }
        if passed > INTERVAL_TICKS_MAX {
            return None;
        }
        core::hint::spin_loop();
    }
}

/// Seconds since the Unix epoch by the battery-backed clock (MC146818), which is taken to run in UTC.
fn real_time_clock_seconds() -> u64 {
    const UPDATE_IN_PROGRESS: u8 = 0x80;
    const BINARY: u8 = 0x04;
    const HOURS_24: u8 = 0x02;
    // SAFETY: selecting and reading a register of the clock has no effect elsewhere; only the boot core does it.
    let register = |index: u8| unsafe {
        ports::write_u8(0x70, index);
        ports::read_u8(0x71)
    };
    let read = || [0x00, 0x02, 0x04, 0x07, 0x08, 0x09].map(register);
    // Two equal readings outside an update are a consistent one; a machine without the clock reads all ones for ever.
    let mut last = read();
    for _ in 0..1000 {
        let busy = register(0x0a) & UPDATE_IN_PROGRESS != 0;
        let now = read();
        if !busy && now == last {
            break;
        }
        last = now;
    }
    let mode = register(0x0b);
    let decode = |value: u8| if mode & BINARY != 0 { value } else { (value >> 4) * 10 + (value & 0xf) };
    let afternoon = last[2] & 0x80 != 0 && mode & HOURS_24 == 0;
    let hour = decode(last[2] & 0x7f);
    let hour = if mode & HOURS_24 != 0 { hour } else { hour % 12 + if afternoon { 12 } else { 0 } };
    let [second, minute, _, day, month, year] = last.map(decode);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return 0;
    }
    days_since_epoch(2000 + u64::from(year), month.into(), day.into()) * 86_400
        + u64::from(hour) * 3600
        + u64::from(minute) * 60
        + u64::from(second)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar from 2000 to 2099.
fn days_since_epoch(year: u64, month: u64, day: u64) -> u64 {
    const BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const DAYS_TO_2000: u64 = 10_957;
    let years = year - 2000;
    let leap_days = years.div_ceil(4) + u64::from(year.is_multiple_of(4) && month > 2);
    DAYS_TO_2000 + years * 365 + leap_days + BEFORE_MONTH[month as usize - 1] + day - 1
}
