//! Where packs are looked for, and what they may refer to.

use schema::Schema;
use serde_json::json;
use strip::Tool;

use crate::support::{Setting, Workshop, pack_text, runtime};

const CAT: &str = "execution: {kind: cli, cmd: [cat]}";

#[tokio::test]
async fn the_example_of_the_source_document_loads() {
    let workshop =
        Workshop::with(Setting { env: vec![("TOKEN", "t".to_owned())], ..Setting::default() })
            .await;
    workshop.write(
        "schemas/tools/in.schema.json",
        r#"{"type":"object","properties":{"q":{"$ref":"parts/q.json"}},"required":["q"]}"#,
    );
    workshop.write("schemas/tools/parts/q.json", r#"{"type":"string","minLength":1}"#);
    workshop.write("schemas/tools/out.schema.json", r#"{"type":"object"}"#);
    workshop.write(
        "tools/vector/search.tool.yaml",
        r#"
id: vector.query.search        # canonical name
version: 1.1.0
deterministic: true
timeoutMs: 30000
limits: { maxInputBytes: 65536, maxOutputBytes: 262144 }
caps: { network: [https] }     # optional

inputSchema:  { $ref: "../../schemas/tools/in.schema.json" }
outputSchema: { $ref: "../../schemas/tools/out.schema.json" }

execution:
  kind: cli
  cmd: ["echo", "{\"q\":\"{{input.q}}\"}"]

env: { passthrough: ["TOKEN"] }
templating: { engine: jinja2, cacheKey: "{{id}}|{{version}}|{{ input | tojson }}" }
onSuccess: { path: "$" }       # map raw → data
"#,
    );
    let loaded = workshop.load();
    assert_eq!(loaded.findings, []);
    let descriptor = loaded.tools[0].descriptor();
    let schema = Schema::compile(&descriptor.input_schema).unwrap();
    assert!(schema.violations(&json!({"q": "x"})).is_empty());
    assert_eq!(schema.violations(&json!({"q": ""})).len(), 1);
    let output = crate::support::run(&loaded.tools[0], json!({"q": "x"})).await.unwrap();
    assert_eq!(*output.data, json!({"q": "x"}));
}

#[tokio::test]
async fn packs_are_found_below_and_not_where_they_do_not_belong() {
    let workshop = Workshop::new().await;
    for path in ["a", "deep/er/b", "node_modules/x/c", ".hidden/d"] {
        let name = path.rsplit('/').next().unwrap();
        workshop.write(&format!("tools/{path}.tool.yaml"), &pack_text(name, CAT));
    }
    workshop.write("tools/e.tool.yml", &pack_text("e", CAT));
    workshop.write("tools/f.yaml", &pack_text("f", CAT));
    std::os::unix::fs::symlink(workshop.tools(), workshop.tools().join("loop")).unwrap();
    let ids: Vec<_> =
        workshop.load().tools.iter().map(|tool| tool.descriptor().id.to_string()).collect();
    assert_eq!(ids, ["demo.a", "demo.b"]);
}

#[tokio::test]
async fn folders_may_overlap_or_be_missing() {
    let workshop = Workshop::new().await;
    workshop.write("tools/sub/x.tool.yaml", &pack_text("x", CAT));
    let folders =
        vec![workshop.tools().join("sub"), workshop.tools(), workshop.root().join("none")];
    let packs = toolpack::Toolpacks::new(folders, runtime(Setting::default()).await);
    let loaded = packs.load();
    assert_eq!((loaded.tools.len(), loaded.findings.len()), (1, 0));
}

#[tokio::test]
async fn what_runs_is_part_of_what_a_tool_is() {
    let workshop = Workshop::new().await;
    workshop.write("tools/x.py", "print(1)");
    workshop.pack("x", "execution: {kind: python, script: x.py}");
    workshop.pack("y", "execution: {kind: cli, cmd: [echo, '1']}");
    let sums = || {
        let loaded = workshop.load();
        loaded.tools.iter().map(|tool| tool.descriptor().definition_hash()).collect::<Vec<_>>()
    };
    let before = sums();
    assert_eq!(before, sums());
    workshop.write("tools/x.py", "print(2)");
    workshop.pack("y", "execution: {kind: cli, cmd: [echo, '2']}");
    let after = sums();
    assert_ne!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

#[tokio::test]
async fn unchanged_packs_are_the_same_tools() {
    let workshop = Workshop::new().await;
    workshop.write("tools/x.py", "print(1)");
    workshop.pack("x", "execution: {kind: python, script: x.py}");
    workshop.pack("y", CAT);
    let before = workshop.load();
    workshop.write("tools/x.py", "print(2)");
    let after = workshop.load();
    assert!(!std::sync::Arc::ptr_eq(&before.tools[0], &after.tools[0]));
    assert!(std::sync::Arc::ptr_eq(&before.tools[1], &after.tools[1]));
}

#[tokio::test]
async fn a_broken_pack_keeps_its_last_good_version() {
    let workshop = Workshop::new().await;
    workshop.write("schemas/in.json", "{}");
    let pack =
        pack_text("x", CAT).replace("inputSchema: {}", "inputSchema: {$ref: '../schemas/in.json'}");
    workshop.write("tools/x.tool.yaml", &pack);
    let good = workshop.tool("x");
    for (path, broken, mended) in [
        ("tools/x.tool.yaml", "id: [", pack.as_str()),
        ("schemas/in.json", r#"{"type": 5}"#, "{}"),
        ("schemas/in.json", "{", "{}"),
    ] {
        workshop.write(path, broken);
        let loaded = workshop.load();
        assert!(std::sync::Arc::ptr_eq(&loaded.tools[0], &good), "{broken}");
        assert_eq!(loaded.findings.len(), 1, "{broken}");
        assert_eq!(workshop.packs.findings(), loaded.findings);
        workshop.write(path, mended);
        let loaded = workshop.load();
        assert!(std::sync::Arc::ptr_eq(&loaded.tools[0], &good), "{broken}");
        assert_eq!(loaded.findings, []);
    }
    std::fs::remove_file(workshop.tools().join("x.tool.yaml")).unwrap();
    assert!(workshop.load().tools.is_empty());
}
