//! Reads the result page with a small tolerant scanner: links with the class `result__a` and the text of
//! `result__snippet`. It builds no tree and takes time linear in the page.

use std::borrow::Cow;

use url::Url;

use crate::providers::Hit;
use crate::text::{clip, decode_entities, plain};

/// How much of a page, of a tag and of a link's text is looked at.
const MAX_PAGE_BYTES: usize = 1_000_000;
const MAX_TAG_BYTES: usize = 4_000;
const MAX_TEXT_BYTES: usize = 20_000;
/// How many links are looked at.
const MAX_LINKS: usize = 200;

/// The results of a page, without advertisements.
pub(super) fn results(html: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let (mut skipped, mut links) = (false, 0);
    let mut rest = clip(html, MAX_PAGE_BYTES);
    while links < MAX_LINKS
        && let Some(start) = rest.find('<')
    {
        rest = &rest[start + 1..];
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let Some(end) = end_of_tag(clip(rest, MAX_TAG_BYTES)) else { continue };
        let tag = &rest[..end];
        let name_end = tag.find(|c: char| c.is_ascii_whitespace()).unwrap_or(tag.len());
        let name = &tag[..name_end];
        let classes = attribute(tag, "class").unwrap_or_default();
        let has = |class: &str| classes.split_ascii_whitespace().any(|one| one == class);
        let is_title = name.eq_ignore_ascii_case("a") && has("result__a");
        let is_snippet = has("result__snippet");
        rest = &rest[end + 1..];
        if !is_title && !is_snippet {
            continue;
        }
        links += 1;
        let close = find_close(clip(rest, MAX_TEXT_BYTES), name).unwrap_or(0);
        let text = plain(&rest[..close]);
        rest = &rest[close..];
        if is_title {
            let url = attribute(tag, "href").and_then(|href| target(&href));
            skipped = url.is_none();
            hits.extend(url.map(|url| Hit { title: text, url, ..Hit::default() }));
        } else if !skipped && let Some(hit) = hits.last_mut().filter(|hit| hit.snippet.is_empty()) {
            hit.snippet = text;
        }
    }
    hits
}

/// The position of the `>` that ends a tag, quoted values aside.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            _ => {}
        }
    }
    // A quotation mark without its partner: the next `>` has to do.
    text.find('>')
}

/// The position of the closing tag of `name`.
fn find_close(text: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let start = from + at;
        let after = &text.as_bytes()[start + 2..];
        if after.len() >= name.len() && after[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
            return Some(start);
        }
        from = start + 2;
    }
    None
}

/// The value of an attribute, decoded.
fn attribute(tag: &str, name_sought: &str) -> Option<String> {
    let mut rest = tag.split_once(|c: char| c.is_ascii_whitespace())?.1;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        if rest.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
            (value, rest) = match quote {
                Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                None => {
                    let end = after.find(|c: char| c.is_ascii_whitespace()).unwrap_or(after.len());
                    after.split_at(end)
                }
            };
        } else if name.is_empty() {
            return None;
        }
        if name.eq_ignore_ascii_case(name_sought) {
            return Some(decode_entities(value));
        }
    }
}

/// Where a link of the page leads: DuckDuckGo's own redirect names the target in `uddg`. Advertisements lead nowhere.
fn target(href: &str) -> Option<String> {
    let absolute: Cow<'_, str> =
        if href.starts_with("//") { format!("https:{href}").into() } else { href.into() };
    let url = Url::parse("https://duckduckgo.com/").ok()?.join(&absolute).ok()?;
    let own = url
        .host_str()
        .is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !own {
        return Some(url.into());
    }
    let (_, target) = url.query_pairs().find(|(name, _)| name == "uddg")?;
    let target = Url::parse(&target).ok()?;
    let is_ad = target.host_str().is_some_and(|host| host.ends_with("duckduckgo.com"))
        && target.path() == "/y.js";
    (!is_ad).then(|| target.into())
}

#[cfg(test)]
mod tests;
