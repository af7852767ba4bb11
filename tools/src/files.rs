//! Files of a job: those it is given (`--file`, and on a node `--cwd`), as the image of a file system (crate `lwk-files`), and those it has
//! left under `/out`, written to a folder (`--out`), or has changed in its current folder (`--cwd`).
//!
//! Nothing is written outside of these folders, whatever names and links the job has left: a symbolic link comes back as one if it leads to
//! a place in the same folder, and is an error else; nothing is ever written through a link. Further names of a file come back as copies.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use lwk_files::{Errno, Files, Kind, NodeId, PAGE_BYTES, Page, Pages, components};

use crate::cli::JobOptions;
use crate::failure::{Doing, Failure, Outcome};

/// Where a job leaves what shall come back.
const OUT: &[u8] = b"/out";
/// Most folders below each other; a damaged image could have more.
const DEPTH_MAX: usize = 512;
/// Permission bits of what a job is given.
const FILE_MODE: u16 = 0o644;
const FOLDER_MODE: u16 = 0o755;

/// Pages in this process's memory, as many as there is memory for.
#[derive(Debug, Default)]
pub struct OwnPages(pub Vec<Page>);

impl Pages for OwnPages {
    fn count(&self) -> u32 {
        self.0.len() as u32
    }

    fn limit(&self) -> u32 {
        u32::MAX
    }

    fn grow(&mut self) -> bool {
        let grows = self.0.len() < u32::MAX as usize;
        if grows {
            self.0.push([0; PAGE_BYTES]);
        }
        grows
    }

    fn page(&self, index: u32) -> &Page {
        &self.0[index as usize]
    }

    fn page_mut(&mut self, index: u32) -> &mut Page {
        &mut self.0[index as usize]
    }
}

/// One `--file`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    local: PathBuf,
    /// Its path on the node, absolute or from the root.
    name: String,
}

impl Given {
    /// Reads `LOCAL` or `LOCAL=NAME`; a local file of that whole name counts before the equals sign does.
    fn parse(word: &str) -> Outcome<Given> {
        let (local, name) = match word.rsplit_once('=') {
            Some((local, name)) if !Path::new(word).exists() => (local, Some(name)),
            _ => (word, None),
        };
        let local = PathBuf::from(local);
        let wrong = |why: &str| Failure::usage(format!("--file {word}: {why}"));
        let metadata = fs::metadata(&local).map_err(|error| wrong(&error.to_string()))?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(wrong("neither a file nor a folder"));
        }
        let last = || local.canonicalize().ok()?.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = match name {
            Some(name) => name.to_owned(),
            None => last().ok_or_else(|| wrong("it has no name; give LOCAL=NAME"))?,
        };
        if components(name.as_bytes()).next().is_none()
            || components(name.as_bytes()).any(|part| part == b"..")
        {
            return Err(wrong("NAME must be the path of a file"));
        }
        Ok(Given { local, name })
    }
}

/// The file system of a job with the files that it is given, in as many pages as it needs. Errors: a `--file` that cannot be read or have that
/// name.
pub fn image(options: &JobOptions, current: Option<&Back>) -> Outcome<Vec<Page>> {
    let mut given: Vec<Given> = options.file.iter().map(|word| Given::parse(word)).collect::<Outcome<_>>()?;
    // The current folder is at the path that it has here.
    given.extend(
        current
            .map(|back| Given { local: back.local.clone(), name: back.local.to_string_lossy().into_owned() }),
    );
    let mut pages = OwnPages::default();
    let refused =
        |error: Errno| Failure::host(format!("the job's file system cannot be made: {}", describe(error)));
    let mut files = Files::format(&mut pages).map_err(refused)?;
    let mut taken = Taken { latest_ns: now_ns().saturating_sub(CLOCKS_DIFFER_NS), ..Taken::default() };
    for (index, one) in given.iter().enumerate() {
        let (folder, name) = make_parents(&mut files, one)?;
        taken.as_it_is = index >= options.file.len();
        add(&mut files, folder, &name, &one.local, &mut taken)?;
    }
    Ok(pages.0)
}

