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
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::*;

    #[test]
    fn a_text_is_cut_at_a_paragraph_else_a_sentence_else_a_word() {
        let text = "First paragraph.\n\nSecond one. It is longer than the first.";
        assert_eq!(cut(text, 30), "First paragraph.");
        assert_eq!(cut(text, 16), "First paragraph.");
        assert_eq!(cut(text, 58), text);
        assert_eq!(cut("One. Two is here. Three follows", 25), "One. Two is here.");
        assert_eq!(cut("no sentence ends in these words", 20), "no sentence ends in");
        assert_eq!(cut("wwwwwwwwww", 4), "wwww");
        assert_eq!(cut("ü".repeat(10).as_str(), 5), "üü");
        assert_eq!(cut("第一句。第二句。第三句。", 26), "第一句。第二句。");
        // A first line alone would lose too much: the sentence decides.
        let lead = format!("Title\n\n{}", "A sentence. ".repeat(20));
        assert!(cut(&lead, 100).len() > 80);
    }

    #[test]
    fn a_code_block_that_is_cut_is_closed() {
        let text = "Before.\n\n```rust\nlet a = 1;\nlet b = 2;\nlet c = 3;\n```\n\nAfter.";
        let short = cut(text, 45);
        assert!(short.ends_with("\n```") && short.len() <= 45, "{short}");
        assert_eq!(open_fence(&short), None);
    }

    #[test]
    fn a_preview_has_all_headings_and_the_beginning() {
        let body = "A sentence of the page. ".repeat(200);
        let text = format!("# Title\n\n{body}\n\n## Last\n\n{body}");
        let preview = preview(&text);
        assert!(preview.starts_with("# Title\n## Last\n\n# Title\n\nA sentence"), "{preview}");
        assert!(preview.len() <= PREVIEW + 20);
        assert_eq!(super::preview("short"), "short");
    }

    proptest! {
        #[test]
        fn no_cut_is_longer_than_asked(text in any::<String>(), max in 0_usize..200) {
            prop_assert!(cut(&text, max).len() <= max);
        }

        #[test]
        fn no_cut_of_code_is_longer_than_asked(text in "[a-c`~ \n.]{0,120}", max in 0_usize..120) {
            let short = cut(&text, max);
            prop_assert!(short.len() <= max);
        }
    }
}
