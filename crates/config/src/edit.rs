//! Edits the `servers` of a config file and leaves the rest of its text, comments included, byte for byte as it is.
//!
//! Every edit is checked before it is returned: the new text must parse to the old value with just that change.

mod emit;
mod file;
mod text;

use schema::yaml::{Limits, Node, Outline, Shape, YamlError};
use serde_json::{Map, Value};

use crate::settings::YAML_LIMITS;
use text::{Patch, Style};

pub use file::{servers_in, switch_servers, update};

const SECTION: &str = "servers";
const DISABLED: &str = "disabled";

/// Why a config file was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("there is no server `{0}`")]
    NoServer(String),
    #[error("{}{}", line.map_or(String::new(), |line| format!("line {line}: ")), message)]
    Invalid { line: Option<usize>, message: String },
    #[error("{0}; edit the file by hand")]
    Unsupported(&'static str),
    #[error("the file is read-only")]
    ReadOnly,
    #[error("{path}: {why}")]
    File { path: std::path::PathBuf, why: std::io::Error },
}

impl From<YamlError> for EditError {
    fn from(error: YamlError) -> Self {
        Self::Invalid { line: error.line, message: error.message }
    }
}

/// Adds a server, or replaces the one of this name.
pub fn set_server(yaml: &str, name: &str, server: &Value) -> Result<String, EditError> {
    let before = parse(yaml)?;
    let patch = match Outline::parse(yaml)? {
        None => append_section(yaml, name, server),
        Some(root) => match (&root.shape, root.field(SECTION)) {
            (Shape::Map { flow, fields }, None) if fields.is_empty() || *flow => {
                let section = Value::Object(Map::from_iter([(name.to_owned(), server.clone())]));
                text::insert_flow(yaml, &root, SECTION, &section)
            }
            (Shape::Map { .. }, None) => {
                let at = text::block_end(yaml, &root).ok_or(UNUSUAL)?;
                Patch::insert(at, text::section(yaml, at, name, server))
            }
            (Shape::Map { flow: in_flow, .. }, Some(section)) => {
                match (&section.value.shape, section.value.field(name)) {
                    (Shape::Map { .. }, Some(entry)) => {
                        text::replace_value(yaml, &section.value, entry, server).ok_or(UNUSUAL)?
                    }
                    (Shape::Map { flow, fields }, None) if *flow => {
                        if fields.is_empty() && !in_flow {
                            text::open_block(yaml, section, name, server)
                        } else {
                            text::insert_flow(yaml, &section.value, name, server)
                        }
                    }
                    (Shape::Map { .. }, None) => {
                        let at = text::block_end(yaml, &section.value).ok_or(UNUSUAL)?;
                        let indent = text::indent_of(yaml, &section.value).ok_or(UNUSUAL)?;
                        Patch::insert(at, text::entry(yaml, at, &indent, name, server))
                    }
                    (Shape::Scalar(_), _) if is_null(&before, SECTION) && !in_flow => {
                        text::open_block(yaml, section, name, server)
                    }
                    _ => {
                        return Err(EditError::Unsupported(
                            "`servers` is not a mapping of its own",
                        ));
                    }
                }
            }
            (Shape::Scalar(_), _) if before.is_null() => append_section(yaml, name, server),
            _ => return Err(EditError::Unsupported("the file is not a mapping of settings")),
        },
    };
    let mut expected = before;
    let sections = object(&mut expected);
    object(sections.entry(SECTION).or_insert(Value::Null)).insert(name.to_owned(), server.clone());
    checked(patch.apply(yaml), &expected)
}

/// Removes a server. Comments above its entry stay.
pub fn remove_server(yaml: &str, name: &str) -> Result<String, EditError> {
    let (section, entry) = find(yaml, name)?;
    let patch = match &section.value.shape {
        Shape::Map { flow: true, fields } => text::remove_flow(yaml, fields, &entry),
        Shape::Map { fields, .. } => {
            let gone = text::lines_of(yaml, &entry).ok_or(UNUSUAL)?;
            let mut patch = Patch::remove(gone);
            if fields.len() == 1 {
                // Says that nothing is left, where a key without a value looks unfinished.
                patch = patch.and_insert(section.colon, " {}");
            }
            patch
        }
        _ => return Err(UNUSUAL),
    };
    let mut expected = parse(yaml)?;
    if let Some(servers) = expected.get_mut(SECTION) {
        object(servers).remove(name);
    }
    checked(patch.apply(yaml), &expected)
}

