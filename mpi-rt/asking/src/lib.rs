//! Asking: what a rank wants of memory that it cannot load and store, it asks the memory's rank for by a message, and that one answers when it makes progress.
//!
//! A question is a head of words and a body of bytes: of which object, what, arguments, the question's number. Short bodies go with the head; a long one is a
//! message of its own. So with answers: an error class, a word, and content. Objects are known by the context of a communicator of their own, which all
//! ranks have agreed on. Questions of one rank about one object are answered in the order in which they were asked. One that cannot be answered yet, as one
//! for a lock that another rank holds, is looked at again with each progress. Who asks waits, and answers others meanwhile; what needs no answer is told.
//!
//! A subsystem over the engine: it takes in and answers questions as often as progress is made, and the engine knows nothing of them.
//!
//! Per rank: the list of objects that it answers for, and one receive that is posted while there are any (`desk`).

#![no_std]

extern crate alloc;

mod desk;
mod lock_queue;

pub use desk::{Answering, Question, answer_for, stop_answering};
pub use lock_queue::LockQueue;

use alloc::vec::Vec;
use core::cell::Cell;
use desk::DESK;
use lwk_matching::Pattern;
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_rt::engine::Engine;
use lwk_mpi_rt::request::{Keeps, Mode, ReceiveOperation, SendOperation};
use lwk_mpi_rt::wait::NULL;
use lwk_path::Label;
use lwk_path::region::{Region, copy_regions};
use lwk_place::WorldRank;

/// Contexts of questions and answers, and of what is too long for their heads, in a plane that no communicator has.
const QUESTIONS: u32 = u32::MAX - 1;
const ANSWERS: u32 = u32::MAX - 2;
const BODIES: u32 = u32::MAX - 3;
const CONTENTS: u32 = u32::MAX - 4;

/// Arguments of a question.
pub const ARGUMENTS: usize = 6;
/// Words of a question's body that go with its head: two cache lines are moved in any case.
const BODY_WORDS: usize = 6;
/// Words of an answer's content that go with its head: the longest element that one operation updates.
const CONTENT_WORDS: usize = 4;

/// A question's head: object, and [`AWAITED`] if an answer is; what is asked; its number; bytes of the body; arguments; a short body.
type QuestionWords = [u64; 4 + ARGUMENTS + BODY_WORDS];
/// An answer's head: the class of an error, or 0; the value; bytes of the content; a short content.
type AnswerWords = [u64; 3 + CONTENT_WORDS];

/// Set in a head's first word if an answer is awaited.
const AWAITED: u64 = 1 << 32;

/// What is asked, in terms of the object.
#[derive(Default)]
pub struct Query {
    pub what: u64,
    pub arguments: [u64; ARGUMENTS],
    pub body: Vec<u8>,
}

impl Query {
    /// A question with one argument.
    pub fn new(what: u64, argument: u64) -> Query {
        Query { what, arguments: [argument, 0, 0, 0, 0, 0], body: Vec::new() }
    }

    /// Bytes of memory that it takes on its way.
    pub fn bytes(&self) -> usize {
        size_of::<QuestionWords>() + self.body.len()
    }
}

/// Asks a rank, and waits for its answer, whose content goes to `into`. Errors: the answer's; `NO_MEM`.
///
/// # Safety
/// `into` must be writable, and nobody else may use it, until this returns; its datatype lives as long.
pub unsafe fn ask_into(
    engine: &mut Engine,
    peer: WorldRank,
    object: u32,
    query: Query,
    into: &Region,
) -> Result<u64> {
    let number = DESK.of_mut(engine).next_number();
    let answer: Cell<AnswerWords> = Cell::default();
    let target = Region::block(answer.as_ptr().cast(), size_of::<AnswerWords>());
    // SAFETY: the answer's words stay until this returns, which is after the request.
    let head = unsafe { receive_own(engine, peer, ANSWERS, number, target) };
    if let Err(error) = put_question(engine, peer, u64::from(object) | AWAITED, number, query) {
        // Nobody knows of the number, so no answer comes.
        engine.withdraw(head);
        return Err(error);
    }
    engine.wait(head)?;
    let [class, value, bytes, content @ ..] = answer.get();
    if bytes as usize > size_of_val(&content) {
        // SAFETY: `into` is writable until this returns (this function's contract), which is after the request.
        let contents = unsafe { receive_own(engine, peer, CONTENTS, number, *into) };
        engine.wait(contents)?;
    } else {
        let content = Region::block(content.as_ptr().cast(), bytes as usize);
        // SAFETY: the content is in the answer's words; `into` is writable (this function's contract).
        unsafe { copy_regions(&content, into)? };
    }
    match class {
        0 => Ok(value),
        _ => Err(Error::from_class(class as i32).unwrap_or(Error::OTHER)),
    }
}

