use serde_json::{Value, json};
use testkit::{Gateway, eventually};

use crate::owner::{run, serve};
use crate::project::Project;

async fn timeout_of_echo(gateway: &Gateway) -> Value {
    let discovery = gateway.get("/mcp/discover").await.body;
    let tools = discovery["tools"].as_array().unwrap().clone();
    tools.iter().find(|tool| tool["name"] == "demo.echo").unwrap()["caps"]["timeoutMs"].clone()
}

async fn eventually_times_out_after(gateway: &Gateway, milliseconds: u64) {
    eventually("the limit is in force", || async {
        (timeout_of_echo(gateway).await == json!(milliseconds)).then_some(())
    })
    .await;
}

async fn eventually_logs(gateway: &Gateway, needle: &str) {
    eventually(needle, || async { gateway.log().contains(needle).then_some(()) }).await;
}

#[tokio::test]
async fn a_changed_file_takes_effect() {
    let gateway = Gateway::start().await;
    assert_eq!(timeout_of_echo(&gateway).await, json!(30_000));
    gateway.write(
        "powerstrip.yaml",
        "listen: 127.0.0.1:0\nlimits: { timeout: 7s, rate: { tool: 1/1h } }\n",
    );
    eventually_times_out_after(&gateway, 7_000).await;
    assert_eq!(gateway.call("demo.echo", &json!({"message": "1"})).await.status, 200);
    assert_eq!(gateway.call("demo.echo", &json!({"message": "2"})).await.status, 429);
}

/// Started without any config; the file that is looked for by default comes later, changes and goes.
#[tokio::test]
async fn a_file_that_comes_later_takes_effect() {
    let project = Project::new();
    let _server = serve(project.path()).await;
    let eventually_times_out_after = async |milliseconds: u64| {
        eventually("the limit is in force", || async {
            let discovery = run(project.path(), &["tools", "--json"]).await.json(0);
            let tools = discovery["tools"].as_array().unwrap().clone();
            let echo = tools.iter().find(|tool| tool["name"] == "demo.echo").unwrap();
            (echo["caps"]["timeoutMs"] == json!(milliseconds)).then_some(())
        })
        .await;
    };
    eventually_times_out_after(30_000).await;
    project.write("powerstrip.yaml", "limits: { timeout: 7s }\n");
    eventually_times_out_after(7_000).await;
    project.write("powerstrip.yaml", "limits: { timeout: 8s }\n");
    eventually_times_out_after(8_000).await;
    std::fs::remove_file(project.path().join("powerstrip.yaml")).unwrap();
    eventually_times_out_after(30_000).await;
}

#[tokio::test]
async fn a_broken_file_changes_nothing_and_says_why() {
    let gateway = Gateway::with().config("limits: { timeout: 9s }").start().await;
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: soon }\n");
    eventually_logs(&gateway, "limits.timeout: `soon` is not a duration").await;
    assert_eq!(timeout_of_echo(&gateway).await, json!(9_000));
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: 8s }\n");
    eventually_times_out_after(&gateway, 8_000).await;
}

#[tokio::test]
async fn a_hangup_reloads_too() {
    let gateway = Gateway::start().await;
    let pid = rustix::process::Pid::from_raw(gateway.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    eventually_logs(&gateway, "the config is as it was").await;
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn what_needs_a_restart_is_named() {
    let gateway = Gateway::start().await;
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:1\ndata_dir: other\n");
    eventually_logs(&gateway, "`listen` has changed: it takes effect at the next start").await;
    eventually_logs(&gateway, "`data_dir` has changed").await;
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn folders_of_tools_and_prompts_can_be_moved() {
    const PACK: &str = "id: moved.tool\nversion: 1.0.0\ndescription: A tool in another folder.\n\
        inputSchema: {type: object}\noutputSchema: {type: object}\nexecution: {kind: cli, cmd: [echo, '{}']}\n";
    let gateway = Gateway::with()
        .file("elsewhere/moved.tool.yaml", PACK)
        .file("words/packs/a/b.v1.md", "Hello.\n")
        .file("words/packs/a/b.spec.yaml", "description: Says hello to everyone.\n")
        .start()
        .await;
    assert_eq!(gateway.call("moved.tool", &json!({})).await.status, 404);
    gateway.write(
        "powerstrip.yaml",
        "listen: 127.0.0.1:0\ntools: [elsewhere]\nprompts: words\ntool_names: canonical\n",
    );
    eventually("the tool is there", || async {
        (gateway.call("moved.tool", &json!({})).await.status == 200).then_some(())
    })
    .await;
    eventually("the prompt is there", || async {
        (gateway.get("/mcp/prompt/a/b/1").await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn prompts_follow_their_files() {
    let gateway = Gateway::start().await;
    gateway.write("prompts/packs/a/b.spec.yaml", "description: Says hello to everyone.\n");
    gateway.write("prompts/packs/a/b.v1.md", "Hello.\n");
    eventually("the prompt is there", || async {
        (gateway.get("/mcp/prompt/a/b/1").await.status == 200).then_some(())
    })
    .await;
    gateway.write("prompts/packs/a/b.v2.md", "Hello {{ unclosed\n");
    eventually_logs(&gateway, "b.v2.md").await;
    assert_eq!(gateway.get("/mcp/prompt/a/b/1").await.status, 200, "the others stay");
    gateway.remove("prompts/packs/a/b.v1.md");
    eventually("the prompt is gone", || async {
        (gateway.get("/mcp/prompt/a/b/1").await.status == 404).then_some(())
    })
    .await;
}
