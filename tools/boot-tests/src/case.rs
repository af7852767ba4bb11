//! The table of boot tests, `qemu-tests/cases.toml`: its form, and each row as a test.

use lwk_abi::exit::TIMEOUT;
use serde::Deserialize;

use super::Test;
use super::judge::Expected;
use super::needs::Needs;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::subcommand::{Lwk, PATIENCE, Program};
use lwk::tree::Tree;

/// Ends the name of a test in the host home.
const ON_HOST: &str = "-on-the-host";
/// The option that lets ranks share cores.
const OVERSUBSCRIBE: &str = "--oversubscribe";

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    case: Vec<Case>,
}

/// One row: what to run, and what must come of it. Either `program` or `command` is given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the row shows, in few words, joined by dashes.
    name: String,
    /// A bundled program, `test:NAME` for one of this package, `file:PATH` relative to the tree, `c:SOURCE`, which is
    /// compiled, `musl:SOURCE`, which is linked with musl's C library, or `WAY:SOURCE`, which is linked as other toolchains do it
    /// (`lwk::foreign`).
    program: Option<String>,
    /// Instead of a program: all words after `cargo lwk`.
    command: Option<Vec<String>>,
    /// Arguments of the program.
    #[serde(default)]
    args: Vec<String>,
    /// One test for each of these: the word is appended to the name, and comes after the arguments.
    #[serde(default)]
    each: Vec<String>,
    /// `-n`.
    #[serde(default = "one")]
    ranks: u32,
    /// Instead of `ranks`: one test for each of these numbers, which is appended to the name.
    #[serde(default)]
    on: Vec<u32>,
    /// `--mem`, MiB; small by default, so that boots are quick; 0 for none.
    #[serde(default = "small")]
    mem: u64,
    /// Further options of `cargo lwk run`.
    #[serde(default)]
    options: Vec<String>,
    /// `--timeout`, in seconds, of a row that shall run into it ([`TIMEOUT`]). Any other row has [`PATIENCE`], or more if it says so.
    limit: Option<u64>,
    /// Where the program must behave so. Rows with `command` are the node's.
    #[serde(default)]
    homes: Homes,
    /// Needs the machine for itself: many cores, or a measurement.
    #[serde(default)]
    alone: bool,
    #[serde(flatten)]
    expected: Expected,
}

/// Homes of a program; both unless the row says something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Homes {
    #[default]
    Both,
    Node,
    Host,
}

fn one() -> u32 {
    1
}

fn small() -> u64 {
    16
}

/// Reads the table: a test for each row, home, word and number of ranks. Errors: a row that is none, named.
pub fn load(tree: &Tree) -> Outcome<Vec<Test>> {
    let path = tree.root().join("qemu-tests/cases.toml");
    let text = std::fs::read_to_string(&path).doing(|| format!("read {}", path.display()))?;
    parse(&text).map_err(|why| Failure::host(format!("{} is wrong: {why}", path.display())))
}

fn parse(text: &str) -> Result<Vec<Test>, String> {
    let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    table.case.into_iter().flat_map(spread).flat_map(tests_of).collect()
}

/// The tests of a row: one for each home.
fn tests_of(case: Case) -> Vec<Result<Test, String>> {
    let on_node = case.homes != Homes::Host;
    let on_host = case.homes != Homes::Node && case.program.is_some();
    let node = on_node.then(|| test_of(case.clone(), false));
    let host = on_host.then(|| test_of(case, true));
    node.into_iter().chain(host).collect()
}

/// The rows that a row with `each` and `on` stands for.
fn spread(case: Case) -> Vec<Case> {
    let words = if case.each.is_empty() { vec![None] } else { case.each.iter().map(Some).collect() };
    let of_word = |word: Option<&String>| {
        let mut one = case.clone();
        if let Some(word) = word {
            one.name = format!("{}-{word}", case.name);
            one.args.push(word.clone());
        }
        one
    };
    let of_number = |one: Case| -> Vec<Case> {
        let named =
            |ranks: &u32| Case { name: format!("{}-{ranks}", one.name), ranks: *ranks, ..one.clone() };
        if one.on.is_empty() { vec![one] } else { one.on.iter().map(named).collect() }
    };
    words.into_iter().map(of_word).flat_map(of_number).collect()
}

