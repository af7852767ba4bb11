//! The tests of the host crates: `cargo test` of the workspace's default members, and the models of the lock-free protocols under loom.

use std::process::Command;

use super::count::Count;
use lwk::failure::{Doing, Outcome};
use lwk::progress::Step;
use lwk::tree::Tree;

/// The crates that have lock-free protocols, with models that need the feature `loom`.
const PROTOCOLS: [&str; 7] =
    ["lwk-user", "lwk-words", "lwk-ring", "lwk-rendezvous", "lwk-epoch", "lwk-shm", "lwk-shmem"];

/// By which property tests are told where to begin (proptest), and where they do every day, so that what fails is a change's doing. Whoever looks
/// for more sets it to something else.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// How lines of cargo and its compiler begin that say why there are no results.
const TELLING: [&str; 4] = ["error", "-->", "process didn't exit", "Caused by"];

/// Runs them, of all host crates or of one, and counts them. Their output is shown if one fails. The models run with those of all crates.
pub fn run(tree: &Tree, package: Option<&str>) -> Outcome<Count> {
    if let Some(package) = package {
        return cargo_test(tree, package, "testing the host crates", &["--package", package]);
    }
    let crates = cargo_test(tree, "host crates", "testing the host crates", &[])?;
    let mut options = vec!["--lib", "--features", "loom"];
    options.extend(PROTOCOLS.iter().flat_map(|package| ["--package", package]));
    let models = cargo_test(tree, "protocols under loom", "checking the protocols' models", &options)?;
    Ok(crates.and(models))
}

/// `cargo test` with these options; `name` is printed with the result.
fn cargo_test(tree: &Tree, name: &str, step: &str, options: &[&str]) -> Outcome<Count> {
    let _step = Step::begin(step, false);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--no-fail-fast"]).args(options).current_dir(tree.root());
    if std::env::var_os(SEED.0).is_none() {
        command.env(SEED.0, SEED.1);
    }
    let output = command.output().doing(|| "start cargo".into())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut count = count(&text);
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        lwk::tell::result(format_args!("{errors}{text}"));
        // A crate that does not build, or whose tests die, is a failure even though none of its tests has failed.
        if count.failed() == 0 {
            let why: Vec<&str> = errors.lines().filter(|line| is_telling(line)).collect();
            count.fail(name, &why.join("\n"));
        }
    }
    let (mark, all) =
        (if count.failed() == 0 { "ok  " } else { "FAIL" }, count.passed + count.failed() as u64);
    show!("{mark}  {name}: {all} tests");
    Ok(count)
}

fn is_telling(line: &str) -> bool {
    TELLING.iter().any(|start| line.trim_start().starts_with(start))
}

/// Sums the lines `test result: ok. 3 passed; 0 failed; …`, and takes note of what each test that has failed has printed, below a line `---- NAME stdout ----`.
fn count(text: &str) -> Count {
    let mut count = Count::default();
    let mut failing: Option<(&str, String)> = None;
    for line in text.lines() {
        if let Some(result) = line.strip_prefix("test result: ") {
            let before = result.split("passed").next().unwrap_or_default().trim_end();
            count.passed += before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        }
        let begins = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if (begins.is_some() || line == "failures:")
            && let Some((name, said)) = failing.take()
        {
            count.fail(name, &said);
        }
        match (begins, &mut failing) {
            (Some(name), _) => failing = Some((name, String::new())),
            (None, Some((_, said))) => *said += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_crates_are_summed() {
        let text = "running 2 tests\ntest result: ok. 42 passed; 0 failed; 0 ignored\n\nfailures:\n\n\
                    ---- one::is_two stdout ----\nthread 'one::is_two' panicked at x.rs:1:1:\nleft: 1\n\n\
                    ---- one::is_three stdout ----\nno\n\nfailures:\n    one::is_two\n    one::is_three\n\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        let count = super::count(text);
        assert_eq!((count.passed, count.failed()), (45, 2));
        let mut wanted = Count::of_passed(45);
        wanted.fail("one::is_two", "thread 'one::is_two' panicked at x.rs:1:1:\nleft: 1\n\n");
        wanted.fail("one::is_three", "no\n\n");
        assert_eq!(count, wanted);
    }
}
