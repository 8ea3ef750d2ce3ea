//! Document → DOCX, on its own or into a template.
//!
//! A document without a template goes into an empty package of ours by the same way as into a template: parts of the package
//! are edited as trees, so that what is not understood is kept as it is. The same input gives the same bytes.

mod active;
mod archive;
mod base;
mod body;
mod content;
mod error;
mod fill;
mod footnotes;
mod insert;
mod numbering;
mod options;
mod package;
mod pictures;
mod placeholders;
mod rows;
mod runs;
mod styles;
mod tables;
mod tree;
mod values;
mod xml;

use serde_json::Value;

pub use error::DocxError;
pub use options::{DocxOptions, PageSize};

use crate::model::Document;
use package::Package;

/// A DOCX file whose styles, headers, footers and pages are kept.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// The file; it is not trusted.
    pub bytes: &'a [u8],
    /// The values of `{{ path.to.value }}`.
    pub data: &'a Value,
}

/// Writes a document as DOCX.
pub fn to_docx(document: &Document, options: &DocxOptions) -> Result<Vec<u8>, DocxError> {
    let mut package = Package::new(base::parts(options));
    insert::insert_document(&mut package, document)?;
    insert::set_properties(&mut package, Some(document), options)?;
    package.write()
}

/// Fills the placeholders of a template, and puts the document at `{{ content }}`, or at the end without one.
pub fn fill_template(
    template: Template<'_>,
    document: Option<&Document>,
    options: &DocxOptions,
) -> Result<Vec<u8>, DocxError> {
    let mut package = Package::new(archive::open(template.bytes, archive::MAX_INFLATED)?);
    package.check_kind()?;
    package.detach_sources()?;
    package.check_passive()?;
    fill::fill_parts(&mut package, template.data, document.is_some())?;
    if let Some(document) = document {
        insert::insert_document(&mut package, document)?;
    }
    insert::set_properties(&mut package, document, options)?;
    package.write()
}

#[cfg(test)]
mod tests;
