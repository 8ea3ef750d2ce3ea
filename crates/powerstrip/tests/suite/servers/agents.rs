//! Each agent has its own endpoint with only the tools of its skills.

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::{
    Gateway, Response, StdioSession, eventually, initialize_message, legacy_request, mcp, mcp_call,
    send,
};

use crate::servers::peer::LEGACY;
use crate::servers::support::{HttpFixture, command, over_http, over_stdio, wait_until_listed};

const PROFILES: &str = "skills:
  greeting: { tools: ['near:greet', 'demo.*'] }
  far-away: { servers: [far] }
agents:
  host: { skills: [greeting] }
  traveller: { skills: [far-away] }
";

/// Two servers and two agents.
async fn setup() -> (Gateway, HttpFixture) {
    let far = HttpFixture::start().await;
    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let gateway = Gateway::with().config(&servers).config(PROFILES).start().await;
    wait_until_listed(&gateway, "near__greet").await;
    wait_until_listed(&gateway, "far__greet").await;
    (gateway, far)
}

fn door(gateway: &Gateway, agent: &str) -> String {
    gateway.url(&format!("/agents/{agent}/mcp"))
}

fn all_names(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().expect("a list of tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// The names without the control-flow tools, which every agent has.
fn names(tools: &Value) -> Vec<&str> {
    let names = all_names(tools);
    let control = |name: &&str| CONTROL.iter().any(|known| name.ends_with(known));
    assert_eq!(names.iter().filter(|name| control(name)).count(), CONTROL.len(), "{names:?}");
    names.into_iter().filter(|name| !control(name)).collect()
}

const CONTROL: [&str; 4] =
    ["complete_workflow", "read_result", "request_user_input", "store_artifact"];

/// Sends a message of a legacy client.
async fn legacy(url: &str, session: &str, message: &Value) -> Response {
    send(legacy_request(reqwest::Client::new().post(url), LEGACY, session, message)).await
}

fn hello() -> Value {
    initialize_message(LEGACY, json!({}))
}

/// Opens a legacy session.
async fn session(url: &str) -> String {
    let opened = legacy(url, "", &hello()).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = opened.headers["mcp-session-id"].to_str().expect("text").to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    legacy(url, &session, &ready).await;
    session
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params})
}

