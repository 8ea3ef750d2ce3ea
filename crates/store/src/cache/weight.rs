//! What a value takes in memory, which can be many times its text.

use std::mem::size_of;
use std::sync::Arc;

use serde_json::Value;

use super::Recorded;

/// The overhead of a map entry, without the characters of the key.
const MAP_ENTRY: usize = (size_of::<String>() + size_of::<Value>()) * 3 / 2;

impl Recorded {
    /// The bytes that it takes in memory, about.
    pub(super) fn weight(&self) -> u64 {
        let native = self.native.as_ref().filter(|native| !Arc::ptr_eq(native, &self.data));
        let values = std::iter::once(&self.data).chain(native);
        let bytes: usize = values.map(|value| size_of::<Value>() + heap_bytes(value)).sum();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// The heap memory of a value, in bytes.
fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => {
            items.len() * size_of::<Value>() + items.iter().map(heap_bytes).sum::<usize>()
        }
        Value::Object(members) => {
            members.iter().map(|(key, member)| MAP_ENTRY + key.len() + heap_bytes(member)).sum()
        }
    }
}
