//! `mpi-bench kernel_copy`: what a message is made of that the kernel copies, after figure 4.4 of Chai's dissertation: the trap, look-up and check, the
//! copy; the call that describes a buffer, which a message of a rank's own memory does without; beside them matching, one copy by loads and stores, and the whole message by the transport that runs.
//!
//! All are times of rank 0 in one run, the best of several turns. The sum that the message is compared with has one trap, matching, and one copy
//! by loads and stores. The dissertation's figures are of a 3.6 GHz Xeon with Linux 2.6 (cluster A).

use super::point_to_point::{Lines, TAG, pair, ping_pong};
use super::{Bench, microseconds};
use alloc::vec::Vec;
use core::hint::black_box;
use lwk_copy::copy;
use lwk_mpi_rt::{Error, Result};
use lwk_user::limic::{self, Descriptor};
use lwk_user::{job, println, syscall};

/// Most rounds of one turn of a part: a turn takes microseconds even of the shortest.
const ROUNDS: u32 = 200;

/// Times in microseconds.
struct Row {
    bytes: usize,
    /// The cheapest system call; none where a call is answered without one (the host home).
    trap: Option<f64>,
    /// `limic_rx_comp` of nothing, beyond the trap: look-up and checks. In the host home with Linux's trap.
    check: f64,
    /// `limic_rx_comp` of the content, beyond that of nothing.
    copy: f64,
    /// `limic_tx_init`, trap and all: the sender's call, which describes its buffer.
    post: f64,
    /// Half a round trip of one byte: envelope and matching.
    matching: f64,
    /// One copy out of the peer's memory by loads and stores.
    loads: f64,
    /// Half a round trip of the message.
    message: f64,
    /// The message as a multiple of trap, check, matching and the copy by loads.
    ratio: f64,
    /// System calls of a message, its sender's and its receiver's together; none where nobody counts them (the host home).
    calls: Option<f64>,
}
lwk_apps::json_object!(Row { bytes, trap, check, copy, post, matching, loads, message, ratio, calls });

/// Measures and prints; every rank calls it. Errors: those of messages; `MPI_ERR_INTERN` if a copy is refused or wrong.
pub fn run(bench: &Bench, as_json: bool) -> Result<()> {
    let sizes = bench.sizes(4 << 10, 4 << 20);
    let rows: Result<Vec<Row>> = sizes.into_iter().map(|bytes| measure(bench, bytes)).collect();
    let rows = rows?;
    if bench.rank != 0 {
        return Ok(());
    }
    if as_json {
        lwk_apps::json::print(&rows);
        return Ok(());
    }
    println!("# lwk MPI kernel_copy test; microseconds; of the call: trap, check and copy in percent");
    println!(
        "#    Size     trap    check     copy   of the call     post matching    loads  message    ratio"
    );
    let all_calls: Vec<(usize, f64)> =
        rows.iter().filter_map(|row| row.calls.map(|calls| (row.bytes, calls))).collect();
    for Row { bytes, trap, check, copy, post, matching, loads, message, ratio, .. } in rows {
        let call = trap.unwrap_or(0.0) + check + copy;
        let percent = |part: f64| 100.0 * part / call;
        let (trap_us, parts) = (trap.unwrap_or(0.0), [trap.unwrap_or(0.0), check, copy].map(percent));
        println!(
            "{bytes:>9} {trap_us:>8.3} {check:>8.3} {copy:>8.3}  {:>3.0} {:>3.0} {:>3.0} {post:>8.3} {matching:>8.3} {loads:>8.3} {message:>8.3} {ratio:>8.2}",
            parts[0], parts[1], parts[2]
        );
    }
    for (bytes, calls) in all_calls {
        println!("# {bytes} bytes: {calls:.2} system calls of both ranks for a message");
    }
    println!(
        "# dissertation, figure 4.4 (a), 4 KiB: trap 55 % (3 us), queues and locks 12 % (0.5 us), the rest mapping and copy"
    );
    Ok(())
}

