//! `cargo lwk launch`: a job on nodes that are up, from its program to its status. The connection is the job's life: when this process ends, so does the job.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lwk_abi::exit::SIGNAL_BASE;
use lwk_control::Key;
use lwk_control::message::{Answer, Hello, News, Part, Request, Work};
use lwk_files::{Files, PAGE_BYTES};

use super::folder::Folder;
use super::links::{self, Line};
use super::work::PIECE;
use lwk::build::Builder;
use lwk::catalog::Named;
use lwk::cli::{LaunchOptions, RunOptions};
use lwk::console::printer::Printer;
use lwk::console::record::Parser;
use lwk::failure::{Doing, Failure, Outcome};
use lwk::files;
use lwk::image;
use lwk::nodes::first_rank;
use lwk::nodes::supervise::{Member, Plan, Said, supervise};
use lwk::progress::Step;
use lwk::report::Report;
use lwk::run::{check_program, job_of_nodes};
use lwk::strip;
use lwk::symbols::Symbols;
use lwk::tree::Tree;

/// Status of a job that was killed, as of a process by signal 9.
const KILLED: i32 = SIGNAL_BASE + 9;
/// Records that wait to be printed, at most.
const RECORDS: usize = 1024;
/// How long nodes may take from a job's program to its ranks; some boot meanwhile.
const SET_UP: Duration = Duration::from_secs(180);

/// Runs a job on nodes that are up and gives its status.
///
/// # Errors
/// Wrong use, no nodes, no free cores, the time limit, a node that is lost, or that the job was killed.
pub fn launch(tree: &Tree, options: &LaunchOptions) -> Outcome<i32> {
    let folder = Folder::find(tree, options.at.at.as_deref())?;
    if options.detach {
        refuse(options)?;
        return super::start::detach(&folder);
    }
    launch_at(tree, options, &folder.address()?, &folder.key()?, Some(&folder))
}

/// As [`launch`], on the nodes whose first listens at `address`. A launcher that was detached leaves what it prints in `folder`.
///
/// # Errors
/// As [`launch`].
pub fn launch_at(
    tree: &Tree,
    options: &LaunchOptions,
    address: &str,
    key: &Key,
    folder: Option<&Folder>,
) -> Outcome<i32> {
    refuse(options)?;
    let job = job_of_nodes(&options.job)?;
    let given = files::image(&options.job, None)?;
    options.out.as_deref().map_or(Ok(()), files::check_out)?;
    let named = Named::find(tree, &options.job.app)?;
    let program = match named {
        Named::File(path) => path,
        named => named.build(tree, &Builder::new(tree, options.built, options.verbose)?)?,
    };
    let content = image::read_program(&program)?;
    check_program(&program, &content)?;
    let content = strip::for_boot(&content);

    let (sender, receiver) = links::reach(address, key, &Hello::Launcher)?;
    let line = Line::new(sender, None);
    let shared = Arc::new(Mutex::new(Shared::default()));
    let (records, hear) = mpsc::sync_channel(RECORDS);
    let (answers, answered) = mpsc::channel();
    let end = records.clone();
    let mut reader =
        Reader { records, answers, sayer: line.sayer(), shared: shared.clone(), parsers: HashMap::new() };
    let ended = shared.clone();
    links::hear(
        receiver,
        move |answer| reader.answer(&answer),
        move |why| {
            let mut it = lock(&ended);
            it.broken = Some(why);
            let nodes = it.nodes;
            drop(it);
            // Nobody hears it only when the job is over.
            (0..nodes).for_each(|node| drop(end.send((node, None))));
        },
    );
    let mut launch = Launch { options, line, answered, shared, nodes: Vec::new() };
    let id = launch.place(&job)?;
    if options.verbose {
        tell!("lwk: job {id} is on nodes {:?}", launch.nodes);
    }
    launch.stage(&job, &content, &given)?;
    if let (Some(log), Some(folder)) = (&options.background, folder) {
        tell_parent(folder, log, id)?;
    }
    let symbols = Symbols::of_program(&program, tree.root());
    let ended = launch.run(hear, symbols, id);
    let brought_back = launch.bring_back();
    launch.finish();
    files::conclude(ended, brought_back)
}

/// Refuses what a job on nodes that are up cannot have.
fn refuse(options: &LaunchOptions) -> Outcome<()> {
    let job = &options.job;
    for (asked, option) in [(job.cores.is_some(), "--cores"), (job.bind.is_some(), "--bind")] {
        if asked {
            return Err(Failure::usage(format!(
                "{option} is for `run`; nodes that are up give a job the cores that are free"
            )));
        }
    }
    if job.workers() > 0 {
        return Err(Failure::usage("workers (--workers, or a --transport that needs them) are for `run`"));
    }
    if options.detach && options.out.is_some() {
        return Err(Failure::usage("--out is for a launcher that waits; leave it away, or --detach"));
    }
    Ok(())
}

