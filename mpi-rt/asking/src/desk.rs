//! The desk: where a rank takes in questions of others and answers them.

use crate::{
    ANSWERS, ARGUMENTS, AWAITED, AnswerWords, BODIES, CONTENTS, QUESTIONS, QuestionWords, receive_own,
    send_kept, send_own, to_bytes, to_words, zeroes,
};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::take;
use lwk_matching::Pattern;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::engine::Engine;
use lwk_mpi_rt::request::{Keeps, ReceiveOperation};
use lwk_mpi_rt::subsystem::State;
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
pub(super) struct Desk {
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

pub(super) static DESK: State<Desk> =
    State::new(Desk { objects: Vec::new(), posted: None, open: Vec::new(), last_number: 0 });

fn desk(engine: &mut Engine) -> &mut Desk {
    DESK.of_mut(engine)
}

impl Desk {
    fn is_staffed(&self) -> bool {
        self.posted.is_some()
    }

    /// A number for a question of this rank's.
    pub(super) fn next_number(&mut self) -> i32 {
        self.last_number = self.last_number.wrapping_add(1) & i32::MAX;
        self.last_number
    }
}

/// From now on this rank answers for an object. Questions that come before wait.
pub fn answer_for(engine: &mut Engine, object: u32, answering: Box<dyn Answering>) {
    desk(engine).objects.push((object, answering));
    if !desk(engine).is_staffed() {
        post_question(engine);
        engine.carry_on(answer_questions);
    }
}

/// This rank no longer answers for an object, and nobody asks for it any more.
pub fn stop_answering(engine: &mut Engine, object: u32) {
    desk(engine).objects.retain(|(other, _)| *other != object);
    if desk(engine).objects.is_empty()
        && let Some((posted, words)) = desk(engine).posted.take()
        && !engine.withdraw(posted)
    {
        // A question is on its way, for an object that this rank will answer for next.
        desk(engine).posted = Some((posted, words));
    }
}

fn stop_answering_what_is_over(engine: &mut Engine) {
    let is_over = |it: &&(u32, Box<dyn Answering>)| it.1.is_over();
    while let Some(object) = desk(engine).objects.iter().find(is_over).map(|it| it.0) {
        stop_answering(engine, object);
    }
}

fn post_question(engine: &mut Engine) {
    let words: Box<Cell<QuestionWords>> = Box::default();
    let target = Region::block(words.as_ptr().cast(), size_of::<QuestionWords>());
    let pattern = Pattern { context: QUESTIONS, source: None, tag: Some(0) };
    let receive = ReceiveOperation { pattern, target, communicator: engine.communicators.world().clone() };
    // SAFETY: the words stay where they are, beside the request, until that is complete or withdrawn.
    let request = unsafe { engine.receive_checked(receive, Keeps::Nothing) };
    desk(engine).posted = Some((request, words));
}

/// Takes in questions, and answers those that can be; whether this rank still answers.
fn answer_questions(engine: &mut Engine) -> bool {
    while let Some(open) = next_question(engine) {
        desk(engine).open.push(open);
    }
    if desk(engine).open.is_empty() {
        return desk(engine).is_staffed();
    }
    let (questions, mut objects) = (take(&mut desk(engine).open), take(&mut desk(engine).objects));
    for mut open in questions {
        let Question { from, object, .. } = open.question;
        let is_next = |other: &Open| (other.question.from, other.question.object) != (from, object);
        let is_over = desk(engine).open.iter().all(is_next)
            && has_body(engine, &mut open)
            && open.consider(&mut objects)
            && tell_answer(engine, &mut open).is_ok();
        if !is_over {
            desk(engine).open.push(open);
        }
    }
    desk(engine).objects = objects;
    stop_answering_what_is_over(engine);
    desk(engine).is_staffed()
}

/// The next question that has come; the receive of the one after it is posted.
fn next_question(engine: &mut Engine) -> Option<Open> {
    let (request, _) = desk(engine).posted.as_ref()?;
    let request = *request;
    let source = engine.take_complete(request)?.source;
    let (_, words) = desk(engine).posted.take()?;
    post_question(engine);
    let words = words.get();
    let [object, what, number, bytes, ..] = words;
    let mut arguments = [0; ARGUMENTS];
    let (told, short) = words[4..].split_at(ARGUMENTS);
    arguments.copy_from_slice(told);
    let (bytes, number, from) = (bytes as usize, number as i32, WorldRank(source as u32));
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
    // SAFETY: the body stays where it is, beside the request, until that is complete ([`has_body`]).
    let arriving = Some(unsafe { receive_own(engine, from, BODIES, number, target) });
    Some(Open { question, arriving, answer })
}

/// Whether all of a question is here.
fn has_body(engine: &mut Engine, open: &mut Open) -> bool {
    let Some(arriving) = open.arriving else { return true };
    let Some(status) = engine.take_complete(arriving) else { return false };
    open.arriving = None;
    if let Some(error) = status.error
        && open.answer.is_none()
    {
        open.answer = Some((Err(error), Vec::new()));
    }
    true
}

/// Errors: `NO_MEM`, and then nothing has been told.
fn tell_answer(engine: &mut Engine, open: &mut Open) -> Result<()> {
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
    send_own(engine, from, Label::new(ANSWERS, number), &words)?;
    if !is_short {
        send_kept(engine, from, Label::new(CONTENTS, number), take(content));
    }
    Ok(())
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
