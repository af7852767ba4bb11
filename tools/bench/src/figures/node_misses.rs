//! Figures 6.4 and 6.11: misses of caches as large as the document's, as a core has them for itself, counted on a node by a plugin of QEMU (`plugin/misses.c`). What the
//! kernel copies passes these caches, too, and what one core has written is missed by the next.
//!
//! The emulator counts instructions in place of time, so cores take turns in one thread, and a count is the same in each run. Two runs that differ by some repetitions, or
//! by the program, leave out the boot. It is a node whatever `--host` says.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lwk::emulator;
use lwk::progress::Step;

use super::applications::{BASE, NAMES};
use super::asked::{Asked, Outcomes, file, of};
use super::values::is_below;
use crate::node::figures::MPI;
use crate::node::program::Setting;
use crate::node::results::{BYTES, Measurement};

/// The source's name, and its tests.
pub const PROGRAM: &str = "node_misses";
pub const WINDOWS: &str = "misses of windows";
pub const APPLICATIONS: &str = "misses of applications";
/// The plugin, relative to the tree.
const SOURCE: &str = "tools/bench/plugin/misses.c";
/// Version of QEMU from which on plugins are of the interface's version 2; before, of 1.
const LATER_INTERFACE: u32 = 9;
/// MiB of each rank.
const MEMORY: u64 = 64;
/// Sizes, of which `limic2` has the kernel copy all.
pub const SIZES: [u64; 6] = [1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20];
const KERNEL_FROM: [&str; 2] = ["--env", "MARGAY_SHM_KERNEL_ABOVE=512"];
/// Repetitions of a window in the two runs.
const REPETITIONS: [u32; 2] = [1, 3];
const MESSAGES: &str = "64";
/// Arguments by [`NAMES`], with which each takes seconds in the emulator, and a rank's data do not fit its cache.
const ARGUMENTS: [&[&str]; 4] = [&["1000000"], &["256", "20"], &["1024", "1024", "5"], &["24", "5"]];
/// The program that does nothing.
const NOTHING: &str = "hello";

/// Counts.
pub fn measure(asked: &Asked<'_>) -> Outcomes {
    let mut all = Outcomes::default();
    let place = Setting { on_host: false, mem: MEMORY, ..*asked.place };
    let plugin = match Plugin::build(&place, asked.verbose) {
        Ok(plugin) => plugin,
        Err(why) => {
            file(&mut all, "misses of caches", Err::<Vec<_>, _>(why));
            return all;
        }
    };
    if asked.wants(WINDOWS) {
        let sizes = if place.quick { &SIZES[3..4] } else { &SIZES[..] };
        let ways = [(BASE, &[][..]), ("limic2", &KERNEL_FROM[..])];
        for ((path, more), bytes) in ways.iter().flat_map(|way| sizes.iter().map(move |bytes| (way, *bytes)))
        {
            let what = format!("misses of windows of {bytes} bytes over {path}");
            let _step = Step::begin(format!("counting {what}"), asked.verbose);
            file(&mut all, &what, window(&plugin, path, more, bytes).map(Some));
        }
    }
    if asked.wants(APPLICATIONS) {
        applications(asked, &plugin, &mut all);
    }
    all
}

/// Misses of a window of messages.
fn window(plugin: &Plugin<'_>, path: &str, more: &[&str], bytes: u64) -> Result<Measurement, String> {
    let [few, many] = REPETITIONS.map(|repetitions| {
        let (sizes, repetitions) = (format!("{bytes}:{bytes}"), repetitions.to_string());
        let words =
            ["mbw_rewritten", "--sizes", &sizes, "--iterations", MESSAGES, "--repetitions", &repetitions];
        plugin.count(MPI, 2, Some(path), more, &words)
    });
    let misses = (many? - few?) / f64::from(REPETITIONS[1] - REPETITIONS[0]);
    Ok(of(PROGRAM, WINDOWS, path, 2, (BYTES, bytes.to_string()), (misses, "of 64 messages")))
}

