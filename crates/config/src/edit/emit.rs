//! Writes a server's entry as YAML that people would write.

use serde_json::{Map, Value};

/// The order of keys; others follow as they come.
const ORDER: [&str; 11] = [
    "kind",
    "document",
    "command",
    "args",
    "url",
    "urls",
    "transport",
    "headers",
    "env",
    "auth",
    "cwd",
];

/// Lines longer than this are broken.
const WIDTH: usize = 100;

/// `name:` and its value below it, each line indented.
pub(super) fn entry(indent: &str, name: &str, value: &Value) -> String {
    let mut lines = String::new();
    field(&mut lines, indent, name, value);
    lines
}

/// The value as lines, each indented.
pub(super) fn block(indent: &str, value: &Value) -> String {
    let mut lines = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => fields(&mut lines, indent, map),
        value => lines.push_str(&format!("{indent}{}\n", flow(value))),
    }
    lines
}

fn fields(lines: &mut String, indent: &str, map: &Map<String, Value>) {
    let rank = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    let mut keys: Vec<_> = map.iter().collect();
    keys.sort_by_key(|(key, _)| rank(key));
    for (key, value) in keys {
        field(lines, indent, key, value);
    }
}

fn field(lines: &mut String, indent: &str, name: &str, value: &Value) {
    let inline = flow(value);
    let name = key(name);
    let deeper = format!("{indent}  ");
    let long = indent.len() + name.len() + inline.len() > WIDTH;
    match value {
        Value::Object(map) if !map.is_empty() && (long || !is_reference(map)) => {
            lines.push_str(&format!("{indent}{name}:\n"));
            fields(lines, &deeper, map);
        }
        Value::Array(items) if !items.is_empty() && long => {
            lines.push_str(&format!("{indent}{name}:\n"));
            for item in items {
                lines.push_str(&format!("{deeper}- {}\n", flow(item)));
            }
        }
        _ => lines.push_str(&format!("{indent}{name}: {inline}\n")),
    }
}

/// Whether a mapping names a secret: `{ env: NAME }`.
fn is_reference(map: &Map<String, Value>) -> bool {
    map.keys().all(|key| matches!(key.as_str(), "env" | "file" | "secret" | "per" | "prefix"))
        && map.values().all(Value::is_string)
}

/// A value on one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "{}".to_owned(),
        Value::Object(map) => {
            let fields = map.iter().map(|(name, value)| format!("{}: {}", key(name), flow(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// A key, quoted if it must be.
pub(super) fn key(name: &str) -> String {
    scalar(name)
}

fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Whether text means itself without quotes, in blocks and between brackets, for readers of YAML 1.1 as well.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next();
    let begins = first.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '_' | '.'));
    let fits =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=');
    let url = text.starts_with("https://") || text.starts_with("http://");
    let fits_url = |c: char| fits(c) || matches!(c, ':' | '?' | '&' | '%' | '~');
    let plain = if url { text.chars().all(fits_url) } else { text.chars().all(fits) };
    let lower = text.to_ascii_lowercase();
    let word = matches!(
        lower.as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n" | "~"
    );
    let number = lower.starts_with('.') && !lower.contains('/')
        || lower == "nan"
        || lower == "inf"
        || lower.parse::<f64>().is_ok();
    begins && plain && !word && !number && !text.ends_with(':')
}

/// Double quotes with the escapes of JSON, which YAML has as well.
fn quoted(text: &str) -> String {
    let json = Value::String(text.to_owned()).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        let printable = matches!(c, ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
            && !matches!(c, '\u{feff}' | '\u{2028}' | '\u{2029}');
        if printable || c > '\u{ffff}' {
            quoted.push(c);
        } else {
            quoted.push_str(&format!("\\u{:04X}", u32::from(c)));
        }
    }
    quoted
}
