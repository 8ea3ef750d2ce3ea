//! Fills the placeholders of a template with data.

use std::collections::BTreeSet;

use serde_json::Value;

use super::archive::MAX_INFLATED;
use super::error::DocxError;
use super::package::Package;
use super::placeholders::{ParagraphText, Placeholder};
use super::rows;
use super::tree::{Element, Node};
use super::values::{PathValue, Scope};

/// The element in the place of the content until it is written.
pub(super) const CONTENT_MARK: &str = "powerstrip:content";

/// Names without a value that are listed.
const MAX_NAMES: usize = 50;
/// The most characters of a listed name.
const MAX_NAME: usize = 80;

struct Filling {
    /// Whether this part may hold the content of the document.
    takes_content: bool,
    has_content: bool,
    missing: BTreeSet<String>,
    /// Bytes that repeated rows and values may still add.
    budget: u64,
}

/// Fills the body, headers, footers and notes. The content's place is marked, if there is a document for it.
pub(super) fn fill_parts(
    package: &mut Package,
    data: &Value,
    has_document: bool,
) -> Result<(), DocxError> {
    let main = package.main_part()?;
    let mut parts = vec![main.clone()];
    for kind in ["header", "footer", "footnotes", "endnotes"] {
        parts.extend(package.related(&main, kind)?);
    }
    let mut filling = Filling {
        takes_content: has_document,
        has_content: false,
        missing: BTreeSet::new(),
        budget: MAX_INFLATED,
    };
    let scope = Scope::new(data);
    for (at, part) in parts.iter().enumerate() {
        let Some(mut tree) = package.tree(part)? else { continue };
        filling.takes_content = has_document && at == 0;
        filling.fill(&mut tree.root, &scope)?;
        package.set(part, tree.write());
    }
    if filling.missing.is_empty() {
        return Ok(());
    }
    let names = filling.missing.into_iter().take(MAX_NAMES);
    Err(DocxError::MissingValues {
        names: names.map(|name| name.chars().take(MAX_NAME).collect()).collect(),
    })
}

impl Filling {
    fn fill(&mut self, element: &mut Element, scope: &Scope<'_>) -> Result<(), DocxError> {
        let mut filled = Vec::with_capacity(element.children.len());
        for node in std::mem::take(&mut element.children) {
            let Node::Element(mut child) = node else {
                filled.push(node);
                continue;
            };
            match child.name.as_str() {
                "w:tr" => self.row(child, scope, &mut filled)?,
                "w:p" => self.paragraph(child, scope, &mut filled)?,
                "w:tbl" => {
                    self.fill(&mut child, scope)?;
                    // A table without rows is not valid.
                    if child.contains("w:tr") {
                        filled.push(Node::Element(child));
                    } else {
                        filled.push(Node::Raw("<w:p/>".to_owned()));
                    }
                }
                _ => {
                    self.fill(&mut child, scope)?;
                    filled.push(Node::Element(child));
                }
            }
        }
        element.children = filled;
        Ok(())
    }

    /// A row once, or once for each item of the list that it names.
    fn row(
        &mut self,
        mut row: Element,
        scope: &Scope<'_>,
        filled: &mut Vec<Node>,
    ) -> Result<(), DocxError> {
        let Some(list) = rows::list_of(&row, scope)? else {
            self.fill(&mut row, scope)?;
            filled.push(Node::Element(row));
            return Ok(());
        };
        self.spend(row.weight().saturating_mul(list.items.len()))?;
        for item in list.items {
            let mut copy = rows::copy(&row);
            self.fill(&mut copy, &scope.within(&list.path, item))?;
            filled.push(Node::Element(copy));
        }
        Ok(())
    }

    fn paragraph(
        &mut self,
        mut paragraph: Element,
        scope: &Scope<'_>,
        filled: &mut Vec<Node>,
    ) -> Result<(), DocxError> {
        let text = ParagraphText::of(&paragraph);
        let placeholders = text.placeholders()?;
        if self.takes_content
            && let Some(content) = placeholders.iter().find(|it| is_content(it))
        {
            return self.mark_content(paragraph, &text, content, filled);
        }
        let mut values = Vec::with_capacity(placeholders.len());
        for placeholder in placeholders {
            let value = self.value(&placeholder, scope)?;
            values.push((placeholder.range, value));
        }
        if !values.is_empty() {
            text.replace(&mut paragraph, &values);
        }
        // Text boxes have paragraphs of their own.
        self.fill(&mut paragraph, scope)?;
        filled.push(Node::Element(paragraph));
        Ok(())
    }

    fn value(&mut self, placeholder: &Placeholder, scope: &Scope<'_>) -> Result<String, DocxError> {
        let value = match scope.find(&placeholder.path) {
            PathValue::Text(text) => text,
            PathValue::List(path, items) if path == placeholder.path => {
                let texts = items.iter().map(|item| match item {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(_) | Value::Bool(_) => Some(item.to_string()),
                    _ => None,
                });
                texts
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(|| outside_of_row(placeholder))?
                    .join(", ")
            }
            PathValue::List(..) => return Err(outside_of_row(placeholder)),
            PathValue::Missing => {
                self.missing.insert(placeholder.name());
                String::new()
            }
        };
        self.spend(value.len())?;
        Ok(value)
    }

    /// Puts a mark where the content goes, in the place of its paragraph.
    fn mark_content(
        &mut self,
        mut paragraph: Element,
        text: &ParagraphText,
        content: &Placeholder,
        filled: &mut Vec<Node>,
    ) -> Result<(), DocxError> {
        let refuse = |why| Err(DocxError::Placeholder { name: "content".to_owned(), why });
        if text.text.trim().len() != content.range.len() {
            return refuse("must stand alone in its paragraph: whole paragraphs take its place");
        }
        if std::mem::replace(&mut self.has_content, true) {
            return refuse("is more than once in the template; leave one");
        }
        filled.push(Node::Element(Element::new(CONTENT_MARK, "")));
        // The properties of a section are in its last paragraph.
        if paragraph.child("w:pPr").is_some_and(|properties| properties.contains("w:sectPr")) {
            paragraph.children.retain(|node| node.is("w:pPr"));
            filled.push(Node::Element(paragraph));
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), DocxError> {
        let left = self.budget.checked_sub(bytes as u64);
        self.budget =
            left.ok_or(DocxError::TooLarge { what: "the filled template", limit: MAX_INFLATED })?;
        Ok(())
    }
}

fn is_content(placeholder: &Placeholder) -> bool {
    placeholder.path.len() == 1 && placeholder.path[0] == "content"
}

fn outside_of_row(placeholder: &Placeholder) -> DocxError {
    let why = "is in a list; put it into a row of a table, which is repeated for each item";
    DocxError::Placeholder { name: placeholder.name(), why }
}
