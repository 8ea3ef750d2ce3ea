use crate::project::Project;

#[test]
fn doctor_reports_sandbox_and_programs() {
    let project = Project::new();
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
    assert!(project.run(&["doctor"]).ok().contains("python3"));
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
