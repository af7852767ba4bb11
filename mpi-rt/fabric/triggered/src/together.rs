//! A first's end: what its kernel has of it, and the collectives that it enters.

use crate::BYTES;
use crate::plan::{Asked, Content, Epoch, Kind, Plan, Way};
use crate::tree::Tree;
use alloc::boxed::Box;
use core::cell::Cell;
use lwk_place::WorldRank;
use lwk_user::portals::abi::{
    ANY, Descriptor, DescriptorOptions, Entry, EntryOptions, InterfaceOptions, NONE, Operation,
    PRIORITY_LIST, TABLE_SIZE, TableOptions, ack, operation, status,
};
use lwk_user::portals::{Counter, DescriptorHandle, EntryHandle, Error, Interface, Memory, Result};
use lwk_user::wait::spin_until;

/// Index of the portal table: the last one, which a program's own tables are least likely to have.
const TABLE: u32 = TABLE_SIZE - 1;
/// Buffers.
const LANES: usize = 2;

/// An operation has failed: a first, or its node, is gone, or a kernel has refused it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed;

/// How contributions are folded: Portals' operation and datatype (`abi::atomic`, `abi::datatype`), and the bytes of each, at most [`BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fold {
    pub atomic: u32,
    pub datatype: u32,
    pub bytes: usize,
}

/// A collective that this rank has entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entered {
    epoch: Epoch,
    bytes: usize,
}

/// See the crate. Dropping it waits until what this rank has asked for has gone, and gives everything back.
pub struct Together {
    plan: Cell<Plan>,
    /// By their numbers.
    firsts: Box<[WorldRank]>,
    bits: u64,
    /// Operations that have been asked for.
    asked: Cell<u64>,
    // In the order in which they are given back.
    entries: [EntryHandle; 2],
    source: DescriptorHandle,
    up: Counter,
    down: Counter,
    /// Operations that have gone.
    gone: Counter,
    /// `None` only while it is dropped.
    buffers: Option<Memory>,
    interface: Interface,
}

/// Match bits: whose, and which entry.
fn bits(of: u64, way: Way) -> u64 {
    of << 1 | u64::from(way == Way::Down)
}

impl Together {
    /// Opens this rank's end as first number `me` of `firsts`. `of` tells it from others that these ranks have open, and is the same in all. Nobody may enter before all
    /// have opened theirs.
    ///
    /// # Errors
    /// This home has no network, or no room.
    pub fn open(of: u32, me: u32, firsts: Box<[WorldRank]>) -> Result<Together> {
        let interface = Interface::open(InterfaceOptions::MATCHING | InterfaceOptions::LOGICAL)?;
        match interface.table(TableOptions::empty(), None, TABLE) {
            // Another communicator's end has made it.
            Ok(_) | Err(Error::Status(status::PT_IN_USE)) => {}
            Err(error) => return Err(error),
        }
        let (up, down, gone) = (interface.counter()?, interface.counter()?, interface.counter()?);
        let buffers = Memory::new(LANES * BYTES)?;
        let descriptor = Descriptor {
            start: buffers.address(),
            bytes: (LANES * BYTES) as u64,
            options: DescriptorOptions::VOLATILE | DescriptorOptions::EVENT_CT_SEND,
            queue: NONE,
            counter: gone.handle(),
            reserved: 0,
        };
        let open = |way: Way, counter: &Counter| Entry {
            start: buffers.address(),
            bytes: (LANES * BYTES) as u64,
            counter: counter.handle(),
            uid: ANY,
            options: EntryOptions::OP_PUT | EntryOptions::EVENT_COMM_DISABLE | EntryOptions::EVENT_CT_COMM,
            node: ANY,
            process: ANY,
            bits: bits(of.into(), way),
            ..Entry::default()
        };
        // SAFETY: the buffers are this object's, which looks at one only when a count says that it is whole; they outlive the entries and the descriptor (`drop`).
        // What fails on the way is given back when the interface is closed, or at the job's end.
        let (source, entries) = unsafe {
            let source = interface.bind(&descriptor)?;
            let upper = interface.append(TABLE, &open(Way::Up, &up), PRIORITY_LIST);
            let upper = upper.inspect_err(|_| {
                let _ = interface.release(source);
            })?;
            let lower = interface.append(TABLE, &open(Way::Down, &down), PRIORITY_LIST);
            let lower = lower.inspect_err(|_| {
                let _ = interface.unlink(upper);
                let _ = interface.release(source);
            })?;
            (source, [upper, lower])
        };
        let plan = Cell::new(Plan::new(Tree::new(me, firsts.len() as u32)));
        let (asked, buffers) = (Cell::new(0), Some(buffers));
        Ok(Together {
            plan,
            firsts,
            bits: of.into(),
            asked,
            entries,
            source,
            up,
            down,
            gone,
            buffers,
            interface,
        })
    }

