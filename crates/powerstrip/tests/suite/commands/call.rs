use serde_json::json;

use crate::commands::project::Project;

#[test]
fn call_prints_the_data() {
    let ended = Project::new().run(&["call", "demo.echo", "--input", r#"{"message":"hi"}"#]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(ended.ok()).unwrap(),
        json!({"message": "hi"})
    );
    assert_eq!(ended.stderr, "");
}

#[test]
fn call_prints_the_envelope_with_json() {
    let envelope = Project::new()
        .run(&["call", "demo.echo", "--input", r#"{"message":"hi"}"#, "--json"])
        .json_of(0);
    assert_eq!(envelope["ok"], true);
    assert_eq!(envelope["data"], json!({"message": "hi"}));
    assert_eq!(envelope["meta"]["tool"], "demo.echo");
    assert_eq!(envelope["errors"], json!([]));
}

#[test]
fn fields_of_the_input_are_arguments() {
    let project = Project::new();
    let echoed = project.run(&["call", "demo.echo", "message=hello = you"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(echoed.ok()).unwrap(),
        json!({"message": "hello = you"})
    );
    let wrong = project.run(&["call", "demo.echo", "message:=1"]);
    assert!(wrong.failed(1).contains("/message"), "{wrong:?}");
    for refused in [&["call", "demo.echo", "hello"][..], &["call", "demo.echo", "message:=hi"]] {
        let refused = project.run(refused);
        assert!(refused.failed(2).contains("write"), "{refused:?}");
    }
    project.run(&["call", "demo.echo", "message=a", "--input", "{}"]).failed(2);
}

#[test]
fn a_text_is_read_as_the_number_that_the_tool_takes() {
    let project = Project::new();
    project.write(
        "tools/add.tool.yaml",
        "id: demo.add\nversion: 1.0.0\ndescription: Adds.\n\
         inputSchema: {type: object, properties: {a: {type: number}, on: {type: boolean}, \
         name: {type: string}, list: {type: array}}}\noutputSchema: {type: object}\n\
         execution: {kind: cli, cmd: [cat]}\n",
    );
    let echoed = project.run(&["call", "demo.add", "a=2.5", "on=true", "name=7"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(echoed.ok()).unwrap(),
        json!({"input": {"a": 2.5, "on": true, "name": "7"}})
    );
    let wrong = project.run(&["call", "demo.add", "a=two"]);
    let stderr = wrong.failed(1);
    assert!(stderr.contains("write a:=JSON, such as a:=2"), "{stderr}");
    assert_eq!(stderr.matches("not of type").count(), 1, "{stderr}");
    let listed = project.run(&["call", "demo.add", "list=[1]"]);
    assert!(listed.failed(1).contains("write list:='[1]'"), "{listed:?}");
}

#[test]
fn input_comes_from_a_file_or_standard_input() {
    let project = Project::new();
    project.write("in.json", r#"{"message":"file"}"#);
    assert!(project.run(&["call", "demo.echo", "--input", "@in.json"]).ok().contains("file"));
    let piped =
        project.run_with(&["call", "demo.echo", "--input", "-"], r#"{"message":"pipe"}"#, &[]);
    assert!(piped.ok().contains("pipe"));
}

#[test]
fn a_failed_call_says_why_and_fails() {
    let project = Project::new();
    let ended = project.run(&["call", "demo.echo", "--input", r#"{"message":1,"more":2}"#]);
    let stderr = ended.failed(1);
    assert!(stderr.contains("INVALID_INPUT"), "{stderr}");
    assert!(stderr.contains("/message"), "every error with its path: {stderr}");
    assert!(stderr.contains("more"), "{stderr}");
    assert_eq!(ended.stdout, "");
    let envelope = project.run(&["call", "demo.echo", "--json"]).json_of(1);
    assert_eq!(envelope["errors"][0]["code"], "INVALID_INPUT");
}

#[test]
fn an_unknown_tool_gets_a_suggestion() {
    let ended = Project::new().run(&["call", "demo.eko"]);
    let stderr = ended.failed(1);
    assert!(stderr.contains("NOT_FOUND") && stderr.contains("demo.echo"), "{stderr}");
}

#[test]
fn wrong_usage_and_failures_have_different_exit_codes() {
    let project = Project::new();
    project.run(&["call", "demo.echo", "--input", "{not json"]).failed(2);
    project.run(&["call", "demo.echo", "--timeout", "soon"]).failed(2);
    project.run(&["call"]).failed(2);
    project.run(&["cal"]).failed(2);
    let missing = project.run(&["call", "demo.echo", "--input", "@nowhere.json"]);
    assert!(missing.failed(1).contains("@nowhere.json"));
}

#[test]
fn options_reach_the_strip() {
    let project = Project::new();
    let verified = project
        .run(&["call", "text.stats", "--input", r#"{"text":"a"}"#, "--verify", "--json"])
        .json_of(0);
    assert_eq!(verified["ok"], true);
    project.write(
        "tools/slow.tool.yaml",
        "id: slow.sleep\nversion: 1.0.0\ndescription: Sleeps for a long time.\n\
         inputSchema: {type: object}\noutputSchema: {type: object}\n\
         execution: {kind: cli, cmd: [sleep, '20']}\n",
    );
    let impatient = project.run(&["call", "slow.sleep", "--timeout", "200ms", "--json"]).json_of(1);
    assert_eq!(impatient["errors"][0]["code"], "TIMEOUT");
}

#[test]
fn tools_command_lists_tools() {
    let project = Project::new();
    let listed = project.run(&["tools"]);
    for tool in ["demo.echo", "json.select", "text.stats", "time.now"] {
        assert!(listed.ok().contains(tool), "{listed:?}");
    }
    let discovery = project.run(&["tools", "--json"]).json_of(0);
    assert_eq!(discovery["server"]["name"], "powerstrip");
    let echo = discovery["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "demo.echo")
        .unwrap();
    assert_eq!(echo["caps"]["timeoutMs"], 30_000);
    assert!(echo["inputSchemaRef"].as_str().unwrap().starts_with('/'));
}

#[test]
fn a_broken_pack_does_not_hide_the_others() {
    let project = Project::new();
    project.write("tools/broken.tool.yaml", "id: [");
    let listed = project.run(&["tools"]);
    assert!(listed.ok().contains("demo.echo"));
    assert!(listed.stderr.contains("broken.tool.yaml"), "{listed:?}");
}
