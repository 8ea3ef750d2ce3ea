//! Tools as the planner sees them: their fields, and what kind of value each field takes.

use language::words::{is_stop_word, stem, words};
use serde_json::Value;

/// Where tools of servers without an output schema put their text.
pub const TEXT_OUTPUT: &str = "content[0].text";

/// The most fields of one schema that are looked at.
const MAX_FIELDS: usize = 64;

/// A tool that can be part of a plan.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    pub id: String,
    /// The server or group that the id names, empty if it names none.
    pub family: String,
    pub inputs: Vec<Field>,
    pub outputs: Vec<Field>,
    /// Stems of the name, without the family.
    pub name_stems: Vec<String>,
    /// Stems of name, family, title, description and parameter names.
    pub stems: Vec<String>,
    /// Whether its name says that it only looks something up.
    pub looks_up: bool,
}

/// One input or output field.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
    /// The kind of the items, for lists.
    pub item: Option<Kind>,
    pub sense: Sense,
    pub required: bool,
    /// Words of the name, in order.
    pub name_words: Vec<String>,
    /// Stems of the name, in order.
    pub name_stems: Vec<String>,
    /// Stems of the description that are not in the name.
    pub about_stems: Vec<String>,
    pub options: Vec<Value>,
    pub default: Option<Value>,
    /// The fields of an object, or of the items of a list.
    pub fields: Vec<Field>,
    /// Date and time in one value.
    pub has_time: bool,
    /// Dates are expected as `YYYY-MM-DD`.
    pub wants_iso: bool,
    /// Times are expected as `HH:MM`.
    pub wants_clock: bool,
    /// A percentage is expected as a fraction of one.
    pub wants_fraction: bool,
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

const LOOKUPS: [&str; 18] = [
    "find", "search", "get", "list", "lookup", "look", "fetch", "query", "read", "show",
    "retrieve", "check", "resolve", "locate", "describe", "browse", "view", "suggest",
];

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
        let inputs = fields(input_schema);
        let outputs = output_schema.map(fields).unwrap_or_default();
        let name_stems = stems(name);
        let mut all = stems(&format!("{id} {title} {description}"));
        for input in &inputs {
            all.extend(input.name_stems.iter().cloned());
        }
        all.sort_unstable();
        all.dedup();
        let first = words(name).into_iter().next().unwrap_or_default();
        Self {
            id: id.to_owned(),
            family,
            inputs,
            outputs,
            looks_up: LOOKUPS.contains(&first.as_str()),
            name_stems,
            stems: all,
        }
    }

    /// Says that a call returns blocks of text, of which the first is meant.
    pub fn returns_text(&mut self) {
        let schema =
            serde_json::json!({"type": "string", "description": "text content result output"});
        let mut field = Field::new("text", &schema, false);
        field.name = TEXT_OUTPUT.to_owned();
        self.outputs = vec![field];
    }

    /// The inputs that a call must have.
    pub fn required(&self) -> impl Iterator<Item = &Field> {
        self.inputs.iter().filter(|field| field.required)
    }
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

fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .take(MAX_FIELDS)
        .map(|(name, schema)| Field::new(name, schema, required.contains(&name.as_str())))
        .collect()
}

impl Field {
    fn new(name: &str, schema: &Value, required: bool) -> Self {
        let description = schema["description"].as_str().unwrap_or_default();
        let kind = kind(schema);
        let item = (kind == Kind::List).then(|| self::kind(&schema["items"]));
        let name_words = name_words(name);
        let name_stems: Vec<String> = name_words.iter().map(|word| stem(word)).collect();
        let about_stems: Vec<String> =
            stems(description).into_iter().filter(|stem| !name_stems.contains(stem)).collect();
        let form = description.to_ascii_lowercase();
        let format = schema["format"].as_str().unwrap_or_default();
        let sense = sense(&name_stems, &about_stems, kind, format, &form);
        let options = schema["enum"].as_array().cloned().unwrap_or_default();
        Self {
            name: name.to_owned(),
            kind,
            item,
            sense,
            required,
            options,
            default: schema.get("default").cloned(),
            fields: match kind {
                Kind::Object => fields(schema),
                Kind::List => fields(&schema["items"]),
                _ => Vec::new(),
            },
            has_time: format == "date-time"
                || form.contains("yyyy-mm-dd hh")
                || form.contains("yyyy-mm-ddt"),
            wants_iso: format.starts_with("date")
                || form.contains("yyyy-mm-dd")
                || form.contains("iso 8601"),
            wants_clock: format == "time" || form.contains("hh:mm"),
            wants_fraction: form.contains("decimal") || form.contains("fraction"),
            name_words,
            name_stems,
            about_stems,
        }
    }