/// The same of a question whose answer is a word.
pub fn ask(engine: &mut Engine, peer: WorldRank, object: u32, query: Query) -> Result<u64> {
    let nowhere = Region::block(core::ptr::null(), 0);
    // SAFETY: a region without bytes.
    unsafe { ask_into(engine, peer, object, query, &nowhere) }
}

/// Tells a rank what needs no answer: it is taken in after what this rank has told and asked it of the object before. Errors: `NO_MEM`.
pub fn tell(engine: &mut Engine, peer: WorldRank, object: u32, query: Query) -> Result<()> {
    let number = DESK.of_mut(engine).next_number();
    put_question(engine, peer, u64::from(object), number, query)
}

fn put_question(engine: &mut Engine, peer: WorldRank, object: u64, number: i32, query: Query) -> Result<()> {
    let Query { what, arguments, body } = query;
    let mut words = QuestionWords::default();
    let (head, room) = words.split_at_mut(4 + ARGUMENTS);
    head[..4].copy_from_slice(&[object, what, number as u64, body.len() as u64]);
    head[4..].copy_from_slice(&arguments);
    let is_short = body.len() <= size_of_val(room);
    if is_short {
        to_words(&body, room);
    }
    send_own(engine, peer, Label::new(QUESTIONS, 0), &words)?;
    if !is_short {
        send_kept(engine, peer, Label::new(BODIES, number), body);
    }
    Ok(())
}

/// Begins a receive of the runtime's own.
///
/// # Safety
/// The target must be writable, and nobody else may use it, until the request is complete or withdrawn, and its datatype live.
unsafe fn receive_own(
    engine: &mut Engine,
    peer: WorldRank,
    context: u32,
    number: i32,
    target: Region,
) -> Handle {
    let pattern = Pattern { context, source: Some(peer), tag: Some(number) };
    let receive = ReceiveOperation { pattern, target, communicator: engine.communicators.world().clone() };
    // SAFETY: so is the target (this function's contract).
    unsafe { engine.receive_checked(receive, Keeps::Nothing) }
}

/// Sends words of the runtime's own; nobody waits for that. Errors: `NO_MEM`.
fn send_own(engine: &mut Engine, peer: WorldRank, label: Label, words: &[u64]) -> Result<()> {
    let source = Region::block(words.as_ptr().cast(), size_of_val(words));
    let send =
        SendOperation { peer, label, source, mode: Mode::Standard, communicator: NULL, buffered: None };
    // SAFETY: the words are readable until this returns.
    let request = unsafe { engine.send_copy(&send)? };
    engine.free_request(request)
}

/// Sends bytes, which the request keeps; nobody waits for that.
fn send_kept(engine: &mut Engine, peer: WorldRank, label: Label, content: Vec<u8>) {
    let source = Region::block(content.as_ptr(), content.len());
    let send =
        SendOperation { peer, label, source, mode: Mode::Standard, communicator: NULL, buffered: None };
    // SAFETY: the request keeps the content, which is a block.
    let request = unsafe { engine.send_checked(send, Keeps::Content(content)) };
    if engine.free_request(request).is_err() {
        unreachable!("a request that has just been made");
    }
}

/// Bytes as words; there must be room for them.
fn to_words(bytes: &[u8], words: &mut [u64]) {
    for (piece, word) in bytes.chunks(size_of::<u64>()).zip(words) {
        let mut whole = [0; size_of::<u64>()];
        whole[..piece.len()].copy_from_slice(piece);
        *word = u64::from_ne_bytes(whole);
    }
}

/// The first `bytes` bytes of words.
fn to_bytes(words: &[u64], bytes: usize) -> impl Iterator<Item = u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).take(bytes)
}

/// So many bytes of zeroes. Errors: `NO_MEM`.
pub fn zeroes(bytes: usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    content.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
    content.resize(bytes, 0);
    Ok(content)
}
