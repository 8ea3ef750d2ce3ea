//! A document as the template takes it: blocks of runs, and pictures under names.

use markup::{Alignment, Document, parse_inline, plain_text, reference_line};
use serde::Serialize;

use crate::columns::{self, Columns};
use crate::failure::TypesetError;
use crate::inline::{Inline, Run};
use crate::layout::{Layout, Style};
use crate::lists::{List, nest};
use crate::pictures::{self, MAX_PICTURES};

/// Blocks, items of lists and cells of tables.
const MAX_PARTS: usize = 200_000;
const MAX_COLUMNS: usize = 64;
/// A table with no more rows, and no more bytes times columns, stays on one page.
const SHORT_TABLE_ROWS: usize = 8;
const SHORT_TABLE_BYTES: usize = 1_800;
const MAX_BYTES: usize = 16 << 20;

/// What the template reads.
#[derive(Debug, Serialize)]
pub(crate) struct Content {
    style: Style,
    page: &'static str,
    language: String,
    /// For the properties of the file.
    name: String,
    author: String,
    toc: bool,
    number_headings: bool,
    title: Vec<Run>,
    blocks: Vec<Block>,
    footnotes: Vec<Vec<Run>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Block {
    Heading {
        level: u8,
        runs: Vec<Run>,
    },
    Paragraph {
        runs: Vec<Run>,
    },
    Lists {
        lists: Vec<List>,
    },
    Quote {
        paragraphs: Vec<Vec<Run>>,
    },
    Code {
        text: String,
    },
    Table {
        columns: Columns,
        alignments: Vec<Alignment>,
        header: Vec<Vec<Run>>,
        rows: Vec<Vec<Vec<Run>>>,
        /// Whether it may go on on the next page, where its header is repeated.
        breaks: bool,
    },
    Picture {
        name: String,
        alt: String,
    },
    References {
        items: Vec<Vec<Run>>,
    },
    Rule,
}

/// A document for the template, the files that it names, and warnings.
pub(crate) struct Prepared {
    pub content: Content,
    pub files: Vec<(String, Vec<u8>)>,
    pub warnings: Vec<String>,
    /// All text, for the warning about missing glyphs.
    pub text: String,
}

/// Prepares a document.
pub(crate) fn prepare(document: &Document, layout: &Layout) -> Result<Prepared, TypesetError> {
    check_size(document)?;
    let mut writer = Writer::default();
    let footnotes = writer.number_footnotes(document);
    let title = writer.inline.runs(&document.title);
    // Headings begin at the first level, because the title is none of them.
    let levels = document.sections.iter().filter(|section| !section.heading.trim().is_empty());
    let top = levels.map(|section| section.level.clamp(1, 6)).min().unwrap_or(1);
    for section in &document.sections {
        let runs = writer.inline.runs(&section.heading);
        if !runs.is_empty() {
            writer.blocks.push(Block::Heading { level: section.level.clamp(1, 6) - top + 1, runs });
        }
        for block in &section.blocks {
            writer.block(block, layout)?;
        }
    }
    if !document.references.is_empty() {
        let lines = document.references.iter().map(reference_line);
        let items = lines.map(|line| writer.inline.runs(&line)).collect();
        writer.blocks.push(Block::References { items });
    }
    let name = layout.title.clone();
    let name = name.unwrap_or_else(|| plain_text(&parse_inline(&document.title)));
    let content = Content {
        style: layout.style,
        page: layout.page.name(),
        language: layout.language_code().to_owned(),
        name: writer.inline.clean(&name),
        author: writer.inline.clean(layout.author.as_deref().unwrap_or_default()),
        toc: layout.toc,
        number_headings: layout.number_headings,
        title,
        blocks: writer.blocks,
        footnotes,
    };
    Ok(Prepared {
        content,
        files: writer.files,
        warnings: writer.warnings,
        text: writer.inline.seen,
    })
}

#[derive(Default)]
struct Writer {
    inline: Inline,
    blocks: Vec<Block>,
    files: Vec<(String, Vec<u8>)>,
    warnings: Vec<String>,
}

impl Writer {
    /// Gives every footnote that a text names a number, and returns their texts in this order.
    fn number_footnotes(&mut self, document: &Document) -> Vec<Vec<Run>> {
        let blocks = document.sections.iter().flat_map(|section| &section.blocks);
        let defined = blocks.filter_map(|block| match block {
            markup::Block::Footnote { label, text } => Some((label, text)),
            _ => None,
        });
        let mut texts = Vec::new();
        let mut numbers = std::collections::BTreeMap::new();
        for (label, text) in defined {
            if !numbers.contains_key(label) {
                numbers.insert(label.clone(), texts.len());
                // Before the numbers are known, so that a footnote has no footnotes.
                texts.push(self.inline.runs(text));
            }
        }
        self.inline.footnotes = numbers;
        texts
    }

