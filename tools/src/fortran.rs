//! Explicit interfaces of Fortran's module `mpi` (MPI-5.0, section 19.1.3), made of the prototypes in `mpi.h`: a program can name what it uses, and
//! the compiler checks its calls.
//!
//! Both languages have the same arguments in the same order, Fortran an error code more. Buffers take anything (`NO_ARG_CHECK`), handles are integers.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::failure::{Doing, Outcome};

/// Headers of functions that C alone has.
const OF_C: [&str; 2] = ["tools.h", "conversions.h"];
/// The header whose addresses are default integers in Fortran.
const REMOVED: &str = "removed.h";
/// Functions that stay without an interface: those that `mpif.h` declares itself because they have results, and those whose arguments are others in
/// Fortran, or arrays of texts.
const LEFT_OUT: [&str; 10] = [
    "Wtime",
    "Wtick",
    "Aint_add",
    "Aint_diff",
    "Info_create_env",
    "Comm_spawn",
    "Comm_spawn_multiple",
    "Pcontrol",
    "Abi_get_fortran_booleans",
    "Abi_set_fortran_booleans",
];
/// Functions that have fewer arguments in Fortran, and what they are.
const STARTS: [(&str, &str); 2] = [("Init", "void"), ("Init_thread", "int required, int *provided")];
/// Integers of C that are truth values.
const LOGICALS: [&str; 7] = ["flag", "commute", "reorder", "periods", "remain_dims", "high", "weighted"];
/// Arrays that C declares as pointers.
const WEIGHTS: [&str; 3] = ["weights", "sourceweights", "destweights"];
/// Most letters of a line of arguments.
const LINE: usize = 100;

/// The text of the interfaces. Errors: a header cannot be read.
pub fn interfaces(headers: &Path) -> Outcome<String> {
    let what = || format!("list {}", headers.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(headers).doing(what)? {
        files.push(entry.doing(what)?.path());
    }
    files.sort();
    let mut text = String::from("  interface\n");
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if OF_C.contains(&name) {
            continue;
        }
        let header = fs::read_to_string(&file).doing(|| format!("read {}", file.display()))?;
        for (function, arguments) in prototypes(&header) {
            if function.ends_with("_c") || LEFT_OUT.contains(&function) {
                continue;
            }
            let own = STARTS.iter().find(|it| it.0 == function).map_or(arguments, |it| it.1);
            text += &interface(function, own, name == REMOVED);
        }
    }
    text += "  end interface\n";
    Ok(text)
}

/// Names and arguments of the functions of a header.
fn prototypes(header: &str) -> impl Iterator<Item = (&str, &str)> {
    header.split("\nMARGAY_MPI(").skip(1).filter_map(|text| {
        let (_, text) = text.split_once(", ")?;
        let (name, text) = text.split_once(", (")?;
        Some((name, text.split_once("))")?.0))
    })
}

/// The interface of a function with these arguments of C's.
fn interface(function: &str, arguments: &str, removed: bool) -> String {
    let arguments = arguments.split(',').map(str::trim).filter(|argument| *argument != "void");
    let arguments: Vec<Argument> = arguments.map(|text| Argument::of(text, function, removed)).collect();
    let mut head = format!("    subroutine MPI_{function}(");
    let mut length = head.len();
    for argument in &arguments {
        if length + argument.name.len() > LINE {
            head += "&\n        ";
            length = 0;
        }
        length += argument.name.len() + 2;
        head += &argument.name;
        head += ", ";
    }
    let mut text = format!(
        "{head}ierror)\n      import :: MPI_STATUS_SIZE, MPI_ADDRESS_KIND, MPI_OFFSET_KIND, MPI_COUNT_KIND\n"
    );
    for Argument { name, kind, shape } in &arguments {
        if kind == CHOICE {
            let _ = writeln!(text, "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}");
        }
        let _ = writeln!(text, "      {kind} :: {name}{shape}");
    }
    let _ = write!(text, "      integer :: ierror\n    end subroutine MPI_{function}\n");
    text
}

/// A buffer of any type.
const CHOICE: &str = "type(*)";

/// An argument in Fortran.
struct Argument {
    name: String,
    kind: String,
    shape: &'static str,
}

