//! The page `docs/mpi-scoreboard.md`: every function of the header, and how far it is.
//!
//! Nothing on it is written by hand. The functions are those of `mpi-rt/c/include/margay`, what the library has is read from its symbols, and
//! what is checked from the programs in `conformance/`. The boot test `mpi-scoreboard` compares the page with what it would be now.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::Builder;
use crate::cc;
use crate::failure::{Doing, Failure, Outcome};
use crate::tree::Tree;

/// The page, relative to the tree.
const PAGE: &str = "docs/mpi-scoreboard.md";
/// Macros of `conformance/check.h` that check a result.
const CHECKS: [&str; 6] = ["OK(", "CHECK(", "FAILS(", "MUST(", "HOLDS(", "RAISES("];
/// Chapters of what a job cannot do, and what of them it can.
const UNSUPPORTED: [(&str, &[&str]); 2] = [
    ("processes", &["Comm_get_parent", "Comm_disconnect"]),
    (
        "files",
        &["File_create_errhandler", "File_set_errhandler", "File_get_errhandler", "File_call_errhandler"],
    ),
];

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

/// Writes the page.
pub fn run(tree: &Tree) -> Outcome<i32> {
    let builder = Builder::new(tree, false, false)?;
    cc::install(tree, &builder, &cc::prefix(tree))?;
    let (text, _) = page(tree)?;
    let file = tree.root().join(PAGE);
    fs::write(&file, text).doing(|| format!("write {}", file.display()))?;
    println!("{PAGE} is up to date");
    Ok(0)
}

/// What is wrong with the page, if anything is; `least` is how many functions must be done.
pub fn check(tree: &Tree, least: usize) -> Result<(), String> {
    let (wanted, done) = page(tree).map_err(|failure| failure.message)?;
    let file = tree.root().join(PAGE);
    let text = fs::read_to_string(&file).map_err(|error| format!("{PAGE}: {error}"))?;
    if done < least {
        return Err(format!("{done} functions are called with checked results, not {least}"));
    }
    if text != wanted {
        let line = text.lines().zip(wanted.lines()).find(|(is, should)| is != should);
        let what =
            line.map_or_else(String::new, |(is, should)| format!("\nis:        {is}\nshould be: {should}"));
        return Err(format!("{PAGE} is not up to date; `cargo lwk scoreboard` writes it{what}"));
    }
    Ok(())
}

/// The page's text, and how many functions are done.
fn page(tree: &Tree) -> Outcome<(String, usize)> {
    let chapters = chapters(tree)?;
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
        "answers `MPI_ERR_UNSUPPORTED_OPERATION`: a job cannot grow nor meet another, and has no shared files",
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
    Ok((text, count(State::Done)))
}

fn chapters(tree: &Tree) -> Outcome<Vec<Chapter>> {
    let (there, called) = (symbols(&cc::prefix(tree).join("lib/libmpi.a"))?, called(tree)?);
    let mut chapters = Vec::new();
    for file in files(&tree.root().join("mpi-rt/c/include/margay"), "h")? {
        let text = read(&file)?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let functions: Vec<_> = declared(&text)
            .map(|name| {
                let unsupported = UNSUPPORTED.iter().any(|it| stem == it.0 && !it.1.contains(&name));
                let state = match (there.contains(name), called.contains(name)) {
                    (false, _) => State::Absent,
                    (true, _) if unsupported => State::Unsupported,
                    (true, true) => State::Done,
                    (true, false) => State::Partial,
                };
                (name.to_owned(), state)
            })
            .collect();
        if !functions.is_empty() {
            let title = text.lines().next().unwrap_or_default();
            let title = title.trim_start_matches("/* ").split(['(', ':']).next().unwrap_or_default().trim();
            chapters.push(Chapter { title: title.to_owned(), functions });
        }
    }
    Ok(chapters)
}

/// Names in `MARGAY_MPI(type, name, …)`.
fn declared(header: &str) -> impl Iterator<Item = &str> {
    header.lines().filter_map(|line| line.strip_prefix("MARGAY_MPI(")?.split(',').nth(1)).map(str::trim)
}

/// Functions that the library has under both names.
fn symbols(library: &Path) -> Outcome<BTreeSet<String>> {
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
    let (weak, strong) = (named("W", "MPI_"), named("T", "PMPI_"));
    Ok(weak.intersection(&strong).cloned().collect())
}

/// Functions whose results the conformance suite checks.
fn called(tree: &Tree) -> Outcome<BTreeSet<String>> {
    let mut called = BTreeSet::new();
    for file in files(&tree.root().join("conformance"), "c")? {
        let text = read(&file)?;
        for check in CHECKS {
            for (start, _) in text.match_indices(check) {
                let inside = &text[start + check.len()..];
                called.extend(functions(&inside[..balanced(inside)]).map(str::to_owned));
            }
        }
        // Functions that are passed by name to one that checks what they return.
        called.extend(
            functions(&text).filter(|name| !text.contains(&format!("MPI_{name}("))).map(str::to_owned),
        );
    }
    Ok(called)
}

/// Names that follow `MPI_` in a text.
fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("MPI_").map(|(start, prefix)| {
        let rest = &text[start + prefix.len()..];
        &rest[..rest
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(rest.len())]
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
    fn names_are_found_in_headers_and_programs() {
        let header = "/* x */\nMARGAY_MPI(int, Send, (const void *buf,\n    int count))\nMARGAY_MPI(double, Wtime, (void))\n";
        assert_eq!(declared(header).collect::<Vec<_>>(), ["Send", "Wtime"]);
        let text = "MPI_Send(a, (b), MPI_INT), 3) MPI_Recv(";
        let inside = &text[..balanced(text)];
        assert_eq!(functions(inside).collect::<Vec<_>>(), ["Send", "INT"]);
    }
}