/// What has been taken along.
#[derive(Debug, Default)]
struct Taken {
    /// Which local file, by its real path, each file has been made from: one that is named twice is taken once.
    from: HashMap<u32, PathBuf>,
    /// Of a folder that comes back: links stay links, and what is neither file nor folder stays behind.
    as_it_is: bool,
    /// The latest time of a file, in nanoseconds since the Unix epoch.
    latest_ns: u64,
}

/// Makes the folders above a given file, as far as they are not there.
fn make_parents<P: Pages>(files: &mut Files<'_, P>, given: &Given) -> Outcome<(NodeId, Vec<u8>)> {
    let mut parts: Vec<&[u8]> = components(given.name.as_bytes()).collect();
    let wrong = |error: Errno| {
        Failure::usage(format!(
            "--file {}: {} cannot be made: {}",
            given.local.display(),
            given.name,
            describe(error)
        ))
    };
    // Not empty: `Given::parse` has seen to that.
    let name = parts.pop().unwrap_or_default();
    let mut folder = NodeId::ROOT;
    for part in parts {
        folder = match files.find(folder, part) {
            Ok(id) => id,
            Err(_) => files.create(folder, part, Kind::Folder, FOLDER_MODE, 0).map_err(wrong)?,
        };
    }
    Ok((folder, name.to_vec()))
}

/// Copies a local file, or a folder with all that is in it, into `folder`.
fn add<P: Pages>(
    files: &mut Files<'_, P>,
    folder: NodeId,
    name: &[u8],
    local: &Path,
    taken: &mut Taken,
) -> Outcome<()> {
    use std::os::unix::ffi::OsStrExt;
    let wrong =
        |why: String| Failure::usage(format!("--file: {} cannot be taken along: {why}", local.display()));
    let refused = |error: Errno| wrong(describe(error));
    let look = if taken.as_it_is { fs::symlink_metadata } else { fs::metadata };
    let metadata = look(local).map_err(|error| wrong(error.to_string()))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    // What is as young as the job could be taken for its work ([`tell_lost`]).
    let changed = changed.map_or(0, |time| time.as_nanos() as u64).min(taken.latest_ns);
    if metadata.is_dir() {
        // What is given may go into a folder that every file system has.
        let id = match files.find(folder, name) {
            Ok(id) => id,
            Err(_) => files.create(folder, name, Kind::Folder, FOLDER_MODE, changed).map_err(refused)?,
        };
        let mut entries: Vec<_> = fs::read_dir(local)
            .and_then(Iterator::collect::<Result<_, _>>)
            .map_err(|error| wrong(error.to_string()))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        return entries
            .iter()
            .try_for_each(|entry| add(files, id, entry.file_name().as_bytes(), &entry.path(), taken));
    }
    if metadata.is_symlink() {
        let content = fs::read_link(local).map_err(|error| wrong(error.to_string()))?;
        return files
            .symbolic_link(folder, name, content.as_os_str().as_bytes(), changed)
            .map(drop)
            .map_err(refused);
    }
    if !metadata.is_file() {
        return if taken.as_it_is { Ok(()) } else { Err(wrong("neither a file nor a folder".into())) };
    }
    let real = local.canonicalize().map_err(|error| wrong(error.to_string()))?;
    if files.find(folder, name).is_ok_and(|id| taken.from.get(&id.0) == Some(&real)) {
        return Ok(());
    }
    let content = fs::read(local).map_err(|error| wrong(error.to_string()))?;
    let id = files.create(folder, name, Kind::File, FILE_MODE, changed).map_err(refused)?;
    taken.from.insert(id.0, real);
    let mut rest = &content[..];
    let written = files.write(id, 0, content.len() as u64, changed, |piece| {
        let (now, later) = rest.split_at(piece.len());
        piece.copy_from_slice(now);
        rest = later;
        Ok(())
    });
    match written.map_err(refused)? {
        length if length == content.len() as u64 => Ok(()),
        _ => Err(wrong("there is not enough memory".into())),
    }
}

