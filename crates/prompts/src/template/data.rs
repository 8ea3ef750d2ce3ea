//! Lists and maps that know how deep and how large they are, so that none grows beyond its bounds and no walk over one
//! is longer than its size allows.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectExt as _, ObjectRepr, Serde, ValueKind};
use minijinja::{Error, ErrorKind, Value};
use serde_json::Value as Json;

use super::budget::Budget;

/// The deepest nesting of a value.
pub const MAX_DEPTH: usize = 64;

/// The largest value with everything in it, parts that occur twice counted twice. Inputs may be larger.
const MAX_WEIGHT: usize = 32 << 20;

/// What an item takes in its list, and an entry in its map.
const ITEM_BYTES: usize = 24;
const ENTRY_BYTES: usize = 64;

/// Nesting and bytes of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    depth: usize,
    weight: usize,
}

impl Size {
    fn add(&mut self, part: Self) {
        self.depth = self.depth.max(part.depth + 1);
        self.weight = self.weight.saturating_add(part.weight);
    }

    fn check(self) -> Result<(), Error> {
        if self.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        if self.weight > MAX_WEIGHT {
            let message = format!("a value has more than {} MiB", MAX_WEIGHT >> 20);
            return Err(Error::new(ErrorKind::WriteFailure, message));
        }
        Ok(())
    }
}

pub(super) fn too_deep() -> Error {
    let message = format!("a value is nested deeper than {MAX_DEPTH} levels");
    Error::new(ErrorKind::WriteFailure, message)
}

#[derive(Debug)]
pub(super) struct List {
    items: Vec<Value>,
    shape: Shape,
    size: Size,
}

/// How a list is written, and whether its items have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    List,
    Tuple,
    /// A group of `groupby`.
    Group,
}

#[derive(Debug)]
pub(super) struct Map {
    fields: BTreeMap<Value, Value>,
    size: Size,
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let at = match (self.shape, key.as_str()) {
            (Shape::Group, Some("grouper")) => 0,
            (Shape::Group, Some("list")) => 1,
            _ => key.as_usize()?,
        };
        self.items.get(at).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.items.len())
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.shape, self.items.as_slice()) {
            (Shape::List, items) => f.debug_list().entries(items).finish(),
            (_, [only]) => write!(f, "({only:?},)"),
            (_, items) => {
                f.write_str("(")?;
                for (at, item) in items.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{item:?}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Object for Map {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.fields.get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        self.mapped_enumerator(|this| Box::new(this.fields.keys().cloned()))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.fields.len())
    }
}

/// How a list is written.
pub(super) fn shape(value: &Value) -> Shape {
    value.downcast_object_ref::<List>().map_or(Shape::List, |list| list.shape)
}

/// Whether a value is a list with a known size.
pub(super) fn is_list(value: &Value) -> bool {
    value.downcast_object_ref::<List>().is_some_and(|list| list.shape == Shape::List)
}

/// Bytes of a value with everything in it.
pub(super) fn weight(value: &Value) -> usize {
    size(value).map_or(ENTRY_BYTES, |size| size.weight)
}

/// How deep a value is nested.
pub(super) fn depth(value: &Value) -> usize {
    size(value).map_or(0, |size| size.depth)
}

/// The size of a value, unless it is one that no list or map can hold: a loop or a namespace, which change.
fn size(value: &Value) -> Option<Size> {
    if let Some(text) = value.as_str() {
        return Some(Size { depth: 0, weight: ITEM_BYTES + text.len() });
    }
    if let Some(list) = value.downcast_object_ref::<List>() {
        return Some(list.size);
    }
    if let Some(map) = value.downcast_object_ref::<Map>() {
        return Some(map.size);
    }
    match value.kind() {
        ValueKind::Map | ValueKind::Seq | ValueKind::Iterable => None,
        _ => Some(Size { depth: 0, weight: ITEM_BYTES }),
    }
}

pub(super) fn list(items: Vec<Value>, shape: Shape) -> Result<Value, Error> {
    let mut whole = Size { depth: 1, weight: ITEM_BYTES };
    for item in &items {
        whole.add(size(item).ok_or_else(unstorable)?);
    }
    whole.check()?;
    Ok(Value::from_object(List { items, shape, size: whole }))
}

pub(super) fn map(fields: BTreeMap<Value, Value>) -> Result<Value, Error> {
    let mut whole = Size { depth: 1, weight: ITEM_BYTES };
    for (key, value) in &fields {
        if matches!(key.kind(), ValueKind::Map | ValueKind::Seq | ValueKind::Iterable) {
            let message = "a list or a map cannot be the key of a map";
            return Err(Error::new(ErrorKind::InvalidOperation, message));
        }
        whole.add(size(key).ok_or_else(unstorable)?);
        whole.add(size(value).ok_or_else(unstorable)?);
    }
    whole.check()?;
    Ok(Value::from_object(Map { fields, size: whole }))
}

fn unstorable() -> Error {
    let message = "a loop or a namespace cannot be part of another value";
    Error::new(ErrorKind::InvalidOperation, message)
}

/// Refuses what a namespace cannot hold: itself, or another one.
pub(super) fn check_storable(value: &Value) -> Result<(), Error> {
    size(value).map(drop).ok_or_else(unstorable)
}

