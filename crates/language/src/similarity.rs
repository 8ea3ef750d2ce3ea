//! Whether two short texts ask or say the same, by words, order, numbers and negation.

mod order;
mod polarity;
mod questions;
mod reading;
mod support;

pub use questions::similarity;
pub use support::support;

#[cfg(test)]
mod tests;
