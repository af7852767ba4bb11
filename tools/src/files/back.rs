//! Files that a job has left or changed, written to folders of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use lwk_files::{Errno, Files, Kind, NodeId, Pages, components};

use super::{describe, lost};
use crate::failure::{Failure, Outcome};

/// Where a job leaves what shall come back.
pub(super) const OUT: &[u8] = b"/out";
/// Most folders below each other; a damaged image could have more.
const DEPTH_MAX: usize = 512;

/// A folder of the job's that comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Back {
    /// Its path on the node.
    root: Vec<u8>,
    /// Where it goes.
    pub(super) local: PathBuf,
    /// If it was taken along, the files that were: what is the same stays as it is, and what the job has removed is removed.
    pub(super) given: Option<Vec<PathBuf>>,
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
