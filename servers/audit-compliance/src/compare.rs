use std::ops::Range;

use analysis::comparison::{self, Change};
use kit::{Ctx, Fault, GivenFile, ReadDocument};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::input;

/// The longest text of one change, in characters.
const LONGEST: usize = 4_000;

/// The longest text of a document that is compared, in bytes.
const MAX_TEXT: usize = 8_000_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The earlier version in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    old_file_data: String,
    /// Its media type.
    old_file_type: Option<String>,
    /// The later version in base64; a gateway fills it in.
    #[schemars(length(min = 1))]
    new_file_data: String,
    /// Its media type.
    new_file_type: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// In the order of the documents.
    changes: Vec<Changed>,
    /// The share of words that both have, from 0 to 1.
    similarity: f64,
    /// Whether a document has no text layer, so that nothing of it was compared.
    scanned: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct Changed {
    /// `added`, `removed` or `changed`.
    kind: String,
    before: Option<String>,
    after: Option<String>,
    /// Counted from 1; null where the format has no pages.
    old_page: Option<usize>,
    new_page: Option<usize>,
}

pub(crate) async fn compare(input: Input, ctx: Ctx) -> Result<Output, Fault> {
    let old =
        GivenFile::decode("old_file_data", &input.old_file_data, input.old_file_type.as_deref())?;
    let new =
        GivenFile::decode("new_file_data", &input.new_file_data, input.new_file_type.as_deref())?;
    let before = input::read(&ctx, &old).await?;
    let after = input::read(&ctx, &new).await?;
    let mut warnings: Vec<String> = old.warnings.into_iter().chain(new.warnings).collect();
    let mut scanned = false;
    for (name, read) in [("old", &before), ("new", &after)] {
        if read.media_type == "application/pdf" && read.text.trim().is_empty() {
            scanned = true;
            warnings.push(format!(
                "the {name} document is scanned: read it with image-ocr-mcp:extract_document first"
            ));
        } else if read.text.trim().is_empty() {
            return Err(Fault::invalid_input(format!("/{name}_file_data: it has no words")));
        }
        if read.truncated || read.text.len() > MAX_TEXT {
            warnings
                .push(format!("the end of the {name} document was not compared: it is too long"));
        }
    }
    kit::blocking(move || output(&before, &after, scanned, warnings)).await
}

fn output(
    old: &ReadDocument,
    new: &ReadDocument,
    scanned: bool,
    mut warnings: Vec<String>,
) -> Output {
    let (before, after) = (bounded(&old.text), bounded(&new.text));
    let comparison = comparison::compare(before, after);
    let (count, listed) = (comparison.count, comparison.changes.len());
    if count > listed {
        warnings.push(format!("{count} changes were found; the first {listed} are listed"));
    }
    let changes = comparison.changes.into_iter().map(|change| match change {
        Change::Added { new: place } => Changed {
            kind: "added".to_owned(),
            before: None,
            new_page: page(new, place.start),
            after: Some(shown(after, place)),
            old_page: None,
        },
        Change::Removed { old: place } => Changed {
            kind: "removed".to_owned(),
            old_page: page(old, place.start),
            before: Some(shown(before, place)),
            after: None,
            new_page: None,
        },
        Change::Changed { old: earlier, new: later } => Changed {
            kind: "changed".to_owned(),
            old_page: page(old, earlier.start),
            new_page: page(new, later.start),
            before: Some(shown(before, earlier)),
            after: Some(shown(after, later)),
        },
    });
    let similarity = (comparison.similarity * 10_000.0).round() / 10_000.0;
    Output { changes: changes.collect(), similarity, scanned, warnings }
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn shown(text: &str, place: Range<usize>) -> String {
    let part = &text[place];
    match part.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &part[..end]),
        None => part.to_owned(),
    }
}

fn page(document: &ReadDocument, byte: usize) -> Option<usize> {
    let pages = &document.pages;
    (!pages.is_empty()).then(|| pages.partition_point(|start| *start <= byte).max(1))
}
