//! Turns a call's input into a request. A caller's value stays in the part of the request that the document names.

use bytes::Bytes;
use egress::http::{Request, encode_component, has_dot_segment};
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proto::{Code, Failure};
use serde_json::Value;

use crate::operation::{BodyKind, Location, Operation, Parameter, Style};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The request of one call; `base` has no slash at its end, `fixed` are the config's headers.
pub fn build(
    operation: &Operation,
    base: &str,
    fixed: &HeaderMap,
    input: &Value,
    key: Option<&str>,
) -> Result<Request, Failure> {
    let mut path = operation.path.clone();
    let mut query: Vec<String> = Vec::new();
    let mut cookies: Vec<String> = Vec::new();
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/*;q=0.5"));
    for parameter in &operation.parameters {
        let Some(value) = input.get(&parameter.input).filter(|value| !value.is_null()) else {
            if parameter.location == Location::Path {
                return Err(invalid(format!("`{}` is missing", parameter.input)));
            }
            continue;
        };
        match parameter.location {
            Location::Path => {
                let filled = in_path(parameter, value);
                if filled.is_empty() {
                    // An empty segment would be the path of another operation, such as the list of all.
                    return Err(invalid(format!("`{}` is empty", parameter.input)));
                }
                path = path.replace(&format!("{{{}}}", parameter.name), &filled);
            }
            Location::Query => query.extend(in_query(parameter, value)),
            Location::Cookie => cookies.extend(in_query(parameter, value)),
            Location::Header => {
                let text = simple(&Parts::of(value, parameter.style, plain), parameter.explode);
                headers.insert(header_name(parameter)?, header_value(&parameter.input, &text)?);
            }
        }
    }
    if has_dot_segment(&path) {
        return Err(invalid("a value with `.` or `..` segments would change the path".to_owned()));
    }
    if !cookies.is_empty() {
        headers.insert(COOKIE, header_value("the cookies", &cookies.join("; "))?);
    }
    let body = body(operation, input, &mut headers)?;
    if let Some(key) = key.filter(|_| operation.method != Method::GET)
        && let Ok(key) = HeaderValue::from_str(key)
    {
        headers.insert(IDEMPOTENCY_KEY, key);
    }
    // Set last, so that no caller's value replaces the operator's.
    for (name, value) in fixed {
        headers.insert(name, value.clone());
    }
    let mut url = format!("{base}{path}");
    if !query.is_empty() {
        url.push('?');
        url.push_str(&query.join("&"));
    }
    Ok(Request { method: operation.method.clone(), url, headers, body: body.into() })
}

fn body(operation: &Operation, input: &Value, headers: &mut HeaderMap) -> Result<Bytes, Failure> {
    let Some(plan) = &operation.body else { return Ok(Bytes::new()) };
    let Some(given) = input.get(&plan.input) else { return Ok(Bytes::new()) };
    let text = match plan.kind {
        BodyKind::Json => given.to_string(),
        BodyKind::Text => match given {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
        BodyKind::Form => {
            let Value::Object(fields) = given else {
                return Err(invalid(format!("`{}` is no object", plan.input)));
            };
            let mut pairs = Vec::new();
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                match value {
                    Value::Array(items) => pairs.extend(items.iter().map(|item| pair(name, item))),
                    value => pairs.push(pair(name, value)),
                }
            }
            pairs.join("&")
        }
    };
    let kind = HeaderValue::from_str(&plan.content_type)
        .unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_TYPE, kind);
    Ok(Bytes::from(text))
}

fn pair(name: &str, value: &Value) -> String {
    format!("{}={}", encode_component(name), encode_component(&plain(value)))
}

/// A value split into its encoded parts.
enum Parts {
    One(String),
    Many(Vec<String>),
    Pairs(Vec<(String, String)>),
}

impl Parts {
    fn of(value: &Value, style: Style, form: impl Fn(&Value) -> String) -> Self {
        let key = |key: &String| form(&Value::String(key.clone()));
        match value {
            value if style == Style::Json => Self::One(form(&Value::String(value.to_string()))),
            Value::Array(items) => Self::Many(items.iter().map(form).collect()),
            Value::Object(map) => {
                Self::Pairs(map.iter().map(|(name, value)| (key(name), form(value))).collect())
            }
            one => Self::One(form(one)),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn escaped(value: &Value) -> String {
    encode_component(&plain(value))
}

fn flat(pairs: &[(String, String)], separator: &str) -> String {
    let all: Vec<_> = pairs.iter().flat_map(|(key, value)| [key.as_str(), value]).collect();
    all.join(separator)
}

fn joined(pairs: &[(String, String)], separator: &str) -> String {
    let all: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
    all.join(separator)
}

fn simple(parts: &Parts, explode: bool) -> String {
    match parts {
        Parts::One(one) => one.clone(),
        Parts::Many(many) => many.join(","),
        Parts::Pairs(pairs) if explode => joined(pairs, ","),
        Parts::Pairs(pairs) => flat(pairs, ","),
    }
}

fn in_path(parameter: &Parameter, value: &Value) -> String {
    let parts = Parts::of(value, parameter.style, escaped);
    let (explode, name) = (parameter.explode, encode_component(&parameter.name));
    match (parameter.style, &parts) {
        (Style::Label, Parts::Many(many)) if explode => format!(".{}", many.join(".")),
        (Style::Label, Parts::Pairs(pairs)) if explode => format!(".{}", joined(pairs, ".")),
        (Style::Label, parts) => format!(".{}", simple(parts, false)),
        (Style::Matrix, Parts::Many(many)) if explode => {
            many.iter().map(|one| format!(";{name}={one}")).collect()
        }
        (Style::Matrix, Parts::Pairs(pairs)) if explode => format!(";{}", joined(pairs, ";")),
        (Style::Matrix, parts) => format!(";{name}={}", simple(parts, false)),
        (_, parts) => simple(parts, explode),
    }
}

fn in_query(parameter: &Parameter, value: &Value) -> Vec<String> {
    let parts = Parts::of(value, parameter.style, escaped);
    let name = encode_component(&parameter.name);
    let separator = match parameter.style {
        Style::Space => "%20",
        Style::Pipe => "%7C",
        _ => ",",
    };
    let exploded = parameter.explode && !matches!(parameter.style, Style::Space | Style::Pipe);
    match parts {
        Parts::One(one) => vec![format!("{name}={one}")],
        Parts::Many(many) if parameter.explode => {
            many.iter().map(|one| format!("{name}={one}")).collect()
        }
        Parts::Many(many) => vec![format!("{name}={}", many.join(separator))],
        Parts::Pairs(pairs) if parameter.style == Style::Deep => {
            pairs.iter().map(|(key, value)| format!("{name}%5B{key}%5D={value}")).collect()
        }
        Parts::Pairs(pairs) if exploded => {
            pairs.iter().map(|(key, value)| format!("{key}={value}")).collect()
        }
        Parts::Pairs(pairs) => vec![format!("{name}={}", flat(&pairs, separator))],
    }
}

fn header_name(parameter: &Parameter) -> Result<HeaderName, Failure> {
    HeaderName::try_from(parameter.name.as_str())
        .map_err(|_| invalid(format!("`{}` cannot be a header", parameter.name)))
}

fn header_value(of: &str, text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text)
        .map_err(|_| invalid(format!("`{of}` has characters that no header can have")))
}

fn invalid(message: String) -> Failure {
    Failure::new(Code::InvalidInput, message)
}

#[cfg(test)]
mod tests;
