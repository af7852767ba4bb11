//! LiMIC's calls, which match in the kernel ([`lwk_abi::limic`], [`lwk_limic`]): the send or receive that comes later finds the other, and copies.
//!
//! Queues are used under the home's lock; the copy is made behind it. In between nobody else has either post, since they are in no queue: neither can be withdrawn, and
//! both ranks wait until they are told.

use lwk_abi::address::{remote, slot_of};
use lwk_abi::limic::{BYTES, DONE, Envelope, FAILED, LABEL, Request, STATE, WAITS};
use lwk_abi::syscall::errno::{EAGAIN, EINVAL, EIO};
use lwk_limic::{Full, Pattern, Posted, Queues, Side};
use lwk_words::{Words, finish};

use crate::home::Home;
use crate::machine::{read_u64, write_words};
use crate::{Answer, Errno};

/// A request as the program has it now. Read once: the program may change it.
#[inline(never)]
fn read<H: Home>(home: &H, request: u64) -> Result<Request, Errno> {
    if !request.is_multiple_of(8) {
        return Err(Errno(EINVAL));
    }
    let mut words = [[0; 8]; size_of::<Request>() / 8];
    home.check_writable(request, size_of::<Request>() as u64)?;
    home.read(request, words.as_flattened_mut())?;
    // As the fields of a `Request`.
    let [state, peer, label, any_tag, address, bytes] = words.map(u64::from_le_bytes);
    Ok(Request { state, peer, label, any_tag, address, bytes })
}

/// Works on the queues. Errors: those of `work`, and `ENOMEM`.
fn with<H: Home, R>(home: &H, work: impl FnOnce(&mut Queues<'_>) -> Result<R, Errno>) -> Result<R, Errno> {
    let (mut work, mut outcome) = (Some(work), Err(Errno(EIO)));
    home.limic(&mut |queues| {
        if let Some(work) = work.take() {
            outcome = work(queues);
        }
    })?;
    outcome
}

/// An address as every rank of the node calls it.
pub(crate) fn for_all<H: Home>(home: &H, address: u64) -> u64 {
    match slot_of(address) {
        0 => remote(address, home.node_rank()),
        _ => address,
    }
}

/// Sender and receiver of a request's message, of which one is the caller. Errors: `EINVAL` for a rank that there is not.
fn ends<H: Home>(home: &H, request: &Request, side: Side, ranks: u32) -> Result<(u32, u32), Errno> {
    let peer = u32::try_from(request.peer).ok().filter(|peer| *peer < ranks).ok_or(Errno(EINVAL))?;
    Ok(if side.is_outward() { (home.node_rank(), peer) } else { (peer, home.node_rank()) })
}

pub fn post<H: Home>(home: &H, at: u64, side: Side, if_awaited: bool) -> Answer {
    match meet(home, at, side, if_awaited)? {
        None => Ok(0),
        Some(met) => copy_and_tell(home, at, &met),
    }
}

/// The two ends of a message that have found each other, with the caller's own buffer at its own address.
pub(crate) struct Met {
    pub send: Posted,
    pub receive: Posted,
    /// The other rank's request.
    pub other: u64,
}

/// Posts the request at an address, if its counterpart is not there and it may wait for that.
#[inline(never)]
pub(crate) fn meet<H: Home>(home: &H, at: u64, side: Side, if_awaited: bool) -> Result<Option<Met>, Errno> {
    let request = read(home, at)?;
    if side.is_outward() {
        home.check_readable(request.address, request.bytes)?;
    } else {
        home.check_writable(request.address, request.bytes)?;
    }
    let Envelope { context, tag, bytes } = Envelope::of(request.label, request.bytes);
    let (address, name) = (for_all(home, request.address), for_all(home, at));
    let own = Posted { context, tag, any_tag: request.any_tag, bytes, address, request: name };
    // Whoever comes later writes it, perhaps before this returns.
    home.write(at + STATE, &WAITS.to_le_bytes())?;
    let found = with(home, |queues| {
        let (from, to) = ends(home, &request, side, queues.ranks())?;
        if if_awaited {
            return Ok(queues.meet(from, to, side, &own));
        }
        queues.post(from, to, side, &own).map_err(|Full| Errno(EAGAIN))
    })?;
    // This rank's own buffer at its own address: which of both is the peer's, decides how a home reaches it.
    let own = Posted { address: request.address, ..own };
    Ok(found.map(|other| {
        let (send, receive) = if side.is_outward() { (own, other) } else { (other, own) };
        Met { send, receive, other: other.request }
    }))
}

/// The caller, whose request is at an address, copies.
pub(crate) fn copy_and_tell<H: Home>(home: &H, at: u64, Met { send, receive, other }: &Met) -> Answer {
    let outcome = copy(home, send, receive);
    tell(home, *other, send, outcome);
    tell(home, at, send, outcome);
    outcome.map(|()| 1)
}

/// Copies a message into its receive. Errors: what keeps this home from reaching a peer's memory; `EIO` for less than all, as the job is about to end.
#[inline(never)]
fn copy<H: Home>(home: &H, send: &Posted, receive: &Posted) -> Result<(), Errno> {
    let bytes = send.bytes.min(receive.bytes);
    if bytes == 0 {
        return Ok(());
    }
    // Both have been checked when they were posted, but what the caller has mapped since is another matter.
    home.check_readable(send.address, bytes)?;
    home.check_writable(receive.address, bytes)?;
    let copied = home.copy_memory(receive.address, send.address, bytes)?;
    if copied == bytes { Ok(()) } else { Err(Errno(EIO)) }
}

/// The way to words of ranks. A request that its rank has unmapped meanwhile is told nothing.
struct Requests<'h, H>(&'h H);

