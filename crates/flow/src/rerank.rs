//! Re-ranking: lists of results become one, ordered by relevance and by how good the sources are.

mod features;
mod merge;
mod tool;

pub use features::{Parts, Ranked, rerank};
pub use merge::Candidate;
pub use tool::{Input, Item, Method, Output, RankedItem, RerankResults};
