//! Any frames without a link, as they are and with heads of this job: they are counted, answered or dropped, and reach nobody's memory.
#![no_main]

mod home;

use home::{JOB, Machine};
use lwk_portals::RAW_ETHERTYPE;

thread_local! {
    /// Made once: it is large.
    static MACHINE: std::cell::RefCell<Machine> = std::cell::RefCell::new(Machine::new());
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    MACHINE.with_borrow_mut(|it| {
        let mut frame = input.to_vec();
        for known in [false, true] {
            if let Some(head) = frame.get_mut(..40) {
                head[12..14].copy_from_slice(&RAW_ETHERTYPE.to_be_bytes());
                if known {
                    head[16..20].copy_from_slice(&[1, 0, 0, 0]);
                    head[24..32].copy_from_slice(&JOB.to_le_bytes());
                }
            }
            it.now += 10;
            it.receive(&frame);
            let Machine { node, home, now } = it;
            node.work(*now, home);
            assert!(home.sent.iter().all(|sent| sent.len() <= frame.len().max(64)));
            home.sent.clear();
        }
        it.check();
    });
});
