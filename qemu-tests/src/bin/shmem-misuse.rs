//! A wrong use of OpenSHMEM for each name: each must end the job with one line that says what is wrong
#![no_std]
#![no_main]

extern crate alloc;

use lwk_apps::cli::{Argument, Cli};
use lwk_shmem::engine::{self, Settings};
use lwk_user::Env;

const USAGE: &str = "shmem-misuse NAME";

lwk_user::entry!(main);

fn main(env: &Env) {
    let mut cli = Cli::new(env, USAGE);
    let name = match cli.argument() {
        Some(Argument::Word(name)) => name,
        _ => cli.refuse(&format_args!("name a misuse")),
    };
    if name == "barrier-before-init" {
        engine::barrier_all();
    }
    engine::init(&Settings::default());
    let me = engine::my_pe();
    let word = engine::malloc(8).cast::<i64>();
    // SAFETY: an object of the symmetric heap, which peers use after the barrier only.
    unsafe { word.write(0) };
    engine::barrier_all();
    // SAFETY: the objects named are symmetric; each call is wrong in one way that must be noticed before memory is touched.
    unsafe {
        match name {
            "put-to-no-pe" => engine::p(word, 1, engine::n_pes()),
            "get-from-minus-one" => drop(engine::g(word, -1)),
            // The engine is set up already.
            "init-twice" => drop(lwk_shmem::init(env)),
            "free-twice" => {
                engine::free(word.cast());
                engine::free(word.cast());
            }
            "free-inside" => engine::free(word.cast::<u8>().add(64)),
            "realloc-of-nothing" => drop(engine::realloc(word.cast::<u8>().add(64), 8)),
            "unequal-sizes" => drop(engine::malloc(64 + me as usize * 64)),
            "malloc-and-barrier" if me == 0 => drop(engine::malloc(64)),
            "malloc-and-barrier" => engine::barrier_all(),
            "broadcast-and-sync" if me == 0 => drop(engine::broadcast(engine::TEAM_WORLD, word, word, 1, 0)),
            "broadcast-and-sync" => engine::sync_all(),
            "clear-a-lock-not-held" => engine::clear_lock(word),
            "set-a-lock-twice" => {
                // Each PE in turn, so that the first to hold it is the one that asks again.
                engine::set_lock(word);
                engine::set_lock(word);
            }
            "no-such-comparison" => drop(engine::wait_until(word, 17, 0)),
            "no-such-signal-operation" => {
                engine::put_signal(word, word, 0, word.cast(), 1, 9, 0);
            }
            "no-such-context" => drop(engine::ctx_pe(7, 0)),
            "destroyed-context" => {
                let mut context = engine::CTX_INVALID;
                engine::ctx_create(0, &mut context);
                engine::ctx_destroy(context);
                engine::ctx_quiet(context);
            }
            "destroyed-team" => {
                let mut team = engine::TEAM_INVALID;
                engine::team_split_strided(engine::TEAM_WORLD, 0, 1, 1, None, 0, &mut team);
                engine::team_destroy(team);
                engine::team_destroy(team.max(2));
            }
            "destroy-the-world" => engine::team_destroy(engine::TEAM_WORLD),
            "no-such-active-set" => engine::barrier(engine::ActiveSet { start: 0, log_stride: 31, size: 2 }),
            "not-in-the-active-set" => {
                engine::barrier(engine::ActiveSet {
                    start: (me + 1) % engine::n_pes(),
                    log_stride: 0,
                    size: 1,
                });
            }
            "malloc-after-finalize" => {
                engine::finalize();
                engine::malloc(8);
            }
            "init-after-finalize" => {
                engine::finalize();
                engine::init(&Settings::default());
            }
            "global-exit" => {
                if me == engine::n_pes() - 1 {
                    engine::global_exit(37);
                }
                engine::barrier_all();
            }
            other => cli.refuse(&format_args!("there is no misuse `{other}`")),
        }
    }
    engine::finalize();
}