impl<H: Home> Words for Requests<'_, H> {
    fn write(&self, address: u64, word: u64) {
        let _ = self.0.write(address, &word.to_le_bytes());
    }

    fn tell(&self, address: u64, word: u64) {
        let _ = self.0.tell(address, word);
    }
}

fn label(send: &Posted) -> u64 {
    Envelope { context: send.context, tag: send.tag, bytes: send.bytes }.label()
}

/// Tells a request what has come of it.
#[inline(never)]
fn tell<H: Home>(home: &H, request: u64, send: &Posted, outcome: Result<(), Errno>) {
    let outcome = outcome.map(|()| send.bytes).map_err(|Errno(number)| number.unsigned_abs());
    finish(&Requests(home), request, label(send), outcome);
}

/// Says to a request what its message is.
pub(crate) fn describe<H: Home>(home: &H, request: u64, send: &Posted) {
    lwk_words::describe(&Requests(home), request, label(send), send.bytes);
}

pub fn wait<H: Home>(home: &H, at: u64) -> Answer {
    let request = read(home, at)?;
    match request.state {
        WAITS => Ok(0),
        DONE => Ok(1),
        // Read after the state, which was written after it.
        FAILED => Err(Errno(i64::try_from(read_u64(home, at + BYTES)?).unwrap_or(EIO))),
        _ => Err(Errno(EINVAL)),
    }
}

#[inline(never)]
pub fn probe<H: Home>(home: &H, at: u64) -> Answer {
    let request = read(home, at)?;
    let Envelope { context, tag, .. } = Envelope::of(request.label, 0);
    let pattern = Pattern { context, tag: (request.any_tag == 0).then_some(tag) };
    let found = with(home, |queues| {
        let (from, to) = ends(home, &request, Side::Receives, queues.ranks())?;
        Ok(queues.probe(from, to, &pattern))
    })?;
    let Some(envelope) = found else { return Ok(0) };
    write_words(home, at + LABEL, [envelope.label()])?;
    write_words(home, at + BYTES, [envelope.bytes])?;
    Ok(1)
}

#[inline(never)]
pub fn withdraw<H: Home>(home: &H, at: u64, side: Option<Side>) -> Answer {
    let (request, side) = (read(home, at)?, side.ok_or(Errno(EINVAL))?);
    let name = for_all(home, at);
    with(home, |queues| {
        let (from, to) = ends(home, &request, side, queues.ranks())?;
        Ok(u64::from(queues.withdraw(from, to, side, name)))
    })
}

#[inline(never)]
pub fn relocate<H: Home>(home: &H, at: u64, address: u64, side: Option<Side>) -> Answer {
    let request = read(home, at)?;
    let side = side.filter(|side| side.is_outward()).ok_or(Errno(EINVAL))?;
    home.check_readable(address, request.bytes)?;
    let (name, address) = (for_all(home, at), for_all(home, address));
    with(home, |queues| {
        let ends = ends(home, &request, side, queues.ranks())?;
        Ok(u64::from(queues.relocate(ends, side, name, (address, request.bytes))))
    })
}
