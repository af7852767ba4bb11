//! The page `docs/mpi-scoreboard.md`: every function of the header, and how far it is.
//!
//! Nothing on it is written by hand. The functions and error classes are those of `mpi-rt/c/description`, what the library has is read from
//! its symbols, and what is checked from the programs in `conformance/` as the compiler sees them, all macros expanded. The test
//! `conformance-scoreboard` compares the page with what it would be now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lwk::build::Builder;
use lwk::cc;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::fortran;
use lwk::tree::Tree;

/// The page, relative to the tree.
const PAGE: &str = "docs/mpi-scoreboard.md";
/// Functions of `conformance/check.h` that check a condition, an outcome, and an outcome that a function of the program's own has decided.
const CHECK: &str = "check_(";
const OUTCOME: &str = "outcome_(";
const CARRIED: &str = "carried_(";
/// Header of the error classes, and those that no call here can give, with the reason: it is enough if they are carried.
const CLASSES: &str = "include/margay/constants.h";
const EXEMPT: [(&str, &str); 1] =
    [("PROC_ABORTED", "a rank that aborts ends its whole job, and no peer is left whom a call could tell")];
/// Chapters of what a job cannot do, and what of them it can.
const UNSUPPORTED: [(&str, &[&str]); 1] =
    [("processes", &["Close_port", "Comm_get_parent", "Comm_disconnect", "Lookup_name", "Unpublish_name"])];

/// How far a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Done,
    Partial,
    Unsupported,
    Absent,
}

impl State {
    const ALL: [State; 4] = [State::Done, State::Partial, State::Unsupported, State::Absent];

    fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Partial => "partial",
            Self::Unsupported => "unsupported",
            Self::Absent => "absent",
        }
    }
}

/// The functions of one header.
struct Chapter {
    title: String,
    functions: Vec<(String, State)>,
}

/// Writes the page, after building the library that it is about. Status 0.
pub fn run(tree: &Tree) -> Outcome<i32> {
    let builder = Builder::new(tree, false, false)?;
    cc::install(tree, &builder, &cc::prefix(tree))?;
    let text = page(tree)?.text;
    let file = tree.root().join(PAGE);
    fs::write(&file, text).doing(|| format!("write {}", file.display()))?;
    show!("{PAGE} is up to date");
    Ok(0)
}

/// Checks the page; `least` is how many functions must be done. The error says in a few lines what is wrong with it.
pub fn check(tree: &Tree, least: usize) -> Result<(), String> {
    let Page { text: wanted, done, unprovoked } = page(tree).map_err(|failure| failure.message)?;
    let file = tree.root().join(PAGE);
    let text = fs::read_to_string(&file).map_err(|error| format!("{PAGE}: {error}"))?;
    if done < least {
        return Err(format!("{done} functions are called with checked results, not {least}"));
    }
    if !unprovoked.is_empty() {
        return Err(format!("no program of conformance/ provokes MPI_ERR_{}", unprovoked.join(", MPI_ERR_")));
    }
    if text != wanted {
        let line = text.lines().zip(wanted.lines()).find(|(is, should)| is != should);
        let what =
            line.map_or_else(String::new, |(is, should)| format!("\nis:        {is}\nshould be: {should}"));
        return Err(format!("{PAGE} is not up to date; `cargo lwk scoreboard` writes it{what}"));
    }
    Ok(())
}

/// The page.
struct Page {
    text: String,
    /// How many functions are done.
    done: usize,
    /// Error classes that no program provokes, but should.
    unprovoked: Vec<String>,
}