impl Argument {
    /// From C's declaration, without a comma.
    fn of(text: &str, function: &str, removed: bool) -> Argument {
        let (declared, is_array) = match text.split_once('[') {
            Some((declared, _)) => (declared, true),
            None => (text, false),
        };
        let name = declared.rsplit([' ', '*']).next().unwrap_or_default();
        let mut words = declared.strip_suffix(name).unwrap_or_default().split([' ', '*']);
        let c = words.find(|word| !word.is_empty() && *word != "const").unwrap_or_default();
        let by_value = !is_array && !declared.contains('*');
        let old = function.starts_with("Attr_") || function == "Keyval_create";
        let kind = match c {
            "void" if matches!(name, "attribute_val" | "extra_state") && old => "integer",
            "void" if matches!(name, "attribute_val" | "extra_state") => "integer(kind=MPI_ADDRESS_KIND)",
            "void" => CHOICE,
            "char" => "character(*)",
            "MPI_Aint" if removed => "integer",
            "MPI_Aint" => "integer(kind=MPI_ADDRESS_KIND)",
            "MPI_Offset" => "integer(kind=MPI_OFFSET_KIND)",
            "MPI_Count" => "integer(kind=MPI_COUNT_KIND)",
            "int" if LOGICALS.contains(&name) => "logical",
            _ if c.ends_with("_function") => "external",
            _ => "integer",
        };
        let shape = match c {
            "MPI_Status" if is_array => "(MPI_STATUS_SIZE, *)",
            "MPI_Status" => "(MPI_STATUS_SIZE)",
            "char" => "",
            _ if kind == CHOICE => "(*)",
            _ if text.ends_with("[][3]") => "(3, *)",
            _ if is_array || WEIGHTS.contains(&name) => "(*)",
            _ => "",
        };
        let intent = if by_value && kind != "external" { ", intent(in)" } else { "" };
        Argument { name: name.to_owned(), kind: format!("{kind}{intent}"), shape }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_become_interfaces() {
        let header = "/* x */\n\nMARGAY_MPI(int, Testall, (int count, MPI_Request array_of_requests[], int *flag,\n    MPI_Status array_of_statuses[]))\n\
            MARGAY_MPI(int, Send, (const void *buf, int count))\nMARGAY_MPI(int, Finalize, (void))\n";
        let all: Vec<_> = prototypes(header).collect();
        assert_eq!(all.iter().map(|it| it.0).collect::<Vec<_>>(), ["Testall", "Send", "Finalize"]);
        let text = interface(all[0].0, all[0].1, false);
        for line in [
            "    subroutine MPI_Testall(count, array_of_requests, flag, array_of_statuses, ierror)\n",
            "      integer, intent(in) :: count\n",
            "      integer :: array_of_requests(*)\n",
            "      logical :: flag\n",
            "      integer :: array_of_statuses(MPI_STATUS_SIZE, *)\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        let text = interface(all[1].0, all[1].1, false);
        assert!(
            text.contains("      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n      type(*) :: buf(*)\n"),
            "{text}"
        );
        assert!(interface(all[2].0, all[2].1, false).contains("MPI_Finalize(ierror)\n"));
    }

    #[test]
    fn kinds_are_those_of_the_standard() {
        let kind = |text: &str, function: &str, removed| {
            let Argument { name, kind, shape } = Argument::of(text, function, removed);
            format!("{kind} :: {name}{shape}")
        };
        assert_eq!(
            kind("MPI_Aint size", "Win_create", false),
            "integer(kind=MPI_ADDRESS_KIND), intent(in) :: size"
        );
        assert_eq!(kind("MPI_Aint *address", "Address", true), "integer :: address");
        assert_eq!(kind("void *attribute_val", "Attr_put", false), "integer :: attribute_val");
        assert_eq!(
            kind("void *extra_state", "Grequest_start", false),
            "integer(kind=MPI_ADDRESS_KIND) :: extra_state"
        );
        assert_eq!(kind("const char datarep[]", "Pack_external", false), "character(*) :: datarep");
        assert_eq!(kind("int ranges[][3]", "Group_range_incl", false), "integer :: ranges(3, *)");
        assert_eq!(kind("MPI_User_function *user_fn", "Op_create", false), "external :: user_fn");
        assert_eq!(kind("const int *weights", "Dist_graph_create", false), "integer :: weights(*)");
    }
}
