//! The command line of the programs.
//!
//! Every rank parses the same arguments and comes to the same result, but only one may speak and end the job: node rank 0. The
//! others wait for that, so that its message is not lost to theirs.

use alloc::format;
use core::fmt::Display;
use core::ops::RangeInclusive;
use core::str::FromStr;
use getargs::{Arg, Options};
use lwk_user::abi::exit::USAGE;
use lwk_user::{Env, NodeRank, eprintln, job, println, start, wait};

/// A program's arguments, option by option, in their order. Every rank reads the same.
pub struct Cli {
    options: Options<&'static str, alloc::vec::IntoIter<&'static str>>,
    usage: &'static str,
}

/// One argument, as it stands on the command line.
pub enum Argument {
    /// `--name` (without the dashes); its value, if it takes one, is next.
    Option(&'static str),
    /// A word that is not an option.
    Word(&'static str),
}

impl Cli {
    /// The arguments after the program's name. `usage` is one line: the program and what it takes.
    pub fn new(env: &Env, usage: &'static str) -> Cli {
        let arguments: alloc::vec::Vec<_> = env.args().skip(1).collect();
        Cli { options: Options::new(arguments.into_iter()), usage }
    }

    /// The next argument. `--help` ends the program here, with the usage on standard output.
    pub fn argument(&mut self) -> Option<Argument> {
        match self.options.next_arg() {
            Ok(None) => None,
            Ok(Some(Arg::Long("help") | Arg::Short('h'))) => {
                if job().node_rank() == NodeRank(0) {
                    println!("usage: {}", self.usage);
                }
                start::exit(0)
            }
            Ok(Some(Arg::Long(name))) => Some(Argument::Option(name)),
            Ok(Some(Arg::Short(letter))) => self.refuse(&format!("unknown option -{letter}")),
            Ok(Some(Arg::Positional(word))) => Some(Argument::Word(word)),
            Err(error) => self.refuse(&error),
        }
    }

    /// The number that follows option `name`. Ends the job for wrong use if there is none, or it is not in `range`.
    pub fn number<T: FromStr + PartialOrd + Display>(&mut self, name: &str, range: RangeInclusive<T>) -> T {
        match self.options.value() {
            Err(error) => self.refuse(&error),
            Ok(text) => match text.parse() {
                Ok(number) if range.contains(&number) => number,
                _ => {
                    let (low, high) = (range.start(), range.end());
                    self.refuse(&format!("--{name} takes a number from {low} to {high}, not `{text}`"))
                }
            },
        }
    }

    /// The text that follows an option. Ends the job for wrong use if there is none.
    pub fn text(&mut self) -> &'static str {
        match self.options.value() {
            Err(error) => self.refuse(&error),
            Ok(text) => text,
        }
    }

    /// Ends the job: the program has no such option or takes no such word.
    pub fn unknown(&self, argument: Argument) -> ! {
        match argument {
            Argument::Option(name) => self.refuse(&format!("unknown option --{name}")),
            Argument::Word(word) => self.refuse(&format!("unexpected argument `{word}`")),
        }
    }

    /// Ends the job for wrong use, with one line that says what is wrong and what is right.
    pub fn refuse(&self, message: &dyn Display) -> ! {
        fail(USAGE, &format!("{message} (usage: {})", self.usage))
    }
}

/// Ends the job with one line on standard error and a status, 1 to 255. All ranks must call it; node rank 0 speaks.
pub fn fail(status: i32, message: &dyn Display) -> ! {
    if job().node_rank() == NodeRank(0) {
        eprintln!("{message}");
        start::exit(status);
    }
    wait::spin_until(|| false);
    unreachable!("an endless wait has ended")
}
