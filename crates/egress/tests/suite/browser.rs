//! Real pages in the real Chromium. The pages come from loopback servers that the policy allows by address and port; all
//! other listeners are canaries, which must not see a connection.
#![cfg(target_os = "linux")]

mod ending;
mod guard;
mod hidden;
mod limits;
mod proxy;
mod rendering;
mod soak;
mod support;
