//! How the description is read; what its lines are is said in [`crate::description`].

use crate::description::{Argument, Chapter, Direction, Error, Function, HANDLES, Kind, Use};

/// The kinds of handles of which there are arrays that wrappers convert.
const LISTS: [&str; 2] = ["Datatype", "Request"];

/// Kinds that are a word.
const WORDS: [(&str, Kind); 19] = [
    ("int", Kind::Int),
    ("logical", Kind::Logical),
    ("index", Kind::Index),
    ("count", Kind::Count),
    ("displacement", Kind::Displacement),
    ("bytes", Kind::Bytes),
    ("address", Kind::Address),
    ("offset", Kind::Offset),
    ("wide", Kind::Wide),
    ("weights", Kind::Weights),
    ("errcodes", Kind::ErrorCodes),
    ("text", Kind::Text),
    ("texts", Kind::Texts),
    ("pointer", Kind::Pointer),
    ("detached", Kind::Detached),
    ("attribute", Kind::Attribute),
    ("state", Kind::State),
    ("status", Kind::Status),
    ("buffer", Kind::Buffer(Use::Call)),
];

impl Chapter {
    /// Reads a file. Errors: the first line that is wrong.
    pub fn parse(name: &str, text: &str) -> Result<Chapter, Error> {
        let wrong = |line: usize, what: String| Error { chapter: name.to_owned(), line, what };
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let title =
            title.ok_or_else(|| wrong(1, "the first line is the chapter's title, behind `# `".into()))?;
        let mut functions: Vec<Function> = Vec::new();
        for (number, line) in text.lines().enumerate().skip(1) {
            let number = number + 1;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if line.starts_with(' ') {
                let function = functions.last_mut();
                let function =
                    function.ok_or_else(|| wrong(number, "an argument stands below its function".into()))?;
                let argument = Argument::parse(line.trim()).map_err(|what| wrong(number, what))?;
                function.add(argument).map_err(|what| wrong(number, what))?;
            } else {
                let function = Function::parse(line).map_err(|what| wrong(number, what))?;
                if functions.iter().any(|it| it.name == function.name) {
                    return Err(wrong(number, format!("{} is described twice", function.name)));
                }
                functions.push(function);
            }
        }
        Ok(Chapter { name: name.to_owned(), title: title.to_owned(), functions })
    }
}

impl Function {
    fn parse(line: &str) -> Result<Function, String> {
        let mut words = line.split_whitespace();
        let name = identifier(words.next().unwrap_or_default())?;
        let mut function = Function { name, ..Function::default() };
        while let Some(mark) = words.next() {
            let place = match mark {
                "large" => &mut function.large,
                "c" => &mut function.c,
                "fortran" => &mut function.fortran,
                "by-hand" => &mut function.by_hand,
                "removed" => &mut function.removed,
                "older" => &mut function.older,
                "silent" => &mut function.silent,
                "returns" => {
                    function.returns =
                        Some(words.next().ok_or("`returns` stands before a type of C's")?.to_owned());
                    continue;
                }
                _ => {
                    return Err(format!(
                        "unknown mark `{mark}`; marks are large, c, fortran, by-hand, removed, older, silent, returns TYPE"
                    ));
                }
            };
            *place = true;
        }
        Ok(function)
    }

    /// Adds the next argument. Errors: its name is there already.
    fn add(&mut self, argument: Argument) -> Result<(), String> {
        if !argument.name.is_empty() && self.arguments.iter().any(|it| it.name == argument.name) {
            return Err(format!("{} has two arguments {}", self.name, argument.name));
        }
        if argument.only_large && !self.large {
            return Err(format!("{} has no form with large counts; mark it `large`", self.name));
        }
        if !self.by_hand && argument.is_out_of_room() {
            return Err(format!(
                "the room that C needs for {0} is missing: {0} out text[MPI_MAX_…]",
                argument.name
            ));
        }
        if !self.by_hand
            && argument.is_array()
            && matches!(argument.kind, Kind::Handle(it) if !LISTS.contains(&it))
        {
            return Err(format!(
                "{} is an array that no wrapper can be made for; mark {} `by-hand`",
                argument.name, self.name
            ));
        }
        self.arguments.push(argument);
        Ok(())
    }
}

impl Argument {
    fn parse(line: &str) -> Result<Argument, String> {
        if let Some(declaration) = line.strip_prefix("c ") {
            let kind = Kind::C(declaration.trim().to_owned());
            let name = String::new();
            return Ok(Argument {
                name,
                direction: Direction::In,
                kind,
                extents: Vec::new(),
                only_large: false,
            });
        }
        let mut words = line.split_whitespace();
        let name = identifier(words.next().unwrap_or_default())?;
        let direction = match words.next() {
            Some("in") => Direction::In,
            Some("out") => Direction::Out,
            Some("inout") => Direction::InOut,
            _ => return Err(format!("the direction of {name} is missing: in, out or inout")),
        };
        let word = words.next().ok_or_else(|| format!("the kind of {name} is missing"))?;
        let (word, extents) = match word.split_once('[') {
            Some((word, extents)) => {
                let extents = extents.strip_suffix(']').ok_or("a bracket is open: write name[extent]")?;
                (word, extents.split(',').map(str::to_owned).collect())
            }
            None => (word, Vec::new()),
        };
        let mut argument =
            Argument { name, direction, kind: kind(word, &mut words)?, extents, only_large: false };
        match words.next() {
            None => {}
            Some("large") => argument.only_large = true,
            Some(other) => return Err(format!("`{other}` behind the kind; only `large` may stand there")),
        }
        Ok(argument)
    }
}

