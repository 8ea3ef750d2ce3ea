//! OAuth-protected servers behind a real gateway, hostile ones included.

mod browsers;
mod hostile;
mod lists;
mod login;
mod machine;
mod real;
mod support;
mod variants;
