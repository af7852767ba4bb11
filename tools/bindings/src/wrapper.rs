//! Fortran's wrappers: for each form of a function one in C, which takes addresses and integers for handles and calls MPI's own function. What it
//! uses is in `mpi-rt/c/fortran/fortran.h`.

use std::fmt::Write as _;

use crate::description::{Argument, Chapter, Direction, Function, Kind};
use crate::{header, lines};

/// The wrappers of a chapter.
pub fn wrappers(chapter: &Chapter) -> String {
    let mut text = format!("/* {} Made of mpi-rt/c/description/{}.txt. */\n", chapter.title, chapter.name);
    if chapter.functions.iter().any(|it| it.removed) {
        text += "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n";
    }
    text += "#include \"fortran.h\"\n";
    for function in chapter.functions.iter().filter(|it| !it.c && !it.by_hand) {
        for large in function.forms() {
            text += &Wrapper::of(function, large).text();
        }
    }
    text
}

/// C's type of what an argument's address is given, `const` included.
pub fn passed(argument: &Argument, large: bool) -> String {
    let Argument { name, direction, kind, .. } = argument;
    let constant = if *direction == Direction::In { "const " } else { "" };
    match kind {
        Kind::Buffer(_) => format!("{constant}void *{name}"),
        Kind::Text | Kind::Texts => format!("{constant}char *{name}"),
        Kind::Pointer | Kind::Detached | Kind::Function(..) => format!("void *{name}"),
        Kind::Attribute | Kind::State => format!("{constant}MPI_Aint *{name}"),
        Kind::Handle(_) => format!("{constant}MPI_Fint *{name}"),
        _ => match header::number(kind, large).as_str() {
            "int" => format!("{constant}MPI_Fint *{name}"),
            number => format!("{constant}{number} *{name}"),
        },
    }
}

/// The name of the number of letters in a text.
pub fn bytes(argument: &Argument) -> String {
    format!("{}_bytes", argument.name)
}

/// The part of a handle's type that its conversions are named by.
fn converted(handle: &str) -> &str {
    if handle == "Datatype" { "Type" } else { handle }
}

/// The parts of a wrapper.
struct Wrapper<'a> {
    function: &'a Function,
    large: bool,
    /// Declarations, what is asked before the call, what is done after it whatever it says, and then.
    declared: String,
    conditions: Vec<String>,
    after: String,
    freed: String,
    /// C's arguments.
    values: Vec<String>,
}

