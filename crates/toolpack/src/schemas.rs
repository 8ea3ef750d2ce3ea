//! Bundles the schemas of a pack, with their references to files, into one self-contained document.
//!
//! A referenced file becomes one entry of `$defs`, and its own `#/…` references are rewritten. Only files inside the
//! pack's root can be referenced, and not in a circle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schema::yaml;
use serde_json::{Map, Value};

use crate::Fault;
use crate::root::{Root, YAML_LIMITS, read_text};

/// The most files that one schema may be made of.
const MAX_FILES: usize = 64;

/// The deepest nesting of a schema; deeper ones could overflow a stack.
const MAX_DEPTH: usize = 64;

/// Keywords whose value is a map from names to schemas.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose value is data, in which `$ref` means nothing.
const DATA: [&str; 6] = ["const", "enum", "default", "examples", "required", "dependentRequired"];

/// A schema that needs no other file, and the files it was made of.
#[derive(Debug)]
pub(crate) struct Bundled {
    pub(crate) schema: Value,
    pub(crate) files: Vec<PathBuf>,
}

/// Makes a pack's schema self-contained.
pub(crate) fn bundle(root: &Root, pack: &Path, schema: &Value) -> Result<Bundled, Fault> {
    let folder = pack.parent().unwrap_or(pack);
    let mut bundler =
        Bundler { root, defs: BTreeMap::new(), names: BTreeMap::new(), open: Vec::new() };
    let mut schema = match whole_file(schema) {
        Some(reference) => bundler.open_whole(folder, reference)?,
        None => {
            let mut schema = schema.clone();
            bundler.rewrite(&mut schema, Position { folder, prefix: "", file: None }, 0)?;
            schema
        }
    };
    let files = bundler.names.keys().cloned().collect();
    let Bundler { defs, .. } = bundler;
    if !defs.is_empty() {
        let own = schema
            .as_object_mut()
            .map(|map| map.entry("$defs").or_insert_with(|| Value::Object(Map::new())));
        if let Some(Value::Object(own)) = own {
            for (name, definition) in defs {
                own.insert(name, definition);
            }
        }
    }
    Ok(Bundled { schema, files })
}

/// `{ $ref: file }` and nothing else: the file is the schema.
fn whole_file(schema: &Value) -> Option<&str> {
    let map = schema.as_object().filter(|map| map.len() == 1)?;
    map.get("$ref")?.as_str().filter(|reference| !reference.contains('#'))
}

struct Bundler<'a> {
    root: &'a Root,
    /// Finished definitions by name.
    defs: BTreeMap<String, Value>,
    /// The name of each file that was read.
    names: BTreeMap<PathBuf, String>,
    /// Files that are being read, the outermost first; a reference to one of them is a circle.
    open: Vec<PathBuf>,
}

/// The position of a subschema.
#[derive(Clone, Copy)]
struct Position<'a> {
    folder: &'a Path,
    /// Where this document's root lies in the bundle, such as `/$defs/address`.
    prefix: &'a str,
    file: Option<&'a Path>,
}

impl Position<'_> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        match self.file {
            Some(file) => Fault::in_file(file, None, message),
            None => Fault::new(message),
        }
    }
}

