//! Protected servers behind a real gateway: tokens for them, and what hostile ones do not get.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "tests")]

mod browsers;
mod hostile;
mod lists;
mod login;
mod machine;
mod real;
mod support;
