//! `extract_text`.

use kit::{Ctx, Engine, Fault, Form, GivenFile, Office, ReadDocument, Skipped};
use language::prose::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pages::{MOST_PAGES, Pages};
use crate::{metadata, office};

/// The longest text, in characters.
const MAX_TEXT: usize = 2_000_000;

/// Where a scanned document can be read.
pub(crate) const SCANNED: &str =
    "the pages are pictures without a text layer: image-ocr-mcp:extract_document reads them";

/// Says which pages show text that cannot be read, and what reads it; pages as in the input.
pub(crate) fn unreadable_warning(read: &ReadDocument, asked: &Pages) -> Option<String> {
    let pages: Vec<usize> =
        read.unreadable_pages.iter().copied().filter(|page| asked.contains(*page)).collect();
    let first = pages.first()?;
    let mut ranges: Vec<(usize, usize)> = vec![(*first, *first)];
    for page in &pages[1..] {
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == *page => range.1 = *page,
            _ => ranges.push((*page, *page)),
        }
    }
    let most = 20;
    let more = if ranges.len() > most { " and more" } else { "" };
    let ranges: Vec<String> = ranges
        .iter()
        .take(most)
        .map(
            |(first, last)| {
                if first == last { first.to_string() } else { format!("{first}-{last}") }
            },
        )
        .collect();
    Some(format!(
        "the text of pages {}{more} cannot be read: its fonts do not say which characters they show; \
         image-ocr-mcp:extract_document reads the pages as pictures",
        ranges.join(",")
    ))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    file_data: Option<String>,
    /// Its media type; the bytes decide if it is wrong.
    file_type: Option<String>,
    /// The text itself instead of a file, as a gateway that is set to plain text gives it.
    #[schemars(length(min = 1))]
    content: Option<String>,
    #[serde(default)]
    format: Format,
    #[serde(default)]
    part: Part,
    /// Pages or slides such as `1-3,7`; all by default.
    pages: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    #[default]
    Text,
    Markdown,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Part {
    #[default]
    All,
    /// Without running heads, page numbers, watermarks, and the navigation of web pages.
    Body,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    text: String,
    format: Format,
    /// As detected from the bytes.
    media_type: String,
    /// ISO 639-1, or the tag that the document itself gives.
    language: Option<String>,
    /// Pages, slides or sheets; null where the format has none.
    page_count: Option<usize>,
    /// Where pages begin and end in `text`, in Unicode code points.
    pages: Vec<PageSpan>,
    /// Whether the pages are pictures without text.
    scanned: bool,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<Engine>,
    warnings: Vec<String>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct PageSpan {
    page: usize,
    start: usize,
    end: usize,
}

pub(crate) async fn extract(input: Input, ctx: Ctx, office: Office) -> Result<Output, Fault> {
    let pages = Pages::parse(input.pages.as_deref())?;
    let file = match (input.file_data, input.content) {
        (Some(data), None) => GivenFile::decode("file_data", &data, input.file_type.as_deref())?,
        (None, Some(content)) => GivenFile::of_text(content),
        (Some(_), Some(_)) => {
            return Err(Fault::invalid_input("/content: give a file or a text, not both"));
        }
        (None, None) => return Err(Fault::invalid_input("/file_data: give a file, or `content`")),
    };
    let original = file.media_type.to_owned();
    let office::Readable { file, engine } = office::readable(file, &ctx, &office).await?;
    let mut document = file.document();
    document.form = match (input.format, input.part) {
        (Format::Text, Part::All) => Form::Text,
        (Format::Markdown, Part::All) => Form::Markdown,
        (Format::Text, Part::Body) => Form::MainText,
        (Format::Markdown, Part::Body) => Form::MainMarkdown,
    };
    let read = ctx.read(document).await?;
    let mut warnings = file.warnings.clone();
    let scanned = is_blank(&read) && metadata::facts(&file, &ctx).await?.scanned;
    if scanned {
        warnings.push(SCANNED.to_owned());
    }
    warnings.extend(unreadable_warning(&read, &pages));
    let chosen = choose(&read, &pages)?;
    Ok(Output {
        language: language_of(&read),
        page_count: page_count(&read),
        text: chosen.text,
        format: input.format,
        media_type: original,
        pages: chosen.pages,
        scanned,
        truncated: read.truncated || chosen.cut,
        engine,
        warnings,
        skipped: Vec::new(),
    })
}

fn is_blank(read: &ReadDocument) -> bool {
    read.media_type == "application/pdf" && !read.text.chars().any(char::is_alphanumeric)
}

/// The pages, slides or sheets; a DOCX file does not say how many it has.
pub(crate) fn page_count(read: &ReadDocument) -> Option<usize> {
    (!read.media_type.ends_with("wordprocessingml.document")).then_some(read.parts)
}

/// The language that the document names, or else that of its words.
pub(crate) fn language_of(read: &ReadDocument) -> Option<String> {
    let found = Language::detect(&read.text).map(|language| language.code().to_owned());
    found.or_else(|| read.meta.language.clone())
}

#[derive(Debug, Default)]
struct Chosen {
    text: String,
    pages: Vec<PageSpan>,
    cut: bool,
}

/// The text of the pages that are asked for.
fn choose(read: &ReadDocument, pages: &Pages) -> Result<Chosen, Fault> {
    let mut starts = read.pages.clone();
    if starts.is_empty() && page_count(read) == Some(1) {
        starts.push(0);
    }
    if starts.is_empty() && !pages.is_all() {
        return Err(Fault::invalid_input("/pages: this document has no pages"));
    }
    pages.check(starts.len().max(1))?;
    let mut chosen = Chosen { cut: starts.len() > MOST_PAGES, ..Chosen::default() };
    if starts.is_empty() {
        chosen.add(&read.text);
        return Ok(chosen);
    }
    for (at, start) in starts.iter().enumerate().take(MOST_PAGES) {
        if !pages.contains(at + 1) || chosen.cut && chosen.length() >= MAX_TEXT {
            continue;
        }
        let end = starts.get(at + 1).copied().unwrap_or(read.text.len());
        let text = read.text.get(*start..end).unwrap_or_default();
        chosen.add_page(at + 1, text);
    }
    Ok(chosen)
}

impl Chosen {
    fn length(&self) -> usize {
        self.pages.last().map_or(0, |page| page.end)
    }

    fn add(&mut self, text: &str) {
        let cut = text.char_indices().nth(MAX_TEXT).map(|(at, _)| at);
        self.cut |= cut.is_some();
        self.text.push_str(&text[..cut.unwrap_or(text.len())]);
    }

    fn add_page(&mut self, page: usize, text: &str) {
        let start = self.length();
        let most = MAX_TEXT.saturating_sub(start);
        let cut = text.char_indices().nth(most).map(|(at, _)| at);
        self.cut |= cut.is_some();
        let text = &text[..cut.unwrap_or(text.len())];
        self.text.push_str(text);
        self.pages.push(PageSpan { page, start, end: start + text.chars().count() });
    }
}
