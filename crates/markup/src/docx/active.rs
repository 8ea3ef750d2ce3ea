//! Parts of a template that make Word open other files or run code.

use super::error::DocxError;
use super::package::{Package, relations_of};
use super::tree::{Element, Node};

/// Relations to parts that hold code or foreign documents.
const ACTIVE: [&str; 5] =
    ["aFChunk", "activeXControlBinary", "control", "oleObject", "subDocument"];
/// Fields that read other files or start programs.
const FIELDS: [&str; 6] = ["DATABASE", "DDE", "DDEAUTO", "INCLUDEPICTURE", "INCLUDETEXT", "LINK"];

impl Package {
    /// Refuses what Word would load or run when it opens the result.
    pub(super) fn check_passive(&self) -> Result<(), DocxError> {
        let refuse = |why: String| Err(DocxError::Unsupported(why));
        for name in self.names().filter(|name| name.to_ascii_lowercase().ends_with(".rels")) {
            let Some(tree) = self.tree(name)? else { continue };
            for relation in tree.root.elements() {
                let kind = kind_of(relation);
                let is_external = relation.attribute("TargetMode").as_deref() == Some("External");
                if ACTIVE.contains(&kind.as_str()) {
                    return refuse(format!("has an embedded object (`{kind}`): remove it"));
                }
                if is_external && kind != "hyperlink" {
                    return refuse(format!(
                        "links to another file (`{kind}`), which Word would open: embed it or remove the link"
                    ));
                }
            }
        }
        for name in self.names().filter(|name| name.starts_with("word/") && name.ends_with(".xml"))
        {
            let Some(tree) = self.tree(name)? else { continue };
            let mut fields = vec![String::new()];
            collect_fields(&tree.root, &mut fields);
            for field in fields {
                let word = field.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
                if FIELDS.contains(&word.as_str()) {
                    return refuse(format!(
                        "has a field that opens other files (`{word}`): remove it"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Removes the link to the template that a template was made from: it need not exist, and can have macros.
    pub(super) fn detach_template(&mut self) -> Result<(), DocxError> {
        let settings = self.related(&self.main_part()?, "settings")?;
        for part in settings {
            let relations = relations_of(&part);
            if let Some(mut tree) = self.tree(&relations)? {
                tree.root.children.retain(|node| match node {
                    Node::Element(relation) => kind_of(relation) != "attachedTemplate",
                    Node::Raw(_) => true,
                });
                self.set(&relations, tree.write());
            }
            if let Some(mut tree) = self.tree(&part)? {
                tree.root.children.retain(|node| match node {
                    Node::Element(element) => element.local_name() != "attachedTemplate",
                    Node::Raw(_) => true,
                });
                self.set(&part, tree.write());
            }
        }
        Ok(())
    }
}

/// The last word of a relation's type.
fn kind_of(relation: &Element) -> String {
    let kind = relation.attribute("Type").unwrap_or_default();
    kind.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The instructions of fields. The runs of one field come one after the other.
fn collect_fields(element: &Element, fields: &mut Vec<String>) {
    match element.local_name() {
        "fldChar" => fields.push(String::new()),
        "fldSimple" => {
            let instruction = element.attribute(&format!("{}instr", element.prefix()));
            fields.extend([instruction.unwrap_or_default(), String::new()]);
        }
        "instrText" => {
            if let Some(field) = fields.last_mut() {
                field.push_str(&element.own_text());
            }
        }
        _ => {}
    }
    for child in element.elements() {
        collect_fields(child, fields);
    }
}
