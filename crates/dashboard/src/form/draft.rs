//! The typed texts of a form.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::faults::Faults;
use super::{Field, Form, Kind, below};

/// The longest list in a form; a longer one is edited as JSON.
const MAX_ITEMS: usize = 200;

/// The typed texts and the lengths of lists, by JSON pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    texts: BTreeMap<String, String>,
    lengths: BTreeMap<String, usize>,
    /// The whole value as JSON, if it is edited as such.
    raw: Option<String>,
}

impl Draft {
    /// A draft with the schema's defaults.
    pub(crate) fn fresh(form: &Form<'_>) -> Self {
        let mut draft = Self::default();
        draft.fill_defaults(form, form.top(), "");
        if matches!(form.top().kind, Kind::Json) {
            draft.texts.entry(String::new()).or_insert_with(|| "{}".to_owned());
        }
        draft
    }

    /// A draft of a value; as JSON if the form has no field for a part of it.
    pub(crate) fn of_value(form: &Form<'_>, value: &Value) -> Self {
        let mut draft = Self::default();
        if draft.fill(form, form.top(), "", value) { draft } else { Self::raw(value) }
    }

    /// A draft that is edited as JSON.
    pub(crate) fn raw(value: &Value) -> Self {
        Self { raw: Some(format!("{value:#}")), ..Self::default() }
    }

    /// Reads the fields of a browser: `v/path` for texts, `n/path` for lengths, `raw` for the whole value.
    pub(crate) fn of_fields(fields: &[(String, String)]) -> Self {
        let mut draft = Self::default();
        for (name, value) in fields {
            if name == "raw" {
                draft.raw = Some(value.clone());
            } else if let Some(pointer) = name.strip_prefix('v').filter(|rest| is_pointer(rest)) {
                draft.texts.insert(pointer.to_owned(), value.clone());
            } else if let Some(pointer) = name.strip_prefix('n').filter(|rest| is_pointer(rest)) {
                let length = value.parse().unwrap_or(0).min(MAX_ITEMS);
                draft.lengths.insert(pointer.to_owned(), length);
            }
        }
        draft
    }

