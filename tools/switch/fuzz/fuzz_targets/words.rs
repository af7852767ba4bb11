//! Any words for a switch: settings that make sense, or one line that says what is wrong.
#![no_main]

use lwk_switch::Settings;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Settings::parse(text) {
        Ok(it) => {
            for chance in [it.faults.loss, it.faults.duplicate, it.faults.reorder, it.faults.corrupt] {
                assert!((0.0..=1.0).contains(&chance));
            }
            assert!(it.wire.queue >= 4 && it.wire.bandwidth != Some(0));
            assert!(it.partitions.iter().all(|it| it.from < it.until && !it.ports.is_empty()));
        }
        Err(why) => assert!(!why.is_empty()),
    }
});
