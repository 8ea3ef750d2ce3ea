//! JSON → document: the document's own form, or any other data as headings, lists and tables.

use serde_json::{Map, Value};

use crate::inline::escape_text;
use crate::model::{Block, Document, Item, Section};
use crate::normalize::MAX_COLUMNS;

/// Deeper values are written as JSON text.
const MAX_NESTING: u8 = 6;

/// Reads JSON. An object with `sections` is a document in its own form. Of any other value, the simple fields of an object
/// become a list, other fields become sections, a list of objects becomes a table with a column for each field, and a list
/// of lists a table whose first row is the header; what is too wide for a table becomes a list.
pub fn from_json(value: &Value) -> Document {
    if value.get("sections").is_some()
        && let Ok(document) = serde_json::from_value(value.clone())
    {
        return document;
    }
    let mut document = Document::default();
    let mut section = Section { level: 1, ..Section::default() };
    if let Value::Object(fields) = value
        && let Some(Value::String(title)) = fields.get("title")
    {
        document.title = escape_text(title);
        let rest: Map<String, Value> =
            fields.iter().filter(|(name, _)| *name != "title").map(clone_field).collect();
        add(&mut document.sections, &mut section, &Value::Object(rest), 2);
    } else {
        add(&mut document.sections, &mut section, value, 2);
    }
    document.sections.push(section);
    document.sections.retain(|section| !section.heading.is_empty() || !section.blocks.is_empty());
    document
}

fn clone_field((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Adds a value to the open section; sections that end before it are pushed.
fn add(done: &mut Vec<Section>, open: &mut Section, value: &Value, level: u8) {
    match value {
        Value::Object(fields) => {
            let simple = fields.iter().filter(|(_, value)| is_simple(value));
            let items = simple.map(|(name, value)| Item {
                text: format!("**{}**: {}", escape_text(name), text_of(value)),
                ..Item::default()
            });
            let items: Vec<Item> = items.collect();
            if !items.is_empty() {
                open.blocks.push(Block::List { items });
            }
            for (name, value) in fields.iter().filter(|(_, value)| !is_simple(value)) {
                let heading = escape_text(name);
                let next = Section { heading, level: level.min(6), blocks: Vec::new() };
                done.push(std::mem::replace(open, next));
                if level > MAX_NESTING {
                    open.blocks.push(code(value));
                } else {
                    add(done, open, value, level + 1);
                }
            }
        }
        Value::Array(list) => open.blocks.extend(list_block(list)),
        Value::Null => {}
        value => open.blocks.push(Block::Paragraph { text: text_of(value) }),
    }
}

fn list_block(list: &[Value]) -> Option<Block> {
    if list.is_empty() {
        return None;
    }
    if list.iter().all(Value::is_object)
        && let Some(table) = table_of_objects(list)
    {
        return Some(table);
    }
    let fits = |row: &Value| row.as_array().is_some_and(|row| row.len() <= MAX_COLUMNS);
    if list.iter().all(fits) {
        let rows = list.iter().filter_map(Value::as_array);
        let mut rows = rows.map(|row| row.iter().map(text_of).collect());
        let header = rows.next()?;
        return Some(Block::Table { header, rows: rows.collect(), alignments: Vec::new() });
    }
    let items = list.iter().map(|value| Item { text: text_of(value), ..Item::default() });
    Some(Block::List { items: items.collect() })
}

/// A column for each field, in the order in which they are found first. None if a table cannot have as many.
fn table_of_objects(list: &[Value]) -> Option<Block> {
    let mut columns: Vec<&String> = Vec::new();
    for name in list.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if columns.contains(&name) {
            continue;
        }
        if columns.len() == MAX_COLUMNS {
            return None;
        }
        columns.push(name);
    }
    let row = |value: &Value| {
        let cell = |name: &&String| value.get(name.as_str()).map(text_of).unwrap_or_default();
        columns.iter().map(cell).collect()
    };
    Some(Block::Table {
        header: columns.iter().map(|name| escape_text(name)).collect(),
        rows: list.iter().map(row).collect(),
        alignments: Vec::new(),
    })
}

fn is_simple(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// A value as inline Markdown.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape_text(text),
        value => escape_text(&value.to_string()),
    }
}

fn code(value: &Value) -> Block {
    Block::Code { language: "json".to_owned(), text: value.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{from_markdown, to_markdown};

    #[test]
    fn a_document_in_its_own_form_is_kept() {
        let document = from_markdown("# T\n\ntext\n\n## H\n\n- a\n");
        let json = serde_json::to_value(&document).unwrap();
        assert_eq!(from_json(&json), document);
    }

    #[test]
    fn other_data_becomes_lists_sections_and_tables() {
        let json = json!({
            "title": "Order *7*", "id": 7, "paid": true,
            "lines": [{"item": "pen", "price": 1.5}, {"item": "ink", "note": "blue"}],
            "tags": ["a_b", 2], "address": {"city": "Bern"}, "matrix": [["x", "y"], [1, 2]],
        });
        let markdown = to_markdown(&from_json(&json));
        for expected in [
            "# Order \\*7\\*\n",
            "- **id**: 7\n- **paid**: true",
            "## lines\n\n| item | price | note |\n| --- | --- | --- |\n| pen | 1.5 |  |\n| ink |  | blue |",
            "## tags\n\n- a_b\n- 2",
            "## address\n\n- **city**: Bern",
            "| x | y |\n| --- | --- |\n| 1 | 2 |",
        ] {
            assert!(markdown.contains(expected), "{expected:?} in {markdown}");
        }
        assert_eq!(to_markdown(&from_json(&json!("a *text*"))), "a \\*text\\*\n");
        assert_eq!(to_markdown(&from_json(&json!(null))), "");
    }

    #[test]
    fn deep_data_ends_as_text() {
        let mut value = json!("end");
        for _ in 0..100 {
            value = json!({ "a": value });
        }
        let document = from_json(&value);
        assert!(document.sections.len() < 10);
        assert!(to_markdown(&document).contains("end"));
    }
}
