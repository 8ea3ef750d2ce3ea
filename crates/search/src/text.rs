//! Text of providers, made fit for callers: without markup, invisible characters and runs of white space.

use proto::clean;

/// The most bytes of a snippet or an abstract.
const MAX_BYTES: usize = 10_000;

/// A plain text on one line, without invisible characters.
pub fn tidy(text: &str) -> String {
    let text = clip(text, MAX_BYTES * 4);
    let (clean, _) = clean::text(text);
    let mut line = String::with_capacity(clean.len());
    for word in clean.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    clip(&line, MAX_BYTES).to_owned()
}

/// The text of a piece of HTML or XML: tags removed, entities decoded, on one line.
pub fn plain(markup: &str) -> String {
    tidy(&decode_entities(&strip_tags(clip(markup, MAX_BYTES * 10))))
}

/// The longest start of a text with at most so many bytes.
pub fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn strip_tags(markup: &str) -> String {
    let mut text = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        let tag = &rest[start + 1..];
        let is_tag = tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        match tag.find('>').filter(|_| is_tag) {
            Some(end) => {
                if ends_block(&tag[..end]) {
                    text.push(' ');
                }
                rest = &tag[end + 1..];
            }
            None => {
                text.push('<');
                rest = tag;
            }
        }
    }
    text.push_str(rest);
    text
}

/// Whether a tag separates words, as `</p>` and `<br>` do and `<b>` does not.
fn ends_block(tag: &str) -> bool {
    let name = tag.trim_start_matches('/');
    let name = name.rsplit_once(':').map_or(name, |(_, local)| local);
    let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
    matches!(name.to_ascii_lowercase().as_str(), "p" | "br" | "div" | "li" | "title" | "sec" | "td")
}

/// Decodes numeric entities and the named ones that search pages use.
pub(crate) fn decode_entities(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        decoded.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let entity = after.find(';').filter(|end| *end <= 10).map(|end| &after[..end]);
        match entity.and_then(character) {
            Some(character) => {
                decoded.push(character);
                rest = &after[entity.map_or(0, str::len) + 1..];
            }
            None => {
                decoded.push('&');
                rest = after;
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

fn character(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code);
    }
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "middot" => '·',
        "raquo" => '»',
        "laquo" => '«',
        "copy" => '©',
        "reg" => '®',
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
