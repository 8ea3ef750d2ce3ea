//! Limits the attributes of a tag: html5ever compares each with all before it, so a tag of a million would take minutes.

use std::borrow::Cow;

/// The most attributes of one tag that are kept.
pub(super) const MOST: usize = 256;

/// Elements whose content has no tags, up to their own end tag.
const RAW: [&str; 9] =
    ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];

/// The page without the attributes of a tag that come after the first [`MOST`].
pub(super) fn limit(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let mut kept: Option<String> = None;
    let (mut copied, mut at) = (0, 0);
    while let Some(start) = next(bytes, at, b'<') {
        at = match bytes.get(start + 1) {
            Some(b'!') if bytes[start..].starts_with(b"<!--") => {
                html[start + 4..].find("-->").map_or(bytes.len(), |end| start + 4 + end + 3)
            }
            Some(b'!' | b'?') => next(bytes, start, b'>').map_or(bytes.len(), |end| end + 1),
            Some(b'/' | b'a'..=b'z' | b'A'..=b'Z') => {
                let tag = Tag::read(bytes, start + 1);
                if let Some(excess) = tag.excess {
                    let kept = kept.get_or_insert_with(|| String::with_capacity(html.len()));
                    kept.push_str(&html[copied..excess]);
                    copied = tag.close.unwrap_or(bytes.len());
                }
                after_raw(html, start + 1, tag.close.map_or(bytes.len(), |close| close + 1))
            }
            _ => start + 1,
        };
    }
    match kept {
        Some(mut kept) => {
            kept.push_str(&html[copied..]);
            kept.into()
        }
        None => html.into(),
    }
}

fn next(bytes: &[u8], from: usize, byte: u8) -> Option<usize> {
    bytes.get(from..)?.iter().position(|found| *found == byte).map(|found| from + found)
}

/// Where the content of a raw element ends whose start tag is from `name` to `end`; `end` for others.
fn after_raw(html: &str, name: usize, end: usize) -> usize {
    let bytes = html.as_bytes();
    let length = bytes[name..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = &html[name..name + length];
    if !RAW.iter().any(|raw| raw.eq_ignore_ascii_case(name)) {
        return end;
    }
    let mut at = end;
    while let Some(start) = next(bytes, at, b'<') {
        let closes = bytes.get(start + 1) == Some(&b'/')
            && bytes
                .get(start + 2..start + 2 + length)
                .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        if closes {
            return start;
        }
        at = start + 1;
    }
    bytes.len()
}

/// The extent of a tag.
struct Tag {
    /// Where its `>` is.
    close: Option<usize>,
    /// Where the attributes begin that are too many.
    excess: Option<usize>,
}

impl Tag {
    /// Reads a tag as browsers do, from its name on.
    fn read(bytes: &[u8], name: usize) -> Self {
        let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == b'/';
        let skip = |from: usize, until: &dyn Fn(u8) -> bool| {
            let rest = bytes.get(from..).unwrap_or_default();
            from + rest.iter().position(|byte| until(*byte)).unwrap_or(rest.len())
        };
        let mut tag = Self { close: None, excess: None };
        // An end tag begins with a slash.
        let mut at = skip(name + 1, &|byte| is_space(byte) || byte == b'>');
        let mut attributes = 0;
        loop {
            at = skip(at, &|byte| !is_space(byte));
            match bytes.get(at) {
                None => return tag,
                Some(b'>') => {
                    tag.close = Some(at);
                    return tag;
                }
                Some(_) => {}
            }
            attributes += 1;
            if attributes > MOST && tag.excess.is_none() {
                tag.excess = Some(at);
            }
            // A name may begin with `=`.
            at = skip(at + 1, &|byte| is_space(byte) || matches!(byte, b'>' | b'='));
            let value = skip(at, &|byte| !byte.is_ascii_whitespace());
            if bytes.get(value) != Some(&b'=') {
                continue;
            }
            at = skip(value + 1, &|byte| !byte.is_ascii_whitespace());
            at = match bytes.get(at) {
                Some(quote @ (b'"' | b'\'')) => {
                    next(bytes, at + 1, *quote).map_or(bytes.len(), |end| end + 1)
                }
                _ => skip(at, &|byte| byte.is_ascii_whitespace() || byte == b'>'),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(count: usize) -> String {
        (0..count).map(|number| format!(" a{number}='<{number}>'")).collect()
    }

    #[test]
    fn usual_pages_stay_as_they_are() {
        let many = attributes(MOST);
        for html in [
            "",
            "a < b <",
            "<p class=x>text</p>",
            "<!-- <p> --><?php ?><!doctype html>",
            "<a b='>' c=\">\" d=/>e</a>",
            &format!("<p{many}>text</p>"),
            &format!("<script>if (a<b{}) {{}}</script>", attributes(2 * MOST)),
            &format!("<textarea><p{}></textarea>", attributes(2 * MOST)),
        ] {
            assert!(matches!(limit(html), Cow::Borrowed(_)), "{html}");
        }
    }

    #[test]
    fn attributes_beyond_the_limit_are_removed() {
        let (many, few) = (attributes(MOST + 9), attributes(MOST));
        let html = format!("<i>ä</i><p{many}>text<b{many}/>more</p{many}>end");
        let expected = format!("<i>ä</i><p{few} >text<b{few} >more</p{few} >end");
        assert_eq!(limit(&html), expected);
        // A tag without an end is dropped by browsers.
        let open = format!("text<p{many}");
        assert!(limit(&open).len() < open.len());
        let names: String = (0..MOST + 1).map(|number| format!(" <{number}")).collect();
        assert!(limit(&format!("<p{names}>x")).ends_with(&format!("<{} >x", MOST - 1)));
    }
}
