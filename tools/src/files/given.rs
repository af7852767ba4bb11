//! Files that a job is given: `--file`, and on a node `--cwd`, as an image of a file system.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use lwk_files::{Errno, Files, Kind, NodeId, Page, Pages, components};

use super::{Back, CLOCKS_DIFFER_NS, OwnPages, describe, now_ns};
use crate::cli::JobOptions;
use crate::failure::{Failure, Outcome};

/// Permission bits of what a job is given.
const FILE_MODE: u16 = 0o644;
const FOLDER_MODE: u16 = 0o755;

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