    fn block(&mut self, block: &markup::Block, layout: &Layout) -> Result<(), TypesetError> {
        let block = match block {
            markup::Block::Paragraph { text } => Block::Paragraph { runs: self.inline.runs(text) },
            markup::Block::List { items } => Block::Lists { lists: nest(items, &mut self.inline) },
            markup::Block::Quote { text } => Block::Quote {
                paragraphs: text.split("\n\n").map(|part| self.inline.runs(part)).collect(),
            },
            markup::Block::Code { text, .. } => {
                let text = self.inline.clean(&text.replace('\t', "    "));
                Block::Code { text }
            }
            markup::Block::Table { header, rows, alignments } => {
                self.table(header, rows, alignments, layout)?
            }
            markup::Block::Image { url, alt } => self.picture(url, alt)?,
            // They are set at the foot of the page that names them.
            markup::Block::Footnote { .. } => return Ok(()),
            markup::Block::Rule => Block::Rule,
        };
        self.blocks.push(block);
        Ok(())
    }

    /// A table whose rows all have as many cells as the widest.
    fn table(
        &mut self,
        header: &[String],
        rows: &[Vec<String>],
        alignments: &[Alignment],
        layout: &Layout,
    ) -> Result<Block, TypesetError> {
        let columns = rows.iter().map(Vec::len).chain([header.len(), 1]).max().unwrap_or(1);
        limit(columns, MAX_COLUMNS, "columns in a table")?;
        // Rows that stay together must fit on one page, also when a narrow column has all of the text.
        let bytes: usize = rows.iter().flatten().chain(header).map(String::len).sum();
        let breaks = rows.len() > SHORT_TABLE_ROWS || bytes * columns > SHORT_TABLE_BYTES;
        let cells = |row: &[String]| {
            let mut cells: Vec<Vec<Run>> = row.iter().map(|cell| self.inline.runs(cell)).collect();
            cells.resize(columns, Vec::new());
            cells
        };
        let mut rows: Vec<_> =
            std::iter::once(header).chain(rows.iter().map(Vec::as_slice)).map(cells).collect();
        let (fitted, breaks_words) = columns::fit(&mut rows, layout);
        if breaks_words {
            self.warnings.push(format!(
                "a table of {columns} columns is too wide for the page: long words in it are broken"
            ));
        }
        let header = rows.remove(0);
        let mut alignments = alignments.to_vec();
        alignments.resize(columns, Alignment::None);
        Ok(Block::Table { columns: fitted, alignments, header, rows, breaks })
    }

    /// A picture, or its text where it cannot be drawn.
    fn picture(&mut self, url: &str, alt: &str) -> Result<Block, TypesetError> {
        let alt = self.inline.clean(alt);
        match pictures::read(url) {
            Ok(bytes) => {
                limit(self.files.len() + 1, MAX_PICTURES, "pictures")?;
                let name = format!("picture-{}", self.files.len());
                self.files.push((name.clone(), bytes));
                Ok(Block::Picture { name, alt })
            }
            Err(why) => {
                let shown: String = alt.chars().take(60).collect();
                self.warnings.push(format!("the picture \"{shown}\" is not drawn: {why}"));
                let runs = self.inline.runs(&markup::escape_line(&alt));
                Ok(Block::Paragraph { runs })
            }
        }
    }
}

fn check_size(document: &Document) -> Result<(), TypesetError> {
    let (mut parts, mut bytes) = (document.references.len(), 0);
    for section in &document.sections {
        parts += 1;
        bytes += section.heading.len();
        for block in &section.blocks {
            let (more_parts, more_bytes) = size(block);
            parts += more_parts;
            bytes += more_bytes;
        }
    }
    limit(parts, MAX_PARTS, "blocks, items and cells")?;
    limit(bytes, MAX_BYTES, "bytes of text")
}

/// The parts of a block and the bytes of its text; those of pictures are bounded by the request.
fn size(block: &markup::Block) -> (usize, usize) {
    let bytes_of = |row: &Vec<String>| row.iter().map(String::len).sum::<usize>();
    match block {
        markup::Block::Paragraph { text }
        | markup::Block::Quote { text }
        | markup::Block::Code { text, .. }
        | markup::Block::Footnote { text, .. } => (1, text.len()),
        markup::Block::List { items } => {
            (items.len() + 1, items.iter().map(|item| item.text.len()).sum())
        }
        markup::Block::Table { header, rows, .. } => {
            let cells = rows.iter().map(Vec::len).sum::<usize>() + header.len();
            (cells + 1, rows.iter().map(bytes_of).sum::<usize>() + bytes_of(header))
        }
        markup::Block::Image { alt, .. } => (1, alt.len()),
        markup::Block::Rule => (1, 0),
    }
}

fn limit(found: usize, limit: usize, what: &'static str) -> Result<(), TypesetError> {
    if found > limit { Err(TypesetError::TooLarge { what, limit }) } else { Ok(()) }
}
