//! All functions of a machine: bus 0 and whatever lies behind its bridges.

use crate::{Configuration, Function, Identity, identity, register};

const HAS_FUNCTIONS: u32 = 1 << 23;
const BRIDGE: u32 = 1;

/// Calls `visit` with each function that is there, in the order of their numbers on each bus, those behind a bridge after it. No bus is
/// visited twice, whatever bridges say.
pub fn enumerate(configuration: &impl Configuration, mut visit: impl FnMut(Function, Identity)) {
    let mut known = [false; 256];
    let mut waiting = [0u8; 256];
    let mut count = 1;
    known[0] = true;
    while count > 0 {
        count -= 1;
        let bus = waiting[count];
        for device in 0..32 {
            let first = Function { bus, device, function: 0 };
            if identity(configuration, first).is_none() {
                continue;
            }
            let several = configuration.read(first, register::HEADER_TYPE) & HAS_FUNCTIONS != 0;
            for function in (0..if several { 8 } else { 1 }).map(|function| Function { function, ..first }) {
                let Some(found) = identity(configuration, function) else { continue };
                visit(function, found);
                let header = configuration.read(function, register::HEADER_TYPE) >> 16 & 0x7f;
                let behind = (configuration.read(function, register::BUSES) >> 8) as u8;
                if header == BRIDGE && !known[usize::from(behind)] {
                    known[usize::from(behind)] = true;
                    // Each of 256 buses waits once at most, and bus 0 has been taken off.
                    waiting[count] = behind;
                    count += 1;
                }
            }
        }
    }
}
