//! Who is asking. The only crate that makes a `Principal`.

mod agent;
mod local;

pub use agent::as_agent;
pub use local::{LocalAccess, Refusal};
