//! Constructors: contiguous, vector, indexed, struct, resized, dup and their kin (MPI 5.0, "Datatype Constructors").
//!
//! Counts are 64-bit throughout; [`Form`] says whether the program called the large-count form, which only decoding shows.
//! Every argument is checked: class `Count` for a negative count, `Arg` for other bad values or lists of unequal length,
//! `ValueTooLarge` where the type's size or a bound would not fit 64 bits. Old types need not be committed.

use alloc::rc::Rc;

use crate::bounds::Bounds;
use crate::contents::{Combiner, Form};
use crate::datatype::{Contents, Datatype};
use crate::error::{Result, argument, count};
use crate::node::{List, Placed, repeated};
use crate::signature::Sig;

/// A type map under construction: everything about a type but how it was made.
#[derive(Clone)]
pub(crate) struct Map {
    pub bounds: Bounds,
    pub layout: Option<Placed>,
    pub sig: Option<Rc<Sig>>,
}

impl Map {
    pub fn of(datatype: &Datatype) -> Map {
        let inner = datatype.inner();
        Map { bounds: inner.bounds, layout: inner.layout.clone(), sig: inner.sig.clone() }
    }

    /// `count` copies `stride` bytes apart, the first moved by `disp`.
    pub fn repeated(&self, disp: i128, count: u64, stride: i128) -> Result<Map> {
        Ok(Map {
            bounds: self.bounds.repeated(disp, count, stride)?,
            layout: repeated(&self.layout, disp, count, stride)?,
            sig: self.sig.as_ref().filter(|_| count > 0).map(|sig| sig.repeated(count)),
        })
    }

    pub fn resized(self, lb: i64, extent: i64) -> Result<Map> {
        Ok(Map { bounds: self.bounds.resized(lb, extent)?, ..self })
    }

    pub fn finish(self, contents: Contents) -> Result<Datatype> {
        Ok(Datatype::from_parts(self.bounds, self.layout, self.sig, contents.check()?))
    }
}

/// Blocks of one old type at given places, in order: `(displacement in bytes, items)`.
fn blocks(old: &Datatype, list: impl Iterator<Item = Result<(i128, u64)>>, length: usize) -> Result<Map> {
    let map = Map::of(old);
    let extent = i128::from(old.extent());
    let (mut bounds, mut layout, mut items) = (Bounds::default(), List::with_capacity(length), 0u64);
    // Equal blocks share one node, so that a list of equal blocks costs no more than their displacements.
    let mut block: Option<(u64, Option<Placed>)> = None;
    for entry in list {
        let (disp, length) = entry?;
        if length == 0 {
            continue;
        }
        bounds = bounds.united(&map.bounds.repeated(disp, length, extent)?)?;
        if block.as_ref().is_none_or(|(last, _)| *last != length) {
            block = Some((length, repeated(&map.layout, 0, length, extent)?));
        }
        if let Some((_, placed)) = &block {
            layout.push(repeated(placed, disp, 1, 0)?);
        }
        // Bytes have been checked to fit; items only count if they have bytes.
        items = items.saturating_add(length);
    }
    let sig = map.sig.as_ref().filter(|_| items > 0).map(|sig| sig.repeated(items));
    Ok(Map { bounds, layout: layout.finish()?, sig })
}

fn block_length(value: i64) -> Result<u64> {
    argument(value >= 0, "a block length is negative")?;
    Ok(value as u64)
}

fn same_length(count: usize, other: usize) -> Result<()> {
    argument(count == other, "the lists of block lengths, displacements and types differ in length")
}

