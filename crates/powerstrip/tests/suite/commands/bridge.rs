use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{CommandOutput, Gateway, ReservedPort};

use crate::commands::pipe::Pipe;
use crate::commands::project::{Project, run_in};

async fn run(folder: &Path, arguments: &[&str], stdin: &str) -> CommandOutput {
    let (folder, stdin) = (folder.to_owned(), stdin.to_owned());
    let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
    tokio::task::spawn_blocking(move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run_in(&folder, &arguments, &stdin, &[])
    })
    .await
    .unwrap()
}

#[tokio::test]
async fn commands_reach_a_remote_gateway() {
    let gateway = Gateway::with()
        .file("prompts/packs/a/b.v1.md", "Hello {{ name }}.\n")
        .file(
            "prompts/packs/a/b.spec.yaml",
            "description: Says hello to someone.\n\
             inputSchema: {type: object, properties: {name: {type: string, description: Who.}}, required: [name]}\n",
        )
        .start()
        .await;
    let here = Project::new();
    for url in [gateway.url(""), gateway.url("/"), gateway.url("/mcp")] {
        let arguments =
            ["call", "demo.echo", "--input", r#"{"message":"far"}"#, "--json", "--url", &url];
        assert_eq!(
            run(here.path(), &arguments, "").await.json_of(0)["data"],
            json!({"message": "far"})
        );
    }
    let url = gateway.url("");
    let listed = run(here.path(), &["tools", "--json", "--url", &url], "").await.json_of(0);
    assert_eq!(listed["tools"], gateway.get("/mcp/discover").await.body["tools"]);
    assert_eq!(
        run(here.path(), &["prompts", "get", "a/b", "--url", &url], "").await.ok(),
        "Hello {{ name }}.\n"
    );
    let render = ["prompts", "render", "a/b", "--arguments", r#"{"name":"Ada"}"#, "--url", &url];
    assert_eq!(run(here.path(), &render, "").await.ok().trim_end(), "Hello Ada.");
    assert!(
        run(here.path(), &["prompts", "get", "a/c@1", "--url", &url], "")
            .await
            .failed(1)
            .contains("NOT_FOUND")
    );
    let failed = run(here.path(), &["call", "demo.echo", "--url", &url], "").await;
    assert!(failed.failed(1).contains("INVALID_INPUT"), "{failed:?}");
    assert!(!here.path().join(".powerstrip").exists(), "no data folder is created");
}

#[tokio::test]
async fn an_unreachable_gateway_is_named() {
    let unused = ReservedPort::reserve();
    let url = format!("http://{}", unused.address());
    let here = Project::new();
    assert!(
        run(here.path(), &["tools", "--url", &url], "").await.failed(1).contains(&unused.address())
    );
    run(here.path(), &["tools", "--url", "not a url"], "").await.failed(2);
    run(here.path(), &["tools", "--url", "ftp://x"], "").await.failed(2);
    let mut pipe = Pipe::start(here.path(), &["--url", &url]);
    let answer = pipe.request("initialize", &json!({"protocolVersion": "2025-11-25"})).await;
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
}

#[tokio::test]
async fn a_pipe_bridges_mcp_of_the_old_revisions() {
    let gateway = Gateway::start().await;
    let here = Project::new();
    let mut pipe = Pipe::start(here.path(), &["--url", &gateway.url("/mcp")]);
    assert_eq!(pipe.initialize().await["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(pipe.echo("far").await["result"]["structuredContent"], json!({"message": "far"}));
    let unknown = pipe.request("no/such", &json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    // Notifications of the gateway arrive as well.
    gateway.write(
        "tools/late.tool.yaml",
        "id: late.tool\nversion: 1.0.0\ndescription: A tool that came later.\n\
         inputSchema: {type: object}\noutputSchema: {type: object}\nexecution: {kind: cli, cmd: [echo, '{}']}\n",
    );
    let notice = pipe.read().await;
    assert_eq!(notice["method"], "notifications/tools/list_changed");
    let (code, rest) = pipe.close().await;
    assert_eq!((code, rest.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn a_pipe_bridges_mcp_of_the_new_revision() {
    let gateway = Gateway::start().await;
    let here = Project::new();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"name": "demo.echo", "arguments": {"message": "far"}, "_meta": meta});
    let request = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params});
    let ended = run(here.path(), &["stdio", "--url", &gateway.url("")], &request.to_string()).await;
    let answer: Value = serde_json::from_str(ended.ok()).unwrap_or_else(|_| panic!("{ended:?}"));
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]),
        (&json!("x"), &json!({"message": "far"}))
    );
}

#[tokio::test]
async fn a_pipe_bridges_lsp_frames() {
    let gateway = Gateway::start().await;
    let here = Project::new();
    let mut stdin = String::new();
    for (id, method, params) in [
        (1, "mcp.tool.invoke", json!({"tool": "demo.echo", "input": {"message": "far"}})),
        (2, "mcp.discover", json!({})),
        (3, "mcp.nothing", json!({})),
        (4, "mcp.prompt.get", json!({"domain": "a", "name": "b", "major": 1})),
        (5, "mcp.tool.invoke", json!({"toll": "demo.echo"})),
    ] {
        let body =
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        stdin.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    }
    let ended = run(here.path(), &["stdio", "--url", &gateway.url("")], &stdin).await;
    let mut answers: Vec<Value> = ended
        .ok()
        .split("Content-Length: ")
        .filter_map(|frame| serde_json::from_str(frame.split_once("\r\n\r\n")?.1).ok())
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), 5, "{ended:?}");
    assert_eq!(answers[0]["result"]["data"], json!({"message": "far"}));
    assert_eq!(answers[1]["result"]["server"]["name"], "powerstrip");
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert!(
        answers[3]["error"]["message"].as_str().unwrap().contains("NOT_FOUND"),
        "{}",
        answers[3]
    );
    assert_eq!(answers[4]["error"]["code"], -32602);
}

#[tokio::test]
async fn a_session_is_reopened_at_a_restarted_gateway() {
    let place = ReservedPort::reserve();
    let gateway = Gateway::with().at(&place).start().await;
    let (folder, address) = (gateway.folder().to_owned(), gateway.address().to_owned());
    let here = Project::new();
    std::fs::create_dir_all(here.path().join("home")).unwrap();
    let mut pipe = Pipe::start(here.path(), &["--url", &gateway.url("")]);
    pipe.initialize().await;
    pipe.echo("before").await;
    assert!(folder.exists());
    assert_eq!(gateway.stop().await, Some(0));
    let mut again = tokio::process::Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(["serve", "--listen", &address])
        .current_dir(here.path().join("home"))
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = pipe.echo("after").await;
        if answer["result"]["structuredContent"] == json!({"message": "after"}) {
            break;
        }
        assert!(Instant::now() < deadline, "never answered: {answer}");
        assert!(again.try_wait().unwrap().is_none(), "the second gateway runs");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
