//! Where nodes are to be: on this machine, or on those that a file names.

use std::path::Path;

use lwk::cli::UpOptions;
use lwk::failure::{Doing, Failure, Outcome};

/// Most nodes.
const NODES_MAX: usize = 1024;

/// Where a node is to be, and with which cores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Station {
    Here(Vec<u16>),
    /// By ssh; so many cores of that machine, or all.
    There {
        host: String,
        cores: Option<usize>,
    },
}

impl Station {
    /// Where others reach a node that listens at `address` of its own machine.
    pub fn address(&self, address: &str) -> String {
        match self {
            Station::Here(_) => address.to_owned(),
            Station::There { host, .. } => {
                let port = address.rsplit(':').next().unwrap_or_default();
                // ssh's name for the user there is none of the machine's.
                format!("{}:{port}", host.rsplit('@').next().unwrap_or(host))
            }
        }
    }
}

/// The machines that a file names, one a line, each perhaps with a number of cores.
pub fn stations_of(file: &Path) -> Outcome<Vec<Station>> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("--hosts {}: {error}", file.display())))?;
    parse_hosts(&text).map_err(|why| Failure::usage(format!("--hosts {}: {why}", file.display())))
}

fn parse_hosts(text: &str) -> Result<Vec<Station>, String> {
    let mut stations = Vec::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(host) = words.next() else { continue };
        let cores: Option<usize> = match words.next().map(str::parse) {
            None => None,
            Some(Ok(cores)) if cores > 0 && words.next().is_none() => Some(cores),
            _ => {
                return Err(format!(
                    "a line is a machine's name and perhaps a number of its cores, not {line:?}"
                ));
            }
        };
        // What ssh would take for an option is no machine.
        if host.starts_with('-') {
            return Err(format!("{host:?} is no machine's name"));
        }
        stations.push(Station::There { host: host.to_owned(), cores });
    }
    match stations.len() {
        0 => Err("it names no machine".into()),
        1..=NODES_MAX => Ok(stations),
        more => Err(format!("it names {more} machines; {NODES_MAX} is the most")),
    }
}

/// The nodes on this machine.
pub fn stations_here(options: &UpOptions) -> Outcome<Vec<Station>> {
    let cores = usable_cores()?;
    let nodes = options.nodes as usize;
    let each = options.cores.map_or((cores.len() / nodes).max(1), |cores| cores as usize);
    let there = cores.len();
    let most = if options.oversubscribe { there } else { there / nodes };
    if each > most {
        let hint = if options.oversubscribe { "" } else { ", or let nodes share cores with --oversubscribe" };
        return Err(Failure::usage(format!(
            "{nodes} nodes with {each} cores each do not fit on the {there} cores here; ask for fewer{hint}"
        )));
    }
    let core = |at: usize| cores[at % there];
    let cores = |node: usize| Station::Here((node * each..(node + 1) * each).map(core).collect());
    Ok((0..nodes).map(cores).collect())
}

/// The cores that this process may use, by Linux's numbers.
pub fn usable_cores() -> Outcome<Vec<u16>> {
    let usable = lwk_home::usable_cores().doing(|| "list the cores".into())?;
    Ok(usable.iter().filter_map(|core| u16::try_from(*core).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_read_from_a_file() {
        let there = |host: &str, cores| Station::There { host: host.into(), cores };
        let text = "# mine\na 4\n\nme@b.example  # the other\n";
        assert_eq!(parse_hosts(text).unwrap(), [there("a", Some(4)), there("me@b.example", None)]);
        assert_eq!(there("me@b", None).address("0.0.0.0:77"), "b:77");
        for wrong in ["", "# none", "a 0", "a b", "a 1 2", "-oProxyCommand=x"] {
            let why = parse_hosts(wrong).unwrap_err();
            assert!(!why.contains('\n') && why.len() > 15, "{why}");
        }
    }
}
