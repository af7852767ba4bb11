//! What the firsts of a communicator's nodes do together by triggered operations (`lwk-triggered`), in place of the messages between nodes: barriers, and small
//! reductions by operations and types that Portals' atomic operations know.
//!
//! Blocking calls only: each first's kernel counts what comes, in the order of the calls. All else goes by messages as before. Whether a call goes this way all members know from
//! its arguments alone; whether the firsts have what it takes, they tell each other by messages before the first such call on a communicator, which is also what
//! has every first's end open before something comes. Where one has not, the firsts do their part by messages.

use super::algorithm::Between;
use super::arguments::{Call, Reducing};
use super::by_messages::{Buffers, Played};
use crate::communicator::{Communicator, Plane};
use crate::engine::Engine;
use crate::error::Result;
use crate::portals_atomic::{atomic_of, datatype_of};
use alloc::boxed::Box;
use alloc::rc::Rc;
use lwk_datatype::Predefined;
use lwk_datatype::op::Op;
use lwk_mpi_area::Shared;
use lwk_place::{WorldRank, node_of};
use lwk_schedule::Levels;
use lwk_triggered::{BYTES, Fold, Together, Tree};

impl Engine {
    /// A blocking collective whose firsts do their part together; `None` if it goes another way. Errors: those of its arguments, `NO_MEM`.
    pub(super) fn together_by_firsts(
        &mut self,
        call: &Call,
        communicator: &Rc<Communicator>,
    ) -> Result<Option<Played>> {
        if self.algorithms.between != Some(Between::Triggered)
            || communicator.inter.is_some()
            || !communicator.is_out_of_reach()
        {
            return Ok(None);
        }
        let nodes = communicator.members.iter().map(|member| node_of(*member).0);
        let Some(levels) = Levels::of_nodes(communicator.rank.0, nodes) else { return Ok(None) };
        let reducing = match *call {
            Call::Barrier => None,
            Call::Reduce { ref reducing, root } => {
                Some((reducing, communicator.rank == communicator.root(root)?))
            }
            Call::Allreduce { ref reducing } => Some((reducing, true)),
            _ => return Ok(None),
        };
        let mut it = Buffers::default();
        if let Some((reducing, receives)) = reducing {
            let Some(fold) = self.fold_of(reducing) else { return Ok(None) };
            self.folding(reducing, reducing.count, receives, &mut it)?;
            it.fold = Some(fold);
        }
        self.open_firsts(communicator, &levels)?;
        let levels = match communicator.firsts.get() {
            Some(Some(_)) => levels.together(),
            _ => levels,
        };
        let schedule = match *call {
            Call::Reduce { root, .. } => lwk_schedule::reduce_by_levels(&levels, communicator.root(root)?.0),
            Call::Allreduce { .. } => lwk_schedule::allreduce_by_levels(&levels),
            _ => lwk_schedule::barrier_by_levels(&levels),
        };
        Ok(Some(Played::new(communicator, schedule, it)))
    }

    /// How Portals folds the items of a reduction, if it does, and all in one operation.
    fn fold_of(&self, reducing: &Reducing) -> Option<Fold> {
        let atomic = atomic_of(Op::from_handle(reducing.operation as usize)?)?;
        let predefined = match Predefined::from_handle(reducing.datatype as usize) {
            Some(predefined) => predefined,
            None => self.datatype(reducing.datatype).ok()?.as_predefined()?,
        };
        let Predefined::Basic(basic) = predefined else { return None };
        let datatype = datatype_of(basic.scalar())?;
        // What is no operation on the type is refused by the other way.
        self.operation(reducing.operation, reducing.datatype).ok()?;
        let bytes = usize::try_from(reducing.count).ok()?.checked_mul(basic.size())?;
        (1..=BYTES).contains(&bytes).then_some(Fold { atomic, datatype, bytes })
    }

    /// The first time, opens this rank's end if it is a first, and has the firsts agree on whether all have one. Errors: `NO_MEM`.
    fn open_firsts(&mut self, communicator: &Rc<Communicator>, levels: &Levels) -> Result<()> {
        if communicator.firsts.get().is_some() {
            return Ok(());
        }
        // All members count it, as every call.
        let tag = (Shared::next(&communicator.shared.smalls) & i32::MAX as u64) as i32;
        let mut end = None;
        if levels.is_first() {
            let first = |node| communicator.members[levels.first_of(node) as usize];
            let firsts: Box<[WorldRank]> = (0..levels.nodes()).map(first).collect();
            end = Together::open(communicator.context, levels.node(), firsts).ok();
            let tree = Tree::new(levels.node(), levels.nodes());
            let rank = |node: u32| levels.first_of(node) as i32;
            if !self.all_have(communicator, &tree, rank, tag, end.is_some())? {
                end = None;
            }
        }
        let _ = communicator.firsts.set(end);
        Ok(())
    }

    /// Whether all firsts say yes: by messages up the tree and down again, so that none has returned before all have called. Errors: `NO_MEM`.
    fn all_have(
        &mut self,
        communicator: &Communicator,
        tree: &Tree,
        rank: impl Fn(u32) -> i32,
        tag: i32,
        mut yes: bool,
    ) -> Result<bool> {
        let context = Plane::Collective.of(communicator.context);
        let members = communicator.members.clone();
        let by_message = Communicator::for_messages(context, communicator.rank, members.clone(), members);
        self.with_messages(by_message, |engine, handle| {
            for child in tree.children() {
                yes &= engine.receive_words(handle, rank(child), tag, 1)? == [1];
            }
            if let Some(parent) = tree.parent() {
                engine.send_words(handle, rank(parent), tag, &[yes.into()])?;
                yes = engine.receive_words(handle, rank(parent), tag, 1)? == [1];
            }
            for child in tree.children() {
                engine.send_words(handle, rank(child), tag, &[yes.into()])?;
            }
            Ok(yes)
        })
    }
}
