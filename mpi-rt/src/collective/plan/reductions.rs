//! Plans of reductions.

use super::{Fold, Plan, Role, Snapshot, Target, Users, role};
use crate::abi::IN_PLACE;
use crate::collective::arguments::{Numbers, Reducing};
use crate::collective::fold::{Reduction, Scratch};
use crate::collective::group_ranges::GroupRanges;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use alloc::rc::Rc;
use lwk_mpi_area::{Kind, NO_ROOT, check};
use lwk_place::{CommRank, Ranks};

impl Engine {
    pub(super) fn plan_reduce(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        reducing: &Reducing,
        root: i32,
    ) -> Result<Plan> {
        let (role, agreed) = role(communicator, groups, root)?;
        if matches!(role, Role::Beside) {
            return Ok(Plan::new(communicator, check(Kind::Reduce, agreed, 0)));
        }
        let reduction = self.reduction(reducing.count, reducing.datatype, reducing.operation)?;
        let mut plan = Plan::new(communicator, check(Kind::Reduce, agreed, reduction.count as u64));
        let in_place = reducing.send.addr() == IN_PLACE;
        let send = if in_place { reducing.receive.cast_const() } else { reducing.send };
        if matches!(role, Role::Root) {
            self.check_buffer(reducing.receive, reducing.count, reducing.datatype)?;
        }
        let root = match role {
            Role::Root if groups.inter => {
                // The result comes from the other group.
                if in_place {
                    return Err(Error::BUFFER);
                }
                plan.addresses = Some([0, address(reducing.receive)]);
                plan.users = Users::Range(groups.remote.clone());
                return Ok(plan);
            }
            Role::Beside => return Ok(plan),
            Role::Of(_) if in_place => return Err(Error::BUFFER),
            Role::Root => groups.me,
            Role::Of(root) => root,
        };
        self.check_buffer(send, reducing.count, reducing.datatype)?;
        plan.addresses = Some([address(send), address(reducing.receive)]);
        // Of two groups the root's has no contribution, and so nobody who could fold.
        let whole = if groups.inter { CommRank::FIRST } else { root };
        let part = reduction.part(groups.local.size(), groups.rank, whole);
        let target = Target::Posted(Ranks::only(root));
        plan.fold = Some(Fold { reduction, sources: groups.local.clone(), part, target });
        plan.users = Users::Range(groups.local.clone());
        Ok(plan)
    }

    pub(super) fn plan_allreduce(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        reducing: &Reducing,
    ) -> Result<Plan> {
        let reduction = self.reduction(reducing.count, reducing.datatype, reducing.operation)?;
        let mut plan = Plan::new(communicator, check(Kind::Allreduce, NO_ROOT, reduction.count as u64));
        let send = self.contribution(reducing, reduction.count, groups)?;
        self.check_buffer(reducing.receive, reducing.count, reducing.datatype)?;
        plan.addresses = Some([address(send), address(reducing.receive)]);
        let part = reduction.part(groups.local.size(), groups.rank, CommRank::FIRST);
        let target = Target::Posted(groups.remote.clone());
        plan.fold = Some(Fold { reduction, sources: groups.local.clone(), part, target });
        plan.users = Users::Range(groups.all());
        Ok(plan)
    }

    pub(super) fn plan_reduce_scatter(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        reducing: &Reducing,
        blocks: Option<Numbers>,
    ) -> Result<Plan> {
        let (mut count, mut part) = (0i64, 0..0);
        for rank in 0..groups.local.len() {
            let block = blocks.map_or(Ok(reducing.count), |blocks| blocks.get(rank))?;
            if block < 0 {
                return Err(Error::COUNT);
            }
            let end = count.checked_add(block).ok_or(Error::VALUE_TOO_LARGE)?;
            if rank == groups.rank.index() {
                part = count as usize..end as usize;
            }
            count = end;
        }
        let reduction = self.reduction(count, reducing.datatype, reducing.operation)?;
        let mut plan = Plan::new(communicator, check(Kind::ReduceScatter, NO_ROOT, reduction.count as u64));
        let send = self.contribution(reducing, reduction.count, groups)?;
        let send = if reducing.send.addr() == IN_PLACE { plan.snapshot(&reduction, send)? } else { send };
        self.check_buffer(reducing.receive, part.len() as i64, reducing.datatype)?;
        plan.addresses = Some([address(send), 0]);
        // The block's first item is the receive buffer's.
        let offset = (part.start as i64).wrapping_mul(reduction.items.extent) as isize;
        let target = Target::Own(reducing.receive.wrapping_offset(offset.wrapping_neg()));
        plan.fold = Some(Fold { reduction, sources: groups.remote.clone(), part, target });
        plan.users = Users::Range(groups.remote.clone());
        Ok(plan)
    }

    pub(super) fn plan_scan(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        reducing: &Reducing,
        exclusive: bool,
    ) -> Result<Plan> {
        if groups.inter {
            return Err(Error::COMM);
        }
        let reduction = self.reduction(reducing.count, reducing.datatype, reducing.operation)?;
        let kind = if exclusive { Kind::Exscan } else { Kind::Scan };
        let mut plan = Plan::new(communicator, check(kind, NO_ROOT, reduction.count as u64));
        let send = self.contribution(reducing, reduction.count, groups)?;
        let send = if reducing.send.addr() == IN_PLACE { plan.snapshot(&reduction, send)? } else { send };
        plan.addresses = Some([address(send), 0]);
        let sources = Ranks(0..groups.me.0 + !exclusive as u32);
        if sources.size() > 0 {
            self.check_buffer(reducing.receive, reducing.count, reducing.datatype)?;
            let part = 0..reduction.count;
            plan.fold = Some(Fold { reduction, sources, part, target: Target::Own(reducing.receive) });
        }
        plan.users = Users::Range(Ranks(groups.me.0 + 1..communicator.shared.size()));
        Ok(plan)
    }

    /// This rank's contribution, of that many items. Errors: `BUFFER`, also for in place between groups.
    fn contribution(&self, reducing: &Reducing, count: usize, groups: &GroupRanges) -> Result<*const u8> {
        let send = match (reducing.send.addr() == IN_PLACE, groups.inter) {
            (true, true) => return Err(Error::BUFFER),
            (true, false) => reducing.receive.cast_const(),
            (false, _) => reducing.send,
        };
        self.check_buffer(send, count as i64, reducing.datatype)?;
        Ok(send)
    }
}

impl Plan {
    /// Has the contribution at `from` copied when the operation begins; where to.
    fn snapshot(&mut self, reduction: &Reduction, from: *const u8) -> Result<*const u8> {
        let mut scratch = Scratch::new(&reduction.items, reduction.count)?;
        let copied = scratch.address().cast_const();
        self.snapshot = Some(Snapshot::Items(reduction.clone(), from, scratch));
        Ok(copied)
    }
}

fn address(pointer: *const u8) -> u64 {
    pointer.expose_provenance() as u64
}