    /// Whether the whole value is edited as JSON.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw.is_some()
    }

    pub(super) fn raw_text(&self) -> Option<&str> {
        self.raw.as_deref()
    }

    pub(super) fn text(&self, pointer: &str) -> &str {
        self.texts.get(pointer).map_or("", String::as_str)
    }

    pub(super) fn length(&self, pointer: &str) -> usize {
        self.lengths.get(pointer).copied().unwrap_or(0)
    }

    /// Adds an item to a list or removes one, if the action is to do so.
    pub(crate) fn change(&mut self, form: &Form<'_>, action: &str) -> bool {
        if let Some(list) = action.strip_prefix("add:") {
            let index = self.length(list);
            if index < MAX_ITEMS {
                self.lengths.insert(list.to_owned(), index + 1);
                if let Some(item) = self.item(form, list) {
                    self.fill_defaults(form, item, &below(list, &index.to_string()));
                }
            }
            return true;
        }
        let Some((list, index)) = action.strip_prefix("remove:").and_then(|at| at.rsplit_once('/'))
        else {
            return false;
        };
        let (length, Ok(index)) = (self.length(list), index.parse::<usize>()) else { return true };
        if index < length {
            self.lengths.insert(list.to_owned(), length - 1);
            self.texts = without_item(&self.texts, list, index);
            self.lengths = without_item(&self.lengths, list, index);
        }
        true
    }

    /// The field of an item of a list.
    fn item<'a>(&self, form: &Form<'a>, list: &str) -> Option<Field<'a>> {
        let mut field = form.top();
        for step in list.split('/').skip(1) {
            field = match field.kind {
                Kind::List(items) => form.field(items, field.depth + 1),
                Kind::Object(_) => {
                    let name = step.replace("~1", "/").replace("~0", "~");
                    form.properties(&field).into_iter().find(|(one, _, _)| *one == name)?.1
                }
                _ => return None,
            };
        }
        match field.kind {
            Kind::List(items) => Some(form.field(items, field.depth + 1)),
            _ => None,
        }
    }

    fn fill_defaults(&mut self, form: &Form<'_>, field: Field<'_>, pointer: &str) {
        if let Some(default) = field.default_value()
            && self.fill(form, field, pointer, default)
        {
            return;
        }
        match field.kind {
            Kind::Object(_) => {
                for (name, child, _) in form.properties(&field) {
                    self.fill_defaults(form, child, &below(pointer, name));
                }
            }
            Kind::List(items) => {
                let least = field.schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let least = usize::try_from(least).unwrap_or(0).min(3);
                self.lengths.insert(pointer.to_owned(), least);
                for index in 0..least {
                    let item = form.field(items, field.depth + 1);
                    self.fill_defaults(form, item, &below(pointer, &index.to_string()));
                }
            }
            _ => {}
        }
    }

    /// Fills the form with a value; false if it has no field for a part of it.
    fn fill(&mut self, form: &Form<'_>, field: Field<'_>, pointer: &str, value: &Value) -> bool {
        let text = match (field.kind, value) {
            (_, Value::Null) if field.nullable => return true,
            (Kind::Text, Value::String(text)) if !text.is_empty() => text.clone(),
            (Kind::Number { .. }, Value::Number(number)) => number.to_string(),
            (Kind::Flag, Value::Bool(flag)) => flag.to_string(),
            (Kind::Choice(choices), value) => {
                match choices.listed().position(|(one, _)| one == value) {
                    Some(index) => index.to_string(),
                    None => return false,
                }
            }
            (Kind::Object(_), Value::Object(map)) => {
                let properties = form.properties(&field);
                let known = |name: &str| properties.iter().any(|(one, _, _)| *one == name);
                return map.keys().all(|name| known(name))
                    && properties.iter().all(|(name, child, _)| match map.get(*name) {
                        Some(value) => self.fill(form, *child, &below(pointer, name), value),
                        None => true,
                    });
            }
            (Kind::List(items), Value::Array(values)) if values.len() <= MAX_ITEMS => {
                self.lengths.insert(pointer.to_owned(), values.len());
                let item = form.field(items, field.depth + 1);
                return values.iter().enumerate().all(|(index, value)| {
                    // Only in a list is an empty text a value.
                    value.as_str() == Some("") && matches!(item.kind, Kind::Text)
                        || self.fill(form, item, &below(pointer, &index.to_string()), value)
                });
            }
            (Kind::Json, value) => format!("{value:#}"),
            _ => return false,
        };
        self.texts.insert(pointer.to_owned(), text);
        true
    }

    /// The typed value, if there is one, and its faults.
    pub(crate) fn value(&self, form: &Form<'_>) -> (Option<Value>, Faults) {
        let mut faults = Faults::default();
        let value = match &self.raw {
            Some(text) => json(text, "", &mut faults),
            None => {
                let position = Position { pointer: "", required: true, in_list: false };
                self.read(form, form.top(), position, &mut faults)
            }
        };
        (value, faults)
    }

    fn read(
        &self,
        form: &Form<'_>,
        field: Field<'_>,
        position: Position<'_>,
        faults: &mut Faults,
    ) -> Option<Value> {
        let text = self.text(position.pointer);
        let value = match field.kind {
            Kind::Text if text.is_empty() && !position.in_list => None,
            Kind::Text => Some(Value::String(text.to_owned())),
            Kind::Number { whole } => number(text, whole, position.pointer, faults),
            Kind::Flag => match text {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                _ => None,
            },
            Kind::Choice(choices) => {
                let chosen = text.parse().ok().and_then(|index| choices.listed().nth(index));
                chosen.map(|(value, _)| value.clone())
            }
            Kind::Json => json(text, position.pointer, faults),
            Kind::Object(_) => return self.object(form, field, position, faults),
            Kind::List(items) => {
                let length = self.length(position.pointer);
                if length == 0 && !position.required {
                    return None;
                }
                let item = form.field(items, field.depth + 1);
                let read = |index: usize| {
                    let pointer = below(position.pointer, &index.to_string());
                    let position = Position { pointer: &pointer, required: true, in_list: true };
                    self.read(form, item, position, faults).unwrap_or_default()
                };
                return Some(Value::Array((0..length).map(read).collect()));
            }
        };
        match value {
            None if position.required && field.nullable => Some(Value::Null),
            None => {
                if position.required && faults.at(position.pointer).is_empty() {
                    faults.missing(position.pointer);
                }
                None
            }
            value => value,
        }
    }

    fn object(
        &self,
        form: &Form<'_>,
        field: Field<'_>,
        position: Position<'_>,
        faults: &mut Faults,
    ) -> Option<Value> {
        let (mut map, mut inner) = (Map::new(), Faults::default());
        for (name, child, required) in form.properties(&field) {
            let pointer = below(position.pointer, name);
            let position = Position { pointer: &pointer, required, in_list: false };
            // An optional object without any typed value is left out; `null` is not typed.
            let read = self.read(form, child, position, &mut inner);
            if let Some(value) = read {
                map.insert(name.to_owned(), value);
            }
        }
        let typed =
            map.values().any(|value| !value.is_null() && *value != Value::Array(Vec::new()));
        if !typed && !position.required {
            faults.append(inner.only_unreadable());
            return None;
        }
        faults.append(inner);
        Some(Value::Object(map))
    }
}

#[derive(Clone, Copy)]
struct Position<'a> {
    pointer: &'a str,
    required: bool,
    in_list: bool,
}

fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// The entries without one item of a list; later items move up.
fn without_item<T: Clone>(
    entries: &BTreeMap<String, T>,
    list: &str,
    removed: usize,
) -> BTreeMap<String, T> {
    let moved = |pointer: &String| -> Option<String> {
        let inside = pointer.strip_prefix(list).and_then(|rest| rest.strip_prefix('/'));
        let Some(inside) = inside else { return Some(pointer.clone()) };
        let (index, rest) = inside.split_at(inside.find('/').unwrap_or(inside.len()));
        match index.parse::<usize>() {
            Ok(index) if index == removed => None,
            Ok(index) if index > removed => Some(format!("{list}/{}{rest}", index - 1)),
            _ => Some(pointer.clone()),
        }
    };
    entries.iter().filter_map(|(key, value)| Some((moved(key)?, value.clone()))).collect()
}

fn number(text: &str, whole: bool, pointer: &str, faults: &mut Faults) -> Option<Value> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(number) if !whole || number.is_i64() || number.is_u64() => Some(Value::Number(number)),
        Ok(_) => {
            faults.unreadable(pointer, "is not a whole number");
            None
        }
        Err(_) => {
            faults.unreadable(pointer, "is not a number");
            None
        }
    }
}

fn json(text: &str, pointer: &str, faults: &mut Faults) -> Option<Value> {
    if text.trim().is_empty() {
        return None;
    }
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(error) => {
            faults.unreadable(pointer, format!("is not JSON: {error}"));
            None
        }
    }
}
