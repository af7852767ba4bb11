//! Attributes (MPI-5.0, section 7.7): values that programs and libraries attach to communicators, datatypes and windows under keys
//! of their own, with functions that are called when an object is duplicated or freed.
//!
//! The functions are called while nothing of the runtime is in use, so they may call it, attributes included. Attributes are deleted
//! in the reverse order of setting (the standard asks for that on `MPI_COMM_SELF` only).

use crate::error::{Error, Result};
use crate::handle::Kind;
use crate::local::RankLocal;
use crate::object::{self, Attributes, Object};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ffi::c_void;

/// Called when an object is duplicated: object, key, the key's extra state, value, where the new value goes, where a flag goes that
/// says whether the new object gets it. Returns an error code.
pub type CopyFunction =
    unsafe extern "C" fn(u64, i32, *mut c_void, *mut c_void, *mut c_void, *mut i32) -> i32;
/// Called when an attribute is deleted: object, key, value, the key's extra state. Returns an error code.
pub type DeleteFunction = unsafe extern "C" fn(u64, i32, *mut c_void, *mut c_void) -> i32;

/// What happens to an attribute when its object is duplicated.
#[derive(Clone, Copy, Debug)]
pub enum Copier {
    /// It is not copied.
    Null,
    /// Its value is copied.
    Duplicate,
    Function(CopyFunction),
}

/// What is done when an attribute is deleted.
#[derive(Clone, Copy, Debug)]
pub enum Deleter {
    Null,
    Function(DeleteFunction),
}

impl Copier {
    /// From the address that a C program passes: the binary interface's null and duplicating functions are 0 and 1.
    ///
    /// # Safety
    /// Any other address must be that of a [`CopyFunction`].
    pub unsafe fn from_address(address: usize) -> Copier {
        match address {
            0 => Copier::Null,
            1 => Copier::Duplicate,
            // SAFETY: any other address is that of a `CopyFunction` (this function's contract); function
            // pointers are addresses on this machine.
            _ => Copier::Function(unsafe {
                core::mem::transmute::<*const (), CopyFunction>(core::ptr::with_exposed_provenance(address))
            }),
        }
    }
}

impl Deleter {
    /// From the address that a C program passes: the binary interface's null function is 0.
    ///
    /// # Safety
    /// Any other address must be that of a [`DeleteFunction`].
    pub unsafe fn from_address(address: usize) -> Deleter {
        match address {
            0 => Deleter::Null,
            // SAFETY: any other address is that of a `DeleteFunction` (this function's contract); function
            // pointers are addresses on this machine.
            _ => Deleter::Function(unsafe {
                core::mem::transmute::<*const (), DeleteFunction>(core::ptr::with_exposed_provenance(address))
            }),
        }
    }
}

#[derive(Clone, Copy)]
struct Key {
    /// Kind of object it is for.
    kind: Kind,
    copier: Copier,
    deleter: Deleter,
    extra: usize,
    /// Freed by the program; its functions still serve attributes that are set.
    freed: bool,
    /// Attributes that are set under it.
    uses: usize,
}

struct Keys {
    next: i32,
    keys: BTreeMap<i32, Key>,
}

/// Keys of programs start behind every predefined one.
const FIRST_KEY: i32 = 0x1000;

static KEYS: RankLocal<Keys> = RankLocal::new(Keys { next: FIRST_KEY, keys: BTreeMap::new() });

fn with<R>(call: impl FnOnce(&mut Keys) -> Result<R>) -> Result<R> {
    KEYS.try_with(call).unwrap_or(Err(Error::INTERN))
}

/// A key for attributes of a kind of object; its functions are handed `extra`, a pointer or any word of the program's. Errors:
/// `INTERN` after two thousand million keys.
pub fn create_key(kind: Kind, copier: Copier, deleter: Deleter, extra: usize) -> Result<i32> {
    with(|it| {
        let number = it.next;
        it.next = number.checked_add(1).ok_or(Error::INTERN)?;
        it.keys.insert(number, Key { kind, copier, deleter, extra, freed: false, uses: 0 });
        Ok(number)
    })
}

/// Frees a key; attributes that are set under it stay until they are deleted, and can be asked for. Errors: `KEYVAL`.
pub fn free_key(kind: Kind, number: i32) -> Result<()> {
    with(|it| {
        it.valid(kind, number)?.freed = true;
        it.drop_unused(number);
        Ok(())
    })
}

impl Keys {
    /// A key that serves attributes: one that has been freed does as long as any is set under it.
    fn serving(&self, kind: Kind, number: i32) -> Result<()> {
        self.keys.get(&number).filter(|key| key.kind == kind).map(drop).ok_or(Error::KEYVAL)
    }

    /// A key that has not been freed.
    fn valid(&mut self, kind: Kind, number: i32) -> Result<&mut Key> {
        self.keys.get_mut(&number).filter(|key| key.kind == kind && !key.freed).ok_or(Error::KEYVAL)
    }

    fn count(&mut self, number: i32, more: bool) {
        if let Some(key) = self.keys.get_mut(&number) {
            key.uses = if more { key.uses + 1 } else { key.uses.saturating_sub(1) };
        }
        self.drop_unused(number);
    }

