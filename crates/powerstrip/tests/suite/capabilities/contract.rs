//! What each server lists, compared with the tables of `contract.md`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use testkit::sibling_program;

const CONTRACT: &str = include_str!("contract.md");

/// The fields of an object, with the fields of those that are objects or lists of objects.
#[derive(Debug, Default)]
struct Fields(BTreeMap<String, Fields>);

impl Fields {
    /// Reads `{a, b: {c}}`; leaves what follows it in `text`.
    fn parse(text: &mut &str) -> Self {
        let mut fields = Self::default();
        *text = text.strip_prefix('{').unwrap_or_else(|| panic!("no object: {text}"));
        loop {
            let end = text.find([',', ':', '}']).unwrap();
            let name = text[..end].trim().to_owned();
            *text = &text[end..];
            let mut inner = Self::default();
            if let Some(rest) = text.strip_prefix(": ") {
                *text = rest;
                inner = Self::parse(text);
            }
            fields.0.insert(name, inner);
            let is_last = text.starts_with('}');
            *text = &text[1..];
            if is_last {
                return fields;
            }
        }
    }

    /// Collects the paths that the schema does not have.
    fn missing_in(&self, root: &Value, schema: &Value, path: &str, missing: &mut Vec<String>) {
        let properties = properties(root, schema);
        for (name, inner) in &self.0 {
            let path = format!("{path}.{name}");
            match properties.get(name) {
                Some(property) => inner.missing_in(root, property, &path, missing),
                None => missing.push(path),
            }
        }
    }
}

/// The properties of a schema's object, of the items of its list, or of all its alternatives together.
fn properties(root: &Value, schema: &Value) -> BTreeMap<String, Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return properties(root, target);
    }
    let alternatives = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema[key].as_array());
    let inner = alternatives.flatten().chain(schema.get("items"));
    let mut found: BTreeMap<_, _> = inner.flat_map(|inner| properties(root, inner)).collect();
    let own = schema["properties"].as_object().into_iter().flatten();
    found.extend(own.map(|(name, property)| (name.clone(), property.clone())));
    found
}

/// The tools that a server lists over stdin and stdout.
fn list_tools(program: &str) -> Vec<Value> {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }},
    });
    let mut child = Command::new(sibling_program(program))
        .args(["--stdio", "--keep", "off"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{message}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // The server ends with its input.
    drop(stdin);
    child.wait().unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[test]
fn every_server_lists_the_tools_and_fields_of_the_contract() {
    let sections: Vec<_> = CONTRACT.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), 9);
    let mut wrong = Vec::new();
    for section in sections {
        let server = section.lines().next().unwrap();
        let tools = list_tools(server);
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let rows: Vec<Vec<_>> = rows.map(|row| row.split('`').collect()).collect();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        for name in names.iter().filter(|name| !rows.iter().any(|row| row[1] == **name)) {
            wrong.push(format!("{server}:{name} is not in the contract"));
        }
        for row in rows {
            let (name, mut input, mut answer) = (row[1], row[3], row[5]);
            let Some(tool) = tools.iter().find(|tool| tool["name"] == name) else {
                wrong.push(format!("{server}:{name} is not listed"));
                continue;
            };
            let place = |part: &str| format!("{server}:{name} {part}");
            let (taken, given) = (&tool["inputSchema"], &tool["outputSchema"]);
            let input = Fields::parse(&mut input);
            input.missing_in(taken, taken, &place("input"), &mut wrong);
            Fields::parse(&mut answer).missing_in(given, given, &place("answer"), &mut wrong);
            let more =
                properties(taken, taken).into_keys().filter(|key| !input.0.contains_key(key));
            wrong.extend(more.map(|key| format!("{server}:{name} takes {key}, too")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
