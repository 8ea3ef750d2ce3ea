//! How tools of servers are named and found, and what a call gets whose server is not there.

use serde_json::{Value, json};
use testkit::{Gateway, McpServer, ReservedPort, eventually, mcp, mcp_call, mcp_tools};

use crate::servers::support::{fixture, over_http, wait_until_listed};

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object", "required": ["path"],
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"type": "integer"}}}})
}

async fn failure(gateway: &Gateway, tool: &str) -> Value {
    gateway.call(tool, &json!({"path": "x"})).await.body["errors"][0].clone()
}

#[tokio::test]
async fn a_call_says_why_its_server_is_not_there() {
    let servers = "servers:
  broken: { command: sh, args: [-c, 'echo CRM_KEY is not set >&2; exit 3'] }
  gone: { url: 'http://127.0.0.1:9/mcp' }
  lost: { url: 'http://mcp.nothing.invalid/mcp' }
  off: { command: nothing, disabled: true }
skills:
  mine: { tools: ['broken:read_*'] }
agents:
  narrow: { skills: [mine] }
";
    let gateway = Gateway::with().config(servers).start().await;
    for (tool, words) in [
        ("broken:read_file", ["`broken` is down", "CRM_KEY is not set"]),
        ("broken__read_file", ["`broken` is down", "exit code 3"]),
        ("gone:read_file", ["`gone` is down", "refused"]),
        ("lost:read_file", ["`lost` is down", ": the name cannot be resolved; "]),
        ("off:read_file", ["`off` is disabled", "powerstrip enable off"]),
    ] {
        let error = eventually("the server is known to be down", || async {
            let error = failure(&gateway, tool).await;
            let message = error["message"].as_str().unwrap_or_default();
            words.iter().all(|word| message.contains(word)).then_some(error)
        })
        .await;
        assert_eq!(error["code"], json!("UNAVAILABLE"), "{error}");
        for place in ["127.0.0.1", "nothing.invalid"] {
            assert!(!error.to_string().contains(place), "no address: {error}");
        }
    }
    let unknown = failure(&gateway, "nowhere:read_file").await;
    assert_eq!(unknown["code"], json!("NOT_FOUND"), "{unknown}");

    let narrow = gateway.url("/agents/narrow/mcp");
    let own = mcp_call(&narrow, "broken:read_file", json!({})).await;
    assert_eq!(own["_meta"]["powerstrip/error"]["code"], json!("UNAVAILABLE"), "{own}");
    for outside in ["broken:write_file", "off:read_file"] {
        let answer = mcp_call(&narrow, outside, json!({})).await;
        assert!(answer.is_null(), "an agent does not learn of what is outside its view: {answer}");
    }
}

#[tokio::test]
async fn a_bare_name_resolves_at_every_door_if_it_is_unique() {
    let one = McpServer::start(vec![tool("read_file"), tool("list.all"), tool("both")]).await;
    let two = McpServer::start(vec![tool("both")]).await;
    let servers =
        format!("servers:\n{}{}", over_http("one", &one.url()), over_http("two", &two.url()));
    let agents = "skills:\n  second: { servers: [two] }\nagents:\n  second: { skills: [second] }\n";
    let gateway = Gateway::with().config(&servers).config(agents).start().await;
    wait_until_listed(&gateway, "one__both").await;
    wait_until_listed(&gateway, "two__both").await;
    let input = json!({"path": "x"});
    for (name, id) in
        [("read_file", "one:read_file"), ("list.all", "one:list.all"), ("list_all", "one:list.all")]
    {
        let answer = gateway.call(name, &input).await.body;
        assert_eq!(answer["meta"]["tool"], json!(id), "{answer}");
        let result = mcp_call(&gateway.url("/mcp"), name, input.clone()).await;
        assert_eq!(result["_meta"]["powerstrip/call"]["tool"], json!(id), "{result}");
        let output = gateway.run(&["call", name, "--input", &input.to_string(), "--json"]).await;
        assert_eq!(output.json()["meta"]["tool"], json!(id));
    }
    let asked = gateway.call("request_user_input", &json!({})).await.body;
    assert_eq!(asked["meta"]["tool"], json!("powerstrip:request_user_input"), "{asked}");

    let both = failure(&gateway, "both").await;
    assert_eq!(
        (&both["code"], &both["details"]["nearest"]),
        (&json!("NOT_FOUND"), &json!(["one:both", "two:both"]))
    );
    let typo = failure(&gateway, "read_fil").await;
    assert!(typo["message"].to_string().contains("`one:read_file`"), "{typo}");
    // Models are shown the names that they can call, and none that is not similar.
    for (name, nearest) in [
        ("read_fil", json!(["one__read_file"])),
        ("one:read_fiel", json!(["one__read_file"])),
        ("both", json!(["one__both", "two__both"])),
        ("send_mail", json!([])),
    ] {
        let params = json!({"name": name, "arguments": {}});
        let refused = mcp(&gateway.url("/mcp"), "tools/call", params).await["error"].clone();
        assert_eq!(refused["data"]["nearest"], nearest, "{refused}");
        let said = refused["message"].as_str().unwrap();
        assert!(!said.contains("one:") || name.contains(':'), "{said}");
        assert_eq!(said.contains("did you mean"), nearest.as_array().unwrap().len() == 1, "{said}");
    }
    let unlike = failure(&gateway, "send_mail").await;
    assert_eq!(unlike["details"]["nearest"], json!([]), "{unlike}");
    let second = gateway.url("/agents/second/mcp");
    let result = mcp_call(&second, "both", input.clone()).await;
    assert_eq!(result["_meta"]["powerstrip/call"]["tool"], json!("two:both"), "{result}");
    assert!(mcp_call(&second, "read_file", input).await.is_null(), "outside its view");
}

