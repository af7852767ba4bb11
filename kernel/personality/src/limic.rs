//! Copies between ranks by the system: the calls of [`lwk_abi::limic`] and [`lwk_abi::engine`], and here LiMIC2's three. (LiMIC's are in [`crate::limic_queues`], a worker's in
//! [`crate::engine`].) Nothing is pinned or mapped, since a rank's memory never moves, and nothing is kept: a descriptor is checked when it is used, as the pointers beside it.

use lwk_abi::address::{MAX_RANKS, remote, slot_of};
use lwk_abi::engine::{CHECK, COUNTS, FAULT, ICOPY, IREAD, IWRITE, WORKERS};
use lwk_abi::limic::{
    Descriptor, IF_AWAITED, IPROBE, IRECV, ISEND, RELOCATE, RX_COMP, TX_COMP, TX_INIT, WAIT, WITHDRAW,
};
use lwk_abi::syscall::errno::{EFAULT, EINVAL};
use lwk_limic::Side;

use crate::home::Home;
use crate::machine::{read_u64, write_words};
use crate::{Answer, Errno, engine, limic_queues};

/// One of the calls. Buffers, descriptors, requests, copies and counts are user addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`TX_INIT`]
    TxInit { buffer: u64, bytes: u64, descriptor: u64 },
    /// [`RX_COMP`]
    RxComp { buffer: u64, bytes: u64, descriptor: u64 },
    /// [`TX_COMP`]
    TxComp { buffer: u64, bytes: u64, descriptor: u64 },
    /// [`ISEND`]
    Isend { request: u64, if_awaited: bool },
    /// [`IRECV`]
    Irecv { request: u64, if_awaited: bool },
    /// [`WAIT`]
    Wait { request: u64 },
    /// [`IPROBE`]
    Iprobe { request: u64 },
    /// [`WITHDRAW`]
    Withdraw { request: u64, side: Option<Side> },
    /// [`RELOCATE`]
    Relocate { request: u64, buffer: u64, side: Option<Side> },
    /// [`IWRITE`]
    Iwrite { request: u64, way: u64 },
    /// [`IREAD`]
    Iread { request: u64, way: u64 },
    /// [`ICOPY`]
    Icopy { copy: u64, way: u64 },
    /// [`WORKERS`]
    Workers,
    /// [`CHECK`]
    Check,
    /// [`COUNTS`]
    Counts { counts: u64 },
    /// [`FAULT`]: numbers.
    Fault { after: u64, fault: u64 },
}

impl Call {
    /// The call with a number, and three arguments in registers' order; none if the number is no such call's.
    #[must_use]
    pub fn new(number: u64, [first, second, third]: [u64; 3]) -> Option<Call> {
        let if_awaited = second == IF_AWAITED;
        Some(match number {
            TX_INIT => Call::TxInit { buffer: first, bytes: second, descriptor: third },
            RX_COMP => Call::RxComp { buffer: first, bytes: second, descriptor: third },
            TX_COMP => Call::TxComp { buffer: first, bytes: second, descriptor: third },
            ISEND => Call::Isend { request: first, if_awaited },
            IRECV => Call::Irecv { request: first, if_awaited },
            WAIT => Call::Wait { request: first },
            IPROBE => Call::Iprobe { request: first },
            WITHDRAW => Call::Withdraw { request: first, side: Side::of(second) },
            RELOCATE => Call::Relocate { request: first, buffer: second, side: Side::of(third) },
            IWRITE => Call::Iwrite { request: first, way: second },
            IREAD => Call::Iread { request: first, way: second },
            ICOPY => Call::Icopy { copy: first, way: second },
            WORKERS => Call::Workers,
            CHECK => Call::Check,
            COUNTS => Call::Counts { counts: first },
            FAULT => Call::Fault { after: first, fault: second },
            _ => return None,
        })
    }
}

/// Answers one of the calls. Errors: as [`lwk_abi::limic`] and [`lwk_abi::engine`] say.
pub fn call<H: Home>(home: &H, call: Call) -> Answer {
    match call {
        Call::TxInit { buffer, bytes, descriptor } => describe(home, buffer, bytes, descriptor),
        Call::RxComp { buffer, bytes, descriptor } => {
            let (described, bytes) = described(home, bytes, descriptor)?;
            copy(home, buffer, described, bytes)
        }
        Call::TxComp { buffer, bytes, descriptor } => {
            let (described, bytes) = described(home, bytes, descriptor)?;
            copy(home, described, buffer, bytes)
        }
        Call::Isend { request, if_awaited } => limic_queues::post(home, request, Side::Sends, if_awaited),
        Call::Irecv { request, if_awaited } => limic_queues::post(home, request, Side::Receives, if_awaited),
        Call::Wait { request } => limic_queues::wait(home, request),
        Call::Iprobe { request } => limic_queues::probe(home, request),
        Call::Withdraw { request, side } => limic_queues::withdraw(home, request, side),
        Call::Relocate { request, buffer, side } => limic_queues::relocate(home, request, buffer, side),
        Call::Iwrite { request, way } => engine::post(home, request, way, Side::Writes),
        Call::Iread { request, way } => engine::post(home, request, way, Side::Reads),
        Call::Icopy { copy, way } => engine::copy(home, copy, way),
        Call::Workers => Ok(home.workers().into()),
        Call::Check => Ok(home.look_after_engine()),
        Call::Counts { counts } => engine::counts(home, counts),
        Call::Fault { after, fault } => home.engine_fault(after, fault),
    }
}

fn describe<H: Home>(home: &H, buffer: u64, bytes: u64, target: u64) -> Answer {
    home.check_readable(buffer, bytes)?;
    let address = match slot_of(buffer) {
        0 => remote(buffer, home.node_rank()),
        _ => buffer,
    };
    // Address, length, offset: as the fields of a `Descriptor`.
    write_words(home, target, [address, bytes, 0])?;
    Ok(bytes)
}

/// Where the copy begins that a descriptor of the program's names, and how many bytes it has: `most` at most.
fn described<H: Home>(home: &H, most: u64, descriptor: u64) -> Result<(u64, u64), Errno> {
    // Read once: a peer may change it meanwhile.
    home.check_readable(descriptor, size_of::<Descriptor>() as u64)?;
    let address = read_u64(home, descriptor)?;
    let length = read_u64(home, descriptor + 8)?;
    let offset = read_u64(home, descriptor + 16)?;
    let left = length.checked_sub(offset).ok_or(Errno(EINVAL))?;
    if !(1..=MAX_RANKS as u64).contains(&slot_of(address)) {
        return Err(Errno(EINVAL));
    }
    Ok((address.checked_add(offset).ok_or(Errno(EFAULT))?, left.min(most)))
}

fn copy<H: Home>(home: &H, to: u64, from: u64, bytes: u64) -> Answer {
    home.check_readable(from, bytes)?;
    home.check_writable(to, bytes)?;
    home.copy_memory(to, from, bytes)
}
