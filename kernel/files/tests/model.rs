//! Random sequences of operations beside a model of folders as maps and files as vectors of bytes, and damaged images.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use lwk_abi::syscall::errno::{
    EAGAIN, EEXIST, EIO, EISDIR, ELOOP, ENOENT, ENOLCK, ENOSPC, ENOTDIR, ENOTEMPTY, EPERM,
};
use lwk_files::{Errno, Files, Kind, LINKS_MAX, LOCKS_MAX, Lock, LockKind, NodeId, PAGE_BYTES, Page, Pages};
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
    fn limit(&self) -> u32 {
        self.most as u32
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
    Link(usize, usize, usize, usize),
    Symbolic(usize, usize, usize),
    Unlink(usize, usize),
    RemoveFolder(usize, usize),
    Rename(usize, usize, usize, usize, bool),
    Write(usize, usize, u64, usize, u8),
    Truncate(usize, usize, u64),
    Read(usize, usize, u64, u64),
    List(usize),
}

/// Folders that the operations choose from; some exist, some do not, some are files or links.
const FOLDERS: [&str; 5] = ["/tmp", "/out", "/tmp/a", "/tmp/a/b", "/out/a"];
const NAMES: [&str; 4] = ["a", "b", "c", "a-name-that-is-longer"];
/// What symbolic links stand for.
const CONTENTS: [&str; 8] = ["a", "b", "/tmp/a", "/out", "../out/a", "./b/", "/tmp/a/../b", "/out/a/."];

fn op() -> impl Strategy<Value = Op> {
    // Few places most of the time, so that operations meet.
    let place = || prop_oneof![4 => (0..1usize, 0..2usize), 1 => (0..FOLDERS.len(), 0..NAMES.len())];
    let offset = || prop_oneof![0u64..10_000, Just(4095), Just(4096), 5_000_000u64..5_010_000];
    prop_oneof![
        2 => place().prop_map(|(f, n)| Op::Create(f, n)),
        1 => place().prop_map(|(f, n)| Op::Folder(f, n)),
        2 => (place(), place()).prop_map(|((f, n), (g, m))| Op::Link(f, n, g, m)),
        1 => (place(), 0..CONTENTS.len()).prop_map(|((f, n), content)| Op::Symbolic(f, n, content)),
        2 => place().prop_map(|(f, n)| Op::Unlink(f, n)),
        1 => place().prop_map(|(f, n)| Op::RemoveFolder(f, n)),
        1 => (place(), place(), any::<bool>()).prop_map(|((f, n), (g, m), keep)| Op::Rename(f, n, g, m, keep)),
        4 => (place(), offset(), 0usize..9000, any::<u8>())
            .prop_map(|((f, n), at, len, b)| Op::Write(f, n, at, len, b)),
        4 => (place(), offset()).prop_map(|((f, n), size)| Op::Truncate(f, n, size)),
        4 => (place(), offset(), 0u64..20_000).prop_map(|((f, n), at, len)| Op::Read(f, n, at, len)),
        1 => (0..FOLDERS.len()).prop_map(Op::List),
    ]
}

/// A file's content, which several names may share.
type Content = Rc<RefCell<Vec<u8>>>;

#[derive(Clone, Debug)]
enum Thing {
    Folder,
    File(Content),
    Link(Rc<str>),
}

