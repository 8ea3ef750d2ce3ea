//! Analysis of texts and documents for the capability servers. Pure.

pub mod tables;

pub mod comparison;
pub mod pii;
pub mod quality;
pub mod redaction;
pub mod rules;
pub mod spelling;

pub mod fit;
pub mod jobs;
pub mod resumes;
pub mod skills;
