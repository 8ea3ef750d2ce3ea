//! Artifacts: one input mode of three, kept for the run, and named when it ends.

use builtin::control::{COMPLETE_WORKFLOW, STORE_ARTIFACT};
use bytes::Bytes;
use files::{Listing, NewFile};
use futures_util::stream;
use proto::{Code, FileKind};
use runs::{RunFilter, RunOf};
use serde_json::{Value, json};
use strip::Answer;

use crate::runs::data;
use crate::support::{Setup, ask, code, principal, setup};

async fn within(setup: &Setup, tool: &str, input: Value) -> Answer {
    let mut call = ask(tool, input);
    call.run = RunOf::Named("r".into());
    setup.strip.call(call).await
}

async fn reference(setup: &Setup, tenant: &str, bytes: &'static [u8]) -> String {
    let new = NewFile::new(FileKind::Reference, "answer.pdf");
    let bytes = stream::iter([Ok(Bytes::from_static(bytes))]);
    let kept = setup.strip.files().put(&principal(tenant, "ann"), new, bytes).await.unwrap();
    kept.id.as_str().to_owned()
}

#[tokio::test]
async fn an_artifact_comes_as_text_as_base64_or_as_a_reference() {
    let setup = setup(Vec::new()).await.with_control();
    let pdf = reference(&setup, "acme", b"%PDF-1.7 made by a tool").await;
    let cases = [
        (json!({"file_name": "a.txt", "content": "h\u{e9}llo"}), "h\u{e9}llo".as_bytes()),
        (json!({"file_name": "b.txt", "content": "aGk=", "content_encoding": "utf-8"}), b"aGk="),
        (
            json!({"file_name": "c.bin", "content": "AP8Q", "content_encoding": "base64"}),
            &[0, 255, 16],
        ),
        (json!({"file_name": "d.bin", "content": "aG\nk", "content_encoding": "base64"}), b"hi"),
        (json!({"file_name": "e.pdf", "content_ref_id": pdf}), b"%PDF-1.7 made by a tool"),
        // Models that fill every field, and an empty file.
        (
            json!({"file_name": "f.pdf", "content": "", "content_encoding": "utf-8", "content_ref_id": pdf}),
            b"%PDF-1.7 made by a tool",
        ),
        (
            json!({"file_name": "g.txt", "content": "x", "content_encoding": "", "content_ref_id": ""}),
            b"x",
        ),
        (json!({"file_name": "h.txt", "content": "", "content_ref_id": ""}), b""),
    ];
    let mut ids = Vec::new();
    for (input, bytes) in cases {
        let answer = within(&setup, STORE_ARTIFACT, input.clone()).await;
        let artifact = data(&answer);
        assert_eq!(
            (&artifact["file_name"], &artifact["size"]),
            (&input["file_name"], &json!(bytes.len()))
        );
        assert_eq!(artifact["sha256"], json!(proto::digest(bytes).to_string()), "{artifact}");
        let id = artifact["file_id"].as_str().unwrap().to_owned();
        let ann = principal("acme", "ann");
        let kept = setup.strip.files().find(&ann, &id).await.unwrap();
        assert_eq!(kept.kind, FileKind::Artifact);
        assert_eq!(setup.strip.files().bytes(&kept, 1000).await.unwrap(), bytes);
        ids.push(id);
    }
    let runs = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows;
    assert_eq!((runs.len(), &runs[0].artifacts), (1, &ids));
    let listing = Listing { run: Some(runs[0].id.clone()), ..Listing::default() };
    let of_run = setup.strip.files().list(&principal("acme", "ann"), listing).await.unwrap();
    assert_eq!(of_run.files.len(), ids.len(), "files know their run, too");

    let ended = json!({"summary": "done", "artifacts": [ids[0], ids[4]]});
    let ended = within(&setup, COMPLETE_WORKFLOW, ended).await;
    assert_eq!(data(&ended)["artifacts"], json!([ids[0], ids[4]]));
    assert_eq!(data(&ended)["data_tools"], json!(0), "control-flow tools do not count");
}

