//! The report as HTML. The crate `markup` escapes all text and keeps links to web addresses only.

use markup::{Document, from_markdown, to_html_body};
use maud::{Markup, PreEscaped};

use crate::words::inert;

/// How far headings are lowered: the page has its own title.
const LOWERED: u8 = 1;

/// Renders Markdown below the title of the page.
pub(super) fn render(markdown: &str) -> Markup {
    // Sources are untrusted: characters that hide or reorder text are shown.
    PreEscaped(strip::run_blocking(markdown.len(), || {
        let mut document = from_markdown(&inert(markdown));
        lower(&mut document);
        to_html_body(&document)
    }))
}

/// Makes the title a section, and every heading one level smaller.
fn lower(document: &mut Document) {
    for section in &mut document.sections {
        section.level = (section.level + LOWERED).min(6);
    }
    let heading = std::mem::take(&mut document.title);
    if !heading.is_empty() {
        let level = 1 + LOWERED;
        document.sections.insert(0, markup::Section { heading, level, blocks: Vec::new() });
    }
}

/// Whether a report lists its references itself.
pub(super) fn has_references(markdown: &str) -> bool {
    let headings = markdown.lines().filter_map(|line| line.strip_prefix('#'));
    headings
        .map(|heading| heading.trim_start_matches('#').trim())
        .any(|heading| matches!(heading, "References" | "Bibliography" | "Sources"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_rendered_without_markup_of_their_own() {
        let report = "# Heat <script>\n\nA [link](javascript:alert(1)) and <img src=x onerror=y>.\n\n## Causes\n\n- one\n";
        let html = render(report).into_string();
        assert!(html.contains("<h2>Heat"), "{html}");
        assert!(html.contains("<h3>Causes</h3>") && html.contains("<li>one"), "{html}");
        for bad in ["<script", "<img", "href=\"javascript:", "<h1"] {
            assert!(!html.contains(bad), "{bad}: {html}");
        }
    }

    #[test]
    fn a_list_of_references_is_found_by_its_heading() {
        assert!(has_references("# A\n\n## References\n\n1. x\n"));
        assert!(!has_references("# A\n\nReferences are missing.\n"));
    }
}
