//! Inline Markdown: tokens of a text, and the canonical way to write them.

mod escape;
mod tags;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

pub(crate) use escape::escape_text;
pub(crate) use tags::strip_tags;

use crate::url::{is_kept_image, is_kept_url, is_safe_url};

/// A line break within a text while it is parsed as one line; texts have a backslash and a line feed instead.
const BREAK: char = '\u{2028}';
const WRITTEN_BREAK: &str = "\\\n";

/// A piece of inline text. Pairs are balanced, as the parser gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Text(String),
    Code(String),
    Break,
    Begin(Style),
    End(Style),
    BeginLink(String),
    EndLink,
    Image { url: String, alt: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Emphasis,
    Strong,
}

/// Collects the events of one text.
#[derive(Debug, Default)]
pub(crate) struct Collector {
    tokens: Vec<Token>,
    /// Whether each open link is kept; others leave their text.
    links: Vec<bool>,
    /// Open images: the text within is their alternative.
    images: Vec<(String, String)>,
}

impl Collector {
    /// Takes an event. What is not inline is ignored.
    pub(crate) fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
            Event::Code(code) => {
                let code = one_line(&code);
                match self.images.last_mut() {
                    Some((_, alt)) => alt.push_str(&code),
                    None => self.tokens.push(Token::Code(code)),
                }
            }
            Event::InlineHtml(html) | Event::Html(html) => {
                if tags::is_line_break(&html) {
                    self.line_break();
                }
            }
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]")),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.line_break(),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Rule => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Image { dest_url, .. } => {
                self.images.push((dest_url.to_string(), String::new()));
            }
            _ if !self.images.is_empty() => {}
            Tag::Emphasis => self.tokens.push(Token::Begin(Style::Emphasis)),
            Tag::Strong => self.tokens.push(Token::Begin(Style::Strong)),
            Tag::Link { dest_url, .. } => {
                let kept = is_kept_url(&dest_url);
                self.links.push(kept);
                if kept {
                    self.tokens.push(Token::BeginLink(dest_url.to_string()));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Image => self.end_image(),
            _ if !self.images.is_empty() => {}
            TagEnd::Emphasis => self.end_style(Style::Emphasis),
            TagEnd::Strong => self.end_style(Style::Strong),
            TagEnd::Link if self.links.pop() == Some(true) => self.end_link(),
            _ => {}
        }
    }

    fn end_image(&mut self) {
        let Some((url, alt)) = self.images.pop() else { return };
        let alt = one_line(&alt).trim().to_owned();
        match self.images.last_mut() {
            Some((_, outer)) => outer.push_str(&alt),
            None if is_kept_image(&url) => self.tokens.push(Token::Image { url, alt }),
            None => self.text(&alt),
        }
    }

    /// Marks without content are dropped.
    fn end_style(&mut self, style: Style) {
        if self.tokens.last() == Some(&Token::Begin(style)) {
            self.tokens.pop();
        } else {
            self.tokens.push(Token::End(style));
        }
    }

    fn end_link(&mut self) {
        if let Some(Token::BeginLink(_)) = self.tokens.last() {
            self.tokens.pop();
        } else {
            self.tokens.push(Token::EndLink);
        }
    }

    fn line_break(&mut self) {
        match self.images.last_mut() {
            Some((_, alt)) => alt.push(' '),
            None => self.tokens.push(Token::Break),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, alt)) = self.images.last_mut() {
            alt.push_str(text);
            return;
        }
        let mut parts = text.split(BREAK);
        self.plain(parts.next().unwrap_or_default());
        for part in parts {
            self.tokens.push(Token::Break);
            self.plain(part);
        }
    }

    fn plain(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.tokens.last_mut() {
            Some(Token::Text(before)) => before.push_str(text),
            _ => self.tokens.push(Token::Text(text.to_owned())),
        }
    }

    /// The tokens with white space collapsed.
    pub(crate) fn finish(self) -> Vec<Token> {
        collapse(self.tokens)
    }
}

/// Removes white space at both ends and around line breaks, and makes one space of several.
fn collapse(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at_line_start = true;
    for token in tokens {
        match token {
            Token::Text(text) => {
                let mut kept = String::with_capacity(text.len());
                for c in text.chars() {
                    let space = matches!(c, ' ' | '\t' | '\n' | '\r');
                    if !space {
                        kept.push(c);
                    } else if !(kept.ends_with(' ') || kept.is_empty() && at_line_start) {
                        kept.push(' ');
                    }
                    at_line_start &= space;
                }
                push_text(&mut out, kept);
            }
            Token::Break => {
                trim_end(&mut out);
                // Several breaks are one, and none comes first.
                if !at_line_start {
                    out.push(Token::Break);
                }
                at_line_start = true;
            }
            Token::Code(_) | Token::Image { .. } => {
                at_line_start = false;
                out.push(token);
            }
            _ => out.push(token),
        }
    }
    trim_end(&mut out);
    while out.last() == Some(&Token::Break) {
        out.pop();
        trim_end(&mut out);
    }
    out
}

fn push_text(out: &mut Vec<Token>, text: String) {
    match out.last_mut() {
        _ if text.is_empty() => {}
        Some(Token::Text(before)) => {
            let text = if before.ends_with(' ') { text.trim_start_matches(' ') } else { &text };
            before.push_str(text);
        }
        _ => out.push(Token::Text(text)),
    }
}

fn trim_end(out: &mut Vec<Token>) {
    if let Some(Token::Text(text)) = out.last_mut() {
        text.truncate(text.trim_end_matches(' ').len());
        if text.is_empty() {
            out.pop();
        }
    }
}

