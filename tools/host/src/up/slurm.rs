//! `cargo lwk node` in a step of Slurm: the node of this machine, and on the first machine the launcher of the one job that the nodes come up for.
//!
//! Slurm's environment says how many nodes there are, which of them this is, and how many ranks it is to have (srun(1), "OUTPUT ENVIRONMENT VARIABLES"). When
//! the job has ended the nodes go down, and the step ends with the job's status. A step that is cancelled takes these processes along, and with them the ranks.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::mpsc;

use super::daemon;
use super::folder::Folder;
use super::launch::launch_at;
use super::start::machine;
use super::stations::usable_cores;
use lwk::cli::LaunchOptions;
use lwk::failure::{Failure, Outcome};
use lwk::packages::find_in_path;
use lwk::tree::Tree;

/// Ports that node 0 of a step listens at: the first, and how many. The kernel gives others to those who ask for none (`ip_local_port_range`).
const PORTS: (u16, u64) = (20_000, 10_000);

/// A task of a step of Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    node: u32,
    nodes: u32,
    /// Tasks of the step, which are its ranks, and the number of this one on its node.
    tasks: u32,
    local: u32,
    /// Processors of this node that are the step's.
    processors: Option<usize>,
    /// Name of the step's first node, as Slurm has it.
    first: String,
    port: u16,
}

impl Task {
    /// What Slurm's variables say, which `get` gives by name.
    fn read(get: impl Fn(&str) -> Option<String>) -> Outcome<Task> {
        let number = |name: &str| -> Outcome<u64> {
            let value = get(name).and_then(|text| text.trim().parse().ok());
            value.ok_or_else(|| {
                Failure::usage(format!(
                    "`node` is for a step of Slurm, as in `srun -N 2 cargo lwk node hello`, and there is no {name}; `up` starts nodes elsewhere"
                ))
            })
        };
        let (job, step) = (number("SLURM_JOB_ID")?, number("SLURM_STEP_ID").unwrap_or(0));
        let small = |name: &str| number(name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let (node, nodes) =
            (small("SLURM_NODEID")?, small("SLURM_STEP_NUM_NODES").or_else(|_| small("SLURM_NNODES"))?);
        let list = get("SLURM_STEP_NODELIST").or_else(|| get("SLURM_NODELIST")).unwrap_or_default();
        let first = first_of(&list).ok_or_else(|| {
            Failure::host(format!("Slurm's list of nodes is {list:?}, which has no first node"))
        })?;
        Ok(Task {
            node,
            nodes,
            tasks: small("SLURM_STEP_NUM_TASKS").or_else(|_| small("SLURM_NTASKS"))?,
            local: small("SLURM_LOCALID")?,
            processors: number("SLURM_CPUS_ON_NODE").ok().map(|count| count as usize),
            first,
            port: PORTS.0 + (job.wrapping_mul(31).wrapping_add(step) % PORTS.1) as u16,
        })
    }
}

/// The first name of a list as `n[1-3,7],m` or `n1,n2`.
fn first_of(list: &str) -> Option<String> {
    let end = list.find(['[', ',']).unwrap_or(list.len());
    let (stem, rest) = list.split_at(end);
    let number = match rest.strip_prefix('[') {
        Some(numbers) => {
            let (numbers, after) = numbers.split_once(']')?;
            let first = numbers.split(['-', ',']).next()?;
            format!("{first}{}", after.split(',').next()?)
        }
        None => String::new(),
    };
    let name = format!("{stem}{number}");
    (!name.is_empty()).then_some(name)
}

/// Where Slurm reaches a node: its configuration may know better than the names of this machine.
fn address_of(name: &str) -> String {
    let command = find_in_path("scontrol".as_ref());
    let said = command.and_then(|it| Command::new(it).args(["show", "node", "-o", name]).output().ok());
    let said = said.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let address = said.split_whitespace().find_map(|word| word.strip_prefix("NodeAddr="));
    address.unwrap_or(name).to_owned()
}

/// Runs a job on the nodes of a step and gives its status; on nodes but the first, 0 when the job is over.
///
/// # Errors
/// This is no task of Slurm, the nodes do not come together, or the job fails as `launch` does.
pub fn node(tree: &Tree, options: &LaunchOptions) -> Outcome<i32> {
    let task = Task::read(|name| std::env::var(name).ok())?;
    if options.detach {
        return Err(Failure::usage(
            "--detach is for `launch`; a step of Slurm ends with its job (sbatch leaves one)",
        ));
    }
    if task.local != 0 {
        // One task of each machine is the node; the others stand for ranks.
        return Ok(0);
    }
    let key = Folder::find(tree, options.at.at.as_deref())?.shared_key()?;
    let mut cores = usable_cores()?;
    cores.truncate(task.processors.unwrap_or(usize::MAX).max(1));
    let is_first = task.node == 0;
    let port = if is_first { task.port } else { 0 };
    let mut plan = daemon::Plan {
        node: task.node,
        nodes: task.nodes,
        listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port),
        join: None,
        machine: machine(cores, false),
        boots: None,
        key: key.clone(),
    };
    if !is_first {
        plan.join = Some(format!("{}:{}", address_of(&task.first), task.port));
        return daemon::run(&plan, |_| {}, || {}).map(|()| 0);
    }
    let (say, hear) = mpsc::channel();
    let (ready, failed) = (say.clone(), say);
    let living = std::thread::spawn(move || {
        let ended = daemon::run(&plan, |_| {}, || drop(ready.send(Ok(()))));
        // Who waits for it hears why the nodes do not come up.
        drop(failed.send(ended));
    });
    hear.recv().map_err(|_| Failure::host("node 0 has ended without a word"))??;
    let mut options = options.clone();
    if options.job.ranks == 1 {
        options.job.ranks = task.tasks.max(task.nodes);
    }
    options.nodes = Some(options.nodes.unwrap_or(task.nodes));
    let address = format!("127.0.0.1:{}", task.port);
    let ended = launch_at(tree, &options, &address, &key, None);
    let down = super::ask::down_at(&address, &key);
    // A thread that has panicked has said so.
    let _ = living.join();
    ended.and_then(|status| down.map(|()| status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_list() {
        for (list, first) in [
            ("n1", Some("n1")),
            ("n1,n2", Some("n1")),
            ("n[1-4]", Some("n1")),
            ("rack[07,09-11],m", Some("rack07")),
            ("n[1-2]-eth", Some("n1-eth")),
            ("", None),
            ("n[1", None),
        ] {
            assert_eq!(first_of(list).as_deref(), first, "{list}");
        }
    }

    #[test]
    fn without_slurm_the_missing_variable_is_named() {
        let why = Task::read(|_| None).unwrap_err().message;
        assert!(why.contains("SLURM_JOB_ID") && !why.contains('\n'), "{why}");
        let get = |name: &str| {
            let value = match name {
                "SLURM_JOB_ID" => "7",
                "SLURM_STEP_NODELIST" => "n[1-2]",
                "SLURM_NODEID" | "SLURM_LOCALID" => "1",
                "SLURM_NNODES" => "2",
                "SLURM_NTASKS" => "4",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let task = Task::read(get).unwrap();
        assert_eq!((task.node, task.nodes, task.tasks, task.port), (1, 2, 4, 20_217));
        assert_eq!(task.first, "n1");
    }
}
