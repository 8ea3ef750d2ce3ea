//! Replaces surrogates that are not part of a pair in JSON texts. JavaScript and Python write them when a text was cut
//! within a character, and the parser refuses the whole document for one of them.

use std::borrow::Cow;

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Replaces every `\uD800`–`\uDFFF` that is not part of a pair by `\ufffd`, which has the same length. Nothing else
/// changes: escaped backslashes, as in `\\ud800`, are not the start of an escape.
pub fn replace_lone_surrogates(json: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = find_lone(json, from) {
        json[at..at + ESCAPE].copy_from_slice(br"\ufffd");
        from = at + ESCAPE;
    }
}

/// The same text, copied only if something is replaced.
pub fn without_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    if find_lone(json, 0).is_none() {
        return Cow::Borrowed(json);
    }
    let mut replaced = json.to_vec();
    replace_lone_surrogates(&mut replaced);
    Cow::Owned(replaced)
}

/// The first surrogate at or after a position outside of an escape that is not part of a pair.
fn find_lone(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'\\', json.get(at..)?)?;
        match surrogate_at(json, at) {
            None => at += 2,
            Some(Half::Low) => return Some(at),
            Some(Half::High) => match surrogate_at(json, at + ESCAPE) {
                Some(Half::Low) => at += 2 * ESCAPE,
                _ => return Some(at),
            },
        }
    }
}

enum Half {
    High,
    Low,
}

/// The surrogate whose escape begins at a backslash.
fn surrogate_at(json: &[u8], at: usize) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', second, third, fourth] = json.get(at..at + ESCAPE)? else {
        return None;
    };
    if !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() {
        return None;
    }
    match second.to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some(Half::High),
        b'c'..=b'f' => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
