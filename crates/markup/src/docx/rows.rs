//! Rows of tables that are repeated over the items of a list.

use serde_json::Value;

use super::error::DocxError;
use super::placeholders::{ParagraphText, Placeholder};
use super::tree::{Element, Node};
use super::values::{PathValue, Scope};

/// A list that a row is repeated over.
pub(super) struct RowList<'a> {
    pub(super) path: Vec<String>,
    pub(super) items: &'a [Value],
}

/// The list that the placeholders of a row name; tables within the row have rows of their own.
pub(super) fn list_of<'a>(
    row: &Element,
    scope: &Scope<'a>,
) -> Result<Option<RowList<'a>>, DocxError> {
    let mut placeholders = Vec::new();
    collect(row, &mut placeholders)?;
    let mut list: Option<RowList<'a>> = None;
    for placeholder in placeholders {
        let PathValue::List(path, items) = scope.find(&placeholder.path) else { continue };
        match &list {
            Some(list) if list.path != path => {
                let why = "is of another list than the rest of its row; use one list in each row";
                return Err(DocxError::Placeholder { name: placeholder.name(), why });
            }
            _ => list = Some(RowList { path, items }),
        }
    }
    Ok(list)
}

fn collect(element: &Element, placeholders: &mut Vec<Placeholder>) -> Result<(), DocxError> {
    for child in element.elements().filter(|child| child.name != "w:tbl") {
        if child.name == "w:p" {
            placeholders.extend(ParagraphText::of(child).placeholders()?);
        }
        collect(child, placeholders)?;
    }
    Ok(())
}

/// A copy of a row without what must be there once only: ids of paragraphs and bookmarks.
pub(super) fn copy(row: &Element) -> Element {
    let mut copied = row.clone();
    drop_ids(&mut copied);
    copied
}

fn drop_ids(element: &mut Element) {
    element.remove_attribute("w14:paraId");
    element.remove_attribute("w14:textId");
    element.children.retain(|node| !node.is("w:bookmarkStart") && !node.is("w:bookmarkEnd"));
    for node in &mut element.children {
        if let Node::Element(element) = node {
            drop_ids(element);
        }
    }
}
