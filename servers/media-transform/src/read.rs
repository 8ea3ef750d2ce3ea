//! Texts and files as the one model of documents.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kit::{Ctx, Engine, Fault, Form, GivenFile, Office, OfficeFile};
use markup::{Block, Document, MAX_COLUMNS, MAX_PARTS, from_json, from_markdown};
use serde_json::{Value, json};

use crate::html::take_pictures;
use crate::input::{Notation, Source, stored};
use crate::lost;
use crate::plain;

/// Where a scanned document can be read.
pub(crate) const SCANNED: &str =
    "the pages are pictures without a text layer: image-ocr-mcp:extract_document reads them";
/// The most pictures of references.
const MAX_PICTURES: usize = 100;

/// A document, and what is known about the way to it.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) document: Document,
    pub(crate) warnings: Vec<String>,
    /// What could not be read.
    pub(crate) lost: Vec<String>,
    pub(crate) engine: Option<Engine>,
    /// Whether the source has a layout of its own, which is not kept.
    pub(crate) is_approximate: bool,
    pub(crate) scanned: bool,
}

/// The extension of a format that only LibreOffice reads, and of the one that it is converted to.
pub(crate) fn old_format(media_type: &str) -> Option<(&'static str, &'static str)> {
    Some(match media_type {
        "application/msword" => ("doc", "docx"),
        "application/vnd.ms-powerpoint" => ("ppt", "pptx"),
        "application/vnd.ms-excel" => ("xls", "xlsx"),
        "application/vnd.oasis.opendocument.text" => ("odt", "docx"),
        "application/vnd.oasis.opendocument.spreadsheet" => ("ods", "xlsx"),
        "application/vnd.oasis.opendocument.presentation" => ("odp", "pptx"),
        "application/rtf" | "text/rtf" => ("rtf", "docx"),
        _ => return None,
    })
}

/// Converts a file to one that can be read here, if it is of an old format.
pub(crate) async fn modern(
    file: GivenFile,
    ctx: &Ctx,
    office: &Office,
) -> Result<(GivenFile, Option<Engine>), Fault> {
    let Some((from, to)) = old_format(file.media_type) else { return Ok((file, None)) };
    let OfficeFile { bytes, engine } = office.convert(ctx, file.bytes, from, to).await?;
    let media_type = documents::sniff(&bytes, None);
    Ok((GivenFile { bytes, media_type, warnings: file.warnings }, Some(engine)))
}

/// Reads a text, for which LibreOffice is not needed.
pub(crate) async fn read_text(text: String, notation: Notation, ctx: &Ctx) -> Result<Read, Fault> {
    let mut read = of_text(text, notation, ctx).await?;
    check_size(&read.document)?;
    load_pictures(&mut read, ctx).await;
    Ok(read)
}

/// Reads a text or file.
pub(crate) async fn read(source: Source, ctx: &Ctx, office: &Office) -> Result<Read, Fault> {
    let mut read = match source {
        Source::Text(text, notation) => return read_text(text, notation, ctx).await,
        Source::File(file) => of_file(file, ctx, office).await?,
    };
    if read.scanned {
        read.warnings.push(SCANNED.to_owned());
    }
    check_size(&read.document)?;
    load_pictures(&mut read, ctx).await;
    Ok(read)
}

impl Read {
    fn of(document: Document) -> Self {
        Self {
            document,
            warnings: Vec::new(),
            lost: Vec::new(),
            engine: None,
            is_approximate: false,
            scanned: false,
        }
    }

    /// Refuses a document without text, of which nothing can be made.
    pub(crate) fn with_text(self) -> Result<Self, Fault> {
        if self.scanned {
            return Err(Fault::invalid_input(SCANNED).details(json!({"reason": "scanned"})));
        }
        Ok(self)
    }
}

async fn of_text(text: String, notation: Notation, ctx: &Ctx) -> Result<Read, Fault> {
    match notation {
        Notation::Markdown => Ok(Read::of(kit::blocking(move || from_markdown(&text)).await?)),
        Notation::Html => of_html(&text, ctx).await,
        Notation::Json => {
            let value: Value = serde_json::from_str(&text)
                .map_err(|error| Fault::invalid_input(format!("/text: it is not JSON: {error}")))?;
            Ok(Read::of(kit::blocking(move || from_json(&value)).await?))
        }
    }
}

