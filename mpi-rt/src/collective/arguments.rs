//! Arguments of collectives, as the standard lists them: buffers, buffers divided among ranks, and the calls themselves.

use crate::abi::IN_PLACE;
use crate::abi::datatype::NULL;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::vec::Vec;
use lwk_datatype::Datatype;
use lwk_path::region::Region;

/// One buffer of a collective.
#[derive(Clone, Copy, Debug)]
pub struct BufferArgument {
    pub address: *mut u8,
    pub count: i64,
    /// Handle.
    pub datatype: u64,
}

/// A buffer divided among the ranks, or among the neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub address: *mut u8,
    pub division: Division<'a>,
    /// Handle; not looked at if each part has its own.
    pub datatype: u64,
}

/// How it is divided.
#[derive(Clone, Copy, Debug)]
pub enum Division<'a> {
    /// So many items for each, one after another.
    Equal(i64),
    /// Counts, and displacements in items.
    Varying(Numbers<'a>, Numbers<'a>),
    /// Counts, displacements in bytes, and datatypes.
    Typed(Numbers<'a>, Numbers<'a>, &'a [u64]),
}

/// An array of the caller: of `int`, or of `MPI_Count` or `MPI_Aint`.
#[derive(Clone, Copy, Debug)]
pub enum Numbers<'a> {
    Int(&'a [i32]),
    Wide(&'a [i64]),
}

impl Division<'_> {
    /// Whether it is by counts and displacements of one datatype.
    #[inline]
    pub(super) fn is_varying(&self) -> bool {
        matches!(self, Division::Varying(..))
    }

    /// Whether it is by counts and displacements.
    #[inline]
    pub(super) fn has_places(&self) -> bool {
        matches!(self, Division::Varying(..) | Division::Typed(..))
    }
}

impl Numbers<'_> {
    /// Errors: `ARG` if the array is too short.
    pub fn get(&self, index: usize) -> Result<i64> {
        match self {
            Numbers::Int(numbers) => numbers.get(index).map(|number| *number as i64),
            Numbers::Wide(numbers) => numbers.get(index).copied(),
        }
        .ok_or(Error::ARG)
    }
}

/// A buffer divided by counts and displacements, as it was when the call began: an operation of the program's, which may run before the call has ended, may free the
/// datatypes.
pub(super) struct VaryingParts<'a> {
    address: *mut u8,
    counts: Numbers<'a>,
    places: Numbers<'a>,
    /// Bytes that a displacement of 1 stands for.
    distance: i64,
    items: ItemsOf<'a>,
}

/// What the parts are made of.
enum ItemsOf<'a> {
    /// Bytes of an item without a layout, or 0 and its datatype.
    One(usize, Option<Datatype>),
    /// A datatype for each; those with a layout are kept, by part.
    Each(&'a [u64], Vec<(usize, Datatype)>),
}

impl ItemsOf<'_> {
    #[inline]
    fn of(&self, index: usize) -> (usize, Option<&Datatype>) {
        match self {
            ItemsOf::One(width, datatype) => (*width, datatype.as_ref()),
            ItemsOf::Each(types, kept) => {
                let width = types.get(index).map_or(0, |datatype| crate::datatypes::dense_bytes(*datatype));
                let place = kept.binary_search_by_key(&index, |(part, _)| *part).ok();
                (width, place.map(|place| &kept[place].1))
            }
        }
    }
}

/// The buffers of a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Reducing {
    pub send: *const u8,
    pub receive: *mut u8,
    /// Items; of all blocks together where the result is scattered.
    pub count: i64,
    /// Handles.
    pub datatype: u64,
    pub operation: u64,
}

/// A collective operation with its arguments. A root is a rank, or on an intercommunicator `MPI_ROOT` or `MPI_PROC_NULL`.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    Barrier,
    Broadcast {
        buffer: BufferArgument,
        root: i32,
    },
    /// Also the v-form.
    Gather {
        send: BufferArgument,
        receive: Parts<'a>,
        root: i32,
    },
    Scatter {
        send: Parts<'a>,
        receive: BufferArgument,
        root: i32,
    },
    Allgather {
        send: BufferArgument,
        receive: Parts<'a>,
    },
    /// Also the v- and w-forms.
    Alltoall {
        send: Parts<'a>,
        receive: Parts<'a>,
    },
    Reduce {
        reducing: Reducing,
        root: i32,
    },
    Allreduce {
        reducing: Reducing,
    },
    /// Items of each rank's block; the reduction's own count is not looked at.
    ReduceScatter {
        reducing: Reducing,
        blocks: Numbers<'a>,
    },
    /// Every block has the reduction's count.
    ReduceScatterBlock {
        reducing: Reducing,
    },
    Scan {
        reducing: Reducing,
    },
    Exscan {
        reducing: Reducing,
    },
    /// Also the v-form.
    NeighbourAllgather {
        send: BufferArgument,
        receive: Parts<'a>,
    },
    /// Also the v- and w-forms.
    NeighbourAlltoall {
        send: Parts<'a>,
        receive: Parts<'a>,
    },
}

impl BufferArgument {
    /// Whether the caller has named no buffer but the other one.
    pub fn is_in_place(&self) -> bool {
        self.address.addr() == IN_PLACE
    }
}

impl Parts<'_> {
    /// As for [`BufferArgument::is_in_place`].
    pub fn is_in_place(&self) -> bool {
        self.address.addr() == IN_PLACE
    }
}

