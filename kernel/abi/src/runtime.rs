//! What the host tool and the runtime of a program agree on, beyond the kernel's reach: the runtime's environment variables.

/// Environment variable: the transport of messages on the node, one of [`TRANSPORTS`].
pub const TRANSPORT: &str = "MARGAY_TRANSPORT";
/// The transports, the default first.
pub const TRANSPORTS: [&str; 3] = ["smartmap", "shm-basic", "shm-advanced"];
