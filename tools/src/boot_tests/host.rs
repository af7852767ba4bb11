//! The tests of the host crates: `cargo test` of the workspace's default members.

use std::process::Command;

use super::Count;
use crate::failure::{Doing, Outcome};
use crate::progress::Step;
use crate::tree::Tree;

/// Runs them, of all host crates or of one, and counts them. Their output is shown if one fails.
pub fn run(tree: &Tree, package: Option<&str>) -> Outcome<Count> {
    let _step = Step::begin("testing the host crates", false);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--quiet", "--no-fail-fast"]).current_dir(tree.root());
    if let Some(package) = package {
        command.args(["--package", package]);
    }
    let output = command.output().doing(|| "start cargo".into())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut count = count(&text);
    if !output.status.success() {
        print!("{}{text}", String::from_utf8_lossy(&output.stderr));
        // A crate that does not build is a failure even though none of its tests has run.
        count.failed = count.failed.max(1);
    }
    println!(
        "{}  {}: {} tests",
        if count.failed == 0 { "ok  " } else { "FAIL" },
        package.unwrap_or("host crates"),
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