#[tokio::test]
async fn unprefixed_names_are_given_in_the_order_of_the_config() {
    let port = ReservedPort::reserve();
    let fast = McpServer::start(vec![tool("read_file")]).await;
    let entry = |name: &str, url: &str| format!("  {name}: {{ url: '{url}', prefix: false }}\n");
    let slow_url = format!("http://{}/mcp", port.address());
    let servers =
        format!("servers:\n{}{}", entry("zz-first", &slow_url), entry("aa-second", &fast.url()));
    let gateway = Gateway::with().config(&servers).start().await;
    let owner = async |name: &str| {
        let tools = mcp_tools(&gateway.url("/mcp")).await;
        let tool = tools.into_iter().find(|tool| tool["name"] == name);
        tool.map(|tool| tool["_meta"]["powerstrip/tool"].clone())
    };
    eventually("the fast server has the name for now", || async {
        (owner("read_file").await == Some(json!("aa-second:read_file"))).then_some(())
    })
    .await;
    let _slow = McpServer::at(&port, vec![tool("read_file")]).await;
    eventually("the first server of the config has the name", || async {
        (owner("read_file").await == Some(json!("zz-first:read_file"))).then_some(())
    })
    .await;
    assert_eq!(owner("aa-second__read_file").await, Some(json!("aa-second:read_file")));
    let gateway = gateway.restart().await;
    wait_until_listed(&gateway, "aa-second__read_file").await;
    let answer = gateway.call("read_file", &json!({"path": "x"})).await.body;
    assert_eq!(answer["meta"]["tool"], json!("zz-first:read_file"), "names stay: {answer}");
}

#[tokio::test]
async fn servers_take_documents_and_nulls() {
    let files = McpServer::start(vec![tool("write_file")]).await;
    let gateway = Gateway::with()
        .config(&format!("servers:\n{}", over_http("files", &files.url())))
        .start()
        .await;
    wait_until_listed(&gateway, "files__write_file").await;
    let call = async |input: Value| gateway.call("files:write_file", &input).await.body;
    let large = call(json!({"path": "x", "content": "x".repeat(100_000)})).await;
    assert_eq!(large["ok"], json!(true), "{large}");
    let huge = call(json!({"path": "x", "content": "x".repeat(1 << 20)})).await;
    assert_eq!(
        (&huge["errors"][0]["code"], &huge["errors"][0]["details"]["limit"]),
        (&json!("INVALID_INPUT"), &json!(1 << 20)),
        "{huge}"
    );
    let nulls = call(json!({"path": "x", "content": null, "mode": null})).await;
    assert_eq!(nulls["ok"], json!(true), "{nulls}");
    let required = call(json!({"path": null})).await;
    assert_eq!(required["errors"][0]["code"], json!("INVALID_INPUT"), "{required}");
}

#[tokio::test]
async fn a_question_that_the_caller_cannot_answer_is_unsupported() {
    let entry = |name: &str, era: &str| {
        format!("  {name}: {{ command: '{}', era: {era} }}\n", fixture().display())
    };
    let servers = format!("servers:\n{}{}", entry("new", "modern"), entry("old", "legacy"));
    let gateway = Gateway::with().config(&servers).start().await;
    for server in ["new", "old"] {
        wait_until_listed(&gateway, &format!("{server}__test_elicitation")).await;
        let input = json!({"message": "Who are you?"});
        let answer = gateway.call(&format!("{server}:test_elicitation"), &input).await.body;
        assert_eq!(answer["errors"][0]["code"], json!("UNSUPPORTED"), "{answer}");
    }
}
