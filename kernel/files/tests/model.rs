//! Random sequences of operations beside a model of folders as maps and files as vectors of bytes, and damaged images.

use std::collections::BTreeMap;

use lwk_abi::syscall::errno::{EEXIST, EIO, EISDIR, ENOENT, ENOSPC, ENOTEMPTY};
use lwk_files::{Errno, Files, Kind, NodeId, PAGE_BYTES, Page, Pages};
use proptest::prelude::*;

struct Memory {
    pages: Vec<Page>,
    most: usize,
}

impl Memory {
    fn of(most: usize) -> Memory {
        Memory { pages: Vec::new(), most }
    }
}

impl Pages for Memory {
    fn count(&self) -> u32 {
        self.pages.len() as u32
    }
    fn grow(&mut self) -> bool {
        if self.pages.len() == self.most {
            return false;
        }
        self.pages.push([0; PAGE_BYTES]);
        true
    }
    fn page(&self, index: u32) -> &Page {
        &self.pages[index as usize]
    }
    fn page_mut(&mut self, index: u32) -> &mut Page {
        &mut self.pages[index as usize]
    }
}

#[derive(Clone, Debug)]
enum Op {
    Create(usize, usize),
    Folder(usize, usize),
    Unlink(usize, usize),
    RemoveFolder(usize, usize),
    Rename(usize, usize, usize, usize, bool),
    Write(usize, usize, u64, usize, u8),
    Truncate(usize, usize, u64),
    Read(usize, usize, u64, u64),
    List(usize),
}

/// Folders that the operations choose from; some exist, some do not, some are files.
const FOLDERS: [&str; 5] = ["/tmp", "/out", "/tmp/a", "/tmp/a/b", "/out/a"];
const NAMES: [&str; 4] = ["a", "b", "c", "a-name-that-is-longer"];

fn op() -> impl Strategy<Value = Op> {
    // Few places most of the time, so that operations meet.
    let place = || prop_oneof![4 => (0..1usize, 0..2usize), 1 => (0..FOLDERS.len(), 0..NAMES.len())];
    let offset = || prop_oneof![0u64..10_000, Just(4095), Just(4096), 5_000_000u64..5_010_000];
    prop_oneof![
        2 => place().prop_map(|(f, n)| Op::Create(f, n)),
        1 => place().prop_map(|(f, n)| Op::Folder(f, n)),
        1 => place().prop_map(|(f, n)| Op::Unlink(f, n)),
        1 => place().prop_map(|(f, n)| Op::RemoveFolder(f, n)),
        1 => (place(), place(), any::<bool>()).prop_map(|((f, n), (g, m), keep)| Op::Rename(f, n, g, m, keep)),
        4 => (place(), offset(), 0usize..9000, any::<u8>())
            .prop_map(|((f, n), at, len, b)| Op::Write(f, n, at, len, b)),
        4 => (place(), offset()).prop_map(|((f, n), size)| Op::Truncate(f, n, size)),
        4 => (place(), offset(), 0u64..20_000).prop_map(|((f, n), at, len)| Op::Read(f, n, at, len)),
        1 => (0..FOLDERS.len()).prop_map(Op::List),
    ]
}

#[derive(Clone, Debug, PartialEq)]
enum Thing {
    Folder,
    File(Vec<u8>),
}

type Model = BTreeMap<String, Thing>;

fn path(folder: usize, name: usize) -> String {
    format!("{}/{}", FOLDERS[folder], NAMES[name])
}

fn is_folder(model: &Model, path: &str) -> bool {
    model.get(path) == Some(&Thing::Folder)
}

fn has_children(model: &Model, path: &str) -> bool {
    let prefix = format!("{path}/");
    model.keys().any(|key| key.starts_with(&prefix))
}

