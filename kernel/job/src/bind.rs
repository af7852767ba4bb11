//! Which cores ranks get.

/// Which cores ranks get ([`lwk_abi::job_file::BIND`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind<'a> {
    Scatter,
    Compact,
    Smt,
    List(CoreList<'a>),
}

/// Numbers of cores as they are written: numbers and ranges, apart by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreList<'a>(&'a [u8]);

/// The most cores that a list names: more than a node uses.
const LISTED_MAX: usize = 1024;

impl<'a> CoreList<'a> {
    /// Reads a list. None if it is none: a part that is neither a number nor a range, a range that runs backwards, or more than 1024 cores.
    pub fn parse(text: &'a [u8]) -> Option<CoreList<'a>> {
        let mut count = 0usize;
        for part in text.split(|byte| *byte == b',') {
            let (first, last) = Self::range(part)?;
            count += usize::try_from(last.checked_sub(first)?).ok()?.checked_add(1)?;
            if count > LISTED_MAX {
                return None;
            }
        }
        Some(CoreList(text))
    }

    /// The numbers in their order.
    pub fn cores(self) -> impl Iterator<Item = usize> + Clone + use<'a> {
        let parts = self.0.split(|byte| *byte == b',').filter_map(Self::range);
        parts.flat_map(|(first, last)| first..=last).map(|core| core as usize)
    }

    fn range(part: &[u8]) -> Option<(u32, u32)> {
        let (first, last) = match part.iter().position(|byte| *byte == b'-') {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, part),
        };
        Some((core_number(first)?, core_number(last)?))
    }
}

/// A core's number: up to five digits.
pub(crate) fn core_number(text: &[u8]) -> Option<u32> {
    let is_number = (1..=5).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')))
}

impl<'a> Bind<'a> {
    /// Reads one of [`BINDINGS`]; none if it is none of them.
    pub fn parse(value: &'a [u8]) -> Option<Bind<'a>> {
        match value {
            b"scatter" => Some(Bind::Scatter),
            b"compact" => Some(Bind::Compact),
            b"smt" => Some(Bind::Smt),
            list => CoreList::parse(list).map(Bind::List),
        }
    }
}

/// What [`Bind::parse`] reads, for messages.
pub const BINDINGS: &str = "scatter, compact, smt, or cores as in 0,2,4-7";
