//! Targets of links and images that are code or data instead of an address.

/// Schemes that no link in a text for models needs.
const SCHEMES: [&str; 3] = ["javascript:", "data:", "vbscript:"];

/// Removes targets; the text of a link stays.
pub(super) fn remove(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut removed = 0;
    let mut rest = text;
    while let Some(at) = rest.find(['(', '<', ':', '=']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let taken = match from.as_bytes()[0] {
            b'(' if out.ends_with(']') => inline(&mut out, from),
            b'<' => autolink(from),
            b':' if out.ends_with(']') => definition(&mut out, from),
            b'=' => attribute(&mut out, from),
            _ => None,
        };
        if let Some(length) = taken {
            removed += 1;
            rest = &from[length..];
        } else {
            out.push_str(&from[..1]);
            rest = &from[1..];
        }
    }
    out.push_str(rest);
    (out, removed)
}

/// Whether a target begins with one of the schemes, as a browser reads it: without blanks, in any case, entities decoded.
fn is_unsafe(target: &str) -> bool {
    let mut plain = String::new();
    let mut characters = target.chars();
    while let Some(character) = characters.next() {
        if character.is_whitespace() || character == '\\' {
            continue;
        }
        if character == '&' {
            let rest = characters.as_str();
            let end = rest.char_indices().take(12).find(|(_, c)| *c == ';').map(|(at, _)| at);
            if let Some(end) = end {
                plain.extend(entity(&rest[..end]));
                characters = rest[end + 1..].chars();
                continue;
            }
        }
        plain.push(character.to_ascii_lowercase());
        if plain.len() > SCHEMES[0].len() {
            break;
        }
    }
    SCHEMES.iter().any(|scheme| plain.starts_with(scheme))
}

/// The character of an entity that could spell a scheme.
fn entity(name: &str) -> Option<char> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "colon" => return Some(':'),
        "tab" | "newline" => return None,
        _ => {}
    }
    let digits = name.strip_prefix('#')?;
    let code = match digits.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let character = char::from_u32(code.ok()?)?.to_ascii_lowercase();
    (!character.is_whitespace()).then_some(character)
}

/// `[text](javascript:…)` and `![alt](data:…)`: the text stays. `out` ends with the bracket before the target.
fn inline(out: &mut String, from: &str) -> Option<usize> {
    let target = from[1..].trim_start_matches(['<', ' ', '\n']);
    if !is_unsafe(target) {
        return None;
    }
    if let Some(open) = opening_bracket(out) {
        out.pop();
        out.remove(open);
        if out[..open].ends_with('!') {
            out.remove(open - 1);
        }
    }
    Some(closing(from).unwrap_or_else(|| end_of_line(from)))
}

/// `<javascript:…>`.
fn autolink(from: &str) -> Option<usize> {
    is_unsafe(&from[1..]).then(|| from.find('>').map_or_else(|| end_of_line(from), |end| end + 1))
}

/// `[name]: javascript:…`, a whole line.
fn definition(out: &mut String, from: &str) -> Option<usize> {
    if !from[1..].starts_with(' ') || !is_unsafe(from[1..].trim_start_matches([' ', '<'])) {
        return None;
    }
    let recent = recent(out);
    let line = recent.rsplit('\n').next().unwrap_or_default();
    let start = out.len() - line.len();
    line.trim_start().starts_with('[').then(|| {
        out.truncate(start);
        end_of_line(from)
    })
}

/// `href="javascript:…"` and other attributes of HTML within Markdown.
fn attribute(out: &mut String, from: &str) -> Option<usize> {
    let value = from[1..].trim_start();
    let bare = value.trim_start_matches(['"', '\'']);
    if !is_unsafe(bare) {
        return None;
    }
    let recent = recent(out);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name = recent.len() - recent.trim_end_matches(is_name).len();
    // Text such as `x = data:` is left alone: an attribute is within a tag.
    let in_tag = match (recent.rfind('<'), recent.rfind('>')) {
        (Some(open), Some(close)) => open > close,
        (open, _) => open.is_some(),
    };
    if name == 0 || !in_tag {
        return None;
    }
    out.truncate(out.len() - name);
    let skipped = from.len() - value.len();
    let end = match value.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        Some(quote) => value[1..].find(quote).map(|at| at + 2),
        None => value.find(|c: char| c.is_whitespace() || c == '>'),
    };
    Some(skipped + end.unwrap_or_else(|| end_of_line(value)))
}

/// The end of a text that is examined, so that a hostile page takes no more than linear time.
fn recent(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(4_096))..]
}

/// Where the parenthesis that begins a text is closed. A target has few lines.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut lines) = (0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '\n' => lines += 1,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
        if lines > 3 {
            break;
        }
    }
    None
}

/// The bracket that the last character of a text closes.
fn opening_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, character) in text.char_indices().rev().take(1_000) {
        match character {
            ']' => depth += 1,
            '[' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn end_of_line(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}
