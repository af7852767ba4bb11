//! What a rank of a window answers those who cannot load and store its memory: it does in it what they would (see `away`).

use crate::accumulate::{Side, Work};
use crate::away::{ItemWords, what};
use crate::beside::Beside;
use crate::dynamic::Attached;
use crate::element::How;
use crate::shared::{Control, Own, OwnMemory};
use crate::single::{COMPARED_BYTES, swap};
use crate::{Flavor, accumulate::operation_of};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ptr::with_exposed_provenance_mut;
use lwk_datatype::op::Op;
use lwk_datatype::{LayoutView, Predefined};
use lwk_epoch::PairLine;
use lwk_mpi_asking::{Answering, LockQueue, Question, zeroes};
use lwk_mpi_core::error::{Error, Result};
use lwk_path::region::{Region, copy_part, copy_regions};
use lwk_place::WorldRank;
use lwk_user::job;

/// This rank's part of a window.
pub(super) struct Answers {
    part: OwnMemory,
    flavor: Flavor,
    members: Rc<[WorldRank]>,
    control: &'static Control,
    /// Always takes the lock: this rank as an origin has a way of its own.
    beside: Beside,
    /// Of each of the members.
    lines: &'static [PairLine],
    queue: LockQueue,
    /// What could not be done for ranks that await no answer: they learn it with their next.
    failed: Vec<(WorldRank, Error)>,
}

/// Items in this rank's part.
struct Here<'q> {
    layout: LayoutView<'q>,
    address: *mut u8,
    count: u64,
    region: Region,
}

impl Answers {
    pub fn new(
        own: &Own,
        part: &OwnMemory,
        flavor: Flavor,
        members: Rc<[WorldRank]>,
        may_bulk: bool,
    ) -> Answers {
        let (control, lines) = own.words();
        Answers {
            part: *part,
            flavor,
            members,
            control,
            beside: Beside::new(control, lines, None, Rc::default(), may_bulk),
            lines,
            queue: LockQueue::default(),
            failed: Vec::new(),
        }
    }

