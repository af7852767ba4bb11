//! Teams and contexts (the standard, sections 9.4 and 9.5).

use crate::arch::export;
use crate::handle::{Ctx, Team};
use core::ffi::{c_int, c_long};
use lwk_shmem::engine::{self, CTX_INVALID, TEAM_INVALID, TeamConfig};

extern "C" fn team_my_pe(team: Team) -> c_int {
    engine::team_my_pe(team.number())
}
export!("shmem_team_my_pe", team_my_pe);

extern "C" fn team_n_pes(team: Team) -> c_int {
    engine::team_n_pes(team.number())
}
export!("shmem_team_n_pes", team_n_pes);

extern "C" fn team_translate_pe(team: Team, pe: c_int, target: Team) -> c_int {
    engine::team_translate_pe(team.number(), pe, target.number())
}
export!("shmem_team_translate_pe", team_translate_pe);

unsafe extern "C" fn team_get_config(team: Team, mask: c_long, config: *mut TeamConfig) -> c_int {
    let mut unused = TeamConfig::default();
    // SAFETY: null, or a configuration to write that nobody else uses during the call (the standard,
    // SHMEM_TEAM_GET_CONFIG).
    let config = unsafe { config.as_mut() }.unwrap_or(&mut unused);
    engine::team_get_config(team.number(), mask, config)
}
export!("shmem_team_get_config", team_get_config);

unsafe extern "C" fn team_split_strided(
    parent: Team,
    start: c_int,
    stride: c_int,
    size: c_int,
    config: *const TeamConfig,
    mask: c_long,
    new_team: *mut Team,
) -> c_int {
    let mut team = TEAM_INVALID;
    // SAFETY: null, or a configuration that nobody changes during the call (the standard,
    // SHMEM_TEAM_SPLIT_STRIDED).
    let config = unsafe { config.as_ref() };
    let code = engine::team_split_strided(parent.number(), start, stride, size, config, mask, &mut team);
    // SAFETY: `new_team` is a handle's place to write (the standard, SHMEM_TEAM_SPLIT_STRIDED).
    unsafe { new_team.write(Team::from_number(team)) };
    code
}
export!("shmem_team_split_strided", team_split_strided);

unsafe extern "C" fn team_split_2d(
    parent: Team,
    xrange: c_int,
    x_config: *const TeamConfig,
    x_mask: c_long,
    x_team: *mut Team,
    y_config: *const TeamConfig,
    y_mask: c_long,
    y_team: *mut Team,
) -> c_int {
    let (mut x, mut y) = (TEAM_INVALID, TEAM_INVALID);
    // SAFETY: null, or configurations that nobody changes during the call (the standard,
    // SHMEM_TEAM_SPLIT_2D).
    let (x_config, y_config) = unsafe { (x_config.as_ref(), y_config.as_ref()) };
    let code =
        engine::team_split_2d(parent.number(), xrange, x_config, x_mask, &mut x, y_config, y_mask, &mut y);
    // SAFETY: `x_team` and `y_team` are handles' places to write (the standard, SHMEM_TEAM_SPLIT_2D).
    unsafe {
        x_team.write(Team::from_number(x));
        y_team.write(Team::from_number(y));
    }
    code
}
export!("shmem_team_split_2d", team_split_2d);

extern "C" fn team_destroy(team: Team) {
    engine::team_destroy(team.number());
}
export!("shmem_team_destroy", team_destroy);

extern "C" fn team_sync(team: Team) -> c_int {
    engine::team_sync(team.number())
}
export!("shmem_team_sync", team_sync);

unsafe extern "C" fn team_create_ctx(team: Team, options: c_long, ctx: *mut Ctx) -> c_int {
    let mut number = CTX_INVALID;
    let code = engine::team_create_ctx(team.number(), options, &mut number);
    // SAFETY: `ctx` is a handle's place to write (the standard, SHMEM_TEAM_CREATE_CTX).
    unsafe { ctx.write(Ctx::from_number(number)) };
    code
}
export!("shmem_team_create_ctx", team_create_ctx);

unsafe extern "C" fn ctx_create(options: c_long, ctx: *mut Ctx) -> c_int {
    // SAFETY: `ctx` is a handle's place to write (the standard, SHMEM_CTX_CREATE).
    unsafe { team_create_ctx(Team::from_number(engine::TEAM_WORLD), options, ctx) }
}
export!("shmem_ctx_create", ctx_create);

extern "C" fn ctx_destroy(ctx: Ctx) {
    engine::ctx_destroy(ctx.number());
}
export!("shmem_ctx_destroy", ctx_destroy);

unsafe extern "C" fn ctx_get_team(ctx: Ctx, team: *mut Team) -> c_int {
    let mut number = TEAM_INVALID;
    let code = engine::ctx_get_team(ctx.number(), &mut number);
    // SAFETY: `team` is a handle's place to write (the standard, SHMEM_CTX_GET_TEAM).
    unsafe { team.write(Team::from_number(number)) };
    code
}
export!("shmem_ctx_get_team", ctx_get_team);
