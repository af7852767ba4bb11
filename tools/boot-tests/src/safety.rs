//! Whether each `SAFETY:` comment says why its block is sound. One that only says that somebody has promised it says nothing: it names
//! the condition that it hands on, or a type takes the condition over.

use std::fs;
use std::path::{Path, PathBuf};

use lwk::failure::{Doing, Outcome};

/// Folders that hold nothing of the tree's own.
const OTHERS: [&str; 2] = ["target", ".git"];
/// Where a comment begins.
const MARK: &str = "SAFETY:";
/// What an empty comment says, in lower case.
const EMPTY: [&str; 4] = ["caller's promise", "callers promise", "as promised", "same promise"];
/// What a comment of a product's code begins with that leaves the condition to another one, in lower case. Tests and programs may.
const ELSEWHERE: [&str; 3] = ["as above", "as in ", "as for "];
const PRODUCT: [&str; 4] = ["kernel/", "mpi-rt/", "userlib/", "tools/home/"];
/// Folders of tests, and what a file of them ends with.
const TESTS: [&str; 3] = ["/tests/", "tests.rs", "model.rs"];

/// Each comment of the tree that says nothing: file, line, text. Errors: a file cannot be read.
pub fn empty_comments(root: &Path) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for path in sources(root, "")? {
        let file = root.join(&path);
        let text = fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
        found.extend(
            empty_in(&text, is_product(&path)).map(|(line, comment)| format!("{path}:{line}: {comment}")),
        );
    }
    Ok(found)
}

/// Rust's files in a folder of the tree, by their paths in the tree. Errors: a folder cannot be read.
pub fn sources(root: &Path, folder: &str) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        let at = root.join(&folder);
        for entry in fs::read_dir(&at).doing(|| format!("list {}", at.display()))? {
            let entry = entry.doing(|| format!("list {}", at.display()))?;
            let path = folder.join(entry.file_name());
            let skipped = OTHERS.iter().any(|name| path.ends_with(name));
            // Links lead to folders that are listed by their own names.
            let kind = entry.file_type().doing(|| format!("look at {}", path.display()))?;
            if kind.is_dir() && !skipped {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_product(path: &str) -> bool {
    PRODUCT.iter().any(|folder| path.starts_with(folder)) && !TESTS.iter().any(|part| path.contains(part))
}

/// Line numbers and texts of the comments in a file that say nothing; of a product also of those that say it by another one.
fn empty_in(text: &str, product: bool) -> impl Iterator<Item = (usize, String)> {
    let comment = |line: &str| line.trim_start().strip_prefix("//").map(|text| text.trim().to_owned());
    let lines: Vec<Option<String>> = text.lines().map(comment).collect();
    let whole = |first: usize| lines[first..].iter().map_while(Clone::clone).collect::<Vec<_>>().join(" ");
    let starts = (0..lines.len())
        .filter(|index| lines[*index].as_ref().is_some_and(|line| line.starts_with(MARK)))
        .map(|index| (index + 1, whole(index)));
    let says_nothing = |text: &str| EMPTY.iter().any(|phrase| text.to_lowercase().contains(phrase));
    let is_elsewhere = |text: &str| {
        let reason = text[MARK.len()..].trim_start().to_lowercase();
        product && ELSEWHERE.iter().any(|phrase| reason.starts_with(phrase))
    };
    starts.filter(|(_, text)| says_nothing(text) || is_elsewhere(text)).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_no_reason() {
        let text = "fn f() {\n    // SAFETY: the buffer is the caller's\n    // promise.\n    g()\n}\n// SAFETY: As promised.\n";
        let found: Vec<_> = empty_in(text, true).map(|(line, _)| line).collect();
        assert_eq!(found, [2, 6]);
    }

    #[test]
    fn another_comment_is_none_in_a_product() {
        let text = "// SAFETY: as above, but larger.\n\n// SAFETY: it lies there as in a file.\n";
        assert_eq!((empty_in(text, true).count(), empty_in(text, false).count()), (1, 0));
        assert!(is_product("kernel/src/job.rs") && is_product("mpi-rt/c/src/lib.rs"));
        assert!(!is_product("kernel/nic/src/e1000e/tests.rs") && !is_product("apps/src/bin/check.rs"));
    }

    #[test]
    fn a_condition_is_one() {
        let text = "// SAFETY: the buffer is readable (this function's contract).\n// the caller's promise\n\n// the caller's promise: no mark\n";
        assert_eq!(empty_in(text, true).count(), 1, "the second line belongs to the comment");
        assert_eq!(empty_in("// SAFETY: readable (this function's contract).\nf();\n", true).count(), 0);
    }
}