fn page(tree: &Tree) -> Outcome<Page> {
    let checked = Checked::of(tree)?;
    let chapters = chapters(tree, &checked.functions)?;
    let count =
        |state: State| chapters.iter().flat_map(|it| &it.functions).filter(|it| it.1 == state).count();
    let mut text = String::from(
        "# MPI, function by function\n\nWritten by `cargo lwk scoreboard` from the header, the library's symbols and the conformance suite; do \
         not edit.\n\n\
         | state | functions | what it means |\n| --- | --- | --- |\n",
    );
    let meanings = [
        "in `libmpi.a`, and called with a checked result by a program of the conformance suite",
        "in `libmpi.a`; no program of the suite calls it",
        "answers `MPI_ERR_UNSUPPORTED_OPERATION`: a job cannot grow nor meet another",
        "declared in `mpi.h` only: programs that call it do not link",
    ];
    for (state, meaning) in State::ALL.into_iter().zip(meanings) {
        text += &format!("| {} | {} | {meaning} |\n", state.name(), count(state));
    }
    for chapter in &chapters {
        text += &format!("\n## {}\n", chapter.title);
        for state in State::ALL {
            let names: Vec<_> =
                chapter.functions.iter().filter(|it| it.1 == state).map(|it| it.0.as_str()).collect();
            if !names.is_empty() {
                text += &format!("\n**{}** ({}): {}\n", state.name(), names.len(), names.join(", "));
            }
        }
    }
    let (classes, unprovoked) = error_classes(&read(&cc::prefix(tree).join(CLASSES))?, &checked);
    text += &classes;
    Ok(Page { text, done: count(State::Done), unprovoked })
}

/// The section on error classes, and those that nothing provokes although something should.
fn error_classes(header: &str, checked: &Checked) -> (String, Vec<String>) {
    let classes = header.lines().filter_map(|line| line.strip_prefix("#define MPI_ERR_")?.split_once(' '));
    // The last is a bound, no class.
    let all: Vec<(String, String)> = classes
        .filter(|(name, _)| *name != "LASTCODE")
        .map(|(name, number)| (name.to_owned(), number.to_owned()))
        .collect();
    let reason = |class: &String| EXEMPT.iter().find(|it| it.0 == class).map(|it| it.1);
    let (provoked, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| checked.provoked.contains(&it.1));
    let (exempt, unprovoked): (Vec<_>, Vec<_>) =
        rest.into_iter().partition(|it| reason(&it.0).is_some() && checked.carried.contains(&it.1));
    let [provoked, exempt, unprovoked] =
        [provoked, exempt, unprovoked].map(|list| list.into_iter().map(|it| it.0).collect::<Vec<_>>());
    let count = provoked.len();
    let mut text = format!(
        "\n## Error classes\n\n**provoked** ({count}; a program of the suite makes a call give it): {}\n",
        provoked.join(", ")
    );
    for class in &exempt {
        text += &format!(
            "\n**{class}** no call gives: {}. Answered by a function of the program's own, it comes out of the call that has called it.\n",
            reason(class).unwrap_or_default()
        );
    }
    (text, unprovoked)
}

/// The functions of the header, `called` those that the suite calls.
fn chapters(tree: &Tree, called: &BTreeSet<String>) -> Outcome<Vec<Chapter>> {
    let there = symbols(&cc::prefix(tree).join("lib/libmpi.a"), "MPI_", "PMPI_")?;
    let mut chapters = Vec::new();
    for chapter in fortran::description(tree)?.chapters {
        let state = |name: &str| {
            let unsupported = UNSUPPORTED.iter().any(|it| chapter.name == it.0 && !it.1.contains(&name));
            match (there.contains(name), called.contains(name)) {
                (false, _) => State::Absent,
                (true, _) if unsupported => State::Unsupported,
                (true, true) => State::Done,
                (true, false) => State::Partial,
            }
        };
        let functions: Vec<_> = names_of(&chapter).into_iter().map(|it| (it.clone(), state(&it))).collect();
        let title = chapter.title.split(['(', ':']).next().unwrap_or_default().trim().to_owned();
        chapters.push(Chapter { title, functions });
    }
    Ok(chapters)
}

/// The functions of a chapter, those with large counts included, in order.
fn names_of(chapter: &lwk_bindings::description::Chapter) -> Vec<String> {
    let forms =
        |it: &lwk_bindings::description::Function| it.forms().map(|large| it.form(large)).collect::<Vec<_>>();
    let mut names: Vec<_> = chapter.functions.iter().filter(|it| !it.fortran).flat_map(forms).collect();
    names.sort();
    names
}

