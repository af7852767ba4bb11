//! The lock-free protocols, as pure logic over words: checked under `loom`, used by the engine on symmetric memory.

#[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "host tests use parts of it"))]
pub(crate) mod calls;
#[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "host tests use parts of it"))]
pub(crate) mod mailbox;
#[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "host tests use parts of it"))]
pub(crate) mod order;
#[cfg_attr(not(target_os = "none"), allow(dead_code, reason = "host tests use parts of it"))]
pub(crate) mod queue_lock;
pub(crate) mod wait;
