//! Word documents, redacted in place: runs keep their formatting, and only texts change.

mod metadata;
mod nodes;

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};

use extraction::{Limits, Unreadable};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::{Mode, Plan, Target};
use nodes::{TextNodes, escape};

/// A redacted document.
#[derive(Debug)]
pub struct RedactedDocument {
    pub bytes: Vec<u8>,
    /// How many places of each type were redacted.
    pub counts: BTreeMap<String, usize>,
    /// How many redacted values are still in the result; 0 unless this code is at fault.
    pub leftovers: usize,
    /// The redacted values, in lower case.
    pub values: Vec<String>,
    /// What was not read, and may show redacted values.
    pub warnings: Vec<String>,
}

/// A file within the document.
struct Part {
    name: String,
    bytes: Vec<u8>,
}

/// Redacts what `find` marks in the text of a document.
pub fn redact(
    bytes: &[u8],
    limits: &Limits,
    mode: Mode,
    find: impl Fn(&str) -> Vec<Target>,
) -> Result<RedactedDocument, Unreadable> {
    let parts = open(bytes, limits)?;
    if !parts.iter().any(|part| part.name == "word/document.xml") {
        return Err(Unreadable::damaged("it has no `word/document.xml`"));
    }
    let mut texts = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if is_text(&part.name) {
            texts.push((index, TextNodes::read(part_text(part)?, limits)?));
        }
    }
    let whole: String = texts.iter().map(|(_, nodes)| nodes.text.as_str()).collect();
    let plan = Plan::new(&whole, find(&whole), mode);
    let mut edited: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut offset = 0;
    for (index, nodes) in &texts {
        let xml = nodes.edited(part_text(&parts[*index])?, &plan, offset);
        edited.insert(*index, metadata::without_authors(&xml).into_bytes());
        offset += nodes.text.len();
    }
    let bytes = write(&parts, &edited, &plan)?;
    let leftovers = count_leftovers(&bytes, limits, &plan)?;
    let values = plan.values().to_vec();
    Ok(RedactedDocument {
        bytes,
        counts: plan.counts(),
        leftovers,
        values,
        warnings: warnings(&parts),
    })
}

/// The text of a document, as [`redact`] sees it.
pub fn text(bytes: &[u8], limits: &Limits) -> Result<String, Unreadable> {
    let mut whole = String::new();
    for part in open(bytes, limits)?.iter().filter(|part| is_text(&part.name)) {
        whole.push_str(&TextNodes::read(part_text(part)?, limits)?.text);
    }
    Ok(whole)
}

fn open(bytes: &[u8], limits: &Limits) -> Result<Vec<Part>, Unreadable> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(Unreadable::damaged)?;
    if archive.len() > limits.parts {
        return Err(Unreadable::TooManyParts { limit: limits.parts });
    }
    let mut budget = limits.inflated;
    let mut parts = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(Unreadable::damaged)?;
        let name = file.name().map_err(Unreadable::damaged)?.into_owned();
        let mut bytes = Vec::new();
        // Sizes in the archive's headers are not trusted.
        file.take(budget + 1).read_to_end(&mut bytes).map_err(Unreadable::damaged)?;
        budget = budget.checked_sub(bytes.len() as u64).ok_or(Unreadable::TooLarge {
            what: "its decompressed parts",
            limit: limits.inflated,
        })?;
        parts.push(Part { name, bytes });
    }
    Ok(parts)
}

fn part_text(part: &Part) -> Result<&str, Unreadable> {
    std::str::from_utf8(&part.bytes)
        .map_err(|_| Unreadable::damaged(format_args!("`{}` is not UTF-8", part.name)))
}

/// Parts whose runs a reader of the document sees.
fn is_text(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("word/") else { return false };
    let kinds =
        ["document", "header", "footer", "footnotes", "endnotes", "comments", "glossary/document"];
    rest.ends_with(".xml") && kinds.iter().any(|kind| rest.starts_with(kind))
}

fn write(
    parts: &[Part],
    edited: &BTreeMap<usize, Vec<u8>>,
    plan: &Plan,
) -> Result<Vec<u8>, Unreadable> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    for (index, part) in parts.iter().enumerate() {
        if metadata::is_dropped(&part.name) {
            continue;
        }
        let bytes = match (metadata::blank(&part.name), edited.get(&index)) {
            (Some(blank), _) => blank.to_vec(),
            (None, Some(edited)) => edited.clone(),
            (None, None) if is_xml(&part.name) => other_part(part, plan),
            (None, None) => part.bytes.clone(),
        };
        writer.start_file(&*part.name, options).map_err(Unreadable::damaged)?;
        writer.write_all(&bytes).map_err(Unreadable::damaged)?;
    }
    Ok(writer.finish().map_err(Unreadable::damaged)?.into_inner())
}

fn is_xml(name: &str) -> bool {
    name.ends_with(".xml") || name.ends_with(".rels")
}

/// Relations, properties and custom data: values are masked wherever they are written.
fn other_part(part: &Part, plan: &Plan) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&part.bytes) else { return part.bytes.clone() };
    let mut text = metadata::without_dropped_parts(&part.name, text);
    for place in plan.occurrences(&text).into_iter().rev() {
        text.replace_range(place, "redacted");
    }
    for value in plan.values() {
        let escaped = escape(value);
        if escaped != *value && text.contains(&escaped) {
            text = text.replace(&escaped, "redacted");
        }
    }
    text.into_bytes()
}

/// Reads the result again: texts joined over runs, and every other part as it is written.
fn count_leftovers(bytes: &[u8], limits: &Limits, plan: &Plan) -> Result<usize, Unreadable> {
    let mut count = 0;
    for part in open(bytes, limits)? {
        if is_text(&part.name) {
            count += plan.leftovers(&TextNodes::read(part_text(&part)?, limits)?.text);
        }
        if is_xml(&part.name) {
            count += part_text(&part).map_or(0, |xml| plan.leftovers(xml));
        }
    }
    Ok(count)
}

fn warnings(parts: &[Part]) -> Vec<String> {
    let count = |folder: &str| {
        parts
            .iter()
            .filter(|part| part.name.starts_with(folder) && !part.name.ends_with('/'))
            .count()
    };
    let mut warnings = Vec::new();
    let (pictures, embedded) = (count("word/media/"), count("word/embeddings/"));
    if pictures > 0 {
        warnings.push(format!(
            "{pictures} pictures were not read; look at them before you share the document"
        ));
    }
    if embedded > 0 {
        warnings.push(format!(
            "{embedded} embedded files were not read; remove them before you share the document"
        ));
    }
    warnings
}
