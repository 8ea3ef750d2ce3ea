use crate::project::Project;

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
        eprintln!("skipped: no Chromium is installed");
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
