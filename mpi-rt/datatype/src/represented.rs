//! A datatype as it lies in a file whose data representation is not that of memory (MPI-5.0, section 14.5).
//!
//! Every basic element becomes a block of as many bytes as it takes in the file. Displacements that a constructor counts in items (those of
//! portable datatypes, section 2.4) are scaled with it; displacements in bytes are taken as they are, as the standard asks.

use alloc::vec::Vec;

use crate::array::{Distribution, Order};
use crate::basic::{Basic, Predefined};
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::error::{Class, Error, Result};
use crate::node::MAX_DEPTH;
use crate::signature::Runs;

impl Datatype {
    /// The same datatype with every predefined one replaced by as many bytes as `bytes_of` says. Not committed.
    ///
    /// Errors: what `bytes_of` answers; those of the constructors, for sizes that do not fit; class `Other` for types that nest too deep.
    pub fn represented<E: From<Error>>(
        &self,
        bytes_of: &mut impl FnMut(Predefined) -> core::result::Result<i64, E>,
    ) -> core::result::Result<Datatype, E> {
        self.represented_below(MAX_DEPTH, bytes_of)
    }

    fn represented_below<E: From<Error>>(
        &self,
        depth: u32,
        bytes_of: &mut impl FnMut(Predefined) -> core::result::Result<i64, E>,
    ) -> core::result::Result<Datatype, E> {
        let mut original = self.clone();
        // A dup is what it was made of, however often.
        while let (Combiner::Dup, Some(old)) =
            (original.contents().combiner, original.contents().datatypes.first())
        {
            original = old.clone();
        }
        if let Some(predefined) = original.as_predefined() {
            let bytes = bytes_of(predefined)?;
            return Ok(Datatype::contiguous_of(Form::Large, bytes, &Datatype::predefined(Basic::Byte))?);
        }
        let depth =
            depth.checked_sub(1).ok_or(Error::new(Class::Other, "the datatype nests too deep for a file"))?;
        let contents = original.contents();
        let mut olds = Vec::with_capacity(contents.datatypes.len());
        for old in &contents.datatypes {
            olds.push(old.represented_below(depth, bytes_of)?);
        }
        Ok(rebuilt(contents, &olds)?)
    }

    /// The runs of equal basic elements of `items` items, in order, and how many there are in each.
    pub fn elements(&self, items: u64) -> impl Iterator<Item = (Basic, u64)> + '_ {
        Runs::new(self.inner().sig.as_ref(), items)
    }
}

/// What the constructor makes of other old types.
fn rebuilt(contents: &Contents, olds: &[Datatype]) -> Result<Datatype> {
    let missing = || Error::new(Class::Intern, "a datatype lacks the arguments it was made with");
    let old = olds.first();
    let mut arguments = Arguments::of(contents);
    let form = Form::Large;
    match (contents.combiner, old) {
        (Combiner::Contiguous, Some(old)) => Datatype::contiguous_of(form, arguments.count()?, old),
        (Combiner::Vector, Some(old)) => {
            Datatype::vector(form, arguments.count()?, arguments.count()?, arguments.count()?, old)
        }
        (Combiner::Hvector, Some(old)) => {
            Datatype::hvector(form, arguments.count()?, arguments.count()?, arguments.address()?, old)
        }
        (Combiner::Indexed, Some(old)) => {
            let blocks = arguments.count()?;
            Datatype::indexed(form, &arguments.counts(blocks)?, &arguments.counts(blocks)?, old)
        }
        (Combiner::Hindexed, Some(old)) => {
            let blocks = arguments.count()?;
            Datatype::hindexed(form, &arguments.counts(blocks)?, &arguments.addresses(blocks)?, old)
        }
        (Combiner::IndexedBlock, Some(old)) => {
            let (blocks, length) = (arguments.count()?, arguments.count()?);
            Datatype::indexed_block(form, length, &arguments.counts(blocks)?, old)
        }
        (Combiner::HindexedBlock, Some(old)) => {
            let (blocks, length) = (arguments.count()?, arguments.count()?);
            Datatype::hindexed_block(form, length, &arguments.addresses(blocks)?, old)
        }
        (Combiner::Struct, _) => {
            let members = arguments.count()?;
            Datatype::structure(form, &arguments.counts(members)?, &arguments.addresses(members)?, olds)
        }
        (Combiner::Resized, Some(old)) => {
            Datatype::resized(form, arguments.address()?, arguments.address()?, old)
        }
        (Combiner::Subarray, Some(old)) => {
            let dims = arguments.int()?;
            let sizes = [arguments.counts(dims)?, arguments.counts(dims)?, arguments.counts(dims)?];
            let order = Order::from_abi(arguments.int()?)?;
            Datatype::subarray(form, &sizes[0], &sizes[1], &sizes[2], order, old)
        }
        (Combiner::Darray, Some(old)) => {
            let [size, rank, dims] = [arguments.int()?, arguments.int()?, arguments.int()?];
            let array = Distribution {
                size,
                rank,
                global_sizes: &arguments.counts(dims)?,
                distributions: &arguments.ints(dims)?,
                arguments: &arguments.ints(dims)?,
                process_sizes: &arguments.ints(dims)?,
                order: Order::from_abi(arguments.int()?)?,
            };
            Datatype::darray(form, &array, old)
        }
        _ => Err(missing()),
    }
}

/// The arguments of a constructor, taken in the standard's order from the lists that its form keeps them in.
struct Arguments<'a> {
    integers: core::slice::Iter<'a, i32>,
    addresses: core::slice::Iter<'a, i64>,
    large: core::slice::Iter<'a, i64>,
    is_large: bool,
}

impl<'a> Arguments<'a> {
    fn of(contents: &'a Contents) -> Arguments<'a> {
        Arguments {
            integers: contents.integers.iter(),
            addresses: contents.addresses.iter(),
            large: contents.large_counts.iter(),
            is_large: contents.is_large(),
        }
    }

    /// One that is an `int` in both forms.
    fn int(&mut self) -> Result<i64> {
        present(self.integers.next().map(|value| i64::from(*value)))
    }

    fn ints(&mut self, number: i64) -> Result<Vec<i64>> {
        (0..number).map(|_| self.int()).collect()
    }

    /// A count, or a displacement in items.
    fn count(&mut self) -> Result<i64> {
        if self.is_large { present(self.large.next().copied()) } else { self.int() }
    }

    fn counts(&mut self, number: i64) -> Result<Vec<i64>> {
        (0..number).map(|_| self.count()).collect()
    }

    /// A displacement in bytes.
    fn address(&mut self) -> Result<i64> {
        present(if self.is_large { self.large.next() } else { self.addresses.next() }.copied())
    }

    fn addresses(&mut self, number: i64) -> Result<Vec<i64>> {
        (0..number).map(|_| self.address()).collect()
    }
}

fn present(argument: Option<i64>) -> Result<i64> {
    argument.ok_or(Error::new(Class::Intern, "a datatype lacks the arguments it was made with"))
}
