//! Who is asking. The only crate that makes a `Principal`.

mod keys;
mod local;
pub mod scope;

pub use keys::{KeyFault, KeyKind, KeyRing, NewKey};
pub use local::{LOCAL_TENANT, LocalAccess, Refusal};
