//! Files in calls and references in answers, with real servers that read and create documents.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod chain;
mod forms;
mod packs;
mod references;
mod refusals;
mod silence;
mod support;
