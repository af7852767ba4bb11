//! The prototypes of `mpi.h`, a header for each chapter.

use crate::description::{Argument, Chapter, Direction, Function, Kind};
use crate::lines;

/// The header of a chapter.
pub fn header(chapter: &Chapter) -> String {
    let mut text = format!(
        "/* {}\n   Included by mpi.h; every line declares a function under its MPI_ and its PMPI_ name. */\n\n",
        chapter.title
    );
    let mut prototypes: Vec<_> = chapter
        .functions
        .iter()
        .filter(|it| !it.fortran)
        .flat_map(|it| it.forms().map(|large| (it.form(large), prototype(it, large))))
        .collect();
    prototypes.sort();
    text.extend(prototypes.into_iter().map(|it| it.1));
    text
}

/// The line that declares a form of a function, broken as the headers are.
fn prototype(function: &Function, large: bool) -> String {
    let macro_name = if function.removed { "MARGAY_REMOVED_MPI" } else { "MARGAY_MPI" };
    let returned = function.returns.as_deref().unwrap_or("int");
    let mut arguments: Vec<_> = function.in_c(large).map(|it| declaration(it, large)).collect();
    if arguments.is_empty() {
        arguments.push("void".to_owned());
    }
    let head = [format!("{macro_name}({returned}"), function.form(large)];
    let last = arguments.len() - 1;
    arguments[0].insert(0, '(');
    arguments[last] += "))";
    let parts: Vec<_> = head.into_iter().chain(arguments).collect();
    lines::broken(&parts, "", "    ") + "\n"
}

/// The declaration of an argument in C.
pub fn declaration(argument: &Argument, large: bool) -> String {
    let Argument { name, direction, kind, extents, .. } = argument;
    let constant = if *direction == Direction::In { "const " } else { "" };
    let of = |c: &str| match (argument.is_array(), direction) {
        (true, _) if extents.len() == 2 => format!("{c} {name}[][{}]", extents[0]),
        (true, _) => format!("{constant}{c} {name}[]"),
        (false, Direction::In) => format!("{c} {name}"),
        (false, _) => format!("{c} *{name}"),
    };
    match kind {
        Kind::C(declaration) => declaration.clone(),
        Kind::Buffer(_) => format!("{constant}void *{name}"),
        Kind::Text => format!("{constant}char *{name}"),
        Kind::Texts if extents.len() == 2 => format!("char **{name}[]"),
        Kind::Texts => format!("char *{name}[]"),
        Kind::Pointer | Kind::Detached | Kind::Attribute | Kind::State => format!("void *{name}"),
        Kind::Function(function, has_large) => {
            format!("MPI_{function}{} *{name}", if large && *has_large { "_c" } else { "" })
        }
        // Not an array for the compiler: `MPI_UNWEIGHTED` names none, and gcc warns of one that is too short.
        Kind::Weights => format!("{constant}int *{name}"),
        Kind::Status if argument.is_array() => of("MPI_Status"),
        Kind::Status => format!("{constant}MPI_Status *{name}"),
        _ => of(&number(kind, large)),
    }
}

/// C's type of a number or a handle.
pub fn number(kind: &Kind, large: bool) -> String {
    match kind {
        Kind::Count if large => "MPI_Count".into(),
        Kind::Displacement if large => "MPI_Aint".into(),
        Kind::Bytes if large => "MPI_Count".into(),
        Kind::Bytes | Kind::Address => "MPI_Aint".into(),
        Kind::Offset => "MPI_Offset".into(),
        Kind::Wide => "MPI_Count".into(),
        Kind::Handle(name) => format!("MPI_{name}"),
        _ => "int".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_are_those_of_the_standard_binary_interface() {
        let text = "# Things (chapter 1).\n\nSend large\n buf in buffer\n count in count\n comm in Comm\n\nInit\n c int *argc\n c char ***argv\n\n\
             Finalize\n\nWtime returns double\n\nGroup_range_incl\n ranges in int[3,n]\n\nWait\n request inout Request\n status out status\n\n\
             Waitall\n count in int\n s out status[*]\n\nOp_create large\n user_fn in function User_function(_c)\n\nAddress removed\n a out address\n\n\
             Pack_external large\n datarep in text\n size in bytes\n displs in displacement[*]\n n out wide large\n\n\
             Dist_graph_neighbors\n w out weights[*]\n\nDist_graph_create\n w in weights[*]\n";
        let chapter = Chapter::parse("things", text).expect("right");
        let header = header(&chapter);
        for line in [
            "/* Things (chapter 1).\n   Included by mpi.h;",
            "MARGAY_MPI(int, Send, (const void *buf, int count, MPI_Comm comm))\nMARGAY_MPI(int, Send_c, (const void *buf, MPI_Count count, MPI_Comm comm))\n",
            "MARGAY_MPI(int, Init, (int *argc, char ***argv))\n",
            "MARGAY_MPI(int, Finalize, (void))\n",
            "MARGAY_MPI(double, Wtime, (void))\n",
            "(int ranges[][3]))\n",
            "(MPI_Request *request, MPI_Status *status))\n",
            "(int count, MPI_Status s[]))\n",
            "MARGAY_MPI(int, Op_create_c, (MPI_User_function_c *user_fn))\n",
            "MARGAY_REMOVED_MPI(int, Address, (MPI_Aint *a))\n",
            "(const char *datarep, MPI_Aint size, const int displs[]))\n",
            "(const char *datarep, MPI_Count size, const MPI_Aint displs[], MPI_Count *n))\n",
            "MARGAY_MPI(int, Dist_graph_neighbors, (int *w))\n",
            "MARGAY_MPI(int, Dist_graph_create, (const int *w))\n",
        ] {
            assert!(header.contains(line), "{line}\n{header}");
        }
    }
}
