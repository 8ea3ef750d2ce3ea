//! Analysis of texts and documents for the capability servers: redaction, quality, emotion, rules, tables.
//!
//! Pure: it knows no protocol, opens no connection, and reads no file.

pub mod comparison;
pub mod quality;
pub mod redaction;
pub mod rules;
pub mod sentiment;
pub mod spelling;
pub mod tables;
