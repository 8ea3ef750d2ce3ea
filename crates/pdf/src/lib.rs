//! PDF: the glyphs that each page draws, put back into lines, columns, tables and paragraphs.

mod bitmap_fonts;
mod collections;
mod content;
mod facts;
mod furniture;
mod glyph;
mod grid;
mod guess;
mod hyphens;
mod ink;
mod ink_areas;
mod layout;
mod lines;
mod marker;
mod page;
mod paragraphs;
mod place;
mod regions;
mod script;
mod special;
mod words;
mod write;

use extraction::text::Text;
use extraction::{Extracted, Form, Limits, Metadata, Unreadable, encoding};
use hayro_interpret::hayro_syntax::object::{self, DateTime, Dict};
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro_interpret::kurbo::Rect;
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt, interpret_page,
};

use self::collections::Collections;
use self::content::{Collector, Content};
pub use self::facts::facts;
pub use self::ink_areas::{ShownPage, ShownWord, shown_pages};
pub use self::layout::pages;
use self::page::Page;
use self::regions::Block;

/// Reads the text and the metadata of a PDF.
pub fn read(bytes: Vec<u8>, form: Form, limits: &Limits) -> Result<Extracted, Unreadable> {
    let pdf = open(bytes)?;
    let mut text = Text::new(limits.text);
    let mut pages: Vec<Page> = Vec::new();
    let (mut length, mut cut) = (0, false);
    each_page(
        &pdf,
        |_| true,
        |number, content, area| {
            if content.is_unreadable() {
                text.unreadable_page(number);
            }
            text.hide(&content.hidden_text());
            cut |= content.cut;
            let page = page::page(content, area);
            length += size_of(&page);
            pages.push(page);
            // Text beyond the limit would be cut anyway.
            cut |= length > limits.text;
            length <= limits.text
        },
    );
    write::write(&pages, form, &mut text);
    text.on_page(pages.len());
    if cut {
        text.cut();
    }
    Ok(text.finish(pdf.pages().len(), metadata(&pdf)))
}

fn open(bytes: Vec<u8>) -> Result<Pdf, Unreadable> {
    Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Unreadable::Encrypted,
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => Unreadable::Encrypted,
        LoadPdfError::Decryption(error) => {
            Unreadable::damaged(format_args!("its encryption: {error:?}"))
        }
        LoadPdfError::Invalid => Unreadable::damaged("no pages can be found in it"),
    })
}

/// Gives the content of each page that is asked for to `visit` until it returns `false`; pages count from 1.
fn each_page(
    pdf: &Pdf,
    asked: impl Fn(usize) -> bool,
    visit: impl FnMut(usize, &Content, Rect) -> bool,
) {
    each_page_with(pdf, false, asked, visit);
}

/// As [`each_page`]; with `outlines`, the ink of each glyph is measured.
fn each_page_with(
    pdf: &Pdf,
    outlines: bool,
    asked: impl Fn(usize) -> bool,
    mut visit: impl FnMut(usize, &Content, Rect) -> bool,
) {
    let cache = InterpreterCache::new();
    let collections = Collections::new(pdf);
    let pages = pdf.pages().iter().enumerate().map(|(at, page)| (at + 1, page));
    for (number, page) in pages.filter(|(number, _)| asked(*number)) {
        let (width, height) = page.render_dimensions();
        let area = Rect::new(0.0, 0.0, width.into(), height.into());
        let transform = page.initial_transform(true).to_kurbo();
        let settings = InterpreterSettings::default();
        let mut context = Context::new(transform, area, &cache, pdf.xref(), settings);
        let mut collector = Collector::new(area, outlines);
        interpret_page(page, &mut context, &mut collector);
        if !visit(number, &collector.finish(&collections), area) {
            break;
        }
    }
}

/// About how many bytes of text a page has.
fn size_of(page: &Page) -> usize {
    let blocks = page.blocks.iter().chain(&page.turned).chain(&page.marks);
    blocks
        .map(|block| match block {
            Block::Lines(lines) | Block::Boxed(lines) => {
                lines.iter().map(|line| line.text.len()).sum::<usize>()
            }
            Block::Table(rows) => rows.iter().flatten().map(String::len).sum(),
        })
        .sum()
}

fn metadata(pdf: &Pdf) -> Metadata {
    let info = pdf.metadata();
    let language = pdf
        .xref()
        .get::<Dict<'_>>(pdf.xref().root_id())
        .and_then(|root| root.get::<object::String<'_>>(b"Lang"))
        .map(|language| string(language.as_bytes()));
    Metadata {
        title: info.title.as_deref().map(string),
        author: info.author.as_deref().map(string),
        description: info.subject.as_deref().map(string),
        created: info.creation_date.as_ref().and_then(date),
        language,
        ..Metadata::default()
    }
}

fn date(date: &DateTime) -> Option<String> {
    (date.year > 1900 && (1..=12).contains(&date.month))
        .then(|| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day.clamp(1, 31)))
}

/// A string is UTF-16 with a mark, UTF-8 with a mark, or PDF's own encoding, which is nearly Latin-1.
fn string(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0xef, 0xbb, 0xbf, ..] => encoding::decode(bytes),
        bytes => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}
