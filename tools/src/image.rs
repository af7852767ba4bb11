//! RAM disk and disk image of a job.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use lwk_abi::job_file;
use lwk_files::Page;

use crate::failure::{Doing, Failure, Outcome};
use crate::job::Job;
use crate::strip;

/// The RAM disk: a ustar archive of the job file, of the program without what no loader reads, and of the image of the file system
/// if the job is given files.
pub fn ram_disk(job: &Job, program: &[u8], files: Option<&[Page]>) -> Outcome<Vec<u8>> {
    archive(job.encode(), strip::for_boot(program), files.map(|pages| pages.as_flattened().to_vec()))
}

/// As [`ram_disk`], of what its members are to be.
pub fn archive(job: Vec<u8>, program: Vec<u8>, files: Option<Vec<u8>>) -> Outcome<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let files = files.map(|bytes| (job_file::FILES, bytes));
    let always = [(job_file::JOB, job), (job_file::PROGRAM, program)];
    for (name, bytes) in always.into_iter().chain(files) {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o444);
        archive.append_data(&mut header, name, &bytes[..]).doing(|| "write the RAM disk".into())?;
    }
    archive.into_inner().doing(|| "write the RAM disk".into())
}

/// Writes the disk image `image` with the kernel and the RAM disk in the files of these names. `builder` is the
/// command of the package in `boot/`; `scratch` a folder for its temporary files.
pub fn write(builder: &Path, kernel: &Path, ram_disk: &Path, image: &Path, scratch: &Path) -> Outcome<()> {
    let mut command = Command::new(builder);
    command.args([kernel, ram_disk, image]).env("TMPDIR", scratch);
    let output = command.output().doing(|| format!("start {}", builder.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let why = text.lines().next().unwrap_or("it gives no reason").trim_start_matches("margay-boot: ");
    Err(Failure::host(format!("the disk image cannot be made: {why}")))
}

/// Writes `bytes` to the file `path`, in the place of what is there. Errors: it cannot be written.
pub fn write_file(path: &Path, bytes: &[u8]) -> Outcome<()> {
    fs::write(path, bytes).doing(|| format!("write {}", path.display()))
}

/// Reads a program; the failure tells a wrong name from an unreadable file.
pub fn read_program(path: &Path) -> Outcome<Vec<u8>> {
    use std::io::Read;
    let failed = |error: std::io::Error| {
        Failure::usage(format!("the program {} cannot be read: {error}", path.display()))
    };
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(failed)?;
    // A device or a pipe could deliver without end.
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Failure::usage(format!("the program {} is not a file", path.display())));
    }
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{AtEnd, ConsoleForm};
    use std::io::Read;

    #[test]
    fn the_ram_disk_is_an_archive_of_job_and_program() {
        let job = Job {
            ranks: 1,
            on_each_core: false,
            memory: Some(4096),
            arguments: vec!["x".into()],
            environment: Vec::new(),
            log: None,
            oversubscribe: false,
            report: false,
            cores: None,
            bind: None,
            wait: lwk_job::Wait::Pause,
            console: ConsoleForm::Framed,
            at_end: AtEnd::Exit,
            file_space: None,
            folder: None,
            out: false,
            inject: None,
            network: None,
            irq_core: None,
            workers: 0,
            limit: None,
        };
        let disk = ram_disk(&job, b"not an ELF file", Some(&[[7; lwk_files::PAGE_BYTES]])).unwrap();
        assert_eq!(disk[257..263], *b"ustar\0", "the archive has the POSIX form");
        let mut archive = tar::Archive::new(&disk[..]);
        let members: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let mut entry = entry.unwrap();
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).unwrap();
                (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
            })
            .collect();
        let expected = [
            ("job".into(), job.encode()),
            ("program".into(), b"not an ELF file".to_vec()),
            ("files".into(), vec![7; 4096]),
        ];
        assert_eq!(members, expected);
    }
}