impl VaryingParts<'_> {
    /// The region of one part. It is valid as long as this. Errors: as for [`Engine::parts`].
    #[inline]
    pub(super) fn part(&self, index: usize) -> Result<Region> {
        let address = place(self.address, self.places.get(index)?, self.distance)?;
        let count = u64::try_from(self.counts.get(index)?).map_err(|_| Error::COUNT)?;
        let (width, datatype) = self.items.of(index);
        match datatype {
            Some(datatype) => Ok(Region::items(address, count, datatype.layout()?)?),
            None => {
                let bytes = (count as usize).checked_mul(width).ok_or(Error::VALUE_TOO_LARGE)?;
                Ok(Region::block(address, bytes))
            }
        }
    }
}

/// Where the part with this displacement is.
#[inline]
fn place(address: *mut u8, displacement: i64, distance: i64) -> Result<*mut u8> {
    let offset = displacement.checked_mul(distance).ok_or(Error::VALUE_TOO_LARGE)?;
    // Displacements may be negative, and the address absolute: the sum wraps, as addresses do.
    Ok(address.wrapping_offset(offset as isize))
}

impl Engine {
    /// The region of a part; its datatype is kept in `kept`. Errors: `COUNT`, `TYPE`, `BUFFER`.
    pub(super) fn part(&self, part: &BufferArgument, kept: &mut Vec<Datatype>) -> Result<Region> {
        self.check_buffer(part.address, part.count, part.datatype)?;
        let region = self.region(part.address, part.count, part.datatype)?;
        self.keep(part.datatype, kept);
        Ok(region)
    }

    /// The regions of so many parts; datatypes are kept in `kept`. Errors: `COUNT`, `TYPE`, `BUFFER`, `NO_MEM`, `ARG` if an array is too short.
    pub(super) fn parts(
        &self,
        parts: &Parts,
        number: usize,
        kept: &mut Vec<Datatype>,
    ) -> Result<Vec<Region>> {
        let mut regions = Vec::new();
        regions.try_reserve_exact(number).map_err(|_| Error::NO_MEM)?;
        let extent = self.distance(parts)?;
        for index in 0..number {
            let (region, datatype) = self.part_at(parts, extent, index)?;
            if index == 0 || matches!(parts.division, Division::Typed(..)) {
                self.keep(datatype, kept);
            }
            regions.push(region);
        }
        Ok(regions)
    }

    /// Bytes that a displacement of 1 stands for. Errors: `TYPE`.
    #[inline]
    pub(super) fn distance(&self, parts: &Parts) -> Result<i64> {
        match parts.division {
            Division::Typed(..) => Ok(1),
            _ => self.extent(parts.datatype),
        }
    }

    /// The region of one part, and its datatype; `distance` is the parts' [`Engine::distance`]. Errors: as for [`Engine::parts`].
    #[inline]
    pub(super) fn part_at(&self, parts: &Parts, distance: i64, index: usize) -> Result<(Region, u64)> {
        let (count, displacement, datatype) = match parts.division {
            Division::Equal(count) => {
                (count, count.checked_mul(index as i64).ok_or(Error::COUNT)?, parts.datatype)
            }
            Division::Varying(counts, places) => (counts.get(index)?, places.get(index)?, parts.datatype),
            Division::Typed(counts, places, types) => {
                (counts.get(index)?, places.get(index)?, *types.get(index).ok_or(Error::ARG)?)
            }
        };
        let address = place(parts.address, displacement, distance)?;
        let region = self.region(address, count, datatype)?;
        let looked_at = if parts.is_in_place() { parts.address } else { address };
        self.check_buffer(looked_at, count, datatype)?;
        Ok((region, datatype))
    }

    /// So many parts, all of them looked at. Errors: as for [`Engine::parts`], and `INTERN` if they are divided equally.
    #[inline]
    pub(super) fn varying<'a>(&self, parts: &Parts<'a>, number: usize) -> Result<VaryingParts<'a>> {
        let distance = self.distance(parts)?;
        for index in 0..number {
            self.part_at(parts, distance, index)?;
        }
        let (counts, places, items) = match parts.division {
            Division::Equal(_) => return Err(Error::INTERN),
            Division::Varying(counts, places) => {
                let width = crate::datatypes::dense_bytes(parts.datatype);
                (counts, places, ItemsOf::One(width, self.kept(parts.datatype)))
            }
            Division::Typed(counts, places, types) => {
                let kept = types.iter().take(number).enumerate();
                let kept =
                    kept.filter_map(|(index, datatype)| Some((index, self.kept(*datatype)?))).collect();
                (counts, places, ItemsOf::Each(types, kept))
            }
        };
        Ok(VaryingParts { address: parts.address, counts, places, distance, items })
    }

    /// Keeps a datatype, if regions of it need its layout.
    pub(super) fn keep(&self, datatype: u64, kept: &mut Vec<Datatype>) {
        if crate::datatypes::dense_bytes(datatype) == 0 {
            kept.extend(self.datatype(datatype).ok().cloned());
        }
    }

    /// Bytes from one item to the next. Errors: `TYPE`.
    pub(super) fn extent(&self, datatype: u64) -> Result<i64> {
        match crate::datatypes::dense_bytes(datatype) {
            // Where there are items, their region is an error.
            0 if datatype == NULL => Ok(0),
            0 => self.datatype(datatype).map(Datatype::extent),
            width => Ok(width as i64),
        }
    }
}
