//! How the frequency of the time stamp counter is found: told by the processor or the hypervisor, else measured against a timer (Intel SDM volume 3B,
//! section 18.7.3, for the order of what the processor tells). And by how much the counters of two cores differ ([`Comparison`]), and how long
//! to wait for many ([`Arrivals`]).
#![no_std]
#![forbid(unsafe_code)]

mod arrivals;
mod comparison;

use core::fmt;

pub use arrivals::Arrivals;
pub use comparison::Comparison;

/// A processor's counter is slower than this, and faster than [`LEAST_HZ`]: what is told beyond is not believed.
const MOST_HZ: u64 = 100_000_000_000;
const LEAST_HZ: u64 = 1_000_000;

/// What a machine has to tell. Zeroes in what processors tell mean that they do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// CPUID leaf 15h: denominator and numerator of counter by crystal, and the crystal's frequency in Hz.
    pub crystal: Option<[u32; 3]>,
    /// CPUID leaf 16h: the base frequency in MHz, at which the counter runs where leaf 15h has the ratio and not the crystal's frequency.
    pub base_mhz: Option<u16>,
    /// The hypervisor's leaf 40000010h, in kHz.
    pub hypervisor_khz: Option<u32>,
    /// Whether there is a high precision event timer that counts.
    pub has_event_timer: bool,
    /// Whether the firmware names ACPI's timer.
    pub has_acpi_timer: bool,
}

/// Where the frequency comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is so many Hz, by this one's word.
    Told(u64, By),
    /// It is to be measured against this.
    Measured(Timer),
}

/// Who tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Crystal,
    BaseFrequency,
    Hypervisor,
}

/// What can be measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The high precision event timer.
    Event,
    Acpi,
    /// The interval timer (8254), which every machine that says nothing else is taken to have.
    Interval,
}

/// The best source there is.
pub fn source(known: &Known) -> Source {
    let believed = |hz: u64| (LEAST_HZ..=MOST_HZ).contains(&hz).then_some(hz);
    let ratio = known.crystal.filter(|[denominator, numerator, _]| *denominator != 0 && *numerator != 0);
    let by_crystal = ratio.and_then(|[denominator, numerator, hz]| {
        believed(u64::from(hz) * u64::from(numerator) / u64::from(denominator))
    });
    let by_base = ratio.and(known.base_mhz).and_then(|mhz| believed(u64::from(mhz) * 1_000_000));
    let by_hypervisor = known.hypervisor_khz.and_then(|khz| believed(u64::from(khz) * 1000));
    let told = by_crystal.map(|hz| Source::Told(hz, By::Crystal));
    let told = told.or(by_base.map(|hz| Source::Told(hz, By::BaseFrequency)));
    let told = told.or(by_hypervisor.map(|hz| Source::Told(hz, By::Hypervisor)));
    let timer = match known {
        Known { has_event_timer: true, .. } => Timer::Event,
        Known { has_acpi_timer: true, .. } => Timer::Acpi,
        _ => Timer::Interval,
    };
    told.unwrap_or(Source::Measured(timer))
}

/// Frequency of an event timer's count by the upper half of its capabilities, the period in femtoseconds (IA-PC HPET specification 1.0a, section 2.3.4).
/// `None` for what no such timer says: a place that nothing is behind reads as ones.
pub fn event_timer_hz(period: u32) -> Option<u64> {
    /// Femtoseconds in a second, and the longest period that the specification allows.
    const SECOND: u64 = 1_000_000_000_000_000;
    const PERIOD_MAX: u64 = 100_000_000;
    let period = u64::from(period);
    (1..=PERIOD_MAX).contains(&period).then(|| (SECOND + period / 2) / period)
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Source::Told(_, By::Crystal) => "by the processor's crystal",
            Source::Told(_, By::BaseFrequency) => "the processor's base frequency",
            Source::Told(_, By::Hypervisor) => "by the hypervisor",
            Source::Measured(Timer::Event) => "by the high precision event timer",
            Source::Measured(Timer::Acpi) => "by ACPI's timer",
            Source::Measured(Timer::Interval) => "by the interval timer",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crystal_comes_first() {
        // Tiger Lake: 38.4 MHz, and 2.8 GHz of base frequency.
        let known = Known {
            crystal: Some([2, 146, 38_400_000]),
            base_mhz: Some(2800),
            hypervisor_khz: Some(2_000_000),
            has_event_timer: true,
            has_acpi_timer: true,
        };
        assert_eq!(source(&known), Source::Told(2_803_200_000, By::Crystal));
    }

    #[test]
    fn a_crystal_without_a_frequency_leaves_it_to_the_base() {
        // Skylake tells the ratio and not the crystal.
        let known = Known { crystal: Some([2, 292, 0]), base_mhz: Some(3500), ..Known::default() };
        assert_eq!(source(&known), Source::Told(3_500_000_000, By::BaseFrequency));
        // Without a ratio the counter need not run at the base frequency.
        for crystal in [None, Some([0, 292, 24_000_000]), Some([2, 0, 24_000_000])] {
            assert_eq!(source(&Known { crystal, ..known }), Source::Measured(Timer::Interval), "{crystal:?}");
        }
    }

    #[test]
    fn the_hypervisor_comes_before_timers() {
        let known = Known {
            hypervisor_khz: Some(2_299_998),
            has_acpi_timer: true,
            base_mhz: Some(0),
            ..Known::default()
        };
        assert_eq!(source(&known), Source::Told(2_299_998_000, By::Hypervisor));
        assert_eq!(source(&Known { hypervisor_khz: Some(0), ..known }), Source::Measured(Timer::Acpi));
        assert_eq!(source(&Known::default()), Source::Measured(Timer::Interval));
    }

    #[test]
    fn timers_come_in_the_order_of_their_precision() {
        let known = Known { has_event_timer: true, has_acpi_timer: true, ..Known::default() };
        assert_eq!(source(&known), Source::Measured(Timer::Event));
        let known = Known { has_event_timer: false, ..known };
        assert_eq!(source(&known), Source::Measured(Timer::Acpi));
        assert_eq!(source(&Known { has_acpi_timer: false, ..known }), Source::Measured(Timer::Interval));
    }

    #[test]
    fn an_event_timer_says_how_fast_it_counts() {
        // Intel's chipsets, and QEMU.
        assert_eq!(event_timer_hz(69_841_279), Some(14_318_180));
        assert_eq!(event_timer_hz(10_000_000), Some(100_000_000));
        assert_eq!([0, 100_000_001, u32::MAX].map(event_timer_hz), [None; 3]);
    }

    #[test]
    fn what_no_counter_does_is_not_believed() {
        for crystal in [[1, u32::MAX, u32::MAX], [u32::MAX, 1, u32::MAX]] {
            let known = Known { crystal: Some(crystal), ..Known::default() };
            assert_eq!(source(&known), Source::Measured(Timer::Interval), "{crystal:?}");
        }
    }
}
