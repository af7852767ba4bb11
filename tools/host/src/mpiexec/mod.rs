//! `mpiexec`, `mpirun` and `oshrun`: start a program as users of other MPIs and their scripts do.
//!
//! On this machine unless `--node` asks for a node. The program has the caller's environment and current folder, rank 0 has standard input,
//! there is no time limit but one that is asked for, and ranks share cores where there are fewer. Options that can have no effect here are
//! named in one line. The work is that of `margay run`, whose options this translates to.

mod options;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Parser;

use lwk::cli::{Cli, Command, Launched, RunOptions};
use lwk::failure::{Doing, Failure, Outcome};
use lwk::packages::find_in_path;
use lwk::run;
use lwk::tree::Tree;

use crate::node;
use options::Meaning::{self, *};
use options::{OPTIONS, help};

/// Between programs that are started together.
const JOINT: &str = ":";

/// What a command line asks for.
#[derive(Debug, Default)]
struct Asked {
    ranks: Option<u32>,
    set: Vec<(OsString, OsString)>,
    /// The caller's variables to pass on; all if none.
    only: Option<Vec<OsString>>,
    folder: Option<PathBuf>,
    oversubscribe: Option<bool>,
    node: bool,
    run: Vec<OsString>,
    ignored: Vec<OsString>,
    /// Program and arguments.
    program: Vec<OsString>,
}

/// What comes of reading a command line.
#[derive(Debug)]
enum Read {
    Job(Box<Asked>),
    Text(String),
}

/// Starts what `words`, all behind the command's own `name`, ask for, and gives the job's status.
///
/// # Errors
/// Wrong use, and those of [`node::run`] and [`run::run`].
pub fn run(tree: &Tree, name: &str, words: &[OsString]) -> Outcome<i32> {
    let asked = match read(name, words)? {
        Read::Text(text) => {
            lwk::tell::result(format_args!("{text}"));
            return Ok(0);
        }
        Read::Job(asked) => *asked,
    };
    let ranks = asked.ranks.unwrap_or(1);
    let mut line: Vec<OsString> = ["margay", "run", "-n"].map(Into::into).into();
    line.push(ranks.to_string().into());
    if !asked.ignored.is_empty() {
        let all = asked.ignored.join(OsStr::new(" "));
        tell!("{name}: without effect here, where all ranks run on one machine: {}", all.display());
    }
    let folder = asked.folder.clone().unwrap_or_else(|| ".".into());
    if !asked.node || asked.folder.is_some() {
        line.push(["--cwd".as_ref(), folder.as_os_str()].join(OsStr::new("=")));
    }
    if !asked.node {
        line.push("--host".into());
        let cores = lwk_home::usable_cores().doing(|| "list the cores".into())?.len();
        if ranks as usize > cores && asked.oversubscribe != Some(false) {
            line.push("--oversubscribe".into());
            if asked.oversubscribe.is_none() {
                tell!("{name}: {ranks} ranks share {cores} cores; give --oversubscribe to be told nothing");
            }
        }
    }
    line.extend(asked.run.iter().cloned());
    for (name, value) in environment(&asked) {
        line.extend(["--env".into(), [name, value].join(OsStr::new("="))]);
    }
    let (program, arguments) = asked.program.split_first().ok_or_else(|| no_program(name))?;
    line.extend([find(program, &folder), "--".into()]);
    line.extend(arguments.iter().cloned());
    let mut options = options(line)?;
    options.launched = Some(Launched { name: Some(program.clone()), alone: false });
    if asked.node { run::run(tree, &options) } else { node::run(tree, &options) }
}

/// Runs `program`, which somebody has started by its file, as a job of one rank: its file, and its arguments from its name on.
///
/// # Errors
/// Those of [`node::run`].
pub fn alone(tree: &Tree, words: &[OsString]) -> Outcome<i32> {
    let [program, arguments @ ..] = words else {
        return Err(Failure::usage("this is for programs that are started by their files; use mpiexec"));
    };
    let mut line: Vec<OsString> = ["margay", "run", "--host", "--cwd"].map(Into::into).into();
    for (name, value) in std::env::vars_os() {
        line.extend(["--env".into(), [name, value].join(OsStr::new("="))]);
    }
    line.extend([program.clone(), "--".into()]);
    line.extend(arguments.iter().skip(1).cloned());
    let mut options = options(line)?;
    options.launched = Some(Launched { name: arguments.first().cloned(), alone: true });
    node::run(tree, &options)
}

