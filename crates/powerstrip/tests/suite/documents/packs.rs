//! Toolpacks take files like servers do, and large parts of their answers are stored as well.

use serde_json::json;

use crate::documents::support::{Setup, digest, pdf, picture};

/// A script that returns the size and digest of an argument.
fn pack(id: &str, strategy: &str, argument: &str, more: &str) -> [(String, String); 2] {
    let script = format!(
        "import base64, json, sys\n\
         given = json.loads(sys.stdin.readline())['input']\n\
         data = given['{argument}']\n\
         raw = data.encode() if '{argument}' in ('text', 'content', 'input_url') else base64.b64decode(data)\n\
         total = 0xcbf29ce484222325\n\
         for byte in raw:\n    total = ((total ^ byte) * 0x100000001b3) % 2**64\n\
         print(json.dumps({{'digest': f'{{total:016x}}', 'size': len(raw), 'given': sorted(given)}}))\n"
    );
    let yaml = format!(
        "id: {id}\nversion: 1.0.0\ndescription: Says what it got of a file, for a test.\n\
         inputSchema: {{ type: object, required: [{argument}], properties: {{ {argument}: {{ type: string }} }} }}\n\
         outputSchema: {{ type: object }}\nfile_strategy: {strategy}\n{more}\
         execution: {{ kind: python, script: ./{id}.py }}\n"
    );
    [(format!("tools/{id}.py"), script), (format!("tools/{id}.tool.yaml"), yaml)]
}

#[tokio::test]
async fn every_strategy_reaches_a_toolpack() {
    let setup = Setup::open().await;
    let (document, image) = (pdf(300_000), picture(2_000));
    let document_id = setup.put("a.pdf", document.clone()).await;
    let image_id = setup.put("a.png", image.clone()).await;
    let text_id = setup.put("a.txt", "hello").await;
    for (id, strategy, argument, more, file, expected) in [
        ("take.bytes", "binary_base64", "file_data", "", &document_id, digest(&document)),
        ("take.image", "image_base64", "image_data", "", &image_id, digest(&image)),
        ("take.text", "plain_text_text", "text", "", &text_id, digest(b"hello")),
        ("take.content", "plain_text_content", "content", "", &text_id, digest(b"hello")),
        (
            "take.named",
            "binary_base64",
            "scan",
            "file_args: { data: scan }\n",
            &document_id,
            digest(&document),
        ),
    ] {
        for (path, text) in pack(id, strategy, argument, more) {
            setup.gateway.write(&path, &text);
        }
        testkit::eventually(&format!("{id} is there"), || async {
            let seen = setup.gateway.get(&format!("/mcp/schema/{id}@1/input")).await;
            (seen.status == 200).then_some(())
        })
        .await;
        let shown = setup.gateway.get(&format!("/mcp/schema/{id}@1/input")).await.body;
        assert_eq!(shown["required"], json!(["file_id"]), "{shown}");
        let got = setup.data(id, json!({"file_id": file})).await;
        assert_eq!(got["digest"], expected, "{id}: {got}");
    }
    let made = setup.data("near:stamp_field", json!({"file_id": document_id})).await;
    let got = setup.data("take.bytes", json!({"source_ref_id": made["pdf"]["ref_id"]})).await;
    assert_eq!(got["size"], made["pdf"]["size"]);
}

#[tokio::test]
async fn text_below_the_tools_own_limit_is_never_replaced() {
    let write = |id: &str, limits: &str| {
        let yaml = format!(
            "id: {id}\nversion: 1.0.0\ndescription: Searches far and wide, for a test.\n\
             inputSchema: {{ type: object }}\noutputSchema: {{ type: object }}\n{limits}\
             execution: {{ kind: python, script: ./search.py }}\n"
        );
        (format!("tools/{id}.tool.yaml"), yaml)
    };
    let setup = Setup::open().await;
    let script = "import json\nprint(json.dumps({'found': 'word ' * 30000}))\n";
    setup.gateway.write("tools/search.py", script);
    for (id, limits, inline) in [
        ("find.declared", "limits: { maxOutputBytes: 200000 }\n", true),
        ("find.silent", "", false),
    ] {
        let (path, text) = write(id, limits);
        setup.gateway.write(&path, &text);
        testkit::eventually(&format!("{id} is there"), || async {
            let seen = setup.gateway.get(&format!("/mcp/schema/{id}@1/input")).await;
            (seen.status == 200).then_some(())
        })
        .await;
        let data = setup.data(id, json!({})).await;
        assert_eq!(data["found"].is_string(), inline, "{id}");
        if !inline {
            assert_eq!(data["found"]["size"], 150_000, "{data}");
        }
    }
}
