//! Shortens a text to a number of bytes where a reader would pause.

use std::borrow::Cow;

use crate::blocks::{Fence, headings, open_fence};

/// Bytes of the text in a preview, next to its headings.
const PREVIEW: usize = 2_000;
/// Bytes of the headings in a preview.
const PREVIEW_HEADINGS: usize = 4_000;

/// The beginning of a Markdown text in at most `max` bytes: to the end of a paragraph, else of a sentence, else of a word.
/// A code block that is cut is closed.
pub(crate) fn cut(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let kept = beginning(text, max);
    let Some(Fence(fence)) = open_fence(kept) else { return Cow::Borrowed(kept) };
    // The line that closes the block counts, too.
    let closing = format!("\n{fence}");
    let Some(room) = max.checked_sub(closing.len()) else { return Cow::Borrowed("") };
    let kept = beginning(text, room);
    match open_fence(kept) {
        // Nothing but the opening line is left of the block.
        Some(Fence(fence)) if kept.ends_with(fence) => {
            Cow::Borrowed(kept.trim_end_matches(fence).trim_end())
        }
        Some(_) => Cow::Owned(format!("{kept}{closing}")),
        None => Cow::Borrowed(kept),
    }
}

/// The headings of a text and its first 2 KB.
pub(crate) fn preview(text: &str) -> Cow<'_, str> {
    if text.len() <= PREVIEW {
        return Cow::Borrowed(text);
    }
    let start = cut(text, PREVIEW);
    let mut outline = String::new();
    for heading in headings(text) {
        if outline.len() + heading.len() > PREVIEW_HEADINGS {
            break;
        }
        outline.push_str(heading);
        outline.push('\n');
    }
    if outline.is_empty() { start } else { Cow::Owned(format!("{outline}\n{start}")) }
}

fn beginning(text: &str, max: usize) -> &str {
    let head = &text[..text.floor_char_boundary(max)];
    let enough = head.len() / 2;
    let paragraph = last_paragraph(text, head);
    let end = paragraph
        .filter(|end| *end >= enough)
        .or_else(|| last_sentence(text, head).filter(|end| *end >= enough))
        // Code, lists and tables have no sentences.
        .or_else(|| head.rfind('\n').filter(|end| *end >= enough))
        .or(paragraph)
        .or_else(|| last_sentence(text, head))
        .or_else(|| head.rfind(char::is_whitespace).filter(|end| *end > 0))
        .unwrap_or(head.len());
    head[..end].trim_end()
}

/// The end of the last whole paragraph of `head`, the beginning of `text`.
fn last_paragraph(text: &str, head: &str) -> Option<usize> {
    if text[head.len()..].starts_with("\n\n") {
        return Some(head.len());
    }
    head.rfind("\n\n").filter(|end| *end > 0)
}

/// The end of the last whole sentence of `head`, the beginning of `text`.
fn last_sentence(text: &str, head: &str) -> Option<usize> {
    let ends = head.char_indices().rev().filter_map(|(at, character)| {
        let end = at + character.len_utf8();
        let next = text[end..].chars().next();
        let before_space = next.is_none_or(char::is_whitespace);
        match character {
            '.' | '!' | '?' | '…' | '।' | '؟' | '۔' if before_space => Some(end),
            '。' | '！' | '？' | '｡' => Some(end),
            _ => None,
        }
    });
    ends.into_iter().next()
}

#[cfg(test)]
mod tests;
