//! The crate with servers of every kind, including misbehaving ones that are defined here.
#![allow(clippy::unwrap_used, reason = "tests")]

mod both_eras;
mod bridging;
mod fake;
mod fixture;
mod handshake;
mod isolation;
mod legacy;
mod listing;
mod malformed;
mod modern;
mod notifications;
mod openapi;
mod python;
mod replicas;
mod shares;
mod stated_codes;
mod stdio;
mod strange_text;
mod support;
mod tasks;
