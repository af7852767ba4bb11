//! The Linux guest's initramfs: programs with the shared libraries they need, in the kernel's own archive form (cpio, "newc").

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use cpio::newc::{Builder, ModeFileType};
use object::Object;
use object::read::elf::{ElfFile64, ProgramHeader};

use lwk::failure::{Doing, Failure, Outcome};

/// Where the dynamic linker looks without being told.
const LIBRARIES: &str = "lib";

/// Files by their path in the guest.
#[derive(Debug, Default)]
pub struct Initramfs {
    files: BTreeMap<String, Content>,
}

#[derive(Debug)]
enum Content {
    File(Vec<u8>),
    Link(String),
}

impl Initramfs {
    /// Adds a file at a path without a slash in front, in the place of one that is there; everything is executable.
    pub fn add(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.insert(path.into(), Content::File(bytes));
    }

    /// Adds a symbolic link, in the same way.
    pub fn link(&mut self, path: &str, target: &str) {
        self.files.insert(path.into(), Content::Link(target.into()));
    }

    /// Adds a program of this machine with the libraries that it needs, from `folders`. A library that is in none is an error.
    pub fn add_program(&mut self, path: &str, file: &Path, folders: &[PathBuf]) -> Outcome<()> {
        let bytes = fs::read(file).doing(|| format!("read {}", file.display()))?;
        let needed = needs(&bytes).doing(|| format!("read {} as an ELF file", file.display()))?;
        self.add(path, bytes);
        for name in needed {
            // An interpreter is a path, a library a name.
            let base = name.rsplit('/').next().unwrap_or(&name);
            let to = match name.strip_prefix('/') {
                Some(path) => path.to_owned(),
                None if base.starts_with("ld-") => format!("lib64/{base}"),
                None => format!("{LIBRARIES}/{base}"),
            };
            if self.files.contains_key(&to) {
                continue;
            }
            let from = folders.iter().map(|folder| folder.join(base)).find(|file| file.is_file());
            let from = from.ok_or_else(|| {
                Failure::host(format!(
                    "{} needs the library {name}, which no package has brought",
                    file.display()
                ))
            })?;
            self.add_program(&to, &from, folders)?;
        }
        Ok(())
    }

    /// The archive: cpio in the form "newc" (cpio(5)), folders first.
    pub fn archive(&self) -> Outcome<Vec<u8>> {
        let what = || "write the Linux guest's initramfs".to_owned();
        let folders: BTreeSet<&str> =
            self.files.keys().flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..at])).collect();
        let entry = |name: &str, number: usize| Builder::new(name).ino(number as u32 + 1).nlink(1);
        let mut inputs: Vec<(Builder, Cursor<&[u8]>)> = Vec::new();
        for (number, folder) in folders.iter().enumerate() {
            let entry = entry(folder, number).mode(0o755).set_mode_file_type(ModeFileType::Directory);
            inputs.push((entry, Cursor::new(&[])));
        }
        for (number, (path, content)) in self.files.iter().enumerate() {
            let entry = entry(path, folders.len() + number);
            inputs.push(match content {
                Content::File(bytes) => {
                    (entry.mode(0o755).set_mode_file_type(ModeFileType::Regular), Cursor::new(&bytes[..]))
                }
                Content::Link(target) => (
                    entry.mode(0o777).set_mode_file_type(ModeFileType::Symlink),
                    Cursor::new(target.as_bytes()),
                ),
            });
        }
        cpio::write_cpio(inputs.into_iter(), Vec::new()).doing(what)
    }
}

/// The libraries that a program or a library names, and its dynamic linker.
fn needs(program: &[u8]) -> object::Result<Vec<String>> {
    let file = ElfFile64::<object::Endianness>::parse(program)?;
    let mut names = Vec::new();
    for library in file.import_libraries()? {
        names.push(String::from_utf8_lossy(library?.name()).into_owned());
    }
    for header in file.elf_program_headers() {
        if let Some(linker) = header.interpreter(file.endianness(), program)? {
            names.push(String::from_utf8_lossy(linker).into_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them() {
        let mut files = Initramfs::default();
        files.add("usr/bin/a", b"content".to_vec());
        files.link("bin/b", "a");
        let archive = files.archive().unwrap();
        let mut names = Vec::new();
        let mut rest = &archive[..];
        loop {
            let reader = cpio::NewcReader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            names.push(reader.entry().name().to_owned());
            rest = reader.finish().unwrap();
        }
        assert_eq!(names, ["bin", "usr", "usr/bin", "bin/b", "usr/bin/a"]);
    }

    #[test]
    fn a_program_without_its_libraries_is_refused() {
        let this = std::env::current_exe().unwrap();
        let failure = Initramfs::default().add_program("a", &this, &[]).unwrap_err();
        assert!(failure.message.contains("needs the library"), "{failure}");
    }
}