fn measure(bench: &Bench, bytes: usize) -> Result<Row> {
    let pair = pair(bench, 1);
    let (mut send, mut receive) = (Lines::new(bytes, 0), Lines::new(bytes, 3072));
    send.fill(bench.rank as u8 + 1);
    let described = if pair.idle { None } else { Some(describe(bench, pair.partner, &send)?) };
    // Long turns would not pass undisturbed on a busy machine.
    let rounds = bench.iterations(bytes).min(ROUNDS);
    let part = |body: &mut dyn FnMut() -> Result<()>| part(bench, rounds, body);
    let trap = part(&mut || {
        black_box(syscall::getpid());
        Ok(())
    })?;
    let post = part(&mut || {
        let own = limic::tx_init(send.as_ptr(), bytes);
        black_box(own).map(drop).map_err(|_| Error::INTERN)
    })?;
    let mut kernel = |wanted: usize| {
        part(&mut || {
            let Some(descriptor) = &described else { return Err(Error::INTERN) };
            // SAFETY: the buffer is this function's, and the partner leaves its own alone until the barrier that ends the part.
            let copied = unsafe { limic::rx_comp(receive.as_mut_ptr(), wanted, descriptor) };
            if copied == Ok(wanted) { Ok(()) } else { Err(Error::INTERN) }
        })
    };
    let (nothing, call) = (kernel(0)?, kernel(bytes)?);
    let is_right = pair.idle || bench.rank != 0 || receive.iter().all(|byte| *byte == pair.partner as u8 + 1);
    let loads = part(&mut || {
        let Some(descriptor) = described else { return Err(Error::INTERN) };
        let source = core::ptr::with_exposed_provenance(descriptor.address as usize);
        // SAFETY: as above; the partner's buffer is readable at its slot.
        unsafe { copy(source, receive.as_mut_ptr(), bytes) };
        black_box(&mut receive[0]);
        Ok(())
    })?;
    let iterations = bench.iterations(bytes);
    let mut half = |bytes: usize| -> Result<f64> {
        let ticks = bench.best(|| {
            if pair.idle {
                Ok(())
            } else {
                ping_pong(bench, &pair, &send[..bytes], &mut receive[..bytes], iterations)
            }
        })?;
        Ok(microseconds(ticks) / f64::from(2 * iterations))
    };
    let (matching, message) = (half(1)?, half(bytes)?);
    let calls = match pair.idle {
        true => None,
        // Both ranks send as many as they receive.
        false => counted_calls(|| ping_pong(bench, &pair, &send, &mut receive, iterations))?
            .map(|calls| calls as f64 / f64::from(iterations)),
    };
    if !is_right {
        return Err(Error::INTERN);
    }
    // In the host home the cheapest call is a signal: the call of nothing has Linux's trap in it.
    let trap = (!job().is_host_home()).then_some(trap);
    let ratio = message / (nothing + matching + loads);
    let check = nothing - trap.unwrap_or(0.0);
    Ok(Row { bytes, trap, check, copy: call - nothing, post, matching, loads, message, ratio, calls })
}

/// System calls on this rank's core meanwhile, where the home counts them. Errors: those of the body.
fn counted_calls(body: impl FnOnce() -> Result<()>) -> Result<Option<u64>> {
    let before = syscall::core_counters();
    body()?;
    let after = syscall::core_counters();
    // The second reading is one itself.
    Ok(before.ok().zip(after.ok()).map(|(before, after)| after.syscalls - before.syscalls - 1))
}

/// Microseconds of a part, which is rank 0's work; the others come to the barriers.
fn part(bench: &Bench, rounds: u32, body: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
    let ticks = bench.best(|| match bench.rank {
        0 => (0..rounds).try_for_each(|_| body()),
        _ => Ok(()),
    })?;
    Ok(microseconds(ticks) / f64::from(rounds))
}

/// Exchanges descriptions of the buffers with the partner; the partner's.
fn describe(bench: &Bench, partner: i32, send: &[u8]) -> Result<Descriptor> {
    let own = limic::tx_init(send.as_ptr(), send.len()).map_err(|_| Error::INTERN)?;
    let words = [own.address, own.length, own.offset];
    let mut theirs = [0u64; 3];
    if bench.rank == 0 {
        bench.world.send(&words, partner, TAG)?;
        bench.world.receive(&mut theirs, partner, TAG)?;
    } else {
        bench.world.receive(&mut theirs, partner, TAG)?;
        bench.world.send(&words, partner, TAG)?;
    }
    let [address, length, offset] = theirs;
    Ok(Descriptor { address, length, offset })
}
