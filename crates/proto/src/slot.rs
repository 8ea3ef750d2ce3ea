//! The types of answers that a person may be asked for.

use std::str::FromStr;

use serde_json::{Value, json};

/// The longest text, in characters.
const MAX_TEXT: usize = 10_000;

/// The longest document, in bytes.
const MAX_DOCUMENT: usize = 64 * 1024;

/// The longest option to choose, in characters.
const MAX_OPTION: usize = 200;

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotType {
    /// One of the options.
    Choice,
    /// Any number of the options.
    Multi,
    Text,
    Number,
    /// Yes or no.
    Confirm,
    /// The id of a file.
    File,
    /// A long text that the person edits; the first option is what it begins with.
    Document,
}

impl SlotType {
    /// Each of them by its name.
    pub const ALL: [(&'static str, Self); 7] = [
        ("choice", Self::Choice),
        ("multi", Self::Multi),
        ("text", Self::Text),
        ("number", Self::Number),
        ("confirm", Self::Confirm),
        ("file", Self::File),
        ("document", Self::Document),
    ];

    /// The type of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, slot)| *slot)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, slot)| *slot == self).map_or("", |(name, _)| name)
    }

    /// Whether a person chooses among its options.
    pub fn has_options(self) -> bool {
        matches!(self, Self::Choice | Self::Multi)
    }

    /// All that is wrong with the options of a question.
    pub fn option_faults(self, options: &[String]) -> Vec<String> {
        let name = self.as_str();
        match self {
            Self::Choice | Self::Multi => {
                let mut faults = Vec::new();
                if options.is_empty() {
                    faults.push(format!("a `{name}` needs `options`"));
                }
                for (place, option) in options.iter().enumerate() {
                    let size = option.chars().count();
                    if size > MAX_OPTION {
                        let message = format!(
                            "option {} has {size} characters; {MAX_OPTION} are allowed",
                            place + 1
                        );
                        faults.push(message);
                    } else if options[..place].contains(option) {
                        faults.push(format!("the option `{option}` is listed twice"));
                    }
                }
                faults
            }
            Self::Document => match options {
                [] => Vec::new(),
                [text] if text.len() <= MAX_DOCUMENT => Vec::new(),
                [text] => vec![too_long(text)],
                _ => vec!["`options` of a `document` has one element, its first text".to_owned()],
            },
            _ if options.is_empty() => Vec::new(),
            _ => vec![format!(
                "`options` belong to `choice`, `multi` and `document`, not to `{name}`"
            )],
        }
    }

    /// All that is wrong with an answer.
    pub fn faults(self, options: &[String], value: &Value) -> Vec<String> {
        let offered = || options.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(", ");
        let is_option =
            |value: &Value| value.as_str().is_some_and(|text| options.iter().any(|o| o == text));
        match (self, value) {
            (Self::Choice, value) if is_option(value) => Vec::new(),
            (Self::Choice, _) => vec![format!("the value is one of {}", offered())],
            (Self::Multi, Value::Array(chosen)) => {
                let mut faults = Vec::new();
                for (place, one) in chosen.iter().enumerate() {
                    if !is_option(one) {
                        let shown: String = one.to_string().chars().take(100).collect();
                        faults.push(format!("{shown} is not an option; there are {}", offered()));
                    } else if chosen[..place].contains(one) {
                        faults.push(format!("{one} is listed twice"));
                    }
                }
                faults.truncate(20);
                faults
            }
            (Self::Multi, _) => vec![format!("the value is a list with any of {}", offered())],
            (Self::Text, Value::String(text)) => {
                let size = text.chars().count();
                let mut faults = Vec::new();
                if text.trim().is_empty() {
                    faults.push("the value is a text that says something".to_owned());
                }
                if size > MAX_TEXT {
                    faults.push(format!("the value has {size} characters; {MAX_TEXT} are allowed"));
                }
                faults
            }
            (Self::Document, Value::String(text)) if text.len() > MAX_DOCUMENT => {
                vec![too_long(text)]
            }
            (Self::Document, Value::String(text)) if text.trim().is_empty() => {
                vec!["the value is a text that says something".to_owned()]
            }
            (Self::Document, Value::String(_)) => Vec::new(),
            (Self::Text | Self::Document, _) => vec!["the value is a text".to_owned()],
            (Self::Number, Value::Number(_)) | (Self::Confirm, Value::Bool(_)) => Vec::new(),
            (Self::Number, _) => vec!["the value is a number".to_owned()],
            (Self::Confirm, _) => vec!["the value is `true` or `false`".to_owned()],
            (Self::File, Value::String(id)) if (1..=200).contains(&id.len()) => Vec::new(),
            (Self::File, _) => vec!["the value is the id of a file".to_owned()],
        }
    }

    /// The schema of an answer, as elicitation may ask for it.
    pub fn schema(self, options: &[String]) -> Value {
        match self {
            Self::Choice => json!({"type": "string", "enum": options}),
            Self::Multi => {
                json!({"type": "array", "items": {"type": "string", "enum": options}})
            }
            Self::Text => json!({"type": "string", "minLength": 1, "maxLength": MAX_TEXT}),
            Self::Document => {
                let mut schema =
                    json!({"type": "string", "minLength": 1, "maxLength": MAX_DOCUMENT});
                if let Some(text) = options.first() {
                    schema["default"] = text.as_str().into();
                }
                schema
            }
            Self::Number => json!({"type": "number"}),
            Self::Confirm => json!({"type": "boolean"}),
            Self::File => {
                json!({"type": "string", "description": "The id of a file.", "minLength": 1, "maxLength": 200})
            }
        }
    }
}

impl FromStr for SlotType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::named(name).ok_or(())
    }
}

fn too_long(document: &str) -> String {
    format!("the text has {} bytes; {MAX_DOCUMENT} are allowed", document.len())
}
