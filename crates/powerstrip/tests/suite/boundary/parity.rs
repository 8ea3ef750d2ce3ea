//! Every door returns the same `{ok, data}` for the same request and every kind of tool.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Door, Gateway, Service, eventually};

use crate::boundary::packs::all_kinds;

#[tokio::test]
async fn a_new_pack_of_each_kind_answers_the_same_at_every_door() {
    let service = Service::start().await;
    let gateway = Gateway::with().config("egress: { allow: [127.0.0.1] }").start().await;
    let message = "héllo \"wörld\" — 1 < 2";
    for pack in all_kinds(&service) {
        for (path, text) in &pack.files {
            gateway.write(path, text);
        }
        let dropped = Instant::now();
        eventually(&format!("{} is listed", pack.id), || async {
            let listed = gateway.get("/mcp/discover").await.body;
            listed["tools"].as_array()?.iter().any(|tool| tool["name"] == pack.id).then_some(())
        })
        .await;
        assert!(
            dropped.elapsed() < Duration::from_secs(2),
            "{} took {:?}",
            pack.id,
            dropped.elapsed()
        );

        let mut answers = Vec::new();
        for door in Door::ALL {
            let mut answer = door.call(&gateway, pack.id, &json!({"message": message})).await;
            if pack.id == "kind.http" {
                // The service also returns the credentials that it received: none.
                assert_eq!(answer["data"]["authorization"], json!(null));
                answer["data"].as_object_mut().map(|data| data.remove("authorization"));
            }
            answers.push((door, answer));
        }
        for (door, answer) in answers {
            let expected = json!({"ok": true, "data": {"echo": message}, "code": null});
            assert_eq!(answer, expected, "{} through {door:?}", pack.id);
        }
        for door in Door::ALL {
            let answer = door.call(&gateway, pack.id, &json!({"message": 7})).await;
            let expected = json!({"ok": false, "data": null, "code": "INVALID_INPUT"});
            assert_eq!(answer, expected, "{} through {door:?}", pack.id);
        }
    }
}

#[tokio::test]
async fn wire_names_short_uris_and_pins_reach_the_same_tool() {
    let gateway = Gateway::start().await;
    let input = json!({"message": "hi"});
    for name in ["demo.echo", "demo_echo", "demo.echo@1", "mcp.tool:demo.echo"] {
        let answer = gateway.call(name, &input).await;
        assert_eq!(
            (answer.status, &answer.body["meta"]["tool"]),
            (200, &json!("demo.echo")),
            "{name}"
        );
    }
    assert_eq!(gateway.call("demo.echo@9", &input).await.status, 404);
}
