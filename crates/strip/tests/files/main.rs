//! Files through the strip: what is stored, who may read it, and how long it is kept.
#![allow(clippy::unwrap_used, reason = "tests")]

mod keeping;
mod links;
mod support;
mod sweeping;
mod texts;
mod uploads;
