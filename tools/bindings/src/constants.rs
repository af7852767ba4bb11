//! The constants of MPI, and how they are written in C and in Fortran: `mpi-rt/c/description/constants.txt`.
//!
//! A line at the left edge begins a section: `section TITLE` for integers, `handles KIND TITLE` for predefined handles. Below it, indented, stand names with
//! their values, and who has them: `c`, `fortran`, `older` (`mpif.h` and module `mpi` alone), otherwise all. A `length` counts the closing zero in C.

use std::fmt::Write as _;

use crate::description::{Error, HANDLES};

/// A group of constants.
#[derive(Debug)]
pub struct Section {
    title: String,
    /// The kind of handles they are, or integers.
    handle: Option<&'static str>,
    constants: Vec<Constant>,
}

#[derive(Debug)]
struct Constant {
    name: String,
    value: Value,
    /// As it is written in the description.
    written: String,
    who: Who,
}

#[derive(Debug)]
enum Value {
    Number(i64),
    /// It is another's name.
    Other(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    All,
    C,
    Fortran,
    Older,
    /// All; the length of a text.
    Length,
}

/// Reads the file. Errors: the first line that is wrong.
pub fn parse(text: &str) -> Result<Vec<Section>, Error> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: String| Error { chapter: "constants".into(), line: number + 1, what };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(' ') {
            let section =
                sections.last_mut().ok_or_else(|| wrong("a constant stands below its section".into()))?;
            section.constants.push(constant(line).map_err(wrong)?);
        } else {
            sections.push(section(line).map_err(wrong)?);
        }
    }
    Ok(sections)
}

fn section(line: &str) -> Result<Section, String> {
    let constants = Vec::new();
    if let Some(title) = line.strip_prefix("section ") {
        return Ok(Section { title: title.to_owned(), handle: None, constants });
    }
    let rest = line.strip_prefix("handles ").and_then(|rest| rest.split_once(' '));
    let (kind, title) = rest.ok_or("a section is `section TITLE` or `handles KIND TITLE`")?;
    let handle = HANDLES.into_iter().find(|it| *it == kind);
    let handle = handle.ok_or_else(|| format!("unknown kind `{kind}`; kinds are {}", HANDLES.join(", ")))?;
    Ok(Section { title: title.to_owned(), handle: Some(handle), constants })
}

fn constant(line: &str) -> Result<Constant, String> {
    let words: Vec<_> = line.split_whitespace().collect();
    let [name, written, marks @ ..] = words.as_slice() else {
        return Err(format!("the value of {} is missing", line.trim()));
    };
    let who = match marks {
        [] => Who::All,
        ["c"] => Who::C,
        ["fortran"] => Who::Fortran,
        ["older"] => Who::Older,
        ["length"] => Who::Length,
        _ => return Err(format!("unknown mark `{}`; marks are c, fortran, older, length", marks.join(" "))),
    };
    let number = match written.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => written.parse().ok(),
    };
    let value = match number {
        Some(number) => Value::Number(number),
        None if written.starts_with("MPI_") => Value::Other((*written).to_owned()),
        None => return Err(format!("`{written}` is no value: a number or another constant's name")),
    };
    Ok(Constant { name: (*name).to_owned(), value, written: (*written).to_owned(), who })
}

/// C's header of the integers.
pub fn integers(sections: &[Section]) -> String {
    let mut text = String::from(
        "/* Integer constants (MPI-5.0, appendix A). Their values are those of the standard binary interface. Included by mpi.h. */\n",
    );
    for section in sections.iter().filter(|it| it.handle.is_none()) {
        let mut lines = String::new();
        for it in section.constants.iter().filter(|it| it.is_in_c()) {
            let negative = it.written.starts_with('-');
            let value = if negative { format!("({})", it.written) } else { it.written.clone() };
            let _ = writeln!(lines, "#define {} {value}", it.name);
        }
        if !lines.is_empty() {
            let _ = write!(text, "\n/* {} */\n{lines}", section.title);
        }
    }
    text
}

/// C's header of the handles.
pub fn handles(sections: &[Section]) -> String {
    let mut text = String::from(
        "/* Handles and their predefined values (MPI-5.0, section 20.3 and appendix A): incomplete pointer types, so that a compiler tells them\n   \
         apart; the predefined values are small numbers, which every implementation of the standard binary interface shares.\n   \
         Included by mpi.h. */\n",
    );
    for section in sections {
        let Some(handle) = section.handle else { continue };
        let _ = write!(text, "\n/* {} */\ntypedef struct MPI_ABI_{handle} *MPI_{handle};\n", section.title);
        for it in section.constants.iter().filter(|it| it.is_in_c()) {
            let _ = match &it.value {
                Value::Number(_) => writeln!(text, "#define {} ((MPI_{handle}){})", it.name, it.written),
                Value::Other(other) => writeln!(text, "#define {} {other}", it.name),
            };
        }
    }
    text
}

