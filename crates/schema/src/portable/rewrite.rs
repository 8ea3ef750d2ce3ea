use proto::canonical;
use serde_json::{Map, Value, json};

use super::flat::Flat;
use super::gemini::formats;
use crate::{MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH};

/// The least size that one schema counts, so that many small ones are bounded as well.
const NODE_BYTES: usize = 32;

/// The longest text about keywords that are left out of one schema.
const MAX_NOTE_CHARS: usize = 400;

/// The longest JSON that such a text quotes.
const MAX_QUOTE_CHARS: usize = 120;

type Node = Map<String, Value>;

/// Rewrites an input schema into one that the model APIs accept. It allows what the original allows, or more: keywords that
/// an API refuses become part of the description. Calls are still checked against the original.
pub fn portable(schema: &Value) -> Node {
    Rewriter::new(schema, false).root()
}

/// The portable form for a list in which each byte counts: without bounds, patterns and defaults, which the gateway checks
/// and adds itself, and without descriptions of lists of words.
pub fn brief(schema: &Value) -> Node {
    let mut root = Rewriter::new(schema, true).root();
    root.remove("description");
    root
}

struct Rewriter<'a> {
    root: &'a Value,
    /// The references that lead to the current node.
    open: Vec<&'a str>,
    /// How many bytes the result may still have: references can multiply a schema.
    left: usize,
    is_brief: bool,
}

impl<'a> Rewriter<'a> {
    fn new(root: &'a Value, is_brief: bool) -> Self {
        Self { root, open: Vec::new(), left: MAX_SCHEMA_BYTES, is_brief }
    }

    /// The root is an object whose properties are listed: those of all variants, if it has some.
    fn root(mut self) -> Node {
        let Value::Object(node) = self.root else {
            let mut root = typed_node("object");
            root.insert("properties".to_owned(), json!({}));
            return root;
        };
        let mut flat = Flat::of(node, self.root, &[]);
        let mut notes = Notes::default();
        let mut required = flat.required();
        if let Some(variants) = variants(&flat) {
            notes.quote("one of these forms", &Value::Array(variants.clone()));
            let mut always: Option<Vec<&str>> = None;
            for variant in variants.iter().filter_map(Value::as_object) {
                let variant = Flat::of(variant, self.root, &[]);
                let names = variant.required();
                always = Some(match always {
                    None => names,
                    Some(always) => {
                        always.into_iter().filter(|name| names.contains(name)).collect()
                    }
                });
                flat.extend(variant);
            }
            required.extend(always.unwrap_or_default());
        }
        self.open.extend(&flat.followed);
        let mut root = self.object(&flat, &required, 0, &mut notes);
        root.entry("properties").or_insert_with(|| json!({}));
        self.describe(&mut root, &flat, &notes);
        root
    }

    /// `is_optional`: of a property that may be left out, `null` says nothing more.
    fn rewrite(&mut self, schema: &'a Value, depth: usize, is_optional: bool) -> Node {
        let Value::Object(node) = schema else { return self.any_value() };
        let flat = Flat::of(node, self.root, &self.open);
        let has_room = depth <= MAX_SCHEMA_DEPTH && self.spend(NODE_BYTES);
        if flat.is_recursive || !has_room {
            return shallow(&flat);
        }
        let opened = self.open.len();
        self.open.extend(&flat.followed);
        let rewritten = self.form(&flat, depth, is_optional);
        self.open.truncate(opened);
        rewritten
    }

