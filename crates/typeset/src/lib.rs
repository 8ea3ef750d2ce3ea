//! Documents as PDF, by typst. Pure: knows neither files, packages nor the network, and fonts are part of the program.
//!
//! The templates are fixed programs. Texts reach them as values of a JSON file in memory, so that no text is ever parsed as
//! code of typst. A document can still be large or contain a damaged picture: servers run this in confined readers.

mod columns;
mod content;
mod failure;
mod fonts;
mod inline;
mod layout;
mod lists;
mod pictures;
mod render;
mod resume;
mod world;

pub use failure::TypesetError;
pub use layout::{Layout, PageSize, Style};
pub use render::{MAX_PAGES, Pdf, to_pdf};
pub use resume::{
    FittedResume, PartKind, Resume, ResumePart, ResumeSection, ResumeTemplate, fit_resume,
};

#[cfg(test)]
mod tests;
