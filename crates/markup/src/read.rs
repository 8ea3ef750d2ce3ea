//! Markdown → document.

mod blocks;
mod front_matter;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::inline::{Collector, clean, drop_breaks, escape_text, normalize, write};
use crate::model::{Block, Document, MAX_BYTES, Section};
use crate::normalize::settle;

use self::blocks::Blocks;

/// Reads Markdown. Never fails: any text is Markdown. Of front matter only the title is kept.
pub fn from_markdown(markdown: &str) -> Document {
    let (title, text) = front_matter::split(markdown).unwrap_or((None, markdown));
    let mut document = read_raw(text);
    if let Some(title) = title.filter(|_| document.title.is_empty()) {
        document.title = normalize(&escape_text(&title), false);
    }
    for section in &mut document.sections {
        section.blocks = settle(std::mem::take(&mut section.blocks));
    }
    document.sections.retain(|section| !section.heading.is_empty() || !section.blocks.is_empty());
    document
}

/// Front matter, if there is any, and the text below it.
pub fn split_front_matter(markdown: &str) -> (&str, &str) {
    let below = front_matter::split(markdown).map_or(markdown, |(_, below)| below);
    markdown.split_at(markdown.len() - below.len())
}

/// Reads Markdown without the check that each block survives being written.
pub(crate) fn read_raw(markdown: &str) -> Document {
    let text = clean(&markdown[..markdown.floor_char_boundary(MAX_BYTES)]);
    let mut reader = Reader::default();
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES) {
        reader.take(event);
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    document: Document,
    section: Section,
    blocks: Blocks,
    /// The heading that is being read, outside of lists and quotes.
    heading: Option<(u8, Collector)>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) if self.blocks.at_top() => {
                self.heading = Some((level_of(level), Collector::default()));
            }
            Event::End(TagEnd::Heading(_)) if self.heading.is_some() => self.end_heading(),
            event => match &mut self.heading {
                Some((_, collector)) => collector.push(event),
                None => self.blocks.take(event),
            },
        }
    }

    fn end_heading(&mut self) {
        let Some((level, collector)) = self.heading.take() else { return };
        let mut tokens = collector.finish();
        drop_breaks(&mut tokens);
        let heading = write(&tokens);
        self.end_section();
        let document = &mut self.document;
        let first = document.title.is_empty() && document.sections.is_empty();
        if first && level == 1 && !heading.is_empty() {
            document.title = heading;
            self.section = Section { heading: String::new(), level: 1, blocks: Vec::new() };
        } else {
            self.section = Section { heading, level, blocks: Vec::new() };
        }
    }

    fn end_section(&mut self) {
        self.section.blocks = self.blocks.finish();
        let section = std::mem::take(&mut self.section);
        if !section.heading.is_empty() || !section.blocks.is_empty() {
            let level = section.level.max(1);
            self.document.sections.push(Section { level, ..section });
        }
    }

    fn finish(mut self) -> Document {
        self.end_section();
        self.document
    }
}

/// The blocks of a text that has no headings.
pub(crate) fn read_blocks(markdown: &str) -> Option<Vec<Block>> {
    let document = read_raw(markdown);
    match &document.sections[..] {
        [] if document.title.is_empty() => Some(Vec::new()),
        [section] if document.title.is_empty() && section.heading.is_empty() => {
            document.sections.into_iter().next().map(|section| section.blocks)
        }
        _ => None,
    }
}

fn level_of(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