    fn form(&mut self, flat: &Flat<'a>, depth: usize, is_optional: bool) -> Node {
        let mut types = flat.types();
        let mut is_nullable = types.contains(&"null");
        types.retain(|kind| *kind != "null");
        let mut notes = Notes::default();
        let mut forms = Vec::new();
        if let Some(variants) = variants(flat) {
            let has_own_form = !types.is_empty();
            let of_variants = self.variants(variants, depth, &mut is_nullable);
            match of_variants {
                Some(found) if !has_own_form || flat.properties().is_empty() => forms = found,
                // They only constrain the form that the node itself describes.
                _ => notes.quote("one of", &Value::Array(variants.clone())),
            }
        }
        if forms.is_empty() {
            forms = types.iter().map(|kind| self.typed(kind, flat, depth, &mut notes)).collect();
        }
        let mut form = match forms.len() {
            0 => self.any_value(),
            1 => forms.remove(0),
            _ => Node::from_iter([(
                "anyOf".to_owned(),
                forms.into_iter().map(Value::Object).collect(),
            )]),
        };
        self.describe(&mut form, flat, &notes);
        if is_nullable && !is_optional {
            edit_first(&mut form, |first| {
                first.insert("nullable".to_owned(), true.into());
            });
        }
        form
    }

    /// The forms of variants without repetition; none if one of them has no form of its own.
    fn variants(
        &mut self,
        variants: &'a [Value],
        depth: usize,
        is_nullable: &mut bool,
    ) -> Option<Vec<Node>> {
        let mut forms: Vec<Node> = Vec::new();
        for variant in variants {
            let flat = Flat::of(variant.as_object()?, self.root, &self.open);
            let types = flat.types();
            if types == ["null"] {
                *is_nullable = true;
                continue;
            }
            if types.is_empty() && self::variants(&flat).is_none() && !flat.is_recursive {
                return None;
            }
            let mut form = self.rewrite(variant, depth + 1, true);
            let inner = match form.remove("anyOf") {
                Some(Value::Array(inner)) => inner,
                _ => vec![Value::Object(form)],
            };
            for form in inner {
                if let Value::Object(form) = form
                    && !forms.contains(&form)
                {
                    forms.push(form);
                }
            }
        }
        Some(join_words(forms))
    }

    /// The part of a node that is about one type.
    fn typed(&mut self, kind: &str, flat: &Flat<'a>, depth: usize, notes: &mut Notes) -> Node {
        let mut form = match kind {
            "object" => self.object(flat, &flat.required(), depth, notes),
            "array" => self.array(flat, depth, notes),
            _ => self.scalar(kind, flat, notes),
        };
        for keyword in bounds(kind) {
            let whole = |value: &&Value| kind == "number" || value.is_i64() || value.is_u64();
            if let Some(bound) = flat.get(keyword).filter(|value| value.is_number()).filter(whole)
                && (!self.is_brief || is_tight(keyword, bound))
            {
                self.copy(&mut form, keyword, bound);
            }
        }
        form
    }

    fn object(
        &mut self,
        flat: &Flat<'a>,
        required: &[&str],
        depth: usize,
        notes: &mut Notes,
    ) -> Node {
        let mut properties = Node::new();
        for (name, schema) in flat.properties() {
            // `false` allows no value: the property must be left out.
            if *schema != Value::Bool(false) && self.spend(name.len() + NODE_BYTES) {
                let is_optional = !required.contains(&name);
                let property = self.rewrite(schema, depth + 1, is_optional);
                properties.insert(name.to_owned(), Value::Object(property));
            }
        }
        let mut names: Vec<_> =
            required.iter().copied().filter(|name| properties.contains_key(*name)).collect();
        names.sort_unstable();
        names.dedup();
        let mut form = typed_node("object");
        if !properties.is_empty() {
            form.insert("properties".to_owned(), Value::Object(properties));
        }
        if !names.is_empty() {
            form.insert("required".to_owned(), names.into());
        }
        if let Some(more @ Value::Object(_)) = flat.get("additionalProperties") {
            notes.quote("values of other keys", more);
        }
        for keyword in ["patternProperties", "propertyNames", "dependentRequired"] {
            notes.keyword(flat, keyword);
        }
        form
    }

