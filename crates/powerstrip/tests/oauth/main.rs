//! OAuth-protected servers behind a real gateway, hostile ones included.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "tests")]

mod browsers;
mod hostile;
mod lists;
mod login;
mod machine;
mod real;
mod support;
mod variants;
