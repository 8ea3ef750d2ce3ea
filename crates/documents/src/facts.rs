//! What a document is apart from its text.

use extraction::facts::{Facts, OutlineItem};
use extraction::{Form, Limits, Options, Unreadable};

use crate::extract::extract;
use crate::{office, sniff};

/// The most headings of an outline.
const MOST: usize = 2_000;

/// Reads what a document is apart from its text; its headings are the outline where it has no other.
pub fn facts(bytes: Vec<u8>, options: &Options<'_>, limits: &Limits) -> Result<Facts, Unreadable> {
    let mut facts = match options.media_type {
        sniff::PDF => return pdf::facts(bytes),
        sniff::DOCX | sniff::PPTX | sniff::XLSX => office::facts(&bytes, limits)?,
        _ => Facts::default(),
    };
    if options.media_type != sniff::XLSX {
        let text = extract(bytes, &options.with_form(Form::Markdown), limits)?;
        let mut pages = text.pages.iter().enumerate().peekable();
        let (mut at, mut page) = (0, None);
        for line in text.text.split_inclusive('\n') {
            while let Some((number, _)) = pages.next_if(|(_, start)| **start <= at) {
                page = Some(number + 1);
            }
            at += line.len();
            facts.outline.extend(heading(line, page));
            if facts.outline.len() >= MOST {
                break;
            }
        }
    }
    Ok(facts)
}

/// The heading of a line of Markdown.
fn heading(line: &str, page: Option<usize>) -> Option<OutlineItem> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[level..].strip_prefix(' ').filter(|_| (1..=6).contains(&level))?.trim();
    let title = title.replace('\\', "");
    (!title.is_empty()).then_some(OutlineItem { level, title, page })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_html_are_the_outline() {
        let html = b"<h1>One</h1><p>Text</p><h2>Two</h2><p># no heading</p>";
        let options = Options::new("text/html");
        let facts = facts(html.to_vec(), &options, &Limits::default()).expect("it is readable");
        let outline: Vec<_> =
            facts.outline.iter().map(|item| (item.level, item.title.as_str())).collect();
        assert_eq!(outline, [(1, "One"), (2, "Two")]);
    }
}
