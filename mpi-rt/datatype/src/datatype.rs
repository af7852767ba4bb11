//! A datatype: an immutable, reference-counted value with its bounds, layout, signature and the arguments that made it.
//!
//! Cloning is taking a reference; a datatype lives as long as a handle, a derived type or a pending communication holds it,
//! which is what `MPI_TYPE_FREE` asks for. Ranks have one thread, so references are not atomic. Committing writes the layout
//! as words that peers can read; only committed types communicate.

use alloc::rc::Rc;
use core::cell::OnceCell;

use crate::basic::{Basic, Pair, Predefined};
use crate::bounds::Bounds;
use crate::contents::Arguments;
use crate::error::{Class, Error, Result, count};
use crate::layout::{LayoutView, flatten};
use crate::node::{List, Node, Placed};
use crate::signature::{Fingerprint, Match, Sig, compare, external_size, fingerprint};
use crate::transfer::Region;

/// With which constructor and arguments a datatype was made.
pub type Contents = Arguments<Datatype>;

/// A reference to a datatype.
#[derive(Clone, Debug)]
pub struct Datatype(Rc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub bounds: Bounds,
    pub layout: Option<Placed>,
    pub sig: Option<Rc<Sig>>,
    pub contents: Contents,
    /// The committed form.
    words: OnceCell<Rc<[u64]>>,
}

impl Drop for Inner {
    /// Takes the chain of types this one was made from apart step by step: a program may dup a dup a million times.
    fn drop(&mut self) {
        let mut pending = core::mem::take(&mut self.contents.datatypes);
        while let Some(Datatype(shared)) = pending.pop() {
            if let Ok(mut inner) = Rc::try_unwrap(shared) {
                pending.append(&mut inner.contents.datatypes);
            }
        }
    }
}

impl Datatype {
    /// A predefined type, committed as all of them are. Each call makes a new object: keep one a type.
    pub fn predefined(predefined: impl Into<Predefined>) -> Datatype {
        let predefined = predefined.into();
        let datatype = match predefined {
            Predefined::Basic(basic) => Datatype::of_basic(basic, Contents::named(predefined)),
            Predefined::Pair(pair) => Datatype::of_pair(pair, Contents::named(predefined)),
        };
        datatype.commit();
        datatype
    }

    pub(crate) fn of_basic(basic: Basic, contents: Contents) -> Datatype {
        let bounds = Bounds::of_value(basic.size(), basic.align());
        Datatype::from_parts(bounds, block(0, basic.size()), Some(Sig::basic(basic, 1)), contents)
    }

    fn of_pair(pair: Pair, contents: Contents) -> Datatype {
        let (value, index, at) = (pair.value(), pair.index(), pair.index_offset());
        let true_ub = (at + index.size()) as i64;
        let bounds = Bounds {
            size: (value.size() + index.size()) as i64,
            true_ub,
            extent: pair.extent() as i64,
            ..Bounds::of_value(true_ub as usize, pair.align())
        };
        let mut list = List::with_capacity(2);
        list.push(block(0, value.size()));
        list.push(block(at as i64, index.size()));
        // Neither call can fail: two members are no depth and lie next to each other.
        let layout = list.finish().unwrap_or_default();
        let sig = Sig::joined([Sig::basic(value, 1), Sig::basic(index, 1)].into_iter()).unwrap_or_default();
        Datatype::from_parts(bounds, layout, sig, contents)
    }

    pub(crate) fn from_parts(
        bounds: Bounds,
        layout: Option<Placed>,
        sig: Option<Rc<Sig>>,
        contents: Contents,
    ) -> Datatype {
        Datatype(Rc::new(Inner { bounds, layout, sig, contents, words: OnceCell::new() }))
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The same data under other contents, in the same state of commitment (`MPI_TYPE_DUP`).
    pub(crate) fn duplicate(&self, contents: Contents) -> Datatype {
        let Inner { bounds, layout, sig, words, .. } = &*self.0;
        let (layout, sig, words) = (layout.clone(), sig.clone(), words.clone());
        Datatype(Rc::new(Inner { bounds: *bounds, layout, sig, contents, words }))
    }

    /// Makes the type usable for communication (`MPI_TYPE_COMMIT`). Doing it again changes nothing.
    pub fn commit(&self) {
        self.0.words.get_or_init(|| flatten(&self.0.layout, &self.0.bounds));
    }

    /// Whether it has been committed.
    pub fn is_committed(&self) -> bool {
        self.0.words.get().is_some()
    }

    /// The committed layout; class `Type` if the type is not committed.
    pub fn layout(&self) -> Result<LayoutView<'_>> {
        let uncommitted = Error::new(
            Class::Type,
            "the datatype is not committed; call MPI_Type_commit before it communicates",
        );
        LayoutView::from_words(self.0.words.get().ok_or(uncommitted)?)
    }

