//! `exports.render.markdown`.

use std::sync::Weak;

use async_trait::async_trait;
use markup::{Block, Document, Reference, from_markdown, to_html, to_markdown};
use proto::{Blame, Code, Descriptor, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use strip::typed::About;
use strip::{EmptyTexts, Job, Output, Request, Strip, Tool, run_blocking};
use tokio::sync::Semaphore;

use super::{to_bibtex, to_ris};
use crate::search_tool::LIMITS;

const ID: &str = "exports.render.markdown";

/// The tool that makes DOCX and PDF.
const CONVERTER: &str = "media-transform-mcp:convert";

/// Documents from this size on are large, in bytes of text.
const LARGE: usize = 64 * 1024;

/// Large documents that are rendered at once; others wait. A megabyte of unusual Markdown takes some hundred megabytes of memory.
static LARGE_RENDERS: Semaphore = Semaphore::const_new(2);

/// Renders documents.
pub struct RenderDocument {
    descriptor: Descriptor,
    /// The strip owns the tools of the flow.
    strip: Weak<Strip>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    #[default]
    Markdown,
    Html,
    Docx,
    Pdf,
    Bibtex,
    Ris,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Pdf => "pdf",
            Self::Bibtex => "bibtex",
            Self::Ris => "ris",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Html => "text/html",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pdf => "application/pdf",
            Self::Bibtex => "application/x-bibtex",
            Self::Ris => "application/x-research-info-systems",
        }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Or `markdown`.
    #[serde(default)]
    document: Option<Document>,
    #[serde(default)]
    #[schemars(length(min = 1))]
    markdown: Option<String>,
    #[serde(default)]
    format: Format,
}

/// What was rendered. The content of DOCX and PDF is stored: `ref_id` names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Rendered {
    format: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ref_id: Option<String>,
    media_type: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl RenderDocument {
    pub fn new(strip: Weak<Strip>) -> Self {
        let description = "Renders a document or Markdown as Markdown, HTML, DOCX or PDF, or its references as BibTeX or RIS.";
        let about = About {
            limits: LIMITS,
            ..About::reader(ID, "Render a document", description).deterministic()
        };
        Self { descriptor: about.descriptor::<Input, Rendered>(), strip }
    }

    /// Asks the converter, if the caller has it.
    async fn convert(
        &self,
        markdown: String,
        format: Format,
        job: &Job,
    ) -> Result<Rendered, Failure> {
        let strip = self.strip.upgrade().ok_or_else(|| {
            Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
        })?;
        if strip.view_of_job(job).tools().resolve_without_hint(CONVERTER).is_err() {
            let message = format!(
                "{} needs the tool `{CONVERTER}`: `powerstrip add media-transform-mcp` adds it, and a skill must allow it",
                format.name()
            );
            let details = json!({"tool": CONVERTER, "fix": "powerstrip add media-transform-mcp"});
            return Err(Failure::new(Code::Unsupported, message).details(details));
        }
        let caller = job.request();
        let input = json!({"text": markdown, "from": "markdown", "to": format.name()});
        let request = Request {
            on_behalf_of: caller.on_behalf_of.clone(),
            timeout: Some(job.time_limit),
            cancel: job.cancel().clone(),
            modern: caller.modern,
            run: job.run.clone(),
            ..Request::new(CONVERTER, input, caller.principal.clone(), caller.door)
        };
        let answer = strip.call(request).await.result?;
        let text = |key: &str| answer[key].as_str().map(str::to_owned);
        let (content, ref_id) = (text("content"), text("ref_id"));
        if content.is_none() && ref_id.is_none() {
            let message = format!("`{CONVERTER}` answered with neither `content` nor `ref_id`");
            return Err(Failure::new(Code::Internal, message).blame(Blame::Tool));
        }
        let warnings: Vec<String> = answer["lost"]
            .as_array()
            .map(|lost| {
                lost.iter()
                    .filter_map(|lost| lost.as_str().map(|lost| format!("Lost: {lost}")))
                    .collect()
            })
            .unwrap_or_default();
        Ok(Rendered {
            format,
            content,
            ref_id,
            media_type: format.media_type().to_owned(),
            warnings,
        })
    }
}

#[async_trait]
impl Tool for RenderDocument {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn stores_excess(&self) -> bool {
        true
    }

    fn empty_texts(&self) -> EmptyTexts {
        EmptyTexts::DROP
    }

