//! `onSuccess.path`: selects the data in the answer.

use jsonpath::JsonPath;
use proto::{Code, Failure};
use serde_json::Value;
use strip::run_blocking;

/// A JSONPath. A singular query selects one value; any other a list.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    path: JsonPath,
    text: String,
}

impl Selection {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let path = JsonPath::parse(text)
            .map_err(|fault| format!("`{text}` is not a JSONPath query: {fault}"))?;
        Ok(Self { path, text: text.to_owned() })
    }

    /// Takes the data out of the raw answer.
    pub(crate) fn take(&self, raw: Value) -> Result<Value, Failure> {
        if self.text == "$" {
            return Ok(raw);
        }
        // A query with wildcards or filters may compute for as long as its budget lasts.
        let single = self.path.is_singular();
        let found = if single {
            self.path.select(&raw, 1)
        } else {
            run_blocking(usize::MAX, || self.path.select(&raw, usize::MAX))
        };
        let found = found.map_err(|limit| self.failure(&limit.to_string()))?;
        if !single {
            return Ok(Value::Array(found.matches));
        }
        let first = found.matches.into_iter().next();
        first.ok_or_else(|| self.failure("the answer has nothing there"))
    }

    fn failure(&self, message: &str) -> Failure {
        Failure::new(Code::Internal, format!("`{}` (onSuccess.path): {message}", self.text))
    }
}

#[cfg(test)]
mod tests {
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