impl Thing {
    fn is_same(&self, other: &Thing) -> bool {
        match (self, other) {
            (Thing::File(one), Thing::File(other)) => Rc::ptr_eq(one, other),
            (Thing::Link(one), Thing::Link(other)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }
}

type Model = BTreeMap<String, Thing>;

fn empty_model() -> Model {
    [("/tmp", Thing::Folder), ("/out", Thing::Folder)].map(|(path, thing)| (path.to_string(), thing)).into()
}

fn path(folder: usize, name: usize) -> String {
    format!("{}/{}", FOLDERS[folder], NAMES[name])
}

/// The path without links and dots of what a path leads to from a folder; nothing if it leads nowhere.
fn resolve(model: &Model, folder: &str, path: &str, links: &mut usize) -> Option<String> {
    let is_folder = |path: &str| path.is_empty() || matches!(model.get(path), Some(Thing::Folder));
    let mut at = if path.starts_with('/') { String::new() } else { folder.to_string() };
    for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
        if !is_folder(&at) {
            return None;
        }
        if name == ".." {
            at.truncate(at.rfind('/').unwrap_or(0));
            continue;
        }
        let next = format!("{at}/{name}");
        at = match model.get(&next)? {
            Thing::Link(content) => {
                *links += 1;
                if *links > LINKS_MAX {
                    return None;
                }
                resolve(model, &at, content, links)?
            }
            _ => next,
        };
    }
    let names_folder = path.ends_with('/') || path.ends_with("/.");
    (!names_folder || is_folder(&at)).then_some(at)
}

/// The path without links of a folder that the operations choose.
fn folder(model: &Model, which: usize) -> Option<String> {
    resolve(model, "", FOLDERS[which], &mut 0).filter(|path| matches!(model.get(path), Some(Thing::Folder)))
}

/// The path of a name in such a folder.
fn place(model: &Model, which: usize, name: usize) -> Option<String> {
    Some(format!("{}/{}", folder(model, which)?, NAMES[name]))
}

fn get(model: &Model, place: &Option<String>) -> Option<Thing> {
    model.get(place.as_ref()?).cloned()
}

fn has_children(model: &Model, path: &str) -> bool {
    let prefix = format!("{path}/");
    model.keys().any(|key| key.starts_with(&prefix))
}

/// Runs one operation on both and compares. An operation that memory did not suffice for may have no effect.
fn step(files: &mut Files<'_, Memory>, model: &mut Model, op: &Op) {
    let root = NodeId::ROOT;
    let full = Err(Errno(ENOSPC));
    // The content of what a path leads to.
    let content =
        |model: &Model, f: usize, n: usize| match model.get(&resolve(model, "", &path(f, n), &mut 0)?)? {
            Thing::File(content) => Some(content.clone()),
            _ => None,
        };
    match *op {
        Op::Create(f, n) | Op::Folder(f, n) | Op::Symbolic(f, n, _) => {
            let (kind, thing) = match *op {
                Op::Folder(..) => (Kind::Folder, Thing::Folder),
                Op::Symbolic(_, _, content) => (Kind::Link, Thing::Link(CONTENTS[content].into())),
                _ => (Kind::File, Thing::File(Content::default())),
            };
            let path = path(f, n);
            let made = files.parent_of(root, path.as_bytes()).and_then(|(folder, name)| match &thing {
                Thing::Link(content) => files.symbolic_link(folder, name, content.as_bytes(), 1),
                _ => files.create(folder, name, kind, 0o644, 1),
            });
            let place = place(model, f, n);
            let possible = place.as_ref().is_some_and(|place| !model.contains_key(place));
            match made {
                Ok(id) => {
                    assert!(possible, "{path} cannot be made");
                    assert_eq!(files.find_itself(root, path.as_bytes()), Ok(id));
                    model.insert(place.unwrap(), thing);
                }
                Err(_) => {
                    assert!(!possible || made.map(|_| ()) == full, "{path} can be made: {made:?}");
                    if get(model, &place).is_some() {
                        assert_eq!(made, Err(Errno(EEXIST)));
                    }
                }
            }
        }
        Op::Link(f, n, g, m) => {
            let (from, to) = (path(f, n), path(g, m));
            let done = files.find_itself(root, from.as_bytes()).and_then(|id| {
                let (folder, name) = files.parent_of(root, to.as_bytes())?;
                files.link(id, folder, name, 1)
            });
            let (thing, place) = (get(model, &place(model, f, n)), place(model, g, m));
            let fits = matches!(thing, Some(Thing::File(_) | Thing::Link(_)));
            let possible = fits && place.as_ref().is_some_and(|place| !model.contains_key(place));
            if done.is_ok() {
                assert!(possible, "{from} cannot be {to} as well");
                model.insert(place.unwrap(), thing.unwrap());
            } else {
                assert!(!possible || done == full, "{from} can be {to} as well: {done:?}");
                if matches!(thing, Some(Thing::Folder)) && place.is_some() {
                    assert_eq!(done, Err(Errno(EPERM)));
                }
            }
        }
        Op::Unlink(f, n) => {
            let path = path(f, n);
            let done = files
                .parent_of(root, path.as_bytes())
                .and_then(|(folder, name)| files.unlink(folder, name, 1));
            let place = place(model, f, n);
            match get(model, &place) {
                Some(Thing::File(_) | Thing::Link(_)) => {
                    assert_eq!(done, Ok(()));
                    model.remove(&place.unwrap());
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
            let place = place(model, f, n);
            if !matches!(get(model, &place), Some(Thing::Folder)) {
                assert!(done.is_err());
            } else if has_children(model, place.as_ref().unwrap()) {
                assert_eq!(done, Err(Errno(ENOTEMPTY)));
            } else {
                assert_eq!(done, Ok(()));
                model.remove(&place.unwrap());
            }
        }
        Op::Rename(f, n, g, m, keep) => {
            let (from, to) = (path(f, n), path(g, m));
            let done = files.parent_of(root, from.as_bytes()).and_then(|from| {
                let to = files.parent_of(root, to.as_bytes())?;
                files.rename(from, to, keep, 1)
            });
            let (old, new) = (place(model, f, n), place(model, g, m));
            let fits = match (get(model, &old), get(model, &new)) {
                (None, _) => false,
                (_, Some(_)) if keep => false,
                (Some(_), None) => new.is_some(),
                (Some(Thing::Folder), Some(Thing::Folder)) => {
                    old == new || !has_children(model, new.as_ref().unwrap())
                }
                (Some(Thing::Folder), _) | (_, Some(Thing::Folder)) => false,
                _ => true,
            };
            let into_itself = match (&old, &new) {
                (Some(old), Some(new)) => new.starts_with(&format!("{old}/")),
                _ => false,
            };
            assert_eq!(done.is_ok(), fits && !into_itself, "{from} to {to}: {done:?}");
            let same = match (get(model, &old), get(model, &new)) {
                (Some(one), Some(other)) => one.is_same(&other),
                _ => false,
            };
            if done.is_ok() && old != new && !same {
                let (from, to) = (old.unwrap(), new.unwrap());
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
            let content = content(model, f, n);
            let Ok(id) = files.find(root, path(f, n).as_bytes()) else {
                return assert!(content.is_none());
            };
            let Some(content) = content else { return };
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
                let (mut content, end) = (content.borrow_mut(), offset as usize + done);
                let length = content.len().max(end);
                content.resize(length, 0);
                content[offset as usize..end].fill(byte);
            }
        }
        Op::Truncate(f, n, size) => {
            let Some(content) = content(model, f, n) else { return };
            let id = files.find(root, path(f, n).as_bytes()).unwrap();
            assert_eq!(files.truncate(id, size, 1), Ok(()));
            content.borrow_mut().resize(size as usize, 0);
        }
        Op::Read(f, n, offset, length) => {
            let Some(content) = content(model, f, n) else { return };
            let content = content.borrow();
            let id = files.find(root, path(f, n).as_bytes()).unwrap();
            assert_eq!(files.node(id).unwrap().size, content.len() as u64);
            let mut bytes = Vec::new();
            let read = files.read(id, offset, length, |piece| {
                bytes.extend_from_slice(piece);
                Ok(())
            });
            let start = (offset as usize).min(content.len());
            let end = (start + length as usize).min(content.len());
            assert_eq!(read, Ok((end - start) as u64));
            assert!(bytes == content[start..end], "{} differs", path(f, n));
        }
        Op::List(f) => {
            let folder = folder(model, f);
            let Ok(id) = files.find(root, FOLDERS[f].as_bytes()) else {
                return assert!(folder.is_none());
            };
            let Some(folder) = folder else { return };
            let mut found = Vec::new();
            let mut position = 2;
            while let Some(entry) = files.entry(id, position).unwrap() {
                let name = String::from_utf8(files.name(entry.place).unwrap().to_vec()).unwrap();
                let thing = &model[&format!("{folder}/{name}")];
                let names = model.values().filter(|other| thing.is_same(other)).count() as u32;
                let kind = match thing {
                    Thing::Folder => Kind::Folder,
                    Thing::File(_) => Kind::File,
                    Thing::Link(content) => {
                        assert_eq!(files.link_content(entry.id), Ok(content.as_bytes()));
                        Kind::Link
                    }
                };
                let node = files.node(entry.id).unwrap();
                assert_eq!((entry.kind, node.kind), (kind, kind));
                assert!(kind == Kind::Folder || node.names() == names, "{name} has {} names", node.names());
                found.push(name);
                position = entry.next_position;
            }
            found.sort();
            let prefix = format!("{folder}/");
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
        let mut model = empty_model();
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
                _ => files.unlink(folder, name, 1).unwrap(),
            }
            model.remove(&path);
        }
        // Nodes stay nodes: eight to a page, and never more at a time than operations made.
        prop_assert!(files.busy_pages() <= busy + ops.len() as u32 / 8 + 1, "pages are lost");
    }

    /// Locks of parts beside a model that knows for each byte who has it, and how.
    #[test]
    fn locks_are_what_they_are_for_each_byte(
        ops in proptest::collection::vec((1u32..4, 0u64..24, 1u64..12, 0u8..3), 1..60),
    ) {
        let mut memory = Memory::of(100);
        let mut files = Files::format(&mut memory).unwrap();
        let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
        let id = files.create(tmp, b"x", Kind::File, 0o600, 1).unwrap();
        let busy = files.busy_pages();
        let mut model: BTreeMap<(u32, u64), bool> = BTreeMap::new();
        for (owner, start, bytes, what) in ops {
            let range = start..start + bytes;
            let lock = Lock { kind: LockKind::Record, owner, start, end: range.end, exclusive: what == 1 };
            let taken = model.iter().any(|((other, byte), exclusive)| {
                *other != owner && range.contains(byte) && (*exclusive || what == 1)
            });
            if what == 2 {
                prop_assert_eq!(files.unlock(id, lock), Ok(()));
                model.retain(|(other, byte), _| *other != owner || !range.contains(byte));
                continue;
            }
            prop_assert_eq!(files.lock_in_the_way(id, &lock).unwrap().is_some(), taken);
            prop_assert_eq!(files.lock(id, lock), if taken { Err(Errno(EAGAIN)) } else { Ok(()) });
            if !taken {
                model.extend(range.map(|byte| ((owner, byte), what == 1)));
            }
        }
        for owner in 1..4 {
            let all = Lock { kind: LockKind::Record, owner, start: 0, end: u64::MAX, exclusive: false };
            prop_assert_eq!(files.unlock(id, all), Ok(()));
        }
        prop_assert_eq!(files.busy_pages(), busy);
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
            let mut model = empty_model();
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
                Op::Link(f, n, g, m) => {
                    let to = path(g, m);
                    let _ = files.find_itself(root, path(f, n).as_bytes())
                        .and_then(|id| files.parent_of(root, to.as_bytes()).and_then(|(folder, name)| files.link(id, folder, name, 1)));
                }
                Op::Symbolic(f, n, content) => {
                    let path = path(f, n);
                    let _ = files.parent_of(root, path.as_bytes())
                        .and_then(|(folder, name)| files.symbolic_link(folder, name, CONTENTS[content].as_bytes(), 1));
                    let _ = files.place_for(root, path.as_bytes());
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

#[test]
fn links_lead_where_they_say() {
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let root = NodeId::ROOT;
    let tmp = files.find(root, b"/tmp").unwrap();
    let folder = files.create(tmp, b"d", Kind::Folder, 0o755, 1).unwrap();
    let file = files.create(folder, b"f", Kind::File, 0o644, 1).unwrap();
    for (name, content) in [
        (&b"to-file"[..], &b"d/f"[..]),
        (b"to-folder", b"/tmp/./d/"),
        (b"to-link", b"to-folder"),
        (b"file-as-folder", b"d/f/"),
        (b"nowhere", b"to-link/new"),
        (b"self", b"self"),
        (b"exe", b"/proc/self/exe"),
    ] {
        files.symbolic_link(tmp, name, content, 1).unwrap();
    }
    assert_eq!(files.find(tmp, b"to-file"), Ok(file));
    assert_eq!(files.find(tmp, b"to-link/f"), Ok(file));
    assert_eq!(files.find(tmp, b"to-link/../to-file"), Ok(file));
    assert_eq!(files.find(tmp, b"to-link/"), Ok(folder));
    assert_eq!(files.find_itself(tmp, b"to-link/"), Ok(folder));
    let link = files.find_itself(tmp, b"to-link").unwrap();
    assert_eq!(
        (files.node(link).unwrap().kind, files.link_content(link)),
        (Kind::Link, Ok(&b"to-folder"[..]))
    );
    for (path, error) in [
        (&b"to-file/"[..], ENOTDIR),
        (b"to-file/.", ENOTDIR),
        (b"file-as-folder", ENOTDIR),
        (b"nowhere", ENOENT),
        (b"nowhere/x", ENOENT),
        (b"self", ELOOP),
        (b"self/x", ELOOP),
        (b"exe", ENOENT),
    ] {
        assert_eq!(files.find(tmp, path), Err(Errno(error)), "{}", String::from_utf8_lossy(path));
    }
    let place = files.place_for(tmp, b"nowhere").unwrap();
    assert_eq!((place.0, place.1.bytes()), (folder, &b"new"[..]));
    assert_eq!(files.place_for(tmp, b"self").map(|_| ()), Err(Errno(ELOOP)));
    assert_eq!(files.symbolic_link(tmp, b"self", b"x", 1), Err(Errno(EEXIST)));
    assert!(files.symbolic_link(tmp, b"long", &[b'x'; 4096], 1).is_err());

    // As many links as may be, and one more.
    let mut before = b"d".to_vec();
    for count in 1..=LINKS_MAX + 1 {
        let name = format!("chain-{count}").into_bytes();
        files.symbolic_link(tmp, &name, &before, 1).unwrap();
        let expected = if count <= LINKS_MAX { Ok(folder) } else { Err(Errno(ELOOP)) };
        assert_eq!(files.find(tmp, &name), expected);
        before = name;
    }
}

#[test]
fn a_file_lives_as_long_as_one_of_its_names() {
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
    let out = files.find(NodeId::ROOT, b"/out").unwrap();
    let busy = files.busy_pages();
    let id = files.create(tmp, b"one", Kind::File, 0o644, 1).unwrap();
    assert_eq!(
        files.write(id, 0, 3, 1, |piece| {
            piece.fill(7);
            Ok(())
        }),
        Ok(3)
    );
    files.link(id, out, b"two", 1).unwrap();
    files.link(id, tmp, b"three", 1).unwrap();
    assert_eq!(files.link(tmp, tmp, b"four", 1), Err(Errno(EPERM)));
    assert_eq!(files.link(id, tmp, b"three", 1), Err(Errno(EEXIST)));
    assert_eq!(files.node(id).unwrap().names(), 3);
    // The file keeps its number, whichever names it loses.
    files.unlink(tmp, b"one", 1).unwrap();
    assert_eq!((files.find(out, b"two"), files.find(tmp, b"three")), (Ok(id), Ok(id)));
    files.rename((tmp, b"three"), (out, b"two"), false, 1).unwrap();
    assert_eq!((files.find(out, b"two"), files.find(tmp, b"three")), (Ok(id), Ok(id)));
    files.rename((out, b"two"), (tmp, b"moved"), false, 1).unwrap();
    files.unlink(tmp, b"three", 1).unwrap();
    assert_eq!((files.find(tmp, b"moved"), files.node(id).unwrap().names()), (Ok(id), 1));
    files.opened(id).unwrap();
    files.unlink(tmp, b"moved", 1).unwrap();
    assert_eq!(files.node(id).unwrap().names(), 0);
    assert_eq!(files.link(id, tmp, b"again", 1), Err(Errno(ENOENT)));
    files.closed(id).unwrap();
    assert!(files.busy_pages() <= busy + 1);
}

#[test]
fn a_folder_never_goes_below_itself() {
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
    let outer = files.create(tmp, b"outer", Kind::Folder, 0o777, 1).unwrap();
    let inner = files.create(outer, b"inner", Kind::Folder, 0o777, 1).unwrap();
    for to in [outer, inner] {
        assert_eq!(
            files.rename((tmp, b"outer"), (to, b"x"), false, 2),
            Err(Errno(lwk_abi::syscall::errno::EINVAL))
        );
    }
    assert_eq!(files.find(tmp, b"outer/inner"), Ok(inner));
    assert_eq!(files.rename((outer, b"inner"), (tmp, b"inner"), false, 2), Ok(()));
    assert_eq!(files.rename((tmp, b"outer"), (inner, b"outer"), false, 2), Ok(()));
    assert_eq!(files.find(tmp, b"inner/outer"), Ok(outer));
}

#[test]
fn a_file_has_a_greatest_length() {
    use lwk_abi::syscall::errno::EFBIG;
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
    let id = files.create(tmp, b"x", Kind::File, 0o600, 1).unwrap();
    assert_eq!(files.truncate(id, 1 << 30, 2), Ok(()), "it takes no memory before it is written");
    assert_eq!(files.truncate(id, u64::MAX, 2), Err(Errno(EFBIG)));
    assert_eq!(files.node(id).unwrap().size, 1 << 30);
}

#[test]
fn a_file_has_so_many_locks_and_no_more() {
    let mut memory = Memory::of(100);
    let mut files = Files::format(&mut memory).unwrap();
    let tmp = files.find(NodeId::ROOT, b"/tmp").unwrap();
    let id = files.create(tmp, b"x", Kind::File, 0o600, 1).unwrap();
    let byte = |at: u64| Lock { kind: LockKind::Record, owner: 1, start: at, end: at + 1, exclusive: true };
    for at in 0..LOCKS_MAX as u64 - 1 {
        assert_eq!(files.lock(id, byte(2 * at)), Ok(()));
    }
    let long = Lock { end: 1_000_003, ..byte(1_000_000) };
    assert_eq!(files.lock(id, long), Ok(()));
    assert_eq!(files.lock(id, byte(2_000_000)), Err(Errno(ENOLCK)));
    // To take a piece out of the middle would make two of one.
    assert_eq!(files.unlock(id, byte(1_000_001)), Err(Errno(ENOLCK)));
    assert_eq!(files.lock_in_the_way(id, &Lock { owner: 2, ..byte(1_000_001) }), Ok(Some(long)));
    assert_eq!(files.unlock(id, byte(1_000_002)), Ok(()));
    assert_eq!(files.lock_in_the_way(id, &Lock { owner: 2, ..byte(1_000_002) }), Ok(None));
    // The other kind of locks does not see these.
    assert_eq!(files.lock_in_the_way(id, &Lock { owner: 2, kind: LockKind::Whole, ..byte(0) }), Ok(None));
}
