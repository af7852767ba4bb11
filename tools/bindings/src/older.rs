//! The procedures of module `mpi` (MPI-5.0, section 19.1.3): a program can name what it uses, and the compiler checks its calls.
//!
//! Buffers take anything (`NO_ARG_CHECK`), handles are integers, and the error code is never left out.

use crate::description::{Argument, Chapter, Direction, Function, Kind};
use crate::lines;

/// The interfaces of some chapters, under the names of MPI and of its profiling interface.
pub fn interfaces(chapters: &[Chapter]) -> String {
    let mut text = String::from("  interface\n");
    for prefix in ["MPI_", "PMPI_"] {
        for function in chapters.iter().flat_map(|it| &it.functions) {
            if !function.c {
                text += &interface(function, prefix);
            }
        }
    }
    text + "  end interface\n"
}

fn interface(function: &Function, prefix: &str) -> String {
    let name = format!("{prefix}{}", function.name);
    let mut names: Vec<_> = function.in_fortran(false).map(|it| it.fortran().to_owned()).collect();
    let (start, end) = match function.returns.as_deref() {
        None => ("subroutine", "subroutine"),
        Some("double") => ("double precision function", "function"),
        Some(_) => ("integer(kind=MPI_ADDRESS_KIND) function", "function"),
    };
    let has_code = !function.silent && function.returns.is_none();
    if has_code {
        names.push("ierror".into());
    }
    let mut text = lines::called(&format!("    {start} {name}"), names);
    text += "\n      import :: MPI_STATUS_SIZE, MPI_ADDRESS_KIND, MPI_OFFSET_KIND, MPI_COUNT_KIND\n";
    text.extend(function.in_fortran(false).map(|it| declaration(function, it)));
    if has_code {
        text += "      integer :: ierror\n";
    }
    text + &format!("    end {end} {name}\n")
}

/// The lines that declare a dummy argument.
fn declaration(function: &Function, argument: &Argument) -> String {
    let Argument { kind, direction, .. } = argument;
    let (name, old) = (argument.fortran(), function.removed || function.older);
    let of = match kind {
        Kind::Buffer(_) | Kind::Pointer | Kind::Detached => {
            return format!("      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      type(*) :: {name}(*)\n");
        }
        Kind::Function(..) => return format!("      external :: {name}\n"),
        Kind::Bytes | Kind::Address | Kind::Attribute | Kind::State if !old => {
            "integer(kind=MPI_ADDRESS_KIND)"
        }
        Kind::Offset => "integer(kind=MPI_OFFSET_KIND)",
        Kind::Wide => "integer(kind=MPI_COUNT_KIND)",
        Kind::Text | Kind::Texts => "character(*)",
        Kind::Logical => "logical",
        _ => "integer",
    };
    let shape = match (kind, argument.is_array()) {
        (Kind::Status, true) => "(MPI_STATUS_SIZE, *)".into(),
        (Kind::Status, false) => "(MPI_STATUS_SIZE)".into(),
        (_, true) if argument.extents.len() == 2 && *kind == Kind::Int => {
            format!("({}, *)", argument.extents[0])
        }
        (_, true) if argument.extents.len() == 2 => format!("({})", argument.extents.join(", ")),
        (_, true) => "(*)".into(),
        (_, false) => String::new(),
    };
    let by_value = *direction == Direction::In && shape.is_empty() && *kind != Kind::Text;
    format!("      {of}{} :: {name}{shape}\n", if by_value { ", intent(in)" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_those_of_the_standard() {
        let text = "# x\n\nTestall\n count in int\n requests inout Request[count]\n flag out logical\n statuses out status[*]\n buf in buffer\n a in bytes\n \
             name in text\n ranges in int[3,n]\n argvs in texts[count,*]\n f in function User_function\n\n\
             Address removed\n address out address\n\nAttr_put older\n value in attribute\n\nFinalize\n\nWtime returns double\n\nSend_x c\n c int a\n";
        let text = interfaces(&[Chapter::parse("x", text).expect("right")]);
        for line in [
            "    subroutine MPI_Testall(count, requests, flag, statuses, buf, a, name, ranges, argvs, f, ierror)\n",
            "      integer, intent(in) :: count\n",
            "      integer :: requests(*)\n",
            "      logical :: flag\n",
            "      integer :: statuses(MPI_STATUS_SIZE, *)\n",
            "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf\n      type(*) :: buf(*)\n",
            "      integer(kind=MPI_ADDRESS_KIND), intent(in) :: a\n",
            "      character(*) :: name\n",
            "      integer :: ranges(3, *)\n",
            "      character(*) :: argvs(count, *)\n",
            "      external :: f\n      integer :: ierror\n    end subroutine MPI_Testall\n",
            "      integer :: address\n",
            "      integer, intent(in) :: value\n",
            "    subroutine PMPI_Finalize(ierror)\n",
            "    double precision function MPI_Wtime()\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains("Send_x"));
    }
}