/// Checks that files can be written to the folder of `--out`, which is made if it is not there.
pub fn check_out(folder: &Path) -> Outcome<()> {
    let cannot = |error: std::io::Error| Failure::usage(format!("--out {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(cannot)?;
    let probe = folder.join(format!(".margay-{}", std::process::id()));
    fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).map_err(cannot)
}

/// By how much a node's clock may be behind this machine's: it begins with a clock of seconds.
pub const CLOCKS_DIFFER_NS: u64 = 3_000_000_000;

/// Nanoseconds since the Unix epoch.
pub fn now_ns() -> u64 {
    let now = std::time::UNIX_EPOCH.elapsed();
    now.map_or(0, |now| u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
}

/// Says in a line which files of a job that began at `since_ns` are gone with it: those outside of the folders that come `back` and of `/tmp`.
pub fn tell_lost<P: Pages>(files: &Files<'_, P>, since_ns: u64, back: &[Back]) {
    let kept: Vec<&[u8]> = back.iter().map(Back::path).collect();
    let mut names = String::new();
    // A file system that is damaged has been told of.
    if files.strays(since_ns, &kept, &mut names).is_ok_and(|lost| lost > 0) {
        tell!(
            "lwk: lost with the job: {names}; --out DIR brings back what is under /out, and --cwd DIR what is in DIR"
        );
    }
}

/// A folder of the job's that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// Its path on the node.
    root: Vec<u8>,
    /// Where it goes.
    local: PathBuf,
    /// If it was taken along, the files that were: what is the same stays as it is, and what the job has removed is removed.
    given: Option<Vec<PathBuf>>,
}

impl Back {
    /// What is under `/out` goes to this folder.
    pub fn out(local: &Path) -> Back {
        Back { root: OUT.to_vec(), local: local.to_path_buf(), given: None }
    }

    /// This folder is the job's current one, by the same path there as here. Errors: it is none that can be taken along.
    pub fn current(folder: &Path) -> Outcome<Back> {
        use std::os::unix::ffi::OsStrExt;
        let wrong = |why: &str| Failure::usage(format!("--cwd {}: {why}", folder.display()));
        let local = folder.canonicalize().map_err(|error| wrong(&error.to_string()))?;
        let top = local.components().nth(1).map(|top| top.as_os_str().to_owned());
        match top.as_ref().and_then(|top| top.to_str()) {
            None => Err(wrong("the whole file system cannot be taken along; choose a folder")),
            Some("dev" | "proc" | "sys" | "out") => {
                Err(wrong("a folder of the system's own cannot be taken along"))
            }
            _ if !local.is_dir() => Err(wrong("not a folder")),
            _ => {
                let mut given = Vec::new();
                list(&local, 0, &mut given).map_err(|error| wrong(&error.to_string()))?;
                Ok(Back { root: local.as_os_str().as_bytes().to_vec(), local, given: Some(given) })
            }
        }
    }

    /// Its path on the node.
    pub fn path(&self) -> &[u8] {
        &self.root
    }

    fn write<P: Pages>(&self, files: &Files<'_, P>) -> Outcome<()> {
        let out = files.find(NodeId::ROOT, &self.root).map_err(|error| lost(&describe(error)))?;
        let mut found = Found { kept: self.given.is_some(), links: Vec::new() };
        write_folder(files, out, &self.local, 0, &mut found)?;
        // All else is there by now, so nothing is written through them.
        let led_astray =
            found.links.iter().map(|link| link.write(&self.root)).collect::<Outcome<Vec<_>>>()?;
        if let Some(path) = led_astray.iter().flatten().next() {
            return Err(lost(&format!(
                "{path} is a link that leads out of {}",
                String::from_utf8_lossy(&self.root)
            )));
        }
        for given in self.given.iter().flatten() {
            use std::os::unix::ffi::OsStrExt;
            if files.find(out, given.as_os_str().as_bytes()).is_err() {
                let path = self.local.join(given);
                fs::remove_file(&path).map_err(|error| lost(&format!("{}: {error}", path.display())))?;
            }
        }
        Ok(())
    }
}

/// The regular files below a folder, by their paths from there.
fn list(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(std::io::Error::other("too many folders in each other"));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, PathBuf::from(entry.file_name()));
        if kind.is_dir() {
            let from = into.len();
            list(&entry.path(), depth + 1, into)?;
            into[from..].iter_mut().for_each(|path| *path = name.join(&path));
        } else if kind.is_file() {
            into.push(name);
        }
    }
    Ok(())
}