    /// The items that a question is on, if they are all in this rank's part. Errors: `RMA_RANGE`; those of damaged words.
    fn items<'q>(&self, words: &ItemWords, layout: &'q [u64]) -> Result<Here<'q>> {
        let layout = if layout.is_empty() { LayoutView::bytes() } else { LayoutView::from_words(layout)? };
        let region = lwk_datatype::Region { base: words.offset as usize, layout, count: words.count };
        if layout.total(words.count)? > 0 {
            let (low, high) = region.span().ok_or(Error::RMA_RANGE)?;
            let end = (high as u64).checked_add(1).ok_or(Error::RMA_RANGE)?;
            let inside = match self.flavor {
                Flavor::Dynamic => {
                    let attached = Attached { owner: job().rank(), control: self.control };
                    attached.has(layout, words.count, words.offset, (low as u64, end))?
                }
                _ => end <= self.part.size,
            };
            if !inside {
                return Err(Error::RMA_RANGE);
            }
        }
        let address = with_exposed_provenance_mut(self.part.base.wrapping_add(words.offset as usize));
        let region = Region::items(address, words.count, layout)?;
        Ok(Here { layout, address, count: words.count, region })
    }

    /// A put, a get, or an update.
    fn transfer(&self, question: &Question, content: &mut Vec<u8>) -> Result<u64> {
        let words = ItemWords::of(question.arguments);
        let length = words.layout.checked_mul(size_of::<u64>()).ok_or(Error::INTERN)?;
        let (layout, data) = question.body.split_at_checked(length).ok_or(Error::INTERN)?;
        let layout: Vec<u64> = layout.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let items = self.items(&words, &layout)?;
        if words.bytes > items.region.bytes() {
            return Err(Error::INTERN);
        }
        let block = Region::block(data.as_ptr(), data.len());
        match question.what {
            // SAFETY: the data is the question's; the items lie in this rank's part of the window (`items`), whose accesses the program orders.
            what::PUT => drop(unsafe { copy_regions(&block, &items.region)? }),
            what::GET => {
                *content = zeroes(words.bytes)?;
                let to = Region::block(content.as_mut_ptr(), words.bytes);
                // SAFETY: the items lie in this rank's part of the window (`items`), whose accesses the program orders; the content has so many bytes.
                unsafe { copy_part(&items.region, 0, &to, 0, words.bytes)? };
            }
            _ => self.update(question.what, &words, &items, data, content)?,
        }
        Ok(0)
    }

    fn update(
        &self,
        what: u64,
        words: &ItemWords,
        items: &Here,
        data: &[u8],
        content: &mut Vec<u8>,
    ) -> Result<()> {
        let op = operation_of(words.op)?;
        let element = Predefined::from_handle(words.element as usize).ok_or(Error::INTERN)?;
        if op != Op::NoOp && data.len() != words.bytes {
            return Err(Error::INTERN);
        }
        let packed =
            |bytes: &[u8]| Side::new(LayoutView::bytes(), bytes.as_ptr().cast_mut(), bytes.len() as i64);
        let from = if op == Op::NoOp { None } else { Some(packed(data)?) };
        let result = if what == what::UPDATE_AND_FETCH {
            *content = zeroes(words.bytes)?;
            let address = content.as_mut_ptr();
            Some(Side::new(LayoutView::bytes(), address, words.bytes as i64)?)
        } else {
            None
        };
        let count = i64::try_from(items.count).map_err(|_| Error::COUNT)?;
        let to = Side::new(items.layout, items.address, count)?;
        let work = Work { op, element, from, to, result, bytes: words.bytes, beside: &self.beside };
        // SAFETY: data and content are vectors of so many bytes; the items lie in this rank's part of the window (`items`).
        unsafe { work.beside_others() }
    }

    fn swap(&self, question: &Question, content: &mut Vec<u8>) -> Result<u64> {
        let [offset, element, ..] = question.arguments;
        let Some(Predefined::Basic(basic)) = Predefined::from_handle(element as usize) else {
            return Err(Error::INTERN);
        };
        let bytes = basic.size();
        let (compare, new) = question.body.split_at_checked(bytes).ok_or(Error::INTERN)?;
        if new.len() != bytes || bytes > COMPARED_BYTES {
            return Err(Error::INTERN);
        }
        let words = ItemWords { offset, count: bytes as u64, layout: 0, bytes, op: 0, element };
        let items = self.items(&words, &[])?;
        *content = zeroes(bytes)?;
        let (origin, compare, result) = (new.as_ptr(), compare.as_ptr(), content.as_mut_ptr());
        // SAFETY: the three hold an element; the fourth lies in this rank's part of the window (`items`).
        unsafe { swap(basic, origin, compare, result, items.address, How::Beside(&self.beside)) };
        Ok(0)
    }

    /// The lock for the rank that asks; 1, or 0 if it could not be shared at once. Errors: `RMA_CONFLICT`, `NO_MEM`.
    fn lock(&mut self, question: &Question) -> Option<Result<u64>> {
        let lock = &self.control.lock;
        let excludes = question.what == what::EXCLUDE;
        let outcome = match question.what {
            what::TRY_SHARE => self.queue.try_share(lock, question),
            _ => self.queue.enter(lock, question, excludes)?,
        };
        if outcome == Ok(1) && lock.is_exposed() {
            let left = self.queue.leave(lock, question, excludes);
            return Some(left.and(Err(Error::RMA_CONFLICT)));
        }
        Some(outcome)
    }

    /// What could not be done for the rank that asks, the first of all.
    fn failure(&mut self, question: &Question) -> Result<u64> {
        let first = self.failed.iter().find(|(rank, _)| *rank == question.from).map(|(_, error)| *error);
        self.failed.retain(|(rank, _)| *rank != question.from);
        first.map_or(Ok(0), Err)
    }

    /// The line of the rank that tells. Errors: `INTERN` for a rank that the window does not have.
    fn line(&self, question: &Question) -> Result<&PairLine> {
        let rank = self.members.iter().position(|member| *member == question.from);
        rank.and_then(|rank| self.lines.get(rank)).ok_or(Error::INTERN)
    }
}

impl Answering for Answers {
    fn answer(&mut self, question: &Question, content: &mut Vec<u8>) -> Option<Result<u64>> {
        let [number, ..] = question.arguments;
        let lock = &self.control.lock;
        Some(match question.what {
            what::PUT | what::GET | what::UPDATE | what::UPDATE_AND_FETCH => self.transfer(question, content),
            what::SWAP => self.swap(question, content),
            what::SHARE | what::EXCLUDE | what::TRY_SHARE => return self.lock(question),
            what::LEAVE_SHARED => self.queue.leave(lock, question, false).and(self.failure(question)),
            what::LEAVE_EXCLUSIVE => self.queue.leave(lock, question, true).and(self.failure(question)),
            what::POSTED => self.line(question).map(|line| line.posted.announce(number)).map(|()| 0),
            what::COMPLETED => self.line(question).map(|line| line.completed.announce(number)).map(|()| 0),
            what::HEARD => self.failure(question),
            _ => Err(Error::INTERN),
        })
    }

    fn note_failure(&mut self, question: &Question, error: Error) {
        self.failed.push((question.from, error));
    }
}
