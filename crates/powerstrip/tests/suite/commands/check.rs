use crate::commands::project::Project;

const GOOD: &str = r#"
id: good.greet
version: 1.0.0
description: Greets a person by name, politely and at once.
inputSchema:
  type: object
  properties: { name: { type: string, description: The name to greet. } }
  required: [name]
outputSchema: { type: object }
execution: { kind: cli, cmd: [echo, '{{ {"greeting": "Hello, " ~ input.name} | tojson }}'] }
examples: [{ input: { name: Ada }, data: { greeting: "Hello, Ada" } }]
"#;

#[test]
fn an_empty_folder_passes() {
    let ended = Project::new().run(&["check"]);
    assert!(ended.ok().contains("nothing is wrong"), "{ended:?}");
}

#[test]
fn check_says_what_it_ran() {
    let project = Project::new();
    assert!(
        project
            .run(&["check"])
            .ok()
            .contains("checked the defaults (no config file); no examples to run")
    );
    project
        .write("tools/good.tool.yaml", GOOD)
        .write("powerstrip.yaml", "servers: {crm: {command: crm}}\n");
    let checked = project.run(&["check"]);
    let summary =
        "powerstrip.yaml, 1 tool, 1 server's settings; ran none of 1 examples (`--run` runs them)";
    assert!(checked.ok().contains(summary), "{checked:?}");
    assert!(project.run(&["check", "--run"]).ok().contains("; ran 1 example\n"));
    let report = project.run(&["check", "--run", "--json"]).json_of(0);
    assert_eq!(report["checked"]["tools"], 1, "{report}");
    assert_eq!(report["checked"]["examples_run"], 1, "{report}");
    project.write("powerstrip.yaml", "nonsense: 1\n");
    let unusable = project.run(&["check"]).stdout;
    assert!(unusable.contains("so nothing else was checked"), "{unusable}");
}

