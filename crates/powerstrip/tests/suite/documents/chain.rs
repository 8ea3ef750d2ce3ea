//! A chain over two servers (parse, tailor, stamp) in which no byte of the document is visible to a model.

use serde_json::json;

use crate::documents::silence::Traces;
use crate::documents::support::{Setup, pdf};

#[tokio::test]
async fn a_document_moves_between_servers_without_entering_the_context() {
    let setup = Setup::open().await;
    let document = pdf(200_000);
    let traces = Traces::of(&document);
    let id = setup.put("cv.pdf", document.clone()).await;
    let (mut said, mut read) = (String::new(), 0);
    let mut ask = async |tool: &str, input: serde_json::Value| {
        let params = json!({"name": tool, "arguments": input});
        let text = setup.mcp_text("tools/call", params).await;
        said.push_str(&text);
        let start = text.find(['{']).unwrap();
        let end = text.rfind('}').unwrap();
        let answer: serde_json::Value = serde_json::from_str(&text[start..=end]).unwrap();
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        read += answer["result"]["content"].to_string().len();
        answer["result"].clone()
    };
    let parsed = ask("near__parse_document", json!({"file_id": id})).await;
    let kept = parsed["structuredContent"]["ref_id"].clone();
    let input = json!({"source_ref_id": kept, "target_role": "Countess"});
    let tailored = ask("far__tailor_resume", input).await;
    let block = tailored["content"].as_array().unwrap().last().unwrap();
    let reference = block["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let stamped = ask("near__stamp_field", json!({"file_id": reference})).await;
    let last = stamped["structuredContent"]["pdf"]["ref_id"].as_str().unwrap().to_owned();

    let stored =
        ask("powerstrip__store_artifact", json!({"file_name": "cv.pdf", "content_ref_id": last}))
            .await;
    let stored = stored["structuredContent"].clone();
    assert_eq!(stored["media_type"], "application/pdf", "{stored}");
    let artifact = stored["file_id"].as_str().unwrap();
    assert_eq!(setup.bytes(artifact).await, setup.bytes(&last).await);
    // A reference issued by a server is fetched from it.
    let artifact = json!({"file_name": "parsed.pdf", "content_ref_id": kept});
    let stored = ask("powerstrip__store_artifact", artifact).await["structuredContent"].clone();
    assert_eq!(setup.bytes(stored["file_id"].as_str().unwrap()).await, document);

    let end = b"\n% for the role of Countess\n\n% stamped\n";
    assert_eq!(setup.bytes(&last).await, [document.as_slice(), end].concat());
    traces.are_not_in("an answer", &said);
    // Structured answers repeat the text; a model reads one of them.
    assert!(read < 2_048, "{read} bytes: {said}");
    traces.are_not_in("the log", &setup.gateway.log());
}
