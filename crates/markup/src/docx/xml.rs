//! Text in XML.

/// Text as the content of an element or a quoted attribute, without the characters that XML cannot hold.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_allowed(*c)) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'))
}

/// Text as elements of a run: tabs and line breaks are elements of their own.
pub(super) fn text_elements(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 40);
    for (at, line) in text.replace("\r\n", "\n").split(['\n', '\r', '\u{b}']).enumerate() {
        if at > 0 {
            out.push_str("<w:br/>");
        }
        for (at, part) in line.split('\t').enumerate() {
            if at > 0 {
                out.push_str("<w:tab/>");
            }
            if !part.is_empty() {
                out.push_str("<w:t xml:space=\"preserve\">");
                out.push_str(&escape(part));
                out.push_str("</w:t>");
            }
        }
    }
    out
}
