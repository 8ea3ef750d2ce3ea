//! Reads typed settings from a [`Node`] and reports all faults, each with its path: every setting has a default, so a
//! faulty one is removed from the tree and the rest is read again.

use std::fmt;

use schema::yaml::{Content, Entry, Node, Step};
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

/// The most faults that are reported at once.
const MAX_FAULTS: usize = 50;

/// A fault of one setting.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Misread {
    pub(crate) path: Vec<Step>,
    pub(crate) line: usize,
    pub(crate) why: Why,
}

impl Misread {
    /// The entry of `servers` that it belongs to.
    pub(crate) fn server(&self) -> Option<&str> {
        match self.path.as_slice() {
            [Step::Key(section), Step::Key(name), ..] if section == "servers" => Some(name),
            _ => None,
        }
    }
}

/// The kind of fault.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Why {
    UnknownKey { known: &'static [&'static str] },
    WrongType { expected: String, found: ActualValue },
    Other(String),
}

/// The value that is given where another kind is expected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ActualValue {
    /// It may be a secret.
    Text(String),
    Other(String),
}

/// Settings and the faults of those that could not be read.
pub(crate) struct Read<T> {
    pub(crate) value: T,
    pub(crate) faults: Vec<Misread>,
    /// Whether `value` has all settings without a fault. Otherwise it is the default.
    pub(crate) complete: bool,
}

/// Reads the valid settings, and lists the faults of the others.
pub(crate) fn read<T: DeserializeOwned + Default>(mut tree: Node) -> Read<T> {
    let mut faults = Vec::new();
    loop {
        match T::deserialize(NodeReader(&tree)) {
            Ok(value) => return Read { value, faults, complete: true },
            Err(error) => {
                let mut path = error.path;
                path.reverse();
                let line = error.line.unwrap_or(tree.line);
                let removed = tree.remove(&path);
                faults.push(Misread { path, line, why: error.why });
                if !removed || faults.len() == MAX_FAULTS {
                    return Read { value: T::default(), faults, complete: false };
                }
            }
        }
    }
}

/// An error while reading; the path is collected from the innermost key outwards.
#[derive(Debug)]
pub(crate) struct ReadError {
    path: Vec<Step>,
    line: Option<usize>,
    why: Why,
}

impl ReadError {
    fn new(why: String) -> Self {
        Self { path: Vec::new(), line: None, why: Why::Other(why) }
    }

    fn within(mut self, step: Step, line: usize) -> Self {
        self.line.get_or_insert(line);
        self.path.push(step);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Why::UnknownKey { .. } => f.write_str("unknown key"),
            Why::WrongType { expected, .. } => write!(f, "expected {expected}"),
            Why::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ReadError {}

impl serde::de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(text) => ActualValue::Text(text.to_owned()),
            other => ActualValue::Other(shown(other)),
        };
        let why = Why::WrongType { expected: in_plain_words(expected), found };
        Self { path: Vec::new(), line: None, why }
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        let hint =
            nearest(found, known).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Self::new(format!("`{found}` is not one of `{}`{hint}", known.join("`, `")))
    }

    fn unknown_field(_: &str, known: &'static [&'static str]) -> Self {
        Self { path: Vec::new(), line: None, why: Why::UnknownKey { known } }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("`{field}` is missing"))
    }
}

fn in_plain_words(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "a sequence" => "a list".to_owned(),
        "a map" => "keys and values".to_owned(),
        "a string" | "path string" => "text".to_owned(),
        _ if words.starts_with("struct ") => "keys and values".to_owned(),
        _ => words,
    }
}

fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "keys and values".to_owned(),
        other => other.to_string(),
    }
}

/// The known name that is most similar to a mistyped one.
pub(crate) fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    known
        .iter()
        .map(|name| (strsim::jaro_winkler(typed, name), *name))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Reads typed settings out of a node.
struct NodeReader<'de>(&'de Node);

impl<'de> Deserializer<'de> for NodeReader<'de> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.0.content {
            Content::Null => visitor.visit_unit(),
            Content::Bool(value) => visitor.visit_bool(*value),
            Content::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Content::Text(value) => visitor.visit_borrowed_str(value),
            Content::List(items) => visitor.visit_seq(Items { items, next: 0 }),
            Content::Map(entries) => visitor.visit_map(Entries { entries, next: 0 }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0.content {
            Content::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    /// A key without a value keeps the section's defaults.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.0.content {
            Content::Null => visitor.visit_map(Entries { entries: &[], next: 0 }),
            // Derived implementations would read a list as the fields in order.
            Content::List(_) => Err(serde::de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    /// A key without a value, such as one whose entries are all commented out, is an empty map.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0.content {
            Content::Null => visitor.visit_map(Entries { entries: &[], next: 0 }),
            _ => self.deserialize_any(visitor),
        }
    }

    /// A key without a value is an empty list.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0.content {
            Content::Null => visitor.visit_seq(Items { items: &[], next: 0 }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match &self.0.content {
            Content::Text(name) => visitor.visit_enum(Word(name)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct tuple tuple_struct identifier ignored_any
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ReadError> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(NodeReader(item))
            .map(Some)
            .map_err(|error| error.within(Step::Index(index), item.line))
    }
}

struct Entries<'de> {
    entries: &'de [Entry],
    next: usize,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ReadError> {
        let Some(entry) = self.entries.get(self.next) else { return Ok(None) };
        let key: StrDeserializer<'_, ReadError> = entry.key.as_str().into_deserializer();
        seed.deserialize(key)
            .map(Some)
            .map_err(|error| error.within(Step::Key(entry.key.clone()), entry.line))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let entry = &self.entries[self.next];
        self.next += 1;
        seed.deserialize(NodeReader(&entry.value))
            .map_err(|error| error.within(Step::Key(entry.key.clone()), entry.value.line))
    }
}

/// A unit variant of an enum.
struct Word<'de>(&'de str);

impl<'de> EnumAccess<'de> for Word<'de> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        let word: StrDeserializer<'_, ReadError> = self.0.into_deserializer();
        Ok((seed.deserialize(word)?, self))
    }
}

impl<'de> VariantAccess<'de> for Word<'de> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, ReadError> {
        Err(self.bare())
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ReadError> {
        Err(self.bare())
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, ReadError> {
        Err(self.bare())
    }
}

impl Word<'_> {
    fn bare(&self) -> ReadError {
        ReadError::new(format!("`{}` needs a value", self.0))
    }
}
