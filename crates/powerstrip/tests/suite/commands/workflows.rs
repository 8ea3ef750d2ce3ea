//! `workflows run` ends with what a person wants to know.

use serde_json::json;

use crate::commands::project::Project;

const HELLO: &str = "tasks:
  - { id: name, tool: demo.echo, arguments: { message: Ada } }
  - { id: greet, tool: demo.echo, depends_on: [name], arguments: { message: \"HELLO {{ tasks.name.output.message }}!\" } }
";

const BROKEN: &str = "tasks:
  - { id: pick, tool: json.select, arguments: { document: { a: 1 }, path: \"$[\" } }
";

#[test]
fn outputs_of_the_last_layer_are_the_last_lines() {
    let project = Project::new();
    project.write("hello.yaml", HELLO);
    let ran = project.run(&["workflows", "run", "hello.yaml"]);
    let last: Vec<_> = ran.ok().lines().rev().take(2).collect();
    assert_eq!(last[0], "HELLO Ada!", "{ran:?}");
    assert!(last[1].starts_with("complete: workflow "), "{ran:?}");
    let answer = project.run(&["workflows", "run", "hello.yaml", "--json"]).json_of(0);
    assert_eq!(answer["status"], "complete", "{answer}");
    assert!(answer["workflow_id"].is_string(), "{answer}");
    assert_eq!(answer["results"][1]["output"], json!({"message": "HELLO Ada!"}), "{answer}");
}

#[test]
fn the_first_error_is_the_last_line_but_one() {
    let project = Project::new();
    project.write("broken.yaml", BROKEN);
    let ran = project.run(&["workflows", "run", "broken.yaml"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let last: Vec<_> = ran.stdout.lines().rev().take(2).collect();
    assert!(last[1].starts_with("failed: task pick (json.select@1): INVALID_INPUT: "), "{ran:?}");
    assert!(last[0].starts_with("powerstrip workflows show "), "{ran:?}");
    let answer = project.run(&["workflows", "run", "broken.yaml", "--json"]).json_of(1);
    assert_eq!(answer["failed_tasks"], json!(["pick"]), "{answer}");
}
