//! Files there and back, through links and damage.

use super::back::OUT;
use super::*;
use crate::cli::JobOptions;
use lwk_files::{Kind, NodeId};
use std::path::PathBuf;

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
