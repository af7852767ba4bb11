//! What stands behind the procedures of module `mpi_f08`: for each form of a function one in C. The error code may be left out, and buffers come with
//! a description of their shape; then Fortran's older wrapper is called. What it uses is in `mpi-rt/c/fortran/sections.h`.

use std::fmt::Write as _;

use crate::description::{Argument, Chapter, Direction, Function, Kind, Use};
use crate::{lines, wrapper};

/// The functions of a chapter.
pub fn shims(chapter: &Chapter) -> String {
    let mut text = format!("/* {} Made of mpi-rt/c/description/{}.txt. */\n", chapter.title, chapter.name);
    text += "#include \"sections.h\"\n";
    for function in chapter.functions.iter().filter(|it| is_made(it)) {
        for large in function.forms() {
            text += &shim(function, large);
        }
    }
    text
}

/// Whether a function has a shim that can be made.
fn is_made(function: &Function) -> bool {
    !(function.c
        || function.removed
        || function.older
        || function.returns.is_some()
        || function.is_modern_by_hand())
}

fn shim(function: &Function, large: bool) -> String {
    let name = function.form(large).to_lowercase();
    let mut text =
        format!("\n{};\n", listed(&format!("void pmpi_{name}_"), wrapper::parameters(function, large)));
    let with_shapes = function.has_shapes();
    let mut parameters: Vec<_> = function
        .in_fortran(large)
        .map(|it| match it.kind {
            Kind::Buffer(_) | Kind::Text if with_shapes => format!("CFI_cdesc_t *{}", it.name),
            _ => wrapper::passed(it, large),
        })
        .collect();
    if !function.silent {
        parameters.push("MPI_Fint *ierror".into());
    }
    if !with_shapes {
        parameters.extend(texts(function, large).map(|it| format!("size_t {}", wrapper::bytes(it))));
    }
    let head = listed(&format!("F08({name}, "), parameters) + ")";
    let code = if function.silent { "" } else { "    MARGAY_CODE;\n" };
    let _ = write!(text, "{head}\n{{\n{code}");
    text += &if with_shapes {
        with_sections(function, large)
    } else {
        format!("    {};\n", call(function, large))
    };
    text + "}\n"
}

/// `head` with a list in parentheses.
fn listed(head: &str, mut list: Vec<String>) -> String {
    if list.is_empty() {
        list.push("void".into());
    }
    list[0].insert_str(0, &format!("{head}("));
    lines::broken(&list, "", "        ") + ")"
}

fn texts(function: &Function, large: bool) -> impl Iterator<Item = &Argument> {
    function.in_fortran(large).filter(|it| matches!(it.kind, Kind::Text | Kind::Texts))
}

/// The call of the older wrapper.
fn call(function: &Function, large: bool) -> String {
    let with_shapes = function.has_shapes();
    let mut values: Vec<_> = function
        .in_fortran(large)
        .map(|it| match it.kind {
            Kind::Buffer(_) if with_shapes => format!("c_{}.address", it.name),
            Kind::Text if with_shapes => format!("{}->base_addr", it.name),
            _ => it.name.clone(),
        })
        .collect();
    if !function.silent {
        values.push("ierror".into());
    }
    values.extend(texts(function, large).map(|it| match with_shapes {
        true => format!("{}->elem_len", it.name),
        false => wrapper::bytes(it),
    }));
    listed(&format!("pmpi_{}_", function.form(large).to_lowercase()), values)
}

/// The body of a function with buffers: sections of arrays are made whole for it.
fn with_sections(function: &Function, large: bool) -> String {
    let (mut text, mut end) = (String::new(), String::new());
    for argument in function.in_fortran(large) {
        let Kind::Buffer(used) = argument.kind else { continue };
        let (name, writes) = (&argument.name, u8::from(argument.direction != Direction::In));
        let how = match used {
            Use::Call => "MARGAY_CALL",
            Use::Held => "MARGAY_HELD",
            Use::Place => "MARGAY_PLACE",
        };
        let _ = writeln!(text, "    struct margay_section c_{name} = margay_section({name}, {how}, ierror);");
        let _ = writeln!(end, "    margay_section_end(&c_{name}, {writes});");
    }
    let of = |kind: &str| function.arguments.iter().find(|it| it.kind == Kind::Handle(find(kind)));
    let refuse =
        ["File", "Win", "Comm"].into_iter().find_map(|kind| of(kind).map(|it| (kind, it.name.as_str())));
    let refuse = match refuse {
        Some((kind, name)) => format!("MPI_{kind}_call_errhandler(MPI_{kind}_f2c(*{name}), *ierror)"),
        None => "MPI_Comm_call_errhandler(MPI_COMM_SELF, *ierror)".into(),
    };
    format!(
        "{text}    if (*ierror == MPI_SUCCESS)\n        {};\n    else\n        {refuse};\n{end}",
        call(function, large)
    )
}

/// The kind's name as the description has it.
fn find(kind: &str) -> &'static str {
    crate::description::HANDLES.into_iter().find(|it| *it == kind).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        shims(&Chapter::parse("things", &format!("# Things.\n\n{text}")).expect("right"))
    }

    #[test]
    fn the_error_code_may_be_left_out() {
        let text = of("Comm_set_name\n comm in Comm\n name in text\n");
        assert!(text.contains(
            "F08(comm_set_name, (const MPI_Fint *comm, const char *name, MPI_Fint *ierror, size_t name_bytes))\n{\n    MARGAY_CODE;\n    \
             pmpi_comm_set_name_(comm, name, ierror, name_bytes);\n}\n"
        ), "{text}");
    }

    #[test]
    fn buffers_come_with_their_shape() {
        let text = of("Recv large\n buf out buffer\n count in count\n comm in Comm\n");
        assert!(text.contains(
            "F08(recv_c, (CFI_cdesc_t *buf, const MPI_Count *count, const MPI_Fint *comm, MPI_Fint *ierror))\n{\n    MARGAY_CODE;\n    \
             struct margay_section c_buf = margay_section(buf, MARGAY_CALL, ierror);\n    if (*ierror == MPI_SUCCESS)\n        \
             pmpi_recv_c_(c_buf.address, count, comm, ierror);\n    else\n        \
             MPI_Comm_call_errhandler(MPI_Comm_f2c(*comm), *ierror);\n    margay_section_end(&c_buf, 1);\n}\n"
        ), "{text}");
    }

    #[test]
    fn some_have_none() {
        let text = of(
            "Wtime returns double\n\nAttr_put older\n x in int\n\nBuffer_detach large\n a out detached\n\nPcontrol silent\n level in int\n",
        );
        assert_eq!(text.matches("F08(").count(), 1);
        assert!(
            text.contains("F08(pcontrol, (const MPI_Fint *level))\n{\n    pmpi_pcontrol_(level);\n}\n"),
            "{text}"
        );
    }
}
