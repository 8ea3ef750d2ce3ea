//! Tokens of a real issuer on loopback, good ones and all the bad ones, against what lets callers in.
#![allow(clippy::unwrap_used, reason = "tests")]

mod forged;
mod introspected;
mod issuer_trouble;
mod keys_of_ours;
mod signed;
mod support;
