//! A rank in the middle of the tree enters a collective and then computes, until a rank below it tells that it has the result: nothing that the first one could do with
//! its processor was needed.
//!
//! Four ranks, each its node's first: 0 has the children 1 and 2, 2 has 3. Rank 2 makes no call between entering and being told; it looks at one word, which the
//! kernel changes.

use core::sync::atomic::{AtomicU64, Ordering};
use lwk_place::WorldRank;
use lwk_remote::{Change, Fault, Remote};
use lwk_triggered::{BYTES, Entered, Failed, Fold, Together};
use lwk_user::portals::abi::{atomic, datatype};
use lwk_user::wait::spin_until;
use lwk_user::{eprintln, job, println, start};

/// Collectives: barriers and reductions in turn.
const ROUNDS: u64 = 40;
const MIDDLE: WorldRank = WorldRank(2);
const BELOW: WorldRank = WorldRank(3);
const RANKS: u32 = 4;

/// Ranks that are ready; rounds that the middle one has entered, at the others; those that the one below has ended, at the middle one.
static READY: AtomicU64 = AtomicU64::new(0);
static ENTERED: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

pub fn run() -> Result<(), Failed> {
    let me = job().rank();
    if job().size() != RANKS || job().nodes() != RANKS {
        eprintln!("alone: 4 nodes of one rank");
        start::exit(2)
    }
    // SAFETY: ranks change nothing of each other but the words above.
    let remote = unsafe { Remote::open() }.map_err(|_| Failed)?;
    let together = Together::open(7, me.0, (0..RANKS).map(WorldRank).collect()).map_err(|_| Failed)?;
    let others = || (0..RANKS).map(WorldRank).filter(|rank| *rank != me);
    for rank in others() {
        remote.await_open(rank);
        tell(&remote, rank, &READY)?;
    }
    spin_until(|| READY.load(Ordering::Acquire) >= u64::from(RANKS) - 1);
    for round in 1..=ROUNDS {
        if me == MIDDLE {
            let entered = enter(&together, me, round)?;
            for rank in others() {
                tell(&remote, rank, &ENTERED)?;
            }
            // Acquire: the kernel of the rank below counts here after its part of the collective.
            while ENDED.load(Ordering::Acquire) < round {
                core::hint::spin_loop();
            }
            if !together.is_over(&entered)? {
                fail("the rank below has the result, and this one has not");
            }
            check(&together, &entered, round);
        } else {
            // So that what the middle one has asked for waits in its kernel.
            spin_until(|| ENTERED.load(Ordering::Acquire) >= round);
            let entered = enter(&together, me, round)?;
            let mut over = Ok(false);
            spin_until(|| {
                over = together.is_over(&entered);
                over != Ok(false)
            });
            over?;
            check(&together, &entered, round);
            if me == BELOW {
                tell(&remote, MIDDLE, &ENDED)?;
            }
        }
    }
    if me == MIDDLE {
        println!("{ROUNDS} collectives went past a rank that computed");
    }
    // Nobody closes an end that another one still needs.
    for rank in others() {
        tell(&remote, rank, &READY)?;
    }
    spin_until(|| READY.load(Ordering::Acquire) >= 2 * (u64::from(RANKS) - 1));
    remote.complete().map_err(|_| Failed)
}

fn fail(message: &str) -> ! {
    eprintln!("rank {}: {message}", job().rank());
    start::exit(1)
}

/// Counts in a word of another rank.
fn tell(remote: &Remote, rank: WorldRank, word: &'static AtomicU64) -> Result<(), Failed> {
    // SAFETY: everybody changes the word by atomic operations only.
    unsafe { remote.change(rank, word.as_ptr(), Change::Add(1)) }.map_err(|_: Fault| Failed)
}

fn is_reduction(round: u64) -> bool {
    round.is_multiple_of(2)
}

fn enter(together: &Together, me: WorldRank, round: u64) -> Result<Entered, Failed> {
    if !is_reduction(round) {
        return together.enter_barrier();
    }
    let part = [u64::from(me.0) + round; BYTES / 8];
    let fold = Fold { atomic: atomic::SUM, datatype: datatype::UINT64, bytes: BYTES };
    // SAFETY: the part has that many bytes.
    unsafe { together.enter_reduction(part.as_ptr().cast(), fold) }
}

fn check(together: &Together, entered: &Entered, round: u64) {
    if !is_reduction(round) {
        return;
    }
    let mut sum = [0u64; BYTES / 8];
    // SAFETY: as many bytes as were entered; the next one has not been.
    unsafe { together.take(entered, sum.as_mut_ptr().cast()) };
    let expected = u64::from(RANKS) * round + 6;
    if sum.iter().any(|it| *it != expected) {
        fail("a sum is wrong");
    }
}