    fn array(&mut self, flat: &Flat<'a>, depth: usize, notes: &mut Notes) -> Node {
        let mut form = typed_node("array");
        let items = match flat.get("items") {
            Some(items @ Value::Object(_)) => self.rewrite(items, depth + 1, false),
            // A list of schemas is how older drafts describe tuples.
            Some(tuple @ Value::Array(_)) => {
                notes.quote("items in this order", tuple);
                any_item()
            }
            _ => any_item(),
        };
        form.insert("items".to_owned(), Value::Object(items));
        if let Some(tuple) = flat.get("prefixItems") {
            notes.quote("items in this order", tuple);
        }
        if flat.get("uniqueItems") == Some(&Value::Bool(true)) {
            notes.add("no item twice");
        }
        notes.keyword(flat, "contains");
        form
    }

    fn scalar(&mut self, kind: &str, flat: &Flat<'a>, notes: &mut Notes) -> Node {
        let mut form = typed_node(kind);
        if let Some(values) = flat.values() {
            let words: Vec<_> = values
                .iter()
                .filter(|value| value.as_str().is_some_and(|text| !text.is_empty()))
                .cloned()
                .collect();
            let holds_all = values.iter().all(|value| value.is_null() || words.contains(value));
            if kind == "string" && holds_all && !words.is_empty() {
                self.copy(&mut form, "enum", &Value::Array(words));
            } else {
                notes.quote("one of", &Value::Array(values.to_vec()));
            }
        }
        if let Some(Value::String(format)) = flat.get("format") {
            if formats(kind).contains(&format.as_str()) && format != "enum" {
                form.insert("format".to_owned(), format.as_str().into());
            } else {
                notes.add(format!("format: {format}"));
            }
        }
        if kind == "string"
            && !self.is_brief
            && let Some(pattern @ Value::String(_)) = flat.get("pattern")
        {
            self.copy(&mut form, "pattern", pattern);
        }
        for (keyword, words) in [
            ("exclusiveMinimum", "greater than"),
            ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"),
        ] {
            if let Some(bound) = flat.get(keyword).filter(|bound| bound.is_number()) {
                notes.add(format!("{words} {bound}"));
            }
        }
        form
    }

    /// Adds title, description and default. Next to `anyOf` nothing may be, so its first form gets the description.
    fn describe(&mut self, form: &mut Node, flat: &Flat<'a>, notes: &Notes) {
        let description = flat.get("description").and_then(Value::as_str).unwrap_or_default();
        let mut notes = notes.clone();
        for keyword in ["not", "if", "then", "else", "dependentSchemas"] {
            notes.keyword(flat, keyword);
        }
        let text = if !self.is_brief {
            notes.after(description)
        } else if form.contains_key("enum") {
            // The words of a list say what they are.
            String::new()
        } else {
            description.to_owned()
        };
        let is_union = form.contains_key("anyOf");
        if !is_union && !self.is_brief {
            if let Some(title @ Value::String(_)) = flat.get("title") {
                self.copy(form, "title", title);
            }
            if let Some(default) = flat.get("default").filter(|default| !default.is_null()) {
                self.copy(form, "default", default);
            }
        }
        if text.is_empty() || !self.spend(text.len()) {
            return;
        }
        edit_first(form, |first| {
            let text = match first.get("description").and_then(Value::as_str) {
                Some(inner) if inner != text => format!("{text} {inner}"),
                _ => text,
            };
            first.insert("description".to_owned(), text.into());
        });
    }

    /// The forms that any value has, since `type` must not be missing; in short, those of documents.
    fn any_value(&self) -> Node {
        let item = if self.is_brief { typed_node("object") } else { any_item() };
        let array = json!({"type": "array", "items": item});
        if self.is_brief {
            let forms = json!([{"type": "object"}, array, {"type": "string"}]);
            return Node::from_iter([("anyOf".to_owned(), forms)]);
        }
        let mut any = any_item();
        if let Some(Value::Array(forms)) = any.get_mut("anyOf") {
            forms.push(array);
        }
        any
    }

