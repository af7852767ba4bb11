//! The command line of `cargo lwk`.

mod job;
mod up;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::switch::command::SwitchOptions;

pub use job::*;
pub use up::*;

const STATUSES: &str = "\
Exit statuses:
  0         every rank ended with 0
  1..255    the first non-zero status of a rank
  128+N     a rank died of what is signal N on Linux (139: bad memory access)
  124       the time limit was reached
  70        the kernel panicked, or a node died without a word or is lost
  69        the host lacks something: a missing tool, a failing build, a full disk
  2         wrong use, or bad input: no such program, not a static ELF file, ...";

/// Builds, boots, runs, tests and measures Margay, a lightweight compute-node kernel.
#[derive(Debug, Parser)]
#[command(name = "cargo lwk", bin_name = "cargo lwk", version, after_help = STATUSES, subcommand_required = true)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a parallel job on a node in QEMU, or on this machine, and end with its status
    ///
    /// Builds what has changed, makes a disk image, boots it and shows what the ranks print. Standard output and
    /// standard error of the ranks are those of this command; messages of the kernel and failure reports go to standard
    /// error.
    #[command(after_help = STATUSES)]
    Run(Box<RunOptions>),
    #[command(flatten)]
    Stays(StaysCommand),
    /// List the bundled programs
    List,
    /// Compile a C program against mpi.h into a static program: takes what an mpicc takes
    ///
    /// `--libc musl` links musl's C library instead of glibc's. `install` lays the same compilers in a folder, for Makefiles, CMake and
    /// configure scripts.
    #[command(disable_help_flag = true)]
    Cc(Words),
    /// Compile a C++ program, as cc does
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Words),
    /// Compile a Fortran program, as cc does
    #[command(disable_help_flag = true)]
    Fc(Words),
    /// Write a disk image that boots on a real UEFI machine from a USB stick
    Image(Box<ImageOptions>),
    /// Join nodes and switches of several machines by an Ethernet switch, until it is interrupted
    ///
    /// `run --nodes` has a switch of its own; `--uplink` joins that with this one.
    Switch(SwitchOptions),
    /// Lay all that is needed to compile and run programs in a folder, for use from anywhere without this tree
    ///
    /// DIR/bin gets mpicc, mpicxx, mpifort, oshcc, oshc++, oshfort, mpiexec, mpirun, oshrun and margay; beside it go headers, libraries,
    /// kernel, boot loader, bundled programs, manual pages, completions for shells, and files for pkg-config.
    Install(InstallOptions),
    /// Run all tests: those of the host crates, and those that boot a node
    ///
    /// The last line counts them; the status is 0 if none failed, else 1.
    #[command(disable_help_flag = true)]
    Test(Words),
    /// Write docs/mpi-scoreboard.md: every function of MPI, and how far it is
    #[command(disable_help_flag = true)]
    Scoreboard(Words),
    /// Measure, and print beside the targets
    #[command(disable_help_flag = true)]
    Bench(Words),
    /// Check formatting, and run clippy with warnings as errors on everything
    #[command(disable_help_flag = true)]
    Lint(Words),
    /// Build the reference of all crates, private items included, and take warnings for errors
    #[command(disable_help_flag = true)]
    Doc(Words),
}

/// Commands about nodes that stay up.
#[derive(Debug, Subcommand)]
pub enum StaysCommand {
    /// Start nodes that stay up, for one job after another by `launch`
    Up(UpOptions),
    /// Run a parallel job on nodes that are up, and end with its status
    ///
    /// Program, arguments, environment and files go to the nodes, and what the ranks print comes back. When this command ends, so does the job;
    /// --detach leaves it.
    #[command(after_help = STATUSES)]
    Launch(Box<LaunchOptions>),
    /// List the jobs on nodes that are up
    Ps(AtOptions),
    /// List nodes that are up
    Nodes(AtOptions),
    /// End a job on nodes that are up
    Kill {
        #[command(flatten)]
        at: AtOptions,
        /// Its number, as `ps` has it
        #[arg(value_name = "JOB")]
        job: u32,
    },
    /// End all jobs and all nodes that are up
    Down(AtOptions),
    /// In a step of Slurm: be the node of this machine, run a job on all of them, and end with its status
    ///
    /// As in `srun -N 2 -n 4 cargo lwk node hello`: the ranks are Slurm's tasks, unless -n says otherwise. One task of each machine is its node; the others
    /// end at once. The folder of the key (--at) is one that the machines share.
    Node(Box<LaunchOptions>),
    /// A node that stays up, as `up` starts it
    #[command(hide = true)]
    Stay(StayOptions),
}

