//! Inline Markdown as runs of text for templates.

use std::collections::BTreeMap;

use markup::{Style, Token, end_of_label, is_safe_url, parse_inline};
use serde::Serialize;

/// A piece of a line: several spans below one link, or below none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Run {
    /// `http`, `https` or `mailto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    pub spans: Vec<Span>,
}

/// Text of one look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Span {
    pub text: String,
    #[serde(skip_serializing_if = "is_false")]
    pub strong: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub emphasis: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub code: bool,
    /// A line break; the text is empty.
    #[serde(skip_serializing_if = "is_false")]
    pub line_break: bool,
    /// The number of a footnote whose mark is here; the text is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footnote: Option<usize>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Makes runs of inline Markdown.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    /// The numbers of the document's footnotes by their labels.
    pub footnotes: BTreeMap<String, usize>,
    /// All text that was seen, for the warning about missing glyphs.
    pub seen: String,
}

impl Inline {
    /// The runs of a text.
    pub(crate) fn runs(&mut self, text: &str) -> Vec<Run> {
        let mut runs = vec![Run::default()];
        let (mut strong, mut emphasis) = (0_usize, 0_usize);
        for token in parse_inline(text) {
            let look = Span { strong: strong > 0, emphasis: emphasis > 0, ..Span::default() };
            match token {
                Token::Text(text) => self.text(&mut runs, &text, &look),
                Token::Code(text) => {
                    let text = self.clean(&text);
                    push(&mut runs, Span { text, code: true, ..look });
                }
                Token::Break => push(&mut runs, Span { line_break: true, ..Span::default() }),
                Token::Begin(Style::Strong) => strong += 1,
                Token::Begin(Style::Emphasis) => emphasis += 1,
                Token::End(Style::Strong) => strong = strong.saturating_sub(1),
                Token::End(Style::Emphasis) => emphasis = emphasis.saturating_sub(1),
                Token::BeginLink(url) => {
                    let url = Some(url).filter(|url| is_safe_url(url));
                    runs.push(Run { url, spans: Vec::new() });
                }
                Token::EndLink => runs.push(Run::default()),
                // Pictures within a line are shown by their text; those of a block are drawn.
                Token::Image { alt, .. } => {
                    let text = self.clean(&alt);
                    push(&mut runs, Span { text, ..look });
                }
            }
        }
        runs.retain(|run| !run.spans.is_empty());
        runs
    }

    /// Text in which marks of footnotes are found.
    fn text(&mut self, runs: &mut [Run], text: &str, look: &Span) {
        let mut rest = text;
        let mut from = 0;
        while let Some(at) = rest[from..].find("[^").map(|at| at + from) {
            let label = &rest[at + 2..];
            let found = end_of_label(label)
                .and_then(|end| self.footnotes.get(&label[..end]).map(|number| (end, *number)));
            let Some((end, number)) = found else {
                from = at + 2;
                continue;
            };
            let before = self.clean(&rest[..at]);
            push(runs, Span { text: before, ..look.clone() });
            push(runs, Span { footnote: Some(number), ..Span::default() });
            rest = &label[end + 1..];
            from = 0;
        }
        let text = self.clean(rest);
        push(runs, Span { text, ..look.clone() });
    }

    /// A text without control characters, which no font has.
    pub(crate) fn clean(&mut self, text: &str) -> String {
        let text: String = text.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        self.seen.push_str(&text);
        text
    }
}

fn push(runs: &mut [Run], span: Span) {
    let empty = span.text.is_empty() && !span.line_break && span.footnote.is_none();
    if let (false, Some(run)) = (empty, runs.last_mut()) {
        run.spans.push(span);
    }
}
