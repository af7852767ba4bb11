//! What only translates between languages, made of one description of MPI's functions (`mpi-rt/c/description`): the prototypes of `mpi.h`, the
//! interfaces of Fortran's modules `mpi` and `mpi_f08`, the constants of all, and the C functions behind the modules.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

pub mod constants;
pub mod description;
mod header;
mod lines;
mod modern;
mod older;
mod parse;
mod shim;
mod wrapper;

use constants::Section;
use description::Chapter;

/// The end of the description's files.
const END: &str = "txt";
/// The file of constants among them.
const CONSTANTS: &str = "constants";

/// The description as it is read.
pub struct Description {
    /// In the order of their names.
    pub chapters: Vec<Chapter>,
    pub constants: Vec<Section>,
}

/// The name of a file, and its text.
pub type File = (String, String);

impl Description {
    /// Reads a folder. Errors: one line on a file that cannot be read, or on the first line that is wrong.
    pub fn read(folder: &Path) -> Result<Description, String> {
        let wrong = |path: &Path, error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder).map_err(|error| wrong(folder, error))? {
            paths.push(entry.map_err(|error| wrong(folder, error))?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|end| end == END));
        paths.sort();
        let mut description = Description { chapters: Vec::new(), constants: Vec::new() };
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| wrong(&path, error))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            if name == CONSTANTS {
                description.constants = constants::parse(&text).map_err(|error| error.to_string())?;
            } else {
                let chapter = Chapter::parse(&name, &text).map_err(|error| error.to_string())?;
                description.chapters.push(chapter);
            }
        }
        Ok(description)
    }

    /// The headers that `mpi.h` includes.
    pub fn headers(&self) -> Vec<File> {
        let mut files: Vec<_> =
            self.chapters.iter().map(|it| (format!("{}.h", it.name), header::header(it))).collect();
        files.push(("constants.h".into(), constants::integers(&self.constants)));
        files.push(("handles.h".into(), constants::handles(&self.constants)));
        files
    }

    /// What `mpif.h` and the modules include.
    pub fn included(&self) -> Vec<File> {
        vec![
            ("older_constants.inc".into(), constants::older(&self.constants)),
            ("older_procedures.inc".into(), older::interfaces(&self.chapters)),
            ("modern_types.inc".into(), modern::types()),
            ("modern_constants.inc".into(), constants::modern(&self.constants)),
            ("modern_comparisons.inc".into(), modern::comparisons()),
            ("modern_procedures.inc".into(), modern::interfaces(&self.chapters)),
        ]
    }

    /// The C sources behind the modules.
    pub fn sources(&self) -> Vec<File> {
        let chapters = || self.chapters.iter().filter(|it| it.functions.iter().any(|it| !it.c));
        let older = chapters().map(|it| (format!("{}_older.c", it.name), wrapper::wrappers(it)));
        older.chain(chapters().map(|it| (format!("{}_modern.c", it.name), shim::shims(it)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The description that is used.
    fn own() -> Description {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mpi-rt/c/description");
        Description::read(&folder).expect("the description is right")
    }

    #[test]
    fn all_functions_of_the_standard_are_described() {
        // As many prototypes as the headers had when they were written by hand: none gets lost unnoticed.
        let description = own();
        let all = description.chapters.iter().flat_map(|it| &it.functions).filter(|it| !it.fortran);
        let forms = all.map(|it| it.forms().count());
        assert_eq!(forms.sum::<usize>(), 700);
        let names: std::collections::BTreeSet<_> =
            description.chapters.iter().flat_map(|it| it.functions.iter().map(|it| &it.name)).collect();
        let count: usize = description.chapters.iter().map(|it| it.functions.len()).sum();
        assert_eq!(names.len(), count, "a function stands in two chapters");
    }

    #[test]
    fn lines_of_fortran_are_short_enough() {
        for (name, text) in own().included() {
            for line in text.lines() {
                assert!(line.len() <= 132 || line.starts_with('!'), "{name}: {line}");
            }
        }
    }

    #[test]
    fn extents_are_arguments_or_known() {
        for function in own().chapters.iter().flat_map(|it| &it.functions) {
            for argument in function.arguments.iter().filter(|it| it.is_array()) {
                for extent in &argument.extents {
                    let named = function.arguments.iter().any(|it| it.name == *extent);
                    let known = ["*", "3", "ranks", "sources", "destinations"].contains(&extent.as_str());
                    assert!(named || known, "{}: {} has the extent {extent}", function.name, argument.name);
                }
            }
        }
    }

    #[test]
    fn of_whatever_is_read_all_can_be_made() {
        // Each letter of a description missing, or another.
        let text = "# Things.\n\nSend large\n    buf in buffer held\n    n in count[*]\n    t out text[9]\n    l inout Request[n]\n    r out index\n";
        for place in 0..text.len() {
            for letter in ["", "[", "]", "\n", ",", "1"] {
                let changed = format!("{}{letter}{}", &text[..place], &text[place + 1..]);
                let Ok(chapter) = Chapter::parse("things", &changed) else { continue };
                let description = Description { chapters: vec![chapter], constants: Vec::new() };
                let _ = (description.headers(), description.included(), description.sources());
            }
        }
    }
}