    /// Whether the field takes one of `true` and `false`, by type or by its options.
    pub(crate) fn is_flag(&self) -> bool {
        self.kind == Kind::Boolean
            || self.options.len() == 2
                && self.options.iter().all(|option| {
                    option.as_str().is_some_and(|text| {
                        text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
                    })
                })
    }

    /// Whether its name has one of these words.
    pub(crate) fn is_named(&self, names: &[&str]) -> bool {
        self.name_words.iter().any(|word| names.contains(&word.as_str()))
    }
}

fn kind(schema: &Value) -> Kind {
    let named = |name: &str| match name {
        "string" => Kind::Text,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        "array" => Kind::List,
        "object" => Kind::Object,
        _ => Kind::Any,
    };
    match &schema["type"] {
        Value::String(name) => named(name),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.next().map_or(Kind::Any, named)
        }
        _ => {
            let alternatives = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
            let mut kinds = alternatives.into_iter().flatten().map(kind);
            kinds.find(|kind| *kind != Kind::Any).unwrap_or(Kind::Any)
        }
    }
}

fn sense(name: &[String], about: &[String], kind: Kind, format: &str, form: &str) -> Sense {
    let has = |words: &[&str]| {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        name.iter().any(|part| stems.contains(part))
    };
    let says = |words: &[&str]| {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        about.iter().any(|part| stems.contains(part))
    };
    let numeric = matches!(kind, Kind::Integer | Kind::Number);
    match format {
        "date" | "date-time" => return Sense::Date,
        "time" => return Sense::Time,
        "email" => return Sense::Email,
        "uri" | "url" => return Sense::Url,
        _ => {}
    }
    if numeric {
        return if has(&["percent", "percentage", "rate"]) {
            Sense::Percent
        } else if has(&[
            "duration", "period", "term", "days", "nights", "hours", "minutes", "seconds",
            "months", "years",
        ]) {
            Sense::Duration
        } else if has(&[
            "amount",
            "price",
            "cost",
            "fee",
            "salary",
            "revenue",
            "expense",
            "principal",
            "bill",
            "income",
            "budget",
            "allowance",
            "total",
            "payment",
        ]) {
            Sense::Money
        } else {
            Sense::Other
        };
    }
    if form.contains("yyyy-mm-dd")
        || has(&["date", "birthdate", "birthday", "deadline", "day"]) && !has(&["number", "days"])
    {
        Sense::Date
    } else if has(&["time", "hour"]) && !has(&["zone", "timezone"]) {
        Sense::Time
    } else if has(&["email", "mail"]) {
        Sense::Email
    } else if has(&["url", "uri", "link", "website", "href", "webpage"]) {
        Sense::Url
    } else if has(&[
        "path",
        "file",
        "filename",
        "filepath",
        "directory",
        "folder",
        "dir",
        "files",
        "paths",
    ]) {
        Sense::Path
    } else if has(&["phone", "mobile", "telephone"]) && !has(&["model", "brand"]) {
        Sense::Phone
    } else if has(&["id", "ids", "identifier", "uuid", "key", "token"]) {
        Sense::Id
    } else if has(&[
        "city",
        "location",
        "place",
        "address",
        "origin",
        "destination",
        "area",
        "country",
        "state",
        "town",
        "region",
        "where",
        "locations",
    ]) || says(&["city"])
    {
        Sense::Place
    } else {
        Sense::Other
    }
}
