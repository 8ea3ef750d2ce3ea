//! What the process runner promises, proved with real children.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "process/ending.rs"]
mod ending;
#[path = "process/piped.rs"]
mod piped;
#[path = "process/pipes.rs"]
mod pipes;
#[path = "process/private.rs"]
mod private;
#[path = "process/standby.rs"]
mod standby;
#[path = "process/starting.rs"]
mod starting;
#[path = "process/support.rs"]
#[allow(dead_code, reason = "shared with the sandbox tests, each of which uses a part")]
mod support;
