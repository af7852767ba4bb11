//! The interrupts and notifications of the card's two queues, and the features that it is asked for.

use virtio_drivers::transport::Transport;

use super::{Features, RECEIVE, TRANSMIT};
use crate::{Registers, Unusable};

/// Offsets in the common structure (virtio 1.2, section 4.1.4.3).
const MESSAGE_OF_CHANGES: usize = 0x10;
const QUEUE_SELECT: usize = 0x16;
const QUEUE_MESSAGE: usize = 0x1a;
const QUEUE_NOTIFY: usize = 0x1e;
pub(super) const NO_MESSAGE: u16 = 0xffff;

/// Words that a queue's notification is written to.
#[derive(Clone, Copy)]
pub(super) struct Bell {
    registers: Registers,
    at: usize,
}

/// The card's registers beside those that the transport knows.
#[derive(Clone, Copy)]
pub(super) struct Structures {
    pub common: Registers,
    pub notification: Registers,
    /// Bytes from one queue's notification to the next one's.
    pub step: usize,
    /// The card interrupts by its message 0, or by none.
    pub message: u16,
}

impl Structures {
    /// Leads the queues' interrupts and finds their notifications: for receiving, and for sending, of which no interrupt tells.
    pub fn bells(&self) -> Result<(Bell, Bell), Unusable> {
        let Structures { common, notification, step, message } = *self;
        common.half(MESSAGE_OF_CHANGES).write(message);
        if common.half(MESSAGE_OF_CHANGES).read() != message {
            return Err(Unusable::Lacks("message interrupts"));
        }
        let bell = |queue: u16, message: u16| {
            common.half(QUEUE_SELECT).write(queue);
            common.half(QUEUE_MESSAGE).write(message);
            let at = usize::from(common.half(QUEUE_NOTIFY).read()) * step;
            (at + 2 <= notification.bytes() && common.half(QUEUE_MESSAGE).read() == message)
                .then_some(Bell { registers: notification, at })
                .ok_or(Unusable::Lacks("message interrupts or notifications"))
        };
        Ok((bell(RECEIVE, message)?, bell(TRANSMIT, NO_MESSAGE)?))
    }
}

/// Agrees with a card on its features.
pub(super) fn negotiate(transport: &mut impl Transport) -> Result<Features, Unusable> {
    let features = transport.begin_init(Features::all());
    let lacks = [(Features::VERSION_1, "modern interface of virtio"), (Features::ADDRESS, "address")];
    match lacks.iter().find(|(feature, _)| !features.contains(*feature)) {
        Some((_, what)) => Err(Unusable::Lacks(what)),
        None => Ok(features),
    }
}

pub(super) fn ring(bell: Bell, queue: u16) {
    bell.registers.half(bell.at).write(queue);
}
