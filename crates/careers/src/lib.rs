//! Job descriptions, résumés, the skills in both, how well one fits the other, and résumés tailored to a job. Pure.

pub mod fit;
pub mod jobs;
pub mod resumes;
pub mod skills;
mod source;
pub mod tailoring;

pub use source::Source;
