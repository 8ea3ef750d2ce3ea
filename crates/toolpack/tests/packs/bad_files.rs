//! Files that must be refused, quickly and with their line, while the others go on.

use std::time::{Duration, Instant};

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};
use proto::{Limits, Severity};
use serde_json::json;
use strip::Catalog;
use strip::catalog::{LimitBounds, WireNames};
use toolpack::parse_pack;

use crate::support::{Setup, pack_text};

const CAT: &str = "execution: {kind: cli, cmd: [cat]}";

/// A refusal takes microseconds; this is enough on a busy machine.
const SOON: Duration = Duration::from_secs(2);

#[tokio::test]
async fn one_bad_pack_does_not_hurt_the_others() {
    let setup = Setup::new().await;
    setup.pack("good", CAT);
    for (name, text) in [
        ("malformed", "id: [unclosed\nversion: 1.0.0\n".to_owned()),
        ("tabs", "id:\tx\n\tversion: 1\n".to_owned()),
        ("binary", "\u{0}\u{1}\u{2}".to_owned()),
        ("empty", String::new()),
        ("documents", format!("{}---\n{}", pack_text("a", CAT), pack_text("b", CAT))),
        ("unknown", pack_text("c", &format!("{CAT}\nruntime: x"))),
        ("large", format!("{}# {}", pack_text("d", CAT), "x".repeat(300_000))),
        (
            "remote",
            pack_text("e", CAT)
                .replace("inputSchema: {}", "inputSchema: {$ref: 'https://example.com/s.json'}"),
        ),
        ("circle", pack_text("f", CAT).replace("inputSchema: {}", "inputSchema: {$ref: 'a.json'}")),
        ("escape", pack_text("h", "execution: {kind: python, script: ../../etc/x.py}")),
        ("absent", pack_text("i", "execution: {kind: python, script: nope.py}")),
        ("absolute", pack_text("j", "execution: {kind: node, node: /etc/passwd}")),
        ("tagged", pack_text("k", "execution: !!python/object:os.system {kind: cli, cmd: [x]}")),
    ] {
        setup.write(&format!("tools/{name}.tool.yaml"), &text);
    }
    setup.write("tools/a.json", r#"{"$ref": "b.json"}"#);
    setup.write("tools/b.json", r#"{"$ref": "a.json"}"#);
    let loaded = setup.load();
    assert_eq!(loaded.tools.len(), 1);
    assert_eq!(loaded.findings.len(), 13, "{:#?}", loaded.findings);
    assert!(loaded.findings.iter().all(|finding| finding.severity == Severity::Error));
    for finding in &loaded.findings {
        let whole_file = ["binary", "empty", "large"];
        let name = finding.file.file_name().unwrap().to_str().unwrap();
        let anywhere =
            whole_file.iter().any(|whole| name.starts_with(whole)) || name.ends_with(".json");
        assert!(finding.line.is_some() || anywhere, "{finding}");
        assert!(finding.file.starts_with(setup.tools()), "{finding}");
    }
    assert_eq!(setup.data("good", json!(1)).await, json!({"input": 1}));
}

/// The catalog compiles schemas; a start with many packs must not do so twice.
#[tokio::test]
async fn an_unusable_schema_is_reported_by_the_catalog() {
    let setup = Setup::new().await;
    setup.write(
        "tools/x.tool.yaml",
        &pack_text("x", CAT).replace("inputSchema: {}", "inputSchema: {type: strnig}"),
    );
    setup.pack("y", CAT);
    let loaded = setup.load();
    assert_eq!((loaded.tools.len(), loaded.findings.len()), (2, 0));
    let limits = Limits::default();
    let catalog = Catalog::new(
        LimitBounds { default: limits, server_input: limits.max_input_bytes, max: limits },
        WireNames::default(),
    );
    catalog.publish(toolpack::SOURCE, loaded.as_tools());
    let snapshot = catalog.snapshot();
    assert_eq!(snapshot.entries().len(), 1);
    let [fault] = snapshot.faults() else { panic!("{:?}", snapshot.faults()) };
    assert_eq!((fault.source.as_str(), fault.tool.as_str()), ("toolpacks", "demo.x"));
}

#[tokio::test]
async fn links_out_of_the_root_are_refused() {
    let outside = tempfile::TempDir::new().unwrap();
    std::fs::write(outside.path().join("x.py"), "print(1)").unwrap();
    std::fs::write(outside.path().join("m.py"), "def f(i):\n    return 1").unwrap();
    let setup = Setup::new().await;
    for name in ["x.py", "m.py"] {
        std::os::unix::fs::symlink(outside.path().join(name), setup.tools().join(name)).unwrap();
    }
    std::fs::write(outside.path().join("link.tool.yaml"), pack_text("link", CAT)).unwrap();
    std::os::unix::fs::symlink(
        outside.path().join("link.tool.yaml"),
        setup.tools().join("link.tool.yaml"),
    )
    .unwrap();
    setup.pack("script", "execution: {kind: python, script: x.py}");
    setup.pack("module", "execution: {kind: python, module: 'm:f'}");
    let loaded = setup.load();
    assert!(loaded.tools.is_empty());
    assert!(
        loaded.findings.iter().all(|finding| finding.message.contains("out of the pack's root"))
    );
}

#[tokio::test]
async fn the_same_id_and_major_twice_is_a_fault_of_the_second() {
    let setup = Setup::new().await;
    setup.write("tools/b.tool.yaml", &pack_text("x", CAT));
    setup.write("tools/a.tool.yaml", &pack_text("x", CAT));
    setup.write("tools/c.tool.yaml", &pack_text("x", CAT).replace("1.0.0", "2.1.0"));
    for _ in 0..2 {
        let loaded = setup.load();
        assert_eq!(loaded.tools.len(), 2, "two majors may stand side by side");
        let [finding] = &loaded.findings[..] else { panic!("{:?}", loaded.findings) };
        assert!(finding.file.ends_with("b.tool.yaml"));
        assert_eq!(finding.line, Some(1));
        assert!(finding.message.contains("a.tool.yaml") && finding.message.contains("b.tool.yaml"));
    }
}

#[test]
fn yaml_bombs_are_refused_quickly() {
    let mut aliases = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (name, before) in ('b'..='k').zip('a'..='j') {
        aliases += &format!(
            "{name}: &{name} [*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before},*{before}]\n"
        );
    }
    let inner = aliases.replace('\n', "\n  ");
    for text in [
        aliases.clone(),
        pack_text("x", CAT).replace("inputSchema: {}", &format!("inputSchema:\n  {inner}")),
        pack_text("x", CAT)
            .replace("inputSchema: {}", &format!("inputSchema: {}", "[".repeat(100_000))),
        pack_text("x", CAT)
            .replace("inputSchema: {}", &format!("inputSchema: {}", "{a: ".repeat(60_000))),
        format!("{}x: {}", pack_text("x", CAT), "- ".repeat(100_000)),
        "x".repeat(300 * 1024),
        format!("examples: {}", "&a ".repeat(50_000)),
        "? ".repeat(100_000),
        "!".repeat(200_000),
        "\"".to_owned() + &"\\u0041".repeat(40_000),
    ] {
        let begun = Instant::now();
        assert!(parse_pack(&text).is_err());
        assert!(begun.elapsed() < SOON, "{:?} for {:.60}", begun.elapsed(), text);
    }
}

fn yamlish() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("id: a"),
        Just("version: 1.0.0"),
        Just("inputSchema:"),
        Just("  type: object"),
        Just("outputSchema: {}"),
        Just("execution:"),
        Just("  kind: cli"),
        Just("  cmd: [x, '{{ input.q }}']"),
        Just("  - &a *a"),
        Just("<<: *b"),
        Just("? !!map"),
        Just("{"),
        Just("]"),
        Just("'{{"),
        Just("{% for"),
        Just("caps: {network: ['::']}"),
        Just("\t"),
        Just("onSuccess: {path: '$..[?@.a==\"'}"),
        Just("examples: [{input: .nan, data: 1e999}]"),
        Just("--- ..."),
        Just("| \n  >"),
    ];
    prop::collection::vec(prop_oneof![word.prop_map(str::to_owned), any::<String>()], 0..20)
        .prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let _ = parse_pack(&text);
    }

    #[test]
    fn nothing_like_a_pack_makes_the_parser_panic(text in yamlish()) {
        let _ = parse_pack(&text);
        let _ = parse_pack(&pack_text("x", &format!("{CAT}\n{text}")));
    }
}
