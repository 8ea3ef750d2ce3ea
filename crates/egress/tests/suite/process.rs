//! What the process runner promises, proved with real children.
#![cfg(target_os = "linux")]

mod ending;
mod piped;
mod pipes;
mod private;
mod standby;
mod starting;
pub(crate) mod support;
