//! A document from where it is, with the rights of the caller.

use std::sync::Weak;

use documents::Form;
use language::prose::Language;
use proto::{Blame, Code, Failure};
use reading::{Document, Readers};
use research::ReadFor;
use strip::{Job, Strip};

use super::tool::LoadedSource;
use crate::search_tool::{CurrentResearch, call_of, web_tools};

/// Text that is kept of a document, as of a page.
const MAX_TEXT: usize = 500_000;

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A page that the caller named.
    Url(String),
    /// A page that a search found.
    Found(String),
    /// A file or a reference that the caller may read.
    File(String),
    Content(String),
}

/// A document as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub source: LoadedSource,
    /// The publisher of a page.
    pub site: Option<String>,
    /// Markdown or plain text of at most 500,000 bytes.
    pub text: String,
    /// Where each page of a file begins, in bytes of the text before it was cut; empty where that is not known.
    pub pages: Vec<usize>,
    /// Whether a part of the document was left out.
    pub incomplete: bool,
    pub warnings: Vec<String>,
}

/// Loads documents for the tools of the flow.
#[derive(Clone)]
pub struct Loader {
    research: CurrentResearch,
    readers: Readers,
    /// The strip owns the tools that load.
    strip: Weak<Strip>,
}

impl Loader {
    pub fn new(research: CurrentResearch, readers: Readers, strip: Weak<Strip>) -> Self {
        Self { research, readers, strip }
    }

    /// Loads a document that the caller of a job may read.
    pub async fn load(&self, origin: Origin, job: &Job) -> Result<Loaded, Failure> {
        let mut loaded = match origin {
            Origin::Url(url) => self.load_page(&url, ReadFor::Caller, job).await?,
            Origin::Found(url) => self.load_page(&url, ReadFor::Search, job).await?,
            Origin::File(id) => self.load_file(&id, job).await?,
            Origin::Content(text) => {
                let source =
                    LoadedSource { content_type: "text".to_owned(), ..LoadedSource::default() };
                let (pages, warnings) = (Vec::new(), Vec::new());
                Loaded { source, site: None, text, pages, incomplete: false, warnings }
            }
        };
        if loaded.text.len() > MAX_TEXT {
            loaded.text.truncate(loaded.text.floor_char_boundary(MAX_TEXT));
            loaded.incomplete = true;
        }
        if loaded.incomplete {
            loaded.warnings.push("A part of the document was left out.".to_owned());
        }
        loaded.source.language =
            Language::detect(&loaded.text).map(|language| language.code().to_owned());
        Ok(loaded)
    }

    async fn load_page(&self, url: &str, read_for: ReadFor, job: &Job) -> Result<Loaded, Failure> {
        let research = web_tools(&self.research)?;
        let page = research.read(url, read_for, &call_of(job)).await?;
        let content_type = match serde_json::to_value(page.content_type) {
            Ok(serde_json::Value::String(name)) => name,
            _ => "text".to_owned(),
        };
        let source = LoadedSource {
            url: Some(page.url),
            title: page.title,
            author: page.author,
            published_at: page.date,
            content_type,
            ..LoadedSource::default()
        };
        let (text, incomplete, warnings) = (page.text, page.incomplete, page.warnings);
        Ok(Loaded { source, site: page.site, text, pages: Vec::new(), incomplete, warnings })
    }

    async fn load_file(&self, id: &str, job: &Job) -> Result<Loaded, Failure> {
        let strip = self.strip.upgrade().ok_or_else(|| {
            Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
        })?;
        let record = strip.find_result(job, id).await?;
        let bytes = strip.files().bytes(&record, self.readers.bounds().input).await?;
        let document = Document {
            form: Form::Markdown,
            // No reader sees the files of two tenants.
            owner: Some(record.tenant.as_str().to_owned()),
            name: Some(record.name.clone()),
            ..Document::new(bytes, record.media_type.clone())
        };
        let read = self.readers.read(document).await?;
        let source = LoadedSource {
            file_id: Some(record.id.to_string()),
            title: read.meta.title.or(Some(record.name)),
            author: read.meta.author,
            published_at: read.meta.published.or(read.meta.created),
            content_type: read.media_type,
            ..LoadedSource::default()
        };
        let mut warnings = Vec::new();
        if read.removed > 0 {
            warnings.push(format!("{} invisible characters were removed.", read.removed));
        }
        Ok(Loaded {
            source,
            site: read.meta.site,
            text: read.text,
            pages: read.pages,
            incomplete: read.truncated,
            warnings,
        })
    }
}
