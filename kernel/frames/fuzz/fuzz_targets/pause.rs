//! Any frames, as they are and with the head of a pause: a pause is understood as the switch has told it, and none is longer than the longest.
#![no_main]

use lwk_frames::pause;

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut frame = input.to_vec();
    for known in [false, true] {
        if known {
            let head = pause::frame([2; 6], 0);
            let bytes = frame.len().min(16);
            frame[..bytes].copy_from_slice(&head[..bytes]);
        }
        let Some(units) = pause::asked(&frame) else {
            assert!(!known || frame.len() < 18, "a whole pause");
            continue;
        };
        assert!(pause::micros(units) <= pause::LONGEST_US);
        assert_eq!(pause::asked(&pause::frame([2; 6], units)), Some(units));
    }
});
