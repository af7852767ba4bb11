//! The jobs of one node: each is a fresh node of the host home or a machine in QEMU, and what it needs. When a job is dropped, nothing of it is left in this process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lwk_control::message::{News, Part, Work};
use lwk_files::{PAGE_BYTES, Page, Pages};
use lwk_home::{Home, Plug, Sockets, Surroundings, Tools, Volume};
use lwk_job::Writer;
use rustix::fs::{MemfdFlags, memfd_create};

use super::body::Body;
use super::booted::{Booted, Boots, Load};
use lwk::nodes::ranks_of;

/// Bytes of a console that are under way to the launcher at most: a rank whose launcher does not read waits.
const WINDOW: usize = 256 << 10;
/// Bytes that are sent at a time.
pub const PIECE: usize = 16 << 10;
/// How long the processes of a job that was stopped have to end by themselves.
const GRACE: Duration = Duration::from_secs(5);

/// What the jobs of a node say, to its main loop.
#[derive(Debug)]
pub enum Said {
    Bytes(Vec<u8>),
    End,
}

/// How a job is heard: by its id.
pub type Hear = Arc<dyn Fn(u32, Said) + Send + Sync>;

/// The jobs of this node.
pub struct Jobs {
    all: BTreeMap<u32, Here>,
    hear: Hear,
    /// What boots jobs, if they are to be.
    boots: Option<Boots>,
    /// Frames come in here, and go to node 0's machine there.
    ip: IpAddr,
    first_ip: IpAddr,
}

/// A job on this node.
struct Here {
    stage: Stage,
    records: Vec<u8>,
    program: File,
    files: Vec<u8>,
    socket: Option<UdpSocket>,
    volume: Option<Volume>,
    body: Option<Body>,
    credit: Arc<Credit>,
    /// When its processes were told to end.
    stopped: Option<Instant>,
    closed: bool,
    dropping: bool,
}

/// The node's part of a job.
struct Stage {
    ranks: u32,
    node: u32,
    nodes: u32,
    wire: u64,
    cores: Vec<u16>,
}

/// How many bytes of a console may be read now.
struct Credit {
    bytes: Mutex<usize>,
    more: Condvar,
}

impl Credit {
    fn add(&self, bytes: usize) {
        let mut left = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_add(bytes);
        self.more.notify_one();
    }

    /// Waits until something may be read; how much, up to `most`.
    fn wait(&self, most: usize) -> usize {
        let left = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.more.wait_while(left, |left| *left == 0).unwrap_or_else(PoisonError::into_inner);
        most.min(*left)
    }

    fn take(&self, bytes: usize) {
        let mut left = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(bytes);
    }
}

impl Jobs {
    /// None yet, on a node with this address, where node 0's machine has that one.
    pub fn new(ip: IpAddr, first_ip: IpAddr, boots: Option<Boots>, hear: Hear) -> Jobs {
        Jobs { all: BTreeMap::new(), hear, boots, ip, first_ip }
    }

    /// Whether nothing of any job is here.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Does something for a job; what there is to say of it. What fails ends the job's part here.
    pub fn work(&mut self, id: u32, work: Work) -> Vec<News> {
        if let Work::Stage { ranks, node, nodes, wire, cores } = work {
            return match Here::new(Stage { ranks, node, nodes, wire, cores }) {
                Ok(here) => {
                    self.all.insert(id, here);
                    Vec::new()
                }
                // It is unknown from here on; what is said of it meets nobody.
                Err(error) => vec![closed(&error), News::Dropped],
            };
        }
        let Some(here) = self.all.get_mut(&id) else { return Vec::new() };
        let (ip, first_ip, hear, boots) = (self.ip, self.first_ip, &self.hear, self.boots.as_ref());
        let worked = match work {
            Work::Stage { .. } => Ok(Vec::new()),
            Work::Part { part, bytes } => here.add(part, &bytes).map(|()| Vec::new()),
            Work::Staged { file_space } => {
                here.bind(ip, file_space, boots).map(|port| vec![News::Bound { port }])
            }
            Work::Wire(addresses) => here.start(id, &addresses, first_ip, boots, hear).map(|()| Vec::new()),
            Work::Begin => here.body.as_mut().map_or(Ok(()), Body::begin).map(|()| Vec::new()),
            Work::TimeIsUp => {
                here.body.iter_mut().for_each(Body::time_is_up);
                Ok(Vec::new())
            }
            Work::Release => {
                here.body.iter_mut().for_each(Body::release);
                Ok(Vec::new())
            }
            Work::Stop => Ok(here.stop()),
            Work::Heard(bytes) => {
                here.credit.add(bytes as usize);
                Ok(Vec::new())
            }
            Work::Fetch => Ok(here.pages()),
            Work::Drop => {
                here.dropping = true;
                here.credit.add(usize::MAX);
                here.stop();
                Ok(Vec::new())
            }
        };
        let mut news = worked.unwrap_or_else(|error| here.fail(&error));
        if here.dropping && here.body.is_none() {
            self.all.remove(&id);
            news.push(News::Dropped);
        }
        news
    }

