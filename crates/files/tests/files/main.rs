//! What is stored for which caller, and for how long.
#![allow(clippy::unwrap_used, reason = "tests")]

mod copies;
mod keeping;
mod links;
mod support;
mod sweeping;
mod texts;
mod uploads;
