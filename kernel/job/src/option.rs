//! The options that have a name for each choice, the same for reading and for writing.

/// Something of which the job file names one of few.
pub(crate) trait Choice: Copy + PartialEq + 'static {
    /// Each with its name.
    const NAMES: &'static [(Self, &'static str)];

    /// The one with a name.
    fn named(name: &[u8]) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| known.as_bytes() == name).map(|(choice, _)| *choice)
    }

    /// Its name.
    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(choice, _)| *choice == self).map_or("", |(_, name)| name)
    }
}

/// The least severe kernel messages that are shown; ordered from [`LogLevel::Error`] up, with the console's numbers
/// ([`lwk_abi::console::KERNEL`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Error = 1,
    Warn = 2,
    Info = 3,
    Debug = 4,
    Trace = 5,
}

/// The form of console lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Console {
    /// Every line is a record of [`lwk_abi::console`].
    Framed,
    /// Bare text for a person.
    Plain,
}

/// What the node does when the job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Writes to the debug-exit device.
    Exit,
    /// Waits for a byte on the serial line, then as [`End::Exit`].
    Wait,
    /// Stops the processors.
    Halt,
    /// Switches the machine off, or resets it if that cannot be done.
    Off,
    /// Resets the machine.
    Reset,
}

/// How ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// They poll, with a `pause` between two looks.
    Pause,
    /// Their cores sleep between two looks, by the processor's instructions for that.
    Mwait,
    /// The core of a node's only rank sleeps until the network interrupts it.
    Halt,
    /// As `Halt` where that can be, else as `Pause`.
    Auto,
}

/// How the kernel is made to fail, for tests of its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inject {
    /// A broken invariant.
    Panic,
    /// An access to unmapped memory.
    PageFault,
    /// Running off the kernel stack.
    StackOverflow,
    /// An instruction that does not exist.
    InvalidInstruction,
    /// An access to unmapped memory, by the boot core before it has its structure.
    EarlyPageFault,
    /// The same by every other core as soon as it starts.
    CorePageFault,
    /// No failure of the kernel's: the last core gets no start command, as if it were broken.
    LostCore,
    /// No failure: segments hold an earlier job's bytes before they are cleared.
    StaleMemory,
    /// No failure: the time stamp counters of all cores but the boot core are set ahead.
    SkewedCounters,
    /// No failure: the firmware interrupts the boot core once when its first program begins.
    ManagementInterrupt,
}

impl Choice for bool {
    const NAMES: &'static [(bool, &'static str)] = &[(false, "0"), (true, "1")];
}

impl Choice for LogLevel {
    const NAMES: &'static [(LogLevel, &'static str)] = &[
        (LogLevel::Error, "error"),
        (LogLevel::Warn, "warn"),
        (LogLevel::Info, "info"),
        (LogLevel::Debug, "debug"),
        (LogLevel::Trace, "trace"),
    ];
}

impl Choice for Console {
    const NAMES: &'static [(Console, &'static str)] =
        &[(Console::Framed, "framed"), (Console::Plain, "plain")];
}

impl Choice for Wait {
    const NAMES: &'static [(Wait, &'static str)] =
        &[(Wait::Pause, "pause"), (Wait::Mwait, "mwait"), (Wait::Halt, "halt"), (Wait::Auto, "auto")];
}

impl Choice for End {
    const NAMES: &'static [(End, &'static str)] = &[
        (End::Exit, "exit"),
        (End::Wait, "wait"),
        (End::Halt, "halt"),
        (End::Off, "off"),
        (End::Reset, "reset"),
    ];
}

impl Choice for Inject {
    const NAMES: &'static [(Inject, &'static str)] = &[
        (Inject::Panic, "panic"),
        (Inject::PageFault, "page-fault"),
        (Inject::StackOverflow, "stack-overflow"),
        (Inject::InvalidInstruction, "invalid-instruction"),
        (Inject::EarlyPageFault, "early-page-fault"),
        (Inject::CorePageFault, "core-page-fault"),
        (Inject::LostCore, "lost-core"),
        (Inject::StaleMemory, "stale-memory"),
        (Inject::SkewedCounters, "skewed-counters"),
        (Inject::ManagementInterrupt, "management-interrupt"),
    ];
}

/// The names of [`Inject::parse`], for messages.
pub const INJECTIONS: &str = "panic, page-fault, stack-overflow, invalid-instruction, early-page-fault, core-page-fault, lost-core, stale-memory, skewed-counters or management-interrupt";

impl Inject {
    /// The way to fail with a name; none if it is none of [`INJECTIONS`].
    #[must_use]
    pub fn parse(name: &[u8]) -> Option<Inject> {
        Inject::named(name)
    }
}
