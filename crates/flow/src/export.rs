//! Reports as Markdown, HTML, BibTeX and RIS.

mod bibliography;
mod tool;

pub use bibliography::{to_bibtex, to_ris};
pub use tool::{Format, RenderDocument};