/// `margay`: what an installation has of `cargo lwk`.
#[derive(Debug, Parser)]
#[command(name = "margay", version, after_help = STATUSES, subcommand_required = true)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Margay {
    #[command(subcommand)]
    pub command: MargayCommand,
}

/// The commands of [`Margay`], each as in [`Command`].
#[derive(Debug, Subcommand)]
pub enum MargayCommand {
    /// Run a parallel job on a node in QEMU, or on this machine, and end with its status
    ///
    /// Makes a disk image, boots it and shows what the ranks print. Standard output and standard error of the ranks are those of this
    /// command; messages of the kernel and failure reports go to standard error. `mpiexec` is for programs that are used as with other MPIs.
    #[command(after_help = STATUSES)]
    Run(Box<RunOptions>),
    #[command(flatten)]
    Stays(StaysCommand),
    /// List the bundled programs
    List,
    /// Compile a C program against mpi.h, as mpicc does
    #[command(disable_help_flag = true)]
    Cc(Words),
    /// Compile a C++ program, as mpicxx does
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Words),
    /// Compile a Fortran program, as mpifort does
    #[command(disable_help_flag = true)]
    Fc(Words),
    /// Write a disk image that boots on a real UEFI machine from a USB stick
    Image(Box<ImageOptions>),
}

impl From<MargayCommand> for Command {
    fn from(command: MargayCommand) -> Command {
        match command {
            MargayCommand::Run(options) => Command::Run(options),
            MargayCommand::Stays(command) => Command::Stays(command),
            MargayCommand::List => Command::List,
            MargayCommand::Cc(options) => Command::Cc(options),
            MargayCommand::Cxx(options) => Command::Cxx(options),
            MargayCommand::Fc(options) => Command::Fc(options),
            MargayCommand::Image(options) => Command::Image(options),
        }
    }
}

#[derive(Clone, Debug, Args)]
pub struct InstallOptions {
    /// Folder of the installation; made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Install this very command, as it was built, for tests
    #[arg(long, hide = true)]
    pub own: bool,
    /// Print how long each step takes
    #[arg(short, long)]
    pub verbose: bool,
}

/// How `mpiexec` starts a job, beyond what `run` has options for: without a time limit, and with standard input for rank 0.
#[derive(Clone, Debug, Default)]
pub struct Launched {
    /// The program's name for itself; that of its file, if none.
    pub name: Option<OsString>,
    /// By its file, without `mpiexec`.
    pub alone: bool,
}

/// Words for another program: a compiler, or one of this command's own parts.
#[derive(Clone, Debug, Args)]
pub struct Words {
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub words: Vec<OsString>,
}

/// The words of a command line as clap takes them: a folder behind `--cwd` belongs to it, anything else does not.
pub fn words(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut own = true;
    for word in words {
        match all.last_mut() {
            Some(last) if own && last == "--cwd" && std::path::Path::new(&word).is_dir() => {
                last.push("=");
                last.push(word);
            }
            _ => {
                own &= word != "--";
                all.push(word);
            }
        }
    }
    all
}

/// The first sentence of clap's message to a user of `command`, as one line.
pub fn one_line(error: &clap::Error, command: &str) -> String {
    let text = error.to_string();
    let words = text.lines().take_while(|line| !line.trim().is_empty()).flat_map(str::split_whitespace);
    let line = words.collect::<Vec<_>>().join(" ");
    format!("{}; `{command} --help` tells more", line.trim_start_matches("error: "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn wrong_use_is_told_in_one_line() {
        for words in
            [&["run"][..], &["run", "-n", "x", "hello"], &["jump"], &["run", "hello", "--accel", "xen"]]
        {
            let error = Cli::try_parse_from([&["lwk"], words].concat()).unwrap_err();
            let line = one_line(&error, "cargo lwk");
            assert!(!line.contains('\n') && line.len() > 40, "{line}");
        }
    }

    #[test]
    fn a_folder_behind_cwd_is_its_own() {
        let line = |text: &str| words(text.split(' ').map(Into::into)).join(std::ffi::OsStr::new(" "));
        assert_eq!(line("run --cwd / hello"), "run --cwd=/ hello");
        assert_eq!(line("run --cwd hello -- --cwd /"), "run --cwd hello -- --cwd /");
        assert_eq!(line("run --cwd"), "run --cwd");
    }

    #[test]
    fn what_follows_two_dashes_is_the_programs() {
        let cli = Cli::try_parse_from(["lwk", "run", "-n", "4", "ring", "--", "-n", "--x"]).unwrap();
        let Command::Run(options) = cli.command else { panic!("not run") };
        assert_eq!((options.job.ranks, options.job.app.as_str()), (4, "ring"));
        assert_eq!(options.job.args, ["-n", "--x"]);
    }
}
