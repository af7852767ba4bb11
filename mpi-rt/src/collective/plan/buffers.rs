//! Plans of collectives that move buffers.

use super::{Move, Piece, Plan, Role, Snapshot, Users, pieces, role};
use crate::collective::arguments::{BufferArgument, Parts};
use crate::collective::group_ranges::GroupRanges;
use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::topology::PieceIndex;
use alloc::rc::Rc;
use alloc::vec::Vec;
use lwk_mpi_area::{Kind, NO_ROOT, check};
use lwk_path::region::Region;

impl Engine {
    pub(super) fn plan_broadcast(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        buffer: &BufferArgument,
        root: i32,
    ) -> Result<Plan> {
        let (role, agreed) = role(communicator, groups, root)?;
        let mut plan = Plan::new(communicator, check(Kind::Broadcast, agreed, 0));
        match role {
            Role::Root => {
                let region = self.part(buffer, &mut plan.kept)?;
                plan.sends = pieces(&[region]);
                plan.users = Users::Range(groups.remote.clone());
            }
            Role::Of(root) => {
                let mine = self.part(buffer, &mut plan.kept)?;
                plan.moves.push(Move { peer: root, place: PieceIndex::At(0), mine, push: false });
            }
            Role::Beside => {}
        }
        Ok(plan)
    }

    pub(super) fn plan_gather(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        send: &BufferArgument,
        receive: &Parts,
        root: i32,
    ) -> Result<Plan> {
        let (role, agreed) = role(communicator, groups, root)?;
        let mut plan = Plan::new(communicator, check(Kind::Gather, agreed, 0));
        let place = PieceIndex::At(groups.rank.0);
        match role {
            Role::Root => {
                let regions = self.parts(receive, groups.remote.len(), &mut plan.kept)?;
                plan.receives = pieces(&regions);
                plan.users = Users::Range(groups.remote.clone());
                if !groups.inter && !send.is_in_place() {
                    let mine = self.part(send, &mut plan.kept)?;
                    plan.moves.push(Move { peer: groups.me, place, mine, push: true });
                }
            }
            Role::Of(_) if send.is_in_place() => return Err(Error::BUFFER),
            Role::Of(root) => {
                let mine = self.part(send, &mut plan.kept)?;
                plan.moves.push(Move { peer: root, place, mine, push: true });
            }
            Role::Beside => {}
        }
        Ok(plan)
    }

    pub(super) fn plan_scatter(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        send: &Parts,
        receive: &BufferArgument,
        root: i32,
    ) -> Result<Plan> {
        let (role, agreed) = role(communicator, groups, root)?;
        let mut plan = Plan::new(communicator, check(Kind::Scatter, agreed, 0));
        let place = PieceIndex::At(groups.rank.0);
        match role {
            Role::Root => {
                let regions = self.parts(send, groups.remote.len(), &mut plan.kept)?;
                plan.sends = pieces(&regions);
                plan.users = Users::Range(groups.remote.clone());
                if !groups.inter && !receive.is_in_place() {
                    let mine = self.part(receive, &mut plan.kept)?;
                    plan.moves.push(Move { peer: groups.me, place, mine, push: false });
                }
            }
            Role::Of(_) if receive.is_in_place() => return Err(Error::BUFFER),
            Role::Of(root) => {
                let mine = self.part(receive, &mut plan.kept)?;
                plan.moves.push(Move { peer: root, place, mine, push: false });
            }
            Role::Beside => {}
        }
        Ok(plan)
    }

    pub(super) fn plan_allgather(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        send: &BufferArgument,
        receive: &Parts,
    ) -> Result<Plan> {
        let mut plan = Plan::new(communicator, check(Kind::Allgather, NO_ROOT, 0));
        let regions = self.parts(receive, groups.remote.len(), &mut plan.kept)?;
        let in_place = send.is_in_place();
        let own = if !in_place {
            self.part(send, &mut plan.kept)?
        } else if groups.inter {
            return Err(Error::BUFFER);
        } else {
            regions[groups.rank.index()]
        };
        plan.sends = pieces(&[own]);
        for peer in groups.nearest_first().filter(|peer| !(in_place && *peer == groups.me)) {
            let mine = regions[groups.remote.position(peer)];
            plan.moves.push(Move { peer, place: PieceIndex::At(0), mine, push: false });
        }
        plan.users = Users::Range(groups.remote.clone());
        Ok(plan)
    }

    pub(super) fn plan_alltoall(
        &mut self,
        communicator: &Rc<Communicator>,
        groups: &GroupRanges,
        send: &Parts,
        receive: &Parts,
    ) -> Result<Plan> {
        let mut plan = Plan::new(communicator, check(Kind::Alltoall, NO_ROOT, 0));
        let regions = self.parts(receive, groups.remote.len(), &mut plan.kept)?;
        if send.is_in_place() {
            if groups.inter {
                return Err(Error::BUFFER);
            }
            let bytes = regions.iter().map(Region::bytes).sum();
            let mut memory: Vec<u8> = Vec::new();
            memory.try_reserve_exact(bytes).map_err(|_| Error::NO_MEM)?;
            let mut end = 0;
            for region in &regions {
                let place = memory.as_ptr().wrapping_add(end);
                plan.sends.push(Piece::of(&Region::block(place, region.bytes())));
                end += region.bytes();
            }
            plan.snapshot = Some(Snapshot::Parts(regions.clone(), memory));
        } else {
            plan.sends = pieces(&self.parts(send, groups.remote.len(), &mut plan.kept)?);
        }
        for peer in groups.nearest_first() {
            let mine = regions[groups.remote.position(peer)];
            plan.moves.push(Move { peer, place: PieceIndex::At(groups.rank.0), mine, push: false });
        }
        plan.users = Users::Range(groups.remote.clone());
        Ok(plan)
    }
}