/// What the reader of answers knows.
#[derive(Default)]
struct Shared {
    nodes: usize,
    /// Why consoles have ended that had not to.
    why: HashMap<usize, String>,
    killed: bool,
    /// The connection is at its end.
    broken: Option<String>,
}

fn lock(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands on what node 0 answers, on the thread that reads.
struct Reader {
    records: SyncSender<Said>,
    answers: mpsc::Sender<Answer>,
    sayer: mpsc::Sender<Request>,
    shared: Arc<Mutex<Shared>>,
    parsers: HashMap<u32, Parser>,
}

impl Reader {
    fn answer(&mut self, answer: &Answer) {
        match answer {
            Answer::News { node, news: News::Console(bytes) } => {
                let records = &self.records;
                // Waits until there is room: what is not printed is not taken. Nobody hears it only when the job is over.
                let parser = self.parsers.entry(*node).or_default();
                parser.feed(bytes, |record| drop(records.send((*node as usize, Some(record)))));
                let work = Work::Heard(bytes.len() as u32);
                let _ = self.sayer.send(Request::Work { node: Some(*node), work });
            }
            Answer::News { node, news: News::Closed { why } } => {
                if let Some(why) = why {
                    lock(&self.shared).why.insert(*node as usize, why.clone());
                }
                let _ = self.records.send((*node as usize, None));
            }
            Answer::Killed => lock(&self.shared).killed = true,
            Answer::Ping => {}
            Answer::Placed { nodes, .. } => {
                lock(&self.shared).nodes = nodes.len();
                let _ = self.answers.send(answer.clone());
            }
            other => drop(self.answers.send(other.clone())),
        }
    }
}

/// A job on its nodes.
struct Launch<'a> {
    options: &'a LaunchOptions,
    line: Line<Request>,
    answered: Receiver<Answer>,
    shared: Arc<Mutex<Shared>>,
    nodes: Vec<u32>,
}

