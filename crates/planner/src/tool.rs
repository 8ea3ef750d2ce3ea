//! Tools as the planner sees them: their fields, and what kind of value each field takes.

mod sense;

use std::cell::Cell;
use std::collections::HashSet;

use language::words::{is_stop_word, stem, words};
use serde_json::Value;

use crate::word_list::WordList;
use sense::sense;

/// Where tools of servers without an output schema put their text.
pub const TEXT_OUTPUT: &str = "content[0].text";

/// The most fields of one schema that are looked at.
const MAX_FIELDS: usize = 64;

/// The most fields of one tool's input or output, those of objects within it included: a schema that refers to itself has
/// no end.
const MAX_ALL_FIELDS: usize = 512;

/// The most words of a field's description that count.
const MAX_ABOUT: usize = 32;

/// How deep schemas are read, and how many references in a row are followed.
const MAX_DEPTH: usize = 4;

/// A tool that can be part of a plan.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub id: String,
    /// The server or group that the id names, empty if it names none.
    pub family: String,
    pub inputs: Box<[Field]>,
    pub outputs: Box<[Field]>,
    /// Stems of the name, without the family.
    pub name_stems: WordList,
    /// Stems of name, family, title, description and parameter names.
    pub stems: Vec<String>,
    /// The first stem of the name that is not the family's.
    pub action: Box<str>,
    /// Stems of the words of the name that can be verbs: not those of `staged`.
    pub verb_stems: WordList,
    /// Whether its name says that it only looks something up.
    pub looks_up: bool,
    /// Whether its name has such a word anywhere.
    pub only_looks: bool,
    /// Whether its name says that it checks something.
    pub checks: bool,
    /// Whether its name says that it changes something.
    pub changes: bool,
    /// Whether its name says that it takes something away.
    pub destroys: bool,
    /// Whether its name says that it is about one file, not about a folder.
    pub takes_file: bool,
    /// Whether it says itself that another tool should be used.
    pub is_deprecated: bool,
    /// Stems of verbs that its name, title and description have only as a participle: `staged`.
    pub participles: WordList,
}

/// One input or output field.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: Box<str>,
    pub kind: Kind,
    /// The kind of the items, for lists.
    pub item: Option<Kind>,
    pub sense: Sense,
    pub required: bool,
    /// Words of the name, in order.
    pub name_words: WordList,
    /// Stems of the name, in order.
    pub name_stems: WordList,
    /// Stems of the description that are not in the name.
    pub about_stems: WordList,
    /// The values that it takes, or that its items take.
    pub options: Box<[Value]>,
    /// The stems of each option that is a word or several.
    pub option_stems: Box<[(usize, WordList)]>,
    pub has_default: bool,
    /// The fields of an object, or of the items of a list.
    pub fields: Box<[Field]>,
    /// Date and time in one value.
    pub has_time: bool,
    /// Dates are expected as `YYYY-MM-DD`.
    pub wants_iso: bool,
    /// Times are expected as `HH:MM`.
    pub wants_clock: bool,
    /// Time zones are expected by their IANA name.
    pub wants_zone: bool,
    /// Whether it takes a pattern of file names.
    pub glob: Glob,
    /// A percentage is expected as a fraction of one.
    pub wants_fraction: bool,
    /// Takes ids of files.
    pub takes_file_id: bool,
    /// Takes references to stored parts of answers.
    pub takes_reference: bool,
}

/// The JSON type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    Any,
}

/// What patterns of file names a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glob {
    None,
    /// `*.txt`.
    Flat,
    /// `**/*.txt` for the files of all folders.
    Deep,
}

/// What a value means, as far as a field's name and description tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    Date,
    Time,
    Email,
    Url,
    Path,
    Phone,
    Place,
    Percent,
    Money,
    Duration,
    Id,
    Other,
}

/// Verbs that only look something up.
pub(crate) const LOOKUPS: [&str; 18] = [
    "find", "search", "get", "list", "lookup", "look", "fetch", "query", "read", "show",
    "retrieve", "check", "resolve", "locate", "describe", "browse", "view", "suggest",
];

