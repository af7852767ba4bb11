//! Where the two sides of partitioned communication meet, and how they part.

use crate::rounds::ReceivedRounds;
use crate::{From, Partitioned, PartitionedCalls, PartitionedReceive, PartitionedSend};
use alloc::boxed::Box;
use alloc::vec::Vec;
use lwk_mpi_core::handle::Handle;
use lwk_path::seen_from_here;
use lwk_rendezvous::Partitions;

/// One partitioned send, in the sender's memory. Plain words are written before its address is sent.
pub(super) struct Channel {
    /// This object's address as the sender calls it: the content of the meeting message.
    pub(super) address: u64,
    /// The buffer ([`lwk_path::region::Region::words`]), its bytes, and those of each partition.
    pub(super) source: [u64; 4],
    pub(super) bytes: u64,
    pub(super) partition_bytes: u64,
    pub(super) partitions: Partitions,
}

/// What freed requests have left.
pub(super) struct Left {
    /// The number of the last send whose rounds go by messages.
    pub last_number: u64,
    /// Of this rank's sends, until their receivers have left.
    retired: Vec<&'static Channel>,
    /// Of peers, whose addresses were under way when the receives were freed.
    leaving: Vec<From>,
}

impl Left {
    pub const fn new() -> Left {
        Left { last_number: 0, retired: Vec::new(), leaving: Vec::new() }
    }
}

impl PartitionedCalls {
    /// Takes note of the sender's channel when its address has come.
    pub(super) fn find_channel(&mut self, request: Handle) {
        let Some(Partitioned::Receive(receive)) = self.activity(request) else { return };
        let Some(From { meeting, channel: None, .. }) = &receive.from else { return };
        let meeting = *meeting;
        if self.take_complete(meeting).is_none() {
            return;
        }
        let Some(Partitioned::Receive(receive)) = self.activity_mut(request) else { return };
        let Some(from) = &mut receive.from else { return };
        let Some(channel) = channel_of(from) else { return };
        receive.copied.resize(channel.partitions.words().len(), false);
        from.channel = Some(channel);
    }

    /// Lets go of the sender's channel when the receive is freed.
    pub(super) fn leave_channel(&mut self, operation: PartitionedReceive) {
        let Some(from) = operation.from else { return };
        match from.channel {
            Some(channel) => channel.partitions.leave(),
            // The number has come, and is of no use any more.
            None if from.rounds.as_ref().is_some_and(ReceivedRounds::have_met) => {}
            // The sides have not met, and now they never will.
            None if self.withdraw(from.meeting) => {}
            // The channel's address is on its way. When it has come it is used once, to say goodbye.
            None => {
                self.known().left.leaving.push(from);
                self.leave_met_channels();
            }
        }
    }

    /// Leaves the channels of freed receives whose addresses have come.
    pub(super) fn leave_met_channels(&mut self) {
        let mut index = 0;
        while let Some(meeting) = self.known().left.leaving.get(index).map(|from| from.meeting) {
            if self.take_complete(meeting).is_none() {
                index += 1;
                continue;
            }
            let from = self.known().left.leaving.swap_remove(index);
            if let Some(channel) = channel_of(&from) {
                channel.partitions.leave();
            }
        }
    }

    /// Keeps the channel of a freed send until the receiver has left it.
    pub(super) fn retire_channel(&mut self, operation: PartitionedSend) {
        self.known().left.retired.extend(operation.channel);
    }

    /// Takes back the memory of channels that neither side uses any more.
    pub(super) fn reclaim_channels(&mut self) {
        self.leave_met_channels();
        self.known().left.retired.retain(|channel| {
            let left = channel.partitions.is_left();
            if left {
                // SAFETY: it was leaked from a box, its request is gone and the receiver has left it.
                drop(unsafe { Box::from_raw(core::ptr::from_ref(*channel).cast_mut()) });
            }
            !left
        });
    }
}

/// The channel whose address has come, if it can be reached.
fn channel_of(from: &From) -> Option<&'static Channel> {
    // Written by this rank, when it received the message.
    let address = from.address.get() as usize;
    // SAFETY: the sender leaks its channels, and takes one back only after this rank has left it.
    from.mapped.map(|peer| unsafe { &*seen_from_here::<Channel>(peer, address) })
}
