//! `ps`, `nodes`, `kill` and `down`: one question to node 0 each.

use std::fmt::Write;

use lwk_control::Key;
use lwk_control::message::{Answer, Hello, JobLine, NodeLine, Request};

use super::folder::Folder;
use super::links;
use lwk::cli::AtOptions;
use lwk::failure::{Failure, Outcome};
use lwk::tree::Tree;

/// Asks node 0, and waits for its answer.
fn ask(folder: &Folder, request: &Request) -> Outcome<Answer> {
    ask_at(&folder.address()?, &folder.key()?, request)
}

fn ask_at(address: &str, key: &Key, request: &Request) -> Outcome<Answer> {
    let (mut sender, mut receiver) = links::reach(address, key, &Hello::Launcher)?;
    let lost = |why| Failure::host(format!("the node at {address} is lost: {why}"));
    sender.send(request).map_err(lost)?;
    loop {
        match receiver.receive().map_err(lost)? {
            Answer::Ping => {}
            Answer::Refused(why) => return Err(Failure::usage(why)),
            answer => return Ok(answer),
        }
    }
}

fn strange(answer: &Answer) -> Failure {
    Failure::host(format!(
        "node 0 answers {answer:?}; is it of another version? take the nodes down and up again"
    ))
}

/// `cargo lwk ps`.
///
/// # Errors
/// No nodes are up, or they have another key.
pub fn jobs(tree: &Tree, options: &AtOptions) -> Outcome<i32> {
    match ask(&Folder::find(tree, options.at.as_deref())?, &Request::Jobs)? {
        Answer::Jobs(jobs) => {
            show!("{}", table_of_jobs(&jobs).trim_end());
            Ok(0)
        }
        other => Err(strange(&other)),
    }
}

/// `cargo lwk nodes`.
///
/// # Errors
/// As [`jobs`].
pub fn nodes(tree: &Tree, options: &AtOptions) -> Outcome<i32> {
    show!("{}", table_of_nodes(&nodes_of(&Folder::find(tree, options.at.as_deref())?)?).trim_end());
    Ok(0)
}

/// The nodes whose key and address are in this folder. Errors: as [`jobs`].
pub fn nodes_of(folder: &Folder) -> Outcome<Vec<NodeLine>> {
    match ask(folder, &Request::Nodes)? {
        Answer::Nodes(nodes) => Ok(nodes),
        other => Err(strange(&other)),
    }
}

/// `cargo lwk kill`.
///
/// # Errors
/// As [`jobs`], or there is no such job.
pub fn kill(tree: &Tree, options: &AtOptions, id: u32) -> Outcome<i32> {
    match ask(&Folder::find(tree, options.at.as_deref())?, &Request::Kill { id }) {
        Ok(Answer::Done) => Ok(0),
        Ok(other) => Err(strange(&other)),
        Err(failure) if failure.message.starts_with("there is no job") => {
            Err(Failure::usage(format!("{}; `{} ps` lists those under way", failure.message, tree.command())))
        }
        Err(failure) => Err(failure),
    }
}

/// `cargo lwk down`.
///
/// # Errors
/// As [`jobs`].
pub fn down(tree: &Tree, options: &AtOptions) -> Outcome<i32> {
    let folder = Folder::find(tree, options.at.as_deref())?;
    let answer = match ask(&folder, &Request::Down) {
        Ok(Answer::Done) => Ok(0),
        Ok(other) => Err(strange(&other)),
        Err(failure) if failure.message.contains("nobody listens") => {
            folder.clear();
            Err(Failure::host("the nodes have gone already; they are forgotten now"))
        }
        Err(failure) => Err(failure),
    };
    if answer.is_ok() {
        folder.clear();
    }
    answer
}

/// Ends the nodes whose first listens at `address`. Errors: they have another key, or do not end.
pub fn down_at(address: &str, key: &Key) -> Outcome<()> {
    match ask_at(address, key, &Request::Down)? {
        Answer::Done => Ok(()),
        other => Err(strange(&other)),
    }
}

fn numbers(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    if words.is_empty() { "-".into() } else { words.join(",") }
}

fn table_of_jobs(jobs: &[JobLine]) -> String {
    let mut text = String::from("  job  ranks  seconds  nodes       program\n");
    for JobLine { id, ranks, nodes, seconds, name } in jobs {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{id:5}  {ranks:5}  {seconds:7}  {:10}  {name}", numbers(nodes));
    }
    text
}

fn table_of_nodes(nodes: &[NodeLine]) -> String {
    let mut text = String::from(" node  cores  free  jobs        process  machine\n");
    for NodeLine { node, machine, free, jobs, lost } in nodes {
        let cores = machine.cores.len();
        let lost = lost.as_ref().map_or(String::new(), |why| format!("  lost: {why}"));
        let (process, name) = (machine.process, &machine.name);
        let kind = if machine.booted { ", in QEMU" } else { "" };
        let _ = writeln!(
            text,
            "{node:5}  {cores:5}  {free:4}  {:10}  {process:7}  {name}{kind}{lost}",
            numbers(jobs)
        );
    }
    text
}