/// Functions that a library has under both names (MPI 5.0, section 15.2): weak behind `prefix`, strong behind `profiling`; without either.
/// Errors: `nm` cannot be run or cannot read the library.
pub fn symbols(library: &Path, prefix: &str, profiling: &str) -> Outcome<BTreeSet<String>> {
    let output =
        Command::new("nm").args(["-g", "--defined-only"]).arg(library).output().doing(|| "run nm".into())?;
    if !output.status.success() {
        return Err(Failure::host(format!("nm cannot read {}", library.display())));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let named = |kind: &str, prefix: &str| -> BTreeSet<String> {
        let of = |line: &str| {
            let mut words = line.split_whitespace().skip(1);
            (words.next()? == kind).then_some(())?;
            words.next()?.strip_prefix(prefix).map(str::to_owned)
        };
        text.lines().filter_map(of).collect()
    };
    let (weak, strong) = (named("W", prefix), named("T", profiling));
    Ok(weak.intersection(&strong).cloned().collect())
}

/// What the programs of the conformance suite check.
#[derive(Default)]
struct Checked {
    /// Functions whose results are checked.
    functions: BTreeSet<String>,
    /// Error classes that a call must give, and those that only a function of the program's own has answered.
    provoked: BTreeSet<String>,
    carried: BTreeSet<String>,
}

impl Checked {
    fn of(tree: &Tree) -> Outcome<Checked> {
        let (mut checked, folder) = (Checked::default(), tree.root().join("conformance"));
        let compiler = cc::prefix(tree).join("bin/margay-cc");
        let mut programs = files(&folder, "c")?;
        programs.extend(files(&folder.join("ends"), "c")?);
        for file in programs {
            let output = Command::new(&compiler)
                .args(["-E", "-std=c11"])
                .arg(&file)
                .output()
                .doing(|| "run margay-cc".into())?;
            if !output.status.success() {
                return Err(Failure::host(format!("margay-cc cannot read {}", file.display())));
            }
            let folder = folder.to_string_lossy();
            checked.add(&without_texts(&own_lines(&String::from_utf8_lossy(&output.stdout), &folder)));
        }
        Ok(checked)
    }

    /// Adds what a program checks.
    fn add(&mut self, program: &str) {
        for check in [CHECK, OUTCOME, CARRIED] {
            for (start, _) in program.match_indices(check) {
                let inside = &program[start + check.len()..];
                let inside = &inside[..balanced(inside)];
                self.functions.extend(names(inside).filter(|it| it.1).map(|it| it.0.to_owned()));
                let class = class(inside).map(str::to_owned);
                match check {
                    OUTCOME => self.provoked.extend(class),
                    CARRIED => self.carried.extend(class),
                    _ => {}
                }
            }
        }
        // What a function returns is checked where that one is called.
        for (start, returned) in program.match_indices("return MPI_") {
            let call = &program[start + returned.len() - "MPI_".len()..];
            self.functions.extend(names(call).next().filter(|it| it.1).map(|it| it.0.to_owned()));
        }
        // Functions that are passed by name to one that checks what they return.
        let calls: BTreeSet<_> = names(program).filter(|it| it.1).map(|it| it.0).collect();
        let passed = names(program).filter(|it| !calls.contains(it.0)).map(|it| it.0.to_owned());
        self.functions.extend(passed);
    }
}

/// The lines of a preprocessed program that come from files in `folder`.
fn own_lines(program: &str, folder: &str) -> String {
    let (mut own, mut text) = (false, String::new());
    for line in program.lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            own = marker.split_once('"').is_some_and(|(_, path)| path.starts_with(folder));
        } else if own {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

/// The program with empty string literals.
fn without_texts(program: &str) -> String {
    let (mut text, mut inside, mut escaped) = (String::with_capacity(program.len()), false, false);
    for letter in program.chars() {
        if !inside || (letter == '"' && !escaped) {
            text.push(letter);
        }
        inside ^= letter == '"' && !escaped;
        escaped = inside && letter == '\\' && !escaped;
    }
    text
}

/// The number of the error class that a check demands, its second argument: classes are macros.
fn class(arguments: &str) -> Option<&str> {
    let (mut depth, mut start) = (0, None);
    for (place, letter) in arguments.bytes().enumerate() {
        match letter {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b',' if depth == 0 && start.is_none() => start = Some(place + 1),
            b',' if depth == 0 => {
                let class = arguments[start?..place].trim().trim_start_matches('(').trim_end_matches(')');
                let class = class.trim();
                return class.bytes().all(|letter| letter.is_ascii_digit()).then_some(class);
            }
            _ => {}
        }
    }
    None
}

/// Names that follow `MPI_` in a text, and whether a parenthesis opens behind them.
fn names(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.match_indices("MPI_").map(|(start, prefix)| {
        let rest = &text[start + prefix.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
        (name, behind.trim_start().starts_with('('))
    })
}

/// Bytes up to the parenthesis that closes one that is open.
fn balanced(text: &str) -> usize {
    let mut depth = 1;
    for (place, letter) in text.bytes().enumerate() {
        match letter {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return place;
        }
    }
    text.len()
}

fn files(folder: &Path, extension: &str) -> Outcome<Vec<PathBuf>> {
    let what = || format!("list {}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).doing(what)? {
        let path = entry.doing(what)?.path();
        if path.extension().is_some_and(|end| end == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read(file: &Path) -> Outcome<String> {
    fs::read_to_string(file).doing(|| format!("read {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_chapters_and_programs() {
        let chapter = "# x\n\nSend large\n    buf in buffer\n\nRecv_x\n";
        let chapter = lwk_bindings::description::Chapter::parse("x", chapter).expect("right");
        assert_eq!(names_of(&chapter), ["Recv_x", "Send", "Send_c"]);
        let text = "MPI_Send(a, (b), MPI_INT), 3) MPI_Recv(";
        let inside = &text[..balanced(text)];
        assert_eq!(names(inside).collect::<Vec<_>>(), [("Send", true), ("INT", false)]);
    }

    #[test]
    fn checks_are_found_in_preprocessed_programs() {
        let program = "# 1 \"/tree/conformance/a.c\" 2\nvoid f(void) {\n# 1 \"/usr/include/mpi.h\" 3\nint MPI_Bcast(int);\n\
            # 3 \"/tree/conformance/a.c\"\n  outcome_((MPI_Send(1, 2)), (4), \"MPI_Recv(\\\"\", 1);\n\
            check_(!!(MPI_Wtime () > 0), \"\", 2); carried_((MPI_Wait(1)), (35), 3);\n  MPI_Abort(); ring(MPI_Isend); return MPI_Test(3);\n}";
        let mut checked = Checked::default();
        checked.add(&without_texts(&own_lines(program, "/tree/conformance")));
        let found = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(found(&checked.functions), "Isend Send Test Wait Wtime");
        assert_eq!((found(&checked.provoked), found(&checked.carried)), ("4".into(), "35".into()));
    }

    #[test]
    fn classes_that_nothing_provokes_are_named_but_those_that_nothing_can() {
        let header = "#define MPI_SUCCESS 0\n#define MPI_ERR_TAG 4\n#define MPI_ERR_WIN 56\n#define MPI_ERR_PROC_ABORTED 58\n#define MPI_ERR_LASTCODE 9\n";
        let mut checked = Checked::default();
        checked.provoked.insert("4".into());
        checked.carried.insert("56".into());
        assert_eq!(error_classes(header, &checked).1, ["WIN", "PROC_ABORTED"]);
        checked.carried.insert("58".into());
        let (text, unprovoked) = error_classes(header, &checked);
        assert_eq!(unprovoked, ["WIN"]);
        assert!(text.contains("call give it): TAG\n") && text.contains("**PROC_ABORTED** no call gives: "));
    }
}
