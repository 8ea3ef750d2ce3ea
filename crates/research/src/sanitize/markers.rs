//! Markers with which chat templates separate turns: in a page they can only be there to end the tool's answer early.

/// Markers that are written in one way; upper and lower case are one.
const FIXED: [&str; 10] = [
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<</sys>>",
    "<start_of_turn>",
    "<end_of_turn>",
    "[system_prompt]",
    "[/system_prompt]",
    "[available_tools]",
    "[/available_tools]",
];

/// The longest name between `<|` and `|>`.
const LONGEST_NAME: usize = 64;

/// Removes markers, also those that appear when others are removed.
pub(super) fn remove(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut removed = 0;
    for character in text.chars() {
        out.push(character);
        if !matches!(character, '>' | ']') {
            continue;
        }
        // Looking back from each end finds a marker that was split around another one.
        if let Some(start) = marker_at_end(&out) {
            out.truncate(start);
            removed += 1;
        }
    }
    (out, removed)
}

/// Where the marker at the end of a text begins.
fn marker_at_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let fixed = FIXED.iter().find(|marker| {
        let start = bytes.len().checked_sub(marker.len());
        start.is_some_and(|start| bytes[start..].eq_ignore_ascii_case(marker.as_bytes()))
    });
    if let Some(marker) = fixed {
        return Some(text.len() - marker.len());
    }
    // `<|name|>`, with the ASCII bar or the full-width one.
    let inner = text.strip_suffix("|>").or_else(|| text.strip_suffix("｜>"))?;
    let start = inner
        .char_indices()
        .rev()
        .take(LONGEST_NAME + 1)
        .take_while(|(_, character)| is_name(*character) || matches!(character, '|' | '｜'))
        .find(|(_, character)| matches!(character, '|' | '｜'))?
        .0;
    let named = inner[start..].chars().count() > 1;
    (named && inner[..start].ends_with('<')).then(|| start - 1)
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | ' ' | '▁' | '/' | ':' | '.')
}
