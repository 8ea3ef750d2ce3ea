//! An OpenAPI document and its references. References to other documents are refused.

use std::fmt;

use schema::yaml::{self, Limits};
use serde_json::Value;

/// The largest document that is read.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How a document in YAML is read.
const YAML_LIMITS: Limits = Limits { max_bytes: MAX_BYTES, merge_keys: true, custom_tags: true };

/// The longest chain of references.
const MAX_HOPS: usize = 32;

/// What cannot be used, and its position in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub at: String,
    pub why: String,
}

impl Fault {
    pub fn new(at: &str, why: impl Into<String>) -> Self {
        Self { at: at.to_owned(), why: why.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.why)
    }
}

/// A document of a supported version.
pub struct Document {
    root: Value,
    /// Whether schemas use the dialect of 3.0.
    pub old_schemas: bool,
}

impl Document {
    /// Reads JSON or YAML.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.len() > MAX_BYTES {
            let why = format!("it has {} bytes; {MAX_BYTES} are allowed", bytes.len());
            return Err(Fault::new("the document", why));
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Fault::new("the document", "it is not UTF-8 text"))?
            .trim_start_matches('\u{feff}');
        let root = if text.trim_start().starts_with('{') {
            serde_json::from_str(text)
                .map_err(|why| Fault::new("the document", format!("it is not JSON: {why}")))?
        } else {
            yaml::parse(text, YAML_LIMITS).map_err(|error| {
                let line = error.line.map(|line| format!(" (line {line})")).unwrap_or_default();
                Fault::new("the document", format!("it is not YAML: {error}{line}"))
            })?
        };
        Self::of(root)
    }

    fn of(root: Value) -> Result<Self, Fault> {
        let why = match root["openapi"].as_str() {
            Some(version) if version.starts_with("3.0.") || version == "3.0" => {
                return Ok(Self { root, old_schemas: true });
            }
            Some(version) if version.starts_with("3.1.") || version == "3.1" => {
                return Ok(Self { root, old_schemas: false });
            }
            Some(version) => {
                let shown: String = version.chars().take(20).collect();
                format!("version `{shown}` is not known; 3.0 and 3.1 are")
            }
            None if root.get("swagger").is_some() => {
                "this is Swagger 2; OpenAPI 3.0 and 3.1 are known".to_owned()
            }
            None => "this is no OpenAPI document: it does not say its version".to_owned(),
        };
        Err(Fault::new("#/openapi", why))
    }

    /// A part at the top of the document.
    pub fn part(&self, key: &str) -> &Value {
        &self.root[key]
    }

    /// The target of a reference.
    pub fn target(&self, reference: &str, at: &str) -> Result<&Value, Fault> {
        let shown: String = reference.chars().take(200).collect();
        let Some(pointer) = reference.strip_prefix('#') else {
            let why = format!("`{shown}` leads out of the document, where nothing is fetched");
            return Err(Fault::new(at, why));
        };
        // A reference is a URL: its pointer may be percent-encoded.
        let found = self.root.pointer(pointer).or_else(|| self.root.pointer(&decoded(pointer)));
        found.ok_or_else(|| Fault::new(at, format!("`{shown}` leads nowhere")))
    }

    /// Follows references to a value.
    pub fn follow<'a>(&'a self, mut value: &'a Value, at: &str) -> Result<&'a Value, Fault> {
        for _ in 0..MAX_HOPS {
            match value["$ref"].as_str() {
                None => return Ok(value),
                Some(reference) => value = self.target(reference, at)?,
            }
        }
        Err(Fault::new(at, "its references form a circle"))
    }
}

fn decoded(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = (byte == b'%').then(|| after.get(..2)).flatten();
        let hex = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(byte));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A pointer to something below.
pub(crate) fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}
