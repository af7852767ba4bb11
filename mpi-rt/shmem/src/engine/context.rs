//! Communication contexts (the standard, section 9.5). A handle is an integer; each PE keeps a table of its own ([`context_table`]).
//!
//! Puts are stores of the one thread there is, so contexts have no state of their own: what they change is the meaning of PE
//! numbers, which count in the context's team, and whether `fence` and `quiet` do anything.

use super::context_table::{self, Context, find};
use super::fatal::stop;
use super::order;
use super::team::{self, TEAM_WORLD};

/// No context (`SHMEM_CTX_INVALID`).
pub const CTX_INVALID: i32 = -1;
/// The context of the routines that take none (`SHMEM_CTX_DEFAULT`).
pub const CTX_DEFAULT: i32 = 0;
/// Option: not used by several threads at once (`SHMEM_CTX_SERIALIZED`).
pub const CTX_SERIALIZED: i64 = 1 << 0;
/// Option: used by the thread that made it only (`SHMEM_CTX_PRIVATE`).
pub const CTX_PRIVATE: i64 = 1 << 1;
/// Option: `fence` and `quiet` need not order stores (`SHMEM_CTX_NOSTORE`).
pub const CTX_NOSTORE: i64 = 1 << 2;

#[cold]
fn no_such_context(ctx: i32) -> ! {
    stop(format_args!("there is no context {ctx}; has it been destroyed?"))
}

/// A context for all PEs (`shmem_ctx_create`): 0 and the context, or not 0 if an option means nothing.
pub fn ctx_create(options: i64, ctx: &mut i32) -> i32 {
    team_create_ctx(TEAM_WORLD, options, ctx)
}

/// A context whose PE numbers count in a team (`shmem_team_create_ctx`): 0 and the context, or not 0 if there is no such team or
/// an option means nothing.
pub fn team_create_ctx(team: i32, options: i64, ctx: &mut i32) -> i32 {
    super::life::check("shmem_ctx_create");
    if team::group(team).is_none() || options & !(CTX_SERIALIZED | CTX_PRIVATE | CTX_NOSTORE) != 0 {
        return 1;
    }
    *ctx = context_table::add(Context { team, options });
    0
}

/// Completes a context's operations and ends it (`shmem_ctx_destroy`). [`CTX_INVALID`] is ignored; the default context cannot
/// be ended.
pub fn ctx_destroy(ctx: i32) {
    match (ctx, find(ctx)) {
        (CTX_INVALID, _) => {}
        (CTX_DEFAULT, _) => stop(format_args!("shmem_ctx_destroy: the default context cannot be destroyed")),
        (_, None) => no_such_context(ctx),
        (_, Some(_)) => {
            order::quiet();
            context_table::remove(ctx);
        }
    }
}

/// The team of a context (`shmem_ctx_get_team`): 0 and the team; or not 0, and no team, if there is no such context.
pub fn ctx_get_team(ctx: i32, team: &mut i32) -> i32 {
    let found = if ctx == CTX_DEFAULT { Some(TEAM_WORLD) } else { find(ctx).map(|context| context.team) };
    *team = found.unwrap_or(team::TEAM_INVALID);
    i32::from(found.is_none())
}

/// The PE number, among all, of number `pe` of a context: what the routines of other modules take.
#[inline(always)]
pub fn ctx_pe(ctx: i32, pe: i32) -> i32 {
    if ctx == CTX_DEFAULT { pe } else { translated(ctx, pe) }
}

#[inline(never)]
fn translated(ctx: i32, pe: i32) -> i32 {
    let Some(context) = find(ctx) else { no_such_context(ctx) };
    match team::group(context.team) {
        Some(group) => match group.member(pe) {
            Some(member) => group.pe(member),
            None => stop(format_args!("there is no PE {pe} in the context's team of {} PEs", group.size())),
        },
        None => no_such_context(ctx),
    }
}

/// Orders the context's operations (`shmem_ctx_fence`).
#[inline]
pub fn ctx_fence(ctx: i32) {
    if ctx == CTX_DEFAULT || orders_stores(ctx) {
        order::fence();
    }
}

/// Completes the context's operations (`shmem_ctx_quiet`).
#[inline]
pub fn ctx_quiet(ctx: i32) {
    if ctx == CTX_DEFAULT || orders_stores(ctx) {
        order::quiet();
    }
}

fn orders_stores(ctx: i32) -> bool {
    match find(ctx) {
        Some(context) => context.options & CTX_NOSTORE == 0,
        None => no_such_context(ctx),
    }
}
