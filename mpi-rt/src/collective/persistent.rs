//! Persistent collectives: made by all members in the same order, and then started by each in an order of its own (MPI-5.0, section 6.13).
//!
//! So each has a [`Channel`] of its own, whose operations are its starts. When it is made, the members exchange where their posts for it
//! are, in a collective of the communicator: what is matched by the order of calls is the making. A member that gives the request up
//! leaves the posts of all, and uses its own for another when all have left them.

use super::channel::{Channel, Kind, Member, SLOTS, check, same_kind};
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use lwk_ring::{Departed, Finished, Slots};
use lwk_user::smartmap::CacheLine;

/// One member's posts for a persistent collective, in its own memory.
struct Posts {
    slots: Slots<SLOTS>,
    finished: CacheLine<Finished>,
    /// Members that will not touch this any more.
    departed: CacheLine<Departed>,
}

/// The channel of one persistent collective; all members' posts are left when it is dropped.
pub(super) struct PersistentChannel {
    pub channel: Channel,
    posts: Box<[&'static Posts]>,
    mine: &'static Posts,
    left: Rc<LeftPosts>,
}

/// Posts of this rank whose collective it has given up, each with the number of its members.
#[derive(Default)]
pub(crate) struct LeftPosts(RefCell<Vec<(&'static Posts, u64)>>);

impl LeftPosts {
    /// Posts that nobody uses.
    fn take(&self) -> &'static Posts {
        let mut left = self.0.borrow_mut();
        let free = left.iter().position(|(posts, members)| posts.departed.have_all(*members));
        let Some(place) = free else {
            return Box::leak(Box::new(Posts {
                slots: Slots::new(),
                finished: CacheLine(Finished::new()),
                departed: CacheLine(Departed::new()),
            }));
        };
        let (posts, _) = left.swap_remove(place);
        posts.slots.renew();
        posts.finished.renew();
        posts.departed.renew();
        posts
    }
}

impl Drop for PersistentChannel {
    fn drop(&mut self) {
        self.posts.iter().for_each(|posts| posts.departed.leave());
        self.left.0.borrow_mut().push((self.mine, self.posts.len() as u64));
    }
}

impl Engine {
    /// Makes the channel of a persistent collective whose operations have the check word `of`, with all members of `communicator`. Waits for
    /// them. Errors: `NOT_SAME` if another makes one of another kind, `NO_MEM`, and those of `Engine::open`.
    pub(super) fn persistent_channel(
        &mut self,
        communicator: &Communicator,
        of: u64,
    ) -> Result<PersistentChannel> {
        let shared = &communicator.shared;
        let size = shared.size();
        let mut posts: Vec<&'static Posts> = Vec::new();
        posts.try_reserve_exact(size as usize).map_err(|_| Error::NO_MEM)?;
        let mine = self.left_posts.take();
        let check = check(Kind::Init, 0, 0);
        let address = core::ptr::from_ref(mine).expose_provenance() as u64;
        let number = self.open(shared, check, &[address, of])?;
        let mut outcome = self.await_posts(shared, number, check);
        if outcome.is_ok() {
            for rank in 0..size {
                outcome = outcome.and(same_kind(of, shared.channel.posted_word(rank, number, 1)));
                // SAFETY: the member leaks its posts, which are shared through atomics, and does not use them for another collective before
                // this rank has left them.
                posts.push(unsafe { &*shared.posted_address(rank, number, 0).cast::<Posts>() });
            }
        }
        // After an error nobody can say who has seen this rank's posts: they are not used again.
        self.close(shared, number, outcome)?;
        let members = posts.iter().map(|it| Member { slots: &it.slots, finished: &it.finished });
        let channel = Channel::new(shared.rank, members);
        Ok(PersistentChannel { channel, posts: posts.into(), mine, left: self.left_posts.clone() })
    }
}
