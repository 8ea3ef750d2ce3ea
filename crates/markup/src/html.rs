//! Document → HTML.

use std::collections::BTreeSet;

use crate::inline::{Style, Token, end_of_label, parse, plain_text};
use crate::model::{Alignment, Block, Document, Item};
use crate::normalize::normalize_document;
use crate::url::{is_safe_url, picture_data};
use crate::write::line_of;

const STYLE: &str = include_str!("html/print.css");

/// A page of its own. All text is escaped, and links lead to `http`, `https` and `mailto` addresses only.
pub fn to_html(document: &Document) -> String {
    let document = normalize_document(document);
    let title = plain_text(&parse(&document.title));
    let title = escape_html(if title.is_empty() { "Document" } else { &title });
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
        body(&document)
    )
}

/// The HTML of a document without head and styles, for a page that has its own.
pub fn to_html_body(document: &Document) -> String {
    body(&normalize_document(document))
}

fn body(document: &Document) -> String {
    let mut page = Page { out: String::new(), footnotes: footnotes(document) };
    if !document.title.is_empty() {
        page.element("h1", &document.title);
    }
    for section in &document.sections {
        if !section.heading.is_empty() {
            page.element(&format!("h{}", section.level), &section.heading);
        }
        section.blocks.iter().for_each(|block| page.block(block));
    }
    if !document.references.is_empty() {
        page.out.push_str("<h2>References</h2>\n<ol class=\"references\">\n");
        for reference in &document.references {
            page.element("li", &line_of(reference));
        }
        page.out.push_str("</ol>\n");
    }
    page.out
}

fn footnotes(document: &Document) -> BTreeSet<String> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let labels = blocks.filter_map(|block| match block {
        Block::Footnote { label, .. } => Some(label.clone()),
        _ => None,
    });
    labels.collect()
}

struct Page {
    out: String,
    footnotes: BTreeSet<String>,
}