#[test]
fn check_runs_examples() {
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
fn a_nondeterministic_tool_is_reported() {
    let project = Project::new();
    // The first run creates a file that changes the answer of the second.
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
    let fickle = GOOD.lines().map(|line| {
        if line.starts_with("execution:") {
            "execution: { kind: python, script: ./fickle.py }\n\
             caps: { files: { write: [./marks] } }"
        } else {
            line
        }
    });
    project.write("tools/fickle.tool.yaml", &fickle.collect::<Vec<_>>().join("\n"));
    let ended = project.run(&["check", "--run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("NONDETERMINISTIC"), "{ended:?}");
}

#[test]
fn examples_of_tools_that_act_are_run_once() {
    let project = Project::new();
    // Each run writes a line; the tool requires an idempotency key.
    project.write(
        "tools/act.py",
        "import json, os, sys\n\
         key = json.loads(sys.stdin.readline())['meta']['idempotencyKey']\n\
         with open(os.path.join(os.path.dirname(__file__), 'deeds', 'done'), 'a') as done:\n\
         \x20   done.write(key + '\\n')\n\
         print(json.dumps({'greeting': 'Hello, Ada'}))\n",
    );
    project.write("tools/deeds/.keep", "");
    let acts = GOOD.lines().map(|line| {
        if line.starts_with("execution:") {
            "execution: { kind: python, script: ./act.py }\ncaps: { files: { write: [./deeds] } }\n\
             deterministic: false\nidempotency: { key: required }"
        } else {
            line
        }
    });
    let acts = acts.collect::<Vec<_>>().join("\n");
    project.write("tools/act.tool.yaml", &acts);
    project.run(&["check", "--run"]).ok();
    assert_eq!(project.read("tools/deeds/done").lines().count(), 1);
    project.write("tools/act.tool.yaml", &acts.replace("Hello, Ada\" }", "Goodbye\" }"));
    let ended = project.run(&["check", "--run"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("expected {\"greeting\":\"Goodbye\"}"), "{ended:?}");
}

/// Tools that would not be served are reported without starting a strip.
#[test]
fn tools_that_would_not_be_served_are_reported() {
    let errors = [
        (
            GOOD.replace("good.greet", "demo.echo"),
            "bad.tool.yaml:2: error: `demo.echo` is the name",
        ),
        (GOOD.to_owned(), "good.tool.yaml:2: error: `good.greet` in major 1 is in two files"),
        (
            GOOD.replace("good.greet", "good.other")
                .replace("  type: object\n", "  type: string\n"),
            "bad.tool.yaml:6: error: `inputSchema` cannot be used: a tool's input is an object",
        ),
        (
            GOOD.replace("good.greet", "good.other")
                .replace("outputSchema: { type: object }", "outputSchema: { type: obj }"),
            "bad.tool.yaml:9: error: `outputSchema` cannot be used",
        ),
    ];
    for (text, expected) in errors {
        let project = Project::new();
        project.write("tools/good.tool.yaml", GOOD).write("tools/bad.tool.yaml", &text);
        for arguments in [&["check"][..], &["check", "--run"]] {
            let ended = project.run(arguments);
            assert_eq!(ended.code, Some(1), "{ended:?}");
            assert!(ended.stdout.contains(expected), "{expected}: {ended:?}");
            assert!(ended.stdout.ends_with("\n1 error\n"), "reported once: {ended:?}");
        }
    }
}

#[test]
fn a_major_that_is_no_longer_served_is_a_warning() {
    let project = Project::new();
    for major in 1..=3 {
        let text = GOOD.replace("1.0.0", &format!("{major}.0.0"));
        project.write(&format!("tools/v{major}.tool.yaml"), &text);
    }
    let ended = project.run(&["check", "--run"]);
    assert!(ended.ok().contains("v1.tool.yaml:2: warning: `good.greet` 1.0.0 is not served"));
    assert_eq!(project.run(&["check", "--strict"]).code, Some(1));
}

#[test]
fn faults_are_reported_with_line_numbers() {
    let project = Project::new();
    project.write("tools/bad.tool.yaml", "id: bad\nversion: one\n");
    project.write("powerstrip.yaml", "limits: { timeout: 30 }\n");
    let config = project.run(&["check"]);
    assert_eq!(config.code, Some(1), "{config:?}");
    assert!(config.stdout.contains("powerstrip.yaml:1: error: limits.timeout"), "{config:?}");

    project.write("powerstrip.yaml", "{}\n");
    let found = project.run(&["check", "--json"]).json_of(1);
    assert_eq!(found["ok"], false);
    assert!(found["findings"][0]["file"].as_str().unwrap().ends_with("bad.tool.yaml"));
    assert_eq!(found["findings"][0]["severity"], "error");
}

#[test]
fn advice_passes_and_warnings_fail_only_with_strict() {
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

/// The ids of the tools of the research flow, whose schemas are committed.
fn research_flow() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/tools");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let inputs = files.filter(|file| file.to_str().unwrap().ends_with(".input.schema.json"));
    let id = |file: std::path::PathBuf| {
        let schema: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        schema["$comment"].as_str().unwrap().split(' ').next().unwrap().to_owned()
    };
    inputs.map(id).collect()
}

#[test]
fn a_pack_that_replaces_a_tool_of_the_research_flow_is_advice() {
    let ids = research_flow();
    assert_eq!(ids.len(), 16, "{ids:?}");
    for id in ids {
        let project = Project::new();
        project.write("tools/own.tool.yaml", &GOOD.replace("good.greet", &id));
        let ended = project.run(&["check", "--strict"]);
        let advice =
            format!("own.tool.yaml:2: advice: this pack replaces the built-in tool `{id}`");
        assert!(ended.ok().contains(&advice), "{ended:?}");
        assert!(ended.ok().ends_with("\n1 piece of advice\n"), "{ended:?}");
    }
    let project = Project::new();
    project.write("tools/good.tool.yaml", GOOD);
    assert!(project.run(&["check"]).ok().contains("nothing is wrong"));
}

#[test]
fn skills_may_name_tools_of_the_research_flow() {
    let project = Project::new();
    let tools = research_flow().join("', '");
    let skills = format!("skills: {{ flow: {{ tools: ['{tools}', 'research.*'] }} }}\n");
    project.write("powerstrip.yaml", &skills);
    let ended = project.run(&["check", "--strict"]);
    assert!(ended.ok().contains("nothing is wrong"), "{ended:?}");
}

#[test]
fn a_folder_can_be_given() {
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
fn a_changed_prompt_body_is_reported() {
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

#[test]
fn patterns_that_match_no_tool_are_warnings() {
    let project = Project::new();
    project.write("tools/good.tool.yaml", GOOD);
    project.write(
        "powerstrip.yaml",
        "servers: { crm: { url: 'http://127.0.0.1:1/mcp' } }\n\
         skills:\n  \
           fine: { servers: [crm], tools: ['good.*', 'demo.echo', 'crm:read_*', 'powerstrip:search_tools', '*'] }\n  \
           odd: { tools: ['gone.*', 'crn:read'], approve: { 'nothing.here': never } }\n\
         agents: { one: { skills: [fine, odd] } }\n\
         embeddings: { path: ./nowhere }\n",
    );
    let ended = project.run(&["check"]);
    let shown = ended.ok();
    for warning in [
        "skills.odd.tools: `gone.*` names no tool at present",
        "skills.odd.tools: `crn:read` names no tool at present",
        "skills.odd.approve: `nothing.here` names no tool at present",
        "embeddings.path: ",
    ] {
        assert!(shown.contains(warning), "{warning}\n{shown}");
    }
    assert!(!shown.contains("skills.fine"), "{shown}");
    assert!(shown.ends_with("\n4 warnings\n"), "{shown}");
    assert_eq!(project.run(&["check", "--strict"]).code, Some(1));
}

#[test]
fn an_input_schema_that_a_model_api_refuses_is_a_warning() {
    let project = Project::new();
    let odd =
        GOOD.replace("properties: {", "properties: { tags: { type: array, description: Words. },");
    project.write("tools/odd.tool.yaml", &odd).write("powerstrip.yaml", "schemas: asis\n");
    let ended = project.run(&["check"]);
    let refused = "warning: a request with this input schema fails: Gemini refuses /properties/tags: an array needs `items`; \
                   OpenAI refuses /properties/tags";
    assert!(ended.ok().contains(refused), "{ended:?}");
    project.write("powerstrip.yaml", "schemas: portable\n");
    let ended = project.run(&["check"]);
    assert!(!ended.ok().contains("refuses"), "{ended:?}");
}

#[test]
fn missing_programs_and_secrets_are_warnings_with_the_fix() {
    let project = Project::new();
    let servers = "servers:\n  npm: { command: npxx, env: { KEY: { secret: NOPE } } }\n  \
        off: { command: none-such, disabled: true, env: { KEY: { secret: OFF } } }\n";
    project.write("powerstrip.yaml", servers);
    let checked = project.run(&["check"]);
    for said in [
        "warning: servers.npm: the program `npxx` is not installed; did you mean `npx`?",
        "warning: the secret `NOPE` is not stored: store it with `powerstrip secret set NOPE`",
        "\n2 warnings\n",
    ] {
        assert!(checked.ok().contains(said), "{said}: {checked:?}");
    }
    assert!(!project.path().join(".powerstrip").exists(), "a look creates nothing");
    project.run_with(&["secret", "set", "NOPE"], "a value", &[]).ok();
    let checked = project.run(&["check"]);
    assert!(checked.ok().contains("\n1 warning\n"), "{checked:?}");
}
