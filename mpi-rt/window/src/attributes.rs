//! What a window tells of itself: the predefined attributes, the group, where the others' shared memory is (MPI-5.0, sections 12.2.3
//! and 12.2.7).

use crate::Flavor;
use crate::shared::OwnMemory;
use crate::{Windows, with};
use lwk_mpi_core::abi::{self, PROC_NULL};
use lwk_mpi_core::error::{Error, Result};
use lwk_mpi_core::handle::Handle;
use lwk_mpi_core::object::Object;
use lwk_mpi_rt::group::Group;
use lwk_place::WorldRank;

/// The unified memory model (`MPI_WIN_UNIFIED`).
const UNIFIED: i32 = 321;

/// The values of the predefined attributes, as the binary interface wants them pointed at. Their place does not change while the
/// window lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Attributes {
    /// `MPI_WIN_BASE`: not pointed at, but the value.
    pub base: *mut u8,
    /// `MPI_WIN_SIZE`: an `MPI_Aint`, bytes.
    pub size: isize,
    /// `MPI_WIN_DISP_UNIT`, an `int`: bytes.
    pub unit: i32,
    /// `MPI_WIN_CREATE_FLAVOR`, an `int`.
    pub flavor: i32,
    /// `MPI_WIN_MODEL`, an `int`.
    pub model: i32,
}

/// One rank's part of a window, as this rank may use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// In this rank's addresses; null if there is no memory.
    pub base: *mut u8,
    /// Bytes.
    pub size: u64,
    /// Bytes of a unit of displacement.
    pub unit: u64,
}

impl Attributes {
    pub(super) fn new(flavor: Flavor, part: &OwnMemory) -> Attributes {
        Attributes {
            base: core::ptr::with_exposed_provenance_mut(if flavor == Flavor::Dynamic {
                0
            } else {
                part.base
            }),
            size: part.size as isize,
            // A unit that no `int` holds cannot be told by this attribute.
            unit: i32::try_from(part.unit).unwrap_or(i32::MAX),
            flavor: flavor as i32,
            model: UNIFIED,
        }
    }
}

impl Windows {
    /// The predefined attributes. Errors: `WIN`.
    pub fn win_attributes(&self, window: Handle) -> Result<&Attributes> {
        Ok(&self.window(window)?.attributes)
    }

    /// The world rank of each of its ranks: the window's group. Errors: `WIN`.
    pub fn win_members(&self, window: Handle) -> Result<&[WorldRank]> {
        Ok(&self.window(window)?.communicator.members)
    }

    /// A handle of its group. Errors: `WIN`.
    pub fn win_group(&mut self, window: Handle) -> Result<Handle> {
        let group = Group::new(self.window(window)?.communicator.members.clone());
        Ok(self.groups.insert(group))
    }

    /// Where this rank may load and store what is another rank's part of the window; of the null process, the lowest rank's that has any
    /// memory. Errors: `WIN`, `RANK`; `RMA_FLAVOR` for a dynamic window.
    pub fn win_shared_query(&self, window: Handle, rank: i32) -> Result<Shape> {
        let it = self.window(window)?;
        if it.flavor == Flavor::Dynamic {
            return Err(Error::RMA_FLAVOR);
        }
        let target = match rank {
            PROC_NULL => it.targets.iter().find(|target| target.size > 0),
            _ => Some(it.targets.get(rank as usize).ok_or(Error::RANK)?),
        };
        Ok(match target {
            Some(target) if target.size > 0 => {
                let base = core::ptr::with_exposed_provenance_mut(target.base);
                Shape { base, size: target.size, unit: target.unit }
            }
            Some(target) => Shape { base: core::ptr::null_mut(), size: 0, unit: target.unit },
            None => Shape { base: core::ptr::null_mut(), size: 0, unit: 1 },
        })
    }
}

/// The value of a predefined attribute, as in the C binding: the base itself, or the address of the number. Errors: `WIN`, `KEYVAL`.
pub(crate) fn attribute(window: Object, key: i32) -> Result<Option<usize>> {
    with(|windows| {
        let attributes = windows.win_attributes(window.handle)?;
        let value = match key {
            abi::attribute::WIN_BASE => attributes.base.expose_provenance(),
            abi::attribute::WIN_SIZE => (&raw const attributes.size).expose_provenance(),
            abi::attribute::WIN_DISP_UNIT => (&raw const attributes.unit).expose_provenance(),
            abi::attribute::WIN_CREATE_FLAVOR => (&raw const attributes.flavor).expose_provenance(),
            abi::attribute::WIN_MODEL => (&raw const attributes.model).expose_provenance(),
            _ => return Err(Error::KEYVAL),
        };
        Ok(Some(value))
    })
}
