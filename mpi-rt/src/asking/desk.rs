//! The desk: where a rank takes in questions of others and answers them.

use super::{
    ANSWERS, ARGUMENTS, AWAITED, AnswerWords, BODIES, CONTENTS, QUESTIONS, QuestionWords, to_bytes, to_words,
    zeroes,
};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::request::{Operation, ReceiveOperation, Request};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::take;
use lwk_matching::Pattern;
use lwk_path::Label;
use lwk_path::region::Region;
use lwk_place::WorldRank;

/// A question that has come.
pub struct Question {
    pub from: WorldRank,
    pub what: u64,
    pub arguments: [u64; ARGUMENTS],
    pub body: Vec<u8>,
    object: u32,
    number: i32,
    is_awaited: bool,
}

/// An object that others ask for.
pub trait Answering {
    /// The answer, or `None` if it is not yet time: then the question comes again. What is more than a word goes into `content`, which is empty.
    fn answer(&mut self, question: &Question, content: &mut Vec<u8>) -> Option<Result<u64>>;

    /// What could not be done of what needs no answer.
    fn note_failure(&mut self, question: &Question, error: Error);

    /// Whether nobody will ask any more. Then this rank stops answering by itself.
    fn is_over(&self) -> bool {
        false
    }
}

/// What a rank answers.
#[derive(Default)]
pub(crate) struct Desk {
    objects: Vec<(u32, Box<dyn Answering>)>,
    /// The receive of the next question.
    posted: Option<(Handle, Box<Cell<QuestionWords>>)>,
    /// Those that have not been answered, in the order in which they came.
    open: Vec<Open>,
    /// The number of the last question of this rank.
    last_number: i32,
}

/// A question that has not been answered.
struct Open {
    question: Question,
    /// The receive of its body, while that is on its way.
    arriving: Option<Handle>,
    /// An answer for which there was no memory, or which stands before the question has been looked at.
    answer: Option<(Result<u64>, Vec<u8>)>,
}

impl Desk {
    #[inline(always)]
    pub fn is_staffed(&self) -> bool {
        self.posted.is_some()
    }

    /// A number for a question of this rank's.
    pub(super) fn next_number(&mut self) -> i32 {
        self.last_number = self.last_number.wrapping_add(1) & i32::MAX;
        self.last_number
    }
}

impl Engine {
    /// From now on this rank answers for an object. Questions that come before wait.
    pub fn answer_for(&mut self, object: u32, answering: Box<dyn Answering>) {
        self.desk.objects.push((object, answering));
        if self.desk.posted.is_none() {
            self.post_question();
        }
    }

    /// This rank no longer answers for an object, and nobody asks for it any more.
    pub fn stop_answering(&mut self, object: u32) {
        self.desk.objects.retain(|(other, _)| *other != object);
        if self.desk.objects.is_empty()
            && let Some((posted, words)) = self.desk.posted.take()
            && !self.withdraw(posted)
        {
            // A question is on its way, for an object that this rank will answer for next.
            self.desk.posted = Some((posted, words));
        }
    }

    fn stop_answering_what_is_over(&mut self) {
        let is_over = |it: &&(u32, Box<dyn Answering>)| it.1.is_over();
        while let Some(object) = self.desk.objects.iter().find(is_over).map(|it| it.0) {
            self.stop_answering(object);
        }
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
        while let Some(open) = self.next_question() {
            self.desk.open.push(open);
        }
        if self.desk.open.is_empty() {
            return;
        }
        let (questions, mut objects) = (take(&mut self.desk.open), take(&mut self.desk.objects));
        for mut open in questions {
            let Question { from, object, .. } = open.question;
            let is_next = |other: &Open| (other.question.from, other.question.object) != (from, object);
            let is_over = self.desk.open.iter().all(is_next)
                && self.has_body(&mut open)
                && open.consider(&mut objects)
                && self.tell_answer(&mut open).is_ok();
            if !is_over {
                self.desk.open.push(open);
            }
        }
        self.desk.objects = objects;
        self.stop_answering_what_is_over();
    }

    /// The next question that has come; the receive of the one after it is posted.
    fn next_question(&mut self) -> Option<Open> {
        let (request, _) = self.desk.posted.as_ref()?;
        if !self.requests.get(*request).is_some_and(Request::is_complete) {
            return None;
        }
        let (request, words) = self.desk.posted.take()?;
        let source = self.requests.remove(request).map(|it| it.status.source);
        self.post_question();
        let words = words.get();
        let [object, what, number, bytes, ..] = words;
        let mut arguments = [0; ARGUMENTS];
        let (told, short) = words[4..].split_at(ARGUMENTS);
        arguments.copy_from_slice(told);
        let (bytes, number, from) = (bytes as usize, number as i32, WorldRank(source? as u32));
        let is_awaited = object & AWAITED != 0;
        let mut question =
            Question { from, what, arguments, body: Vec::new(), object: object as u32, number, is_awaited };
        let room = zeroes(bytes);
        let answer = room.as_ref().err().map(|error| (Err(*error), Vec::new()));
        question.body = room.unwrap_or_default();
        if bytes <= size_of_val(short) {
            question.body.iter_mut().zip(to_bytes(short, bytes)).for_each(|(place, byte)| *place = byte);
            return Some(Open { question, arriving: None, answer });
        }
        // Where there is no room the body is received all the same, and truncated.
        let target = Region::block(question.body.as_mut_ptr(), question.body.len());
        let arriving = Some(self.receive_own(from, BODIES, number, target));
        Some(Open { question, arriving, answer })
    }

    /// Whether all of a question is here.
    fn has_body(&mut self, open: &mut Open) -> bool {
        let Some(arriving) = open.arriving else { return true };
        if !self.requests.get(arriving).is_some_and(Request::is_complete) {
            return false;
        }
        open.arriving = None;
        if let Some(error) = self.requests.remove(arriving).and_then(|it| it.status.error)
            && open.answer.is_none()
        {
            open.answer = Some((Err(error), Vec::new()));
        }
        true
    }

    /// Errors: `NO_MEM`, and then nothing has been told.
    fn tell_answer(&mut self, open: &mut Open) -> Result<()> {
        let Question { from, number, is_awaited, .. } = open.question;
        let (Some((outcome, content)), true) = (&mut open.answer, is_awaited) else { return Ok(()) };
        let mut words = AnswerWords::default();
        let [class, value, bytes, short @ ..] = &mut words;
        match outcome {
            Ok(word) => (*value, *bytes) = (*word, content.len() as u64),
            Err(error) => *class = error.class() as u64,
        }
        let is_short = outcome.is_err() || content.len() <= size_of_val(short);
        if is_short {
            to_words(content, short);
        }
        self.send_own(from, Label::new(ANSWERS, number), &words)?;
        if !is_short {
            self.send_kept(from, Label::new(CONTENTS, number), take(content));
        }
        Ok(())
    }
}

impl Open {
    /// Finds the answer, if there is none and it is time.
    fn consider(&mut self, objects: &mut [(u32, Box<dyn Answering>)]) -> bool {
        let object = objects.iter_mut().find(|(object, _)| *object == self.question.object);
        let Some((_, answering)) = object else { return false };
        if self.answer.is_none() {
            let mut content = Vec::new();
            let outcome = answering.answer(&self.question, &mut content);
            self.answer = outcome.map(|outcome| (outcome, content));
        }
        if let (Some((Err(error), _)), false) = (&self.answer, self.question.is_awaited) {
            answering.note_failure(&self.question, *error);
        }
        self.answer.is_some()
    }
}
