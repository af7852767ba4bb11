//! The tests of the host crates: `cargo test` of the workspace's default members, and the models of the lock-free protocols under loom.

use std::process::Command;

use super::Count;
use lwk::failure::{Doing, Outcome};
use lwk::progress::Step;
use lwk::tree::Tree;

/// The crates that have lock-free protocols, with models that need the feature `loom`.
const PROTOCOLS: [&str; 6] = ["lwk-user", "lwk-ring", "lwk-rendezvous", "lwk-epoch", "lwk-shm", "lwk-shmem"];

/// By which property tests are told where to begin (proptest), and where they do every day, so that what fails is a change's doing. Whoever looks
/// for more sets it to something else.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

/// Runs them, of all host crates or of one, and counts them. Their output is shown if one fails. The models run with those of all crates.
pub fn run(tree: &Tree, package: Option<&str>) -> Outcome<Count> {
    if let Some(package) = package {
        return cargo_test(tree, package, "testing the host crates", &["--package", package]);
    }
    let crates = cargo_test(tree, "host crates", "testing the host crates", &[])?;
    let mut options = vec!["--lib", "--features", "loom"];
    options.extend(PROTOCOLS.iter().flat_map(|package| ["--package", package]));
    let models = cargo_test(tree, "protocols under loom", "checking the protocols' models", &options)?;
    Ok(Count { passed: crates.passed + models.passed, failed: crates.failed + models.failed })
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
        lwk::tell::result(format_args!("{}{text}", String::from_utf8_lossy(&output.stderr)));
        // A crate that does not build is a failure even though none of its tests has run.
        count.failed = count.failed.max(1);
    }
    show!(
        "{}  {name}: {} tests",
        if count.failed == 0 { "ok  " } else { "FAIL" },
        count.passed + count.failed
    );
    Ok(count)
}

/// Sums the lines `test result: ok. 3 passed; 0 failed; …`.
fn count(text: &str) -> Count {
    let mut count = Count::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let number = |word: &str| {
            let before = line.split(word).next()?.trim_end();
            before.rsplit(' ').next()?.parse::<u64>().ok()
        };
        count.passed += number("passed").unwrap_or(0);
        count.failed += number("failed;").unwrap_or(0);
    }
    count
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_of_all_crates_are_summed() {
        let text = "running 2 tests\ntest result: ok. 42 passed; 0 failed; 0 ignored\n\
                    test result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        let count = super::count(text);
        assert_eq!((count.passed, count.failed), (45, 2));
    }
}
