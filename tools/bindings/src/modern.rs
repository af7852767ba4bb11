//! The procedures of module `mpi_f08` (MPI-5.0, section 19.1): generic interfaces, with large counts under the same name.

use std::fmt::Write as _;

use crate::description::{Argument, Chapter, Direction, Function, HANDLES, Kind, Use};
use crate::lines;

/// The types of handles, and what declares their comparisons.
pub fn types() -> String {
    let mut text = String::new();
    for handle in HANDLES {
        let _ = writeln!(
            text,
            "  type, bind(C) :: MPI_{handle}\n    integer :: MPI_VAL\n  end type MPI_{handle}"
        );
    }
    for (operator, name) in COMPARISONS {
        let _ = writeln!(text, "  interface operator({operator})");
        for handle in HANDLES {
            let _ = writeln!(text, "    procedure {handle}_{name}");
        }
        let _ = writeln!(text, "  end interface operator({operator})");
    }
    for (_, name) in COMPARISONS {
        let names = HANDLES.map(|handle| format!("{handle}_{name}"));
        let _ = writeln!(text, "  private {}", lines::broken(&names, " &", "    "));
    }
    text
}

/// Operators, and what their functions are called by.
const COMPARISONS: [(&str, &str); 2] = [("==", "is"), ("/=", "is_not")];

/// The functions that compare handles.
pub fn comparisons() -> String {
    let mut text = String::new();
    for handle in HANDLES {
        for (operator, name) in COMPARISONS {
            let _ = write!(
                text,
                "  elemental logical function {handle}_{name}(a, b)\n    type(MPI_{handle}), intent(in) :: a, b\n    \
                 {handle}_{name} = a%MPI_VAL {operator} b%MPI_VAL\n  end function {handle}_{name}\n"
            );
        }
    }
    text
}

/// The interfaces of some chapters, under the names of MPI and of its profiling interface.
pub fn interfaces(chapters: &[Chapter]) -> String {
    let functions = || chapters.iter().flat_map(|it| &it.functions).filter(|it| is_there(it));
    let mut text = String::new();
    for prefix in ["MPI_", "PMPI_"] {
        for function in functions() {
            text += &interface(function, prefix);
        }
    }
    text
}

/// Whether the module has it.
fn is_there(function: &Function) -> bool {
    !(function.c || function.removed || function.older)
}

/// How a function's large form is called.
enum Large {
    /// There is none, or it has the same arguments.
    Absent,
    SameName,
    /// Its arguments are functions, which a compiler does not tell apart.
    OwnName,
}

fn large(function: &Function) -> Large {
    let differs = |it: &Argument| matches!(it.kind, Kind::Count | Kind::Displacement) || it.only_large;
    match function.large {
        true if function.arguments.iter().any(differs) => Large::SameName,
        true if function.arguments.iter().any(|it| matches!(it.kind, Kind::Function(_, true))) => {
            Large::OwnName
        }
        _ => Large::Absent,
    }
}

fn interface(function: &Function, prefix: &str) -> String {
    let generic = |name: &str, procedures: &str| {
        format!("  interface {prefix}{name}\n{procedures}  end interface {prefix}{name}\n")
    };
    let name = function.name.as_str();
    if let Some(returned) = &function.returns {
        return result(function, prefix, returned);
    }
    let small = procedure(function, prefix, false);
    match large(function) {
        Large::Absent => generic(name, &small),
        Large::SameName => generic(name, &(small + &procedure(function, prefix, true))),
        Large::OwnName => {
            generic(name, &small) + &generic(&function.form(true), &procedure(function, prefix, true))
        }
    }
}

/// A function that has a result in Fortran, too: the older interfaces' own.
fn result(function: &Function, prefix: &str, returned: &str) -> String {
    let name = format!("{prefix}{}", function.name);
    let of = if returned == "double" { "double precision" } else { "integer(kind=MPI_ADDRESS_KIND)" };
    let names: Vec<_> = function.in_fortran(false).map(Argument::fortran).collect();
    let mut text = format!("  interface\n    {of} function {name}({})\n      import\n", names.join(", "));
    text.extend(function.in_fortran(false).map(|it| format!("      {}\n", declaration(function, it, false))));
    text + &format!("    end function {name}\n  end interface\n")
}

