//! Asking: what a rank wants of words in another's memory that it cannot reach, it asks for by a message, and the other answers when it makes progress.
//!
//! A question is four words: of which object, what, an argument, and the answer's number. Objects are known by the context of a communicator of their own, which all
//! ranks have agreed on. The asker waits, and answers others meanwhile. A question that cannot be answered yet, as one for a lock that another rank holds, is looked at
//! again with each progress.
//!
//! Per rank: the list of objects that it answers for, and one receive that is posted while there are any.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Mode, Operation, ReceiveOperation, Request, SendOperation};
use crate::wait::NULL;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::take;
use lwk_matching::Pattern;
use lwk_path::Label;
use lwk_path::region::Region;
use lwk_place::NodeRank;

/// Contexts of questions and answers, in a plane that no communicator has.
const QUESTIONS: u32 = u32::MAX - 1;
const ANSWERS: u32 = u32::MAX - 2;

/// Words of a question: the object, what is asked, its argument, the answer's number.
type QuestionWords = [u64; 4];
/// Words of an answer: the class of an error, or 0; the value.
type AnswerWords = [u64; 2];

/// A question that has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub from: NodeRank,
    object: u32,
    pub what: u64,
    pub argument: u64,
    number: i32,
}

/// An object whose words others ask for.
pub(crate) trait Answering {
    /// The answer, or `None` if it is not yet time: then the question comes again.
    fn answer(&mut self, question: &Question) -> Option<Result<u64>>;
}

/// What a rank answers.
#[derive(Default)]
pub(crate) struct Desk {
    objects: Vec<(u32, Box<dyn Answering>)>,
    /// The receive of the next question.
    posted: Option<(Handle, Box<Cell<QuestionWords>>)>,
    /// Those that have not been answered, and answers for which there was no memory.
    open: Vec<(Question, Option<Result<u64>>)>,
    /// The number of the last question of this rank.
    last_number: i32,
}

impl Desk {
    #[inline(always)]
    pub fn is_staffed(&self) -> bool {
        self.posted.is_some()
    }
}

impl Engine {
    /// From now on this rank answers for an object. Questions that come before wait.
    pub(crate) fn answer_for(&mut self, object: u32, answering: Box<dyn Answering>) {
        self.desk.objects.push((object, answering));
        if self.desk.posted.is_none() {
            self.post_question();
        }
    }

    /// This rank no longer answers for an object, and nobody asks for it any more.
    pub(crate) fn stop_answering(&mut self, object: u32) {
        self.desk.objects.retain(|(other, _)| *other != object);
        if self.desk.objects.is_empty()
            && let Some((posted, words)) = self.desk.posted.take()
        {
            if self.cancel_receive(posted) {
                self.requests.remove(posted);
            } else {
                // A question is on its way, for an object that this rank will answer for next.
                self.desk.posted = Some((posted, words));
            }
        }
    }

    /// Asks a rank, and waits for its answer. Errors: the answer's; `NO_MEM`.
    pub(crate) fn ask(&mut self, peer: NodeRank, object: u32, what: u64, argument: u64) -> Result<u64> {
        self.desk.last_number = self.desk.last_number.wrapping_add(1) & i32::MAX;
        let number = self.desk.last_number;
        let answer: Cell<AnswerWords> = Cell::default();
        let target = Region::block(answer.as_ptr().cast(), size_of::<AnswerWords>());
        let pattern = Pattern { context: ANSWERS, source: Some(peer), tag: Some(number) };
        let receive = ReceiveOperation { pattern, target, communicator: self.world.clone() };
        let request = self.requests.insert(Request::new(Operation::Receive(receive.clone())));
        self.begin_receive(request, &receive);
        let words: QuestionWords = [u64::from(object), what, argument, number as u64];
        if let Err(error) = self.send_own(peer, Label::new(QUESTIONS, 0), &words) {
            // Nobody knows of the number, so no answer comes.
            self.cancel_receive(request);
            self.requests.remove(request);
            return Err(error);
        }
        self.wait(request)?;
        let [class, value] = answer.get();
        match class {
            0 => Ok(value),
            _ => Err(Error::from_class(class as i32).unwrap_or(Error::OTHER)),
        }
    }

    /// Sends words of the runtime's own; nobody waits for that.
    fn send_own(&mut self, peer: NodeRank, label: Label, words: &[u64]) -> Result<()> {
        let source = Region::block(words.as_ptr().cast(), size_of_val(words));
        let send =
            SendOperation { peer, label, source, mode: Mode::Standard, communicator: NULL, buffered: None };
        // SAFETY: the words are readable until this returns.
        let request = unsafe { self.send_copy(&send)? };
        self.free_request(request)
    }

    fn post_question(&mut self) {
        let words: Box<Cell<QuestionWords>> = Box::default();
        let target = Region::block(words.as_ptr().cast(), size_of::<QuestionWords>());
        let pattern = Pattern { context: QUESTIONS, source: None, tag: Some(0) };
        let receive = ReceiveOperation { pattern, target, communicator: self.world.clone() };
        let request = self.requests.insert(Request::new(Operation::Receive(receive.clone())));
        self.desk.posted = Some((request, words));
        self.begin_receive(request, &receive);
    }

    /// Takes in questions, and answers those that can be.
    #[inline(never)]
    pub(crate) fn answer_questions(&mut self) {
        while let Some(question) = self.next_question() {
            self.desk.open.push((question, None));
        }
        if self.desk.open.is_empty() {
            return;
        }
        let (questions, mut objects) = (take(&mut self.desk.open), take(&mut self.desk.objects));
        for (question, outcome) in questions {
            let object = objects.iter_mut().find(|(object, _)| *object == question.object);
            let outcome = outcome.or_else(|| object.and_then(|(_, answering)| answering.answer(&question)));
            if outcome.is_none_or(|outcome| self.tell_answer(&question, outcome).is_err()) {
                self.desk.open.push((question, outcome));
            }
        }
        self.desk.objects = objects;
    }

    /// The next question that has come; the receive of the one after it is posted.
    fn next_question(&mut self) -> Option<Question> {
        let (request, _) = self.desk.posted.as_ref()?;
        if !self.requests.get(*request).is_some_and(Request::is_complete) {
            return None;
        }
        let (request, words) = self.desk.posted.take()?;
        // The world's ranks are the node's.
        let source = self.requests.remove(request).map(|it| it.status.source);
        self.post_question();
        let [object, what, argument, number] = words.get();
        let from = NodeRank(source? as u32);
        Some(Question { from, object: object as u32, what, argument, number: number as i32 })
    }

    /// Errors: `NO_MEM`.
    fn tell_answer(&mut self, question: &Question, outcome: Result<u64>) -> Result<()> {
        let words: AnswerWords = match outcome {
            Ok(value) => [0, value],
            Err(error) => [error.class() as u64, 0],
        };
        self.send_own(question.from, Label::new(ANSWERS, question.number), &words)
    }
}