const CHECKS: [&str; 3] = ["validate", "verify", "check"];

/// Verbs that change something, sorted.
const CHANGES: [&str; 38] = [
    "add", "append", "apply", "cancel", "checkout", "clear", "commit", "connect", "copy", "create",
    "delete", "disable", "drop", "edit", "enable", "erase", "insert", "link", "merge", "modify",
    "move", "patch", "post", "publish", "push", "put", "rebase", "remove", "rename", "replace",
    "reset", "restore", "revert", "send", "set", "update", "upload", "write",
];

/// Those that take something away, sorted.
const DESTROYS: [&str; 12] = [
    "clear", "delete", "destroy", "discard", "drop", "erase", "purge", "remove", "reset", "revert",
    "truncate", "wipe",
];

/// Whether a verb changes something.
pub(crate) fn is_changing(verb: &str) -> bool {
    CHANGES.binary_search(&verb).is_ok() || is_destroying(verb)
}

/// Whether a verb takes something away.
pub(crate) fn is_destroying(verb: &str) -> bool {
    DESTROYS.binary_search(&verb).is_ok()
}

/// Whether a word is a participle such as `staged`.
fn is_participle(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && !word.ends_with("eed")
}

impl ToolSpec {
    /// Reads a tool's schemas. A schema without properties has no fields.
    pub fn new(
        id: &str,
        title: &str,
        description: &str,
        input_schema: &Value,
        output_schema: Option<&Value>,
    ) -> Self {
        let (family, name) = match id.rsplit_once([':', '.', '/']) {
            Some((family, name)) => (family.to_owned(), name),
            None => (String::new(), id),
        };
        let mut inputs = Schema::new(input_schema, &Cell::new(MAX_ALL_FIELDS)).fields();
        let globs = glob(description);
        let pattern = ["pattern", "patterns", "glob", "globs", "mask"];
        for input in inputs.iter_mut().filter(|input| input.is_named(&pattern)) {
            input.glob = globs;
        }
        let outputs = output_schema
            .map(|schema| Schema::new(schema, &Cell::new(MAX_ALL_FIELDS)).fields())
            .unwrap_or_default();
        let name_stems = stems(name);
        let mut all = stems(&format!("{id} {title} {description}"));
        for input in &inputs {
            all.extend(input.name_stems.iter().map(ToOwned::to_owned));
        }
        all.sort_unstable();
        all.dedup();
        let first = words(name).into_iter().next().unwrap_or_default();
        let family_stems = stems(&family);
        let verbs: Vec<String> =
            words(name).iter().filter(|word| !is_participle(word)).map(|word| stem(word)).collect();
        let text = words(&format!("{name} {title} {description}"));
        let others: HashSet<String> =
            text.iter().filter(|word| !is_participle(word)).map(|word| stem(word)).collect();
        let mut participles: Vec<String> = text
            .iter()
            .filter(|word| is_participle(word))
            .map(|word| stem(word))
            .filter(|stem| !others.contains(stem))
            .collect();
        participles.sort_unstable();
        participles.dedup();
        let action = words(name).into_iter().find(|word| !family_stems.contains(&stem(word)));
        Self {
            verb_stems: list(&verbs),
            action: name_stems
                .iter()
                .find(|stem| !family_stems.contains(stem))
                .or(name_stems.first())
                .map_or_else(Box::default, |stem| stem.as_str().into()),
            checks: CHECKS.contains(&first.as_str()),
            destroys: action.as_ref().is_some_and(|word| is_destroying(word)),
            changes: action.is_some_and(|word| is_changing(&word)),
            takes_file: words(name).iter().any(|word| word == "file")
                && !["directory", "folder", "dir"].iter().any(|word| name.contains(word)),
            is_deprecated: text.iter().any(|word| word == "deprecated"),
            participles: list(&participles),
            id: id.to_owned(),
            family,
            inputs,
            outputs,
            only_looks: words(name).iter().any(|word| LOOKUPS.contains(&word.as_str())),
            looks_up: LOOKUPS.contains(&first.as_str()),
            name_stems: list(&name_stems),
            stems: all,
        }
    }

