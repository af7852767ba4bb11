//! The description of MPI's functions: what `mpi-rt/c/description/*.txt` say, and how they are read.
//!
//! A file is a chapter. Its first line is a comment, the chapter's title. A function is a line at the left edge, its name and marks, followed by a line for
//! each argument, indented: name, direction (`in`, `out`, `inout`), kind. `mpi-rt/c/description/README.md` lists marks and kinds.

use std::fmt;

/// The functions of one file.
#[derive(Debug)]
pub struct Chapter {
    /// The file's name without its end; the header's.
    pub name: String,
    pub title: String,
    pub functions: Vec<Function>,
}

/// A function, without its prefix `MPI_`.
#[derive(Debug, Default)]
pub struct Function {
    pub name: String,
    /// There is a form with large counts, which has `_c` behind its name in C.
    pub large: bool,
    /// C alone has it.
    pub c: bool,
    /// Fortran alone has it.
    pub fortran: bool,
    /// Fortran's wrapper is written by hand.
    pub by_hand: bool,
    /// MPI-3.0 has removed it.
    pub removed: bool,
    /// Module `mpi_f08` lacks it, and addresses are default integers in Fortran.
    pub older: bool,
    /// It has no error code in Fortran.
    pub silent: bool,
    /// What it returns in C instead of an error code.
    pub returns: Option<String>,
    pub arguments: Vec<Argument>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    pub direction: Direction,
    pub kind: Kind,
    /// The extents of an array, in Fortran's order: a number, an argument's name, or `*`. Of a text: how much room the longest needs.
    pub extents: Vec<String>,
    /// Only the form with large counts has it.
    pub only_large: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    In,
    Out,
    InOut,
}

/// What happens to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It is used during the call alone: a section of an array is copied.
    Call,
    /// It is used after the call, too.
    Held,
    /// Its address is what matters.
    Place,
}

/// What an argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// C alone has it; the declaration.
    C(String),
    Buffer(Use),
    Int,
    Logical,
    /// A place in an array, which Fortran counts from one.
    Index,
    /// `int`, with large counts `MPI_Count`.
    Count,
    /// `int`, with large counts `MPI_Aint`.
    Displacement,
    /// `MPI_Aint`, with large counts `MPI_Count`.
    Bytes,
    Address,
    Offset,
    /// Always `MPI_Count`.
    Wide,
    /// Integers, or one of two constants that are known by their addresses.
    Weights,
    ErrorCodes,
    Text,
    Texts,
    /// Memory that the library hands out.
    Pointer,
    /// The address of a buffer that is handed back.
    Detached,
    /// The value of an attribute.
    Attribute,
    /// What the program's functions are given of the program's own.
    State,
    Status,
    /// A function of the program's: its type, and whether there is another for large counts.
    Function(String, bool),
    /// `Comm` and its like.
    Handle(&'static str),
}

/// The kinds of handles, as in the names of their types.
pub const HANDLES: [&str; 11] =
    ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];

/// A line that cannot be read: where it is, what is wrong, and what to write.
#[derive(Debug, PartialEq, Eq)]
pub struct Error {
    pub chapter: String,
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mpi-rt/c/description/{}.txt:{}: {}", self.chapter, self.line, self.what)
    }
}

impl Function {
    /// Whether the function that stands behind module `mpi_f08`'s is written by hand: there is no older one, or it does something else.
    pub fn is_modern_by_hand(&self) -> bool {
        self.fortran || self.arguments.iter().any(|it| it.kind == Kind::Detached)
    }

    /// The forms: with ordinary counts, and with large ones if there is such a form.
    pub fn forms(&self) -> impl Iterator<Item = bool> {
        std::iter::once(false).chain(self.large.then_some(true))
    }

    /// The name of a form.
    pub fn form(&self, large: bool) -> String {
        format!("{}{}", self.name, if large { "_c" } else { "" })
    }

    /// The arguments of a form in C.
    pub fn in_c(&self, large: bool) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(move |it| large || !it.only_large)
    }

    /// The arguments of a form in Fortran.
    pub fn in_fortran(&self, large: bool) -> impl Iterator<Item = &Argument> {
        self.in_c(large).filter(|it| !matches!(it.kind, Kind::C(_)))
    }

    /// Whether buffers of it come with their shapes, for which a procedure must be C's: then logicals would be C's, too, and it must have none.
    pub fn has_shapes(&self) -> bool {
        let has = |wanted: fn(&Kind) -> bool| self.arguments.iter().any(|it| wanted(&it.kind));
        has(|kind| matches!(kind, Kind::Buffer(_))) && !has(|kind| *kind == Kind::Logical)
    }
}

impl Argument {
    /// The name in Fortran.
    pub fn fortran(&self) -> &str {
        // `index` is a function of C's library.
        if self.name == "indx" { "index" } else { &self.name }
    }

    /// Whether it is a text that C writes, and nothing says how long it may be.
    pub fn is_out_of_room(&self) -> bool {
        self.kind == Kind::Text && self.direction != Direction::In && self.extents.is_empty()
    }

    pub fn is_array(&self) -> bool {
        !self.extents.is_empty() && self.kind != Kind::Text
    }
}
