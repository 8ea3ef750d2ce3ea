//! Authentication of callers: tokens, keys and stored credentials.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests are not inside a test function"
)]

mod holders;
mod tokens;
