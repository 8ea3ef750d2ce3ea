//! A language model plans: its plans pass the same checks as any other, and without it the plain plan is used.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use testkit::Gateway;
use tokio::net::TcpListener;

use crate::workflows::support::{as_admin, call, ledger, ready, with_ledger};

/// What the model says: its status and the text of its message.
type Script = Arc<Mutex<(u16, String)>>;

async fn say(State(script): State<Script>, Json(asked): Json<Value>) -> (StatusCode, Json<Value>) {
    assert_eq!(asked["response_format"]["type"], "json_schema");
    let (status, text) = script.lock().unwrap().clone();
    let message = json!({"choices": [{"message": {"content": text}}]});
    (StatusCode::from_u16(status).unwrap(), Json(message))
}

async fn with_model(script: &Script, more: &str) -> Gateway {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let router =
        Router::new().route("/v1/chat/completions", post(say)).with_state(Arc::clone(script));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let model =
        format!("model: {{ url: '{url}', name: test }}\negress: {{ allow: [127.0.0.1] }}\n{more}");
    let gateway = with_ledger(&model).start().await;
    ready(&gateway).await;
    gateway
}

fn script(answer: &Value) -> Script {
    Arc::new(Mutex::new((200, answer.to_string())))
}

fn work(arguments: Value) -> Value {
    json!({"confidence": 0.9, "tasks": [{"id": "x", "tool": "t:work", "arguments": arguments}]})
}

#[tokio::test]
async fn a_plan_of_the_model_runs() {
    let script = script(&work(json!({"task": "by-model"})));
    let gateway = with_model(&script, "").await;
    let done = call(&gateway, "execute_dag", json!({"intent": "Do nothing for a while"})).await;
    assert_eq!(done["status"], "complete", "{done:#}");
    assert_eq!(ledger(&gateway), ["by-model"]);
}

#[tokio::test]
async fn bad_plans_of_a_model_never_run() {
    let script = script(&json!({}));
    let gateway = with_model(&script, "").await;
    let task = |id: &str, tool: &str, after: &[&str]| json!({"id": id, "tool": tool, "arguments": {"task": "wrong"}, "depends_on": after});
    let cycle = json!([task("a", "t:work", &["b"]), task("b", "t:work", &["a"])]);
    for (status, text) in [
        (200, "garbage".to_owned()),
        (200, json!({"tasks": [task("a", "t:nothing", &[])]}).to_string()),
        (200, json!({"tasks": [task("a", "powerstrip:execute_dag", &[])]}).to_string()),
        (200, json!({"tasks": cycle}).to_string()),
        (200, work(json!({"task": 7})).to_string()),
        (400, String::new()),
        (500, String::new()),
    ] {
        *script.lock().unwrap() = (status, text.clone());
        let body = json!({"intent": "Run t:work with the task 'right'"});
        let path = "/v1/workflows/plan";
        let plan = as_admin(&gateway, reqwest::Method::POST, path, &body).await.body;
        assert_eq!(plan["tasks"][0]["arguments"]["task"], "right", "{text}: {plan:#}");
        let reasons = plan["reasons"].to_string();
        assert!(reasons.contains("The model's plan is not used"), "{text}: {plan:#}");
    }
    assert_eq!(ledger(&gateway), [""; 0]);
}

#[tokio::test]
async fn plain_plans_ask_no_model() {
    let script = script(&work(json!({"task": "by-model"})));
    let gateway = with_model(&script, "workflows: { planner: plain }\n").await;
    let body = json!({"intent": "Run t:work with the task 'right'"});
    let plan = as_admin(&gateway, reqwest::Method::POST, "/v1/workflows/plan", &body).await.body;
    assert_eq!(plan["tasks"][0]["arguments"]["task"], "right", "{plan:#}");
}
