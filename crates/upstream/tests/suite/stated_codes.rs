//! Failures for which a server states a code.

use axum::response::Response;
use http::Method;
use operations::servers::ServerState;
use proto::Code;
use serde_json::{Value, json};

use crate::fake::{Fake, ReceivedRequest, error, events, modern, plain, result, tool};
use crate::support::{Setup, at};

/// A failed result as servers of the kit write it.
fn failed(code: &str, message: &str) -> Value {
    json!({"isError": true, "content": [{"type": "text", "text": format!("{code}: {message}")}],
        "_meta": {"powerstrip/fault": {"code": code, "retryable": code == "UNAVAILABLE"}}})
}

#[tokio::test]
async fn a_stated_code_is_no_fault_of_the_servers_health() {
    let fake = Fake::new(|received| async move {
        match received.method_name() {
            "tools/call" => {
                let code = received.arguments()["code"].as_str().unwrap_or_default();
                result(&received, failed(code, "not today"))
            }
            _ => modern(&received, &[tool("t")]),
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:t").await;
    let codes = [
        Code::InvalidInput,
        Code::NotFound,
        Code::RateLimit,
        Code::Timeout,
        Code::Unavailable,
        Code::Unsupported,
    ];
    for code in codes.into_iter().cycle().take(60) {
        let failure = setup.call("s:t", json!({"code": code})).await.unwrap_err();
        assert_eq!((failure.code, &*failure.message), (code, "not today"));
        assert_eq!(failure.retryable, code == Code::Unavailable, "{code}");
    }
    assert_eq!(fake.requests_of("tools/call").len(), 60, "every call is sent, and only once");
    let status = setup.status("s");
    assert_eq!((status.state, status.last_error), (ServerState::Ready, None));
    assert!(status.replicas.iter().all(|replica| replica.admitted), "{:?}", status.replicas);
}

#[tokio::test]
async fn a_message_that_looks_like_an_unknown_tool_keeps_its_code() {
    let fake = Fake::new(|received| async move {
        match received.method_name() {
            "tools/call" if received.arguments()["coded"] == true => {
                result(&received, failed("NOT_FOUND", "page 7 not found by find_page"))
            }
            "tools/call" => {
                let text = json!([{"type": "text", "text": "Tool find_page not found"}]);
                result(&received, json!({"isError": true, "content": text}))
            }
            _ => modern(&received, &[tool("find_page")]),
        }
    });
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:find_page").await;
    let of = async |coded: bool| {
        setup.call("s:find_page", json!({"coded": coded})).await.unwrap_err().code
    };
    assert_eq!(of(true).await, Code::NotFound);
    assert_eq!(of(false).await, Code::Unsupported, "the server hides it from this caller");
}

/// A legacy server whose tool asks the caller something, and fails with a code if no client answers.
async fn ask_and_fail(received: ReceivedRequest) -> Response {
    if received.method == Method::GET {
        return plain(405, "");
    }
    match received.method_name() {
        "initialize" => {
            let capabilities = json!({"tools": {}});
            result(
                &received,
                json!({"protocolVersion": "2025-06-18", "capabilities": capabilities}),
            )
        }
        "tools/list" => result(&received, json!({"tools": [tool("greet")]})),
        "tools/call" => events(&[
            json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                "params": {"message": "Who is it?", "requestedSchema": {"type": "object"}}}),
            json!({"jsonrpc": "2.0", "id": received.id(),
                "result": failed("UNAVAILABLE", "the client did not answer")}),
        ]),
        _ if received.body.get("method").is_none() || received.id().is_null() => plain(202, ""),
        "server/discover" => error(400, &received, -32601, "server/discover"),
        other => error(200, &received, -32601, other),
    }
}

#[tokio::test]
async fn a_code_after_a_question_that_no_client_could_answer_is_unsupported() {
    let fake = Fake::new(ask_and_fail);
    let setup = Setup::with(vec![("s", at(&fake.url()))]).await;
    setup.wait_for_tool("s:greet").await;
    let failure = setup.call("s:greet", json!({})).await.unwrap_err();
    assert_eq!((failure.code, failure.retryable), (Code::Unsupported, false));
    assert!(failure.message.contains("asked the caller something"), "{}", failure.message);
}
