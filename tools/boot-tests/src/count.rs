//! What tests have come to: how many passed, which failed, and why. The end of a run says that once more, since of a long log often only the end is kept.

/// Failures of which the end of a run says why; it only names others.
const TOLD: usize = 20;
/// Most lines of a reason there: the first say what was not as expected, the last what a command has said last.
const FIRST: usize = 6;
const LAST: usize = 8;
/// Most characters of each.
const LINE: usize = 300;
/// Status of a run with failures.
const FAILED: i32 = 1;

/// Tests that have passed, and those that have not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: u64,
    failures: Vec<Failed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failed {
    name: String,
    why: String,
}

impl Count {
    /// So many that have passed.
    #[cfg(test)]
    pub fn of_passed(passed: u64) -> Count {
        Count { passed, failures: Vec::new() }
    }

    /// A test has failed.
    pub fn fail(&mut self, name: &str, why: &str) {
        self.failures.push(Failed { name: name.into(), why: why.into() });
    }

    /// Tests that have failed.
    pub fn failed(&self) -> usize {
        self.failures.len()
    }

    /// These and more.
    pub fn and(mut self, more: Count) -> Count {
        self.passed += more.passed;
        self.failures.extend(more.failures);
        self
    }

    /// Prints the count and what has failed, and gives the status.
    pub fn conclude(&self) -> i32 {
        show!("{}", self.summary());
        self.status()
    }

    fn status(&self) -> i32 {
        if self.failures.is_empty() { 0 } else { FAILED }
    }

    fn summary(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failures.len());
        for (number, failed) in self.failures.iter().enumerate() {
            text.push_str(&format!("\nFAIL  {}", failed.name));
            if number < TOLD {
                clipped(&failed.why).iter().for_each(|line| text.push_str(&format!("\n      {line}")));
            }
        }
        text
    }
}

/// The beginning and the end of a text.
fn clipped(text: &str) -> Vec<String> {
    let short = |line: &&str| match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{} ...", &line[..at]),
        None => (*line).to_owned(),
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() <= FIRST + LAST + 1 {
        return lines.iter().map(short).collect();
    }
    let left_out = format!("... {} lines ...", lines.len() - FIRST - LAST);
    let first = lines[..FIRST].iter().map(short);
    first.chain([left_out]).chain(lines[lines.len() - LAST..].iter().map(short)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_repeats_what_has_failed() {
        let mut count = Count::of_passed(3);
        assert_eq!((count.summary(), count.status()), ("3 passed, 0 failed".into(), 0));
        count.fail("a-row", "status is 2, not 0\n\ncommand: run x\n");
        let mut more = Count::of_passed(1);
        let lines: Vec<String> = (0..40).map(|line| format!("out| {line}")).collect();
        more.fail("another", &lines.join("\n"));
        let count = count.and(more);
        let summary = count.summary();
        assert!(summary.starts_with(
            "4 passed, 2 failed\nFAIL  a-row\n      status is 2, not 0\n      command: run x\nFAIL  another\n      out| 0\n"
        ));
        assert!(summary.ends_with("\n      out| 5\n      ... 26 lines ...\n      out| 32\n      out| 33\n      out| 34\n      out| 35\n      out| 36\n      out| 37\n      out| 38\n      out| 39"), "{summary}");
        assert_eq!(count.status(), FAILED);
    }

    #[test]
    fn very_many_failures_are_named_and_long_lines_cut() {
        let mut count = Count::default();
        (0..30).for_each(|number| count.fail(&format!("row-{number}"), &"\u{fc}".repeat(1000)));
        let lines: Vec<String> = count.summary().lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 1 + 2 * TOLD + 10);
        assert_eq!(lines[2].chars().count(), 6 + LINE + 4);
        assert_eq!(lines.last().map(String::as_str), Some("FAIL  row-29"));
    }
}
