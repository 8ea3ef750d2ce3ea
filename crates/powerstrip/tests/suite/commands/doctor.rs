use crate::commands::project::Project;

#[test]
fn doctor_reports_sandbox_and_programs() {
    let project = Project::new();
    project.write("powerstrip.yaml", "listen: 127.0.0.1:0\n");
    let report = project.run(&["doctor", "--json"]).json_of(0);
    assert_eq!(report["ok"], true);
    let python = report["programs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|program| program["name"] == "python3")
        .unwrap();
    assert!(python["version"].as_str().unwrap().starts_with("Python 3"), "{report}");
    assert!(["T0", "T1", "T2"].contains(&report["sandbox"]["tier"].as_str().unwrap()));
    assert!(!project.path().join(".powerstrip").exists(), "doctor leaves no files behind");
    let ended = project.run(&["doctor"]);
    let text = ended.ok();
    assert!(text.contains("python3"));
    let mut programs = report["programs"].as_array().unwrap().iter();
    let chromium = programs.find(|program| program["name"] == "chromium").unwrap();
    if chromium["version"].is_null() {
        testkit::skip_without("Chromium");
        assert!(text.contains("install Chromium"), "{text}");
    } else {
        // The path, and as root a word about the sandbox.
        assert!(chromium["note"].as_str().unwrap().starts_with("at /"), "{chromium}");
        assert!(text.contains(chromium["version"].as_str().unwrap()), "{text}");
    }
}

#[test]
fn doctor_looks_for_the_configured_browser() {
    let project = Project::new();
    project
        .write("powerstrip.yaml", "listen: 127.0.0.1:0\nresearch: {browser: /nowhere/chromium}\n");
    let report = project.run(&["doctor", "--json"]).json_of(0);
    let mut programs = report["programs"].as_array().unwrap().iter();
    let chromium = programs.find(|program| program["name"] == "chromium").unwrap();
    assert!(chromium["version"].is_null() && chromium["note"].is_null(), "{chromium}");
}

#[test]
fn doctor_reports_an_unusable_data_folder() {
    let project = Project::new();
    project.write("file", "");
    let ended = project.run(&["doctor", "--data-dir", "file/below"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("FAIL"), "{ended:?}");
}

#[test]
fn doctor_reports_an_invalid_config() {
    let project = Project::new();
    project.write("powerstrip.yaml", "nonsense: 1\n");
    assert_eq!(project.run(&["doctor", "--json"]).json_of(1)["checks"][0]["ok"], false);
}

#[test]
fn doctor_names_the_process_that_holds_the_port() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let project = Project::new();
    project.write("powerstrip.yaml", &format!("listen: {address}\n"));
    let ended = project.run(&["doctor"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let holder = format!("(process {})", std::process::id());
    assert!(ended.stdout.contains(&format!("{address} is held by ")), "{ended:?}");
    assert!(ended.stdout.contains(&holder) && ended.stdout.contains("--listen"), "{ended:?}");
    let refused = project.run(&["serve"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains(&holder) && refused.stderr.contains("--listen"), "{refused:?}");
}

#[tokio::test]
async fn doctor_knows_the_port_of_its_own_gateway() {
    let gateway = testkit::Gateway::start().await;
    let address = gateway.address();
    let project = Project::new();
    project.write("powerstrip.yaml", &format!("listen: {address}\n"));
    let data = gateway.folder().join(".powerstrip");
    let report =
        project.run(&["doctor", "--json", "--data-dir", data.to_str().unwrap()]).json_of(0);
    let detail = report["checks"][2]["detail"].as_str().unwrap();
    assert!(detail.contains("the gateway of this data folder"), "{report}");
    let other = project.run(&["doctor"]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stdout.contains("a gateway on another data folder, powerstrip"), "{other:?}");
}

#[test]
fn doctor_names_each_cause_once_with_its_servers_and_the_fix() {
    let project = Project::new();
    project.write(
        "powerstrip.yaml",
        "listen: 127.0.0.1:0\nservers:\n  a: { command: no-such-program-1 }\n  b: { command: no-such-program-1 }\n  \
         c: { url: 'http://127.0.0.1:1/mcp', headers: { X: { env: UNSET_OF_DOCTOR } } }\n  off: { command: x, disabled: true }\n",
    );
    let report = project.run(&["doctor", "--json"]).json_of(0);
    let checks = report["checks"].as_array().unwrap().iter();
    let servers: Vec<_> = checks.filter(|check| check["what"] == "servers").collect();
    assert_eq!(servers.len(), 2, "{report}");
    let detail = servers[0]["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("a, b: the program `no-such-program-1` is not installed; "),
        "{detail}"
    );
    assert!(servers[1]["detail"].as_str().unwrap().contains("UNSET_OF_DOCTOR"), "{report}");
    assert!(servers.iter().all(|check| check["warning"] == true), "{report}");
    assert!(!project.path().join(".powerstrip").exists(), "doctor leaves no files behind");
    for program in ["npx", "uvx", "docker"] {
        let mut programs = report["programs"].as_array().unwrap().iter();
        assert!(programs.any(|found| found["name"] == program), "{report}");
    }
}
