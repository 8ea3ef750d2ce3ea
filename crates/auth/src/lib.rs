//! Who is asking, and with what the gateway itself asks others. The only crate that makes a `Principal`.

pub mod client;
mod local;
mod secret;
pub mod vault;

pub use local::{LocalAccess, Refusal};
pub use secret::Secret;