/// Those of the bundled programs, whose messages and collectives go by the path, beyond those of a program that does nothing.
fn applications(asked: &Asked<'_>, plugin: &Plugin<'_>, all: &mut Outcomes) {
    let step = Step::begin("counting misses of a boot", asked.verbose);
    let nothing = plugin.count(NOTHING, asked.ranks, None, &[], &[]);
    drop(step);
    let nothing = match nothing {
        Ok(nothing) => nothing,
        Err(why) => return file(all, "misses of a boot", Err::<Vec<_>, _>(why)),
    };
    for ((name, arguments), path) in
        NAMES.iter().zip(ARGUMENTS).flat_map(|program| [BASE, "hybrid"].map(|path| (program, path)))
    {
        let what = format!("misses of {name} over {path}");
        let _step = Step::begin(format!("counting {what}"), asked.verbose);
        let arguments = if plugin.place.quick { &[][..] } else { arguments };
        let counted = plugin.count(name, asked.ranks, Some(path), &["--apart"], arguments);
        let key = ("program", String::from(*name));
        let one = |misses: f64| {
            Some(of(PROGRAM, APPLICATIONS, path, asked.ranks, key, (misses - nothing, "misses")))
        };
        file(all, &what, counted.map(one));
    }
}

/// The plugin as a library, in a folder of its own that has room for what it says.
struct Plugin<'p> {
    place: &'p Setting<'p>,
    folder: lwk::tree::RunFolder,
    library: PathBuf,
}

impl<'p> Plugin<'p> {
    /// Errors: what is wrong, in a line.
    fn build(place: &'p Setting<'p>, verbose: bool) -> Result<Plugin<'p>, String> {
        let tree = place.lwk.tree();
        let folder = place.lwk.folder()?;
        let library = folder.file("misses.so");
        let path = library.to_string_lossy();
        if path.contains(|letter: char| letter == ',' || letter.is_whitespace()) {
            return Err(format!(
                "QEMU takes no plugin at {path:?}: have the tree at a path without commas and spaces"
            ));
        }
        let qemu = emulator::find_qemu(tree, verbose).map_err(|failure| failure.message)?;
        let version = emulator::version(&qemu).ok_or("QEMU does not say its version")?;
        let interface = if version >= LATER_INTERFACE { 2 } else { 1 };
        compile(&tree.root().join(SOURCE), &library, &[&format!("-DAPI={interface}"), "-shared", "-fPIC"])?;
        Ok(Plugin { place, folder, library })
    }

    /// Misses of all cores, from the first instruction of the node's to its last.
    fn count(
        &self,
        program: &str,
        ranks: u32,
        transport: Option<&str>,
        more: &[&str],
        arguments: &[&str],
    ) -> Result<f64, String> {
        let said = self.folder.file("misses");
        let qemu = format!("-icount shift=0 -plugin file={},out={}", self.library.display(), said.display());
        let options = [&["--accel", "tcg", "--qemu", qemu.as_str()], more].concat();
        let arguments: Vec<String> = arguments.iter().map(|word| String::from(*word)).collect();
        self.place.run_with(program, ranks, transport, &options, &arguments)?;
        let text =
            fs::read_to_string(&said).map_err(|error| format!("QEMU's plugin has said nothing: {error}"))?;
        // What the next run does not write is not of this one.
        fs::remove_file(&said).map_err(|error| error.to_string())?;
        misses(&text)
    }
}

/// Compiles a program in C by this machine's compiler. Errors: there is none, or what it says.
fn compile(source: &Path, to: &Path, options: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]).args(options);
    let output = command.arg(source).arg("-o").arg(to).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cc: {error}; install a C compiler"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "cc cannot compile {}: {}",
        source.display(),
        said.lines().next().unwrap_or("it says nothing")
    ))
}