/// `mpif.h`'s constants, good in fixed and free form.
pub fn older(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        let mut lines = String::new();
        for it in section.constants.iter().filter(|it| it.who != Who::C) {
            let _ = writeln!(lines, "      INTEGER {0}\n      PARAMETER ({0}={1})", it.name, it.in_fortran());
        }
        if !lines.is_empty() {
            let _ = write!(text, "!     {}\n{lines}", section.title);
        }
    }
    text
}

/// Module `mpi_f08`'s constants.
pub fn modern(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        for it in section.constants.iter().filter(|it| !matches!(it.who, Who::C | Who::Older)) {
            let (name, value) = (&it.name, it.in_fortran());
            let _ = match (section.handle, &it.value) {
                (None, _) => writeln!(text, "  integer, parameter :: {name} = {value}"),
                (Some(handle), Value::Number(_)) => {
                    writeln!(text, "  type(MPI_{handle}), parameter :: {name} = MPI_{handle}({value})")
                }
                (Some(handle), Value::Other(_)) => {
                    writeln!(text, "  type(MPI_{handle}), parameter :: {name} = {value}")
                }
            };
        }
    }
    text
}

impl Constant {
    fn is_in_c(&self) -> bool {
        matches!(self.who, Who::All | Who::C | Who::Length)
    }

    fn in_fortran(&self) -> String {
        match &self.value {
            Value::Other(other) => other.clone(),
            Value::Number(number) if self.who == Who::Length => (number - 1).to_string(),
            Value::Number(number) => number.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# x\nsection Classes.\n    MPI_SUCCESS 0\n    MPI_ROOT -4\n    MPI_T_X 9 c\n    MPI_KIND 8 fortran\n    MPI_MAX 128 length\n\n\
        handles Datatype Types.\n    MPI_INT 0x209\n    MPI_LB 0x27e older\n    MPI_OTHER MPI_INT\n";

    #[test]
    fn each_language_has_its_constants() {
        let sections = parse(TEXT).expect("right");
        let c = integers(&sections);
        assert!(c.ends_with("\n\n/* Classes. */\n#define MPI_SUCCESS 0\n#define MPI_ROOT (-4)\n#define MPI_T_X 9\n#define MPI_MAX 128\n"), "{c}");
        let c = handles(&sections);
        assert!(c.ends_with(
            "\n/* Types. */\ntypedef struct MPI_ABI_Datatype *MPI_Datatype;\n#define MPI_INT ((MPI_Datatype)0x209)\n#define MPI_OTHER MPI_INT\n"
        ), "{c}");
        let fortran = older(&sections);
        assert!(
            fortran
                .starts_with("!     Classes.\n      INTEGER MPI_SUCCESS\n      PARAMETER (MPI_SUCCESS=0)\n"),
            "{fortran}"
        );
        assert!(
            fortran.contains("(MPI_MAX=127)")
                && fortran.contains("(MPI_LB=638)")
                && !fortran.contains("MPI_T_X")
        );
        let fortran = modern(&sections);
        assert!(fortran.contains("  integer, parameter :: MPI_ROOT = -4\n"), "{fortran}");
        assert!(
            fortran.contains("  type(MPI_Datatype), parameter :: MPI_INT = MPI_Datatype(521)\n"),
            "{fortran}"
        );
        assert!(fortran.contains("  type(MPI_Datatype), parameter :: MPI_OTHER = MPI_INT\n"), "{fortran}");
        assert!(!fortran.contains("MPI_LB"));
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line, what) in [
            ("    MPI_X 1\n", 1, "below its section"),
            ("sections\n", 1, "a section is `section TITLE`"),
            ("handles Com x\n", 1, "unknown kind `Com`; kinds are Comm, "),
            ("section x\n    MPI_X\n", 2, "the value of MPI_X is missing"),
            ("section x\n    MPI_X one\n", 2, "`one` is no value"),
            ("section x\n    MPI_X 1 C\n", 2, "unknown mark `C`"),
        ] {
            let error = parse(text).expect_err("wrong");
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains(what), "{error}");
        }
    }
}