    /// Says that a call returns blocks of text, of which plans use the first.
    pub fn returns_text(&mut self) {
        let schema =
            serde_json::json!({"type": "string", "description": "text content result output"});
        let left = Cell::new(MAX_ALL_FIELDS);
        let mut field = Field::new("text", &schema, Schema::new(&schema, &left), false);
        field.name = TEXT_OUTPUT.into();
        self.outputs = Box::new([field]);
    }

    /// The inputs that a call must have.
    pub fn required(&self) -> impl Iterator<Item = &Field> {
        self.inputs.iter().filter(|field| field.required)
    }
}

/// The patterns of file names that a tool's description shows.
fn glob(description: &str) -> Glob {
    if description.contains("**/") {
        Glob::Deep
    } else if description.contains("*.") || description.to_ascii_lowercase().contains("glob") {
        Glob::Flat
    } else {
        Glob::None
    }
}

fn list(words: &[String]) -> WordList {
    WordList::new(words.iter().map(String::as_str))
}

/// The distinct stems of the words of a text, without function words, in order.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut stems: Vec<String> = Vec::new();
    for word in words(text).iter().filter(|word| !is_stop_word(word)) {
        let stem = stem(word);
        if !stems.contains(&stem) {
            stems.push(stem);
        }
    }
    stems
}

/// The parts of a name; function words count, since `from` and `to` say what a field is for.
fn name_words(name: &str) -> Vec<String> {
    let mut parts = words(name);
    // The last word is the whole name where it has several parts.
    let pieces = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let wholes: Vec<String> = pieces.map(language::words::fold).collect();
    if parts.len() > wholes.len() {
        parts.retain(|part| !wholes.contains(part));
    }
    parts.dedup();
    parts
}

/// A schema with the definitions that its references name.
#[derive(Clone, Copy)]
struct Schema<'a> {
    node: &'a Value,
    root: &'a Value,
    depth: usize,
    /// How many more fields are read.
    left: &'a Cell<usize>,
}

impl<'a> Schema<'a> {
    fn new(root: &'a Value, left: &'a Cell<usize>) -> Self {
        Self { node: root, root, depth: 0, left }.resolved()
    }

    /// A part of this schema.
    fn part(self, node: &'a Value) -> Self {
        Self { node, depth: self.depth + 1, ..self }.resolved()
    }

