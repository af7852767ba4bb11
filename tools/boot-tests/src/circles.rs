//! Whether files of a crate use each other in a circle: who reads one of them has to read all. A file and those in its folder belong together: it declares what
//! they are parts of, so what a file uses of the modules that it lies in, and they of it, is no circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use lwk::failure::{Doing, Outcome};

/// How many files of a crate may lie in circles, by its folder; of any other crate, none. No number here grows.
const KNOWN: [(&str, usize); 10] = [
    // Jobs, ranks, memory and network of a node know each other; so do the files that know the processor.
    ("kernel", 25),
    // The node is one type: its fields are the states of its parts, which are files beside it.
    ("kernel/portals", 9),
    // As the node.
    ("mpi-rt", 21),
    ("tools", 9),
    ("tools/bench", 21),
    ("tools/boot-tests", 3),
    ("tools/home", 13),
    ("tools/host", 2),
    ("userlib", 2),
    ("userlib/portals", 3),
];

/// A crate's modules, by their paths, with the paths that each mentions.
type Modules = BTreeMap<Vec<String>, Vec<Vec<String>>>;

/// The crates that have more files in circles than they may. `files` are Rust's, by their paths in the tree. Errors: a file cannot be read.
pub fn strays(root: &Path, files: &[String]) -> Outcome<Vec<String>> {
    let mut crates: BTreeMap<&str, Modules> = BTreeMap::new();
    for file in files {
        let Some((folder, path)) = file.split_once("/src/") else { continue };
        let at = root.join(file);
        let text = fs::read_to_string(&at).doing(|| format!("read {}", at.display()))?;
        crates.entry(folder).or_default().insert(module(path), mentioned(&text));
    }
    let found = crates.iter().filter_map(|(folder, modules)| {
        let circles = in_circles(modules);
        let most = KNOWN.iter().find(|(known, _)| known == folder).map_or(0, |(_, most)| *most);
        let names: Vec<String> = circles.iter().map(|path| path.join("/")).collect();
        (names.len() > most).then(|| {
            let count = names.len();
            format!("{folder}: {count} files use each other in circles, {most} may: {}", names.join(", "))
        })
    });
    Ok(found.collect())
}

/// The module of a file, by its path below `src`.
fn module(path: &str) -> Vec<String> {
    let mut names: Vec<String> = path.trim_end_matches(".rs").split('/').map(String::from).collect();
    if names.last().is_some_and(|name| ["lib", "main", "mod"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// The paths that a file mentions: those of its `use` declarations, unless they are public, and those that begin at the crate or above the module.
fn mentioned(text: &str) -> Vec<Vec<String>> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut lines = code.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let (mut paths, mut rest) = (Vec::new(), String::new());
    while let Some(line) = lines.next() {
        let Some((before, tree)) = line.split_once("use ").filter(|(before, _)| is_declaration(before))
        else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut tree = tree.to_owned();
        while !tree.ends_with(';') {
            let Some(line) = lines.next() else { break };
            tree.push_str(line);
        }
        if before.is_empty() {
            expand(&[], tree.trim_end_matches(';'), &mut paths);
        }
    }
    for first in ["crate::", "super::"] {
        for (at, _) in rest.match_indices(first) {
            let goes_on = |it: char| it.is_alphanumeric() || "_$:".contains(it);
            if !rest[..at].ends_with(goes_on) {
                let path = rest[at..].split(|it| !goes_on(it)).next().unwrap_or_default();
                paths.push(names(path));
            }
        }
    }
    paths
}

/// Whether a `use` after this is a declaration: what else may stand there says who may use it, too.
fn is_declaration(before: &str) -> bool {
    before.is_empty() || before == "pub " || before.starts_with("pub(") && before.ends_with(") ")
}

fn names(path: &str) -> Vec<String> {
    path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(String::from).collect()
}

/// The paths of a tree as `use` declares it, below `above`.
fn expand(above: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let (path, branches) = match tree.split_once('{') {
        Some((path, branches)) => (path, Some(branches.trim_end().trim_end_matches('}'))),
        None => (tree.split(" as ").next().unwrap_or_default(), None),
    };
    let here = [above, &names(path)].concat();
    let Some(branches) = branches else { return paths.push(here) };
    let (mut depth, mut start) = (0, 0);
    for (at, it) in branches.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&here, &branches[start..at], paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    expand(&here, &branches[start..], paths);
}

/// The module of the crate that a path mentioned in `module` leads into.
fn leads_to<'a>(modules: &'a Modules, module: &[String], path: &[String]) -> Option<&'a Vec<String>> {
    let above = path.iter().take_while(|name| *name == "super").count();
    let mut to = match path.first()?.as_str() {
        "crate" => path[1..].to_vec(),
        "self" => [module, &path[1..]].concat(),
        "super" => [&module[..module.len().checked_sub(above)?], &path[above..]].concat(),
        _ if modules.contains_key(&[module, &path[..1]].concat()) => [module, path].concat(),
        _ => return None,
    };
    while !modules.contains_key(&to) {
        to.pop()?;
    }
    modules.get_key_value(&to).map(|(to, _)| to)
}

/// The modules that lead to themselves.
fn in_circles(modules: &Modules) -> Vec<&Vec<String>> {
    let uses: BTreeMap<&Vec<String>, BTreeSet<&Vec<String>>> = modules
        .iter()
        .map(|(module, paths)| {
            let all = paths.iter().filter_map(|path| leads_to(modules, module, path));
            (module, all.filter(|to| !to.starts_with(module) && !module.starts_with(to)).collect())
        })
        .collect();
    let is_in_circle = |module: &Vec<String>| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![module]);
        while let Some(at) = next.pop() {
            for to in &uses[at] {
                if *to == module {
                    return true;
                }
                if seen.insert(*to) {
                    next.push(to);
                }
            }
        }
        false
    };
    modules.keys().filter(|module| is_in_circle(module)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let modules = files.iter().map(|(path, text)| (module(path), mentioned(text))).collect();
        in_circles(&modules).iter().map(|path| path.join("/")).collect()
    }

    #[test]
    fn no_circle_is_new() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let files = crate::safety::sources(&root, "").unwrap();
        assert_eq!(strays(&root, &files).unwrap(), [""; 0]);
    }

    #[test]
    fn files_that_use_each_other_are_found_by_whatever_way() {
        let (by_tree, by_path) =
            ("use crate::{\n    b::{self, B},\n    c::C,\n};\n", "fn f() { crate::a::f() }\n");
        assert_eq!(
            circles(&[("lib.rs", "mod a;"), ("a.rs", by_tree), ("b.rs", by_path), ("c.rs", "")]),
            ["a", "b"]
        );
        let three =
            [("a.rs", "use crate::b::x;"), ("b.rs", "use super::c::x;"), ("c.rs", "fn f(_: super::a::A) {}")];
        assert_eq!(circles(&three), ["a", "b", "c"]);
    }

    #[test]
    fn a_file_and_its_folder_belong_together() {
        let files = [
            ("lib.rs", "mod a;\npub use a::A;\nuse a::B;\n"),
            ("a/mod.rs", "use b::B;\n"),
            ("a/b.rs", "use super::A;\nuse crate::C;\n"),
        ];
        assert_eq!(circles(&files), [""; 0]);
    }

    #[test]
    fn comments_tests_and_what_is_handed_on_do_not_count() {
        let quiet =
            "//! [`crate::a`]\npub use crate::a::A;\n#[cfg(test)]\nmod tests {\n    use crate::a::B;\n}\n";
        assert_eq!(circles(&[("a.rs", "use crate::b::B;"), ("b.rs", quiet)]), [""; 0]);
    }
}
