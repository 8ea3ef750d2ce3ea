//! A server that can be added: an entry as clients write it, and the secrets that it needs.

use std::collections::BTreeSet;

use egress::http::Target;
use serde_json::{Map, Value, json};

/// How a server is added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The entry in the form of `mcpServers`; `${input:NAME}` is a secret.
    pub entry: Map<String, Value>,
    /// The secrets and what they are.
    pub inputs: Vec<(String, String)>,
    /// What its source says and is not followed.
    pub notes: Vec<String>,
    /// Whether it is one of our own capability servers.
    pub bundled: bool,
    /// Whether it is started with the gateway.
    pub eager: bool,
    /// The flag that lets it download from the gateway.
    pub gateway_flag: Option<String>,
}

impl Recipe {
    /// Lets the server download from the gateway at this URL, if it downloads files.
    pub fn allow_gateway(&mut self, url: &str) {
        let Some(flag) = &self.gateway_flag else { return };
        let Ok(target) = Target::parse(url) else { return };
        let place = format!("{}:{}", target.host(), target.port());
        let args = self.entry.entry("args").or_insert_with(|| json!([]));
        if let Value::Array(args) = args {
            args.extend([json!(flag), json!(place)]);
        }
    }

    /// The entry as a client's file.
    pub fn document(&self, name: &str) -> Value {
        let inputs = self.inputs.iter().map(|(id, what)| json!({"id": id, "description": what}));
        json!({
            "mcpServers": {name: self.entry},
            "inputs": inputs.collect::<Vec<_>>(),
        })
    }

    /// All that will be run, sent and set, as lines that are safe to print. Values of the variables and headers in `own`
    /// are not repeated: the user gave them, and they may be secrets.
    pub fn preview(&self, own: &BTreeSet<String>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(program) = self.entry.get("command").and_then(Value::as_str) {
            let args = self.entry.get("args").and_then(Value::as_array).into_iter().flatten();
            let words = [program].into_iter().chain(args.filter_map(Value::as_str));
            lines.push(format!("runs: {}", words.map(quoted).collect::<Vec<_>>().join(" ")));
        }
        let mut add = |title: &str, key: &str| {
            if let Some(value) = self.entry.get(key).and_then(Value::as_str) {
                lines.push(format!("{title}: {}", printable(value)));
            }
        };
        add("in the folder", "cwd");
        add("connects to", "url");
        add("transport", "type");
        for (title, key, separator) in [("sets", "env", "="), ("sends", "headers", ": ")] {
            for (name, value) in
                self.entry.get(key).and_then(Value::as_object).into_iter().flatten()
            {
                let value = value.as_str().unwrap_or_default();
                let value = if own.contains(name) { "(as you gave it)" } else { value };
                lines.push(format!("{title}: {}{separator}{}", printable(name), printable(value)));
            }
        }
        let secrets = self.inputs.iter();
        lines.extend(
            secrets.map(|(id, what)| format!("secret {}: {}", printable(id), printable(what))),
        );
        lines.extend(self.notes.iter().map(|note| printable(note)));
        lines
    }
}

/// A text on one line, with secrets as `(secret NAME)` and invisible characters escaped.
fn printable(text: &str) -> String {
    let text = terminal::shown(text);
    match text.split_once("${input:").and_then(|(before, rest)| {
        let (id, after) = rest.split_once('}')?;
        Some(format!("{before}(secret {id}){after}"))
    }) {
        Some(text) => text,
        None => text,
    }
}

/// A word of a command line, in quotes if its end would not be visible otherwise.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+,%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", printable(word).replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gateway_is_named_to_servers_that_download_from_it() {
        for (url, place) in [
            ("http://127.0.0.1:7777", "127.0.0.1:7777"),
            ("http://[::1]:9000/", "[::1]:9000"),
            ("https://tools.example", "tools.example:443"),
        ] {
            let mut recipe =
                Recipe { gateway_flag: Some("--allow".to_owned()), ..Recipe::default() };
            recipe.allow_gateway(url);
            assert_eq!(recipe.entry["args"], json!(["--allow", place]));
        }
        let mut other = Recipe::default();
        other.allow_gateway("http://127.0.0.1:7777");
        assert!(other.entry.is_empty());
    }

    #[test]
    fn the_preview_has_everything_and_hides_nothing() {
        let entry = json!({
            "command": "npx", "args": ["-y", "x", "a b", "\u{202e}gnp"], "cwd": "/srv",
            "env": {"KEY": "${input:KEY}", "LEVEL": "in\x1b[2Kfo", "OWN": "sesame"},
            "headers": {"Authorization": "Bearer ${input:x-Auth}"}, "url": "https://x.example/", "type": "sse",
        });
        let Value::Object(entry) = entry else { panic!("an object") };
        let inputs = vec![("KEY".to_owned(), "a\nkey".to_owned())];
        let notes = vec!["left out: x".to_owned()];
        let recipe = Recipe { entry, inputs, notes, ..Recipe::default() };
        assert_eq!(
            recipe.preview(&BTreeSet::from(["OWN".to_owned()])),
            [
                "runs: npx -y x 'a b' '\\u{202e}gnp'",
                "in the folder: /srv",
                "connects to: https://x.example/",
                "transport: sse",
                "sets: KEY=(secret KEY)",
                "sets: LEVEL=in\\u{1b}[2Kfo",
                "sets: OWN=(as you gave it)",
                "sends: Authorization: Bearer (secret x-Auth)",
                "secret KEY: a key",
                "left out: x",
            ]
        );
    }
}
