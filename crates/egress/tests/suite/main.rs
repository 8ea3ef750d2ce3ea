//! Processes, the sandbox, the HTTP client and the browser, each with the real thing.
#![allow(clippy::unwrap_used, reason = "helpers of tests are not inside a test function")]

mod browser;
mod http;
mod process;
mod sandbox;
