//! An agent searches for, describes and calls the tools of its skills.

use serde_json::{Value, json};
use testkit::{Gateway, StdioSession, eventually, mcp, mcp_call};

use crate::servers::support::{HttpFixture, command, over_http, over_stdio, wait_until_listed};

const PROFILES: &str = "skills:
  near-by: { servers: [near], tools: ['demo.*'] }
agents:
  finder: { skills: [near-by], discovery: search }
";

async fn setup(more: &str) -> (Gateway, HttpFixture) {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).config(PROFILES).config(more).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "far__greet").await;
    (gateway, far)
}

fn found(result: &Value) -> Vec<&str> {
    let tools = result["structuredContent"]["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["id"].as_str().expect("an id")).collect()
}

fn code(result: &Value) -> &Value {
    &result["_meta"]["powerstrip/error"]["code"]
}

#[tokio::test]
async fn a_searching_agent_sees_three_tools_and_finds_the_rest() {
    let (gateway, _far) = setup("").await;
    let door = gateway.url("/agents/finder/mcp");
    let listed = mcp(&door, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect();
    assert_eq!(
        names,
        [
            "powerstrip__call_tool",
            "powerstrip__complete_workflow",
            "powerstrip__describe_tool",
            "powerstrip__read_result",
            "powerstrip__request_user_input",
            "powerstrip__search_tools",
            "powerstrip__store_artifact",
        ]
    );

    let search = |query: &str| {
        let (door, input) = (door.clone(), json!({"query": query, "limit": 5}));
        async move { mcp_call(&door, "powerstrip__search_tools", input).await }
    };
    // The index of the last server may be ready shortly after its tools; until then the previous one answers.
    let every = json!({"query": "greet", "limit": 50});
    eventually("both servers are indexed", || async {
        let url = gateway.url("/mcp");
        let all = mcp_call(&url, "powerstrip__search_tools", every.clone()).await;
        ["far:greet", "near:greet"].iter().all(|id| found(&all).contains(id)).then_some(())
    })
    .await;
    let result = search("greet at once").await;
    let ids = found(&result);
    assert_eq!(ids[0], "near:greet", "{result}");
    assert!(ids.iter().all(|id| !id.starts_with("far:")), "{ids:?}");
    assert!(found(&search("qqqqq zzzzz").await).is_empty());

    let about = mcp_call(&door, "powerstrip__describe_tool", json!({"id": "near:greet"})).await;
    let about = &about["structuredContent"];
    assert_eq!((&about["server"], &about["health"]), (&json!("near"), &json!("ready")), "{about}");
    assert_eq!((&about["name"], &about["id"]), (&json!("near__greet"), &json!("near:greet")));
    assert!(about["inputSchema"]["properties"]["name"].is_object(), "{about}");
    let hidden = mcp_call(&door, "powerstrip__describe_tool", json!({"id": "far:greet"})).await;
    assert_eq!(code(&hidden), &json!("NOT_FOUND"), "{hidden}");
    assert!(hidden.to_string().contains("near__greet"), "the nearest in view is named: {hidden}");

    // Callers that see the whole list can search as well, but `call_tool` is not listed for them.
    let plain = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await.to_string();
    assert!(
        plain.contains("powerstrip__search_tools") && plain.contains("powerstrip__describe_tool")
    );
    assert!(!plain.contains("powerstrip__call_tool"));
    let all = mcp_call(&gateway.url("/mcp"), "powerstrip__search_tools", every).await;
    assert!(found(&all).contains(&"far:greet") && found(&all).contains(&"near:greet"), "{all}");
}

#[tokio::test]
async fn call_tool_is_equivalent_to_a_direct_call() {
    let (gateway, _far) = setup("limits: { rate: { tools: { 'near:greet': 2/1h } } }").await;
    let door = gateway.url("/agents/finder/mcp");
    let call = |id: &str, arguments: Value| {
        let (door, input) = (door.clone(), json!({"id": id, "arguments": arguments}));
        async move { mcp_call(&door, "powerstrip__call_tool", input).await }
    };
    // Results of servers are complete: pictures, links and error texts.
    for tool in ["test_image_content", "test_multiple_content_types", "test_error_handling"] {
        let direct = mcp_call(&door, &format!("near__{tool}"), json!({})).await;
        let passed = call(&format!("near:{tool}"), json!({})).await;
        assert!(direct["content"][0].is_object(), "{direct}");
        assert_eq!(
            (&passed["content"], &passed["isError"]),
            (&direct["content"], &direct["isError"])
        );
        assert_eq!(passed["_meta"]["powerstrip/call"]["tool"], json!(format!("near:{tool}")));
    }

    assert_eq!(code(&call("far:greet", json!({"name": "Ada"})).await), &json!("NOT_FOUND"));
    let nested = json!({"id": "near:greet", "arguments": {"name": "Ada"}});
    assert_eq!(code(&call("powerstrip:call_tool", nested).await), &json!("INVALID_INPUT"));
    let malformed = mcp_call(&door, "powerstrip__call_tool", json!({"arguments": {}})).await;
    assert_eq!(code(&malformed), &json!("INVALID_INPUT"), "{malformed}");
    assert_eq!(malformed["_meta"]["powerstrip/call"]["tool"], json!("powerstrip:call_tool"));

    let wrong = call("near:greet", json!({"name": 7})).await;
    assert_eq!(code(&wrong), &json!("INVALID_INPUT"), "the tool's own schema holds: {wrong}");
    let right = call("near__greet", json!({"name": "Ada"})).await;
    assert_eq!(right["content"][0]["text"], json!("Hello, Ada!"), "also by its wire name");
    let third = mcp_call(&door, "near__greet", json!({"name": "Ada"})).await;
    assert_eq!(code(&third), &json!("RATE_LIMIT"), "one allowance for both ways: {third}");
}

#[tokio::test]
async fn search_sees_changes_and_survives_a_broken_model() {
    let (gateway, _far) = setup("embeddings: { path: ./no-such-model }").await;
    eventually("the log reports the missing model", || async {
        gateway.log().contains("embeddings.path").then_some(())
    })
    .await;
    gateway.write(
        "tools/tides.tool.yaml",
        "id: sea.tides\nversion: 1.0.0\ndescription: Predicts high and low water at a harbour.\n\
         inputSchema: { type: object }\noutputSchema: { type: object }\n\
         execution: { kind: cli, cmd: [echo, '{}'] }\n",
    );
    let search = r#"{"query":"when is high water in the harbour"}"#;
    eventually("the new tool is found", || async {
        let answer =
            command(&gateway, &["call", "powerstrip:search_tools", "--input", search]).await;
        (answer["data"]["tools"][0]["id"] == json!("sea.tides")).then_some(())
    })
    .await;
    let arguments = ["call", "powerstrip:search_tools", "--agent", "finder", "--input", search];
    let answer = command(&gateway, &arguments).await;
    assert!(!answer.to_string().contains("sea.tides"), "not in its skills: {answer}");

    gateway.remove("tools/tides.tool.yaml");
    eventually("the removed tool is not found any more", || async {
        let answer =
            command(&gateway, &["call", "powerstrip:search_tools", "--input", search]).await;
        (!answer.to_string().contains("sea.tides")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn search_works_over_stdio_and_without_a_gateway() {
    let (gateway, _far) = setup("").await;
    let mut pipe = StdioSession::start_with(&gateway, &["--agent", "finder"]);
    pipe.mcp_initialize().await;
    let search =
        json!({"name": "powerstrip__search_tools", "arguments": {"query": "echo a message"}});
    let answer = pipe.mcp("tools/call", &search).await;
    assert_eq!(found(&answer["result"])[0], "demo.echo", "{answer}");
    let call = json!({"name": "powerstrip__call_tool",
        "arguments": {"id": "demo.echo", "arguments": {"message": "hi"}}});
    let answer = pipe.mcp("tools/call", &call).await;
    assert_eq!(answer["result"]["structuredContent"]["message"], json!("hi"), "{answer}");

    let alone = tempfile::tempdir().expect("a folder");
    let data = alone.path().join("data");
    let data = data.to_str().expect("a path");
    let input = r#"{"query":"echo a message"}"#;
    let arguments = ["call", "powerstrip:search_tools", "--input", input, "--data-dir", data];
    let answer = command(&gateway, &arguments).await;
    assert_eq!(answer["data"]["tools"][0]["id"], json!("demo.echo"), "{answer}");
}
