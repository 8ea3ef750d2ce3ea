//! One call: arguments, answers, failures, limits.

use std::sync::Arc;
use std::time::Duration;

use kit::rmcp::ErrorData;
use kit::rmcp::model::ToolAnnotations;
use kit::{Blocks, Ctx, Fault, Limits, NoInput, Server, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use crate::wire::{exchange, modern, send, start};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    /// The numbers.
    #[schemars(length(max = 3))]
    numbers: Vec<i64>,
    label: String,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    label: String,
    total: i64,
}

async fn sum(input: Sum, _: Ctx) -> Result<Total, Fault> {
    Ok(Total { label: input.label, total: input.numbers.iter().sum() })
}

fn summing() -> Server {
    Server::new("calls-test", "0.0.0").tool(
        ToolSpec::new("sum", "Adds numbers.")
            .title("Sum")
            .annotations(ToolAnnotations::new().read_only(true)),
        sum,
    )
}

#[tokio::test]
async fn a_typed_tool_lists_both_schemas_and_answers_structured_and_as_text() {
    let running = start(summing()).await;
    let listed = running.ask("tools/list", json!({})).await["result"]["tools"][0].clone();
    assert_eq!(listed["name"], "sum");
    assert_eq!(listed["title"], "Sum");
    assert_eq!(listed["annotations"], json!({ "readOnlyHint": true }));
    assert_eq!(listed["inputSchema"]["required"], json!(["numbers", "label"]));
    assert_eq!(listed["inputSchema"]["properties"]["numbers"]["description"], "The numbers.");
    assert_eq!(listed["outputSchema"]["properties"]["total"]["type"], "integer");

    let answer = running.call("sum", json!({ "numbers": [1, 2, 3], "label": "six" })).await;
    assert_eq!(answer["structuredContent"], json!({ "label": "six", "total": 6 }));
    assert_eq!(answer["content"][0]["text"], json!({ "label": "six", "total": 6 }).to_string());
    assert_eq!(answer["isError"], false);
}

#[tokio::test]
async fn all_schema_violations_are_reported_at_once() {
    let running = start(summing()).await;
    let answer = running.call("sum", json!({ "numbers": [1, "two", 3, 4] })).await;
    assert_eq!(answer["isError"], true);
    let fault = &answer["_meta"]["powerstrip/fault"];
    assert_eq!(fault["code"], "INVALID_INPUT");
    assert_eq!(fault["retryable"], false);
    let mut paths: Vec<&str> = fault["details"]["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| error["path"].as_str().unwrap())
        .collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/", "/numbers", "/numbers/1"]);
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("INVALID_INPUT: ")
            && text.contains("label")
            && text.contains("/numbers/1"),
        "{text}"
    );
}

#[tokio::test]
async fn a_refusal_is_short_however_much_is_wrong() {
    let running = start(summing()).await;
    let many = |count: usize| json!({ "numbers": vec!["x"; count], "label": "" });
    let long_name = json!({ "numbers": [], "x".repeat(40_000): 1 });
    for (arguments, listed) in [(many(1_000), 20), (many(14_000), 1), (long_name, 1)] {
        let answer = running.call("sum", arguments).await;
        let errors = &answer["_meta"]["powerstrip/fault"]["details"]["errors"];
        assert_eq!(errors.as_array().unwrap().len(), listed, "{answer}");
        assert!(answer.to_string().len() < 10_000, "{answer}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let running = start(summing()).await;
    let answer = running.ask("tools/call", json!({ "name": "nosuch", "arguments": {} })).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("nosuch"));
    let answer = running.ask("tools/list", json!({ "cursor": "made-up" })).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn failures_of_the_tool_are_answers_and_failures_of_the_protocol_are_errors() {
    async fn missing(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
        Err(Fault::unavailable("the printer is off").details(json!({ "printer": 3 })))
    }
    async fn broken(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
        Err(Fault::unavailable("the printer is broken").retryable(false))
    }
    async fn refused(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
        Err(Fault::protocol(ErrorData::invalid_params("not like this", None)))
    }
    let server = summing()
        .tool(ToolSpec::new("print", "Prints."), missing)
        .tool(ToolSpec::new("repair", "Repairs."), broken)
        .tool(ToolSpec::new("refuse", "Refuses."), refused);
    let running = start(server).await;
    let answer = running.call("print", json!({})).await;
    assert_eq!(answer["content"][0]["text"], "UNAVAILABLE: the printer is off");
    let expected = json!({ "code": "UNAVAILABLE", "retryable": true, "details": { "printer": 3 } });
    assert_eq!(answer["_meta"]["powerstrip/fault"], expected);
    let answer = running.call("repair", json!({})).await;
    let expected = json!({ "code": "UNAVAILABLE", "retryable": false });
    assert_eq!(answer["_meta"]["powerstrip/fault"], expected);
    let answer = running.ask("tools/call", json!({ "name": "refuse", "arguments": {} })).await;
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "not like this");
}

#[tokio::test]
async fn a_panic_ends_only_its_call_and_its_message_is_not_returned() {
    #[expect(clippy::panic, reason = "the point of the test")]
    async fn panics(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
        panic!("secret detail")
    }
    let running = start(summing().tool(ToolSpec::new("panics", "Breaks."), panics)).await;
    let answer = running.call("panics", json!({})).await;
    assert_eq!(answer["isError"], true);
    assert_eq!(answer["_meta"]["powerstrip/fault"]["code"], "INTERNAL");
    assert!(!answer.to_string().contains("secret"));
    assert_eq!(
        running.call("sum", json!({ "numbers": [2], "label": "" })).await["structuredContent"]["total"],
        2
    );
}

async fn never(_: NoInput, _: Ctx) -> Result<Blocks, Fault> {
    std::future::pending().await
}

#[tokio::test]
async fn a_call_ends_at_the_servers_time_out_or_at_the_tools_own() {
    let server = Server::new("calls-test", "0.0.0")
        .limits(Limits { timeout: Duration::from_millis(50), ..Limits::default() })
        .tool(ToolSpec::new("hang", "Hangs."), never)
        .tool(
            ToolSpec::new("wait", "Waits.").timeout(Duration::from_secs(20)),
            |_: NoInput, _| async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                Ok(Blocks::new().text("waited"))
            },
        );
    let running = start(server).await;
    let (hung, waited) =
        tokio::join!(running.call("hang", json!({})), running.call("wait", json!({})));
    assert_eq!(hung["_meta"]["powerstrip/fault"]["code"], "TIMEOUT");
    assert_eq!(hung["content"][0]["text"], "TIMEOUT: no answer within 50 ms");
    assert_eq!(waited["content"][0]["text"], "waited");
}

