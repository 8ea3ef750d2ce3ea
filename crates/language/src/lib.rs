//! Words and what they mean: how text is cut, what it is about, and how a request finds its tools among thousands.
//!
//! This room stands on the ground: it knows nothing of catalogs, tenants or protocols, opens no connection, and reads
//! only the model folder that it is given.

pub mod classify;
pub mod clauses;
pub mod keywords;
pub mod model;
pub mod prose;
pub mod summary;
pub mod tools;
pub mod words;