/// Runs one operation on both and compares. An operation that memory did not suffice for may have no effect.
fn step(files: &mut Files<'_, Memory>, model: &mut Model, op: &Op) {
    let root = NodeId::ROOT;
    let full = Err(Errno(ENOSPC));
    match *op {
        Op::Create(f, n) | Op::Folder(f, n) => {
            let kind = if matches!(op, Op::Folder(..)) { Kind::Folder } else { Kind::File };
            let path = path(f, n);
            let made = files
                .parent_of(root, path.as_bytes())
                .and_then(|(folder, name)| files.create(folder, name, kind, 0o644, 1));
            let possible = is_folder(model, FOLDERS[f]) && !model.contains_key(&path);
            if made.is_ok() {
                assert!(possible, "{path} cannot be made");
                let thing = if kind == Kind::Folder { Thing::Folder } else { Thing::File(Vec::new()) };
                model.insert(path, thing);
            } else {
                assert!(!possible || made.map(|_| ()) == full, "{path} can be made: {made:?}");
                if model.contains_key(&path) {
                    assert_eq!(made, Err(Errno(EEXIST)));
                }
            }
        }
        Op::Unlink(f, n) => {
            let path = path(f, n);
            let done = files
                .parent_of(root, path.as_bytes())
                .and_then(|(folder, name)| files.unlink(folder, name, 1));
            match model.get(&path) {
                Some(Thing::File(_)) => {
                    assert_eq!(done, Ok(()));
                    model.remove(&path);
                }
                Some(Thing::Folder) => assert_eq!(done, Err(Errno(EISDIR))),
                None => assert!(done.is_err()),
            }
        }
        Op::RemoveFolder(f, n) => {
            let path = path(f, n);
            let done = files
                .parent_of(root, path.as_bytes())
                .and_then(|(folder, name)| files.remove_folder(folder, name, 1));
            if !is_folder(model, &path) {
                assert!(done.is_err());
            } else if has_children(model, &path) {
                assert_eq!(done, Err(Errno(ENOTEMPTY)));
            } else {
                assert_eq!(done, Ok(()));
                model.remove(&path);
            }
        }
        Op::Rename(f, n, g, m, keep) => {
            let (from, to) = (path(f, n), path(g, m));
            let done = files.parent_of(root, from.as_bytes()).and_then(|from| {
                let to = files.parent_of(root, to.as_bytes())?;
                files.rename(from, to, keep, 1)
            });
            let into_itself = to.starts_with(&format!("{from}/"));
            let fits = match (model.get(&from), model.get(&to)) {
                (None, _) => false,
                (_, Some(_)) if keep => false,
                (Some(_), None) => is_folder(model, FOLDERS[g]),
                (Some(Thing::Folder), Some(Thing::Folder)) => from == to || !has_children(model, &to),
                (Some(Thing::File(_)), Some(Thing::File(_))) => true,
                _ => false,
            };
            assert_eq!(done.is_ok(), fits && !into_itself, "{from} to {to}: {done:?}");
            if done.is_ok() && from != to {
                let moved: Vec<String> = model
                    .keys()
                    .filter(|key| **key == from || key.starts_with(&format!("{from}/")))
                    .cloned()
                    .collect();
                model.remove(&to);
                for key in moved {
                    if let Some(thing) = model.remove(&key) {
                        model.insert(format!("{to}{}", &key[from.len()..]), thing);
                    }
                }
            }
        }
        Op::Write(f, n, offset, length, byte) => {
            let path = path(f, n);
            let Ok(id) = files.find(root, path.as_bytes()) else {
                return assert!(!model.contains_key(&path));
            };
            let Some(Thing::File(content)) = model.get_mut(&path) else { return };
            let wrote = files.write(id, offset, length as u64, 1, |piece| {
                piece.fill(byte);
                Ok(())
            });
            let done = match wrote {
                Ok(done) => done as usize,
                Err(error) => return assert_eq!(error, Errno(ENOSPC)),
            };
            assert!(done <= length);
            if done > 0 {
                let end = offset as usize + done;
                content.resize(content.len().max(end), 0);
                content[offset as usize..end].fill(byte);
            }
        }
        Op::Truncate(f, n, size) => {
            let path = path(f, n);
            let Some(Thing::File(content)) = model.get_mut(&path) else { return };
            let id = files.find(root, path.as_bytes()).unwrap();
            assert_eq!(files.truncate(id, size, 1), Ok(()));
            content.resize(size as usize, 0);
        }
        Op::Read(f, n, offset, length) => {
            let path = path(f, n);
            let Some(Thing::File(content)) = model.get(&path) else { return };
            let id = files.find(root, path.as_bytes()).unwrap();
            assert_eq!(files.node(id).unwrap().size, content.len() as u64);
            let mut bytes = Vec::new();
            let read = files.read(id, offset, length, |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            let start = (offset as usize).min(content.len());
            let end = (start + length as usize).min(content.len());
            assert_eq!(read, Ok((end - start) as u64));
            assert!(bytes == content[start..end], "{path} differs");
        }
        Op::List(f) => {
            let Ok(id) = files.find(root, FOLDERS[f].as_bytes()) else {
                return assert!(!is_folder(model, FOLDERS[f]));
            };
            if !is_folder(model, FOLDERS[f]) {
                return;
            }
            let mut found = Vec::new();
            let mut position = 2;
            while let Some(entry) = files.entry(id, position).unwrap() {
                found.push(String::from_utf8(files.name(entry.id).unwrap().to_vec()).unwrap());
                position = entry.next_position;
            }
            found.sort();
            let prefix = format!("{}/", FOLDERS[f]);
            let expected: Vec<String> = model
                .keys()
                .filter_map(|key| key.strip_prefix(&prefix))
                .filter(|rest| !rest.contains('/'))
                .map(str::to_owned)
                .collect();
            assert_eq!(found, expected);
        }
    }
}

proptest! {
    // Files of megabytes in the model take their time.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_does_what_the_model_does(
        ops in proptest::collection::vec(op(), 1..80),
        most in prop_oneof![Just(1_000_000usize), 8usize..40],
    ) {
        let mut memory = Memory::of(most);
        let mut files = Files::format(&mut memory).unwrap();
        let mut model: Model = [("/tmp", Thing::Folder), ("/out", Thing::Folder)].map(|(p, t)| (p.to_string(), t)).into();
        let busy = files.busy_pages();
        for op in &ops {
            step(&mut files, &mut model, op);
        }
        // Empty it again: every page of content comes back.
        while let Some((path, thing)) = model.iter().next_back().map(|(path, thing)| (path.clone(), thing.clone())) {
            if path == "/tmp" || path == "/out" {
                model.remove(&path);
                continue;
            }
            let (folder, name) = files.parent_of(NodeId::ROOT, path.as_bytes()).unwrap();
            match thing {
                Thing::Folder => files.remove_folder(folder, name, 1).unwrap(),
                Thing::File(_) => files.unlink(folder, name, 1).unwrap(),
            }
            model.remove(&path);
        }
        // Nodes stay nodes: eight to a page, and never more at a time than operations made.
        prop_assert!(files.busy_pages() <= busy + ops.len() as u32 / 8 + 1, "pages are lost");
    }

    #[test]
    fn a_damaged_image_is_an_error_at_worst(
        ops in proptest::collection::vec(op(), 1..20),
        damage in proptest::collection::vec((0usize..20, 0usize..PAGE_BYTES, any::<u8>()), 1..60),
        more in proptest::collection::vec(op(), 1..40),
    ) {
        let mut memory = Memory::of(64);
        {
            let mut files = Files::format(&mut memory).unwrap();
            let mut model: Model = [("/tmp", Thing::Folder), ("/out", Thing::Folder)].map(|(p, t)| (p.to_string(), t)).into();
            ops.iter().for_each(|op| step(&mut files, &mut model, op));
        }
        for (page, at, byte) in damage {
            if let Some(page) = memory.pages.get_mut(page) {
                page[at] = byte;
            }
        }
        let mut files = match Files::open(&mut memory) {
            Ok(files) => files,
            Err(error) => {
                prop_assert_eq!(error, Errno(EIO));
                return Ok(());
            }
        };
        for op in &more {
            let root = NodeId::ROOT;
            match *op {
                Op::Create(f, n) | Op::Folder(f, n) => {
                    let path = path(f, n);
                    let _ = files.parent_of(root, path.as_bytes())
                        .and_then(|(folder, name)| files.create(folder, name, Kind::File, 0o644, 1));
                }
                Op::Unlink(f, n) | Op::RemoveFolder(f, n) => {
                    let path = path(f, n);
                    let _ = files.parent_of(root, path.as_bytes()).and_then(|(folder, name)| files.unlink(folder, name, 1));
                    let _ = files.parent_of(root, path.as_bytes())
                        .and_then(|(folder, name)| files.remove_folder(folder, name, 1));
                }
                Op::Rename(f, n, g, m, keep) => {
                    let (from, to) = (path(f, n), path(g, m));
                    let _ = files.parent_of(root, from.as_bytes())
                        .and_then(|from| files.parent_of(root, to.as_bytes()).and_then(|to| files.rename(from, to, keep, 1)));
                }
                Op::Write(f, n, at, length, _) => {
                    let _ = files.find(root, path(f, n).as_bytes())
                        .and_then(|id| files.write(id, at, length as u64, 1, |_| Ok(())));
                }
                Op::Truncate(f, n, size) => {
                    let _ = files.find(root, path(f, n).as_bytes()).and_then(|id| files.truncate(id, size, 1));
                }
                Op::Read(f, n, at, length) => {
                    let _ = files.find(root, path(f, n).as_bytes()).and_then(|id| files.read(id, at, length, |_| Ok(())));
                }
                Op::List(f) => {
                    let mut position = 0;
                    let mut left = 1000;
                    if let Ok(id) = files.find(root, FOLDERS[f].as_bytes()) {
                        while let Ok(Some(entry)) = files.entry(id, position) {
                            position = entry.next_position;
                            left -= 1;
                            if left == 0 { break; }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn an_open_file_outlives_its_name() {
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
    let id = files.create(tmp, b"x", Kind::File, 0o600, 1).unwrap();
    files.opened(id).unwrap();
    files
        .write(id, 0, 3, 1, |piece| {
            piece.copy_from_slice(b"abc");
            Ok(())
        })
        .unwrap();
    let busy = files.busy_pages();
    files.unlink(tmp, b"x", 2).unwrap();
    assert_eq!(files.find(tmp, b"x"), Err(Errno(ENOENT)));
    let mut bytes = Vec::new();
    files
        .read(id, 0, 10, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
    assert_eq!(bytes, b"abc");
    files.closed(id).unwrap();
    assert_eq!(files.busy_pages(), busy - 1);
    assert_eq!(files.node(id), Err(Errno(EIO)));
}

#[test]
fn paths_go_where_they_say() {
    let mut memory = Memory::of(100);
    let files = Files::format(&mut memory).unwrap();
    let root = NodeId::ROOT;
    let own = files.find(root, b"/proc/self").unwrap();
    for path in
        [&b"/proc/self/"[..], b"proc/./self", b"/proc/../proc/self/.", b"//proc//self", b"/../proc/self"]
    {
        assert_eq!(files.find(root, path), Ok(own), "{}", String::from_utf8_lossy(path));
    }
    assert_eq!(files.find(own, b"../.."), Ok(root));
    assert_eq!(files.find(root, b""), Err(Errno(ENOENT)));
    assert_eq!(files.find(root, b"/dev/null/"), Err(Errno(lwk_abi::syscall::errno::ENOTDIR)));
    assert_eq!(files.find(root, b"/dev/null/x"), Err(Errno(lwk_abi::syscall::errno::ENOTDIR)));
    assert_eq!(files.find(root, &[b'x'; 256]), Err(Errno(lwk_abi::syscall::errno::ENAMETOOLONG)));
    let mut buffer = [0; 64];
    assert_eq!(files.path_of(own, &mut buffer).unwrap(), b"/proc/self");
    assert_eq!(files.path_of(root, &mut buffer).unwrap(), b"/");
    assert_eq!(files.path_of(own, &mut [0; 5]), Err(Errno(lwk_abi::syscall::errno::ENAMETOOLONG)));
}
