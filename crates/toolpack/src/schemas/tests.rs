use std::fs;

use schema::Schema;
use serde_json::json;
use tempfile::TempDir;

use super::*;

struct Folder {
    dir: TempDir,
}

impl Folder {
    fn new(files: &[(&str, Value)]) -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir_all(dir.path().join("root/tools")).unwrap();
        for (path, schema) in files {
            let path = dir.path().join("root").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, schema.to_string()).unwrap();
        }
        Self { dir }
    }

    fn bundle(&self, schema: Value) -> Result<Bundled, Fault> {
        let tools = self.dir.path().join("root/tools");
        let root = Root::of(&tools).unwrap();
        bundle(&root, &root.path().join("tools/x.tool.yaml"), &schema)
    }
}

#[test]
fn files_become_definitions_and_their_own_references_still_hold() {
    let folder = Folder::new(&[
        (
            "schemas/order.json",
            json!({"$id": "https://example.com/order.json", "type": "object",
                "properties": {"to": {"$ref": "address.json"}, "from": {"$ref": "address.json"},
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                    "zip": {"$ref": "address.json#/$defs/zip"}},
                "$defs": {"line": {"type": "integer"}}}),
        ),
        (
            "schemas/address.json",
            json!({"$id": "https://example.com/address.json", "type": "object", "required": ["zip"],
                "properties": {"zip": {"$ref": "#/$defs/zip"}, "const": {"$ref": "#/$defs/zip"}},
                "$defs": {"zip": {"type": "string", "pattern": "^[0-9]+$"}}}),
        ),
    ]);
    for schema in [
        json!({"$ref": "../schemas/order.json"}),
        json!({"allOf": [{"$ref": "../schemas/order.json"}]}),
    ] {
        let bundled = folder.bundle(schema).unwrap();
        assert_eq!(bundled.files.len(), 2);
        let compiled = Schema::compile(&bundled.schema).unwrap();
        assert!(
            compiled.violations(&json!({"to": {"zip": "1"}, "lines": [1], "zip": "2"})).is_empty()
        );
        for wrong in [
            json!({"to": {"zip": "x"}}),
            json!({"from": {}}),
            json!({"lines": ["x"]}),
            json!({"zip": "x"}),
            json!({"to": {"zip": "1", "const": "x"}}),
        ] {
            assert_eq!(compiled.violations(&wrong).len(), 1, "{wrong}");
        }
    }
}

#[test]
fn references_in_data_are_data() {
    let folder = Folder::new(&[]);
    let schema = json!({"properties": {"$ref": {"const": {"$ref": "https://x"}}, "const": {"type": "string"}},
        "default": {"$ref": "nope.json"}});
    assert_eq!(folder.bundle(schema.clone()).unwrap().schema, schema);
}

#[test]
fn references_out_of_the_folder_are_refused() {
    let folder = Folder::new(&[("tools/inside.json", json!({"$ref": "../../outside.json"}))]);
    fs::write(folder.dir.path().join("outside.json"), "{}").unwrap();
    std::os::unix::fs::symlink(
        folder.dir.path().join("outside.json"),
        folder.dir.path().join("root/tools/link.json"),
    )
    .unwrap();
    for reference in [
        "https://example.com/x.json",
        "http://127.0.0.1:1/x",
        "//example.com/x.json",
        "file:///etc/passwd",
        "/etc/passwd",
        "../../outside.json",
        "../../../../../../../etc/passwd",
        "link.json",
        "missing.json",
        "inside.json",
        ".",
        "nul\0.json",
        "urn:x:y",
    ] {
        for schema in [json!({"$ref": reference}), json!({"items": {"$ref": reference}})] {
            let fault = folder.bundle(schema).unwrap_err();
            assert!(!fault.message.is_empty(), "{reference}");
        }
    }
    assert!(folder.bundle(json!({"$dynamicRef": "https://x/y"})).is_err());
}

#[test]
fn circles_are_refused_and_recursion_is_not() {
    let folder = Folder::new(&[
        ("tools/a.json", json!({"items": {"$ref": "b.json"}})),
        ("tools/b.json", json!({"items": {"$ref": "a.json"}})),
        ("tools/self.json", json!({"items": {"$ref": "self.json"}})),
    ]);
    for reference in ["a.json", "self.json"] {
        let fault = folder.bundle(json!({"$ref": reference})).unwrap_err();
        assert!(fault.message.contains("circle"), "{}", fault.message);
        assert!(fault.file.is_some());
    }
    for idle in [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}]})] {
        let bundled = folder.bundle(idle.clone()).unwrap();
        assert!(Schema::compile(&bundled.schema).is_err(), "{idle}");
    }
    let tree = json!({"properties": {"children": {"items": {"$ref": "#"}}}, "type": "object"});
    let bundled = folder.bundle(tree).unwrap();
    let compiled = Schema::compile(&bundled.schema).unwrap();
    assert_eq!(compiled.violations(&json!({"children": [{"children": [1]}]})).len(), 1);
}

#[test]
fn schema_files_are_read_with_care() {
    let folder = Folder::new(&[("tools/list.json", json!([]))]);
    let tools = folder.dir.path().join("root/tools");
    fs::write(tools.join("broken.json"), "{\n\"a\": }").unwrap();
    fs::write(tools.join("ok.yaml"), "type: string\n").unwrap();
    fs::write(tools.join("large.json"), " ".repeat(300_000)).unwrap();
    let fault = folder.bundle(json!({"$ref": "broken.json"})).unwrap_err();
    assert_eq!(fault.line, Some(2));
    assert!(fault.file.unwrap().ends_with("broken.json"));
    assert!(folder.bundle(json!({"$ref": "large.json"})).is_err());
    assert!(folder.bundle(json!({"$ref": "list.json"})).is_err());
    assert_eq!(
        folder.bundle(json!({"$ref": "ok.yaml"})).unwrap().schema,
        json!({"type": "string"})
    );
}