    /// Follows `$ref` and, where the schema itself has no type, the first alternative that is not `null`.
    fn resolved(mut self) -> Self {
        for _ in 0..MAX_DEPTH {
            let target = self.node["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
            let alternatives =
                self.node["anyOf"].as_array().or_else(|| self.node["oneOf"].as_array());
            let next = match (target, alternatives) {
                (Some(path), _) => self.root.pointer(path),
                (None, Some(among)) if self.node.get("type").is_none() => {
                    among.iter().find(|schema| schema["type"] != "null")
                }
                _ => None,
            };
            let Some(next) = next else { break };
            self.node = next;
        }
        self
    }

    fn fields(self) -> Box<[Field]> {
        if self.depth > MAX_DEPTH {
            return Box::default();
        }
        let required = self.node["required"].as_array().into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let Some(properties) = self.node["properties"].as_object() else { return Box::default() };
        // Counted before what they hold, so that a deep field leaves none out that comes after it.
        let count = properties.len().min(MAX_FIELDS).min(self.left.get());
        self.left.set(self.left.get() - count);
        properties
            .iter()
            .take(count)
            .map(|(name, schema)| Field::new(name, schema, self, required.contains(&name.as_str())))
            .collect()
    }

    fn kind(self) -> Kind {
        let named = |name: &str| match name {
            "string" => Kind::Text,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "array" => Kind::List,
            "object" => Kind::Object,
            _ => Kind::Any,
        };
        match &self.node["type"] {
            Value::String(name) => named(name),
            Value::Array(names) => {
                let mut names =
                    names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
                names.next().map_or(Kind::Any, named)
            }
            _ => Kind::Any,
        }
    }
}

impl Field {
    /// The field of a schema; what the schema says itself counts before what it refers to.
    fn new(name: &str, written: &Value, parent: Schema<'_>, required: bool) -> Self {
        let resolved = parent.part(written);
        let schema = resolved.node;
        let own = |key: &str| written.get(key).or_else(|| schema.get(key));
        let description = own("description").and_then(Value::as_str).unwrap_or_default();
        let kind = resolved.kind();
        let items = resolved.part(&schema["items"]);
        let item = (kind == Kind::List).then(|| items.kind());
        let name_words = name_words(name);
        let name_stems: Vec<String> = name_words.iter().map(|word| stem(word)).collect();
        let mut about_stems = stems(description);
        about_stems.retain(|stem| !name_stems.contains(stem));
        about_stems.truncate(MAX_ABOUT);
        let form = description.to_ascii_lowercase();
        let format = schema["format"].as_str().unwrap_or_default();
        let named = |names: &[&str]| name_words.iter().any(|word| names.contains(&word.as_str()));
        let takes_text = matches!(item.unwrap_or(kind), Kind::Text | Kind::Any);
        let is_id = takes_text && named(&["id", "ids"]);
        let sense = sense(&name_stems, &about_stems, kind, format, &form);
        // A list has those of its items.
        let chosen = if kind == Kind::List { items.node } else { schema };
        let options = chosen["enum"].as_array().cloned().unwrap_or_default();
        let written = |(place, option): (usize, &Value)| {
            let text = option.as_str().filter(|text| text.chars().any(char::is_alphabetic))?;
            let stems = list(&stems(text));
            (stems.len() > 0).then_some((place, stems))
        };
        let option_stems = options.iter().enumerate().filter_map(written).collect();
        Self {
            name: name.into(),
            kind,
            item,
            sense,
            required,
            options: options.into(),
            option_stems,
            has_default: own("default").is_some(),
            fields: match kind {
                Kind::Object => resolved.fields(),
                Kind::List => items.fields(),
                _ => Box::default(),
            },
            has_time: format == "date-time"
                || form.contains("yyyy-mm-dd hh")
                || form.contains("yyyy-mm-ddt"),
            wants_iso: format.starts_with("date")
                || form.contains("yyyy-mm-dd")
                || form.contains("iso 8601"),
            wants_clock: format == "time" || form.contains("hh:mm"),
            wants_zone: name_words.iter().any(|word| matches!(word.as_str(), "timezone" | "zone"))
                && (form.contains("iana") || form.contains("america/") || form.contains("europe/")),
            glob: Glob::None,
            wants_fraction: form.contains("decimal") || form.contains("fraction"),
            takes_file_id: is_id && named(&["file", "files"])
                || takes_text && (form.contains("file_…") || form.contains("file_...")),
            takes_reference: is_id && named(&["ref", "refs", "reference", "references"])
                || takes_text && (form.contains("ref_…") || form.contains("ref_...")),
            name_words: list(&name_words),
            name_stems: list(&name_stems),
            about_stems: list(&about_stems),
        }
    }

    /// Whether the field takes one of `true` and `false`, by type or by its options.
    pub(crate) fn is_flag(&self) -> bool {
        self.kind == Kind::Boolean
            || self.options.len() == 2
                && self.kind != Kind::List
                && self.options.iter().all(|option| {
                    option.as_str().is_some_and(|text| {
                        text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
                    })
                })
    }

    /// Whether any text is as good as another for it.
    pub(crate) fn takes_any_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Any)
            && self.sense == Sense::Other
            && self.options.is_empty()
    }

    /// Whether its name has one of these words.
    pub(crate) fn is_named(&self, names: &[&str]) -> bool {
        self.name_words.iter().any(|word| names.contains(&word))
    }
}
