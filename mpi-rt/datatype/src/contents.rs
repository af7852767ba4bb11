//! Decoding: with which constructor and arguments a datatype was made (`MPI_TYPE_GET_ENVELOPE`, `MPI_TYPE_GET_CONTENTS`).
//!
//! MPI 5.0, "Decoding a Datatype", tables of the arguments' places. A constructor called with `int` counts shows them among the
//! integers and its displacements among the addresses; the same constructor in its large-count form shows both as large
//! counts.

use alloc::vec::Vec;

use crate::basic::Predefined;
use crate::error::{Class, Error, Result};

/// The constructor of a datatype; the discriminant is the value of `MPI_COMBINER_…` in the standard ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Combiner {
    Named = 101,
    Dup = 102,
    Contiguous = 103,
    Vector = 104,
    Hvector = 105,
    Indexed = 106,
    Hindexed = 107,
    IndexedBlock = 108,
    HindexedBlock = 109,
    Struct = 110,
    Subarray = 111,
    Darray = 112,
    F90Real = 113,
    F90Complex = 114,
    F90Integer = 115,
    Resized = 116,
    ValueIndex = 117,
}

/// Which form of a constructor the program called: the one with `int` counts or the one with `MPI_Count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `MPI_Type_…`.
    Int,
    /// `MPI_Type_…_c`.
    Large,
}

/// The arguments of a constructor, each list in the standard's order; its datatypes are `T`.
#[derive(Clone, Debug)]
pub struct Arguments<T> {
    /// The constructor.
    pub combiner: Combiner,
    /// Which predefined type it is, for [`Combiner::Named`] and the unnamed ones (`F90…`).
    pub predefined: Option<Predefined>,
    /// Integer arguments.
    pub integers: Vec<i32>,
    /// Address arguments, bytes.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count` of a large-count constructor.
    pub large_counts: Vec<i64>,
    /// Datatype arguments.
    pub datatypes: Vec<T>,
    form: Form,
    too_large: bool,
}

impl<T: Clone> Arguments<T> {
    pub(crate) fn new(combiner: Combiner, form: Form) -> Arguments<T> {
        Arguments {
            combiner,
            predefined: None,
            integers: Vec::new(),
            addresses: Vec::new(),
            large_counts: Vec::new(),
            datatypes: Vec::new(),
            form,
            too_large: false,
        }
    }

    /// Whether it was made by the large-count form of its constructor.
    pub fn is_large(&self) -> bool {
        self.form == Form::Large
    }

    pub(crate) fn named(predefined: Predefined) -> Arguments<T> {
        Arguments { predefined: Some(predefined), ..Arguments::new(Combiner::Named, Form::Int) }
    }

    /// An argument that is an `int` in both forms.
    pub(crate) fn int(mut self, value: i64) -> Arguments<T> {
        match i32::try_from(value) {
            Ok(value) => self.integers.push(value),
            Err(_) => self.too_large = true,
        }
        self
    }

    pub(crate) fn ints(self, values: &[i64]) -> Arguments<T> {
        values.iter().fold(self, |contents, value| contents.int(*value))
    }

    /// A count: an `int` in one form, an `MPI_Count` in the other.
    pub(crate) fn count(mut self, value: i64) -> Arguments<T> {
        match self.form {
            Form::Int => self.int(value),
            Form::Large => {
                self.large_counts.push(value);
                self
            }
        }
    }

    pub(crate) fn counts(self, values: &[i64]) -> Arguments<T> {
        values.iter().fold(self, |contents, value| contents.count(*value))
    }

    /// A displacement in bytes: an `MPI_Aint` in one form, an `MPI_Count` in the other.
    pub(crate) fn addresses(mut self, values: &[i64]) -> Arguments<T> {
        match self.form {
            Form::Int => self.addresses.extend_from_slice(values),
            Form::Large => self.large_counts.extend_from_slice(values),
        }
        self
    }

    pub(crate) fn types<'a>(mut self, datatypes: impl IntoIterator<Item = &'a T>) -> Arguments<T>
    where
        T: 'a,
    {
        self.datatypes.extend(datatypes.into_iter().cloned());
        self
    }

    pub(crate) fn check(self) -> Result<Arguments<T>> {
        if self.too_large {
            let reason = "an argument exceeds a C int; use the large-count form of the constructor";
            return Err(Error::new(Class::ValueTooLarge, reason));
        }
        Ok(self)
    }
}