/// The count that the plugin has written. Errors: there were more cores than it has caches, or it is something else.
fn misses(text: &str) -> Result<f64, String> {
    let number = |name: &str| -> Option<u64> {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    };
    match (number("misses"), number("beyond")) {
        (Some(misses), Some(0)) => Ok(misses as f64),
        (Some(_), Some(_)) => {
            Err("the node has more cores than QEMU's plugin has caches: ask for fewer ranks".into())
        }
        _ => Err(format!("QEMU's plugin has said {text:?}")),
    }
}

/// Whether the kernel's copy misses less often, at every size.
pub fn kernel_misses_less(all: &[Measurement]) -> Option<bool> {
    is_below(all, WINDOWS, ["limic2", BASE], &SIZES)
}

/// Whether the sort misses less often over the hybrid.
pub fn sort_misses_less(all: &[Measurement]) -> Option<bool> {
    let of_sort = |path: &str| {
        let is_it =
            |one: &&Measurement| one.test == APPLICATIONS && one.transport == path && one.of == NAMES[0];
        all.iter().find(is_it).map(|one| one.value)
    };
    Some(of_sort("hybrid")? < of_sort(BASE)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drives the plugin's caches, and prints how many of each step's accesses were missed.
    const DRIVER: &str = r#"
#include <stdio.h>
#include CACHES
static void step(unsigned core, uint64_t first, uint64_t lines, bool is_store)
{
    uint64_t before = misses;
    for (uint64_t line = 0; line < lines; line++)
        use(core, first + line, is_store);
    printf("%llu ", (unsigned long long)(misses - before));
}
int main(void)
{
    step(0, 7, 1, false); step(0, 7, 1, true); /* loaded, so stored without a miss */
    step(1, 7, 1, false); step(0, 7, 1, false); /* both have it */
    step(1, 7, 1, true); step(0, 7, 1, false); /* the store takes it away */
    step(0, 1 << 20, 32768, false); step(0, 1 << 20, 32768, false); /* 2 MiB fit */
    step(2, 0, 32769, false); step(2, 0, 32769, false); /* a line more: a set of 17 lines misses all of them */
    return 0;
}
"#;

    #[test]
    fn the_plugin_misses_what_does_not_fit_and_what_others_have_written() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folder = std::env::temp_dir().join(format!("lwk-misses-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (source, program) = (folder.join("driver.c"), folder.join("driver"));
        fs::write(&source, DRIVER).unwrap();
        let caches = root.join(SOURCE).with_file_name("caches.h");
        compile(&source, &program, &[&format!("-DCACHES=\"{}\"", caches.display())]).unwrap();
        let output = Command::new(&program).output().unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1 0 1 0 0 1 32768 0 32769 17 ");
    }

    #[test]
    fn what_the_plugin_says_is_a_count_or_an_error() {
        assert_eq!(misses("misses 19852\nbeyond 0\n"), Ok(19_852.0));
        assert!(misses("misses 5\nbeyond 1\n").unwrap_err().contains("more cores"));
        assert!(misses("").is_err() && misses("misses x\nbeyond 0\n").is_err());
    }

    #[test]
    fn conclusions_are_of_every_size_and_of_the_sort() {
        let at = |path: &str, bytes: u64, value| {
            of(PROGRAM, WINDOWS, path, 2, (BYTES, bytes.to_string()), (value, "of 64 messages"))
        };
        let mut all: Vec<_> =
            SIZES.iter().flat_map(|bytes| [at(BASE, *bytes, 9.0), at("limic2", *bytes, 8.0)]).collect();
        assert_eq!(kernel_misses_less(&all), Some(true));
        assert_eq!(kernel_misses_less(&all[1..]), None);
        all.push(at("limic2", SIZES[5], 9.5));
        assert_eq!(kernel_misses_less(&all), Some(false));
        let sort = |path: &str, value| {
            of(PROGRAM, APPLICATIONS, path, 2, ("program", "is".into()), (value, "misses"))
        };
        assert_eq!(sort_misses_less(&[sort(BASE, 2.0), sort("hybrid", 1.0)]), Some(true));
        assert_eq!(sort_misses_less(&[sort(BASE, 2.0)]), None);
    }
}
