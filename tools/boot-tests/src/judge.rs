//! Whether a command came out as expected: its status, what must and must not be in its output, and no unexpected
//! warning of the kernel.

use regex::Regex;
use serde::Deserialize;

use lwk::subcommand::{Ended, shown};

/// How a line of a kernel message begins that no passing test may have.
const ALARMS: [&str; 2] = ["margay: error: ", "margay: warn: "];

/// What a command must come to. Patterns are regular expressions in which `^` and `$` are the ends of lines; each must
/// be found somewhere in the stream.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Expected {
    /// Exit status.
    pub status: i32,
    /// Patterns that standard output has.
    pub stdout: Vec<String>,
    /// Patterns that standard output has not.
    pub stdout_not: Vec<String>,
    /// Lines of standard output, exactly.
    pub stdout_lines: Option<usize>,
    /// Patterns that standard error has.
    pub stderr: Vec<String>,
    /// Patterns that standard error has not.
    pub stderr_not: Vec<String>,
    /// Lines of standard error, exactly: 1 for a clear message.
    pub stderr_lines: Option<usize>,
    /// Patterns of warnings and errors of the kernel that belong to this test; any other fails it.
    pub kernel: Vec<String>,
}

impl Expected {
    /// Checks that all patterns are regular expressions. Errors: the first that is none.
    pub fn compile(&self) -> Result<(), regex::Error> {
        [&self.stdout, &self.stdout_not, &self.stderr, &self.stderr_not, &self.kernel]
            .into_iter()
            .flatten()
            .try_for_each(|text| pattern(text).map(drop))
    }

    /// The same with any core's number where a pattern has one: in the host home they are Linux's, of the cores that this machine gives.
    pub fn on_any_core(mut self) -> Result<Self, regex::Error> {
        let core = Regex::new(r"\bcore (\d+|\[01\])")?;
        let lists = [
            &mut self.stdout,
            &mut self.stdout_not,
            &mut self.stderr,
            &mut self.stderr_not,
            &mut self.kernel,
        ];
        for text in lists.into_iter().flatten() {
            *text = core.replace_all(text, r"core \d+").into_owned();
        }
        Ok(self)
    }

    /// Judges a command that has ended.
    ///
    /// # Errors
    /// All that is not as expected, one a line, and the output.
    pub fn judge(&self, ended: &Ended) -> Result<(), String> {
        let complaints = self.complaints(ended).map_err(|error| error.to_string())?;
        if complaints.is_empty() {
            return Ok(());
        }
        Err(format!("{}\n{}", complaints.join("\n"), shown(ended)))
    }

    fn complaints(&self, ended: &Ended) -> Result<Vec<String>, regex::Error> {
        let mut complaints = Vec::new();
        if ended.status != Some(self.status) {
            let status = ended.status.map_or("none: it was killed".into(), |status| status.to_string());
            complaints.push(format!("status is {status}, not {}", self.status));
        }
        let streams = [
            ("standard output", &ended.stdout, &self.stdout, &self.stdout_not, self.stdout_lines),
            ("standard error", &ended.stderr, &self.stderr, &self.stderr_not, self.stderr_lines),
        ];
        for (name, text, must, must_not, lines) in streams {
            for wanted in must {
                if !pattern(wanted)?.is_match(text) {
                    complaints.push(format!("{name} lacks /{wanted}/"));
                }
            }
            for unwanted in must_not {
                if pattern(unwanted)?.is_match(text) {
                    complaints.push(format!("{name} has /{unwanted}/"));
                }
            }
            let found = text.lines().count();
            if lines.is_some_and(|lines| lines != found) {
                complaints.push(format!("{name} has {found} lines, not {}", lines.unwrap_or_default()));
            }
        }
        let allowed: Vec<Regex> = self.kernel.iter().map(|text| pattern(text)).collect::<Result<_, _>>()?;
        for line in ended.stderr.lines().filter(|line| ALARMS.iter().any(|alarm| line.starts_with(alarm))) {
            if !allowed.iter().any(|pattern| pattern.is_match(line)) {
                complaints.push(format!("unexpected kernel message: {line}"));
            }
        }
        Ok(complaints)
    }
}

fn pattern(text: &str) -> Result<Regex, regex::Error> {
    regex::RegexBuilder::new(text).multi_line(true).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(status: i32, stdout: &str, stderr: &str) -> Ended {
        Ended { command: String::new(), status: Some(status), stdout: stdout.into(), stderr: stderr.into() }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn everything_as_expected_passes() {
        let expected = Expected {
            status: 3,
            stdout: words(&["^two$"]),
            stdout_not: words(&["^wo"]),
            stdout_lines: Some(2),
            stderr: words(&["oops"]),
            ..Expected::default()
        };
        assert_eq!(expected.judge(&ended(3, "one\ntwo\n", "oops\nmargay: info: fine\n")), Ok(()));
    }

    #[test]
    fn each_deviation_fails() {
        let all = Expected::default();
        assert!(all.judge(&ended(1, "", "")).unwrap_err().contains("status is 1, not 0"));
        assert!(all.judge(&Ended { status: None, ..ended(0, "", "") }).unwrap_err().contains("killed"));
        let must = Expected { stdout: words(&["^x$"]), ..Expected::default() };
        assert!(must.judge(&ended(0, "xx\n", "x")).unwrap_err().contains("lacks /^x$/"));
        let must_not = Expected { stderr_not: words(&["x"]), ..Expected::default() };
        assert!(must_not.judge(&ended(0, "", "x")).unwrap_err().contains("has /x/"));
        let lines = Expected { stderr_lines: Some(1), ..Expected::default() };
        assert!(lines.judge(&ended(0, "", "a\nb\n")).unwrap_err().contains("has 2 lines, not 1"));
    }

    #[test]
    fn the_host_homes_cores_have_any_number() {
        let expected = Expected {
            stdout: words(&["^rank 0 of 2: core 0, node 0"]),
            kernel: words(&["rank [01] on core [01] died"]),
            ..Expected::default()
        };
        let there = ended(0, "rank 0 of 2: core 63, node 0\n", "margay: error: rank 1 on core 62 died\n");
        assert!(expected.judge(&there).is_err());
        let expected = expected.on_any_core().unwrap();
        assert_eq!(expected.judge(&there), Ok(()));
        assert!(expected.judge(&ended(0, "rank 1 of 2: core 0, node 0\n", "")).is_err());
    }

    #[test]
    fn a_kernel_warning_fails_unless_it_is_expected() {
        let warning = ended(0, "", "margay: warn: odd clock\n");
        assert!(Expected::default().judge(&warning).unwrap_err().contains("odd clock"));
        let expected = Expected { kernel: words(&["warn: odd"]), ..Expected::default() };
        assert_eq!(expected.judge(&warning), Ok(()));
    }
}
