//! Servers of every kind, good and bad, behind the crate's own door. The bad ones are written here.
#![allow(clippy::unwrap_used, reason = "tests")]

mod bridging;
mod fake;
mod fixture;
mod hearing;
mod isolation;
mod legacy;
mod liars;
mod listing;
mod modern;
mod openapi;
mod python;
mod replicas;
mod shares;
mod stdio;
mod support;