    /// Enters a barrier. Errors: [`Failed`].
    pub fn enter_barrier(&self) -> core::result::Result<Entered, Failed> {
        self.begin(Kind::Barrier, None)
    }

    /// Enters an allreduce with a contribution. All firsts must name the same fold. Errors: [`Failed`].
    ///
    /// # Safety
    /// `part` is readable for the fold's bytes.
    pub unsafe fn enter_reduction(
        &self,
        part: *const u8,
        fold: Fold,
    ) -> core::result::Result<Entered, Failed> {
        if fold.bytes > BYTES {
            return Err(Failed);
        }
        self.begin(Kind::Reduction, Some((part, fold)))
    }

    fn begin(&self, kind: Kind, part: Option<(*const u8, Fold)>) -> core::result::Result<Entered, Failed> {
        let mut plan = self.plan.get();
        let epoch = plan.begin(kind);
        self.plan.set(plan);
        let fold = part.map(|(_, fold)| fold);
        if let Some((part, fold)) = part {
            // SAFETY: the part is readable for the fold's bytes (contract of `enter_reduction`). The lane is nobody's: all have ended what used it before (`Epoch::lane`), and
            // children fold into it only when they have been told.
            unsafe { lwk_user::copy::copy(part, self.lane(epoch.lane), fold.bytes) };
        }
        for asked in epoch.operations() {
            self.ask(&asked, epoch.lane, fold)?;
        }
        Ok(Entered { epoch, bytes: fold.map_or(0, |fold| fold.bytes) })
    }

    fn lane(&self, lane: usize) -> *mut u8 {
        self.buffers.as_ref().map_or(core::ptr::null_mut(), |it| it.start().wrapping_add(lane * BYTES))
    }

    fn counter(&self, way: Way) -> &Counter {
        match way {
            Way::Up => &self.up,
            Way::Down => &self.down,
        }
    }

    /// Gives the kernel an operation; waits while it has no room.
    fn ask(&self, asked: &Asked, lane: usize, fold: Option<Fold>) -> core::result::Result<(), Failed> {
        let offset = (lane * BYTES) as u64;
        let (bytes, of) = match (asked.content, fold) {
            (Content::Nothing, _) | (_, None) => (0, None),
            (Content::Part, Some(fold)) => (fold.bytes, Some(fold)),
            (Content::Result, Some(fold)) => (fold.bytes, None),
        };
        let target = self.firsts.get(asked.to as usize).ok_or(Failed)?;
        let (trigger, threshold) =
            asked.after.map_or((NONE, 0), |(way, count)| (self.counter(way).handle(), count));
        let operation = Operation {
            kind: if of.is_some() { operation::ATOMIC } else { operation::PUT },
            put: self.source.0,
            get: NONE,
            ack: ack::NONE,
            put_offset: offset,
            bytes: bytes as u64,
            node: target.0,
            table: TABLE,
            atomic: of.map_or(0, |fold| fold.atomic),
            datatype: of.map_or(0, |fold| fold.datatype),
            trigger,
            threshold,
            bits: bits(self.bits, asked.counts),
            remote_offset: offset,
            counter: NONE,
            ..Operation::default()
        };
        let mut outcome = Ok(());
        spin_until(|| {
            // SAFETY: the lane is this object's, and is left alone until the collective is over.
            outcome = unsafe { self.interface.operate(&operation) };
            outcome != Err(Error::Status(status::NO_SPACE))
        });
        outcome.map_err(|_| Failed)?;
        self.asked.set(self.asked.get() + 1);
        Ok(())
    }

    /// Whether a collective is over here. No system call. Errors: [`Failed`].
    #[inline]
    pub fn is_over(&self, entered: &Entered) -> core::result::Result<bool, Failed> {
        let (way, count) = entered.epoch.end();
        let (successes, failures) = self.counter(way).get();
        if failures == 0 { Ok(successes >= count) } else { Err(Failed) }
    }

    /// Copies the result of an allreduce that is over.
    ///
    /// # Safety
    /// `into` is writable for as many bytes as were entered; the next collective has not been entered.
    pub unsafe fn take(&self, entered: &Entered, into: *mut u8) {
        // SAFETY: `into` is writable (this function's contract). The count that said that it is over was read with acquire, after the kernel had written the lane, which nobody
        // writes until the collective after the next.
        unsafe { lwk_user::copy::copy(self.lane(entered.epoch.lane), into, entered.bytes) };
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        // The last one's messages to the children may still wait for room in the kernel, or to be sent again.
        spin_until(|| {
            let (good, bad) = self.gone.get();
            good + bad >= self.asked.get()
        });
        // Nobody sends anything more: all have ended what they have entered. So none of these is in use; were one, its memory would stay.
        let mut is_free = true;
        for entry in self.entries {
            is_free &= self.interface.unlink(entry).is_ok();
        }
        is_free &= self.interface.release(self.source).is_ok();
        if !is_free {
            core::mem::forget(self.buffers.take());
        }
    }
}
