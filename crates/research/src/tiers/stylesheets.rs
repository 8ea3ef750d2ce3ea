//! Whether a page has style sheets that were not read with it.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// What readers of a page without its style sheets are to know.
pub(super) const WARNING: &str =
    "The style sheets that the page links to were not read: text that they hide may be included.";

static LINKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let relation = r#"("[^">]*\bstylesheet\b|'[^'>]*\bstylesheet\b|stylesheet\b)"#;
    Regex::new(&format!(r"(?i-u)<link\s[^>]*\brel\s*=\s*{relation}|@import\b")).ok()
});

/// Whether a page links to style sheets.
pub(super) fn are_linked(html: &[u8]) -> bool {
    LINKED.as_ref().is_some_and(|linked| linked.is_match(html))
}

#[cfg(test)]
mod tests {
    use super::are_linked;

    #[test]
    fn links_and_imports_are_found() {
        for html in [
            "<link rel=stylesheet href=a.css>",
            "<LINK href='a.css' REL=\"preload stylesheet\">",
            "<style>@import url(a.css);</style>",
        ] {
            assert!(are_linked(html.as_bytes()), "{html}");
        }
        for html in ["<link rel=icon href=stylesheet>", "<style>p { color: red }</style>", ""] {
            assert!(!are_linked(html.as_bytes()), "{html}");
        }
    }
}
