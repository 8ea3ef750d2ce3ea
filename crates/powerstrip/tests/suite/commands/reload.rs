use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Gateway, eventually};
use tokio::process::Command;

use crate::commands::owner::{run, serve};
use crate::commands::project::Project;

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

/// Started without a config; the default file is created, changed and removed later.
#[tokio::test]
async fn a_config_created_later_takes_effect() {
    let project = Project::new();
    let _server = serve(project.path()).await;
    let eventually_times_out_after = async |milliseconds: u64| {
        eventually("the limit is in force", || async {
            let discovery = run(project.path(), &["tools", "--json"]).await.json_of(0);
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
}

/// Editors empty a file or move it away before they write it.
#[tokio::test]
async fn an_emptied_or_removed_config_changes_nothing() {
    const GATED: &str = "listen: 127.0.0.1:0\nlimits: { timeout: 9s }\n\
        skills: { asked: { tools: [demo.echo], auto_approve: false, approval_timeout: 1s } }\n";
    let gateway = Gateway::start().await;
    gateway.write("powerstrip.yaml", GATED);
    eventually_times_out_after(&gateway, 9_000).await;
    let is_gated = async || {
        let answer = gateway.call("demo.echo", &json!({"message": "hi"})).await;
        assert_eq!((answer.status, &answer.body["errors"][0]["code"]), (403, &json!("DENIED")));
    };
    is_gated().await;
    for (number, nothing) in ["", "# all settings are gone\n"].into_iter().enumerate() {
        gateway.write("powerstrip.yaml", nothing);
        eventually("it is refused", || async {
            (gateway.log().matches("is empty: write `{}`").count() > number).then_some(())
        })
        .await;
        is_gated().await;
        assert_eq!(timeout_of_echo(&gateway).await, json!(9_000));
        gateway.write("powerstrip.yaml", GATED);
        eventually("the reload was checked", || async {
            (gateway.log().matches("the config has not changed").count() > number).then_some(())
        })
        .await;
    }
    gateway.remove("powerstrip.yaml");
    eventually_logs(&gateway, "powerstrip.yaml: cannot be read").await;
    is_gated().await;
}

/// Without the default file, a starting gateway uses the defaults, but a running one keeps its config.
#[tokio::test]
async fn a_removed_default_config_stays_in_effect() {
    let project = Project::new();
    project.write("powerstrip.yaml", "limits: { timeout: 7s, rate: { tool: 100/1s } }\n");
    let log = tempfile::NamedTempFile::new().unwrap();
    let _server = Command::new(env!("CARGO_BIN_EXE_powerstrip"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(project.path())
        .stdin(Stdio::null())
        .stderr(log.reopen().unwrap())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let eventually_says = async |needle: &str| {
        eventually(needle, || async {
            std::fs::read_to_string(log.path()).unwrap().contains(needle).then_some(())
        })
        .await;
    };
    let timeout = async || {
        let discovery = run(project.path(), &["tools", "--json"]).await.json_of(0);
        let tools = discovery["tools"].as_array().unwrap().clone();
        let echo = tools.iter().find(|tool| tool["name"] == "demo.echo").unwrap();
        echo["caps"]["timeoutMs"].clone()
    };
    eventually_says(" on http://").await;
    std::fs::remove_file(project.path().join("powerstrip.yaml")).unwrap();
    eventually_says("powerstrip.yaml: is missing").await;
    assert_eq!(timeout().await, json!(7_000));
    project.write("powerstrip.yaml", "limits: { timeout: 8s }\n");
    eventually("the next file is in force", || async {
        (timeout().await == json!(8_000)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_removed_protection_is_logged_and_audited() {
    let gateway = Gateway::with()
        .config("limits: { timeout: 9s, rate: { tool: 100/1s } }")
        .config("skills: { asked: { tools: [demo.echo], auto_approve: false } }")
        .start()
        .await;
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: 8s }\n");
    eventually_times_out_after(&gateway, 8_000).await;
    for key in ["skills.asked", "limits.rate.tool"] {
        eventually_logs(&gateway, &format!("removes a protection: `{key}`")).await;
    }
    let folder = gateway.folder().join(".powerstrip");
    eventually("the rows are there", || async {
        let database = store::Database::open(&folder).await.unwrap();
        let rows = database.audit_rows(store::AuditFilter::default()).await.unwrap();
        database.close().await;
        let removed = rows.iter().filter(|row| row.decision == "removed");
        let mut removed: Vec<_> = removed.map(|row| row.tool.to_string()).collect();
        removed.sort();
        (removed == ["config:limits.rate.tool", "config:skills.asked"]).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_invalid_config_changes_nothing_and_is_logged() {
    let gateway = Gateway::with().config("limits: { timeout: 9s }").start().await;
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: soon }\n");
    eventually_logs(&gateway, "limits.timeout: `soon` is not a duration").await;
    assert_eq!(timeout_of_echo(&gateway).await, json!(9_000));
    gateway.write("powerstrip.yaml", "listen: 127.0.0.1:0\nlimits: { timeout: 8s }\n");
    eventually_times_out_after(&gateway, 8_000).await;
}

#[tokio::test]
async fn sighup_reloads_the_config() {
    let gateway = Gateway::start().await;
    let pid = rustix::process::Pid::from_raw(gateway.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::HUP).unwrap();
    eventually_logs(&gateway, "the config has not changed").await;
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn keys_that_need_a_restart_are_logged() {
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
async fn changed_prompt_files_are_reloaded() {
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
