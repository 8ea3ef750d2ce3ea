//! From blocks to plain text or Markdown.

use extraction::markdown;
use extraction::text::{Block as Separation, Text};
use html5ever::local_name;
use url::Url;

use super::block::{Block, Format, Kind, Span};
use super::tree::{Id, Tree};

/// Writes blocks.
pub(super) struct Renderer<'a> {
    pub(super) tree: &'a Tree,
    /// The address that links are relative to.
    pub(super) base: Option<Url>,
    pub(super) markdown: bool,
}

impl Renderer<'_> {
    /// Writes blocks in their order, up to the limit.
    pub(super) fn render<'b>(&self, blocks: impl IntoIterator<Item = &'b Block>, out: &mut Text) {
        let mut last: Option<&Block> = None;
        for block in blocks {
            let same_table =
                last.is_some_and(|last| last.kind == Kind::Row && last.origin == block.origin);
            if last.is_some_and(|last| last.kind == Kind::Row) && !same_table {
                out.set_off();
            }
            if self.markdown {
                self.markdown_block(block, same_table, out);
            } else {
                plain_block(block, out);
            }
            if out.is_full() {
                return;
            }
            last = Some(block);
        }
    }

    /// Writes plain paragraphs.
    pub(super) fn render_text(&self, text: &str, out: &mut Text) {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.markdown {
                out.block(Separation::Paragraph, &markdown::escape(line));
            } else {
                out.block(Separation::Paragraph, line);
            }
        }
    }

    fn markdown_block(&self, block: &Block, same_table: bool, out: &mut Text) {
        let inline = || self.inline(&block.text, &block.spans, 0);
        let (separation, mut text) = match block.kind {
            Kind::Heading(level) => {
                // Headings are bold anyway.
                let spans = block.spans.iter().filter(|span| span.format != Format::Strong);
                let inline = self.inline(&block.text, &spans.copied().collect::<Vec<_>>(), 0);
                (Separation::Paragraph, markdown::heading(level.into(), &inline))
            }
            Kind::Paragraph if block.level > 0 => {
                let indent = "  ".repeat(block.level);
                let lines = inline();
                let lines: Vec<String> =
                    lines.lines().map(|line| format!("{indent}{line}")).collect();
                (Separation::Paragraph, lines.join("\n"))
            }
            Kind::Paragraph => (Separation::Paragraph, hard_breaks(&inline())),
            Kind::Item(marker) => {
                let level = block.level.saturating_sub(1);
                (Separation::Item, markdown::item(level, marker, &inline()))
            }
            Kind::Row => (Separation::Row, self.row(block, same_table)),
            Kind::Code => {
                let language = language(self.tree, block.origin).unwrap_or_default();
                (Separation::Paragraph, markdown::code_block(&language, &block.text))
            }
        };
        for _ in 0..block.quotes.min(4) {
            text = markdown::quote(&text);
        }
        out.block(separation, &text);
    }

    fn row(&self, block: &Block, same_table: bool) -> String {
        let mut cells = Vec::new();
        let mut start = 0;
        for cell in block.text.split('\t') {
            let end = start + cell.len();
            let within = block.spans.iter().filter(|span| start <= span.start && span.end <= end);
            let spans: Vec<Span> = within.copied().collect();
            cells.push(self.inline(cell, &spans, start));
            start = end + 1;
        }
        let row = markdown::row(&cells);
        if same_table { row } else { format!("{row}\n{}", markdown::separator(cells.len())) }
    }

    /// A line as Markdown; `offset` is where the text begins by the count of the spans.
    fn inline(&self, text: &str, spans: &[Span], offset: usize) -> String {
        let mut spans: Vec<(usize, &Span)> = spans.iter().enumerate().collect();
        // The outer one of two equal spans was closed last.
        spans.sort_by_key(|(at, span)| (span.start, usize::MAX - span.end, usize::MAX - at));
        let mut open: Vec<(String, Option<&Span>)> = vec![(String::new(), None)];
        let mut at = offset;
        let mut put = |open: &mut Vec<(String, Option<&Span>)>, to: usize| {
            let verbatim = open.iter().any(|(_, span)| span.is_some_and(is_code));
            if let Some(piece) = text.get(at - offset..to - offset)
                && let Some((out, _)) = open.last_mut()
            {
                if verbatim {
                    out.push_str(piece);
                } else {
                    out.push_str(&markdown::escape(piece));
                }
            }
            at = to;
        };
        for (_, span) in spans {
            while let Some(&(_, Some(last))) = open.last()
                && last.end <= span.start
            {
                put(&mut open, last.end);
                self.close(&mut open);
            }
            put(&mut open, span.start);
            open.push((String::new(), Some(span)));
        }
        while let Some(&(_, Some(last))) = open.last() {
            put(&mut open, last.end);
            self.close(&mut open);
        }
        put(&mut open, offset + text.len());
        open.pop().map(|(out, _)| out).unwrap_or_default()
    }

    fn close(&self, open: &mut Vec<(String, Option<&Span>)>) {
        let Some((inner, Some(span))) = open.pop() else { return };
        let around =
            |matches: fn(&Span) -> bool| open.iter().any(|(_, span)| span.is_some_and(matches));
        let in_code = around(is_code);
        let written = match span.format {
            _ if in_code => inner,
            Format::Strong if around(|it| it.format == Format::Strong) => inner,
            Format::Emphasis if around(|it| it.format == Format::Emphasis) => inner,
            Format::Strong => markdown::strong(&inner),
            Format::Emphasis => markdown::emphasis(&inner),
            Format::Code => markdown::code(&inner),
            Format::Superscript => markdown::superscript(&inner),
            Format::Link(node) => self.link(&inner, node),
        };
        if let Some((out, _)) = open.last_mut() {
            markdown::append(out, &written);
        }
    }

    /// A link with an absolute target; one within the page is its text.
    fn link(&self, inline: &str, node: Id) -> String {
        let target = self.tree.attribute(node, &local_name!("href")).unwrap_or_default().trim();
        if target.starts_with('#') || markdown::is_unsafe(target) {
            return inline.to_owned();
        }
        let absolute = match &self.base {
            Some(base) => base.join(target).ok(),
            None => Url::parse(target).ok(),
        };
        match absolute {
            Some(url) if matches!(url.scheme(), "http" | "https" | "mailto" | "tel") => {
                markdown::link(inline, url.as_str())
            }
            Some(_) => inline.to_owned(),
            None => markdown::link(inline, target),
        }
    }
}