fn test_of(mut case: Case, on_host: bool) -> Result<Test, String> {
    if case.program.is_some() == case.command.is_some() {
        return Err(format!("case {}: give either program or command", case.name));
    }
    if let Err(error) = case.expected.compile() {
        return Err(format!("case {}: {error}", case.name));
    }
    if on_host {
        case.expected = case.expected.on_any_core().map_err(|error| error.to_string())?;
    }
    let name = if on_host { format!("{}{ON_HOST}", case.name) } else { case.name.clone() };
    let alone = case.alone;
    let sources = match case.program.as_deref().map(Program::named) {
        Some(Program::C(source)) => vec![source],
        _ => Vec::new(),
    };
    let needs = match &case.program {
        // A file that an option names may be another program.
        Some(_) if case.options.iter().any(|option| option.contains("target/")) => Needs::Any,
        Some(program) => Needs::of(&Program::named(program)),
        None => Needs::Any,
    };
    Ok(Test { name, alone, on_host, sources, needs, run: Box::new(move |lwk| run(lwk, &case, on_host)) })
}

impl Case {
    /// The time limit of the job, in seconds.
    fn seconds(&self) -> u64 {
        match self.limit {
            Some(limit) if self.expected.status == TIMEOUT => limit,
            limit => limit.unwrap_or(0).max(PATIENCE),
        }
    }
}

fn run(lwk: &Lwk, case: &Case, on_host: bool) -> Result<(), String> {
    let words = match (&case.program, &case.command) {
        (Some(program), _) => {
            let mut options = case.options.clone();
            options.extend(["-n".into(), case.ranks.to_string()]);
            if case.mem != 0 {
                options.extend(["--mem".into(), case.mem.to_string()]);
            }
            options.extend(["--timeout".into(), case.seconds().to_string()]);
            if on_host {
                options.push("--host".into());
                // The host's cores are what they are.
                if !options.iter().any(|option| option == OVERSUBSCRIBE) {
                    options.push(OVERSUBSCRIBE.into());
                }
            }
            lwk.run_words(&Program::named(program), &options, &case.args)
        }
        (None, command) => command.iter().flatten().map(Into::into).collect(),
    };
    let ended = lwk.command(&words, case.seconds())?;
    case.expected.judge(&ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_tree_is_well_formed_and_names_are_unique() {
        let text = include_str!("../../../qemu-tests/cases.toml");
        let mut names: Vec<_> = parse(text).unwrap().into_iter().map(|test| test.name).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "two cases have the same name");
    }

    #[test]
    fn a_row_with_words_is_a_test_for_each() {
        let names = |homes: &str| {
            let row =
                format!("[[case]]\nname = \"die\"\nprogram = \"crash\"\neach = [\"a\", \"b\"]\n{homes}");
            parse(&row).unwrap().into_iter().map(|test| test.name).collect::<Vec<_>>()
        };
        assert_eq!(names("homes = \"node\""), ["die-a", "die-b"]);
        assert_eq!(names("homes = \"host\""), ["die-a-on-the-host", "die-b-on-the-host"]);
        assert_eq!(names(""), ["die-a", "die-a-on-the-host", "die-b", "die-b-on-the-host"]);
        assert_eq!(names("homes = \"node\"\non = [1, 72]"), ["die-a-1", "die-a-72", "die-b-1", "die-b-72"]);
    }

    #[test]
    fn wrong_rows_are_refused() {
        let row = |fields: &str| parse(&format!("[[case]]\nname = \"x\"\n{fields}"));
        assert!(row("program = \"hello\"").is_ok());
        for wrong in [
            "",
            "program = \"x\"\ncommand = []",
            "program = \"x\"\nstdout = [\"(\"]",
            "program = \"x\"\nstaus = 1",
        ] {
            assert!(row(wrong).is_err(), "{wrong}");
        }
    }
}