impl Datatype {
    /// `MPI_TYPE_CONTIGUOUS`: `items` items one extent apart.
    pub fn contiguous_of(form: Form, items: i64, old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Contiguous, form).count(items).types([old]);
        Map::of(old).repeated(0, count(items)?, old.extent().into())?.finish(contents)
    }

    /// `MPI_TYPE_VECTOR`: `blocks` blocks of `length` items, `stride` items apart.
    pub fn vector(form: Form, blocks: i64, length: i64, stride: i64, old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Vector, form).counts(&[blocks, length, stride]).types([old]);
        let bytes = i128::from(stride) * i128::from(old.extent());
        vector_map(blocks, length, bytes, old)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_HVECTOR`: `blocks` blocks of `length` items, `stride` bytes apart.
    pub fn hvector(form: Form, blocks: i64, length: i64, stride: i64, old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Hvector, form).counts(&[blocks, length]).addresses(&[stride]);
        vector_map(blocks, length, stride.into(), old)?.finish(contents.types([old]))
    }

    /// `MPI_TYPE_INDEXED`: blocks of `lengths[i]` items at `displacements[i]` items.
    pub fn indexed(form: Form, lengths: &[i64], displacements: &[i64], old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Indexed, form).count(lengths.len() as i64);
        let contents = contents.counts(lengths).counts(displacements).types([old]);
        indexed_map(lengths, displacements, old.extent().into(), old)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_HINDEXED`: blocks of `lengths[i]` items at `displacements[i]` bytes.
    pub fn hindexed(form: Form, lengths: &[i64], displacements: &[i64], old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Hindexed, form).count(lengths.len() as i64);
        let contents = contents.counts(lengths).addresses(displacements).types([old]);
        indexed_map(lengths, displacements, 1, old)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_INDEXED_BLOCK`: blocks of `length` items at `displacements[i]` items.
    pub fn indexed_block(form: Form, length: i64, displacements: &[i64], old: &Datatype) -> Result<Datatype> {
        let contents =
            Contents::new(Combiner::IndexedBlock, form).counts(&[displacements.len() as i64, length]);
        let contents = contents.counts(displacements).types([old]);
        indexed_block_map(length, displacements, old.extent().into(), old)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_HINDEXED_BLOCK`: blocks of `length` items at `displacements[i]` bytes.
    pub fn hindexed_block(
        form: Form,
        length: i64,
        displacements: &[i64],
        old: &Datatype,
    ) -> Result<Datatype> {
        let contents =
            Contents::new(Combiner::HindexedBlock, form).counts(&[displacements.len() as i64, length]);
        let contents = contents.addresses(displacements).types([old]);
        indexed_block_map(length, displacements, 1, old)?.finish(contents)
    }

    /// `MPI_TYPE_CREATE_STRUCT`: `lengths[i]` items of `types[i]` at `displacements[i]` bytes.
    pub fn structure(
        form: Form,
        lengths: &[i64],
        displacements: &[i64],
        types: &[Datatype],
    ) -> Result<Datatype> {
        same_length(lengths.len(), displacements.len())?;
        same_length(lengths.len(), types.len())?;
        let (mut bounds, mut layout) = (Bounds::default(), List::with_capacity(lengths.len()));
        let mut sigs = alloc::vec::Vec::with_capacity(lengths.len());
        for ((length, disp), old) in lengths.iter().zip(displacements).zip(types) {
            let length = block_length(*length)?;
            let member = Map::of(old).repeated(i128::from(*disp), length, old.extent().into())?;
            bounds = bounds.united(&member.bounds)?;
            layout.push(member.layout);
            sigs.extend(member.sig);
        }
        let map = Map { bounds, layout: layout.finish()?, sig: Sig::joined(sigs.into_iter())? };
        let contents = Contents::new(Combiner::Struct, form).count(lengths.len() as i64);
        map.finish(contents.counts(lengths).addresses(displacements).types(types))
    }

    /// `MPI_TYPE_CREATE_RESIZED`: the same data with lower bound `lb` and the given extent, bytes.
    pub fn resized(form: Form, lb: i64, extent: i64, old: &Datatype) -> Result<Datatype> {
        let contents = Contents::new(Combiner::Resized, form).addresses(&[lb, extent]).types([old]);
        Map::of(old).resized(lb, extent)?.finish(contents)
    }

    /// `MPI_TYPE_DUP`: a new object of the same type and state of commitment.
    pub fn dup(&self) -> Datatype {
        self.duplicate(Contents::new(Combiner::Dup, Form::Int).types([self]))
    }
}

fn vector_map(blocks: i64, length: i64, stride: i128, old: &Datatype) -> Result<Map> {
    let (blocks, length) = (count(blocks)?, block_length(length)?);
    Map::of(old).repeated(0, length, old.extent().into())?.repeated(0, blocks, stride)
}

fn indexed_map(lengths: &[i64], displacements: &[i64], unit: i128, old: &Datatype) -> Result<Map> {
    same_length(lengths.len(), displacements.len())?;
    let list = lengths.iter().zip(displacements);
    let list = list.map(|(length, disp)| Ok((i128::from(*disp) * unit, block_length(*length)?)));
    blocks(old, list, lengths.len())
}

fn indexed_block_map(length: i64, displacements: &[i64], unit: i128, old: &Datatype) -> Result<Map> {
    let length = block_length(length)?;
    blocks(old, displacements.iter().map(|disp| Ok((i128::from(*disp) * unit, length))), displacements.len())
}