#[tokio::test]
async fn each_agent_sees_and_calls_only_the_tools_of_its_skills() {
    let (gateway, _far) = setup().await;
    let (host, traveller) = (door(&gateway, "host"), door(&gateway, "traveller"));

    let listed = mcp(&host, "tools/list", json!({})).await;
    assert_eq!(names(&listed["result"]["tools"]), ["demo_echo", "near__greet"]);
    let listed = mcp(&traveller, "tools/list", json!({})).await;
    let tools = names(&listed["result"]["tools"]);
    assert!(tools.len() > 3 && tools.iter().all(|name| name.starts_with("far__")), "{tools:?}");

    let input = json!({"name": "Ada"});
    let greeting = json!([{"type": "text", "text": "Hello, Ada!"}]);
    assert_eq!(mcp_call(&host, "near__greet", input.clone()).await["content"], greeting);
    assert_eq!(mcp_call(&traveller, "far__greet", input.clone()).await["content"], greeting);

    // Tools of other agents seem not to exist, by any name and at any door.
    for hidden in ["far__greet", "far:greet", "far:greet@0"] {
        let absent = hidden.replace("greet", "groot");
        let call = |tool: String| {
            let (host, input) = (host.clone(), input.clone());
            async move {
                let params = json!({"name": tool.clone(), "arguments": input});
                mcp(&host, "tools/call", params).await
            }
        };
        let (refused, unknown) = (call(hidden.to_owned()).await, call(absent.clone()).await);
        assert_eq!(refused["error"]["code"], json!(-32602), "{refused}");
        let words = |answer: &Value, name: &str| {
            let message = answer["error"]["message"].as_str().expect("a message").to_owned();
            let (text, hint) = message.split_once("; ").expect("a hint");
            assert!(!hint.contains("far"), "only its own tools are suggested: {message}");
            text.replace(name, "X")
        };
        assert_eq!(words(&refused, hidden), words(&unknown, &absent));

        let rest =
            |tool: &str| reqwest::Client::new().post(format!("{host}/tool/{tool}")).json(&input);
        let refused = rest(hidden).send().await.expect("an answer");
        assert_eq!(refused.status(), StatusCode::NOT_FOUND);
        let refused: Value = refused.json().await.expect("JSON");
        assert_eq!(refused["errors"][0]["code"], json!("NOT_FOUND"), "{refused}");
    }
    let schema = gateway.get("/agents/host/mcp/schema/far:greet/input").await;
    assert_eq!(schema.status, 404, "{}", schema.body);

    let discovered = gateway.get("/agents/host/mcp/discover").await.body;
    assert_eq!(names(&discovered["tools"]), ["demo.echo", "near:greet"]);
    let reference = discovered["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .find(|tool| tool["name"] == "near:greet")
        .expect("the tool")["inputSchemaRef"]
        .as_str()
        .expect("a path");
    assert!(reference.starts_with("/agents/host/mcp/schema/near:greet@"), "{reference}");
    assert_eq!(gateway.get(reference).await.status, 200);

    let agents = command(&gateway, &["agents"]).await;
    let reported = agents[0]["tools"].as_array().expect("tools").iter().filter_map(Value::as_str);
    let reported: Vec<_> = reported.filter(|id| !id.starts_with("powerstrip:")).collect();
    assert_eq!(reported, ["demo.echo", "near:greet"], "{agents}");
    assert_eq!(agents[1]["skills"], json!(["far-away"]));
    let everything = mcp(&gateway.url("/mcp"), "tools/list", json!({})).await;
    let everything = names(&everything["result"]["tools"]);
    assert!(everything.contains(&"near__greet") && everything.contains(&"far__greet"));
}

#[tokio::test]
async fn legacy_clients_use_the_same_agent_endpoint() {
    let (gateway, _far) = setup().await;
    let (host, traveller) = (door(&gateway, "host"), door(&gateway, "traveller"));
    let id = session(&host).await;
    let listed = legacy(&host, &id, &request("tools/list", json!({}))).await.body;
    assert_eq!(names(&listed["result"]["tools"]), ["demo_echo", "near__greet"]);
    let call =
        |tool: &str| request("tools/call", json!({"name": tool, "arguments": {"name": "Ada"}}));
    let answer = legacy(&host, &id, &call("near__greet")).await.body;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
    let answer = legacy(&host, &id, &call("far__greet")).await.body;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");

    // A session belongs to the endpoint that opened it.
    for elsewhere in [&traveller, &gateway.url("/mcp")] {
        let answer = legacy(elsewhere, &id, &call("far__greet")).await;
        assert_eq!(answer.status, 404, "{answer:?}");
        assert_eq!(answer.body["error"]["code"], json!(-32001), "{answer:?}");
    }
    let plain = session(&gateway.url("/mcp")).await;
    let status = legacy(&host, &plain, &call("near__greet")).await.status;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn an_unknown_agent_has_no_endpoint() {
    let gateway = Gateway::with().config("agents: { host: {} }").start().await;
    for agent in ["unknown", "HOST", "ho%73t", "host%00"] {
        let answer = legacy(&door(&gateway, agent), "", &hello()).await;
        assert_eq!(answer.status, 404, "{agent}");
        let message = answer.body["error"]["message"].as_str().expect("a JSON-RPC error");
        assert!(message.contains(agent), "{message}");
        let rest = gateway.get(&format!("/agents/{agent}/mcp/discover")).await;
        assert_eq!((rest.status, &rest.body["errors"][0]["code"]), (404, &json!("NOT_FOUND")));
    }
    for path in
        ["/agents/host", "/agents/host/healthz", "/agents/host/metrics", "/agents/host/mcpx"]
    {
        let missed = gateway.get(path).await;
        assert_eq!(missed.status, 404, "{path}");
        assert!(missed.body["errors"][0]["details"]["routes"].is_array(), "{}", missed.body);
    }
    let status = legacy(&door(&gateway, "host"), "", &hello()).await.status;
    assert_eq!(status, 200, "an agent without skills has only the control-flow tools");
    let output = command(&gateway, &["tools", "--agent", "host"]).await;
    assert!(names(&output["tools"]).is_empty(), "{output}");
}

#[tokio::test]
async fn stdio_and_commands_can_act_as_an_agent() {
    let (gateway, _far) = setup().await;
    for elsewhere in [vec![], vec!["--url", &gateway.url("")]] {
        let mut arguments = vec!["--agent", "host"];
        arguments.extend(elsewhere.iter());
        let mut pipe = StdioSession::start_with(&gateway, &arguments);
        pipe.mcp_initialize().await;
        let listed = pipe.mcp("tools/list", &json!({})).await;
        assert_eq!(
            names(&listed["result"]["tools"]),
            ["demo_echo", "near__greet"],
            "{arguments:?}"
        );
        let call = json!({"name": "far__greet", "arguments": {"name": "Ada"}});
        assert_eq!(pipe.mcp("tools/call", &call).await["error"]["code"], json!(-32602));

        let mut lsp = StdioSession::start_with(&gateway, &arguments);
        let discovered = lsp.lsp("mcp.discover", &json!({})).await;
        assert_eq!(names(&discovered["result"]["tools"]), ["demo.echo", "near:greet"]);
        let call = json!({"tool": "far:greet", "input": {"name": "Ada"}});
        let answer = lsp.lsp("mcp.tool.invoke", &call).await;
        assert_eq!(answer["result"]["errors"][0]["code"], json!("NOT_FOUND"), "{answer}");
        for (method, params) in [
            ("powerstrip.hello", json!({"agent": "traveller"})),
            ("powerstrip.servers.list", json!({})),
            ("powerstrip.agents", json!({})),
            ("powerstrip.login", json!({"server": "far"})),
        ] {
            let answer = lsp.lsp(method, &params).await;
            assert!(answer["error"].is_object(), "it stays the agent that it is: {answer}");
        }

        let input = r#"{"name":"Ada"}"#;
        let mut call = vec!["call", "near:greet", "--input", input];
        call.extend(&arguments);
        assert_eq!(command(&gateway, &call).await["ok"], json!(true));
        call[1] = "far:greet";
        let refused = command(&gateway, &call).await;
        assert_eq!(refused["errors"][0]["code"], json!("NOT_FOUND"), "{refused}");
    }

    // Without a running gateway, the command is the gateway.
    let alone = tempfile::tempdir().expect("a folder");
    let data = alone.path().join("data");
    let arguments = ["--agent", "host", "--data-dir", data.to_str().expect("a path")];
    let mut pipe = StdioSession::start_with(&gateway, &arguments);
    pipe.mcp_initialize().await;
    let call = json!({"name": "demo_echo", "arguments": {"message": "hi"}});
    assert_eq!(pipe.mcp("tools/call", &call).await["result"]["isError"], json!(false));
    let call = json!({"name": "text_stats", "arguments": {"text": "a"}});
    assert_eq!(pipe.mcp("tools/call", &call).await["error"]["code"], json!(-32602));
}

#[tokio::test]
async fn a_changed_config_applies_to_connected_agents() {
    let (gateway, far) = setup().await;
    let host = door(&gateway, "host");
    let id = session(&host).await;
    let listening = reqwest::Client::new()
        .get(&host)
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &id)
        .header("mcp-protocol-version", "2025-11-25")
        .send()
        .await
        .expect("a stream");

    let servers = format!("servers:\n{}{}", over_stdio("near"), over_http("far", &far.url));
    let profiles = PROFILES.replace("['near:greet', 'demo.*']", "['far:greet']");
    let config = format!("listen: 127.0.0.1:0\n{servers}{profiles}");
    gateway.write("powerstrip.yaml", &config);
    wait_for_list_change(listening).await;
    let listed = legacy(&host, &id, &request("tools/list", json!({}))).await.body;
    assert_eq!(names(&listed["result"]["tools"]), ["far__greet"]);
    let call =
        |tool: &str| request("tools/call", json!({"name": tool, "arguments": {"name": "Ada"}}));
    let answer = legacy(&host, &id, &call("near__greet")).await.body;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    let answer = legacy(&host, &id, &call("far__greet")).await.body;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");

    // An invalid config changes nothing.
    gateway.write("powerstrip.yaml", &config.replace("skills: [far-away]", "skills: [far-awya]"));
    eventually("the log names the skill", || async {
        gateway.log().contains("did you mean `far-away`?").then_some(())
    })
    .await;
    let answer = legacy(&host, &id, &call("far__greet")).await.body;
    assert_eq!(answer["result"]["isError"], json!(false), "{answer}");

    gateway.write("powerstrip.yaml", &config.replace("  host: { skills: [greeting] }\n", ""));
    eventually("the agent is gone", || async {
        let status = legacy(&host, &id, &call("far__greet")).await.status;
        (status == 404).then_some(())
    })
    .await;
}

/// Reads a stream until the notification that the list of tools has changed.
async fn wait_for_list_change(mut stream: reqwest::Response) {
    let mut text = String::new();
    let notified = async {
        while let Some(chunk) = stream.chunk().await.expect("the stream can be read") {
            text.push_str(&String::from_utf8_lossy(&chunk));
            if text.contains("notifications/tools/list_changed") {
                return;
            }
        }
        panic!("the stream ended: {text}");
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), notified)
        .await
        .expect("a notification");
}
