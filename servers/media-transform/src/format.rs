//! `format_document`.

use kit::{Ctx, Fault, Linked, StoredRef};
use markup::{
    Change, OutlineEntry, Tidied, TidyOptions, TidyStyle, from_markdown, source_changes,
    split_front_matter, tidy, to_markdown,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Content, Format};
use crate::input::{Notation, checked};
use crate::read;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    #[schemars(length(min = 1))]
    text: Option<String>,
    /// The text of a file; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_text: Option<String>,
    #[serde(default)]
    from: Notation,
    #[serde(default)]
    style: Style,
    /// Adds a table of contents.
    #[serde(default)]
    toc: bool,
    #[serde(default)]
    number_headings: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Style {
    #[default]
    Report,
    /// Headings become bold lines.
    Letter,
    #[serde(rename = "paper")]
    Article,
    /// Without bold and italic texts.
    Plain,
}

impl From<Style> for TidyStyle {
    fn from(style: Style) -> Self {
        match style {
            Style::Report => Self::Report,
            Style::Letter => Self::Letter,
            Style::Article => Self::Article,
            Style::Plain => Self::Plain,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The Markdown; a long one has a reference instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(flatten)]
    stored: Option<StoredRef>,
    /// Always Markdown.
    format: Format,
    outline: Vec<Heading>,
    changes: Vec<Changed>,
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Heading {
    level: u8,
    title: String,
}

#[derive(Serialize, JsonSchema)]
struct Changed {
    kind: String,
    count: usize,
}

pub(crate) async fn format(input: Input, ctx: Ctx) -> Result<Linked<Output>, Fault> {
    let text = match (input.text, input.file_text) {
        (Some(text), None) | (None, Some(text)) => checked(text)?,
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/text: give a text or a file, not both"));
        }
        (None, None) => return Err(Fault::invalid_input("/text: give a text, or a file")),
    };
    let options = TidyOptions {
        style: input.style.into(),
        toc: input.toc,
        number_headings: input.number_headings,
    };
    let mut front_matter = String::new();
    let (tidied, warnings) = if input.from == Notation::Markdown {
        let (front, text) = split_front_matter(&text);
        front_matter = front.to_owned();
        let text = text.to_owned();
        let tidied = kit::blocking(move || {
            let document = from_markdown(&text);
            read::check_size(&document)?;
            let mut changes = source_changes(&text, &document);
            let mut tidied = tidy(document, options);
            changes.append(&mut tidied.changes);
            Ok::<_, Fault>(Tidied { changes, ..tidied })
        });
        (tidied.await??, Vec::new())
    } else {
        let read = read::read_text(text, input.from, &ctx).await?;
        let document = read.document;
        (kit::blocking(move || tidy(document, options)).await?, read.warnings)
    };
    let Tidied { document, outline, changes } = tidied;
    let markdown = kit::blocking(move || to_markdown(&document)).await?;
    let markdown =
        if front_matter.is_empty() { markdown } else { format!("{front_matter}\n{markdown}") };
    let content = Content::new(&ctx, Format::Markdown, markdown).await?;
    let stored = content.stored.clone();
    let output = Output {
        content: content.text,
        stored: content.stored,
        format: Format::Markdown,
        outline: outline.into_iter().map(Heading::from).collect(),
        changes: changes.into_iter().map(Changed::from).collect(),
        warnings,
    };
    Ok(Linked::new(output, stored))
}

impl From<OutlineEntry> for Heading {
    fn from(entry: OutlineEntry) -> Self {
        Self { level: entry.level, title: entry.title }
    }
}

impl From<Change> for Changed {
    fn from(change: Change) -> Self {
        Self { kind: change.kind.to_owned(), count: change.count }
    }
}
