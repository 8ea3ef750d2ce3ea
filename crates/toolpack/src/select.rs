//! `onSuccess.path`: which part of what came back is the data.

use proto::Code;
use serde_json::Value;
use serde_json_path::JsonPath;
use strip::Failure;

/// A JSONPath. One that names a single place gives what is there; any other gives a list.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    path: JsonPath,
    text: String,
    single: bool,
}

impl Selection {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let path = JsonPath::parse(text)
            .map_err(|error| format!("`{text}` is not a JSONPath: {}", error.message()))?;
        Ok(Self { path, text: text.to_owned(), single: is_single(text) })
    }

    /// Takes the data out of the raw answer.
    pub(crate) fn take(&self, raw: Value) -> Result<Value, Failure> {
        if self.text == "$" {
            return Ok(raw);
        }
        let found = self.path.query(&raw);
        if !self.single {
            return Ok(found.all().into_iter().cloned().collect());
        }
        found.first().cloned().ok_or_else(|| {
            Failure::new(
                Code::Internal,
                format!("the answer has nothing at `{}` (onSuccess.path)", self.text),
            )
        })
    }
}

/// Whether a path consists of names and indices only, so that it can match at most once.
fn is_single(path: &str) -> bool {
    let mut quote = None;
    let mut previous = ' ';
    for character in path.chars() {
        match quote {
            Some(_) if previous == '\\' => {
                previous = ' ';
                continue;
            }
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None => match character {
                '\'' | '"' => quote = Some(character),
                '*' | '?' | ':' | ',' => return false,
                '.' if previous == '.' => return false,
                _ => {}
            },
        }
        previous = character;
    }
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn single_paths_give_a_value_and_others_a_list() {
        let raw = json!({"a": {"b": [1, 2]}, "x,*": 3, "items": [{"n": 1}]});
        for (path, expected) in [
            ("$", raw.clone()),
            ("$.a.b[1]", json!(2)),
            ("$['x,*']", json!(3)),
            ("$.items[*].n", json!([1])),
            ("$..n", json!([1])),
            ("$.none[*]", json!([])),
            ("$.a.b[0:1]", json!([1])),
        ] {
            assert_eq!(
                Selection::parse(path).unwrap().take(raw.clone()).unwrap(),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn nothing_at_a_single_place_is_a_failure() {
        let failure = Selection::parse("$.nope").unwrap().take(json!({})).unwrap_err();
        assert_eq!(failure.code, Code::Internal);
        assert!(failure.message.contains("$.nope"));
        assert!(Selection::parse("a.b").is_err());
    }
}
