use serde_json::json;
use testkit::Gateway;

use crate::commands::project::{Project, run_in};

fn is_installed(program: &str) -> bool {
    let report = Project::new().run(&["doctor", "--json"]).json_of(0);
    let programs = report["programs"].as_array().unwrap().clone();
    programs.iter().any(|entry| entry["name"] == program && !entry["version"].is_null())
}

/// Creates, checks, runs and calls a tool, as `--help` describes.
fn assert_works(kind: &str) {
    let project = Project::new();
    let made = project.run(&["new", "tool", "weather.now", "--kind", kind]);
    assert!(made.ok().contains("tools/weather.now.tool.yaml"), "{made:?}");
    let checked = project.run(&["check", "--run", "--strict"]);
    assert!(checked.ok().contains("nothing is wrong"), "{checked:?}");
    let envelope = project
        .run(&["call", "weather.now", "--input", r#"{"name":"O'Hara \"x\""}"#, "--json"])
        .json_of(0);
    assert_eq!(envelope["data"], json!({"greeting": "Hello, O'Hara \"x\"!"}));
}

#[test]
fn new_creates_a_working_cli_tool() {
    assert_works("cli");
}

#[test]
fn new_creates_a_working_python_tool() {
    assert_works("python");
}

#[test]
fn new_creates_a_working_node_tool() {
    if is_installed("node") {
        assert_works("node");
    }
}

#[test]
fn new_creates_a_working_php_tool() {
    if is_installed("php") {
        assert_works("php");
    }
}

#[tokio::test]
async fn new_creates_a_working_http_tool() {
    let service = Gateway::start().await;
    let project = Project::new();
    let url = service.url("/mcp/tool/demo.echo");
    project.run(&["new", "tool", "far.echo", "--kind", "http", "--url", &url]).ok();
    project.run(&["check", "--strict"]).ok();
    let refused = project.run(&["call", "far.echo", "--input", r#"{"name":"x"}"#]);
    assert!(refused.failed(1).contains("egress.allow"), "{refused:?}");
    project.write("powerstrip.yaml", &format!("egress: {{ allow: ['{}'] }}\n", service.address()));
    // The service is a gateway whose echo requires a message, so its answer is a validation error.
    let asked =
        project.run(&["call", "far.echo", "--input", r#"{"name":"x"}"#, "--json"]).json_of(1);
    assert_eq!(asked["errors"][0]["code"], "INVALID_INPUT", "{asked}");
    project.write(
        "tools/far.echo.tool.yaml",
        &project.read("tools/far.echo.tool.yaml").replace("name", "message"),
    );
    let answered =
        project.run(&["call", "far.echo", "--input", r#"{"message":"x"}"#, "--json"]).json_of(0);
    assert_eq!(answered["data"], json!({"message": "x"}));
}

#[test]
fn a_default_http_tool_passes_check() {
    let project = Project::new();
    project.run(&["new", "tool", "far.echo", "--kind", "http"]).ok();
    project.run(&["check", "--strict"]).ok();
}

#[test]
fn new_creates_a_prompt() {
    let project = Project::new();
    project.run(&["new", "prompt", "research/summary"]).ok();
    project.run(&["check", "--strict"]).ok();
    let text = project.run(&[
        "prompts",
        "render",
        "research/summary",
        "--arguments",
        r#"{"topic":"tea"}"#,
    ]);
    assert!(text.ok().contains("a short summary of tea."), "{text:?}");
    assert!(project.read("prompts/REGISTRY.yaml").contains("research/summary"));
}

#[test]
fn new_creates_a_working_server() {
    let project = Project::new();
    project.run(&["new", "server", "my-server"]).ok();
    let folder = project.path().join("my-server");
    let tested = std::process::Command::new("python3")
        .args(["-m", "unittest"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(tested.status.success(), "{tested:?}");
    let session = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"}}}"#,
        "\n"
    );
    std::fs::write(folder.join("session"), session).unwrap();
    let stdin = std::fs::File::open(folder.join("session")).unwrap();
    let spoken = std::process::Command::new("python3")
        .arg("server.py")
        .current_dir(&folder)
        .stdin(stdin)
        .output()
        .unwrap();
    let lines: Vec<serde_json::Value> = String::from_utf8(spoken.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(lines[1]["result"]["structuredContent"]["greeting"], "Hello, Ada!");
}

#[test]
fn existing_files_are_not_overwritten() {
    let project = Project::new();
    project.write("tools/weather_now.py", "existing");
    let ended = project.run(&["new", "tool", "weather.now", "--kind", "python"]);
    assert!(ended.failed(1).contains("weather_now.py exists already"), "{ended:?}");
    assert_eq!(project.read("tools/weather_now.py"), "existing");
    assert!(
        !project.path().join("tools/weather.now.tool.yaml").exists(),
        "no partial files are left"
    );
    project.run(&["new", "server", "twice"]).ok();
    project.run(&["new", "server", "twice"]).failed(1);
}

#[test]
fn bad_names_are_refused() {
    let project = Project::new();
    for arguments in [
        &["new", "tool", "bad id"][..],
        &["new", "tool", ""],
        &["new", "tool", "../up"],
        &["new", "tool", "x", "--kind", "perl"],
        &["new", "prompt", "no-domain"],
        &["new", "prompt", "../a/b"],
    ] {
        project.run(arguments).failed(2);
    }
    for arguments in [
        &["new", "tool", "crm:lookup"][..],
        &["new", "server", "../up"],
        &["new", "server", "a__b"],
        &["new", "prompt", "a/b@2"],
        &["new", "tool", "x", "--url", "https://x.example"],
        &["new", "tool", "x", "--kind", "http", "--url", "ftp://x.example"],
    ] {
        project.run(arguments).failed(1);
    }
    assert_eq!(std::fs::read_dir(project.path()).unwrap().count(), 0);
}

#[test]
fn the_tools_folder_of_the_config_is_used() {
    let project = Project::new();
    project.write("conf/powerstrip.yaml", "tools: [./packs]\n");
    run_in(project.path(), &["new", "tool", "a.b", "--config", "conf/powerstrip.yaml"], "", &[])
        .ok();
    assert!(project.path().join("conf/packs/a.b.tool.yaml").exists());
}
