//! Who is asking. The only crate that makes a `Principal`.

mod local;

pub use local::{LocalAccess, Refusal};
