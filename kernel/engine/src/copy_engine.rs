//! Copy engines: devices that copy memory while processors do something else.

/// What an engine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Channels that copy beside each other; within one, copies end in the order in which they began.
    pub channels: usize,
    /// Bytes that one descriptor copies at most.
    pub bytes: u64,
    /// Source and target are multiples of it.
    pub alignment: u64,
    /// Descriptors under way in a channel at most.
    pub descriptors: u64,
}

/// Names a copy in its channel: the number of its last descriptor, from 1. All up to a number are done when that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cookie(pub u64);

/// Why a copy has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The channel has no descriptor left: ask again when some are done.
    Busy,
    /// The copy is not such as the engine makes.
    Unfit,
    /// The channel has stopped: see [`CopyEngine::done`].
    Halted,
}

/// The channel has stopped: no copy behind the last that is done will be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    /// The last that is done.
    pub done: Cookie,
    /// What the device says, in its own words.
    pub why: u32,
}

/// How a user learns that copies are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// By asking.
    Poll,
    /// The device interrupts when a copy is done, and once more only after [`CopyEngine::done`].
    Interrupt,
}

/// A copy engine. Addresses are those that the device puts on its bus.
pub trait CopyEngine {
    /// What it can do.
    fn limits(&self) -> Limits;

    /// Begins to copy `bytes` bytes. Neither memory may be given to others before the copy is done or the channel is reset.
    ///
    /// # Errors
    /// See [`Refused`]; nothing has happened.
    fn begin(
        &mut self,
        channel: usize,
        source: u64,
        target: u64,
        bytes: u64,
        how: Completion,
    ) -> Result<Cookie, Refused>;

    /// The last copy of the channel that is done.
    ///
    /// # Errors
    /// [`Halt`]: the channel has stopped, and waits for [`CopyEngine::reset`].
    fn done(&mut self, channel: usize) -> Result<Cookie, Halt>;

    /// Stops the channel, forgets what is under way, and starts it anew; numbers go on. False if the device does not come back.
    fn reset(&mut self, channel: usize) -> bool;
}
