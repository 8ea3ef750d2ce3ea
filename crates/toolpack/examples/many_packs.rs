//! How long many packs take to load: `cargo run --release -p toolpack --example many_packs -- 10000`.

use std::collections::HashSet;
use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use schema::Schema;
use toolpack::{lint, parse_pack};

fn pack(number: usize) -> String {
    format!(
        "id: many.tool_{number}
version: 1.0.0
description: Tool number {number} of a great many, each with a description of its own.
inputSchema:
  type: object
  properties:
    q: {{ type: string, description: What to look for, minLength: 1 }}
    limit: {{ type: integer, minimum: 1, maximum: 50, description: How many }}
  required: [q]
  additionalProperties: false
outputSchema: {{ type: object, properties: {{ q: {{ type: string }} }} }}
execution:
  kind: cli
  cmd: [printf, '{{\"q\":\"%s\"}}', '{{{{input.q}}}}', '--limit={{{{ input.limit }}}}']
examples:
  - {{ input: {{ q: x, limit: 1 }}, data: {{ q: x }} }}
"
    )
}

fn main() -> std::io::Result<()> {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let folder = tempfile::tempdir()?;
    let tools = folder.path().join("tools");
    fs::create_dir(&tools)?;
    let texts: Vec<_> = (0..count).map(pack).collect();
    for (number, text) in texts.iter().enumerate() {
        fs::write(tools.join(format!("{number}.tool.yaml")), text)?;
    }
    report("parse", count, || texts.iter().for_each(|text| drop(black_box(parse_pack(text)))));
    let schema = serde_json::json!({"type": "object", "properties": {"q": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50}}, "required": ["q"], "additionalProperties": false});
    report("compile a schema", count, || {
        (0..count).for_each(|_| drop(black_box(Schema::compile(&schema))));
    });
    report("read, check and lint", count, || {
        drop(black_box(lint(std::slice::from_ref(&tools), &HashSet::new())));
    });
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program for people to run")]
fn report(what: &str, count: usize, work: impl FnOnce()) {
    let begun = Instant::now();
    work();
    let taken = begun.elapsed();
    let each = taken / u32::try_from(count).unwrap_or(1).max(1);
    println!("{what}: {} ms for {count}, {} each", taken.as_millis(), micros(each));
}

fn micros(time: Duration) -> String {
    format!("{} µs", time.as_micros())
}