    fn drop_unused(&mut self, number: i32) {
        if self.keys.get(&number).is_some_and(|key| key.freed && key.uses == 0) {
            self.keys.remove(&number);
        }
    }
}

fn value_of(object: Object, number: i32) -> Result<Option<usize>> {
    object.attached(|it| {
        it.and_then(|it| it.attributes.iter().find(|(key, _)| *key == number).map(|(_, value)| *value))
    })
}

/// Sets an attribute; one that is set already is deleted first. Errors: that of an invalid object; `KEYVAL`, also for predefined keys;
/// what the delete function returns, and then the old value stays.
pub fn set(object: Object, number: i32, value: usize) -> Result<()> {
    object::exists(object)?;
    with(|it| it.valid(object.kind, number).map(|_| ()))?;
    if value_of(object, number)?.is_some() {
        delete_one(object, number)?;
    }
    object.attach(|it| it.attributes.push((number, value)))?;
    with(|it| {
        it.count(number, true);
        Ok(())
    })
}

/// The value of an attribute, or `None` if it is not set. The value of a predefined one is the address of an integer, as in the C
/// binding. Errors: that of an invalid object; `KEYVAL`.
pub fn get(object: Object, number: i32) -> Result<Option<usize>> {
    object::exists(object)?;
    if number < FIRST_KEY {
        return object::predefined_attribute(object, number);
    }
    with(|it| it.serving(object.kind, number))?;
    value_of(object, number)
}

/// Deletes an attribute. Errors: that of an invalid object; `KEYVAL`, also for predefined keys, and if it is not set; what the delete
/// function returns.
pub fn delete(object: Object, number: i32) -> Result<()> {
    object::exists(object)?;
    with(|it| it.serving(object.kind, number))?;
    value_of(object, number)?.ok_or(Error::KEYVAL)?;
    delete_one(object, number)
}

/// Deletes all attributes of an object that is about to be freed, the last one set first. Errors: what a delete function returns;
/// that attribute and those before it stay. Not while the engine is in use.
pub fn delete_all(object: Object) -> Result<()> {
    while let Some(number) =
        object.attached(|it| it.and_then(|it| it.attributes.last().map(|(key, _)| *key)))?
    {
        delete_one(object, number)?;
    }
    Ok(())
}

/// What an object that is made by duplicating `from` gets: the copy functions are called, on `from`. The result goes to [`adopt`], when
/// the new object is there. Errors: what a copy function returns. Not while the engine is in use.
pub fn copies(from: Object) -> Result<Copies> {
    let attributes = from.attached(|it| it.map_or(Vec::new(), |it| it.attributes.clone()))?;
    let mut copied = Vec::new();
    for (number, value) in attributes {
        let Some(key) = with(|it| Ok(it.keys.get(&number).copied()))? else { continue };
        let (mut flag, mut copy) = (0, value);
        match key.copier {
            Copier::Null => {}
            Copier::Duplicate => flag = 1,
            Copier::Function(function) => {
                let (extra, value) = (pointer(key.extra), pointer(value));
                let target = (&raw mut copy).cast();
                // SAFETY: the program registered this `CopyFunction` for objects of the kind; the addresses
                // are of this function's variables.
                let code = unsafe { function(from.handle.0, number, extra, value, target, &raw mut flag) };
                Error::from_code(code).map_or(Ok(()), Err)?;
            }
        }
        if flag != 0 {
            copied.push((number, copy));
        }
    }
    Ok(Copies(copied))
}

/// Attributes for a new object.
#[must_use = "copied attributes belong to the new object"]
#[derive(Debug)]
pub struct Copies(Attributes);

/// Gives a new object the attributes that have been copied for it. Errors: `INTERN` if it is called from a function of an attribute.
pub fn adopt(object: Object, copies: Copies) -> Result<()> {
    if copies.0.is_empty() {
        return Ok(());
    }
    with(|it| {
        copies.0.iter().for_each(|(number, _)| it.count(*number, true));
        Ok(())
    })?;
    object.attach(|it| it.attributes.extend(copies.0))
}

fn delete_one(object: Object, number: i32) -> Result<()> {
    let Some(value) = value_of(object, number)? else { return Ok(()) };
    let key = with(|it| Ok(it.keys.get(&number).copied()))?;
    if let Some(Key { deleter: Deleter::Function(function), extra, .. }) = key {
        // SAFETY: the program registered this `DeleteFunction` for objects of the kind; `value` and `extra`
        // are the program's own words.
        let code = unsafe { function(object.handle.0, number, pointer(value), pointer(extra)) };
        Error::from_code(code).map_or(Ok(()), Err)?;
    }
    let removed = object.attach(|it| {
        let place = it.attributes.iter().position(|attribute| *attribute == (number, value));
        place.map(|place| it.attributes.remove(place))
    })?;
    if removed.is_some() {
        with(|it| {
            it.count(number, false);
            Ok(())
        })?;
    }
    Ok(())
}

fn pointer(word: usize) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(word)
}
