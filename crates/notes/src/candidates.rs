//! The sentences of chunks that may become notes.

use language::prose::{Language, sentences};

use super::injection::is_injection;
use super::intent::content_stems;
use super::plain::plain;
use super::readable::readable;
use super::statement::is_statement;
use crate::Chunk;

/// Sentences of one call that are read.
const MAX_SENTENCES: usize = 20_000;

/// Longer paragraphs are not read as Markdown.
const MAX_PARAGRAPH: usize = 20_000;

/// A first line up to this length without a full stop is a heading.
const MAX_HEADING: usize = 60;

/// A sentence that can be quoted.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) chunk: &'a Chunk,
    /// The sentence as the chunk has it.
    pub(super) quote: &'a str,
    /// Where it begins in the chunk, in bytes.
    pub(super) start: usize,
    /// The sentence made readable alone.
    pub(super) text: String,
    /// Its place in the chunk, counted from 0.
    pub(super) position: usize,
    pub(super) stems: Vec<String>,
}

/// The usable sentences of the chunks, in order.
pub(super) fn candidates(chunks: &[Chunk], language: Language) -> Vec<Candidate<'_>> {
    let mut found = Vec::new();
    let mut read = 0;
    for chunk in chunks {
        let mut position = 0;
        for block in paragraphs(&chunk.text) {
            // Marks such as `*` between the words do not hide them.
            let suspect = block.len() <= MAX_PARAGRAPH && is_injection(&plain(block));
            if suspect || is_injection(block) {
                continue;
            }
            for sentence in sentences(block) {
                read += 1;
                if read > MAX_SENTENCES {
                    return found;
                }
                let quote = without_label(without_marker(without_heading(sentence.text)));
                if !sentence.whole || quote.len() > 4_000 {
                    continue;
                }
                let text = plain(quote);
                position += 1;
                if !is_statement(&text) {
                    continue;
                }
                let Some(text) = readable(&text).filter(|text| is_statement(text)) else {
                    continue;
                };
                let start = quote.as_ptr() as usize - chunk.text.as_ptr() as usize;
                let stems = content_stems(&text, language);
                found.push(Candidate { chunk, quote, start, text, position: position - 1, stems });
            }
        }
    }
    found
}

/// The paragraphs of a Markdown text that hold prose: no code, tables and headings.
fn paragraphs(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut begin = 0;
    let mut at = 0;
    let mut fenced = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let skipped = fence
            || fenced
            || trimmed.is_empty()
            || trimmed.starts_with('|')
            || trimmed.starts_with('#')
            || line.starts_with("    ") && !trimmed.starts_with(['-', '*']) && begin == at;
        if skipped {
            blocks.push(&text[begin..at]);
            begin = at + line.len();
        }
        fenced ^= fence;
        at += line.len();
    }
    blocks.push(&text[begin..]);
    blocks.retain(|block| !block.trim().is_empty());
    blocks
}

/// The sentence without a heading in the line before it.
fn without_heading(sentence: &str) -> &str {
    let Some((first, rest)) = sentence.split_once('\n') else { return sentence };
    let short = first.chars().nth(MAX_HEADING).is_none();
    let rest = rest.trim_start();
    let words = first.split_whitespace().count();
    let ends_open = first.trim_end().ends_with([',', ';', ':', '-', '(']);
    let last = first.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let heading = short
        && words <= 8
        && !ends_open
        && !language::words::is_stop_word(&last)
        && rest.starts_with(char::is_uppercase)
        && rest.contains(' ');
    if heading { rest } else { sentence }
}

/// The sentence without the mark of a list item or a quotation.
fn without_marker(sentence: &str) -> &str {
    let text = sentence.trim_start_matches(['>', ' ']);
    for marker in ["- ", "* ", "• ", "– ", "+ "] {
        if let Some(rest) = text.strip_prefix(marker) {
            return rest.trim_start();
        }
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - rest.len();
    if (1..=2).contains(&digits)
        && let Some(rest) = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))
    {
        return rest.trim_start();
    }
    text
}

/// The sentence without the words in bold or italics before it that name its paragraph: `**Rural stations.** The group …`.
fn without_label(sentence: &str) -> &str {
    for mark in ["**", "__", "*", "_"] {
        let labelled = sentence.strip_prefix(mark).and_then(|rest| rest.split_once(mark));
        let Some((label, rest)) = labelled else { continue };
        let ends = label.ends_with(['.', ':']) || rest.starts_with(['.', ':']);
        let rest = rest.trim_start_matches(|c: char| matches!(c, '.' | ':') || c.is_whitespace());
        let short = label.chars().nth(MAX_HEADING).is_none();
        if ends && short && rest.starts_with(char::is_uppercase) {
            return rest;
        }
    }
    sentence
}