    /// What a job's console has said; what there is to tell of it.
    pub fn heard(&mut self, id: u32, said: Said) -> Vec<News> {
        let Some(here) = self.all.get_mut(&id) else { return Vec::new() };
        match said {
            Said::Bytes(bytes) if here.dropping => {
                drop(bytes);
                Vec::new()
            }
            Said::Bytes(bytes) => vec![News::Console(bytes)],
            Said::End => {
                // It has closed its console at its end, or was killed: there is nothing to wait long for.
                let why = here.body.take().and_then(Body::last_words);
                let mut news = here.close(why);
                if here.dropping {
                    self.all.remove(&id);
                    news.push(News::Dropped);
                }
                news
            }
        }
    }

    /// Nothing of any job may stay.
    pub fn drop_all(&mut self) -> Vec<(u32, News)> {
        let ids: Vec<u32> = self.all.keys().copied().collect();
        ids.into_iter()
            .flat_map(|id| self.work(id, Work::Drop).into_iter().map(move |news| (id, news)))
            .collect()
    }

    /// Kills what was told to end and has not.
    pub fn tick(&mut self) {
        for here in self.all.values_mut() {
            if here.stopped.is_some_and(|since| since.elapsed() > GRACE) {
                here.body.iter_mut().for_each(Body::kill);
            }
        }
    }
}

fn closed(error: &std::io::Error) -> News {
    News::Closed { why: Some(format!(" (its node cannot set it up: {error})")) }
}

impl Here {
    fn new(stage: Stage) -> std::io::Result<Here> {
        let program = memfd_create("margay-program", MemfdFlags::CLOEXEC)?;
        Ok(Here {
            stage,
            records: Vec::new(),
            program: program.into(),
            files: Vec::new(),
            socket: None,
            volume: None,
            body: None,
            credit: Arc::new(Credit { bytes: Mutex::new(WINDOW), more: Condvar::new() }),
            stopped: None,
            closed: false,
            dropping: false,
        })
    }

    fn add(&mut self, part: Part, bytes: &[u8]) -> std::io::Result<()> {
        match part {
            Part::Records => self.records.extend_from_slice(bytes),
            Part::Program => self.program.write_all(bytes)?,
            Part::Files => self.files.extend_from_slice(bytes),
        }
        Ok(())
    }

    /// Makes the file system, unless a kernel of its own will, and the socket for frames; its port.
    fn bind(&mut self, ip: IpAddr, file_space: Option<u64>, boots: Option<&Boots>) -> std::io::Result<u16> {
        if boots.is_none() {
            let image: Vec<Page> = self.files.as_chunks::<PAGE_BYTES>().0.to_vec();
            self.files = Vec::new();
            self.volume = Some(Volume::with_image(&image, file_space)?);
        }
        let socket = UdpSocket::bind((ip, 0))?;
        let port = socket.local_addr()?.port();
        self.socket = Some(socket);
        Ok(port)
    }

