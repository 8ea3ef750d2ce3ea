//! Files: what is put into a tool's arguments where its caller only names a file, and what of its answer is kept
//! instead of being handed on.

mod plan;
mod rules;
mod widen;

pub use plan::{FilePlan, Slot, Unfit};
pub use rules::FileRules;
pub(crate) use widen::widen;

/// Binary of more bytes than this is kept, and a reference handed on.
pub const BINARY_BYTES: usize = 16 * 1024;