/// Writes what the job has left in these folders.
///
/// # Errors
/// What cannot be read or written; then not everything is there.
pub fn bring_back<P: Pages>(files: &Files<'_, P>, folders: &[Back]) -> Outcome<()> {
    folders.iter().try_for_each(|back| back.write(files))
}

/// A folder that is being written.
struct Found {
    /// Files that are the same stay as they are.
    kept: bool,
    links: Vec<Link>,
}

/// A symbolic link that a job has left.
struct Link {
    path: PathBuf,
    content: Vec<u8>,
    /// Folders between the folder that comes back and the link.
    depth: usize,
}

impl Link {
    /// Writes the link, or returns where it is if it leads out of the folder `root`. One that leads where it should stays.
    fn write(&self, root: &[u8]) -> Outcome<Option<String>> {
        use std::os::unix::ffi::OsStrExt;
        let path = self.path.display();
        if fs::read_link(&self.path).is_ok_and(|there| there.as_os_str().as_bytes() == self.content) {
            return Ok(None);
        }
        let Some(target) = within(root, &self.content, self.depth) else { return Ok(Some(path.to_string())) };
        clear_the_way(&self.path, true)?;
        std::os::unix::fs::symlink(target, &self.path).map_err(|error| lost(&format!("{path}: {error}")))?;
        Ok(None)
    }
}

/// What a link that lies `depth` folders below `root` is to be in another folder in its place; nothing if it leads out of that. `..` must come
/// first, where it counts real folders: behind a name, that name may be a link itself.
fn within(root: &[u8], content: &[u8], depth: usize) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut names: Vec<&[u8]> = components(content).collect();
    if content.first() == Some(&b'/') {
        let root: Vec<&[u8]> = components(root).collect();
        if !names.starts_with(&root) {
            return None;
        }
        names.splice(..root.len(), std::iter::repeat_n(&b".."[..], depth));
    }
    let up = names.iter().take_while(|name| **name == b"..").count();
    if up > depth || names[up..].contains(&&b".."[..]) {
        return None;
    }
    let target: PathBuf = names.iter().map(|name| std::ffi::OsStr::from_bytes(name)).collect();
    Some(if target.as_os_str().is_empty() { PathBuf::from(".") } else { target })
}