/// A specific procedure.
fn procedure(function: &Function, prefix: &str, large: bool) -> String {
    let name = format!("{prefix}{}_f08", function.form(large));
    let mut names: Vec<_> = function.in_fortran(large).map(|it| it.fortran().to_owned()).collect();
    if !function.silent {
        names.push("ierror".into());
    }
    let mut text = lines::called(&format!("    subroutine {name}"), names);
    if function.has_shapes() {
        text += &format!(" &\n        bind(C, name=\"{}_\")", name.to_lowercase());
    }
    text += "\n      import\n";
    // What gives an extent comes before what has it.
    let declared = |arrays: bool| {
        let those = function.in_fortran(large).filter(move |it| it.is_array() == arrays);
        those.map(move |it| format!("      {}\n", declaration(function, it, large)))
    };
    text.extend(declared(false));
    text.extend(declared(true));
    if !function.silent {
        text += "      integer, optional, intent(out) :: ierror\n";
    }
    text + &format!("    end subroutine {name}\n")
}

/// The declaration of a dummy argument.
fn declaration(function: &Function, argument: &Argument, large: bool) -> String {
    let Argument { direction, kind, .. } = argument;
    let intent = match direction {
        Direction::In => ", intent(in)",
        Direction::Out => ", intent(out)",
        Direction::InOut => ", intent(inout)",
    };
    // Constants that say that nothing is wanted may stand for some.
    let ignorable =
        matches!(kind, Kind::Status | Kind::Weights | Kind::ErrorCodes) && *direction == Direction::Out;
    let intent = if ignorable { "" } else { intent };
    let of = match kind {
        Kind::Buffer(used) if function.has_shapes() => return buffer(argument, *used),
        Kind::Buffer(_) => {
            let name = argument.fortran();
            return format!("!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      type(*) :: {name}(*)");
        }
        Kind::Function(name, has_large) => {
            let end = if large && *has_large { "_c" } else { "" };
            return format!("procedure(MPI_{name}{end}) :: {}", argument.fortran());
        }
        Kind::Text | Kind::Texts => "character(len=*)".into(),
        Kind::Pointer | Kind::Detached => "type(c_ptr)".into(),
        Kind::Handle(name) => format!("type(MPI_{name})"),
        Kind::Status => "type(MPI_Status)".into(),
        _ => number(kind, large).to_owned(),
    };
    format!("{of}{intent} :: {}{}", argument.fortran(), shape(function, argument))
}

/// A buffer of any type and shape. A compiler may take it that the address of one with the attribute `target` is kept after the call.
fn buffer(argument: &Argument, used: Use) -> String {
    let intent = if argument.direction == Direction::In { ", intent(in)" } else { "" };
    let held = if used == Use::Call { "" } else { ", asynchronous, target" };
    format!("type(*), dimension(..){intent}{held} :: {}", argument.fortran())
}

fn number(kind: &Kind, large: bool) -> &'static str {
    match kind {
        Kind::Count | Kind::Bytes if large => "integer(kind=MPI_COUNT_KIND)",
        Kind::Wide => "integer(kind=MPI_COUNT_KIND)",
        Kind::Displacement if large => "integer(kind=MPI_ADDRESS_KIND)",
        Kind::Bytes | Kind::Address | Kind::Attribute | Kind::State => "integer(kind=MPI_ADDRESS_KIND)",
        Kind::Offset => "integer(kind=MPI_OFFSET_KIND)",
        Kind::Logical => "logical",
        _ => "integer",
    }
}

