//! A gateway that asks for credentials, as callers with good, bad and no credentials meet it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod challenges;
mod identity;
mod keys;
mod matrix;
mod provider;
mod scopes;
mod shares;
mod support;
