//! Making communicators by the ranks of a group alone (MPI-5.0, sections 7.4.2 and 7.4.3): among the members of a communicator of which the
//! others take no part, and from nothing.

use crate::abi::datatype;
use crate::communicator::{Communicator, Plane};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::receive::ReceiveArguments;
use crate::request::Mode;
use crate::send::SendArguments;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_place::{CommRank, WorldRank};

/// Bytes of a string that names a creation without a parent, with the NUL that ends it: the binary interface's `MPI_MAX_STRINGTAG_LEN`.
pub const MAX_STRING_TAG: usize = 1024;

impl Engine {
    /// A communicator of the ranks of a group, all of which must call it with the same tag; the other members of the parent need not. `None` for a
    /// rank that is not in the group. Errors: `COMM`, also for an intercommunicator; `GROUP` if the group is invalid or has others than members;
    /// `TAG`, `NO_MEM`.
    pub fn create_group(&mut self, parent: Handle, group: Handle, tag: i32) -> Result<Option<Handle>> {
        let it = self.communicators.intracommunicator(parent)?;
        let context = Plane::Group.of(it.context);
        let members: Rc<[WorldRank]> = self.groups.get(group)?.members().into();
        if tag < 0 {
            return Err(Error::TAG);
        }
        if members.iter().any(|member| !it.members.contains(member)) {
            return Err(Error::GROUP);
        }
        let made = self.make_within(context, tag, members)?;
        Ok(made.map(|made| self.insert_child(parent, made)))
    }

    /// A communicator of the ranks of a group, all of which must call it with the same string. `None` for a rank that is not in the group. Its
    /// error handler is the default one. Errors: `GROUP`, `ARG` for a string that is too long, `NO_MEM`.
    pub fn create_from_group(&mut self, group: Handle, string_tag: &[u8]) -> Result<Option<Handle>> {
        let group = self.groups.get(group)?;
        let (members, session): (Rc<[WorldRank]>, _) = (group.members().into(), group.session());
        if string_tag.len() >= MAX_STRING_TAG {
            return Err(Error::ARG);
        }
        let context = Plane::NoParent.of(Communicator::WORLD_CONTEXT);
        let made = self.make_within(context, tag_of(string_tag), members)?;
        Ok(made.map(|made| self.communicators.insert(Rc::new(made.of_session(session)))))
    }

    /// The first member announces the communicator to the others in messages.
    pub(crate) fn make_within(
        &mut self,
        context: u32,
        tag: i32,
        members: Rc<[WorldRank]>,
    ) -> Result<Option<Communicator>> {
        let Some(rank) = members.iter().position(|member| *member == self.me) else { return Ok(None) };
        let by_message =
            Communicator::for_messages(context, CommRank::at(rank), members.clone(), members.clone());
        let announcement = self.with_messages(by_message, |engine, handle| {
            if rank > 0 {
                return engine
                    .receive_words(handle, 0, tag, 1)
                    .map(|words| words.first().copied().unwrap_or(0));
            }
            let announcement = engine.announce(&members);
            for target in 1..members.len() {
                engine.send_words(handle, target as i32, tag, &[announcement])?;
            }
            Ok(announcement)
        })?;
        self.join_and_wait(announcement, members).map(Some)
    }

    /// Lets `exchange` use a handle of something that only has messages.
    pub(crate) fn with_messages<R>(
        &mut self,
        communicator: Communicator,
        exchange: impl FnOnce(&mut Engine, Handle) -> R,
    ) -> R {
        let handle = self.communicators.insert(Rc::new(communicator));
        let outcome = exchange(self, handle);
        self.communicators.remove(handle);
        outcome
    }

    /// Sends a few words of the runtime's own.
    pub(crate) fn send_words(
        &mut self,
        communicator: Handle,
        target: i32,
        tag: i32,
        words: &[u64],
    ) -> Result<()> {
        let arguments = word_message(communicator, target, tag, words);
        // SAFETY: the words are borrowed until the call returns.
        unsafe { self.send(&arguments, Mode::Standard) }
    }

    /// Receives up to `count` words of the runtime's own.
    pub(crate) fn receive_words(
        &mut self,
        communicator: Handle,
        source: i32,
        tag: i32,
        count: usize,
    ) -> Result<Vec<u64>> {
        let mut words: Vec<u64> = Vec::new();
        words.try_reserve_exact(count).map_err(|_| Error::NO_MEM)?;
        words.resize(count, 0);
        let address = words.as_mut_ptr().cast();
        let arguments = ReceiveArguments {
            address,
            count: count as i64,
            datatype: datatype::UINT64,
            source,
            tag,
            communicator,
        };
        // SAFETY: the words are this function's until the call returns.
        let status = unsafe { self.receive(&arguments)? };
        words.truncate(status.bytes as usize / size_of::<u64>());
        Ok(words)
    }

    /// Sends words and receives up to `count`, with the same rank.
    pub(crate) fn swap_words(
        &mut self,
        communicator: Handle,
        with: i32,
        tag: i32,
        words: &[u64],
        count: usize,
    ) -> Result<Vec<u64>> {
        let arguments = word_message(communicator, with, tag, words);
        // SAFETY: the words are borrowed until the request has been waited for, here.
        let request = unsafe { self.isend(&arguments, Mode::Standard)? };
        let received = self.receive_words(communicator, with, tag, count);
        self.wait(request)?;
        received
    }
}

fn word_message(communicator: Handle, target: i32, tag: i32, words: &[u64]) -> SendArguments {
    SendArguments {
        address: words.as_ptr().cast(),
        count: words.len() as i64,
        datatype: datatype::UINT64,
        target,
        tag,
        communicator,
    }
}

/// A tag for a string (Fowler, Noll and Vo's hash, 1a). Different strings may share one: then creations by the same ranks match in the order of
/// the calls, as they do with equal strings.
pub(crate) fn tag_of(string: &[u8]) -> i32 {
    const OFFSET: u32 = 0x811c_9dc5;
    const PRIME: u32 = 0x0100_0193;
    let hash = string.iter().fold(OFFSET, |hash, byte| (hash ^ *byte as u32).wrapping_mul(PRIME));
    (hash >> 1) as i32
}
