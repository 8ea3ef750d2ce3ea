//! Tools are added, broken, fixed and removed while the gateway runs.

use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::boundary::packs::pack;

async fn word(gateway: &Gateway) -> Value {
    gateway.call("live.word", &json!({"message": "?"})).await.body
}

#[tokio::test]
async fn a_broken_pack_keeps_its_last_good_version_and_shows_why() {
    let script = |word: &str| format!("print('{{\"echo\": \"{word}\"}}')\n");
    let yaml = pack("live.word", "{ kind: python, script: ./word.py }", "");
    let gateway = Gateway::with()
        .file("tools/word.py", &script("one"))
        .file("tools/word.tool.yaml", &yaml)
        .start()
        .await;
    assert_eq!(word(&gateway).await["data"], json!({"echo": "one"}));

    gateway.write("tools/word.py", &script("two"));
    eventually("a changed script invalidates the recorded answer", || async {
        (word(&gateway).await["data"] == json!({"echo": "two"})).then_some(())
    })
    .await;

    gateway.write("tools/word.tool.yaml", "id: live.word\nversion: [not, a, version\n");
    eventually("the log names file and line", || async {
        gateway.log().contains("word.tool.yaml:").then_some(())
    })
    .await;
    assert_eq!(
        word(&gateway).await["data"],
        json!({"echo": "two"}),
        "the last good version answers"
    );

    gateway.write("tools/word.tool.yaml", &yaml.replace("1.0.0", "1.1.0"));
    eventually("the fixed pack is served", || async {
        (word(&gateway).await["meta"]["version"] == "1.1.0").then_some(())
    })
    .await;

    gateway.remove("tools/word.tool.yaml");
    eventually("the removed pack is gone", || async {
        (word(&gateway).await["errors"][0]["code"] == "NOT_FOUND").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_changed_helper_module_invalidates_recorded_answers() {
    let helper = |word: &str| format!("WORD = '{word}'\n");
    let script = "import json, helper\nprint(json.dumps({'echo': helper.WORD}))\n";
    let gateway = Gateway::with()
        .file("tools/helper.py", &helper("one"))
        .file("tools/word.py", script)
        .file(
            "tools/word.tool.yaml",
            &pack("live.word", "{ kind: python, script: ./word.py, workers: 1 }", ""),
        )
        .start()
        .await;
    assert_eq!(word(&gateway).await["data"], json!({"echo": "one"}));
    gateway.write("tools/helper.py", &helper("two"));
    eventually("the changed helper answers", || async {
        (word(&gateway).await["data"] == json!({"echo": "two"})).then_some(())
    })
    .await;
}