fn kind<'a>(word: &str, words: &mut (impl Iterator<Item = &'a str> + Clone)) -> Result<Kind, String> {
    if word == "function" {
        let name = words.next().ok_or("`function` stands before its type")?;
        return Ok(match name.strip_suffix("(_c)") {
            Some(name) => Kind::Function(identifier(name)?, true),
            None => Kind::Function(identifier(name)?, false),
        });
    }
    if let Some(handle) = HANDLES.iter().find(|it| **it == word) {
        return Ok(Kind::Handle(handle));
    }
    let Some((_, kind)) = WORDS.iter().find(|it| it.0 == word) else {
        let known: Vec<_> = WORDS.iter().map(|it| it.0).collect();
        return Err(format!(
            "unknown kind `{word}`; kinds are {}, function TYPE, {}",
            known.join(", "),
            HANDLES.join(", ")
        ));
    };
    if *kind == Kind::Buffer(Use::Call) {
        let uses = [("held", Use::Held), ("place", Use::Place)];
        let next = words.clone().next();
        if let Some((_, other)) = uses.into_iter().find(|it| Some(it.0) == next) {
            words.next();
            return Ok(Kind::Buffer(other));
        }
    }
    Ok(kind.clone())
}

fn identifier(word: &str) -> Result<String, String> {
    let starts = word.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if starts && word.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'_') {
        Ok(word.to_owned())
    } else {
        Err(format!("`{word}` is no name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: &str =
        "# Messages.\n\nSend large\n    buf    in buffer\n    count  in count\n    comm   in Comm\n";

    #[test]
    fn a_function_is_a_block() {
        let chapter = Chapter::parse("p", SEND).expect("right");
        assert_eq!((chapter.title.as_str(), chapter.functions.len()), ("Messages.", 1));
        let send = &chapter.functions[0];
        assert!(send.large && !send.by_hand);
        assert_eq!(send.arguments[0].kind, Kind::Buffer(Use::Call));
        assert_eq!(send.arguments[2].kind, Kind::Handle("Comm"));
        assert_eq!(send.forms().map(|large| send.form(large)).collect::<Vec<_>>(), ["Send", "Send_c"]);
    }

    #[test]
    fn arguments_have_extents_uses_and_marks() {
        let parse = |line| Argument::parse(line).expect("right");
        assert_eq!(parse("ranges in int[3,n]").extents, ["3", "n"]);
        assert_eq!(parse("buf out buffer held").kind, Kind::Buffer(Use::Held));
        assert!(parse("num_large_counts out wide large").only_large);
        let function = Kind::Function("User_function".into(), true);
        assert_eq!(parse("user_fn in function User_function(_c)").kind, function);
        assert_eq!(parse("c int *argc").kind, Kind::C("int *argc".into()));
        assert_eq!(parse("indx out index").fortran(), "index");
    }

    #[test]
    fn wrong_lines_are_named() {
        let wrong = |line: &str| {
            let text = format!("{SEND}{line}\n");
            Chapter::parse("p", &text).expect_err("wrong").to_string()
        };
        for (line, what) in [
            ("    tag in inte", "unknown kind `inte`; kinds are int, "),
            ("    tag int", "the direction of tag is missing: in, out or inout"),
            ("    tag in", "the kind of tag is missing"),
            ("    tag in int[3", "a bracket is open"),
            ("    tag in int twice", "`twice` behind the kind"),
            ("    buf in int", "Send has two arguments buf"),
            ("    4 in int", "`4` is no name"),
            ("Recv small", "unknown mark `small`; marks are large, "),
            ("    name out text", "the room that C needs for name is missing"),
            (
                "    wins in Win[count]",
                "wins is an array that no wrapper can be made for; mark Send `by-hand`",
            ),
            ("Send", "Send is described twice"),
            ("Recv\n    n in int large", "Recv has no form with large counts"),
        ] {
            let message = wrong(line);
            assert!(
                message.starts_with("mpi-rt/c/description/p.txt:7: ") || line.contains('\n'),
                "{message}"
            );
            assert!(message.contains(what), "{message}");
            assert!(!message.contains('\n'));
        }
        assert!(Chapter::parse("p", "Send\n").expect_err("no title").to_string().contains("title"));
        assert!(Chapter::parse("p", "# x\n    a in int\n").expect_err("alone").to_string().contains("below"));
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise() {
        // Every beginning, and every text with one letter less or another, is read or refused.
        for place in 0..SEND.len() {
            let _ = Chapter::parse("p", &SEND[..place]);
            for letter in ["", "[", "]", "\n", " ", "#", "é"] {
                let _ = Chapter::parse("p", &format!("{}{letter}{}", &SEND[..place], &SEND[place + 1..]));
            }
        }
    }
}
