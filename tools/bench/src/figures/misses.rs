//! Figure 3.8: misses of a cache of the document's size, by both designs of shared memory, as the document has counted them: by valgrind. The receiver runs under it, in the host home.
//!
//! Its caches are simulated for one process, so what the other rank takes away is no miss. Two runs that differ by some repetitions leave out the start.

use lwk::packages;
use lwk::progress::Step;

use super::asked::{Asked, Outcomes, file, of};
use crate::node::program::Setting;
use crate::node::results::{BYTES, Measurement};

/// The source's name, and its test.
pub const PROGRAM: &str = "misses";
pub const TEST: &str = "misses";
const PATHS: [&str; 2] = ["shm-basic", "shm-advanced"];
const SIZES: [u64; 6] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
/// The second-level cache of the document's machine is the simulated one's last: bytes, ways, bytes of a line.
const TOOL: &str =
    "--valgrind=--tool=cachegrind --cache-sim=yes --LL=1048576,16,64 --cachegrind-out-file=/dev/null";
/// The receiver.
const RANK: &str = "1";
/// Repetitions of a window of messages in the two runs.
const REPETITIONS: [u32; 2] = [1, 5];
const MESSAGES: &str = "64";
/// What valgrind says, for the process.
const SAID: &str = "LLd misses:";

/// Counts by `mpi-bench mbw_reuse`.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    if let Err(failure) = packages::find_valgrind(asked.verbose) {
        file(&mut all, "misses of the cache", Err::<Vec<_>, _>(failure.message));
        return all;
    }
    let place = Setting { on_host: true, ..*asked.place };
    let sizes = if asked.place.quick { &SIZES[..1] } else { &SIZES[..] };
    for (path, bytes) in PATHS.into_iter().flat_map(|path| sizes.iter().map(move |bytes| (path, *bytes))) {
        let what = format!("misses over {path} at {bytes} bytes");
        let _step = Step::begin(format!("counting {what}"), asked.verbose);
        file(&mut all, &what, once(&place, path, bytes));
    }
    all
}

/// Misses of a window of messages.
fn once(place: &Setting<'_>, path: &str, bytes: u64) -> Result<Option<Measurement>, String> {
    let [few, many] = REPETITIONS.map(|repetitions| {
        let (sizes, repetitions) = (format!("{bytes}:{bytes}"), repetitions.to_string());
        let words = [
            "mbw_reuse",
            "--sizes",
            sizes.as_str(),
            "--iterations",
            MESSAGES,
            "--repetitions",
            repetitions.as_str(),
        ];
        let ended = place.run_with(
            "mpi-bench",
            2,
            Some(path),
            &[TOOL, "--valgrind-rank", RANK],
            &words.map(String::from),
        )?;
        number(&ended.stderr).ok_or_else(|| format!("valgrind has counted nothing: {}", ended.stderr.trim()))
    });
    let more = f64::from(REPETITIONS[1] - REPETITIONS[0]);
    let misses = (many? as f64 - few? as f64).max(0.0) / more;
    Ok(Some(of(PROGRAM, TEST, path, 2, (BYTES, bytes.to_string()), (misses, "of 64 messages"))))
}

/// The number behind what valgrind says, whose thousands have commas.
fn number(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(SAID)?;
    rest.split_whitespace().next()?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn the_count_is_found_in_what_valgrind_says() {
        let said = "==7== D1  misses:       9,000  (8 rd)\n==7== LLd misses:       1,234,567  (  1,000 rd   + 2 wr)\n";
        assert_eq!(number(said), Some(1_234_567));
        assert_eq!(number("==7== LLd misses:"), None);
    }
}
