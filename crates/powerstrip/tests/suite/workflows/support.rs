//! A gateway with the server of workflow tests behind it, and its ledger.

use serde_json::{Value, json};
use testkit::{Gateway, GatewayBuilder, eventually, mcp_call, mcp_tools, sibling_program};

/// The ledger, in the scratch folder of the gateway.
const LEDGER: &str = "ledger";

/// A gateway whose server `t` notes each run in a ledger.
pub(crate) fn with_ledger(more: &str) -> GatewayBuilder {
    let builder = Gateway::with();
    let program = sibling_program("powerstrip-ledger");
    let config = format!(
        "servers:\n  t: {{ command: '{}', env: {{ LEDGER: '{}' }} }}\n{more}",
        program.display(),
        builder.scratch().join(LEDGER).display()
    );
    builder.config(&config)
}

/// The names of the tasks that began to run, in order.
pub(crate) fn ledger(gateway: &Gateway) -> Vec<String> {
    let text = std::fs::read_to_string(gateway.scratch().join(LEDGER)).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let begun = lines.filter(|line| line["what"] == "begin");
    begun.map(|line| line["task"].as_str().unwrap().to_owned()).collect()
}

/// Lets a task that runs `t:work`, `t:undo` or `t:once` go on only after its release.
pub(crate) fn hold(gateway: &Gateway, task: &str) {
    std::fs::write(held(gateway, task), "").unwrap();
}

pub(crate) fn release(gateway: &Gateway, task: &str) {
    std::fs::remove_file(held(gateway, task)).unwrap();
}

fn held(gateway: &Gateway, task: &str) -> std::path::PathBuf {
    gateway.scratch().join(format!("{task}.held"))
}

/// Sends a request as the operator.
pub(crate) async fn as_admin(
    gateway: &Gateway,
    method: reqwest::Method,
    path: &str,
    body: &Value,
) -> testkit::Response {
    let request = reqwest::Client::new().request(method, gateway.url(path));
    let request = request.bearer_auth(gateway.admin_token());
    testkit::send(if body.is_null() { request } else { request.json(body) }).await
}

/// The path of a workflow's run.
pub(crate) fn run_path(workflow_id: &Value) -> String {
    format!("/v1/runs/run_{}", workflow_id.as_str().unwrap().replace('-', ""))
}

pub(crate) async fn start(more: &str) -> Gateway {
    let gateway = with_ledger(more).start().await;
    ready(&gateway).await;
    gateway
}

/// Waits until the tools of the ledger's server are listed.
pub(crate) async fn ready(gateway: &Gateway) {
    eventually("the ledger's tools are listed", || async {
        let tools = mcp_tools(&gateway.url("/mcp")).await;
        tools.iter().any(|tool| tool["name"] == "t__work").then_some(())
    })
    .await;
}

/// Calls a workflow tool over MCP; returns its structured answer.
pub(crate) async fn call(gateway: &Gateway, tool: &str, input: Value) -> Value {
    let answer = mcp_call(&gateway.url("/mcp"), &format!("powerstrip__{tool}"), input).await;
    let content = answer["structuredContent"].clone();
    assert!(content.is_object(), "{answer:#}");
    content
}

/// Calls a workflow tool with a credential; returns the envelope.
pub(crate) async fn call_as(gateway: &Gateway, token: &str, tool: &str, input: Value) -> Value {
    let url = gateway.url(&format!("/mcp/tool/powerstrip:{tool}"));
    let request = reqwest::Client::new().post(url).bearer_auth(token).json(&input);
    testkit::send(request).await.body
}

/// A task that calls `t:work`.
pub(crate) fn work(id: &str, depends_on: &[&str]) -> Value {
    json!({"id": id, "tool": "t:work", "arguments": {"task": id}, "depends_on": depends_on})
}

pub(crate) fn per_layer(tasks: Value) -> Value {
    json!({"workflow": {"tasks": tasks}, "config": {"per_layer_validation": true}})
}

/// The ids and statuses of results.
pub(crate) fn statuses(results: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let results = results.as_array().unwrap_or_else(|| panic!("no results: {results}"));
    results.iter().map(|result| (text(&result["task_id"]), text(&result["status"]))).collect()
}

pub(crate) fn pair(id: &str, status: &str) -> (String, String) {
    (id.to_owned(), status.to_owned())
}

/// Waits until the tools of the ledger's server can be called with a credential.
pub(crate) async fn ready_as(gateway: &Gateway, token: &str) {
    let client = reqwest::Client::new();
    eventually("the ledger's tools can be called", || async {
        let request = client.post(gateway.url("/mcp/tool/t:work")).bearer_auth(token);
        let answer = testkit::send(request.json(&json!({"task": "ready"}))).await;
        (answer.status == 200).then_some(())
    })
    .await;
}

/// A client of MCP 2026-07-28 that can show forms.
pub(crate) struct Client {
    url: String,
}

impl Client {
    pub(crate) fn with_forms(gateway: &Gateway) -> Self {
        Self { url: gateway.url("/mcp") }
    }

    /// Calls a workflow tool; `more` is added to the parameters.
    pub(crate) async fn call(&mut self, tool: &str, input: Value, more: Value) -> Value {
        let mut params = json!({"name": format!("powerstrip__{tool}"), "arguments": input});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let post = reqwest::Client::new().post(&self.url);
        let request =
            testkit::mcp_request_with(post, "tools/call", params, json!({"elicitation": {}}));
        let text = request.send().await.unwrap().text().await.unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
        serde_json::from_str(data.unwrap_or(&text).trim()).unwrap()
    }
}

/// Kills the gateway and starts it again.
pub(crate) async fn crash(gateway: Gateway) -> Gateway {
    kill(&gateway);
    gateway.restart().await
}

pub(crate) fn kill(gateway: &Gateway) {
    let pid = rustix::process::Pid::from_raw(gateway.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
