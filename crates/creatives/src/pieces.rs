//! A text taken apart: words, hashtags, mentions, links, emoji and the marks between them.

use std::ops::Range;

use linkify::{LinkFinder, LinkKind};
use regex::Regex;
use unicode_normalization::UnicodeNormalization as _;

use crate::count;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<'t> {
    pub(crate) kind: PieceKind,
    pub(crate) text: &'t str,
    /// Its first byte in the text.
    pub(crate) start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Also numbers, and the signs of percents and currencies.
    Word,
    Hashtag,
    Mention,
    Link,
    Email,
    Emoji,
    /// A mark that ends a clause, or a line break.
    Break,
}

impl Piece<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A pattern of ours.
#[expect(clippy::expect_used, reason = "the patterns are constants, and all are compiled by tests")]
pub(crate) fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

/// The pieces of a text, in order.
pub(crate) fn take_apart(text: &str) -> Vec<Piece<'_>> {
    let mut fixed: Vec<(PieceKind, Range<usize>)> = links(text);
    let emoji = count::emoji(text).filter(|place| {
        let at = fixed.partition_point(|(_, link)| link.end <= place.start);
        fixed.get(at).is_none_or(|(_, link)| link.start >= place.end)
    });
    let emoji: Vec<_> = emoji.map(|place| (PieceKind::Emoji, place)).collect();
    fixed.extend(emoji);
    fixed.sort_by_key(|(_, place)| place.start);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (kind, place) in fixed {
        read_plain(text, at..place.start, &mut pieces);
        pieces.push(Piece { kind, text: &text[place.clone()], start: place.start });
        at = place.end;
    }
    read_plain(text, at..text.len(), &mut pieces);
    pieces
}

fn links(text: &str) -> Vec<(PieceKind, Range<usize>)> {
    let mut finder = LinkFinder::new();
    finder.url_must_have_scheme(false);
    let found = finder.links(text).filter_map(|link| {
        let kind = match link.kind() {
            LinkKind::Url if is_link(link.as_str()) => PieceKind::Link,
            LinkKind::Email => PieceKind::Email,
            _ => return None,
        };
        Some((kind, link.start()..link.end()))
    });
    found.collect()
}

/// Without a scheme only names with a known ending are links: `Great.Then` is a missing space.
fn is_link(text: &str) -> bool {
    if let Some((scheme, _)) = text.split_once("://") {
        return matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https");
    }
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    if host.starts_with("www.") {
        return true;
    }
    let ending = host.rsplit('.').next().unwrap_or_default();
    let written = ending.chars().all(char::is_lowercase) || host.chars().all(|c| !c.is_lowercase());
    let known = psl::suffix(host.to_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known());
    // Most endings are words of English, too: without a path only the usual ones count.
    let usual = [
        "com", "org", "net", "io", "co", "de", "fr", "es", "at", "ch", "uk", "eu", "us", "app",
        "dev", "shop", "store", "ai", "info", "biz", "me", "tv", "ly", "be", "nl", "mx", "ar",
        "example",
    ];
    let usual = usual.contains(&ending.to_lowercase().as_str());
    written && (usual || known && text.contains('/'))
}

/// Reads what has neither links nor emoji.
fn read_plain<'t>(text: &'t str, place: Range<usize>, pieces: &mut Vec<Piece<'t>>) {
    let mut at = place.start;
    while let Some(c) = text[at..place.end].chars().next() {
        let rest = &text[at..place.end];
        let before = text[..at].chars().next_back();
        let free = before.is_none_or(|before| !before.is_alphanumeric() && before != '&');
        let found = match c {
            '#' | '＃' if free => tag(rest, c).map(|length| (PieceKind::Hashtag, length)),
            '@' | '＠' if free => mention(rest, c).map(|length| (PieceKind::Mention, length)),
            '%' | '€' | '$' | '£' | '&' => Some((PieceKind::Word, c.len_utf8())),
            _ if c.is_alphanumeric() => Some((PieceKind::Word, word(rest))),
            _ if breaks(c, before, rest) => Some((PieceKind::Break, c.len_utf8())),
            _ => None,
        };
        match found {
            Some((kind, length)) => {
                pieces.push(Piece { kind, text: &rest[..length], start: at });
                at += length;
            }
            None => at += c.len_utf8(),
        }
    }
}

/// Whether a character within a word shows nothing.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}')
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// The bytes of a hashtag: at least one of its characters is no digit.
fn tag(rest: &str, sign: char) -> Option<usize> {
    let name = &rest[sign.len_utf8()..];
    let belongs = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c) || c == '\u{200c}';
    let length = name.find(|c| !belongs(c)).unwrap_or(name.len());
    name[..length].chars().any(char::is_alphabetic).then_some(sign.len_utf8() + length)
}

fn mention(rest: &str, sign: char) -> Option<usize> {
    let name = &rest[sign.len_utf8()..];
    let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.find(|c| !belongs(c)).unwrap_or(name.len());
    let name = name[..length].trim_end_matches(['.', '-']);
    (!name.is_empty()).then_some(sign.len_utf8() + name.len())
}

/// The bytes of a word. An elision is a word of its own: `n'attendez` is two, `don't` is one. Numbers keep their marks.
fn word(rest: &str) -> usize {
    let mut end = 0;
    let mut count = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let joins = match c {
            '\'' | '’' => count > 2 && next.is_some_and(char::is_alphabetic),
            '.' | ',' | ':' => {
                let digit = rest[..at].ends_with(|c: char| c.is_ascii_digit());
                digit && next.is_some_and(|next| next.is_ascii_digit())
            }
            _ => c.is_alphanumeric() || is_mark(c) || is_invisible(c),
        };
        if !joins {
            break;
        }
        count += 1;
        if !is_invisible(c) {
            end = at + c.len_utf8();
        }
    }
    end
}

fn breaks(c: char, before: Option<char>, rest: &str) -> bool {
    let spaced = || {
        before.is_none_or(char::is_whitespace)
            && rest[c.len_utf8()..].starts_with(char::is_whitespace)
    };
    match c {
        '.' | ',' | ';' | ':' | '!' | '?' | '\n' | '\r' | '(' | ')' | '[' | ']' | '{' | '}' => true,
        '–' | '—' | '…' | '¡' | '¿' | '|' | '•' | '·' | '>' | '»' | '→' | '。' | '、' | '！'
        | '？' | '؟' | '،' | '*' | '\u{2028}' | '\u{2029}' => true,
        '-' => spaced(),
        _ => false,
    }
}

/// A word as phrases are compared: in lower case, without styled characters, invisible characters and curly apostrophes.
pub(crate) fn fold(word: &str) -> String {
    let plain: String = word.nfkc().filter(|c| !is_invisible(*c)).collect();
    plain.replace('’', "'").to_lowercase()
}

/// The characters that have a plain form, such as bold characters of mathematics, which screen readers spell or skip.
pub(crate) fn is_styled(c: char) -> bool {
    matches!(u32::from(c), 0x1d400..=0x1d7ff | 0x24b6..=0x24e9 | 0x1f130..=0x1f189)
}

#[cfg(test)]
mod tests;
