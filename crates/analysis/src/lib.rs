//! Analysis of texts and documents for the capability servers. Pure.

pub mod tables;

pub mod pii;
mod spelling;
