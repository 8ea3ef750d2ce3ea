//! Job descriptions, résumés, the skills in both, and how well one fits the other. Pure.

pub mod fit;
pub mod jobs;
pub mod resumes;
pub mod skills;
mod source;

pub use source::Source;