/// The tokens of a text in inline Markdown. Syntax of blocks has no meaning in it.
pub fn parse(text: &str) -> Vec<Token> {
    let line: String = text
        .replace(WRITTEN_BREAK, "\u{2028}")
        .chars()
        .map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c })
        .collect();
    // The content of a heading is inline. The mark at its end keeps those of the text.
    let heading = format!("# {} #", line.trim());
    let mut collector = Collector::default();
    for event in Parser::new_ext(&heading, Options::empty()) {
        match event {
            Event::Start(Tag::Heading { .. }) | Event::End(TagEnd::Heading(_)) => {}
            event => collector.push(event),
        }
    }
    collector.finish()
}

/// Writes tokens as inline Markdown that [`parse`] reads as the same tokens. If no way is found, the styles are dropped.
pub(crate) fn write(tokens: &[Token]) -> String {
    let written = write_once(tokens, false);
    if parse(&written) == tokens {
        return written;
    }
    let plain = without_styles(tokens);
    let written = write_once(&plain, false);
    if parse(&written) == plain { written } else { write_once(&plain, true) }
}

/// A text in its canonical form; on one line if `breaks` is false.
pub(crate) fn normalize(text: &str, breaks: bool) -> String {
    let mut tokens = parse(&clean(text));
    if !breaks {
        drop_breaks(&mut tokens);
    }
    write(&tokens)
}

/// Drops the marks of some styles; what they enclose stays.
pub(crate) fn drop_styles(tokens: Vec<Token>, is_dropped: impl Fn(Style) -> bool) -> Vec<Token> {
    let kept = tokens.into_iter().filter(|token| match token {
        Token::Begin(style) | Token::End(style) => !is_dropped(*style),
        _ => true,
    });
    collapse(kept.collect())
}

/// Replaces line breaks by spaces.
pub(crate) fn drop_breaks(tokens: &mut Vec<Token>) {
    let spaced = std::mem::take(tokens).into_iter().map(|token| match token {
        Token::Break => Token::Text(" ".to_owned()),
        token => token,
    });
    *tokens = collapse(spaced.collect());
}

/// Without characters that no text should have.
pub(crate) fn clean(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Where the label of a footnote ends that a text begins with. Labels have no brackets, so each text is searched once.
pub fn end_of_label(text: &str) -> Option<usize> {
    text.find(['[', ']']).filter(|end| text[*end..].starts_with(']'))
}

/// The text of tokens, without any marks.
pub fn plain_text(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        match token {
            Token::Text(part) | Token::Code(part) | Token::Image { alt: part, .. } => {
                text.push_str(part);
            }
            Token::Break => text.push(' '),
            _ => {}
        }
    }
    text
}

fn without_styles(tokens: &[Token]) -> Vec<Token> {
    let mut plain = Collector::default();
    for token in tokens {
        match token {
            Token::Text(text) | Token::Code(text) | Token::Image { alt: text, .. } => {
                plain.plain(text);
            }
            Token::Break => plain.tokens.push(Token::Break),
            _ => {}
        }
    }
    plain.finish()
}

fn write_once(tokens: &[Token], escape_all: bool) -> String {
    let mut out = String::new();
    let mut links = 0_usize;
    let mut written = 0;
    for (at, token) in tokens.iter().enumerate() {
        if at < written {
            continue;
        }
        if let Some(url) = autolink(&tokens[at..]) {
            out.push('<');
            out.push_str(url);
            out.push('>');
            written = at + 3;
            continue;
        }
        match token {
            Token::Text(text) => {
                let context = escape::Context {
                    all: escape_all,
                    in_link: links > 0,
                    before_link: matches!(tokens.get(at + 1), Some(Token::BeginLink(_))),
                };
                escape::push_escaped(&mut out, text, context);
            }
            Token::Code(code) => push_code(&mut out, code),
            Token::Break => out.push_str(WRITTEN_BREAK),
            Token::Begin(style) | Token::End(style) => out.push_str(mark(*style)),
            Token::BeginLink(_) => {
                links += 1;
                out.push('[');
            }
            Token::EndLink => {
                links = links.saturating_sub(1);
                out.push_str("](");
                escape::push_url(&mut out, link_target(&tokens[..at]));
                out.push(')');
            }
            Token::Image { url, alt } => {
                out.push_str("![");
                let context = escape::Context { all: false, in_link: true, before_link: false };
                escape::push_escaped(&mut out, alt, context);
                out.push_str("](");
                escape::push_url(&mut out, url);
                out.push(')');
            }
        }
    }
    out
}

/// The address of a link that shows its address.
fn autolink(tokens: &[Token]) -> Option<&str> {
    let [Token::BeginLink(url), Token::Text(text), Token::EndLink, ..] = tokens else {
        return None;
    };
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || "<>".contains(c));
    (url == text && plain && is_safe_url(url)).then_some(url)
}

/// Links do not nest, so the link that ends is the last that began.
fn link_target(tokens: &[Token]) -> &str {
    let begun = tokens.iter().rev().find_map(|token| match token {
        Token::BeginLink(url) => Some(url.as_str()),
        _ => None,
    });
    begun.unwrap_or_default()
}

fn mark(style: Style) -> &'static str {
    match style {
        Style::Emphasis => "*",
        Style::Strong => "**",
    }
}

fn push_code(out: &mut String, code: &str) {
    let fence = "`".repeat(longest_run(code, '`') + 1);
    let spaced = code.starts_with(' ') && code.ends_with(' ') && !code.trim_matches(' ').is_empty();
    let pad = if code.starts_with('`') || code.ends_with('`') || spaced { " " } else { "" };
    for part in [&fence, pad, code, pad, &fence] {
        out.push_str(part);
    }
}

/// The length of the longest run of a character.
pub(crate) fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', BREAK], " ")
}
