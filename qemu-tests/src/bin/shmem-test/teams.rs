//! Teams and contexts.

use crate::check::{Check, array};
use lwk_shmem::Shmem;
use lwk_shmem::engine::{
    self, CTX_DEFAULT, CTX_INVALID, CTX_NOSTORE, CTX_PRIVATE, CTX_SERIALIZED, TEAM_INVALID,
    TEAM_NUM_CONTEXTS, TEAM_SHARED, TEAM_WORLD, TeamConfig,
};

/// What PEs that share memory can reach.
static SHARED: lwk_user::smartmap::Symmetric<u64> = lwk_user::smartmap::Symmetric::new(0);

pub fn run(_: &Shmem, check: &mut Check) {
    predefined(check);
    strided(check);
    grid(check);
    refusals(check);
    contexts(check);
}

fn predefined(check: &mut Check) {
    check.equal(engine::team_my_pe(TEAM_WORLD), engine::my_pe());
    check.equal(engine::team_n_pes(TEAM_WORLD), engine::n_pes());
    let shares = |pe: &i32| !engine::ptr(SHARED.as_ptr().cast(), *pe).is_null();
    check.equal(engine::team_n_pes(TEAM_SHARED), (0..engine::n_pes()).filter(shares).count() as i32);
    check.equal(engine::team_my_pe(TEAM_SHARED), (0..engine::my_pe()).filter(shares).count() as i32);
    for team in [TEAM_WORLD, TEAM_SHARED] {
        check.equal(engine::team_sync(team), 0);
    }
    check.equal(engine::team_my_pe(TEAM_INVALID), -1);
    check.equal(engine::team_n_pes(TEAM_INVALID), -1);
    check.equal(engine::team_n_pes(77), -1);
    check.that(engine::team_sync(TEAM_INVALID) != 0);
    engine::team_destroy(TEAM_INVALID);
}

fn split(parent: i32, start: i32, stride: i32, size: i32) -> (i32, i32) {
    let mut team = 55;
    let code = engine::team_split_strided(parent, start, stride, size, None, 0, &mut team);
    (code, team)
}

/// Every second PE, those in reverse, and one of them; with translations between all.
fn strided(check: &mut Check) {
    let (n, me) = (engine::n_pes(), engine::my_pe());
    let evens = (n + 1) / 2;
    let (code, even) = split(TEAM_WORLD, 0, 2, evens);
    check.equal(code, 0);
    check.equal(even == TEAM_INVALID, me % 2 == 1);
    if even != TEAM_INVALID {
        check.equal((engine::team_my_pe(even), engine::team_n_pes(even)), (me / 2, evens));
        let (code, back) = split(even, evens - 1, if evens > 1 { -1 } else { 0 }, evens);
        check.equal(code, 0);
        check.equal(engine::team_my_pe(back), evens - 1 - me / 2);
        for pe in 0..evens {
            check.equal(engine::team_translate_pe(back, pe, TEAM_WORLD), (evens - 1 - pe) * 2);
            check.equal(engine::team_translate_pe(even, pe, back), evens - 1 - pe);
            check.equal(engine::team_translate_pe(TEAM_WORLD, pe * 2, even), pe);
        }
        check.equal(engine::team_translate_pe(even, evens, TEAM_WORLD), -1);
        check.equal(engine::team_translate_pe(even, -1, TEAM_WORLD), -1);
        check.equal(engine::team_translate_pe(even, 0, TEAM_INVALID), -1);
        if n > 1 {
            check.equal(engine::team_translate_pe(TEAM_WORLD, 1, even), -1);
        }
        for _ in 0..10 {
            check.equal(engine::team_sync(back), 0);
            check.equal(engine::team_sync(even), 0);
        }
        let (code, alone) = split(back, 0, 0, 1);
        check.equal((code, alone == TEAM_INVALID), (0, engine::team_my_pe(back) != 0));
        if alone != TEAM_INVALID {
            check.equal((engine::team_my_pe(alone), engine::team_n_pes(alone)), (0, 1));
            engine::team_destroy(alone);
        }
        engine::team_destroy(back);
        engine::team_destroy(even);
    }
    // Handles of destroyed teams are used again, and mean nothing in between.
    check.equal(engine::team_n_pes(2), -1);
    engine::barrier_all();
}