/// Two spaces at the end keep a line's end; a blank line needs none.
fn hard_breaks(text: &str) -> String {
    text.replace('\n', "  \n").replace("  \n  \n", "\n\n")
}

fn is_code(span: &Span) -> bool {
    span.format == Format::Code
}

fn plain_block(block: &Block, out: &mut Text) {
    match block.kind {
        Kind::Item(_) => {
            let indent = "  ".repeat(block.level.saturating_sub(1).min(8));
            out.block(Separation::Item, &format!("{indent}- {}", block.text));
        }
        Kind::Row => out.block(Separation::Row, &block.text),
        Kind::Heading(_) | Kind::Paragraph | Kind::Code => {
            out.block(Separation::Paragraph, &block.text);
        }
    }
}

/// The language of code, as a class such as `language-rust` of the element, its child or its parents says.
fn language(tree: &Tree, node: Id) -> Option<String> {
    let child = tree.children(node).find(|child| *tree.name(*child) == local_name!("code"));
    let parent = tree.parent(node);
    let nodes = [child, Some(node), parent, parent.and_then(|parent| tree.parent(parent))];
    nodes.into_iter().flatten().find_map(|node| {
        let classes = tree.attribute(node, &local_name!("class")).unwrap_or_default();
        let named = classes.split_whitespace().find_map(|class| {
            ["language-", "lang-", "highlight-source-", "highlight-", "brush:"]
                .iter()
                .find_map(|prefix| class.strip_prefix(prefix))
        });
        named
            .map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase())
            .filter(|name| {
                !name.is_empty() && name.len() <= 20 && !NO_LANGUAGES.contains(&name.as_str())
            })
    })
}

/// Names that say only that something is code or text.
const NO_LANGUAGES: [&str; 8] =
    ["none", "plaintext", "text", "default", "source", "code", "notranslate", "block"];
