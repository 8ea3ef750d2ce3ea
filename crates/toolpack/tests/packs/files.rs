//! Where packs are found, and what they may refer to.

use schema::Schema;
use serde_json::json;
use strip::Tool;

use crate::support::{Options, Setup, pack_text, runtime};

const CAT: &str = "execution: {kind: cli, cmd: [cat]}";

#[tokio::test]
async fn the_example_of_the_source_document_loads() {
    let setup =
        Setup::with(Options { env: vec![("TOKEN", "t".to_owned())], ..Options::default() }).await;
    setup.write(
        "schemas/tools/in.schema.json",
        r#"{"type":"object","properties":{"q":{"$ref":"parts/q.json"}},"required":["q"]}"#,
    );
    setup.write("schemas/tools/parts/q.json", r#"{"type":"string","minLength":1}"#);
    setup.write("schemas/tools/out.schema.json", r#"{"type":"object"}"#);
    setup.write(
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
    let loaded = setup.load();
    assert_eq!(loaded.findings, []);
    let descriptor = loaded.tools[0].descriptor();
    let schema = Schema::compile(&descriptor.input_schema).unwrap();
    assert!(schema.violations(&json!({"q": "x"})).is_empty());
    assert_eq!(schema.violations(&json!({"q": ""})).len(), 1);
    let output = crate::support::run(&loaded.tools[0], json!({"q": "x"})).await.unwrap();
    assert_eq!(*output.data, json!({"q": "x"}));
}

#[tokio::test]
async fn packs_are_found_in_subfolders_but_not_in_foreign_ones() {
    let setup = Setup::new().await;
    for path in ["a", "deep/er/b", "node_modules/x/c", ".hidden/d"] {
        let name = path.rsplit('/').next().unwrap();
        setup.write(&format!("tools/{path}.tool.yaml"), &pack_text(name, CAT));
    }
    setup.write("tools/e.tool.yml", &pack_text("e", CAT));
    setup.write("tools/f.yaml", &pack_text("f", CAT));
    std::os::unix::fs::symlink(setup.tools(), setup.tools().join("loop")).unwrap();
    let ids: Vec<_> =
        setup.load().tools.iter().map(|tool| tool.descriptor().id.to_string()).collect();
    assert_eq!(ids, ["demo.a", "demo.b"]);
}

#[tokio::test]
async fn folders_may_overlap_or_be_missing() {
    let setup = Setup::new().await;
    setup.write("tools/sub/x.tool.yaml", &pack_text("x", CAT));
    let folders = vec![setup.tools().join("sub"), setup.tools(), setup.root().join("none")];
    let packs = toolpack::Toolpacks::new(folders, runtime(Options::default()).await);
    let loaded = packs.load();
    assert_eq!((loaded.tools.len(), loaded.findings.len()), (1, 0));
}

#[tokio::test]
async fn a_changed_script_is_a_changed_tool() {
    let setup = Setup::new().await;
    setup.write("tools/x.py", "print(1)");
    setup.pack("x", "execution: {kind: python, script: x.py}");
    setup.pack("y", "execution: {kind: cli, cmd: [echo, '1']}");
    let digests = || {
        let loaded = setup.load();
        loaded.tools.iter().map(|tool| tool.descriptor().definition_hash()).collect::<Vec<_>>()
    };
    let before = digests();
    assert_eq!(before, digests());
    setup.write("tools/x.py", "print(2)");
    setup.pack("y", "execution: {kind: cli, cmd: [echo, '2']}");
    let after = digests();
    assert_ne!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

#[tokio::test]
async fn unchanged_packs_are_the_same_tools() {
    let setup = Setup::new().await;
    setup.write("tools/x.py", "print(1)");
    setup.pack("x", "execution: {kind: python, script: x.py}");
    setup.pack("y", CAT);
    let before = setup.load();
    setup.write("tools/x.py", "print(2)");
    let after = setup.load();
    assert!(!std::sync::Arc::ptr_eq(&before.tools[0], &after.tools[0]));
    assert!(std::sync::Arc::ptr_eq(&before.tools[1], &after.tools[1]));
}

#[tokio::test]
async fn a_broken_pack_keeps_its_last_good_version() {
    let setup = Setup::new().await;
    setup.write("schemas/in.json", "{}");
    let pack =
        pack_text("x", CAT).replace("inputSchema: {}", "inputSchema: {$ref: '../schemas/in.json'}");
    setup.write("tools/x.tool.yaml", &pack);
    let good = setup.tool("x");
    for (path, broken, fixed) in [
        ("tools/x.tool.yaml", "id: [", pack.as_str()),
        ("schemas/in.json", r#"{"type": 5}"#, "{}"),
        ("schemas/in.json", "{", "{}"),
    ] {
        setup.write(path, broken);
        let loaded = setup.load();
        assert!(std::sync::Arc::ptr_eq(&loaded.tools[0], &good), "{broken}");
        assert_eq!(loaded.findings.len(), 1, "{broken}");
        assert_eq!(setup.packs.findings(), loaded.findings);
        setup.write(path, fixed);
        let loaded = setup.load();
        assert!(std::sync::Arc::ptr_eq(&loaded.tools[0], &good), "{broken}");
        assert_eq!(loaded.findings, []);
    }
    std::fs::remove_file(setup.tools().join("x.tool.yaml")).unwrap();
    assert!(setup.load().tools.is_empty());
}

/// Root may read every folder, so the folder is replaced by something that cannot be listed.
#[tokio::test]
async fn a_folder_that_cannot_be_read_keeps_its_tools() {
    let setup = Setup::new().await;
    setup.write("tools/sub/x.tool.yaml", &pack_text("x", CAT));
    setup.pack("y", CAT);
    let before = setup.load();
    assert_eq!(before.tools.len(), 2);
    let (tools, aside) = (setup.tools(), setup.tools().with_extension("aside"));
    std::fs::rename(&tools, &aside).unwrap();
    std::fs::write(&tools, "not a folder").unwrap();
    let during = setup.load();
    assert!(during.tools.iter().zip(&before.tools).all(|(a, b)| std::sync::Arc::ptr_eq(a, b)));
    assert_eq!(during.tools.len(), 2);
    let [finding] = &during.findings[..] else { panic!("{:?}", during.findings) };
    assert!(finding.message.contains("stay as they were"), "{finding}");
    std::fs::remove_file(&tools).unwrap();
    assert!(setup.load().tools.is_empty(), "a folder that is gone has no tools");
    std::fs::rename(&aside, &tools).unwrap();
    let after = setup.load();
    assert_eq!((after.tools.len(), after.findings.len()), (2, 0));
}