/// Whether the texts of a value are new, or those of other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    New,
    Shared,
}

/// Pays for a value that the engine made, and gives its lists and maps their sizes. Lazy lists are read.
pub(super) fn adopt(value: Value, texts: Texts, budget: &Budget) -> Result<Value, Error> {
    if is_data(&value) { adopt_below(value, texts, budget, MAX_DEPTH) } else { Ok(value) }
}

/// Whether a value is a list or a map of the engine, or a scalar. Loops and namespaces are not.
fn is_data(value: &Value) -> bool {
    value.kind() != ValueKind::Map || as_plain_map(value).is_some()
}

fn as_plain_map(value: &Value) -> Option<&BTreeMap<Value, Value>> {
    value.downcast_object_ref::<BTreeMap<Value, Value>>()
}

fn adopt_below(value: Value, texts: Texts, budget: &Budget, room: usize) -> Result<Value, Error> {
    if value.as_str().is_none() && size(&value).is_some() {
        return Ok(value);
    }
    if let Some(text) = value.as_str() {
        if texts == Texts::New {
            budget.charge(text.len())?;
        }
        return Ok(value);
    }
    let room = room.checked_sub(1).ok_or_else(too_deep)?;
    if value.kind() == ValueKind::Map {
        let fields = as_plain_map(&value).ok_or_else(unstorable)?;
        let mut adopted = BTreeMap::new();
        for (key, field) in fields {
            budget.charge(ENTRY_BYTES)?;
            let key = adopt_below(key.clone(), texts, budget, room)?;
            adopted.insert(key, adopt_below(field.clone(), texts, budget, room)?);
        }
        return map(adopted);
    }
    let shape = if value.is_tuple() { Shape::Tuple } else { Shape::List };
    let mut items = Vec::new();
    for item in value.try_iter()?.checked() {
        budget.charge(ITEM_BYTES)?;
        items.push(adopt_below(item?, texts, budget, room)?);
    }
    list(items, shape)
}

/// JSON as a value of the engine. One that is nested too deeply fails as soon as a template reads it.
pub fn value(json: &Json) -> Value {
    if !is_shallow(json, MAX_DEPTH) {
        return Value::from(too_deep());
    }
    convert(json).0
}

/// Named values of the engine as one value.
pub fn record<'a>(fields: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let mut whole = Size { depth: 1, weight: ITEM_BYTES };
    let fields = fields.into_iter().map(|(name, field)| {
        whole.add(size(&field).unwrap_or_default());
        whole.weight = whole.weight.saturating_add(ITEM_BYTES + name.len());
        (Value::from(name), field)
    });
    let fields = fields.collect();
    Value::from_object(Map { fields, size: whole })
}

/// Whether a value has at most this many levels of lists and objects.
pub fn is_shallow(json: &Json, levels: usize) -> bool {
    match json {
        Json::Array(items) => levels > 0 && items.iter().all(|item| is_shallow(item, levels - 1)),
        Json::Object(fields) => {
            levels > 0 && fields.values().all(|field| is_shallow(field, levels - 1))
        }
        _ => true,
    }
}

/// The bytes of a value in the engine, if they are no more than `limit`. One that is nested too deeply takes none.
pub fn weigh(json: &Json, limit: usize) -> Option<usize> {
    fn subtract(json: &Json, left: &mut usize) -> Option<()> {
        let own = match json {
            Json::String(text) => ITEM_BYTES + text.len(),
            Json::Object(fields) => {
                fields.iter().map(|(name, _)| 2 * ITEM_BYTES + name.len()).sum::<usize>()
                    + ITEM_BYTES
            }
            _ => ITEM_BYTES,
        };
        *left = left.checked_sub(own)?;
        match json {
            Json::Array(items) => items.iter().try_for_each(|item| subtract(item, left)),
            Json::Object(fields) => fields.values().try_for_each(|field| subtract(field, left)),
            _ => Some(()),
        }
    }
    if !is_shallow(json, MAX_DEPTH) {
        return Some(0);
    }
    let mut left = limit;
    subtract(json, &mut left)?;
    Some(limit - left)
}

/// A value of the engine as JSON, for an argument of a function.
pub fn argument(value: &Value, budget: &Budget) -> Result<Json, Error> {
    budget.charge(weight(value))?;
    serde_json::to_value(value).map_err(|error| {
        Error::new(ErrorKind::BadSerialization, "the argument is not JSON").with_source(error)
    })
}

fn convert(json: &Json) -> (Value, Size) {
    let mut whole = Size { depth: 1, weight: ITEM_BYTES };
    let made = match json {
        Json::Array(items) => {
            let items = items.iter().map(|item| {
                let (item, size) = convert(item);
                whole.add(size);
                item
            });
            let items = items.collect();
            Value::from_object(List { items, shape: Shape::List, size: whole })
        }
        Json::Object(fields) => {
            let made = record(fields.iter().map(|(name, field)| (name.as_str(), convert(field).0)));
            let whole = size(&made).unwrap_or_default();
            return (made, whole);
        }
        scalar => {
            let made = Value::from(Serde(scalar));
            let size = size(&made).unwrap_or_default();
            return (made, size);
        }
    };
    (made, whole)
}