    /// Starts the node's process: it sets the ranks up, says so, and waits.
    fn start(
        &mut self,
        id: u32,
        addresses: &[SocketAddr],
        first_ip: IpAddr,
        boots: Option<&Boots>,
        hear: &Hear,
    ) -> std::io::Result<()> {
        let Some(socket) = self.socket.take() else { return Ok(()) };
        let known = |address: &SocketAddr| match address.ip().is_unspecified() {
            true => SocketAddr::new(first_ip, address.port()),
            false => *address,
        };
        let addresses: Vec<SocketAddr> = addresses.iter().map(known).collect();
        let (body, console) = match boots {
            Some(boots) => {
                let booted = self.boot(boots, id, socket, addresses)?;
                let console = booted.console()?;
                (Body::Booted(Box::new(booted)), console)
            }
            None => {
                let mut home = self.start_home(socket, &addresses)?;
                let console = home.console().try_clone()?;
                (Body::Home(home), console)
            }
        };
        let (credit, hear) = (self.credit.clone(), hear.clone());
        std::thread::spawn(move || listen(console, &credit, &|said| hear(id, said)));
        self.body = Some(body);
        Ok(())
    }

    fn boot(
        &mut self,
        boots: &Boots,
        id: u32,
        socket: UdpSocket,
        addresses: Vec<SocketAddr>,
    ) -> std::io::Result<Booted> {
        let Stage { ranks: size, node, nodes, wire, ref cores } = self.stage;
        let load = Load {
            place: lwk_job::Network { node, nodes, size, job: wire },
            ranks: ranks_of(node, nodes, size),
            cores,
            records: &self.records,
            program: std::fs::read(self.program_path())?,
            files: std::mem::take(&mut self.files),
        };
        boots.boot(id, load, socket, addresses).map_err(|failure| std::io::Error::other(failure.message))
    }

    /// Where this process and those it starts find the program.
    fn program_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.program.as_raw_fd()))
    }

    fn start_home(&mut self, socket: UdpSocket, addresses: &[SocketAddr]) -> std::io::Result<Home> {
        let Stage { ranks, node, nodes, wire, ref cores } = self.stage;
        let mut job = Vec::new();
        let mut writer = Writer::new(&mut job, ranks_of(node, nodes, ranks), None);
        if nodes > 1 {
            writer.network(&lwk_job::Network { node, nodes, size: ranks, job: wire });
        }
        job.append(&mut self.records);
        let volume = self.volume.as_ref().ok_or(std::io::ErrorKind::InvalidInput)?;
        let plug = if nodes > 1 { Some(Plug::Sockets(Sockets::new(socket, addresses)?)) } else { None };
        let tools = Tools { plug, cores: Some(cores.clone()), gated: true, ..Tools::default() };
        Home::start(&self.program_path(), &job, &tools, volume, &Surroundings::default())
    }

    /// Has its processes end; what there is to say if there are none.
    fn stop(&mut self) -> Vec<News> {
        match &mut self.body {
            Some(body) => {
                body.stop();
                self.stopped.get_or_insert_with(Instant::now);
                Vec::new()
            }
            None => self.close(None),
        }
    }

    fn close(&mut self, why: Option<String>) -> Vec<News> {
        if std::mem::replace(&mut self.closed, true) { Vec::new() } else { vec![News::Closed { why }] }
    }

    fn fail(&mut self, error: &std::io::Error) -> Vec<News> {
        let why = format!(" (its node cannot set it up: {error})");
        if self.body.is_some() { self.stop() } else { self.close(Some(why)) }
    }

    /// The pages of the file system, in pieces.
    fn pages(&self) -> Vec<News> {
        let mut news = Vec::new();
        if let Some(volume) = self.volume.as_ref().filter(|_| self.body.is_none()) {
            volume.release_lock();
            volume.with_pages(|pages| {
                let all: Vec<u32> = (0..pages.count()).collect();
                for some in all.chunks(PIECE / PAGE_BYTES) {
                    news.push(News::Files(some.iter().flat_map(|at| *pages.page(*at)).collect()));
                }
            });
        }
        news.push(News::FilesEnd);
        news
    }
}

/// Hands on what a node's console says, as fast as it is taken, until its end.
fn listen(mut console: UnixStream, credit: &Credit, say: &dyn Fn(Said)) {
    let mut bytes = [0; PIECE];
    loop {
        let most = credit.wait(bytes.len());
        match console.read(&mut bytes[..most]) {
            // A node that was killed with bytes unread on its side resets its console.
            Ok(0) => break,
            Ok(length) => {
                credit.take(length);
                say(Said::Bytes(bytes[..length].to_vec()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    say(Said::End);
}