/// The shape of an array: extents that are arguments or numbers.
fn shape(function: &Function, argument: &Argument) -> String {
    if !argument.is_array() {
        return String::new();
    }
    let named = |extent: &str| {
        let arguments = function.arguments.iter().any(|it| it.name == extent);
        if arguments || extent.bytes().all(|letter| letter.is_ascii_digit()) {
            extent.to_owned()
        } else {
            "*".into()
        }
    };
    let extents: Vec<_> = argument.extents.iter().map(|it| named(it)).collect();
    format!("({})", extents.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        interfaces(&[Chapter::parse("things", &format!("# Things.\n\n{text}")).expect("right")])
    }

    #[test]
    fn both_counts_have_one_name() {
        let text = of("Send large\n buf in buffer\n count in count\n comm in Comm\n");
        assert!(text.starts_with(
            "  interface MPI_Send\n    subroutine MPI_Send_f08(buf, count, comm, ierror) &\n        bind(C, name=\"mpi_send_f08_\")\n      import\n      \
             type(*), dimension(..), intent(in) :: buf\n      integer, intent(in) :: count\n      type(MPI_Comm), intent(in) :: comm\n      \
             integer, optional, intent(out) :: ierror\n    end subroutine MPI_Send_f08\n    subroutine MPI_Send_c_f08("
        ), "{text}");
        assert!(text.contains("      integer(kind=MPI_COUNT_KIND), intent(in) :: count\n"), "{text}");
        assert!(
            text.contains("  end interface PMPI_Send\n") && text.contains("name=\"pmpi_send_c_f08_\""),
            "{text}"
        );
    }

    #[test]
    fn forms_that_a_compiler_cannot_tell_apart_have_names_of_their_own_or_are_one() {
        let text = of(
            "Op_create large\n user_fn in function User_function(_c)\n\nType_resized large\n lb in bytes\n",
        );
        assert!(text.contains("  interface MPI_Op_create_c\n    subroutine MPI_Op_create_c_f08("), "{text}");
        assert!(text.contains("      procedure(MPI_User_function_c) :: user_fn\n"), "{text}");
        assert!(!text.contains("Type_resized_c"), "{text}");
    }

    #[test]
    fn arguments_are_those_of_the_standard() {
        let text = of(
            "Irecv\n buf out buffer held\n s out status[*]\n r inout Request[count]\n indx out index\n count in int\n name out text[9]\n \
             types in Datatype[ranks]\n t in int[3,n]\n n in int\n",
        );
        for line in [
            "      type(*), dimension(..), asynchronous, target :: buf\n",
            "      type(MPI_Status) :: s(*)\n",
            "      integer, intent(in) :: n\n      type(MPI_Status)",
            "      type(MPI_Request), intent(inout) :: r(count)\n",
            "      integer, intent(out) :: index\n",
            "      character(len=*), intent(out) :: name\n",
            "      type(MPI_Datatype), intent(in) :: types(*)\n",
            "      integer, intent(in) :: t(3, n)\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn handles_are_types_that_can_be_compared() {
        let (types, functions) = (types(), comparisons());
        assert!(
            types.contains("  type, bind(C) :: MPI_Comm\n    integer :: MPI_VAL\n  end type MPI_Comm\n"),
            "{types}"
        );
        assert!(types.contains("  interface operator(/=)\n    procedure Comm_is_not\n"), "{types}");
        assert!(functions.contains("    Win_is = a%MPI_VAL == b%MPI_VAL\n"), "{functions}");
    }

    #[test]
    fn a_procedure_with_logicals_is_fortran_s() {
        let text = of("Booleans\n a out buffer place\n flag out logical\n");
        assert!(!text.contains("bind(C"), "{text}");
        assert!(text.contains("      !GCC$ ATTRIBUTES NO_ARG_CHECK :: a\n      type(*) :: a(*)\n"), "{text}");
    }

    #[test]
    fn results_and_silence() {
        let text = of(
            "Wtime returns double\n\nAint_add returns MPI_Aint\n base in address\n\nPcontrol silent\n level in int\n",
        );
        assert!(text.contains("    double precision function MPI_Wtime()\n"), "{text}");
        assert!(text.contains("    integer(kind=MPI_ADDRESS_KIND) function PMPI_Aint_add(base)\n"), "{text}");
        assert!(text.contains("    subroutine MPI_Pcontrol_f08(level)\n      import\n      integer, intent(in) :: level\n    end"), "{text}");
    }
}