    async fn run(&self, job: &Job) -> Result<Output, Failure> {
        let input = Input::deserialize(&*job.input).map_err(|error| {
            Failure::new(Code::InvalidInput, format!("the input does not fit the tool: {error}"))
        })?;
        let format = input.format;
        let source = Source::of(input)?;
        let rendered = match format {
            Format::Docx | Format::Pdf => {
                self.convert(render_in_turn(source, Format::Markdown).await, format, job).await?
            }
            format => Rendered {
                format,
                content: Some(render_in_turn(source, format).await),
                ref_id: None,
                media_type: format.media_type().to_owned(),
                warnings: Vec::new(),
            },
        };
        let data = serde_json::to_value(rendered).map_err(|error| {
            Failure::new(Code::Internal, "the output is not JSON").caused_by(error)
        })?;
        Ok(Output::new(data))
    }
}

/// The source of a rendered document.
enum Source {
    Document(Box<Document>),
    Markdown(String),
}

impl Source {
    fn of(input: Input) -> Result<Self, Failure> {
        match (input.document, input.markdown) {
            (Some(document), None) => Ok(Self::Document(Box::new(document))),
            (None, Some(markdown)) => Ok(Self::Markdown(markdown)),
            _ => {
                let message = "give either `document` or `markdown`";
                let violations = json!([{"path": "/document", "message": message}]);
                Err(Failure::new(Code::InvalidInput, message)
                    .details(json!({"violations": violations})))
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Document(document) => text_bytes(document),
            Self::Markdown(markdown) => markdown.len(),
        }
    }
}

/// The bytes of a document's texts, and some for each of its parts.
fn text_bytes(document: &Document) -> usize {
    const PART: usize = 64;
    let all = |texts: &[String]| texts.iter().map(|text| PART + text.len()).sum::<usize>();
    let block = |block: &Block| {
        PART + match block {
            Block::Paragraph { text } | Block::Quote { text } => text.len(),
            Block::Code { language, text } => language.len() + text.len(),
            Block::Footnote { label, text } => label.len() + text.len(),
            Block::Image { url, alt } => url.len() + alt.len(),
            Block::List { items } => items.iter().map(|item| PART + item.text.len()).sum(),
            Block::Table { header, rows, .. } => {
                all(header) + rows.iter().map(|cells| all(cells)).sum::<usize>()
            }
            Block::Rule => 0,
        }
    };
    let sections = document.sections.iter().map(|section| {
        PART + section.heading.len() + section.blocks.iter().map(block).sum::<usize>()
    });
    let references = document.references.iter().map(|reference| {
        let title = reference.title.as_ref().map_or(0, String::len);
        PART + reference.text.len() + title + all(&reference.authors)
    });
    document.title.len() + sections.sum::<usize>() + references.sum::<usize>()
}

/// Renders, a large document only when it is its turn.
async fn render_in_turn(source: Source, format: Format) -> String {
    let _turn = match source.len() {
        // cannot fail: the semaphore is never closed
        LARGE.. => LARGE_RENDERS.acquire().await.ok(),
        _ => None,
    };
    render(source, format)
}

fn render(source: Source, format: Format) -> String {
    run_blocking(source.len(), || match format {
        Format::Bibtex => to_bibtex(&references(source)),
        Format::Ris => to_ris(&references(source)),
        Format::Html => to_html(&document(source)),
        Format::Markdown | Format::Docx | Format::Pdf => to_markdown(&document(source)),
    })
}

fn document(source: Source) -> Document {
    match source {
        Source::Document(document) => *document,
        Source::Markdown(markdown) => from_markdown(&markdown),
    }
}

/// The references of a document; of Markdown, those that its list of references has. Lines without parts are parsed.
fn references(source: Source) -> Vec<Reference> {
    let listed = |markdown: &str| -> Vec<Reference> {
        let found = citations::references(markdown).into_iter();
        found
            .map(|(label, text, parsed)| {
                with_parts(
                    Reference { id: label.unwrap_or_default(), text, ..Reference::default() },
                    parsed,
                )
            })
            .collect()
    };
    match source {
        Source::Markdown(markdown) => listed(&markdown),
        Source::Document(document) if document.references.is_empty() => {
            listed(&to_markdown(&document))
        }
        Source::Document(document) => document
            .references
            .into_iter()
            .map(|reference| {
                let bare = reference.title.is_none() && reference.authors.is_empty();
                if bare {
                    let parsed = citations::parse_reference(&reference.text);
                    with_parts(reference, parsed)
                } else {
                    reference
                }
            })
            .collect(),
    }
}

fn with_parts(reference: Reference, parsed: citations::Parsed) -> Reference {
    Reference {
        authors: parsed.authors,
        year: reference.year.or(parsed.year),
        title: parsed.title,
        container: reference.container.or(parsed.container),
        doi: reference.doi.or(parsed.doi),
        url: reference.url.or(parsed.url),
        ..reference
    }
}

#[cfg(test)]
mod tests;