impl Launch<'_> {
    fn lost(&self) -> Failure {
        let why = lock(&self.shared).broken.clone().unwrap_or_else(|| "it says nothing".into());
        Failure::host(format!("node 0 is lost, and the job with it: {why}"))
    }

    fn next(&self) -> Outcome<Answer> {
        // The reader ends when node 0 is silent.
        self.answered.recv().map_err(|_| self.lost())
    }

    /// Asks for nodes and cores; the job's id.
    fn place(&mut self, job: &lwk::job::Job) -> Outcome<u32> {
        let name = job.arguments.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        // Enough to know it by, whatever was typed.
        let name = name.chars().take(200).collect();
        self.refuse_out()?;
        let (nodes, oversubscribe) = (self.options.nodes, self.options.job.oversubscribe);
        self.line.say(Request::Launch { ranks: job.ranks, nodes, oversubscribe, name });
        match self.next()? {
            Answer::Placed { id, nodes } => {
                self.nodes = nodes;
                Ok(id)
            }
            Answer::Refused(why) => Err(Failure::usage(why)),
            other => Err(Failure::host(format!("node 0 answers {other:?}; is it of another version?"))),
        }
    }

    /// Files come back from the host home alone.
    fn refuse_out(&self) -> Outcome<()> {
        if self.options.out.is_none() {
            return Ok(());
        }
        self.line.say(Request::Nodes);
        match self.next()? {
            Answer::Nodes(nodes) if nodes.iter().any(|node| node.machine.booted) => Err(Failure::usage(
                "--out is not there yet on nodes in QEMU that stay up; use `run`, or nodes of `up --host`",
            )),
            _ => Ok(()),
        }
    }

    /// Sends what the job is made of: once, and nodes pass it on.
    fn stage(&self, job: &lwk::job::Job, program: &[u8], given: &[lwk_files::Page]) -> Outcome<()> {
        let many = if self.nodes.len() == 1 { "a node" } else { "the nodes" };
        let _step = Step::begin(format!("sending the program to {many}"), self.options.verbose);
        let file = job.encode();
        // Each node has its own number of ranks, which is the first record.
        let records = file.iter().position(|byte| *byte == 0).map_or(&[][..], |at| &file[at + 1..]);
        for (part, bytes) in
            [(Part::Records, records), (Part::Program, program), (Part::Files, given.as_flattened())]
        {
            for piece in bytes.chunks(PIECE) {
                self.all(Work::Part { part, bytes: piece.to_vec() });
            }
        }
        self.all(Work::Staged { file_space: job.file_space });
        Ok(())
    }

    fn all(&self, work: Work) {
        self.line.say(Request::Work { node: None, work });
    }

    fn run(&self, hear: Receiver<Said>, symbols: Symbols, id: u32) -> Outcome<i32> {
        let member =
            |(at, _): (usize, &u32)| Remote { at, line: self.line.sayer(), shared: self.shared.clone() };
        let mut members: Vec<Remote> = self.nodes.iter().enumerate().map(member).collect();
        let (nodes, size) = (self.nodes.len() as u32, self.options.job.ranks);
        let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
        let mut printer = Printer::new(&mut out, &mut err, self.options.tag, symbols, Symbols::none());
        let plan = Plan {
            limit: Duration::from_secs(self.options.timeout.unwrap_or(RunOptions::TIMEOUT)),
            boot_limit: SET_UP,
            gated: true,
            trouble: None,
            cut: &|| {},
            first: &|node| first_rank(node as u32, nodes, size),
        };
        let mut reports = vec![Report::default(); self.nodes.len()];
        let ended = supervise(&mut members, &hear, &mut printer, &mut reports, &plan);
        printer.finish().doing(|| "write the job's output".into())?;
        let shared = lock(&self.shared);
        if shared.killed {
            return Err(Failure { message: format!("job {id} was killed"), status: KILLED });
        }
        if shared.broken.is_some() {
            drop(shared);
            return Err(self.lost());
        }
        ended
    }

    /// Writes what the job has left under `/out`: to the folder asked for, or where it had several nodes to one of each node below that.
    fn bring_back(&self) -> Outcome<()> {
        let Some(out) = &self.options.out else { return Ok(()) };
        if lock(&self.shared).broken.is_some() {
            return Err(files::lost("node 0 is lost"));
        }
        for at in 0..self.nodes.len() {
            let folder = if self.nodes.len() == 1 { out.clone() } else { out.join(format!("node-{at}")) };
            if lock(&self.shared).why.contains_key(&at) {
                return Err(files::lost(&format!("node {at} of the job has ended before it had")));
            }
            self.fetch(at, &folder)?;
        }
        Ok(())
    }

    fn fetch(&self, at: usize, folder: &Path) -> Outcome<()> {
        let mut pages = files::OwnPages::default();
        self.line.say(Request::Work { node: Some(at as u32), work: Work::Fetch });
        loop {
            match self.next()? {
                Answer::News { node, news: News::Files(bytes) } if node as usize == at => {
                    pages.0.extend_from_slice(bytes.as_chunks::<PAGE_BYTES>().0);
                }
                Answer::News { news: News::FilesEnd, .. } => break,
                _ => {}
            }
        }
        files::check_out(folder)?;
        let opened = Files::open(&mut pages).map_err(|_| files::lost("the file system is damaged"))?;
        files::bring_back(&opened, &[files::Back::out(folder)])
    }

    /// Until nothing of the job is left, so that the next one finds its cores free.
    fn finish(self) {
        self.line.say(Request::Finish);
        while !matches!(self.answered.recv(), Ok(Answer::Done) | Err(_)) {}
    }
}

/// A node of the job, as it is supervised.
struct Remote {
    at: usize,
    line: mpsc::Sender<Request>,
    shared: Arc<Mutex<Shared>>,
}

impl Remote {
    fn tell(&self, work: Work) {
        // If the connection is gone, its reader says so.
        let _ = self.line.send(Request::Work { node: Some(self.at as u32), work });
    }
}

impl Member for Remote {
    /// It is of no use on another machine.
    fn process(&self) -> u32 {
        0
    }

    fn time_is_up(&mut self) {
        self.tell(Work::TimeIsUp);
    }

    fn begin(&mut self) -> Outcome<()> {
        self.tell(Work::Begin);
        Ok(())
    }

    fn release(&mut self) -> Outcome<()> {
        self.tell(Work::Release);
        Ok(())
    }

    fn stop(&mut self) -> Outcome<()> {
        self.tell(Work::Stop);
        Ok(())
    }

    fn link(&mut self, _: bool) -> Outcome<()> {
        Err(Failure::usage("links of nodes that are up stay so"))
    }

    fn last_words(&self) -> String {
        lock(&self.shared).why.get(&self.at).cloned().unwrap_or_else(|| " (was it killed?)".into())
    }
}

/// Says to the process that has detached this one how the job is called, and what it prints goes by that name.
fn tell_parent(folder: &Folder, log: &Path, id: u32) -> Outcome<()> {
    let then = folder.file(&format!("job-{id}.log"));
    let renamed = std::fs::rename(log, &then);
    renamed.doing(|| format!("write {}", then.display()))?;
    let line = format!("job {id}: its output goes to {}\n", then.display());
    let told = std::io::stdin().as_fd().try_clone_to_owned();
    // A parent that is gone need not know.
    let _ = told.and_then(|pipe| File::from(pipe).write_all(line.as_bytes()));
    Ok(())
}