/// HTML is read in a confined process, which also drops what a reader of the page would not see.
async fn of_html(text: &str, ctx: &Ctx) -> Result<Read, Fault> {
    let taken = take_pictures(text);
    let mut page = kit::Document::new(taken.html.clone().into_bytes(), "text/html");
    page.form = Form::Markdown;
    let page = ctx.read(page).await?;
    let markdown = taken.restore(&page.text);
    let mut read = Read::of(kit::blocking(move || from_markdown(&markdown)).await?);
    let lower = text.to_ascii_lowercase();
    for (tag, what) in [("<script", "scripts"), ("<form", "forms"), ("<iframe", "frames")] {
        let count = lower.matches(tag).count();
        if count > 0 {
            read.lost.push(format!("{what}: {count}"));
        }
    }
    if page.truncated {
        read.lost.push("the end of a text that is long or deeply nested".to_owned());
    }
    Ok(read)
}

async fn of_file(file: GivenFile, ctx: &Ctx, office: &Office) -> Result<Read, Fault> {
    let (file, engine) = modern(file, ctx, office).await?;
    if file.media_type == "text/html" {
        // In another charset the pictures are left out, and the page itself says how it is read.
        if let Ok(text) = std::str::from_utf8(&file.bytes) {
            let mut read = of_html(text, ctx).await?;
            read.warnings.extend(file.warnings);
            return Ok(read);
        }
    }
    let mut document = file.document();
    document.form = Form::Markdown;
    let page = ctx.read(document).await?;
    let is_blank = !page.text.chars().any(char::is_alphanumeric);
    let mut lost = lost::by_reading(ctx, &file).await?;
    if page.truncated {
        lost.push("the end of a long text".to_owned());
    }
    let is_approximate = !file.is_text();
    let (text, media_type) = (page.text, file.media_type);
    let document = kit::blocking(move || match media_type {
        "text/csv" | "text/tab-separated-values" => plain::of_csv(&text),
        "text/plain" => plain::of_text(&text),
        _ => from_markdown(&text),
    });
    let document = document.await?;
    Ok(Read {
        document,
        warnings: file.warnings,
        lost,
        engine,
        is_approximate,
        scanned: is_blank && file.media_type == "application/pdf",
    })
}

/// Refuses a document of which columns, rows, items or sections would be left out.
pub(crate) fn check_size(document: &Document) -> Result<(), Fault> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let sizes = blocks.flat_map(|block| match block {
        Block::Table { header, rows, .. } => {
            let columns = rows.iter().map(Vec::len).max().unwrap_or(0).max(header.len());
            vec![
                (columns, MAX_COLUMNS, "columns in a table"),
                (rows.len(), MAX_PARTS, "rows in a table"),
            ]
        }
        Block::List { items } => vec![(items.len(), MAX_PARTS, "items in a list")],
        _ => Vec::new(),
    });
    let sections = (document.sections.len(), MAX_PARTS, "headings");
    match sizes.chain([sections]).find(|(count, limit, _)| count > limit) {
        Some((count, limit, what)) => {
            let message = format!(
                "it has {count} {what}, at most {limit} are written: split it, and send the parts"
            );
            Err(Fault::invalid_input(message).details(json!({"reason": "too_large"})))
        }
        None => Ok(()),
    }
}

/// Pictures may be references of this server.
async fn load_pictures(read: &mut Read, ctx: &Ctx) {
    let blocks = read.document.sections.iter_mut().flat_map(|section| &mut section.blocks);
    let pictures = blocks.filter_map(|block| match block {
        Block::Image { url, .. } if is_reference(url) => Some(url),
        _ => None,
    });
    for url in pictures.take(MAX_PICTURES) {
        match stored(ctx, url).await {
            Ok(file) if matches!(file.media_type, "image/png" | "image/jpeg") => {
                let data = STANDARD.encode(&file.bytes);
                *url = format!("data:{};base64,{data}", file.media_type);
            }
            _ => {
                let url: String = url.chars().take(80).collect();
                read.warnings.push(format!("`{url}` is no stored PNG or JPEG picture"));
            }
        }
    }
}

/// Whether an address has the form of a reference, such as `kept_` and 32 hexadecimal digits.
fn is_reference(url: &str) -> bool {
    let Some((prefix, digits)) = url.split_once('_') else { return false };
    let is_word = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word && digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
