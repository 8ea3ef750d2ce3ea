//! The input of a call as arguments of the command line.

use std::collections::BTreeMap;

use proto::{Code, Envelope, ErrorItem};
use serde_json::{Map, Value};

use crate::exit::Usage;

/// The fields that were given as `KEY=TEXT`.
pub(super) type Texts = BTreeMap<String, String>;

/// Reads `KEY=TEXT` and `KEY:=JSON` into an object.
pub(super) fn read(arguments: &[String]) -> Result<Value, Usage> {
    let mut input = Map::new();
    for argument in arguments {
        let (key, value) = read_one(argument)?;
        if input.insert(key.to_owned(), value).is_some() {
            return Err(Usage(format!(
                "`{key}` is given twice; a list is one value: {key}:='[\"a\", \"b\"]'"
            )));
        }
    }
    Ok(Value::Object(input))
}

fn read_one(argument: &str) -> Result<(&str, Value), Usage> {
    let Some((key, value)) = argument.split_once('=').filter(|(key, _)| !matches!(*key, "" | ":"))
    else {
        return Err(Usage(format!(
            "`{argument}` is not KEY=VALUE; write key=text, key:=JSON, or the whole input as --input '{{…}}'"
        )));
    };
    let Some(key) = key.strip_suffix(':') else { return Ok((key, value.into())) };
    let usage = |why: String| {
        Usage(format!("{key}:= takes JSON, and {value} {why}; for text write {key}=…"))
    };
    if !proto::big_integers(value.as_bytes()).is_empty() {
        return Err(usage(
            "has an integer of more than 64 bits, which would be rounded".to_owned(),
        ));
    }
    let value = serde_json::from_str(value).map_err(|error| usage(format!("is none ({error})")))?;
    Ok((key, value))
}

/// The fields that were given as text.
pub(super) fn texts(arguments: &[String]) -> Texts {
    let fields = arguments.iter().filter_map(|argument| argument.split_once('='));
    let texts = fields.filter(|(key, _)| !key.ends_with(':'));
    texts.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

/// The ways in which an input breaks the schema: JSON Pointers and messages.
pub(super) fn violations(error: &ErrorItem) -> Vec<(&str, &str)> {
    let listed = error.details.as_ref().and_then(|details| details["violations"].as_array());
    let listed = listed.into_iter().flatten();
    listed.filter_map(|one| Some((one["path"].as_str()?, one["message"].as_str()?))).collect()
}

/// In how many ways the input breaks the tool's schema, so that the tool did not run.
pub(super) fn count_violations(envelope: &Envelope) -> usize {
    let ours =
        |error: &&ErrorItem| error.code == Code::InvalidInput && error.answered_by().is_none();
    envelope.errors.iter().filter(ours).map(|error| violations(error).len()).sum()
}

/// The input with the refused texts read as the numbers and booleans that they spell; none if there are no such texts.
pub(super) fn reread(input: &Value, texts: &Texts, refused: &Envelope) -> Option<Value> {
    if count_violations(refused) == 0 {
        return None;
    }
    let mut changed = input.clone();
    for (key, text) in refused_texts(texts, refused) {
        if let Some(value) = number_or_boolean(text) {
            changed[key] = value;
        }
    }
    (changed != *input).then_some(changed)
}

/// How to write the refused texts as what the tool takes.
pub(super) fn advice(texts: &Texts, refused: &Envelope) -> Vec<String> {
    let of_type = |key: &str| {
        let mut all = refused.errors.iter().flat_map(violations);
        all.any(|(path, message)| {
            path.strip_prefix('/') == Some(key) && message.contains("of type")
        })
    };
    let advise = |(key, text): (&str, &str)| match serde_json::from_str::<Value>(text) {
        Ok(_) => {
            let text = text.replace('\'', "'\\''");
            Some(format!("  if it is not text, write {key}:='{text}'"))
        }
        Err(_) => of_type(key).then(|| format!("  write {key}:=JSON, such as {key}:=2")),
    };
    refused_texts(texts, refused).filter_map(advise).collect()
}

fn refused_texts<'a>(
    texts: &'a Texts,
    refused: &'a Envelope,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let paths = refused.errors.iter().flat_map(violations).map(|(path, _)| path);
    let mut keys: Vec<_> = paths.filter_map(|path| path.strip_prefix('/')).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().filter_map(move |key| {
        let (key, text) = texts.get_key_value(&key.replace("~1", "/").replace("~0", "~"))?;
        Some((key.as_str(), text.as_str()))
    })
}

fn number_or_boolean(text: &str) -> Option<Value> {
    if !proto::big_integers(text.as_bytes()).is_empty() {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_number() || value.is_boolean()).then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: &[&str]) -> Result<Value, String> {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        read(&arguments).map_err(|usage| usage.0)
    }

    #[test]
    fn arguments_become_an_object() {
        assert_eq!(of(&[]), Ok(json!({})));
        assert_eq!(
            of(&["message=hello=x", "empty=", "n:=3", "list:=[1, \"a\"]", "a:b=c"]),
            Ok(json!({"message": "hello=x", "empty": "", "n": 3, "list": [1, "a"], "a:b": "c"}))
        );
    }

    #[test]
    fn bad_arguments_are_refused_with_the_expected_form() {
        for (arguments, part) in [
            (&["hello"][..], "is not KEY=VALUE"),
            (&["=x"], "is not KEY=VALUE"),
            (&[":=1"], "is not KEY=VALUE"),
            (&["n:=three"], "for text write n=…"),
            (&["n:=123456789012345678901"], "more than 64 bits"),
            (&["a=1", "a=2"], "given twice"),
        ] {
            let refused = of(arguments).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }
}