impl Bundler<'_> {
    fn open_whole(&mut self, folder: &Path, reference: &str) -> Result<Value, Fault> {
        refuse_remote(reference).map_err(Fault::new)?;
        let file = self.root.file(folder, reference)?;
        // The file is the bundle's root itself, so it needs no entry among the definitions.
        self.names.insert(file.clone(), String::new());
        self.load(&file, "")
    }

    fn load(&mut self, file: &Path, prefix: &str) -> Result<Value, Fault> {
        self.open.push(file.to_owned());
        let mut schema = read_schema(file)?;
        let folder = file.parent().unwrap_or(file);
        self.rewrite(&mut schema, Position { folder, prefix, file: Some(file) }, 0)?;
        self.open.pop();
        Ok(schema)
    }

    fn rewrite(
        &mut self,
        schema: &mut Value,
        position: Position<'_>,
        depth: usize,
    ) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(position.fault("the schema is nested too deeply"));
        }
        let map = match schema {
            Value::Object(map) => map,
            Value::Array(items) => {
                return items
                    .iter_mut()
                    .try_for_each(|item| self.rewrite(item, position, depth + 1));
            }
            _ => return Ok(()),
        };
        if !position.prefix.is_empty() && depth == 0 {
            // They would make the definition a separate document, in which `#/…` means something else.
            map.remove("$id");
            map.remove("$schema");
        }
        for (keyword, value) in map.iter_mut() {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    *reference = self.reference(reference, position)?;
                }
                ("$dynamicRef", Value::String(reference)) if !reference.starts_with('#') => {
                    return Err(position.fault("`$dynamicRef` cannot name another document"));
                }
                (keyword, Value::Object(schemas)) if NAMED.contains(&keyword) => {
                    for schema in schemas.values_mut() {
                        self.rewrite(schema, position, depth + 1)?;
                    }
                }
                (keyword, _) if DATA.contains(&keyword) => {}
                (_, value) => self.rewrite(value, position, depth + 1)?,
            }
        }
        Ok(())
    }

    fn reference(&mut self, reference: &str, position: Position<'_>) -> Result<String, Fault> {
        refuse_remote(reference).map_err(|message| position.fault(message))?;
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if path.is_empty() {
            let pointer = fragment.is_empty() || fragment.starts_with('/');
            return Ok(if pointer {
                format!("#{}{fragment}", position.prefix)
            } else {
                reference.to_owned()
            });
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return Err(
                position.fault(format!("`{reference}`: only `#/…` can name a part of a file"))
            );
        }
        let file = self
            .root
            .file(position.folder, path)
            .map_err(|fault| Fault { file: position.file.map(Path::to_owned), ..fault })?;
        if let Some(at) = self.open.iter().position(|open| *open == file) {
            let circle: Vec<_> = self.open[at..].iter().map(|open| self.shown(open)).collect();
            return Err(position.fault(format!(
                "`{reference}` refers in a circle: {} → {}",
                circle.join(" → "),
                self.shown(&file)
            )));
        }
        let prefix = match self.names.get(&file) {
            Some(name) => format!("/$defs/{name}"),
            None => {
                if self.names.len() == MAX_FILES {
                    return Err(
                        position.fault(format!("the schema needs more than {MAX_FILES} files"))
                    );
                }
                let name = self.name_for(&file);
                self.names.insert(file.clone(), name.clone());
                let prefix = format!("/$defs/{name}");
                let schema = self.load(&file, &prefix)?;
                self.defs.insert(name, schema);
                prefix
            }
        };
        Ok(format!("#{prefix}{fragment}"))
    }

    /// A name for `$defs` that shows the file it came from and needs no escaping in a pointer.
    fn name_for(&self, file: &Path) -> String {
        let stem = file.file_name().and_then(|name| name.to_str()).unwrap_or("schema");
        let stem = stem.split('.').next().unwrap_or(stem);
        let plain: String =
            stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let taken = |name: &str| self.names.values().any(|other| other == name);
        // Two underscores: unlikely to be a name that the author uses in `$defs` by hand.
        (0..)
            .map(|n| if n == 0 { format!("file__{plain}") } else { format!("file__{plain}_{n}") })
            .find(|name| !taken(name))
            .unwrap_or_default()
    }

    fn shown(&self, file: &Path) -> String {
        file.strip_prefix(self.root.path()).unwrap_or(file).display().to_string()
    }
}

fn refuse_remote(reference: &str) -> Result<(), String> {
    let scheme = reference.split(['/', '#', '?']).next().is_some_and(|start| start.contains(':'));
    if scheme || reference.starts_with("//") {
        let shown: String = reference.chars().take(200).collect();
        return Err(format!(
            "`{shown}` is not a file of this pack; nothing is fetched for a schema"
        ));
    }
    Ok(())
}

fn read_schema(file: &Path) -> Result<Value, Fault> {
    let text = read_text(file)?;
    let yaml = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let schema = if yaml {
        yaml::parse(&text, YAML_LIMITS)
            .map_err(|error| Fault::in_file(file, error.line, error.message))?
    } else {
        serde_json::from_str::<Value>(&text).map_err(|error| {
            Fault::in_file(file, Some(error.line()), format!("this is not JSON: {error}"))
        })?
    };
    if !schema.is_object() && !schema.is_boolean() {
        return Err(Fault::in_file(file, Some(1), "a schema is an object"));
    }
    Ok(schema)
}

#[cfg(test)]
mod tests;
