//! Type signatures: the sequence of basic types of a message, without displacements (MPI 5.0, "Type Matching Rules").
//!
//! Kept as runs and repetitions, so that it costs what the constructors' arguments cost and not what the data does. It
//! answers how many basic elements a number of received bytes makes (`MPI_GET_ELEMENTS`), whether a message matches a receive,
//! how long the data is in `external32`, and which single type a reduction may work on. A [`Fingerprint`] of 64 bits stands
//! for a signature in an envelope.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::basic::Basic;
use crate::error::{Class, Error, Result, narrow};
use crate::node::MAX_DEPTH;

/// A non-empty sequence of basic types.
#[derive(Clone, Debug)]
pub(crate) struct Sig {
    kind: Kind,
    totals: Totals,
}

#[derive(Clone, Debug)]
enum Kind {
    Basic(Basic, u64),
    Repeat(u64, Rc<Sig>),
    Seq(Box<[Rc<Sig>]>),
}

/// What is known of a whole sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    pub elements: u64,
    pub bytes: u64,
    /// Bytes in `external32`; always fits, as no type is more than twice as long there.
    pub external: u64,
    hash: u64,
    packed: bool,
    depth: u32,
}

/// A signature in short, for an envelope: equal sequences have equal fingerprints; different ones differ but for one in 2^60.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Fingerprint {
    /// Number of basic elements.
    pub elements: u64,
    /// Polynomial hash of the sequence.
    pub hash: u64,
    /// Whether `MPI_PACKED` is in it, which matches anything.
    pub packed: bool,
}

/// How a message's signature relates to that of the receive it met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The same sequence, or `MPI_PACKED` on a side.
    Same,
    /// The message is a proper beginning of what the receive allows: right, and shorter.
    Shorter,
    /// The receive is a proper beginning of the message: truncation.
    Longer,
    /// Different types: the program is wrong.
    Different,
}

impl Sig {
    pub fn basic(basic: Basic, count: u64) -> Rc<Sig> {
        let one = Totals {
            elements: 1,
            bytes: basic.size() as u64,
            external: basic.external_size() as u64,
            hash: u64::from(basic.handle()),
            packed: basic == Basic::Packed,
            depth: 1,
        };
        Rc::new(Sig { kind: Kind::Basic(basic, count), totals: one.repeated(count) })
    }

    /// `count` times this sequence; the caller has checked that the bytes fit.
    pub fn repeated(self: &Rc<Sig>, count: u64) -> Rc<Sig> {
        let kind = match &self.kind {
            _ if count == 1 => return self.clone(),
            Kind::Basic(basic, inner) => Kind::Basic(*basic, inner * count),
            Kind::Repeat(inner, body) => Kind::Repeat(inner * count, body.clone()),
            Kind::Seq(_) => Kind::Repeat(count, self.clone()),
        };
        Rc::new(Sig { kind, totals: self.totals.repeated(count) })
    }

    /// Sequences one after the other. `None` if there is none.
    pub fn joined(parts: impl Iterator<Item = Rc<Sig>>) -> Result<Option<Rc<Sig>>> {
        let mut list: Vec<Rc<Sig>> = Vec::new();
        for part in parts {
            match (list.last().map(|last| &last.kind), &part.kind) {
                (Some(Kind::Basic(a, m)), Kind::Basic(b, n)) if a == b => {
                    let merged = Sig::basic(*a, m + n);
                    list.pop();
                    list.push(merged);
                }
                _ => list.push(part),
            }
        }
        if list.len() < 2 {
            return Ok(list.pop());
        }
        let mut totals = list[0].totals;
        for part in &list[1..] {
            totals = totals.followed_by(&part.totals);
        }
        totals.depth = 1 + list.iter().map(|part| part.totals.depth).max().unwrap_or(0);
        if totals.depth > MAX_DEPTH {
            return Err(Error::new(
                Class::Other,
                "the datatype nests deeper than this implementation carries (250)",
            ));
        }
        Ok(Some(Rc::new(Sig { kind: Kind::Seq(list.into()), totals })))
    }

    /// The one basic type of the sequence, if it has only one.
    pub fn homogeneous(&self) -> Option<Basic> {
        match self.kind {
            Kind::Basic(basic, _) => Some(basic),
            _ => None,
        }
    }

    /// Basic elements in the first `bytes` bytes of the sequence repeated without end; `None` if they end within one.
    pub fn elements(&self, mut bytes: u64) -> Option<u64> {
        let (mut node, mut elements) = (self, 0);
        loop {
            elements += bytes / node.totals.bytes * node.totals.elements;
            bytes %= node.totals.bytes;
            if bytes == 0 {
                return Some(elements);
            }
            match &node.kind {
                Kind::Basic(basic, _) => {
                    let size = basic.size() as u64;
                    return bytes.is_multiple_of(size).then_some(elements + bytes / size);
                }
                Kind::Repeat(_, body) => node = body,
                Kind::Seq(parts) => {
                    for part in parts {
                        node = part;
                        if bytes < part.totals.bytes {
                            break;
                        }
                        bytes -= part.totals.bytes;
                        elements += part.totals.elements;
                    }
                    if bytes == 0 {
                        return Some(elements);
                    }
                }
            }
        }
    }
}