/// The options of `margay run` that these words stand for.
fn options(line: Vec<OsString>) -> Outcome<RunOptions> {
    let cli =
        Cli::try_parse_from(line).map_err(|error| Failure::usage(lwk::cli::one_line(&error, "mpiexec")))?;
    match cli.command {
        Command::Run(options) => Ok(*options),
        other => Err(Failure::usage(format!("{other:?} starts no job"))),
    }
}

fn no_program(name: &str) -> Failure {
    Failure::usage(format!("no program: {name} -n RANKS PROGRAM ARG …; `{name} --help` tells more"))
}

/// Reads the words. Programs joined by `:` are one job if they are the same program with the same arguments and variables.
fn read(name: &str, words: &[OsString]) -> Outcome<Read> {
    let mut whole: Option<Asked> = None;
    for part in words.split(|word| word == JOINT) {
        let asked = match read_part(name, part)? {
            Read::Job(asked) => *asked,
            text => return Ok(text),
        };
        whole = Some(match whole {
            None => asked,
            Some(first)
                if first.program == asked.program && (asked.set.is_empty() || asked.set == first.set) =>
            {
                let ranks = first.ranks.unwrap_or(1).saturating_add(asked.ranks.unwrap_or(1));
                Asked { ranks: Some(ranks), ..first }
            }
            Some(_) => {
                return Err(Failure::usage(
                    "all ranks of a job run the same program with the same arguments; different ones joined by `:` are not possible",
                ));
            }
        });
    }
    whole
        .filter(|asked| !asked.program.is_empty())
        .map(|asked| Read::Job(Box::new(asked)))
        .ok_or_else(|| no_program(name))
}

fn read_part(name: &str, words: &[OsString]) -> Outcome<Read> {
    let mut asked = Asked::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if bytes.first() != Some(&b'-') || bytes == b"-" {
            asked.program = std::iter::once(word).chain(words).cloned().collect();
            break;
        }
        if bytes == b"--" {
            continue;
        }
        let (option, joined) = match bytes.iter().position(|byte| *byte == b'=') {
            Some(at) => (&bytes[..at], Some(OsStr::from_bytes(&bytes[at + 1..]).to_owned())),
            None => (bytes, None),
        };
        let bare = option.strip_prefix(b"--").or(option.strip_prefix(b"-")).unwrap_or(option);
        let known = OPTIONS.iter().find(|(names, ..)| names.iter().any(|known| known.as_bytes() == bare));
        let Some((_, takes, meaning)) = known else {
            return Err(Failure::usage(format!(
                "there is no option {}; `{name} --help` tells which there are",
                word.display()
            )));
        };
        let mut values: Vec<OsString> = joined.into_iter().collect();
        while values.len() < *takes {
            let value =
                words.next().ok_or_else(|| Failure::usage(format!("{} needs a value", word.display())))?;
            values.push(value.clone());
        }
        match *meaning {
            Help => return Ok(Read::Text(help(name))),
            Version => return Ok(Read::Text(format!("{name} (Margay) {}\n", env!("CARGO_PKG_VERSION")))),
            Ignored => asked.ignored.extend(
                std::iter::once(word).chain(&values[usize::from(word.len() > option.len())..]).cloned(),
            ),
            meaning => apply(&mut asked, meaning, word, values)?,
        }
    }
    Ok(Read::Job(Box::new(asked)))
}