    /// Copies a keyword if there is room for it.
    fn copy(&mut self, form: &mut Node, keyword: &str, value: &Value) {
        if self.spend(keyword.len() + canonical::len(value)) {
            form.insert(keyword.to_owned(), value.clone());
        }
    }

    fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

fn variants<'a>(flat: &Flat<'a>) -> Option<&'a Vec<Value>> {
    flat.list("anyOf").or_else(|| flat.list("oneOf"))
}

/// The bounds of a type that the APIs know.
fn bounds(kind: &str) -> &'static [&'static str] {
    match kind {
        "object" => &["minProperties", "maxProperties"],
        "array" => &["minItems", "maxItems"],
        "string" => &["minLength", "maxLength"],
        "number" | "integer" => &["minimum", "maximum"],
        _ => &[],
    }
}

/// Whether a caller is likely to exceed a bound.
fn is_tight(keyword: &str, bound: &Value) -> bool {
    keyword == "maximum" && bound.as_u64().is_some_and(|bound| bound <= 1000)
}

fn typed_node(kind: &str) -> Node {
    Node::from_iter([("type".to_owned(), kind.into())])
}

/// Only the type of a node, where a reference leads back to it or the result would be too large.
fn shallow(flat: &Flat<'_>) -> Node {
    let mut types = flat.types();
    types.retain(|kind| *kind != "null");
    let mut form = typed_node(types.first().unwrap_or(&"object"));
    if types.first() == Some(&"array") {
        form.insert("items".to_owned(), Value::Object(any_item()));
    }
    form
}

fn any_item() -> Node {
    let forms = ["object", "string", "number", "boolean"].map(|kind| json!({"type": kind}));
    Node::from_iter([("anyOf".to_owned(), Value::Array(forms.into()))])
}

/// Edits the node that a description or `nullable` belongs to.
fn edit_first(form: &mut Node, edit: impl FnOnce(&mut Node)) {
    match form.get_mut("anyOf").and_then(|forms| forms.get_mut(0)) {
        Some(Value::Object(first)) => edit(first),
        _ => edit(form),
    }
}

/// Joins forms that are each a list of words into one list, with their descriptions.
fn join_words(forms: Vec<Node>) -> Vec<Node> {
    let is_words = |form: &Node| {
        form.contains_key("enum")
            && form
                .keys()
                .all(|key| ["type", "enum", "description", "title"].contains(&key.as_str()))
    };
    if forms.len() < 2 || !forms.iter().all(is_words) {
        return forms;
    }
    let (mut words, mut descriptions) = (Vec::new(), Vec::new());
    for form in &forms {
        let own = form.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
        if let (Some(text), [word]) = (form.get("description").and_then(Value::as_str), &own[..]) {
            descriptions.push(format!("{}: {text}", word.as_str().unwrap_or_default()));
        }
        words.extend(own.into_iter().filter(|word| !words.contains(word)).collect::<Vec<_>>());
    }
    let mut joined = typed_node("string");
    joined.insert("enum".to_owned(), Value::Array(words));
    if !descriptions.is_empty() {
        joined.insert("description".to_owned(), descriptions.join("; ").into());
    }
    vec![joined]
}

/// Sentences that describe keywords which cannot be kept.
#[derive(Clone, Default)]
struct Notes(Vec<String>);

impl Notes {
    fn add(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.0.contains(&note) {
            self.0.push(note);
        }
    }

    fn quote(&mut self, what: &str, value: &Value) {
        self.add(format!("{what}: {}", cut(&value.to_string(), MAX_QUOTE_CHARS)));
    }

    fn keyword(&mut self, flat: &Flat<'_>, keyword: &str) {
        if let Some(value) = flat.get(keyword) {
            self.quote(keyword, value);
        }
    }

    /// A description followed by the notes.
    fn after(&self, description: &str) -> String {
        if self.0.is_empty() {
            return description.to_owned();
        }
        let notes = cut(&self.0.join("; "), MAX_NOTE_CHARS);
        if description.is_empty() { notes } else { format!("{description} ({notes})") }
    }
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
