//! Escapes characters that Markdown would take for marks.

/// Where a text is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    /// Escape all punctuation, also where it is harmless.
    pub(super) all: bool,
    /// Within the brackets of a link or image.
    pub(super) in_link: bool,
    /// A link follows at once: an exclamation mark before it would make an image of it.
    pub(super) before_link: bool,
}

/// A text as inline Markdown that has no marks.
pub(crate) fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_escaped(&mut out, text, Context { all: false, in_link: false, before_link: false });
    out
}

pub(super) fn push_escaped(out: &mut String, text: &str, context: Context) {
    let mut previous = out.chars().next_back();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if needs_escape(c, previous, rest.as_str(), context) {
            out.push('\\');
        }
        out.push(c);
        previous = Some(c);
    }
}

fn needs_escape(c: char, previous: Option<char>, rest: &str, context: Context) -> bool {
    if context.all {
        return c.is_ascii_punctuation();
    }
    let next = rest.chars().next();
    match c {
        '\\' | '`' | '*' => true,
        '_' => {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !(word(previous) && word(next))
        }
        '[' => context.in_link,
        ']' => context.in_link || next == Some('('),
        '!' => context.before_link && rest.is_empty(),
        '<' => next.is_none_or(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
        '&' => next.is_some_and(|c| c == '#' || c.is_ascii_alphanumeric()) && names_entity(rest),
        _ => false,
    }
}

/// Whether an entity such as `&amp;` may follow an ampersand.
fn names_entity(rest: &str) -> bool {
    const LONGEST: usize = 40;
    let end = rest.bytes().take(LONGEST).position(|b| !(b == b'#' || b.is_ascii_alphanumeric()));
    end.is_some_and(|end| rest.as_bytes()[end] == b';')
}

pub(super) fn push_url(out: &mut String, url: &str) {
    let plain = |c: char| !(c.is_whitespace() || c.is_control() || "<>()\\".contains(c));
    if !url.is_empty() && url.chars().all(plain) {
        out.push_str(url);
        return;
    }
    out.push('<');
    for c in url.chars() {
        if "<>\\".contains(c) {
            out.push('\\');
        }
        out.push(if matches!(c, '\n' | '\r') { ' ' } else { c });
    }
    out.push('>');
}
