//! The input of a call as arguments of the command line.

use serde_json::{Map, Value};

use crate::exit::Usage;

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
    fn what_is_no_argument_is_refused_with_the_form() {
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
