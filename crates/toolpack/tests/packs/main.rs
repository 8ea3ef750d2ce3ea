//! Packs from file to answer, with real interpreters, real processes and a real web server.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod approved;
mod bad_files;
mod contract;
mod examples;
mod files;
mod injection;
mod kinds;
mod lint;
mod reload;
mod support;
mod web;
mod workers;
