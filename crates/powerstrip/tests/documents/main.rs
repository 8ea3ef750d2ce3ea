//! Files in calls and references in answers, with real servers that read and create documents.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod chain;
mod forms;
mod inline;
mod packs;
mod references;
mod refusals;
mod results;
mod silence;
mod support;