    /// A buffer of `count` items at address `base`. Class `Count` for a negative count or more than 2^63 bytes, class `Type`
    /// for an uncommitted type.
    pub fn region(&self, base: usize, items: i64) -> Result<Region<'_>> {
        let region = Region { base, layout: self.layout()?, count: count(items)? };
        region.total()?;
        Ok(region)
    }

    /// Whether both references are to one object.
    pub fn is_same(&self, other: &Datatype) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The constructor and its arguments.
    pub fn contents(&self) -> &Contents {
        &self.0.contents
    }

    /// Which predefined type it is: a named one, or an unnamed one of Fortran's (`MPI_TYPE_CREATE_F90_…`).
    pub fn as_predefined(&self) -> Option<Predefined> {
        self.0.contents.predefined
    }

    /// Bytes of data (`MPI_TYPE_SIZE`).
    pub fn size(&self) -> i64 {
        self.0.bounds.size
    }

    /// Lower bound, bytes.
    pub fn lb(&self) -> i64 {
        self.0.bounds.lb
    }

    /// Whether its bounds are those of markers, as resizing puts them there, and not of its data.
    pub fn has_markers(&self) -> bool {
        self.0.bounds.markers.is_some()
    }

    /// Upper bound, bytes.
    pub fn ub(&self) -> i64 {
        self.0.bounds.ub()
    }

    /// Upper bound less lower bound, bytes: the distance between consecutive items.
    pub fn extent(&self) -> i64 {
        self.0.bounds.extent
    }

    /// Displacement of the lowest byte of data, bytes.
    pub fn true_lb(&self) -> i64 {
        self.0.bounds.true_lb
    }

    /// Bytes from the lowest to the highest byte of data.
    pub fn true_extent(&self) -> i64 {
        self.0.bounds.true_ub - self.0.bounds.true_lb
    }

    /// Displacement of the first block and number of bytes, if the data of `items` items is one block: the fast path of
    /// every communication. `None` for an uncommitted type too.
    pub fn contiguous(&self, items: u64) -> Option<(i64, u64)> {
        self.layout().ok()?.contiguous(items)
    }

    /// Bytes that packing `items` items takes (`MPI_PACK_SIZE`). Class `Count` for a negative count, and from 2^63
    /// bytes on.
    pub fn pack_size(&self, items: i64) -> Result<u64> {
        let bytes =
            (self.0.bounds.size as u64).checked_mul(count(items)?).filter(|bytes| *bytes <= i64::MAX as u64);
        bytes.ok_or(Error::new(Class::Count, "the count makes the message larger than 2^63 bytes"))
    }

    /// Bytes that packing `items` items as `external32` takes (`MPI_PACK_EXTERNAL_SIZE`). Class `Count` or `ValueTooLarge`.
    pub fn pack_external_size(&self, items: i64) -> Result<u64> {
        external_size(self.0.sig.as_ref(), count(items)?)
    }

    /// Whole items in `bytes` received bytes (`MPI_GET_COUNT`). `None` (`MPI_UNDEFINED`) if the bytes are no whole number of
    /// items.
    pub fn count_of(&self, bytes: u64) -> Option<u64> {
        match self.0.bounds.size as u64 {
            0 => (bytes == 0).then_some(0),
            size => bytes.is_multiple_of(size).then_some(bytes / size),
        }
    }

    /// Basic elements in `bytes` received bytes (`MPI_GET_ELEMENTS`); a pair is two. `None` (`MPI_UNDEFINED`) if they end
    /// within an element.
    pub fn elements_of(&self, bytes: u64) -> Option<u64> {
        match &self.0.sig {
            None => (bytes == 0).then_some(0),
            Some(sig) => sig.elements(bytes),
        }
    }

    /// The bytes that `elements` basic elements from the start on take (`MPI_STATUS_SET_ELEMENTS`). `None` beyond 64
    /// bits, and for elements of a type that has none.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        match &self.0.sig {
            None => (elements == 0).then_some(0),
            Some(sig) => sig.bytes_of(elements),
        }
    }

    /// The fingerprint of the signature of `items` items.
    pub fn fingerprint(&self, items: u64) -> Fingerprint {
        fingerprint(self.0.sig.as_ref(), items)
    }

    /// Compares the signature of a message of `items` items of this type with that of a receive.
    pub fn matches(&self, items: u64, receive: &Datatype, receive_items: u64) -> Match {
        compare(self.0.sig.as_ref(), items, receive.0.sig.as_ref(), receive_items)
    }

    /// The basic type that every element is, if there is only one.
    pub fn homogeneous(&self) -> Option<Predefined> {
        self.0.sig.as_ref()?.homogeneous().map(Predefined::Basic)
    }
}

fn block(disp: i64, bytes: usize) -> Option<Placed> {
    Some(Placed { disp, node: Rc::new(Node::Run { block: bytes as u64, count: 1, stride: 0 }) })
}
