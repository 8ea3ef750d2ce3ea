//! What several steps of the research flow do with texts.

/// Zero-width and direction characters, which are not white space.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a text has a visible letter or digit, in any script.
pub fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// The text with its first character as a capital. `iPhone` and `mRNA` stay as they are.
pub fn capitalize(text: &str) -> String {
    let first_word = text.split(' ').next().unwrap_or_default();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) if !first_word.chars().skip(1).any(char::is_uppercase) => {
            first.to_uppercase().chain(characters).collect()
        }
        _ => text.to_owned(),
    }
}

/// Where a text has these words, whatever whitespace is between them.
pub fn verbatim<'a>(text: &'a str, quote: &str) -> Option<(usize, &'a str)> {
    let mut joined = String::with_capacity(text.len());
    // For each byte of `joined`, its place in `text`.
    let mut places = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c != ' ' || !joined.ends_with(' ') {
            joined.push(c);
            places.resize(joined.len(), at);
        }
    }
    let start = joined.find(quote)?;
    let (from, last) = (places[start], places[start + quote.len() - 1]);
    let end = last + text[last..].chars().next().map_or(0, char::len_utf8);
    Some((from, &text[from..end]))
}
