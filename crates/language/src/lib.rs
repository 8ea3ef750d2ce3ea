//! Text analysis: words and sentences, keywords, summaries, classification, and the search for tools by a request.
//!
//! Pure: it knows no catalogs, tenants or protocols, opens no connection, and reads only the given model folder.

pub mod classify;
pub mod clauses;
pub mod dates;
pub mod english;
pub mod keywords;
pub mod model;
pub mod passages;
pub mod prose;
pub mod ranking;
pub mod similarity;
pub mod stems;
pub mod summary;
pub mod tools;
pub mod verbs;
pub mod words;
