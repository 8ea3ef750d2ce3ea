//! How a DOCX file is to be written.

/// What a document has apart from its content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocxOptions {
    /// The title among the properties of the file; that of the document otherwise.
    pub title: Option<String>,
    pub author: Option<String>,
    pub page: PageSize,
    /// Whether pages have their number at the foot.
    pub page_numbers: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageSize {
    #[default]
    A4,
    Letter,
}
