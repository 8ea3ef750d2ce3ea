use serde_json::json;

use crate::commands::project::Project;

fn project() -> Project {
    let project = Project::new();
    project
        .write("prompts/packs/research/summary.v1.md", "Sum up {{ topic }}.\n")
        .write("prompts/packs/research/summary.v2.md", "Sum up {{ topic }} well.\n")
        .write(
            "prompts/packs/research/summary.spec.yaml",
            "description: Asks for a summary of a topic.\n\
             inputSchema: {type: object, properties: {topic: {type: string, description: What about.}}, required: [topic]}\n",
        );
    project
}

#[test]
fn prompts_are_pinned_listed_shown_and_rendered() {
    let project = project();
    assert!(project.run(&["prompts", "pin"]).ok().contains("pinned research/summary"));
    assert!(project.run(&["prompts", "pin"]).ok().contains("already"));
    assert!(project.run(&["prompts"]).ok().contains("research/summary"));
    let listed = project.run(&["prompts", "list", "--json"]).json_of(0);
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    let shipped_and_own = ["plan", "summarize", "summary", "write"];
    assert_eq!(ids, shipped_and_own.map(|name| format!("mcp.prompt:research/{name}")));
    assert_eq!(
        project.run(&["prompts", "get", "research/summary@1"]).ok(),
        "Sum up {{ topic }}.\n"
    );
    let got = project.run(&["prompts", "get", "mcp.prompt:research/summary", "--json"]).json_of(0);
    assert_eq!(got["body"], "Sum up {{ topic }} well.\n");
    assert_eq!(got["spec"]["description"], "Asks for a summary of a topic.");
    let render = ["prompts", "render", "research/summary", "--arguments", r#"{"topic":"tea"}"#];
    assert_eq!(project.run(&render).ok().trim_end(), "Sum up tea well.");
    let as_json = [&render[..], &["--json"]].concat();
    let text = project.run(&as_json).json_of(0);
    assert_eq!(text["text"].as_str().unwrap().trim_end(), "Sum up tea well.");
    assert_eq!(text["prompt"], json!("research/summary"));
}

#[test]
fn invalid_arguments_are_refused() {
    let project = project();
    assert!(
        project.run(&["prompts", "get", "research/nothing"]).failed(1).contains("research/nothing")
    );
    assert!(project.run(&["prompts", "get", "research/summary@9"]).failed(1).contains('9'));
    project.run(&["prompts", "get", "nonsense"]).failed(2);
    project.run(&["prompts", "render", "research/summary", "--arguments", "{"]).failed(2);
    let missing = project.run(&["prompts", "render", "research/summary"]);
    assert!(missing.failed(1).contains("topic"), "{missing:?}");
}

#[test]
fn a_changed_body_cannot_be_pinned_over() {
    let project = project();
    project.run(&["prompts", "pin"]).ok();
    project.write("prompts/packs/research/summary.v1.md", "Changed {{ topic }}.\n");
    let ended = project.run(&["prompts", "pin"]);
    assert!(ended.failed(1).contains("summary"), "{ended:?}");
}
