//! Files of a job: those it is given (`--file`, and on a node `--cwd`), as the image of a file system (crate `lwk-files`), and those it has
//! left under `/out`, written to a folder (`--out`), or has changed in its current folder (`--cwd`).
//!
//! Nothing is written outside of these folders, whatever names and links the job has left: a symbolic link comes back as one if it leads to
//! a place in the same folder, and is an error else; nothing is ever written through a link. Further names of a file come back as copies.

mod back;
mod given;
mod pieces;
#[cfg(test)]
mod tests;

pub use back::{Back, bring_back};
pub use given::image;
pub use pieces::{Piece, fetch};

use std::fs;
use std::path::Path;

use lwk_files::{Errno, Files, PAGE_BYTES, Page, Pages};

use crate::failure::{Failure, Outcome};

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

fn describe(Errno(number): Errno) -> String {
    std::io::Error::from_raw_os_error(number as i32).to_string()
}
