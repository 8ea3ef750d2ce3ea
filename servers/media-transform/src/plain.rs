//! Texts without marks, and tables of values, as documents.

use markup::{Block, Document, Section, escape_line, from_markdown};

/// A text whose lines stay lines. Files without a declared type can be Markdown: those that use its marks are read so.
pub(crate) fn of_text(text: &str) -> Document {
    if has_marks(text) {
        return from_markdown(text);
    }
    let mut markdown = String::with_capacity(text.len() + 64);
    let mut before_is_text = false;
    for line in text.lines().map(str::trim) {
        let is_text = !line.is_empty();
        markdown.push_str(match (before_is_text, is_text) {
            (true, true) => "\\\n",
            _ => "\n",
        });
        markdown.push_str(&escape_line(line));
        before_is_text = is_text;
    }
    from_markdown(&markdown)
}

/// Whether a line is written in Markdown only.
fn has_marks(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        let is_heading = (1..=6).contains(&level) && heading.starts_with(' ');
        let is_ruled = line.starts_with('|') && line.contains("---");
        is_heading
            || is_ruled
            || line.starts_with("```")
            || line.contains("](http")
            || line.matches("**").count() >= 2
    })
}

/// Values as a table whose first row is its head.
pub(crate) fn of_csv(text: &str) -> Document {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let cell = |value: &str| escape_line(&value.split_whitespace().collect::<Vec<_>>().join(" "));
    let rows = reader.records().flatten();
    let mut rows: Vec<Vec<String>> = rows.map(|row| row.iter().map(cell).collect()).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in &mut rows {
        row.resize(width, String::new());
    }
    let mut rows = rows.into_iter();
    let Some(header) = rows.next() else { return Document::default() };
    let table =
        Block::Table { header, rows: rows.collect(), alignments: vec![Default::default(); width] };
    let section = Section { level: 1, blocks: vec![table], ..Section::default() };
    Document { sections: vec![section], ..Document::default() }
}

/// What separates the values: the mark that is most frequent in the first line.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    let count = |mark: u8| first.bytes().filter(|byte| *byte == mark).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|mark| count(*mark)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use markup::{to_markdown, to_text};

    use super::*;

    #[test]
    fn lines_and_marks_of_a_plain_text_stay() {
        let document = of_text("Anna Becker\nHauptstr. 5\n\n2*3*4 = 24 <b> _x_\n1. no list");
        let expected = "Anna Becker\nHauptstr. 5\n\n2*3*4 = 24 <b> _x_\n1. no list\n";
        assert_eq!(to_text(&document), expected);
        assert_eq!(of_text("# Title\n\n**bold**").title, "Title");
    }

    #[test]
    fn values_are_a_table() {
        for text in ["a,b\n\"1, *2*\",x\n3\n", "a;b\n1, *2*;x\n3\n", "\u{feff}a\tb\n1, *2*\tx\n3"] {
            let markdown = to_markdown(&of_csv(text));
            assert_eq!(
                markdown, "| a | b |\n| --- | --- |\n| 1, \\*2\\* | x |\n| 3 |  |\n",
                "{text}"
            );
        }
        assert_eq!(of_csv(""), Document::default());
    }
}