fn grid(check: &mut Check) {
    let (n, me) = (engine::n_pes(), engine::my_pe());
    for xrange in [1, 2, 3, n, n + 5] {
        let (mut x, mut y) = (55, 55);
        let code = engine::team_split_2d(TEAM_WORLD, xrange, None, 0, &mut x, None, 0, &mut y);
        check.equal(code, 0);
        let wide = xrange.min(n);
        check.equal((engine::team_my_pe(x), engine::team_my_pe(y)), (me % wide, me / wide));
        check.equal(engine::team_n_pes(x), wide.min(n - me / wide * wide));
        check.equal(engine::team_n_pes(y), (n - me % wide + wide - 1) / wide);
        engine::team_sync(x);
        engine::team_sync(y);
        // A third dimension: a split of a team of a split.
        let (mut a, mut b) = (55, 55);
        check.equal(engine::team_split_2d(y, 2, None, 0, &mut a, None, 0, &mut b), 0);
        check.equal(engine::team_my_pe(a), engine::team_my_pe(y) % engine::team_n_pes(y).min(2));
        engine::team_destroy(b);
        engine::team_destroy(a);
        engine::team_destroy(y);
        engine::team_destroy(x);
    }
}

fn refusals(check: &mut Check) {
    let n = engine::n_pes();
    for (start, stride, size) in [(0, 1, n + 1), (-1, 1, 1), (n, 1, 1), (0, 1, 0), (0, 0, 2), (0, -1, 2)] {
        let (code, team) = split(TEAM_WORLD, start, stride, size);
        check.equal((code != 0, team), (true, TEAM_INVALID));
    }
    check.equal(split(TEAM_INVALID, 0, 1, 1).1, TEAM_INVALID);
    let config = TeamConfig { num_contexts: 3 };
    let mut team = 55;
    let with =
        |config, mask, team: &mut i32| engine::team_split_strided(TEAM_WORLD, 0, 1, n, config, mask, team);
    check.that(with(Some(&config), 2, &mut team) != 0);
    check.that(with(None, TEAM_NUM_CONTEXTS, &mut team) != 0);
    check.that(with(Some(&TeamConfig { num_contexts: -1 }), TEAM_NUM_CONTEXTS, &mut team) != 0);
    check.equal(with(Some(&config), TEAM_NUM_CONTEXTS, &mut team), 0);
    let mut read = TeamConfig::default();
    check.equal(engine::team_get_config(team, TEAM_NUM_CONTEXTS, &mut read), 0);
    check.equal(read, config);
    check.that(engine::team_get_config(TEAM_INVALID, TEAM_NUM_CONTEXTS, &mut read) != 0);
    check.that(engine::team_get_config(team, 4, &mut read) != 0);
    engine::team_destroy(team);
}

fn contexts(check: &mut Check) {
    let (n, me) = (engine::n_pes(), engine::my_pe());
    let word = array::<u64>(1, 0);
    let mut contexts = [CTX_INVALID; 3];
    for (context, options) in contexts.iter_mut().zip([0, CTX_PRIVATE | CTX_SERIALIZED, CTX_NOSTORE]) {
        check.equal(engine::ctx_create(options, context), 0);
    }
    let mut untouched = 99;
    check.that(engine::ctx_create(1 << 20, &mut untouched) != 0);
    check.that(engine::team_create_ctx(TEAM_INVALID, 0, &mut untouched) != 0);
    check.equal(untouched, 99);
    // PE numbers of a context count in its team: here backwards.
    let (_, back) = split(TEAM_WORLD, n - 1, if n > 1 { -1 } else { 0 }, n);
    let mut context = CTX_INVALID;
    check.equal(engine::team_create_ctx(back, 0, &mut context), 0);
    for pe in 0..n {
        check.equal(engine::ctx_pe(context, pe), n - 1 - pe);
        check.equal(engine::ctx_pe(CTX_DEFAULT, pe), pe);
        check.equal(engine::ctx_pe(contexts[0], pe), pe);
    }
    // SAFETY: every PE writes the word of the PE opposite to it, which no other does.
    unsafe { engine::p(word, 500 + me as u64, engine::ctx_pe(context, me)) };
    engine::ctx_fence(context);
    engine::ctx_quiet(context);
    engine::ctx_quiet(contexts[2]);
    engine::barrier_all();
    // SAFETY: nobody writes after the barrier.
    check.equal(unsafe { word.read_volatile() }, 500 + (n - 1 - me) as u64);
    let mut team = 55;
    check.equal((engine::ctx_get_team(context, &mut team), team), (0, back));
    check.equal((engine::ctx_get_team(CTX_DEFAULT, &mut team), team), (0, TEAM_WORLD));
    check.that(engine::ctx_get_team(CTX_INVALID, &mut team) != 0);
    check.equal(team, TEAM_INVALID);
    for context in contexts {
        engine::ctx_destroy(context);
    }
    engine::ctx_destroy(CTX_INVALID);
    // Ending a team ends its contexts.
    engine::team_destroy(back);
    check.that(engine::ctx_get_team(context, &mut team) != 0);
    engine::free(word.cast());
}
