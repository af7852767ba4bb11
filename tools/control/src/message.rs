//! What is said between launchers and node 0, and along the tree of nodes.
//!
//! Nodes are numbered from 0 as they stand in the tree: node `n` has nodes `2n + 1` and `2n + 2` below it. The nodes of a job have numbers of their
//! own, from 0 in the same order. A job has an `id`, from 1.

use std::net::SocketAddr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::broken::Broken;

/// The bytes of a message.
///
/// # Errors
/// None that a message of this module could cause.
pub fn encode<M: Serialize>(message: &M) -> Result<Vec<u8>, Broken> {
    postcard::to_stdvec(message).map_err(|_| Broken::TooLong)
}

/// The message of these bytes.
///
/// # Errors
/// They are none, or more.
pub fn parse<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, Broken> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        _ => Err(Broken::Unknown),
    }
}

/// The first message of a connection: who has connected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Hello {
    /// Somebody who asks node 0 for something.
    Launcher,
    /// A node that node 0 waits for.
    Join { node: u32, nodes: u32, listens: u16, machine: Machine },
    /// A node, to the one above it.
    Link { node: u32 },
}

/// What a node says of its machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    pub name: String,
    pub process: u32,
    /// Cores for ranks, by Linux's numbers.
    pub cores: Vec<u16>,
    /// Jobs boot there, in QEMU.
    pub booted: bool,
}

/// What a launcher asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// A job; answered by [`Answer::Placed`]. It ends with the connection.
    Launch {
        ranks: u32,
        nodes: Option<u32>,
        oversubscribe: bool,
        name: String,
    },
    /// For the job of this connection: to one of its nodes, or to all.
    Work {
        node: Option<u32>,
        work: Work,
    },
    /// The job is over; answered by [`Answer::Done`] when nothing is left of it.
    Finish,
    Jobs,
    Nodes,
    Kill {
        id: u32,
    },
    /// All jobs and all nodes end; answered by [`Answer::Done`].
    Down,
}

/// What node 0 answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Why it cannot be, and what to do.
    Refused(String),
    /// The job's id and the nodes that it gets.
    Placed {
        id: u32,
        nodes: Vec<u32>,
    },
    /// Of a node of the job of this connection.
    News {
        node: u32,
        news: News,
    },
    /// Somebody has asked for the job's end.
    Killed,
    Jobs(Vec<JobLine>),
    Nodes(Vec<NodeLine>),
    Done,
    /// Node 0 is still there.
    Ping,
}

/// A job under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobLine {
    pub id: u32,
    pub ranks: u32,
    pub nodes: Vec<u32>,
    pub seconds: u64,
    pub name: String,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLine {
    pub node: u32,
    pub machine: Machine,
    pub free: u32,
    /// Jobs that have ranks there.
    pub jobs: Vec<u32>,
    /// Why it is lost, if it is.
    pub lost: Option<String>,
}

/// To a node below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Where the nodes listen, by number; what has no address is on node 0's machine as the reader knows it.
    Table(Vec<SocketAddr>),
    /// For a job: to one node, or to all that it has.
    Work {
        id: u32,
        to: Option<u32>,
        work: Work,
    },
    Down,
    Ping,
}

/// To the node above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// A node, and all below it, is linked.
    Ready {
        node: u32,
    },
    News {
        id: u32,
        node: u32,
        news: News,
    },
    /// A node, and with it those below it, is gone.
    Lost {
        node: u32,
        why: String,
    },
    Ping,
}

/// What is sent before a job begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// The job file but for its first record, the number of ranks, and the node's place.
    Records,
    Program,
    /// The image of the file system.
    Files,
}

/// What a node is to do for a job. Launchers may ask for what [`Work::is_launchers`] says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Expect a job: its ranks on all nodes, this node's number in it and the number of its nodes, its number in frames, cores.
    Stage {
        ranks: u32,
        node: u32,
        nodes: u32,
        wire: u64,
        cores: Vec<u16>,
    },
    Part {
        part: Part,
        bytes: Vec<u8>,
    },
    /// All parts have come: make ready for frames ([`News::Bound`]).
    Staged {
        file_space: Option<u64>,
    },
    /// Where the job's nodes take frames, by their number in it: set the ranks up, and say so on the console.
    Wire(Vec<SocketAddr>),
    /// The ranks of all nodes are set up: begin.
    Begin,
    TimeIsUp,
    /// The ranks of all nodes have ended.
    Release,
    Stop,
    /// So many bytes of the console have been taken.
    Heard(u32),
    /// Send the pages of the file system ([`News::Files`]).
    Fetch,
    /// Nothing of the job may stay.
    Drop,
}

impl Work {
    /// Whether a launcher may ask for it; the rest is node 0's.
    pub fn is_launchers(&self) -> bool {
        !matches!(self, Work::Stage { .. } | Work::Wire(_) | Work::Drop)
    }
}

/// What a node has to say of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum News {
    /// Frames are taken at this port.
    Bound {
        port: u16,
    },
    Console(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The console has ended; why, if it had not to.
    Closed {
        why: Option<String>,
    },
    Files(#[serde(with = "serde_bytes")] Vec<u8>),
    FilesEnd,
    /// Nothing of the job is left.
    Dropped,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_behind_a_message_are_an_error() {
        let request =
            Request::Launch { ranks: 4, nodes: Some(2), oversubscribe: false, name: "hello".into() };
        let mut bytes = encode(&request).unwrap();
        assert_eq!(parse::<Request>(&bytes).unwrap(), request);
        for cut in 0..bytes.len() {
            assert!(parse::<Request>(&bytes[..cut]).is_err());
        }
        bytes.push(0);
        assert!(parse::<Request>(&bytes).is_err());
    }
}
