use crate::project::Project;

const GOOD: &str = r#"
id: good.greet
version: 1.0.0
description: Greets a person by name, politely and at once.
inputSchema:
  type: object
  properties: { name: { type: string, description: Whom to greet. } }
  required: [name]
outputSchema: { type: object }
execution: { kind: cli, cmd: [echo, '{{ {"greeting": "Hello, " ~ input.name} | tojson }}'] }
examples: [{ input: { name: Ada }, data: { greeting: "Hello, Ada" } }]
"#;

#[test]
fn an_empty_folder_is_fine() {
    let ended = Project::new().run(&["check"]);
    assert!(ended.ok().contains("nothing is wrong"), "{ended:?}");
}

#[test]
fn examples_are_run() {
    let project = Project::new();
    project.write("tools/good.tool.yaml", GOOD);
    project.run(&["check", "--run", "--strict"]).ok();
    project.write("tools/good.tool.yaml", &GOOD.replace("Hello, Ada\" }", "Goodbye\" }"));
    project.run(&["check"]).ok();
    let ended = project.run(&["check", "--run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("good.tool.yaml") && ended.stdout.contains("Goodbye"),
        "{ended:?}"
    );
}

#[test]
fn a_tool_that_answers_differently_each_time_is_found() {
    let project = Project::new();
    // The first run leaves a mark beside itself, by which the second answers something else.
    project.write(
        "tools/fickle.py",
        "import json, os, sys\n\
         sys.stdin.readline()\n\
         mark = os.path.join(os.path.dirname(__file__), 'marks', 'mark')\n\
         known = os.path.exists(mark)\n\
         open(mark, 'w').close()\n\
         print(json.dumps({'greeting': 'Hello again' if known else 'Hello, Ada'}))\n",
    );
    project.write("tools/marks/.keep", "");
    let fickle = GOOD.lines().map(|line| match line.starts_with("execution:") {
        true => "execution: { kind: python, script: ./fickle.py }\ncaps: { files: { write: [./marks] } }",
        false => line,
    });
    project.write("tools/fickle.tool.yaml", &fickle.collect::<Vec<_>>().join("\n"));
    let ended = project.run(&["check", "--run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("NONDETERMINISTIC"), "{ended:?}");
}

#[test]
fn faults_are_told_with_their_lines() {
    let project = Project::new();
    project.write("tools/bad.tool.yaml", "id: bad\nversion: one\n");
    project.write("powerstrip.yaml", "limits: { timeout: 30 }\n");
    let config = project.run(&["check"]);
    assert_eq!(config.code, Some(1), "{config:?}");
    assert!(config.stdout.contains("powerstrip.yaml:1: error: limits.timeout"), "{config:?}");

    project.write("powerstrip.yaml", "");
    let found = project.run(&["check", "--json"]).json(1);
    assert_eq!(found["ok"], false);
    assert!(found["findings"][0]["file"].as_str().unwrap().ends_with("bad.tool.yaml"));
    assert_eq!(found["findings"][0]["severity"], "error");
}

#[test]
fn advice_alone_passes_and_warnings_fail_only_when_asked() {
    let project = Project::new();
    project.write(
        "tools/terse.tool.yaml",
        &GOOD.replace("Greets a person by name, politely and at once.", "Greets."),
    );
    let ended = project.run(&["check"]);
    assert!(ended.ok().contains("advice"), "{ended:?}");
    project.run(&["check", "--tools", "nowhere/at/all"]).ok();
    assert_eq!(project.run(&["check", "--tools", "nowhere/at/all", "--strict"]).code, Some(1));
}

#[test]
fn a_folder_may_be_named() {
    let project = Project::new();
    project.write("elsewhere/tools/bad.tool.yaml", "id: [");
    project.write("packs/bad.tool.yaml", "id: [");
    project.write("configured/powerstrip.yaml", "nonsense: 1\n");
    for folder in ["elsewhere", "packs", "configured"] {
        assert_eq!(project.run(&["check", folder]).code, Some(1), "{folder}");
    }
    project.run(&["check", "missing"]).failed(1);
}

#[test]
fn a_changed_prompt_body_is_found() {
    let project = Project::new();
    project.run(&["new", "prompt", "research/summary"]).ok();
    project.run(&["check"]).ok();
    project.write("prompts/packs/research/summary.v1.md", "Something else about {{ topic }}.\n");
    let ended = project.run(&["check"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.stdout.contains("summary.v1.md") || ended.stdout.contains("REGISTRY.yaml"),
        "{ended:?}"
    );
}
