use proto::FileStrategy;

use super::*;

const HEAD: &str = "id: demo.x\nversion: 1.2.3\ninputSchema: {type: object}\noutputSchema: {}\n";

fn parse(rest: &str) -> Result<Manifest, Fault> {
    parse_pack(&format!("{HEAD}{rest}"))
}

fn fault(rest: &str) -> Fault {
    parse(rest).unwrap_err()
}

const CLI: &str = "execution: {kind: cli, cmd: [echo, '{{input.q}}']}\n";

#[test]
fn every_field_is_read() {
    let manifest = parse(
        r#"
title: A title
description: What it does
deterministic: false
timeoutMs: 1500
limits: { maxInputBytes: 10, maxOutputBytes: 20 }
caps: { network: [https, api.example.com], files: { read: [/data], write: [out] } }
execution:
  kind: http
  url: "https://api.example.com/{{ input.q | urlencode }}"
  method: put
  headers: { Authorization: "Bearer {{env.TOKEN}}" }
env: { passthrough: [TOKEN] }
templating: { engine: jinja2, cacheKey: "{{id}}|{{version}}|{{ input | tojson }}" }
onSuccess: { path: "$.result" }
annotations: { readOnlyHint: false }
file_strategy: plain_text_content
idempotency: { key: required }
examples:
  - input: { q: x }
    data: [1]
"#,
    )
    .unwrap();
    assert_eq!(manifest.limits.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(manifest.limits.max_output_bytes, Some(20));
    assert_eq!(manifest.caps.files.write, ["out"]);
    assert!(manifest.key_required && !manifest.deterministic);
    assert_eq!(manifest.files, Some(FileStrategy::PlainTextContent.into()));
    assert_eq!(manifest.examples.len(), 1);
    assert!(matches!(&manifest.execution, Execution::Http(http) if http.method == "PUT"));
    assert!(manifest.cache_key.is_some() && manifest.on_success.is_some());
}

#[test]
fn silence_means_the_defaults() {
    let manifest = parse(CLI).unwrap();
    assert!(manifest.deterministic);
    assert_eq!(manifest.limits, RequestedLimits::default());
    assert_eq!(manifest.description, "");
    assert!(!manifest.key_required);
}

#[test]
fn faults_name_the_line_and_the_nearest_name() {
    for (rest, line, words) in [
        ("execution: {kind: cli, cmd: [x]}\ntimeoutMS: 5\n", 6, "`timeoutMs`"),
        ("execution: {kind: cli, cmd: [x]}\nlimits:\n  maxInputByte: 5\n", 7, "`maxInputBytes`"),
        ("execution:\n  kind: cly\n", 6, "`cli`"),
        ("execution: {kind: cli}\n", 5, "`cmd`"),
        ("execution: {kind: cli, cmd: []}\n", 5, "no program"),
        ("execution: {kind: cli, cmd: ['{{input.p}}']}\n", 5, "program"),
        ("execution: {kind: cli, cmd: [x],\n  url: y}\n", 6, "`url` does not belong"),
        ("execution: {kind: cli, cmd: [x], workers: 2}\n", 5, "`workers`"),
        ("execution: {kind: python, script: a.py, workers: 0}\n", 5, "from 1"),
        ("execution: {kind: python}\n", 5, "`module"),
        ("execution: {kind: python, module: os.system}\n", 5, "package.module:function"),
        ("execution: {kind: python, module: 'a b:c'}\n", 5, "package.module:function"),
        ("execution: {kind: python, module: 'a:b', script: x}\n", 5, "exclude"),
        ("execution: {kind: node}\n", 5, "`node"),
        ("execution: {kind: http}\n", 5, "`url`"),
        ("execution: {kind: http, url: x, method: CONNECT}\n", 5, "CONNECT"),
        ("execution: {kind: http, url: x, headers: {'a b': c}}\n", 5, "header"),
        ("execution: {kind: cli, cmd: [x, '{{ env.TOKEN }}']}\n", 5, "passthrough"),
        ("execution: {kind: cli, cmd: [x, '{{ nope }}']}\n", 5, "`nope`"),
        ("execution: {kind: cli, cmd: [x, '{{ input.']}\n", 5, "template"),
        ("execution: {kind: cli, cmd: [x]}\nonSuccess: {path: nope}\n", 6, "JSONPath"),
        ("execution: {kind: cli, cmd: [x]}\nenv: {passthrough: ['A=B']}\n", 6, "environment"),
        ("execution: {kind: cli, cmd: [x]}\ntimeoutMs: 0\n", 6, "greater than 0"),
        ("execution: {kind: cli, cmd: [x]}\nfile_strategy: base64\n", 6, "base64"),
        ("execution: {kind: cli, cmd: [x]}\ntemplating: {engine: erb}\n", 6, "erb"),
        ("execution: {kind: cli, cmd: [x]}\nidempotency: {key: required}\n", 6, "deterministic"),
        ("execution: {kind: cli, cmd: [x]}\ncaps: {network: ['ftp://x']}\n", 6, "http"),
        ("execution: {kind: cli, cmd: [x]}\ndeterministic: NO\n", 6, "boolean"),
        ("execution: {kind: cli, cmd: [x]}\nid: twice\n", 6, "duplicate mapping key: id"),
    ] {
        let fault = fault(rest);
        assert_eq!(fault.line, Some(line), "{rest}\n{fault}");
        assert!(fault.message.contains(words), "{rest}\n{fault}");
    }
}

#[test]
fn missing_and_malformed_keys_are_reported() {
    for (text, words) in [
        ("", ""),
        ("[]", ""),
        ("id: a\nversion: 1.0.0\n", "missing"),
        (
            "id: 'a b'\nversion: 1.0.0\ninputSchema: {}\noutputSchema: {}\nexecution: {kind: cli, cmd: [x]}",
            "character",
        ),
        (
            "id: a\nversion: one\ninputSchema: {}\noutputSchema: {}\nexecution: {kind: cli, cmd: [x]}",
            "version",
        ),
        (
            "id: a\nversion: 1.0.0\ninputSchema: 3\noutputSchema: {}\nexecution: {kind: cli, cmd: [x]}",
            "schema",
        ),
        (
            "id: a\nversion: 1.0.0\ninputSchema: {}\nexecution: {kind: cli, cmd: [x]}",
            "outputSchema",
        ),
    ] {
        let fault = parse_pack(text).unwrap_err();
        assert!(fault.message.contains(words), "{text}\n{fault}");
    }
}

#[test]
fn countries_are_not_falsehoods() {
    let manifest = parse_pack(
        "id: a\nversion: 1.0.0\noutputSchema: {}\nexecution: {kind: cli, cmd: [x]}\ninputSchema: {enum: [NO, yes, on, 010]}",
    )
    .unwrap();
    assert_eq!(
        manifest.input_schema.value,
        serde_json::json!({"enum": ["NO", "yes", "on", manifest.input_schema.value["enum"][3]]})
    );
}
