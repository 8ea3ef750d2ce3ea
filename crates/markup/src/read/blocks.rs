//! The blocks between two headings. Containers are counted, not nested, so that depth costs nothing.

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::inline::{self, Collector, Token, drop_breaks, strip_tags};
use crate::model::{Alignment, Block, Item, MAX_DEPTH};

#[derive(Default)]
pub(super) struct Blocks {
    done: Vec<Block>,
    /// The next number of each open list; none where it is not ordered.
    lists: Vec<Option<u64>>,
    /// Set between the start of an item and its first text.
    fresh_item: bool,
    quotes: usize,
    /// Paragraphs of the open quote.
    quoted: Vec<String>,
    items: Vec<Item>,
    footnote: Option<Footnote>,
    text: Option<Collector>,
    code: Option<(String, String)>,
    html: Option<String>,
    table: Option<Table>,
}

struct Footnote {
    label: String,
    paragraphs: Vec<String>,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
    row: Vec<String>,
}

impl Blocks {
    /// Whether no container is open: a heading there begins a section.
    pub(super) fn at_top(&self) -> bool {
        self.lists.is_empty() && self.quotes == 0 && self.footnote.is_none()
    }

    pub(super) fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Rule => {
                self.end_text();
                if self.at_top() {
                    self.flush();
                    self.done.push(Block::Rule);
                }
            }
            Event::Html(html) if self.html.is_some() => {
                if let Some(text) = &mut self.html {
                    text.push_str(&html);
                }
            }
            Event::Text(text) if self.code.is_some() => {
                if let Some((_, code)) = &mut self.code {
                    code.push_str(&text);
                }
            }
            // Items of tight lists have no paragraphs.
            event => self.text.get_or_insert_default().push(event),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } => {
                self.end_text();
                self.text = Some(Collector::default());
            }
            Tag::BlockQuote(_) => {
                self.end_text();
                if self.quotes == 0 {
                    self.flush();
                }
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.end_text();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => language(&info),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::HtmlBlock => {
                self.end_text();
                self.html = Some(String::new());
            }
            Tag::List(start) => {
                self.end_text();
                if self.quotes == 0 {
                    self.flush_quote();
                }
                self.lists.push(start);
            }
            Tag::Item => self.fresh_item = true,
            Tag::FootnoteDefinition(label) => {
                self.end_text();
                self.flush();
                self.footnote = Some(Footnote { label: label.to_string(), paragraphs: Vec::new() });
            }
            Tag::Table(alignments) => {
                self.end_text();
                let alignments = alignments.into_iter().map(alignment).collect();
                self.table = Some(Table { alignments, ..Table::default() });
            }
            Tag::TableHead | Tag::TableRow => {}
            Tag::TableCell => self.text = Some(Collector::default()),
            tag => self.text.get_or_insert_default().push(Event::Start(tag)),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.end_text(),
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.quotes = self.quotes.saturating_sub(1);
                if self.quotes == 0 {
                    self.flush_quote();
                }
            }
            TagEnd::CodeBlock => {
                if let Some((language, text)) = self.code.take() {
                    self.put(Block::Code {
                        language,
                        text: text.trim_end_matches('\n').to_owned(),
                    });
                }
            }
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                let mut text = Collector::default();
                text.push(Event::Text(strip_tags(&html).into()));
                self.end_paragraph(text.finish());
            }
            TagEnd::List(_) => {
                self.end_text();
                self.lists.pop();
            }
            TagEnd::Item => {
                self.end_text();
                self.fresh_item = false;
                if let Some(Some(number)) = self.lists.last_mut() {
                    *number = number.saturating_add(1);
                }
            }
            TagEnd::FootnoteDefinition => {
                self.end_text();
                if let Some(Footnote { label, paragraphs }) = self.footnote.take() {
                    let text = paragraphs.join(" ");
                    if !text.is_empty() {
                        self.flush();
                        self.done.push(Block::Footnote { label, text });
                    }
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    let row = std::mem::take(&mut table.row);
                    table.rows.push(row);
                }
            }
            TagEnd::TableCell => {
                let mut tokens = self.text.take().unwrap_or_default().finish();
                drop_breaks(&mut tokens);
                if let Some(table) = &mut self.table {
                    table.row.push(inline::write(&tokens));
                }
            }
            tag => self.text.get_or_insert_default().push(Event::End(tag)),
        }
    }

    fn end_table(&mut self) {
        let Some(Table { alignments, rows, .. }) = self.table.take() else { return };
        let mut rows = rows.into_iter();
        let header = rows.next().unwrap_or_default();
        self.put(Block::Table { header, rows: rows.collect(), alignments });
    }

    fn end_text(&mut self) {
        if let Some(text) = self.text.take() {
            self.end_paragraph(text.finish());
        }
    }

    /// A paragraph goes to the innermost container that has a place for it.
    fn end_paragraph(&mut self, mut tokens: Vec<Token>) {
        if tokens.is_empty() {
            return;
        }
        if let Some(footnote) = &mut self.footnote {
            drop_breaks(&mut tokens);
            footnote.paragraphs.push(inline::write(&tokens));
        } else if self.quotes > 0 {
            let text = inline::write(&tokens);
            let bullet = if self.fresh_item { "• " } else { "" };
            self.fresh_item = false;
            self.quoted.push(format!("{bullet}{text}"));
        } else if let Some(list) = self.lists.last() {
            let text = inline::write(&tokens);
            let number = list.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            let deepest = usize::from(MAX_DEPTH);
            let level = u8::try_from((self.lists.len() - 1).min(deepest)).unwrap_or(MAX_DEPTH);
            match self.items.last_mut().filter(|_| !self.fresh_item) {
                Some(item) => {
                    item.text.push_str("\\\n");
                    item.text.push_str(&text);
                }
                None => self.items.push(Item { text, level, number }),
            }
            self.fresh_item = false;
        } else {
            self.flush();
            self.done.push(match &tokens[..] {
                [Token::Image { url, alt }] => Block::Image { url: url.clone(), alt: alt.clone() },
                _ => Block::Paragraph { text: inline::write(&tokens) },
            });
        }
    }

    /// A block that no list or quote can hold comes after the part of it that was read.
    fn put(&mut self, block: Block) {
        if let (Some(footnote), Block::Code { text, .. }) = (&mut self.footnote, &block) {
            footnote.paragraphs.push(inline::write(&[Token::Code(text.replace('\n', " "))]));
            return;
        }
        self.flush();
        self.done.push(block);
    }

    fn flush(&mut self) {
        self.flush_quote();
        self.flush_list();
    }

    fn flush_list(&mut self) {
        if !self.items.is_empty() {
            self.done.push(Block::List { items: std::mem::take(&mut self.items) });
        }
    }

    fn flush_quote(&mut self) {
        if !self.quoted.is_empty() {
            // A quote within a list comes after its items.
            self.flush_list();
            self.done.push(Block::Quote { text: std::mem::take(&mut self.quoted).join("\n\n") });
        }
    }

    /// All blocks so far.
    pub(super) fn finish(&mut self) -> Vec<Block> {
        self.end_text();
        self.flush();
        std::mem::take(&mut self.done)
    }
}

/// The first word after a fence.
fn language(info: &str) -> String {
    info.split([' ', ',', '\t']).next().unwrap_or_default().replace('`', "")
}

fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::None,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}