/// Sets or clears `disabled` of a server.
fn set_disabled(yaml: &str, name: &str, disabled: bool) -> Result<String, EditError> {
    let (section, entry) = find(yaml, name)?;
    let mut expected = parse(yaml)?;
    let server = expected.get_mut(SECTION).and_then(|servers| servers.get_mut(name));
    let server = object(server.ok_or_else(|| EditError::NoServer(name.to_owned()))?);
    let is_disabled = server.get(DISABLED) == Some(&Value::Bool(true));
    if is_disabled == disabled {
        return Ok(yaml.to_owned());
    }
    let patch = match (entry.value.field(DISABLED), &entry.value.shape) {
        // Remove all that `set_disabled` wrote, so that the file is as it was.
        (Some(flag), Shape::Map { flow: true, fields }) if !disabled && fields.len() > 1 => {
            server.remove(DISABLED);
            text::remove_flow(yaml, fields, flag)
        }
        (Some(flag), Shape::Map { fields, .. })
            if !disabled && fields.len() > 1 && text::is_bare(yaml, flag) =>
        {
            server.remove(DISABLED);
            Patch::remove(text::lines_of(yaml, flag).ok_or(UNUSUAL)?)
        }
        (Some(flag), _) => {
            server.insert(DISABLED.to_owned(), Value::Bool(disabled));
            Patch::replace(flag.value.range.clone(), disabled.to_string())
        }
        (None, Shape::Map { flow, .. }) => {
            server.insert(DISABLED.to_owned(), Value::Bool(disabled));
            if *flow {
                text::append_flow(&entry.value, DISABLED, disabled)
            } else {
                let at = text::content_end(yaml, &entry.value).ok_or(UNUSUAL)?;
                let indent = text::indent_of(yaml, &entry.value).ok_or(UNUSUAL)?;
                let style = Style::of(yaml);
                Patch::insert(at, style.line(yaml, at, &format!("{indent}{DISABLED}: {disabled}")))
            }
        }
        (None, Shape::Alias) => {
            return Err(EditError::Unsupported("the entry of this server is an alias"));
        }
        (None, _) => {
            server.insert(DISABLED.to_owned(), Value::Bool(disabled));
            text::replace_value(yaml, &section.value, &entry, &Value::Object(server.clone()))
                .ok_or(UNUSUAL)?
        }
    };
    checked(patch.apply(yaml), &expected)
}

/// The servers that a config file names, in its order.
pub fn server_names(yaml: &str) -> Result<Vec<String>, EditError> {
    let node = Node::parse(yaml, LIMITS)?;
    let servers = node.and_then(|node| node.json().get(SECTION).cloned());
    Ok(servers
        .as_ref()
        .and_then(Value::as_object)
        .map_or_else(Vec::new, |servers| servers.keys().cloned().collect()))
}

const LIMITS: Limits = YAML_LIMITS;

const UNUSUAL: EditError = EditError::Unsupported("`servers` is written in an unusual form");

fn append_section(yaml: &str, name: &str, server: &Value) -> Patch {
    let at = yaml.len();
    Patch::insert(at, text::section(yaml, at, name, server))
}

/// The `servers` field and the entry of one server.
fn find(yaml: &str, name: &str) -> Result<(schema::yaml::Field, schema::yaml::Field), EditError> {
    parse(yaml)?;
    let outline = Outline::parse(yaml)?;
    let section = outline.as_ref().and_then(|root| root.field(SECTION));
    let entry = section.and_then(|section| section.value.field(name));
    match (section, entry) {
        (Some(section), Some(entry)) => Ok((section.clone(), entry.clone())),
        _ => Err(EditError::NoServer(name.to_owned())),
    }
}

fn parse(yaml: &str) -> Result<Value, EditError> {
    Ok(Node::parse(yaml, LIMITS)?.map_or(Value::Null, |node| node.json()))
}

fn is_null(document: &Value, key: &str) -> bool {
    document.get(key).is_some_and(Value::is_null)
}

/// The mapping of a value; a value that is none becomes an empty one.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

/// The edited text, if it means what was intended.
fn checked(edited: String, expected: &Value) -> Result<String, EditError> {
    let now = parse(&edited)
        .map_err(|_| EditError::Unsupported("another part of the file refers to this entry"))?;
    let (now, expected) = (settled(now), settled(expected.clone()));
    if now == expected { Ok(edited) } else { Err(UNUSUAL) }
}

/// An empty document equals an empty mapping.
fn settled(document: Value) -> Value {
    if document.is_null() { Value::Object(Map::new()) } else { document }
}

#[cfg(test)]
mod tests;
