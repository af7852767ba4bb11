//! The contexts that there are, by handle.

use super::single::Single;
use alloc::vec::Vec;

#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub team: i32,
    pub options: i64,
}

/// Contexts of the program; handle `i + 1` is entry `i`. `None` where one was destroyed.
static CONTEXTS: Single<Vec<Option<Context>>> = Single::new(Vec::new());

/// The context of a handle.
pub(crate) fn find(ctx: i32) -> Option<Context> {
    CONTEXTS.with(|contexts| *contexts.get(usize::try_from(ctx - 1).ok()?)?)
}

/// Keeps a context; its handle.
pub(crate) fn add(context: Context) -> i32 {
    let index = CONTEXTS.with(|contexts| match contexts.iter().position(Option::is_none) {
        Some(index) => {
            contexts[index] = Some(context);
            index
        }
        None => {
            contexts.push(Some(context));
            contexts.len() - 1
        }
    });
    index as i32 + 1
}

/// Forgets the context of a handle that [`find`] knows.
pub(crate) fn remove(ctx: i32) {
    CONTEXTS.with(|contexts| contexts[(ctx - 1) as usize] = None);
}

/// Ends all contexts of a team.
pub(crate) fn destroy_all_of(team: i32) {
    CONTEXTS.with(|contexts| {
        for context in contexts.iter_mut() {
            if context.is_some_and(|context| context.team == team) {
                *context = None;
            }
        }
    });
}
