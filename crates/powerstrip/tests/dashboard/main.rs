//! The dashboard: its protections over plain HTTP, and its pages in a real Chromium.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod browser;
mod guards;
mod oidc;
mod questions;
mod support;
mod tenants;