#[tokio::test]
async fn an_answer_over_the_cap_is_a_failure_of_the_tool() {
    #[derive(Deserialize, JsonSchema)]
    struct Size {
        bytes: usize,
    }
    let server = Server::new("calls-test", "0.0.0")
        .limits(Limits { output_bytes: 1000, ..Limits::default() })
        .tool(ToolSpec::new("fill", "Fills."), |size: Size, _| async move {
            Ok(Blocks::new().text("x".repeat(size.bytes)))
        });
    let running = start(server).await;
    assert_eq!(running.call("fill", json!({ "bytes": 800 })).await["isError"], false);
    let answer = running.call("fill", json!({ "bytes": 1000 })).await;
    let fault = &answer["_meta"]["powerstrip/fault"];
    assert_eq!(fault["code"], "INTERNAL");
    assert_eq!(fault["details"]["limit"], 1000);
    assert!(fault["details"]["size"].as_u64().unwrap() > 1000);
}

#[tokio::test]
async fn work_stops_when_the_caller_disconnects() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (started, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let server = Server::new("calls-test", "0.0.0").tool(ToolSpec::new("hang", "Hangs."), {
        let (started, dropped) = (started.clone(), dropped.clone());
        move |_: NoInput, _| {
            let (started, guard) = (started.clone(), Dropped(dropped.clone()));
            async move {
                let _guard = guard;
                started.notify_one();
                std::future::pending::<Result<Blocks, Fault>>().await
            }
        }
    });
    let running = start(server).await;
    let connection =
        send(running.address, &modern("tools/call", json!({ "name": "hang", "arguments": {} })))
            .await;
    started.notified().await;
    drop(connection);
    tokio::time::timeout(Duration::from_secs(10), dropped.notified())
        .await
        .expect("the handler is dropped");
}

#[tokio::test]
async fn progress_is_reported_to_callers_that_asked_for_it() {
    let server = Server::new("calls-test", "0.0.0").tool(
        ToolSpec::new("walk", "Walks."),
        |_: NoInput, ctx: Ctx| async move {
            ctx.progress(1.0, 2.0, "half way").await;
            Ok(Blocks::new().text("there"))
        },
    );
    let running = start(server).await;
    let asking =
        json!({ "name": "walk", "arguments": {}, "_meta": { "progressToken": "token-1" } });
    let messages = exchange(running.address, &modern("tools/call", asking)).await.messages();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[0]["method"], "notifications/progress");
    assert_eq!(messages[0]["params"]["progressToken"], "token-1");
    assert_eq!(messages[0]["params"]["message"], "half way");
    let silent = json!({ "name": "walk", "arguments": {} });
    assert_eq!(exchange(running.address, &modern("tools/call", silent)).await.messages().len(), 1);
}

#[tokio::test]
async fn blocks_carry_text_pictures_sound_documents_and_files() {
    let server = Server::new("calls-test", "0.0.0").tool(
        ToolSpec::new("show", "Shows."),
        |_: NoInput, _| async {
            Ok(Blocks::new()
                .text("look")
                .image(&[1, 2, 3], "image/png")
                .audio(&[4, 5, 6], "audio/wav")
                .document("doc://a", "text/markdown", "# A")
                .file("doc://b", "application/pdf", &[7, 8, 9]))
        },
    );
    let running = start(server).await;
    let expected = json!([
        { "type": "text", "text": "look" },
        { "type": "image", "data": "AQID", "mimeType": "image/png" },
        { "type": "audio", "data": "BAUG", "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "doc://a", "mimeType": "text/markdown", "text": "# A" } },
        { "type": "resource", "resource": { "uri": "doc://b", "mimeType": "application/pdf", "blob": "BwgJ" } },
    ]);
    assert_eq!(running.call("show", json!({})).await["content"], expected);
}
