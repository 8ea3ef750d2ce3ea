//! The store as others use it, on real files and with real processes.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod approvals;
mod calls;
mod collections;
mod commit_queue;
mod crashes;
mod damaged;
mod damaged_audit;
mod database;
mod folder;
mod names;
mod pages;
mod pins;
mod postgres;
mod process;
mod support;
mod tables;
mod workflows;