/// Removes a link of an earlier run that is where something is to be written; for a link also a file.
fn clear_the_way(path: &Path, for_link: bool) -> Outcome<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() || for_link && found.is_file() => {
            fs::remove_file(path).map_err(|error| lost(&format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The failure of a job whose files did not all come back: status 69.
pub fn lost(why: &str) -> Failure {
    Failure::host(format!("the job's files have not all been brought back: {why}"))
}

/// The end of a job whose files were to come back: a failure to do so counts if the job itself has ended well, and is told in any
/// case.
pub fn conclude(ended: Outcome<i32>, brought_back: Outcome<()>) -> Outcome<i32> {
    match (ended, brought_back) {
        (Ok(0), Err(failure)) => Err(failure),
        (ended, Err(failure)) => {
            tell!("lwk: {failure}");
            ended
        }
        (ended, Ok(())) => ended,
    }
}

fn write_folder<P: Pages>(
    files: &Files<'_, P>,
    id: NodeId,
    folder: &Path,
    depth: usize,
    found: &mut Found,
) -> Outcome<()> {
    use std::os::unix::ffi::OsStrExt;
    let damaged = |error: Errno| lost(&describe(error));
    if depth > DEPTH_MAX {
        return Err(lost("too many folders in each other"));
    }
    // The first two entries are the folder itself and its parent.
    let mut position = 2;
    while let Some(entry) = files.entry(id, position).map_err(damaged)? {
        position = entry.next_position;
        let name = files.name(entry.place).map_err(damaged)?;
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') || name.contains(&0) {
            return Err(lost("a name is damaged"));
        }
        let path = folder.join(std::ffi::OsStr::from_bytes(name));
        match entry.kind {
            Kind::Folder => {
                clear_the_way(&path, false)?;
                fs::create_dir_all(&path).map_err(|error| lost(&format!("{}: {error}", path.display())))?;
                write_folder(files, entry.id, &path, depth + 1, found)?;
            }
            Kind::File if found.kept && is_same(files, entry.id, &path)? => {}
            Kind::File => {
                clear_the_way(&path, false)?;
                write_file(files, entry.id, &path)?;
            }
            Kind::Link => {
                let content = files.link_content(entry.id).map_err(damaged)?.to_vec();
                found.links.push(Link { path, content, depth });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a local file, perhaps through a link by which it was taken along, has the content of one of the job's.
fn is_same<P: Pages>(files: &Files<'_, P>, id: NodeId, path: &Path) -> Outcome<bool> {
    let size = files.node(id).map_err(|error| lost(&describe(error)))?.size;
    if !path.metadata().is_ok_and(|data| data.is_file() && data.len() == size) {
        return Ok(false);
    }
    let Ok(there) = fs::read(path) else { return Ok(false) };
    let (mut rest, mut same) = (&there[..], true);
    let read = files.read(id, 0, size, |piece| {
        let (now, later) = rest.split_at(piece.len().min(rest.len()));
        same &= now == piece;
        rest = later;
        Ok(())
    });
    read.map(|length| same && length == size && rest.is_empty()).map_err(|error| lost(&describe(error)))
}

fn write_file<P: Pages>(files: &Files<'_, P>, id: NodeId, path: &Path) -> Outcome<()> {
    use std::io::Write;
    let cannot = |error: std::io::Error| lost(&format!("{}: {error}", path.display()));
    let size = files.node(id).map_err(|error| lost(&describe(error)))?.size;
    let mut file = std::io::BufWriter::new(fs::File::create(path).map_err(cannot)?);
    let mut failed = None;
    let read = files.read(id, 0, size, |piece| {
        file.write_all(piece).map_err(|error| {
            failed = Some(error);
            Errno(lwk_abi::syscall::errno::EIO)
        })
    });
    if let Some(error) = failed {
        return Err(cannot(error));
    }
    match read {
        Ok(length) if length == size => file.flush().map_err(cannot),
        Ok(_) => Err(lost(&format!("{} is damaged", path.display()))),
        Err(error) => Err(lost(&describe(error))),
    }
}

fn describe(Errno(number): Errno) -> String {
    std::io::Error::from_raw_os_error(number as i32).to_string()
}

/// A piece of a node's file system: pages of 4 KiB, their physical address, and their checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub pages: u32,
    pub address: u64,
    pub sum: u64,
}

impl Piece {
    /// Reads the number and the text of the record ([`lwk_abi::console::FILES`]); nothing if it is none.
    pub fn parse(pages: u32, text: &str) -> Option<Piece> {
        let word = |name: &str| {
            let value = text.split(' ').find_map(|word| word.strip_prefix(name))?;
            u64::from_str_radix(value.strip_prefix("=0x")?, 16).ok()
        };
        Some(Piece { pages, address: word("address")?, sum: word("sum")? })
    }

    /// The pages in `bytes`, which were read from the node's memory. Errors: too few bytes or too many, or another checksum.
    pub fn pages_in(&self, bytes: &[u8]) -> Outcome<Vec<Page>> {
        let (pages, rest) = bytes.as_chunks::<PAGE_BYTES>();
        if pages.len() != self.pages as usize || !rest.is_empty() {
            return Err(lost("the node's memory was not read as a whole"));
        }
        let sum = pages.iter().fold(0, |sum: u64, page| sum.rotate_left(1) ^ lwk_files::checksum(page));
        if sum != self.sum {
            return Err(lost("they were damaged on the way"));
        }
        Ok(pages.to_vec())
    }
}

/// Fetches a node's files out of its memory by QEMU's monitor, and writes those that come back. `scratch` is a file for QEMU; what
/// was changed since `since_ns`, and is lost, is told.
pub fn fetch(
    monitor: &mut crate::qmp::Monitor,
    pieces: &[Piece],
    scratch: &Path,
    folders: &[Back],
    since_ns: u64,
) -> Outcome<()> {
    if pieces.is_empty() {
        return Err(lost("the node did not say where they are"));
    }
    let mut pages = OwnPages::default();
    for piece in pieces {
        let size = u64::from(piece.pages) * PAGE_BYTES as u64;
        let arguments = serde_json::json!({ "val": piece.address, "size": size, "filename": scratch });
        monitor.command("pmemsave", arguments)?;
        let bytes = fs::read(scratch).doing(|| format!("read {}", scratch.display()))?;
        pages.0.extend(piece.pages_in(&bytes)?);
    }
    let files = Files::open(&mut pages).map_err(|error| lost(&describe(error)))?;
    tell_lost(&files, since_ns, folders);
    bring_back(&files, folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("lwk-files-{}-{name}", std::process::id()));
        // Of a test that was killed, whose process had the same number.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn options(words: &[String]) -> JobOptions {
        use clap::Parser;
        let mut all = vec!["lwk".to_owned(), "run".to_owned()];
        all.extend(words.iter().flat_map(|word| ["--file".to_owned(), word.clone()]));
        all.push("hello".into());
        match crate::cli::Cli::try_parse_from(all).unwrap().command {
            crate::cli::Command::Run(options) => options.job,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn folders_go_there_and_back() {
        let folder = scratch("there");
        fs::create_dir_all(folder.join("in/deep")).unwrap();
        let large: Vec<u8> = (0..3_000_000u32).map(|index| (index / 7) as u8).collect();
        fs::write(folder.join("in/deep/large"), &large).unwrap();
        fs::write(folder.join("in/empty"), b"").unwrap();
        let mut pages =
            OwnPages(image(&options(&[format!("{}=/out/x", folder.join("in").display())]), None).unwrap());
        let files = Files::open(&mut pages).unwrap();
        let back = folder.join("back");
        fs::create_dir_all(&back).unwrap();
        bring_back(&files, &[Back::out(&back)]).unwrap();
        assert!(fs::read(back.join("x/deep/large")).unwrap() == large);
        assert_eq!(fs::read(back.join("x/empty")).unwrap(), b"");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn links_come_back_unless_they_lead_out() {
        let folder = scratch("links");
        let mut pages = OwnPages::default();
        let mut files = Files::format(&mut pages).unwrap();
        let out = files.find(NodeId::ROOT, OUT).unwrap();
        let deep = files.create(out, b"deep", Kind::Folder, 0o755, 1).unwrap();
        let file = files.create(deep, b"file", Kind::File, 0o644, 1).unwrap();
        files
            .write(file, 0, 4, 1, |piece| {
                piece.copy_from_slice(b"text");
                Ok(())
            })
            .unwrap();
        files.link(file, out, b"again", 1).unwrap();
        for (folder, name, content) in [
            (out, "down", "deep/file"),
            (deep, "up", "../again"),
            (deep, "whole", "/out/deep"),
            (out, "open", "later"),
        ] {
            files.symbolic_link(folder, name.as_bytes(), content.as_bytes(), 1).unwrap();
        }
        // What an earlier run has left: a file must not be written through a link, nor a link into a file.
        std::os::unix::fs::symlink("deep", folder.join("again")).unwrap();
        fs::write(folder.join("down"), b"old").unwrap();
        for _ in 0..2 {
            bring_back(&files, &[Back::out(&folder)]).unwrap();
        }
        let target = |name: &str| fs::read_link(folder.join(name)).unwrap();
        assert_eq!(target("down"), Path::new("deep/file"));
        assert_eq!(target("deep/up"), Path::new("../again"));
        assert_eq!(target("deep/whole"), Path::new("../deep"));
        assert_eq!(target("open"), Path::new("later"));
        for name in ["down", "deep/up", "deep/whole/file", "again"] {
            assert_eq!(fs::read(folder.join(name)).unwrap(), b"text", "{name}");
        }
        assert!(!fs::symlink_metadata(folder.join("again")).unwrap().is_symlink());
        // Everything else comes back, and the command says what does not.
        for content in ["/etc", "/outside", "..", "../x", "deep/..", "deep/../../x"] {
            files.symbolic_link(out, b"bad", content.as_bytes(), 1).unwrap();
            fs::remove_file(folder.join("again")).unwrap();
            let failure = bring_back(&files, &[Back::out(&folder)]).unwrap_err();
            assert!(failure.message.contains("bad is a link that leads out of /out"), "{}", failure.message);
            assert!(fs::symlink_metadata(folder.join("bad")).is_err() && folder.join("again").is_file());
            files.unlink(out, b"bad", 1).unwrap();
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn of_the_current_folder_what_changed_comes_back_and_nothing_else_is_touched() {
        let folder = scratch("current");
        fs::create_dir_all(folder.join("deep")).unwrap();
        for (name, text) in [("same", "1"), ("deep/changed", "2"), ("gone", "3")] {
            fs::write(folder.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("/etc", folder.join("outward")).unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
        fs::File::options().write(true).open(folder.join("same")).unwrap().set_modified(old).unwrap();
        let back = Back::current(&folder).unwrap();
        let mut pages = OwnPages(image(&options(&[]), Some(&back)).unwrap());
        let mut files = Files::open(&mut pages).unwrap();
        let root = files.find(NodeId::ROOT, back.path()).unwrap();
        let changed = files.find(root, b"deep/changed").unwrap();
        let fill = |piece: &mut [u8]| {
            piece.fill(b'x');
            Ok(())
        };
        files.write(changed, 0, 3, 1, fill).unwrap();
        files.unlink(root, b"gone", 1).unwrap();
        let new = files.create(root, b"new", Kind::File, 0o644, 1).unwrap();
        files.write(new, 0, 1, 1, fill).unwrap();
        fs::write(folder.join("of another process"), "4").unwrap();
        bring_back(&files, &[back]).unwrap();
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(
            [text("same"), text("deep/changed"), text("new"), text("of another process")],
            ["1", "xxx", "x", "4"]
        );
        assert_eq!(folder.join("same").metadata().unwrap().modified().unwrap(), old);
        assert!(!folder.join("gone").exists());
        assert_eq!(fs::read_link(folder.join("outward")).unwrap(), Path::new("/etc"));
        for wrong in ["/", "/proc", "/no/such/folder"] {
            assert_eq!(Back::current(Path::new(wrong)).unwrap_err().status, 2, "{wrong}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_is_not_there_is_refused_in_one_line() {
        let refused = image(&options(&["/nowhere/at/all".to_owned()]), None).unwrap_err();
        assert_eq!((refused.status, refused.message.contains('\n')), (2, false));
        let folder = scratch("names");
        let local = folder.display();
        for name in ["/", "a/../b", "."] {
            assert_eq!(image(&options(&[format!("{local}={name}")]), None).unwrap_err().status, 2, "{name}");
        }
        fs::write(folder.join("f"), b"1").unwrap();
        fs::write(folder.join("g"), b"2").unwrap();
        let two = [format!("{local}/f=/x"), format!("{local}/g=/x")];
        assert_eq!(image(&options(&two), None).unwrap_err().status, 2);
        for twice in [["f=/x", "f=/x"], ["f=/x", "./f=x"], ["=/y", "f=/y/f"], ["f=/y/f", "=/y"]] {
            let once = image(&options(&twice.map(|word| format!("{local}/{word}"))), None).unwrap();
            let mut pages = OwnPages(once);
            let files = Files::open(&mut pages).unwrap();
            let name = if twice[0].contains("/y") { b"/y/f" } else { &b"/x"[..] };
            assert_eq!(files.node(files.find(NodeId::ROOT, name).unwrap()).unwrap().size, 1, "{twice:?}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damage_on_the_way_is_seen() {
        let mut bytes = vec![0u8; 2 * PAGE_BYTES];
        let sum = |bytes: &[u8]| {
            let (pages, _) = bytes.as_chunks::<PAGE_BYTES>();
            pages.iter().fold(0, |sum: u64, page| sum.rotate_left(1) ^ lwk_files::checksum(page))
        };
        let text = format!("address=0x1000 sum={:#x}", sum(&bytes));
        let piece = Piece::parse(2, &text).unwrap();
        assert_eq!((piece.address, piece.pages_in(&bytes).unwrap().len()), (0x1000, 2));
        bytes[5000] = 1;
        assert!(piece.pages_in(&bytes).is_err());
        assert!(piece.pages_in(&bytes[..4096]).is_err());
    }
}
