//! How deep the values of a workflow may be nested, and how long the paths into them may be.

use std::slice;

use serde_json::{Value, map};

/// The most levels of lists and objects in an argument, in the list of `for_each` and in an output. Rows and answers add a few
/// levels, and serde_json reads at most 127: what is deeper could be stored, and never be read again.
pub const MAX_VALUE_DEPTH: usize = prompts::template::MAX_DEPTH;

/// The most bytes that the keys on the way to a value have. Each template of a task is known by its path, so the paths of many
/// templates below a long key would have the square of the DAG's length.
const MAX_KEY_BYTES: usize = 1024;

/// Why a value is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NestingError {
    #[error("the value is nested {0} levels deep; {MAX_VALUE_DEPTH} are allowed")]
    TooDeep(usize),
    #[error("the keys on the way to a value have {0} bytes; {MAX_KEY_BYTES} are allowed")]
    LongKeys(usize),
}

/// The nesting of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Nesting {
    /// The levels of lists and objects.
    depth: usize,
    /// The most bytes of keys that lead to a value.
    key_bytes: usize,
}

impl Nesting {
    fn of(value: &Value) -> Self {
        let walk = Walk::of(value);
        let whole = Self { depth: walk.open.len(), key_bytes: 0 };
        walk.fold(whole, |most, part| Self {
            depth: most.depth.max(part.depth),
            key_bytes: most.key_bytes.max(part.key_bytes),
        })
    }
}

/// Visits each part of a value once, without recursion. It takes memory by the depth of the value.
struct Walk<'a> {
    /// The lists and objects around the next part, and the bytes of the keys that lead to each.
    open: Vec<(Parts<'a>, usize)>,
}

/// The parts of a list or object that are not visited yet.
enum Parts<'a> {
    Items(slice::Iter<'a, Value>),
    Fields(map::Iter<'a>),
}

impl<'a> Walk<'a> {
    fn of(value: &'a Value) -> Self {
        Self { open: Parts::of(value).map(|parts| (parts, 0)).into_iter().collect() }
    }
}

impl<'a> Parts<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(items) => Some(Self::Items(items.iter())),
            Value::Object(fields) => Some(Self::Fields(fields.iter())),
            _ => None,
        }
    }

    /// The next part, and the bytes of its key.
    fn next(&mut self) -> Option<(&'a Value, usize)> {
        match self {
            Self::Items(items) => items.next().map(|item| (item, 0)),
            Self::Fields(fields) => fields.next().map(|(name, field)| (field, name.len())),
        }
    }
}

impl Iterator for Walk<'_> {
    type Item = Nesting;

    fn next(&mut self) -> Option<Nesting> {
        loop {
            let (parts, above) = self.open.last_mut()?;
            let Some((part, key)) = parts.next() else {
                self.open.pop();
                continue;
            };
            let key_bytes = *above + key;
            self.open.extend(Parts::of(part).map(|parts| (parts, key_bytes)));
            return Some(Nesting { depth: self.open.len(), key_bytes });
        }
    }
}

/// Refuses a value that is nested so deeply that it could not be read again.
pub fn check_depth(value: &Value) -> Result<(), NestingError> {
    let depth = Nesting::of(value).depth;
    if depth <= MAX_VALUE_DEPTH { Ok(()) } else { Err(NestingError::TooDeep(depth)) }
}

/// Refuses a value of a DAG that is nested too deeply, or whose parts have long paths. `key` leads to the value.
pub(crate) fn check_value(key: &str, value: &Value) -> Result<(), NestingError> {
    let Nesting { depth, key_bytes } = Nesting::of(value);
    let key_bytes = key_bytes + key.len();
    if depth > MAX_VALUE_DEPTH {
        return Err(NestingError::TooDeep(depth));
    }
    if key_bytes > MAX_KEY_BYTES { Err(NestingError::LongKeys(key_bytes)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// A number within this many lists.
    fn nest(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]))
    }

    /// The text of a number within this many lists.
    fn nested_text(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn the_deepest_value_that_is_allowed_can_be_read_within_rows_and_answers() {
        assert_eq!(check_depth(&nest(MAX_VALUE_DEPTH)), Ok(()));
        let too_deep = NestingError::TooDeep(MAX_VALUE_DEPTH + 1);
        assert_eq!(check_depth(&nest(MAX_VALUE_DEPTH + 1)), Err(too_deep));
        assert_eq!(too_deep.to_string(), "the value is nested 65 levels deep; 64 are allowed");
        // The arguments of a task in the deepest sub-workflow are 15 levels down in the row of its plan.
        let read = |levels| serde_json::from_str::<Value>(&nested_text(levels)).is_ok();
        assert!(read(MAX_VALUE_DEPTH + 15) && read(127) && !read(128));
    }

    #[test]
    fn a_value_deeper_than_any_stack_is_measured() {
        let levels = 1_000_000;
        let mut value = nest(levels);
        assert_eq!(check_depth(&value), Err(NestingError::TooDeep(levels)));
        // Dropped level by level, because a value drops its parts by recursion.
        while let Value::Array(items) = &mut value {
            let inner = items.pop().unwrap_or_default();
            value = inner;
        }
    }

    #[test]
    fn a_large_list_below_a_long_key_is_visited_once_and_refused() {
        let key = "k".repeat(480_000);
        let list = json!({key.clone(): vec![""; 160_000]});
        assert_eq!(Walk::of(&list).count(), 160_001);
        assert_eq!(Nesting::of(&list), Nesting { depth: 2, key_bytes: 480_000 });
        assert_eq!(check_value("x", &list), Err(NestingError::LongKeys(480_001)));
        assert_eq!(check_value(&key, &json!(1)), Err(NestingError::LongKeys(480_000)));
        assert_eq!(check_value("x", &json!({"k".repeat(1023): vec![""; 160_000]})), Ok(()));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from)];
        leaf.prop_recursive(8, 64, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{0,3}", inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Counts the levels of a value by recursion.
    fn depth_by_recursion(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth_by_recursion).max().unwrap_or(0),
            Value::Object(fields) => 1 + fields.values().map(depth_by_recursion).max().unwrap_or(0),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn the_depth_is_the_number_of_levels(value in any_value()) {
            prop_assert_eq!(Nesting::of(&value).depth, depth_by_recursion(&value));
        }
    }
}
