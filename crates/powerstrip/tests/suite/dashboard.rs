//! The dashboard: its protections over plain HTTP, and its pages in a real Chromium.

mod browser;
mod guards;
mod oidc;
mod operators;
mod outages;
mod outlines;
mod questions;
mod servers;
mod sign_in_link;
pub(crate) mod support;
mod tenants;
mod workflows;
