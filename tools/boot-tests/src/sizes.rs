//! Whether files and functions are short enough to be read at once. What is longer has a reason here; who adds something long divides it, or says why not.

use std::fs;
use std::path::Path;

use lwk::failure::{Doing, Outcome};

/// Lines of a file, and of a function from its first to its last, that need no reason.
const FILE: usize = 400;
const FUNCTION: usize = 60;

const DISPATCH: &str = "a table in the form of a match: an arm a case, each of which names what is done";
const RUN: &str = "the steps of one run in their order, each of which needs what the ones before have made";
const SCENE: &str = "one scene of a test, told from begin to end";
const DRAW: &str = "one picture, drawn from its back to its front";

/// Files that may be longer, or must be shorter: path, lines at most, reason.
#[rustfmt::skip]
const FILES: [(&str, usize, &str); 20] = [
    ("apps/src/bin/portals-bench.rs", 480, "one program, its tests side by side"),
    ("kernel/files/tests/model.rs", 720, "a second, plain file system, against which the first is held"),
    ("kernel/frames/src/window.rs", 412, "one protocol, its sender and its receiver, with their tests"),
    ("kernel/limic/src/lib.rs", 470, "one protocol, with its tests"),
    ("kernel/personality/tests/calls/home.rs", 410, "one home, made for tests"),
    ("kernel/portals/src/upper.rs", 480, "one end of a link, with what it sends and takes in"),
    ("kernel/portals/tests/fetch.rs", 520, "one model, and the schedules that are held against it"),
    ("kernel/portals/tests/reference.rs", 550, "a second, plain implementation, against which the first is held"),
    ("kernel/portals/tests/semantics.rs", 785, "the sentences of one specification, in its order"),
    ("mpi-rt/fabric/path/src/late.rs", 200, "shorter than others may be: it shows that the trait is small"),
    ("mpi-rt/fabric/path/src/portals/mod.rs", 450, "one path: all that its trait asks for"),
    ("mpi-rt/mpi/src/collective_calls.rs", 410, "a method for each collective function"),
    ("mpi-rt/partitioned/src/lib.rs", 410, "one kind of operation, its state and its calls"),
    ("mpi-rt/src/collective/fold.rs", 410, "one algorithm family, whose steps share their buffers"),
    ("mpi-rt/src/receive.rs", 530, "matching and receiving: to be divided with the engine"),
    ("mpi-rt/src/wait.rs", 430, "waiting and testing: to be divided with the engine"),
    ("qemu-tests/src/bin/syscall-storm.rs", 540, "one program: a kind of call a function"),
    ("qemu-tests/src/mpi/sequences.rs", 420, "one program: a kind of operation a function"),
    ("tools/boot-tests/src/peers.rs", 440, "the rows of one comparison, side by side"),
    ("tools/home/src/tool.rs", 440, "one life under a tool, from its start to the program"),
];

/// Longer functions: path of the file, name, lines at most, reason.
#[rustfmt::skip]
const FUNCTIONS: [(&str, &str, usize, &str); 49] = [
    ("apps/mpi/src/bin/mpi-bench.rs", "main", 100, DISPATCH),
    ("apps/mpi/src/mpi_bench/kernel_copy.rs", "measure", 70, RUN),
    ("kernel/files/tests/model.rs", "step", 210, DISPATCH),
    ("kernel/files/tests/model.rs", "a_damaged_image_is_an_error_at_worst", 80, SCENE),
    ("kernel/job/src/read.rs", "parse", 110, DISPATCH),
    ("kernel/personality/src/linux.rs", "dispatch", 150, DISPATCH),
    ("kernel/portals/src/calls.rs", "answer_call", 80, DISPATCH),
    ("kernel/portals/src/initiator.rs", "begin", 70, "one operation is built field by field"),
    ("kernel/portals/src/target.rs", "matched", 100, "the rules of matching in the order in which the specification has them"),
    ("kernel/portals/src/upper.rs", "take_first", 70, DISPATCH),
    ("kernel/portals/tests/matching.rs", "a_network_that_loses_frames_changes_nothing_but_the_time", 70, SCENE),
    ("kernel/portals/tests/semantics.rs", "a_node_cannot_speak_for_the_ranks_of_another", 90, SCENE),
    ("mpi-rt/datatype/tests/suite/model.rs", "map", 70, DISPATCH),
    ("mpi-rt/schedule/tests/common/mod.rs", "play", 70, SCENE),
    ("mpi-rt/src/collective/equal_parts.rs", "alltoall_row", 80, "one choice of an algorithm, by everything that it depends on"),
    ("mpi-rt/src/collective/fold.rs", "fold", 80, "one choice of an algorithm, by everything that it depends on"),
    ("mpi-rt/src/collective/line_run.rs", "exchange_job", 70, DISPATCH),
    ("mpi-rt/src/collective/mod.rs", "collective", 100, DISPATCH),
    ("mpi-rt/src/collective/schedules.rs", "by_messages", 100, DISPATCH),
    ("mpi-rt/src/collective/schedules.rs", "by_messages_between", 100, DISPATCH),
    ("mpi-rt/src/collective/told_neighbours.rs", "neighbour_parts", 70, DISPATCH),
    ("qemu-tests/src/bin/portals-copies.rs", "run", 70, SCENE),
    ("qemu-tests/src/bin/portals-guards.rs", "thief", 90, SCENE),
    ("qemu-tests/src/bin/portals-nodes.rs", "work", 90, SCENE),
    ("qemu-tests/src/bin/portals-soak.rs", "new", 70, SCENE),
    ("qemu-tests/src/bin/shmem-misuse.rs", "main", 90, SCENE),
    ("qemu-tests/src/bin/shmem-test/stress.rs", "run", 90, SCENE),
    ("qemu-tests/src/bin/syscall-errors.rs", "copies", 70, SCENE),
    ("qemu-tests/src/mpi/errors.rs", "arguments", 80, SCENE),
    ("qemu-tests/src/mpi/face/communicators.rs", "between_groups", 70, SCENE),
    ("qemu-tests/src/mpi/layouts.rs", "exchange", 130, SCENE),
    ("qemu-tests/src/mpi/parts.rs", "run", 100, SCENE),
    ("qemu-tests/src/mpi/sequences.rs", "begin", 220, SCENE),
    ("qemu-tests/src/mpi/windows/random.rs", "one_target", 70, SCENE),
    ("tools/bench/src/node/mod.rs", "run", 80, RUN),
    ("tools/bench/src/peers/mod.rs", "run", 100, RUN),
    ("tools/bench/src/peers/plot.rs", "overview", 80, DRAW),
    ("tools/bench/src/peers/sweep/mod.rs", "run", 70, RUN),
    ("tools/bench/src/portals/mod.rs", "run", 70, RUN),
    ("tools/boot-tests/src/wrappers/mod.rs", "started_directly", 70, RUN),
    ("tools/home/src/node.rs", "run", 100, RUN),
    ("tools/home/src/tool.rs", "become_rank", 70, RUN),
    ("tools/host/src/node.rs", "run", 80, RUN),
    ("tools/host/src/nodes.rs", "run", 100, RUN),
    ("tools/src/nodes/qemu.rs", "run", 90, RUN),
    ("tools/src/qemu.rs", "arguments", 70, RUN),
    ("tools/src/run.rs", "run", 70, RUN),
    ("tools/src/run.rs", "job_of_nodes", 70, RUN),
    ("tools/src/session.rs", "supervise", 70, RUN),
];

