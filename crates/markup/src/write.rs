//! Document → Markdown.

use crate::inline::{self, escape_text, longest_run};
use crate::model::{Alignment, Block, Document, Item, Reference};
use crate::normalize::normalize_document;

/// Writes a document as CommonMark with tables and footnotes.
pub fn to_markdown(document: &Document) -> String {
    let document = normalize_document(document);
    let mut parts = Vec::new();
    if !document.title.is_empty() {
        parts.push(heading(1, &document.title));
    }
    for section in &document.sections {
        if !section.heading.is_empty() {
            parts.push(heading(section.level, &section.heading));
        }
        parts.extend(section.blocks.iter().map(write_block));
    }
    if !document.references.is_empty() {
        parts.push("## References".to_owned());
        let lines = document.references.iter().enumerate().map(|(at, reference)| {
            let text = inline::normalize(&line_of(reference), false);
            format!("{}. {}", at + 1, guard_lines(&text, "   "))
        });
        parts.push(lines.collect::<Vec<_>>().join("\n"));
    }
    let mut text = parts.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A text as one line of Markdown that shows it as it is: neither inline marks nor the beginning of a block.
pub fn escape_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 8);
    guard_line(&mut line, &escape_text(text));
    line
}

/// A reference as a line of inline Markdown.
pub fn line_of(reference: &Reference) -> String {
    if !reference.text.trim().is_empty() {
        return reference.text.clone();
    }
    let mut parts = Vec::new();
    let mut sentence = |text: &str| {
        let text = text.trim();
        let ends = text.ends_with(['.', '!', '?', '…']);
        parts.push(format!("{}{}", escape_text(text), if ends { "" } else { "." }));
    };
    if !reference.authors.is_empty() {
        sentence(&join_names(&reference.authors));
    }
    sentence(&format!("({})", reference.year.as_deref().unwrap_or("n.d.")));
    for part in [&reference.title, &reference.container].into_iter().flatten() {
        sentence(part);
    }
    let doi = reference.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    parts.extend(doi.or_else(|| reference.url.clone()).map(|link| escape_text(&link)));
    parts.join(" ")
}

fn join_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [first, last] => format!("{first}, & {last}"),
        [first @ .., last] => format!("{}, & {last}", first.join(", ")),
    }
}

fn heading(level: u8, text: &str) -> String {
    let marks = "#".repeat(usize::from(level));
    match text.strip_suffix('#') {
        // Marks at the end would close the heading.
        Some(rest) if !rest.ends_with('\\') => format!("{marks} {rest}\\#"),
        _ => format!("{marks} {text}"),
    }
}

/// One block, without an empty line after it.
pub(crate) fn write_block(block: &Block) -> String {
    match block {
        Block::Paragraph { text } => guard_lines(text, ""),
        Block::Quote { text } => {
            let text: Vec<_> = text.split("\n\n").map(|part| guard_lines(part, "")).collect();
            let lines = text.join("\n\n");
            let quoted = lines.split('\n').map(|line| format!("> {line}").trim_end().to_owned());
            quoted.collect::<Vec<_>>().join("\n")
        }
        Block::List { items } => write_list(items),
        Block::Code { language, text } => {
            let fence = "`".repeat((longest_run(text, '`') + 1).max(3));
            let end = if text.is_empty() { "" } else { "\n" };
            format!("{fence}{language}\n{text}{end}{fence}")
        }
        Block::Table { header, rows, alignments } => {
            let mut lines = vec![row(header), delimiters(alignments)];
            lines.extend(rows.iter().map(|cells| row(cells)));
            lines.join("\n")
        }
        Block::Image { url, alt } => {
            let image = inline::Token::Image { url: url.clone(), alt: alt.clone() };
            inline::write(&[image])
        }
        Block::Footnote { label, text } => format!("[^{label}]: {text}"),
        Block::Rule => "---".to_owned(),
    }
}

fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|cell| format!(" {} ", cell.replace('|', "\\|")));
    format!("|{}|", cells.collect::<Vec<_>>().join("|"))
}

fn delimiters(alignments: &[Alignment]) -> String {
    let cells = alignments.iter().map(|alignment| match alignment {
        Alignment::None => " --- ",
        Alignment::Left => " :-- ",
        Alignment::Center => " :-: ",
        Alignment::Right => " --: ",
    });
    format!("|{}|", cells.collect::<Vec<_>>().join("|"))
}

fn write_list(items: &[Item]) -> String {
    let mut out = String::new();
    // The column of the text of each open item, and whether its list is ordered.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for item in items {
        let level = usize::from(item.level);
        let before = open.get(level).map(|(_, ordered)| *ordered);
        open.truncate(level);
        let indent = open.last().map_or(0, |(column, _)| *column);
        let marker = item.number.map_or_else(|| "-".to_owned(), |number| format!("{number}."));
        if !out.is_empty() {
            out.push('\n');
            // A list that begins with another number, or changes its kind, needs an empty line before it.
            let ordered = item.number.is_some();
            let same = before == Some(ordered);
            if !same && (before.is_some() || item.number.is_some_and(|number| number != 1)) {
                out.push('\n');
            }
        }
        let column = indent + marker.len() + 1;
        out.push_str(&" ".repeat(indent));
        out.push_str(&marker);
        out.push(' ');
        out.push_str(&guard_lines(&item.text, &" ".repeat(column)));
        open.push((column, item.number.is_some()));
    }
    out
}

/// Escapes what would begin a block at the start of each line, and indents all lines but the first.
fn guard_lines(text: &str, indent: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
            out.push_str(indent);
        }
        guard_line(&mut out, line);
    }
    out
}

fn guard_line(out: &mut String, line: &str) {
    let first = line.chars().next().unwrap_or_default();
    let rest = &line[first.len_utf8().min(line.len())..];
    let blank_follows = rest.is_empty() || rest.starts_with([' ', '\t']);
    let escaped = match first {
        '#' | '>' | '|' | ':' | '~' | '=' => true,
        '-' | '+' => blank_follows || rest.starts_with(['-', ':', '|', '+']),
        // A definition of a link or footnote.
        '[' => line.contains("]:"),
        _ => false,
    };
    if escaped {
        out.push('\\');
        out.push_str(line);
        return;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..10).contains(&digits) => {
            let after = &line[digits + 1..];
            if after.is_empty() || after.starts_with([' ', '\t']) {
                out.push_str(&line[..digits]);
                out.push('\\');
                out.push_str(&line[digits..]);
                return;
            }
            out.push_str(line);
        }
        _ => out.push_str(line),
    }
}
