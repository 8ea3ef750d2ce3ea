//! Files in calls and references in answers, with real servers that read and create documents.

mod chain;
mod forms;
mod inline;
mod packs;
mod page_numbers;
mod references;
mod refusals;
mod results;
mod silence;
mod support;
