//! Parts of a template that make Word open other files or run code.

use super::error::DocxError;
use super::package::{Package, relations_of};
use super::tree::{Element, Node, Tree};

/// Relations to parts that hold code or foreign documents.
const ACTIVE: [&str; 5] =
    ["aFChunk", "activeXControlBinary", "control", "oleObject", "subDocument"];
/// Relations to parts that hold macros, whatever their parts are called.
const MACROS: [&str; 3] = ["vbaProject", "vbaProjectSignature", "wordVbaData"];
/// Fields that read other files or start programs; `IMPORT` and `INCLUDE` are old names of others.
const FIELDS: [&str; 9] = [
    "DATABASE",
    "DDE",
    "DDEAUTO",
    "IMPORT",
    "INCLUDE",
    "INCLUDEPICTURE",
    "INCLUDETEXT",
    "LINK",
    "RD",
];

impl Package {
    /// Refuses what Word would load or run when it opens the result.
    pub(super) fn check_passive(&self) -> Result<(), DocxError> {
        let refuse = |why: String| Err(DocxError::Unsupported(why));
        for name in self.names().filter(|name| name.to_ascii_lowercase().ends_with(".rels")) {
            let Some(tree) = self.tree(name)? else { continue };
            for relation in tree.root.elements() {
                let kind = kind_of(relation);
                let is_external = relation.attribute("TargetMode").as_deref() == Some("External");
                if MACROS.contains(&kind.as_str()) {
                    return refuse("has macros".to_owned());
                }
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
        for name in self.names() {
            let Some(tree) = self.markup(name)? else { continue };
            let mut fields = vec![String::new()];
            collect_fields(&tree.root, &mut fields);
            for field in fields {
                let word = field.split_whitespace().next().unwrap_or_default();
                let word = word.trim_matches('"').to_ascii_uppercase();
                if FIELDS.contains(&word.as_str()) {
                    return refuse(format!(
                        "has a field that opens other files (`{word}`): remove it"
                    ));
                }
            }
        }
        Ok(())
    }

    /// A part in XML: relations give parts any folder and extension, so the content counts.
    fn markup(&self, name: &str) -> Result<Option<Tree>, DocxError> {
        let lower = name.to_ascii_lowercase();
        let is_named = lower.starts_with("word/") && lower.ends_with(".xml");
        match self.tree(name) {
            Err(error) if is_named => Err(error),
            tree => Ok(tree.ok().flatten()),
        }
    }

    /// Removes the links to the template that a template was made from, which need not exist and can have macros, and to the
    /// data of a mail merge, which Word would ask for.
    pub(super) fn detach_sources(&mut self) -> Result<(), DocxError> {
        let settings = self.related(&self.main_part()?, "settings")?;
        for part in settings {
            let relations = relations_of(&part);
            if let Some(mut tree) = self.tree(&relations)? {
                tree.root.children.retain(|node| match node {
                    Node::Element(relation) => {
                        let kind = kind_of(relation);
                        kind != "attachedTemplate" && !kind.starts_with("mailMerge")
                    }
                    Node::Raw(_) => true,
                });
                self.set(&relations, tree.write());
            }
            if let Some(mut tree) = self.tree(&part)? {
                tree.root.children.retain(|node| match node {
                    Node::Element(element) => {
                        !matches!(element.local_name(), "attachedTemplate" | "mailMerge")
                    }
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
            let instruction = element.local_attribute("instr");
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
