//! Titles of publications as search engines show them: with the id, the format or the site around them.

use super::source::is_arxiv_id;

/// A title without `[1706.03762]` or `[PDF]` before it and ` - PubMed` or ` | Nature` after it.
pub(super) fn undecorated(title: &str, host: &str) -> String {
    let mut text = title.trim();
    while let Some(rest) = without_label(text).or_else(|| without_site(text, host)) {
        text = rest.trim();
    }
    text.to_owned()
}

/// The text after a label: an id of arXiv, or a format in capitals.
fn without_label(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("(PDF) ") {
        return Some(rest);
    }
    let (label, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let is_format = label.len() >= 3 && label.bytes().all(|byte| byte.is_ascii_uppercase());
    (is_format || is_arxiv_id(label)).then_some(rest)
}

/// The text without its last part, or without its first, if that names the site.
fn without_site<'a>(text: &'a str, host: &str) -> Option<&'a str> {
    let labels = || {
        let labels = host.rsplit_once('.').map_or("", |(labels, _)| labels);
        labels.split('.').filter(|label| label.len() >= 3)
    };
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let contains_label = |part: &str| labels().any(|label| plain(part).contains(label));
    let begins_label = |part: &str| {
        let part = plain(part);
        part.len() >= 3 && labels().any(|label| label.starts_with(&part))
    };
    // `IEEE Conference Publication`: titles have hardly ever bars of their own.
    if let Some((front, last)) = text.rsplit_once(" | ")
        && (contains_label(last) || begins_label(last))
    {
        return Some(front);
    }
    if let Some((first, back)) = text.split_once(" | ")
        && begins_label(first)
    {
        return Some(back);
    }
    // Titles have dashes of their own: only `Semantic Scholar`, `SpringerLink` and `arXiv.org e-Print archive`.
    let names_site = |part: &str| {
        let word = part.split(' ').next().unwrap_or_default();
        labels().any(|label| plain(part) == label)
            || (word == part || word.contains('.')) && contains_label(word)
    };
    let dashed = [" - ", " – ", " — "].iter().filter_map(|dash| text.rsplit_once(dash));
    dashed.filter(|(_, last)| names_site(last)).map(|(front, _)| front).next()
}

#[cfg(test)]
mod tests;
