//! Tests at the boundary, through the real binary. One program for all of them, because each test program links
//! everything that `testkit` uses.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "helpers of tests are not inside a test function"
)]

mod access;
mod book;
mod boundary;
mod capabilities;
mod commands;
mod dashboard;
mod documents;
mod files;
mod oauth;
mod research;
mod servers;
mod workflows;
