//! `cargo lwk doc --picture`: floors and crates as docs/floors.svg, made of the crates' own manifests. `cargo lwk lint` says if it is not as they are.
//!
//! A crate stands on a floor by its folder. Data goes one way: a crate that needs one of a floor above is an error.

mod drawing;
mod layout;

use std::fs;
use std::path::Path;

use lwk::failure::{Doing, Failure, Outcome};
use lwk::tree::Tree;
use toml::{Table, Value};

use layout::Layout;

/// The picture.
const FILE: &str = "docs/floors.svg";
/// What brings it up to date.
const COMMAND: &str = "cargo lwk doc --picture";
/// Folders of fuzz targets, which are on no floor.
const FUZZ: &str = "/fuzz";
/// Left out of a crate's name.
const PREFIX: &str = "lwk-";

/// From the highest to the lowest: what it is, and its folders. A crate is on the floor that has the longest part of its path.
const FLOORS: [(&str, &[&str]); 8] = [
    ("programs", &["apps", "qemu-tests"]),
    ("faces", &["mpi-rt/c", "mpi-rt/mpi", "mpi-rt/shmem/c", "userlib/portals"]),
    ("subsystems", &["mpi-rt"]),
    (
        "fabric",
        &[
            "mpi-rt/fabric",
            "mpi-rt/datatype",
            "mpi-rt/epoch",
            "mpi-rt/rendezvous",
            "mpi-rt/ring",
            "mpi-rt/shm",
        ],
    ),
    ("a program's library", &["userlib"]),
    ("the command", &["tools"]),
    ("kernel", &["kernel"]),
    ("between kernel and programs", &["kernel/abi", "kernel/words", "mpi-rt/primitive"]),
];

/// A crate of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Crate {
    name: String,
    /// Index into [`FLOORS`].
    floor: usize,
    /// Indices of the crates that it needs, whether or not another one of them needs them, too.
    needs: Vec<usize>,
}

/// Writes the picture. Errors: a manifest cannot be read; a crate needs one of a floor above; the file cannot be written.
pub fn write(tree: &Tree) -> Outcome<i32> {
    let file = tree.root().join(FILE);
    fs::write(&file, picture(tree.root())?).doing(|| format!("write {}", file.display()))?;
    show!("{FILE}");
    Ok(0)
}

/// What is wrong with the picture that is there, if anything is. Errors: as for [`write()`].
pub fn strays(root: &Path) -> Outcome<Vec<String>> {
    let (made, there) = (picture(root)?, fs::read_to_string(root.join(FILE)).unwrap_or_default());
    Ok(if made == there {
        Vec::new()
    } else {
        vec![format!("{FILE}: is not as the crates are: run `{COMMAND}`")]
    })
}

fn picture(root: &Path) -> Outcome<String> {
    let crates = crates(&manifests(root)?).map_err(Failure::host)?;
    let names: Vec<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    Ok(drawing::svg(&Layout::of(&crates), &names))
}

/// Folder and manifest of each member of the workspace, in the order of folders.
fn manifests(root: &Path) -> Outcome<Vec<(String, Table)>> {
    let workspace = manifest(root, "")?;
    let workspace = workspace.get("workspace").and_then(Value::as_table);
    let listed =
        ["members", "default-members"].into_iter().filter_map(|list| workspace?.get(list)?.as_array());
    let mut folders: Vec<&str> = listed.flatten().filter_map(Value::as_str).collect();
    folders.retain(|folder| !folder.ends_with(FUZZ));
    folders.sort_unstable();
    folders.dedup();
    folders.into_iter().map(|folder| Ok((folder.to_owned(), manifest(root, folder)?))).collect()
}

fn manifest(root: &Path, folder: &str) -> Outcome<Table> {
    let file = root.join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
    text.parse().map_err(|error| Failure::host(format!("{}: {error}", file.display())))
}

/// The crates that manifests are of. Errors: one is none, or needs one of a floor above.
fn crates(manifests: &[(String, Table)]) -> Result<Vec<Crate>, String> {
    let name = |(folder, manifest): &(String, Table)| {
        let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
        name.map(String::from).ok_or_else(|| format!("{folder}/Cargo.toml names no package"))
    };
    let names: Vec<String> = manifests.iter().map(name).collect::<Result<_, _>>()?;
    let needs = |manifest: &Table| {
        let needed = manifest.get("dependencies").and_then(Value::as_table);
        let needed = needed.into_iter().flat_map(|needed| needed.keys());
        needed.filter_map(|needed| names.iter().position(|name| name == needed)).collect()
    };
    let found = manifests.iter().zip(&names).map(|((folder, manifest), name)| {
        let floor = floor_of(folder).ok_or_else(|| format!("{folder} is on no floor"))?;
        let name = name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
        Ok(Crate { name, floor, needs: needs(manifest) })
    });
    let found: Vec<Crate> = found.collect::<Result<_, String>>()?;
    for it in &found {
        if let Some(above) =
            it.needs.iter().map(|needed| &found[*needed]).find(|needed| needed.floor < it.floor)
        {
            return Err(format!("{} needs {}, which is on a floor above", it.name, above.name));
        }
    }
    Ok(found)
}

/// The floor of a folder: that with the longest part of its path.
fn floor_of(folder: &str) -> Option<usize> {
    let is_below =
        |part: &&str| folder.strip_prefix(*part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let parts = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, (_, parts))| parts.iter().map(move |part| (*part, floor)));
    parts.filter(|(part, _)| is_below(part)).max_by_key(|(part, _)| part.len()).map(|(_, floor)| floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(folder: &str, name: &str, needs: &[&str]) -> (String, Table) {
        let needs: String = needs.iter().map(|needed| format!("{needed} = \"1\"\n")).collect();
        (folder.into(), format!("[package]\nname = \"{name}\"\n[dependencies]\n{needs}").parse().unwrap())
    }

    #[test]
    fn a_crate_stands_on_the_floor_of_its_folder_and_needs_what_its_manifest_says() {
        let members = [
            member("kernel/abi", "lwk-abi", &[]),
            member("kernel/mm", "lwk-mm", &["lwk-abi", "arrayvec"]),
            member("userlib", "lwk-user", &["lwk-abi"]),
        ];
        let found = crates(&members).unwrap();
        let of =
            |name: &str, floor, needs: &[usize]| Crate { name: name.into(), floor, needs: needs.to_vec() };
        assert_eq!(found, [of("abi", 7, &[]), of("mm", 6, &[0]), of("user", 4, &[0])]);
    }

    #[test]
    fn a_crate_that_needs_one_above_is_refused_and_so_is_one_on_no_floor() {
        let members = [member("kernel/mm", "lwk-mm", &["lwk-mpi"]), member("mpi-rt/mpi", "lwk-mpi", &[])];
        assert_eq!(crates(&members).unwrap_err(), "mm needs mpi, which is on a floor above");
        assert_eq!(crates(&[member("attic", "lwk-attic", &[])]).unwrap_err(), "attic is on no floor");
    }
}