impl Page {
    fn element(&mut self, name: &str, text: &str) {
        self.out.push_str(&format!("<{name}>"));
        self.inline(text);
        self.out.push_str(&format!("</{name}>\n"));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph { text } => self.element("p", text),
            Block::Quote { text } => {
                self.out.push_str("<blockquote>\n");
                text.split("\n\n").for_each(|part| self.element("p", part));
                self.out.push_str("</blockquote>\n");
            }
            Block::List { items } => self.list(items),
            Block::Code { language, text } => {
                let class = if language.is_empty() {
                    String::new()
                } else {
                    format!(" class=\"language-{}\"", escape_html(language))
                };
                self.out
                    .push_str(&format!("<pre><code{class}>{}</code></pre>\n", escape_html(text)));
            }
            Block::Table { header, rows, alignments } => self.table(header, rows, alignments),
            Block::Image { url, alt } => {
                self.out.push_str("<figure>");
                self.image(url, alt);
                self.out.push_str("</figure>\n");
            }
            Block::Footnote { label, text } => {
                let (id, shown) = (anchor(label), escape_html(label));
                self.out
                    .push_str(&format!("<p class=\"footnote\" id=\"{id}\"><sup>{shown}</sup> "));
                self.inline(text);
                self.out.push_str("</p>\n");
            }
            Block::Rule => self.out.push_str("<hr>\n"),
        }
    }

    /// Items know their level, so the open lists are a stack of closing tags.
    fn list(&mut self, items: &[Item]) {
        let mut open: Vec<bool> = Vec::new();
        for item in items {
            let (depth, ordered) = (usize::from(item.level) + 1, item.number.is_some());
            while open.len() > depth || open.len() == depth && open.last() != Some(&ordered) {
                self.close_list(&mut open);
            }
            if open.len() == depth {
                self.out.push_str("</li>\n");
            }
            while open.len() < depth {
                let start = item.number.filter(|number| *number != 1);
                let start = start.map_or_else(String::new, |number| format!(" start=\"{number}\""));
                let tag = if ordered { format!("<ol{start}>\n") } else { "<ul>\n".to_owned() };
                self.out.push_str(&tag);
                open.push(ordered);
            }
            self.out.push_str("<li>");
            self.inline(&item.text);
        }
        while !open.is_empty() {
            self.close_list(&mut open);
        }
    }

    fn close_list(&mut self, open: &mut Vec<bool>) {
        if let Some(ordered) = open.pop() {
            self.out.push_str(if ordered { "</li>\n</ol>\n" } else { "</li>\n</ul>\n" });
        }
    }

    fn table(&mut self, header: &[String], rows: &[Vec<String>], alignments: &[Alignment]) {
        self.out.push_str("<table>\n<thead>\n");
        self.row("th", header, alignments);
        self.out.push_str("</thead>\n<tbody>\n");
        rows.iter().for_each(|row| self.row("td", row, alignments));
        self.out.push_str("</tbody>\n</table>\n");
    }

    fn row(&mut self, name: &str, cells: &[String], alignments: &[Alignment]) {
        self.out.push_str("<tr>");
        for (cell, alignment) in cells.iter().zip(alignments) {
            let class = match alignment {
                Alignment::None => "",
                Alignment::Left => " class=\"left\"",
                Alignment::Center => " class=\"center\"",
                Alignment::Right => " class=\"right\"",
            };
            self.out.push_str(&format!("<{name}{class}>"));
            self.inline(cell);
            self.out.push_str(&format!("</{name}>"));
        }
        self.out.push_str("</tr>\n");
    }

    fn image(&mut self, url: &str, alt: &str) {
        let alt = escape_html(alt);
        let is_mail = url.to_ascii_lowercase().starts_with("mailto:");
        if is_safe_url(url) && !is_mail || picture_data(url).is_some() {
            let url = escape_html(url);
            self.out.push_str(&format!("<img src=\"{url}\" alt=\"{alt}\">"));
        } else {
            self.out.push_str(&alt);
        }
    }

    fn inline(&mut self, text: &str) {
        // Whether each open link has a tag.
        let mut links = Vec::new();
        for token in parse(text) {
            match token {
                Token::Text(text) => self.text(&text),
                Token::Code(code) => {
                    self.out.push_str(&format!("<code>{}</code>", escape_html(&code)));
                }
                Token::Break => self.out.push_str("<br>\n"),
                Token::Begin(style) => self.out.push_str(&format!("<{}>", tag(style))),
                Token::End(style) => self.out.push_str(&format!("</{}>", tag(style))),
                Token::BeginLink(url) => {
                    let safe = is_safe_url(&url);
                    links.push(safe);
                    if safe {
                        let url = escape_html(&url);
                        self.out
                            .push_str(&format!("<a href=\"{url}\" rel=\"noopener noreferrer\">"));
                    }
                }
                Token::EndLink => {
                    if links.pop() == Some(true) {
                        self.out.push_str("</a>");
                    }
                }
                Token::Image { url, alt } => self.image(&url, &alt),
            }
        }
    }

    /// Text with links to footnotes.
    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) = rest.find("[^") {
            let label = &rest[start + 2..];
            let end = end_of_label(label).filter(|end| self.footnotes.contains(&label[..*end]));
            let Some(end) = end else {
                self.out.push_str(&escape_html(&rest[..start + 2]));
                rest = label;
                continue;
            };
            self.out.push_str(&escape_html(&rest[..start]));
            let (id, shown) = (anchor(&label[..end]), escape_html(&label[..end]));
            self.out.push_str(&format!("<sup><a href=\"#{id}\">{shown}</a></sup>"));
            rest = &label[end + 1..];
        }
        self.out.push_str(&escape_html(rest));
    }
}

fn tag(style: Style) -> &'static str {
    match style {
        Style::Emphasis => "em",
        Style::Strong => "strong",
    }
}

/// The id of a footnote: letters, digits and hyphens, others by their number.
fn anchor(label: &str) -> String {
    let mut id = String::from("fn-");
    for c in label.chars() {
        if c.is_ascii_alphanumeric() {
            id.push(c);
        } else {
            id.push_str(&format!("-{:x}", u32::from(c)));
        }
    }
    id
}

/// Text as the content of an element or a quoted attribute.
pub fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
