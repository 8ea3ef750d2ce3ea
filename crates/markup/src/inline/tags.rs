//! Raw HTML in Markdown: its text is kept, its tags are not.

/// Elements whose content is no text.
const HIDDEN: [&str; 5] = ["script", "style", "template", "iframe", "noscript"];

/// Whether a tag is a line break.
pub(super) fn is_line_break(html: &str) -> bool {
    let name = html.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/').trim();
    name.eq_ignore_ascii_case("br")
}

/// The text between tags, without comments, scripts and styles; one pass over the input.
pub(crate) fn strip_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        let tag = &rest[open..];
        let end = if tag.starts_with("<!--") { "-->" } else { ">" };
        let Some(length) = tag.find(end).map(|at| at + end.len()) else {
            return text;
        };
        rest = &tag[length..];
        text.push(' ');
        if let Some(hidden) = hidden_element(&tag[1..length]) {
            rest = &rest[end_of(rest, hidden)..];
        }
    }
    text.push_str(rest);
    text
}

fn hidden_element(tag: &str) -> Option<&'static str> {
    let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    HIDDEN.into_iter().find(|hidden| name.eq_ignore_ascii_case(hidden))
}

/// Where the closing tag of an element begins, or the end of the text.
fn end_of(text: &str, name: &str) -> usize {
    let closes = |at: &usize| {
        let tag = &text.as_bytes()[at + 2..];
        tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
    };
    text.match_indices("</").map(|(at, _)| at).find(closes).unwrap_or(text.len())
}
