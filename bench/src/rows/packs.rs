//! Toolpacks that are written for a run.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::gateway::Home;

/// The packs in one folder, so that no folder has thousands of files.
const TOGETHER: usize = 100;

/// An echo that runs alone, in a fresh interpreter, and in a warm worker.
pub(super) const ECHO: &str = "\
import json
import sys

request = json.loads(sys.stdin.readline())
print(json.dumps({'message': request['input']['message']}))
";

/// The pack of the echo, with `workers: …` or nothing. It is never replayed.
pub(super) fn echo_pack(id: &str, workers: &str) -> String {
    format!(
        "\
id: {id}
version: 1.0.0
description: Answers with the message that it was given, unchanged.
deterministic: false
inputSchema:
  type: object
  required: [message]
  properties: {{ message: {{ type: string, description: What to say. }} }}
outputSchema:
  type: object
  required: [message]
  properties: {{ message: {{ type: string }} }}
execution: {{ kind: python, script: ./echo.py{workers} }}
"
    )
}

/// Writes packs of the usual size: a command with a few described parameters and an answer's schema.
pub(super) fn write_many(home: &Home, count: usize) -> anyhow::Result<()> {
    for n in 0..count {
        let (group, place) = (n / TOGETHER, n % TOGETHER);
        let text = format!(
            "\
id: group{group:03}.record{place:02}
version: 1.{place}.0
title: Record {n}
description: >-
  Looks up record {n} of group {group} by its key and returns the fields that were asked for. Use it when a person
  names the record; for a search over all records, use the group's search tool instead.
inputSchema:
  type: object
  required: [key]
  additionalProperties: false
  properties:
    key: {{ type: string, minLength: 1, maxLength: 200, description: The key of the record. }}
    fields:
      type: array
      maxItems: 50
      items: {{ type: string }}
      description: Which fields to return; all of them if left out.
    format: {{ type: string, enum: [short, full], description: How much to say about each field. }}
outputSchema:
  type: object
  required: [fields]
  properties:
    fields: {{ type: object, description: The values by field. }}
    updated: {{ type: string, description: When the record was last changed. }}
timeoutMs: 5000
annotations: {{ readOnlyHint: true }}
execution:
  kind: cli
  cmd: [printf, '%s', '{{\"fields\": {{}}}}']
"
        );
        home.write(&format!("tools/group{group:03}/record{place:02}.tool.yaml"), &text)?;
    }
    Ok(())
}

/// The time to read all packs, and to read them and parse their YAML.
pub(super) fn time_reading(tools: &Path, count: usize) -> anyhow::Result<(Duration, Duration)> {
    let begun = Instant::now();
    let texts = read_all(tools)?;
    let read = begun.elapsed();
    ensure!(texts.len() == count, "{} of {count} packs were found", texts.len());
    let begun = Instant::now();
    for text in &texts {
        let pack: Value = serde_saphyr::from_str(text).context("a pack is no YAML")?;
        ensure!(pack["id"].is_string(), "a pack without an id");
    }
    Ok((read, read + begun.elapsed()))
}

fn read_all(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            texts.extend(read_all(&entry.path())?);
        } else {
            texts.push(std::fs::read_to_string(entry.path())?);
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::{Home, echo_pack, time_reading, write_many};

    #[test]
    fn packs_are_found_again() {
        let home = Home::new().unwrap();
        write_many(&home, 250).unwrap();
        let (read, parsed) = time_reading(&home.tools(), 250).unwrap();
        assert!(read < parsed);
        assert!(time_reading(&home.tools(), 251).is_err());
    }

    #[test]
    fn both_echo_packs_are_yaml() {
        for (workers, expected) in [(", workers: 2", Some(2)), ("", None)] {
            let pack: serde_json::Value =
                serde_saphyr::from_str(&echo_pack("bench.echo", workers)).unwrap();
            assert_eq!(pack["execution"]["workers"].as_u64(), expected);
            assert_eq!(pack["deterministic"], false);
        }
    }
}