#[tokio::test]
async fn store_artifact_refuses_all_but_one_content_and_stores_nothing() {
    let setup = setup(Vec::new()).await.with_control();
    let foreign = reference(&setup, "globex", b"secret").await;
    let own = reference(&setup, "acme", b"ours").await;
    for (input, expected) in [
        (json!({"file_name": "a"}), Code::InvalidInput),
        (json!({"file_name": "a", "content": "x", "content_ref_id": own}), Code::InvalidInput),
        (json!({"file_name": "a", "content_encoding": "base64"}), Code::InvalidInput),
        (
            json!({"file_name": "a", "content_ref_id": own, "content_encoding": "base64"}),
            Code::InvalidInput,
        ),
        (
            json!({"file_name": "a", "content": "no base64!", "content_encoding": "base64"}),
            Code::InvalidInput,
        ),
        (
            json!({"file_name": "a", "content": "aGk", "content_encoding": "hex"}),
            Code::InvalidInput,
        ),
        (json!({"file_name": "", "content": "x"}), Code::InvalidInput),
        (json!({"content": "x"}), Code::InvalidInput),
        (json!({"file_name": "a", "content_ref_id": foreign}), Code::NotFound),
        (json!({"file_name": "a", "content_ref_id": "ref_odd"}), Code::NotFound),
    ] {
        let answer = within(&setup, STORE_ARTIFACT, input.clone()).await;
        assert_eq!(code(&answer), Some(expected), "{input}: {answer:?}");
        let text = format!("{answer:?}");
        assert!(!text.contains("secret"), "{text}");
    }
    let listing = Listing { kind: Some(FileKind::Artifact), ..Listing::default() };
    let kept = setup.strip.files().list(&principal("acme", "ann"), listing).await.unwrap();
    assert_eq!(kept.files.len(), 0);

    // A run ends with files of its own tenant, and with files that stay.
    let ends = json!({"summary": "x", "artifacts": [foreign, own, "file_odd"]});
    let refused = within(&setup, COMPLETE_WORKFLOW, ends).await.result.unwrap_err();
    assert_eq!(refused.code, Code::InvalidInput);
    assert_eq!(refused.details.unwrap()["faults"].as_array().unwrap().len(), 3);
    let ended = within(&setup, COMPLETE_WORKFLOW, json!({"summary": "x"})).await;
    assert_eq!(code(&ended), None, "a refused end ends nothing: {ended:?}");
}

#[tokio::test]
async fn a_file_that_a_person_answers_with_is_one_of_the_tenants() {
    let setup = setup(crate::runs::tools()).await.with_control();
    crate::runs::works(&setup, "r", 2).await;
    let question = json!({"slot_type": "file", "slot_id": "cv", "prompt_key": "Which file?"});
    let mut call = ask(builtin::control::REQUEST_USER_INPUT, question);
    call.run = RunOf::Named("r".into());
    call.timeout = Some(std::time::Duration::from_millis(40));
    let asked = setup.strip.call(call).await;
    assert_eq!(data(&asked)["status"], json!("waiting"), "{asked:?}");
    let run = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows[0].id.clone();
    let (foreign, own) =
        (reference(&setup, "globex", b"a").await, reference(&setup, "acme", b"b").await);
    let (runs, boss) = (setup.strip.runs(), principal("acme", "boss"));
    let unknown = format!("file_{}", "0".repeat(32));
    for wrong in [foreign, unknown, "odd".to_owned()] {
        let refused = runs.answer(&boss, Some("acme"), (&run, "cv"), &json!(wrong)).await;
        assert_eq!(refused.unwrap_err().code, Code::InvalidInput, "{wrong}");
    }
    runs.answer(&boss, Some("acme"), (&run, "cv"), &json!(own)).await.unwrap();
}