impl Sig {
    /// Bytes that the first `elements` elements of the sequence repeated without end take; `None` beyond 64 bits.
    pub fn bytes_of(&self, mut elements: u64) -> Option<u64> {
        let (mut node, mut bytes) = (self, 0u64);
        while elements > 0 {
            let whole = (elements / node.totals.elements).checked_mul(node.totals.bytes)?;
            bytes = bytes.checked_add(whole)?;
            elements %= node.totals.elements;
            match &node.kind {
                Kind::Basic(basic, _) => return bytes.checked_add(elements * basic.size() as u64),
                Kind::Repeat(_, body) => node = body,
                Kind::Seq(parts) => {
                    for part in parts {
                        node = part;
                        if elements < part.totals.elements {
                            break;
                        }
                        elements -= part.totals.elements;
                        bytes = bytes.checked_add(part.totals.bytes)?;
                    }
                }
            }
        }
        Some(bytes)
    }
}

impl Totals {
    fn repeated(self, count: u64) -> Totals {
        let (mut result, mut power, mut left) = (None::<Totals>, self, count);
        while left > 0 {
            if left & 1 == 1 {
                result = Some(result.map_or(power, |done| done.followed_by(&power)));
            }
            left >>= 1;
            if left > 0 {
                power = power.followed_by(&power);
            }
        }
        result.unwrap_or(Totals { elements: 0, bytes: 0, external: 0, hash: 0, packed: false, ..self })
    }

    fn followed_by(self, next: &Totals) -> Totals {
        Totals {
            elements: self.elements + next.elements,
            bytes: self.bytes + next.bytes,
            external: self.external + next.external,
            hash: add(multiply(self.hash, power(next.elements)), next.hash),
            packed: self.packed || next.packed,
            depth: self.depth.max(next.depth),
        }
    }
}

/// The fingerprint of `count` repetitions.
pub(crate) fn fingerprint(sig: Option<&Rc<Sig>>, count: u64) -> Fingerprint {
    let Some(sig) = sig else { return Fingerprint::default() };
    let Totals { elements, hash, packed, .. } = sig.totals.repeated(count);
    Fingerprint { elements, hash, packed }
}

/// Prime modulus of the hash and the base of its polynomial.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0b5f_3a2c_91d4_e687;

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(MODULUS)) as u64
}

fn add(a: u64, b: u64) -> u64 {
    (a + b) % MODULUS
}

fn power(mut exponent: u64) -> u64 {
    let (mut result, mut base) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

/// The runs of equal basic types of a repeated sequence, as (type, number), in order.
pub(crate) struct Runs<'a> {
    stack: Vec<(&'a Sig, u64)>,
}

impl<'a> Runs<'a> {
    pub fn new(sig: Option<&'a Rc<Sig>>, count: u64) -> Runs<'a> {
        Runs { stack: sig.filter(|_| count > 0).map(|sig| (&**sig, count)).into_iter().collect() }
    }
}

impl Iterator for Runs<'_> {
    type Item = (Basic, u64);

    fn next(&mut self) -> Option<(Basic, u64)> {
        loop {
            let (sig, times) = self.stack.pop()?;
            if let Kind::Basic(basic, count) = sig.kind {
                return Some((basic, count * times));
            }
            if times > 1 {
                self.stack.push((sig, times - 1));
            }
            match &sig.kind {
                Kind::Basic(..) => {}
                Kind::Repeat(count, body) => self.stack.push((body, *count)),
                Kind::Seq(parts) => self.stack.extend(parts.iter().rev().map(|part| (&**part, 1))),
            }
        }
    }
}

/// Compares `sent` repeated `sent_count` times with `received` repeated `received_count` times. The cost is that of the runs
/// of both, unless they are the same object or have one fingerprint.
pub(crate) fn compare(
    sent: Option<&Rc<Sig>>,
    sent_count: u64,
    received: Option<&Rc<Sig>>,
    received_count: u64,
) -> Match {
    if fingerprint(sent, sent_count) == fingerprint(received, received_count) {
        return Match::Same;
    }
    let (mut ours, mut theirs) = (Runs::new(sent, sent_count), Runs::new(received, received_count));
    let (mut a, mut b) = (None, None);
    // Packed bytes stand for anything, so runs are compared in bytes.
    let bytes = |(basic, count): (Basic, u64)| (basic, count * basic.size() as u64);
    loop {
        a = a.or_else(|| ours.next().map(bytes));
        b = b.or_else(|| theirs.next().map(bytes));
        match (a, b) {
            (None, None) => return Match::Same,
            (None, Some(_)) => return Match::Shorter,
            (Some(_), None) => return Match::Longer,
            (Some((x, m)), Some((y, n))) => {
                if x != y && x != Basic::Packed && y != Basic::Packed {
                    return Match::Different;
                }
                let both = m.min(n);
                a = (m > both).then_some((x, m - both));
                b = (n > both).then_some((y, n - both));
            }
        }
    }
}

/// Bytes of `count` repetitions in `external32`.
pub(crate) fn external_size(sig: Option<&Rc<Sig>>, count: u64) -> Result<u64> {
    let one = sig.map_or(0, |sig| sig.totals.external);
    Ok(narrow(i128::from(one) * i128::from(count))? as u64)
}