/// Takes over an option that has an effect.
fn apply(asked: &mut Asked, meaning: Meaning, word: &OsStr, values: Vec<OsString>) -> Outcome<()> {
    let mut values = values.into_iter();
    let mut value = || values.next().unwrap_or_default();
    match meaning {
        Ranks => {
            let text = value();
            let number = text.to_str().and_then(|text| text.parse().ok());
            asked.ranks = Some(number.ok_or_else(|| {
                Failure::usage(format!(
                    "{} takes the number of ranks, not {}",
                    word.display(),
                    text.display()
                ))
            })?);
        }
        Set => asked.set.push((value(), value())),
        Pass => {
            let text = value();
            match text.as_bytes().iter().position(|byte| *byte == b'=') {
                Some(at) => {
                    let (name, value) = (&text.as_bytes()[..at], &text.as_bytes()[at + 1..]);
                    asked.set.push((OsStr::from_bytes(name).into(), OsStr::from_bytes(value).into()));
                }
                None => asked.set.extend(std::env::var_os(&text).map(|value| (text, value))),
            }
        }
        Only => {
            let list = value();
            let names =
                list.as_bytes().split(|byte| *byte == b',').map(|name| OsStr::from_bytes(name).to_owned());
            asked.only.get_or_insert_default().extend(names);
        }
        Nothing => asked.only = Some(Vec::new()),
        Folder => asked.folder = Some(value().into()),
        Oversubscribe => asked.oversubscribe = Some(true),
        Strict => asked.oversubscribe = Some(false),
        Node => asked.node = true,
        Run(option) => asked.run.extend(std::iter::once(option.into()).chain(values)),
        Accepted | Ignored | Help | Version => {}
    }
    Ok(())
}

/// The program's variables: the caller's, as far as they are wanted, and those that are set, of which the last counts.
fn environment(asked: &Asked) -> Vec<(OsString, OsString)> {
    let wanted = |name: &OsString| asked.only.as_ref().is_none_or(|only| only.contains(name));
    let set = |name: &OsString| asked.set.iter().any(|(set, _)| set == name);
    let mut all: Vec<_> = std::env::vars_os().filter(|(name, _)| wanted(name) && !set(name)).collect();
    for (index, (name, value)) in asked.set.iter().enumerate() {
        if !asked.set[index + 1..].iter().any(|(later, _)| later == name) {
            all.push((name.clone(), value.clone()));
        }
    }
    all
}

/// The program's file: a path as it is, or in the program's folder; a name in the current folder, in the program's, or in `PATH`. Anything else
/// stays as it is, and may be a bundled program.
fn find(program: &OsStr, folder: &Path) -> OsString {
    let path = Path::new(program);
    let there = folder.join(path);
    let found = if path.is_file() {
        Some(path.to_path_buf())
    } else if there.is_file() {
        Some(there)
    } else if program.as_bytes().contains(&b'/') {
        None
    } else {
        find_in_path(program)
    };
    found.map_or_else(|| program.to_owned(), PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Outcome<Asked> {
        let words: Vec<OsString> = line.split(' ').map(Into::into).collect();
        match read("mpiexec", &words)? {
            Read::Job(asked) => Ok(*asked),
            Read::Text(text) => panic!("{text}"),
        }
    }

    #[test]
    fn what_scripts_pass_is_understood() {
        let job = asked(
            "-np 4 --mca btl self --bind-to=core -genv A b -x C=d --oversubscribe -wdir /x ./it -n 7 : x",
        )
        .unwrap_err();
        assert_eq!(job.status, 2);
        let job =
            asked("-np 4 --mca btl self --bind-to=core -genv A b -x C=d --oversubscribe -wdir /x ./it -n 7")
                .unwrap();
        assert_eq!((job.ranks, job.oversubscribe, job.node), (Some(4), Some(true), false));
        assert_eq!(job.program, ["./it", "-n", "7"]);
        assert_eq!(job.ignored, ["--mca", "btl", "self", "--bind-to=core"]);
        assert_eq!(job.set, [("A".into(), "b".into()), ("C".into(), "d".into())]);
        assert_eq!(job.folder.as_deref(), Some(Path::new("/x")));
    }

    #[test]
    fn the_same_program_joined_is_one_job_and_different_ones_are_refused() {
        assert_eq!(asked("-n 1 ./a b : -n 3 ./a b").unwrap().ranks, Some(4));
        for line in [
            "-n 1 ./a : -n 3 ./b",
            "-n 1 ./a x : ./a y",
            "-n 1",
            "-n x ./a",
            "-n",
            "--no-such ./a",
            "-n 1 : ./a",
        ] {
            let refused = asked(line).unwrap_err();
            assert_eq!((refused.status, refused.message.lines().count()), (2, 1), "{line}");
        }
    }

    #[test]
    fn the_last_value_of_a_variable_counts_and_comes_once() {
        let job = asked("-envnone -env A 1 -genv B 2 -env A 3 ./a").unwrap();
        assert_eq!(environment(&job), [("B".into(), "2".into()), ("A".into(), "3".into())]);
    }
}
