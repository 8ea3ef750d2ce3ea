//! Which addresses a document keeps.

/// Whether an address may be a link: absolute, and of a scheme that runs nothing.
pub fn is_safe_url(url: &str) -> bool {
    let scheme = url.split(':').next().unwrap_or_default();
    url.len() > scheme.len() + 1
        && ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
        && !url.chars().any(|c| c.is_control() || c.is_whitespace())
}

/// Whether a link or image keeps its address: it is relative, or of a scheme that is safe to follow.
pub(crate) fn is_kept_url(url: &str) -> bool {
    let scheme = url.find([':', '/', '?', '#']).filter(|at| url[*at..].starts_with(':'));
    !url.is_empty()
        && !url.chars().any(|c| c.is_control() || c == '\u{2028}')
        && (scheme.is_none() || is_safe_url(url))
}