impl<'a> Wrapper<'a> {
    fn of(function: &'a Function, large: bool) -> Wrapper<'a> {
        let mut wrapper = Wrapper {
            function,
            large,
            declared: String::new(),
            conditions: Vec::new(),
            after: String::new(),
            freed: String::new(),
            values: Vec::new(),
        };
        for argument in function.in_c(large) {
            let value = wrapper.value(argument);
            wrapper.values.push(value);
        }
        wrapper
    }

    /// C's argument, and whatever has to be done for it.
    fn value(&mut self, argument: &Argument) -> String {
        let Argument { name, direction, kind, .. } = argument;
        let by_value = *direction == Direction::In && !argument.is_array();
        match kind {
            // Fortran has no arguments of the program to give.
            Kind::C(_) => "NULL".into(),
            Kind::Buffer(_) => format!("BUFFER({name})"),
            Kind::Weights => format!("WEIGHTS({name})"),
            Kind::Status if argument.is_array() => format!("STATUSES({name})"),
            Kind::Status => format!("STATUS({name})"),
            Kind::Text => self.text_value(argument),
            Kind::Handle(handle) if argument.is_array() => self.handles(argument, handle),
            Kind::Handle(handle) => self.handle(argument, handle),
            Kind::Index => {
                self.index(argument);
                name.clone()
            }
            Kind::Int if argument.extents.len() == 2 => {
                format!("(MPI_Fint(*)[{}]){name}", argument.extents[0])
            }
            _ if by_value => format!("*{name}"),
            _ => name.clone(),
        }
    }

    fn text_value(&mut self, argument: &Argument) -> String {
        let (name, bytes) = (&argument.name, bytes(argument));
        if argument.direction == Direction::In {
            let _ = writeln!(self.declared, "    char *c_{name} = margay_text_in({name}, {bytes});");
            let _ = writeln!(self.freed, "    free(c_{name});");
            self.conditions.push(format!("c_{name}"));
        } else {
            let _ = writeln!(self.declared, "    char c_{name}[{}] = \"\";", argument.extents[0]);
            let length = if self.function.arguments.iter().any(|it| it.name == "resultlen") {
                "resultlen"
            } else {
                self.declared += "    MPI_Fint resultlen;\n";
                "&resultlen"
            };
            let _ = writeln!(
                self.after,
                "    if (*ierror == MPI_SUCCESS)\n        margay_text_out({name}, {bytes}, c_{name}, {length});"
            );
        }
        format!("c_{name}")
    }

    fn handle(&mut self, argument: &Argument, handle: &str) -> String {
        let (name, kind) = (&argument.name, converted(handle));
        let (value, put) = match argument.direction {
            Direction::In => return format!("MPI_{kind}_f2c(*{name})"),
            Direction::Out => (format!("MPI_{}_NULL", handle.to_uppercase()), "PUT"),
            Direction::InOut => (format!("MPI_{kind}_f2c(*{name})"), "PUT_BACK"),
        };
        let _ = writeln!(self.declared, "    MPI_{handle} c_{name} = {value};");
        let _ = writeln!(self.after, "    {put}({kind}, {name}, c_{name});");
        format!("&c_{name}")
    }

    /// An array of handles: a copy of it.
    fn handles(&mut self, argument: &Argument, handle: &str) -> String {
        let (name, extent) = (&argument.name, argument.extents[0].as_str());
        let count = match extent {
            "ranks" | "sources" | "destinations" => {
                let before = self.function.arguments.iter().take_while(|it| *it != argument);
                let buffer = before.filter(|it| matches!(it.kind, Kind::Buffer(_))).last();
                let buffer = buffer.map_or("NULL", |it| it.name.as_str());
                format!("margay_{extent}(MPI_Comm_f2c(*comm), {buffer})")
            }
            count => format!("*{count}"),
        };
        let list = if handle == "Request" { "margay_requests_in" } else { "margay_types_in" };
        let _ = writeln!(self.declared, "    MPI_{handle} *c_{name} = {list}({count}, {name});");
        let _ = writeln!(self.freed, "    free(c_{name});");
        self.conditions.push(format!("c_{name}"));
        if argument.direction == Direction::InOut {
            let _ = writeln!(self.after, "    margay_requests_out({count}, {name}, c_{name});");
        }
        format!("c_{name}")
    }

    fn index(&mut self, argument: &Argument) {
        let name = &argument.name;
        if argument.is_array() {
            self.declared += "    *outcount = 0;\n";
            self.after += "    for (MPI_Fint i = 0; i < *outcount; i++)\n";
            let _ = writeln!(self.after, "        margay_from_one(&{name}[i]);");
        } else {
            let _ = writeln!(self.declared, "    *{name} = MPI_UNDEFINED;");
            let _ = writeln!(self.after, "    margay_from_one({name});");
        }
    }

    fn text(&self) -> String {
        let Wrapper { function, large, declared, after, freed, .. } = self;
        let form = function.form(*large);
        let mut parts = vec![format!("FORTRAN({}", form.to_lowercase())];
        parts.extend(parameters(function, *large));
        parts[1].insert(0, '(');
        let last = parts.len() - 1;
        parts[last] += "))";
        let mut values = self.values.clone();
        let call = if values.is_empty() {
            format!("MPI_{form}()")
        } else {
            values[0].insert_str(0, &format!("MPI_{form}("));
            let last = values.len() - 1;
            values[last] += ")";
            lines::broken(&values, "", "        ")
        };
        let head = lines::broken(&parts, "", "        ");
        // What could not be had is memory.
        let call = match self.conditions.is_empty() {
            true => format!("    *ierror = {call};\n"),
            false => {
                let conditions = self.conditions.join(" && ");
                let after: String = after.lines().map(|line| format!("    {line}\n")).collect();
                return format!(
                    "\n{head}\n{{\n{declared}    *ierror = MPI_ERR_NO_MEM;\n    if ({conditions}) {{\n        *ierror = {call};\n{after}    }}\n{freed}}}\n"
                );
            }
        };
        format!("\n{head}\n{{\n{declared}{call}{after}{freed}}}\n")
    }
}

/// The parameters of a wrapper, with the error code and the lengths of texts behind them.
pub fn parameters(function: &Function, large: bool) -> Vec<String> {
    let mut parameters: Vec<_> = function.in_fortran(large).map(|it| passed(it, large)).collect();
    if !function.silent {
        parameters.push("MPI_Fint *ierror".into());
    }
    let texts = function.in_fortran(large).filter(|it| matches!(it.kind, Kind::Text | Kind::Texts));
    parameters.extend(texts.map(|it| format!("size_t {}", bytes(it))));
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        wrappers(&Chapter::parse("things", &format!("# Things.\n\n{text}")).expect("right"))
    }

    #[test]
    fn handles_are_converted_and_counts_have_their_kind() {
        let text = of("Irecv large\n b out buffer held\n n in count\n comm in Comm\n request out Request\n");
        assert!(text.contains(
            "FORTRAN(irecv_c, (void *b, const MPI_Count *n, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror))\n{\n    \
             MPI_Request c_request = MPI_REQUEST_NULL;\n    \
             *ierror = MPI_Irecv_c(BUFFER(b), *n, MPI_Comm_f2c(*comm), &c_request);\n    PUT(Request, request, c_request);\n}\n"
        ), "{text}");
    }

    #[test]
    fn arrays_of_requests_are_copied_and_indices_count_from_one() {
        let text =
            of("Waitany\n count in int\n list inout Request[count]\n indx out index\n status out status\n");
        for line in [
            "    MPI_Request *c_list = margay_requests_in(*count, list);\n    *indx = MPI_UNDEFINED;\n",
            "    *ierror = MPI_ERR_NO_MEM;\n    if (c_list) {\n        *ierror = MPI_Waitany(*count, c_list, indx, STATUS(status));\n",
            "        margay_requests_out(*count, list, c_list);\n        margay_from_one(indx);\n    }\n    free(c_list);\n}\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn texts_lose_their_blanks() {
        let text = of("Open\n name in text\n port out text[MPI_MAX_PORT_NAME]\n");
        for line in [
            "FORTRAN(open, (const char *name, char *port, MPI_Fint *ierror, size_t name_bytes, size_t port_bytes))\n",
            "    char *c_name = margay_text_in(name, name_bytes);\n    char c_port[MPI_MAX_PORT_NAME] = \"\";\n",
            "        if (*ierror == MPI_SUCCESS)\n            margay_text_out(port, port_bytes, c_port, &resultlen);\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }

    #[test]
    fn what_is_c_s_alone_or_written_by_hand_has_no_wrapper() {
        assert!(!of("A c\n c int x\n\nB by-hand\n x in int\n").contains("FORTRAN("));
    }
}
