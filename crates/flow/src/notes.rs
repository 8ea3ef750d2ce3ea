//! Notes on a question, by rules or by a language model.

mod model;
pub mod tool;
