//! Splits requests for several things into clauses.

use crate::verbs::begins_action;

/// Words that start a new clause.
const TURNS: [&str; 6] = ["then", "afterwards", "finally", "additionally", "also", "next"];

/// The clauses of a request, in order: sentences, lines, and what follows `then`, `after that`, `, and` and the
/// like, or asks for something else (`find it and send it`).
///
/// The split is a heuristic, so nothing may depend on it alone.
pub fn clauses(text: &str) -> Vec<&str> {
    let chunks = chunks(text);
    let mut clauses = Vec::new();
    let mut start = 0;
    for (i, &(from, chunk)) in chunks.iter().enumerate() {
        let before = i.checked_sub(1).map_or("", |i| chunks[i].1);
        let next = |n: usize| chunks.get(i + n).map_or("", |&(_, chunk)| chunk);
        if starts_clause(before, chunk, [next(1), next(2)]) || gap_has_line_end(text, &chunks, i) {
            clauses.push(&text[start..from]);
            start = from;
        }
        if ends_a_sentence(chunk) {
            let end = from + chunk.len();
            clauses.push(&text[start..end]);
            start = end;
        }
    }
    clauses.push(&text[start..]);
    clauses.retain(|clause| clause.chars().any(char::is_alphanumeric));
    clauses
}

/// Chunks without white space, each with its offset; East Asian stops end a chunk, because no space follows them.
fn chunks(text: &str) -> Vec<(usize, &str)> {
    let mut chunks = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            if let Some(from) = start.take() {
                chunks.push((from, &text[from..at]));
            }
            continue;
        }
        let from = *start.get_or_insert(at);
        if matches!(c, '。' | '！' | '？' | '；') {
            chunks.push((from, &text[from..at + c.len_utf8()]));
            start = None;
        }
    }
    if let Some(from) = start {
        chunks.push((from, &text[from..]));
    }
    chunks
}

fn starts_clause(before: &str, chunk: &str, [after, later]: [&str; 2]) -> bool {
    let plain = |chunk: &str| chunk.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is = |chunk: &str, word: &str| {
        chunk.trim_end_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case(word)
    };
    TURNS.iter().any(|turn| is(chunk, turn)) && !is(before, "and")
        || is(chunk, "and") && (before.ends_with(',') || TURNS.iter().any(|turn| is(after, turn)))
        || is(chunk, "after") && is(after, "that")
        || is(chunk, "and") && begins_action(&plain(after), Some(&plain(later)))
        || before.ends_with(',') && begins_action(&plain(chunk), Some(&plain(after)))
}

fn gap_has_line_end(text: &str, chunks: &[(usize, &str)], i: usize) -> bool {
    let end = i.checked_sub(1).map_or(0, |i| chunks[i].0 + chunks[i].1.len());
    text[end..chunks[i].0].contains('\n')
}

fn ends_a_sentence(chunk: &str) -> bool {
    chunk
        .trim_end_matches(['"', '\'', ')', ']', '”', '’'])
        .ends_with(['.', '!', '?', ';', ':', '。', '！', '？', '；'])
}

#[cfg(test)]
mod tests;