/// Files and functions that are longer than they may be. `files` are Rust's, by their paths in the tree. Errors: a file cannot be read.
pub fn strays(root: &Path, files: &[String]) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for file in files {
        let at = root.join(file);
        let text = fs::read_to_string(&at).doing(|| format!("read {}", at.display()))?;
        let (lines, most) = (text.lines().count(), of_file(file));
        if lines > most {
            found.push(format!("{file}: {lines} lines, {most} may be"));
        }
        for (name, lines) in functions(&text) {
            let most = of_function(file, name);
            if lines > most {
                found.push(format!("{file}: {name} has {lines} lines, {most} may be"));
            }
        }
    }
    Ok(found)
}

fn of_file(path: &str) -> usize {
    FILES.iter().find(|(known, ..)| *known == path).map_or(FILE, |(_, most, _)| *most)
}

fn of_function(path: &str, name: &str) -> usize {
    let known = FUNCTIONS.iter().find(|(file, known, ..)| *file == path && *known == name);
    known.map_or(FUNCTION, |(_, _, most, _)| *most)
}

/// Names and lines of the functions of a file that rustfmt has laid out: each ends with a brace where its first line begins.
fn functions(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |first| {
        let name = name_of(lines[first])?;
        let ends = |line: &&str| ['{', '}', ';'].iter().any(|it| line.ends_with(*it));
        let opens = first + lines[first..].iter().position(|line| ends(&line.trim_end()))?;
        if !lines[opens].ends_with('{') {
            return None;
        }
        let indent = lines[first].len() - lines[first].trim_start().len();
        let is_end = |line: &&str| line.trim_start() == "}" && line.len() == indent + 1;
        let last = opens + lines[opens..].iter().position(is_end)?;
        Some((name, last - first + 1))
    })
}

/// The name of the function that begins with this line.
fn name_of(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_qualifier = |word: &str| {
        ["pub", "const", "async", "unsafe", "extern", "\"C\"", "default"].contains(&word)
            || word.starts_with("pub(")
            || word.ends_with(')')
    };
    let name = &rest[..rest.find(['(', '<'])?];
    before.split_whitespace().all(is_qualifier).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_from_their_first_to_their_last_line() {
        let text = "impl A {\n    pub(crate) unsafe fn a<T>(\n        b: T,\n    ) {\n        if b {\n        }\n    }\n\n    fn c() {}\n    fn d();\n}\n\nfn e() {\n}\n";
        assert_eq!(functions(text).collect::<Vec<_>>(), [("a", 6), ("e", 2)]);
    }

    #[test]
    fn nothing_long_is_new() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = crate::safety::sources(&root, "").unwrap();
        assert_eq!(strays(&root, &files).unwrap(), [""; 0]);
    }

    #[test]
    fn what_is_known_has_a_reason_and_needs_one() {
        assert!(FILES.iter().all(|(_, most, why)| *most != FILE && !why.is_empty()));
        assert!(FUNCTIONS.iter().all(|(_, _, most, why)| *most > FUNCTION && !why.is_empty()));
        assert_eq!((of_file("kernel/new.rs"), of_function("kernel/new.rs", "run")), (FILE, FUNCTION));
    }
}
