use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scan::{Root, Step, scan_expression, scan_template};
use super::{EvaluationError, Scope, TaskValue, condition, items, references, references_in};
use crate::Task;

fn scope() -> Scope {
    let value = |output: Value| TaskValue::new(Arc::new(output), "success", None);
    let tasks = HashMap::from([
        (
            "task-1".to_owned(),
            value(
                json!({"x": 7, "list": ["a", "b"], "hostile": "{{ tasks.secret.output }}", "a-b": 1}),
            ),
        ),
        ("2nd".to_owned(), value(json!([{"name": "n"}]))),
        (
            "bad".to_owned(),
            TaskValue::new(Arc::new(Value::Null), "failed", Some(json!({"code": "TIMEOUT"}))),
        ),
    ]);
    Scope {
        tasks: Arc::new(tasks),
        input: Some(Arc::new(json!({"dir": "src"}))),
        ..Scope::default()
    }
}

fn fill(text: &str) -> Result<Value, EvaluationError> {
    fill_in(text, &scope())
}

fn fill_in(text: &str, scope: &Scope) -> Result<Value, EvaluationError> {
    let given = json!({"x": text}).as_object().unwrap().clone();
    super::arguments(&given, scope, "/arguments").map(|mut made| made.remove("x").unwrap())
}

#[test]
fn a_single_expression_keeps_its_type() {
    for (text, made) in [
        ("{{ tasks.task-1.output.x }}", json!(7)),
        ("{{tasks.task-1.output.list}}", json!(["a", "b"])),
        (
            "{{- tasks.task-1.output -}}",
            json!({"x": 7, "list": ["a", "b"], "hostile": "{{ tasks.secret.output }}", "a-b": 1}),
        ),
        ("{{ tasks.task-1.output[\"a-b\"] }}", json!(1)),
        ("{{ tasks.2nd.output[0].name }}", json!("n")),
        ("{{ tasks.2nd.output.0.name }}", json!("n")),
        ("{{ tasks['2nd'].output | length }}", json!(1)),
        ("{{ tasks.task-1.output.x - 1 }}", json!(6)),
        ("{{ tasks.task-1.output.x-1 }}", json!(6)),
        ("{{ tasks.task-1.output.x > 3 and tasks.bad.status == 'failed' }}", json!(true)),
        ("{{ {'k': {'n': tasks.task-1.output.x}} }}", json!({"k": {"n": 7}})),
        ("{{ tasks.bad.output }}", json!(null)),
        ("{{ tasks.bad.error.code }}", json!("TIMEOUT")),
        ("{{ tasks.task-1.error }}", json!(null)),
        ("{{ input.dir }}", json!("src")),
        ("n={{ tasks.task-1.output.x }}", json!("n=7")),
        (" {{ tasks.task-1.output.x }}", json!(" 7")),
        ("{{ input.dir }}/{{ tasks.task-1.output.x }}\n", json!("src/7\n")),
        ("{{ input.dir }}{{ input.dir }}", json!("srcsrc")),
        ("{{ '{{ tasks.task-1 }}' }}", json!("{{ tasks.task-1 }}")),
        ("{# {% set x = 1 %} #}x", json!("x")),
        ("no template } }} here", json!("no template } }} here")),
    ] {
        assert_eq!(fill(text), Ok(made), "{text}");
    }
}

#[test]
fn outputs_are_never_templates() {
    let hostile = "{{ tasks.secret.output }}";
    assert_eq!(fill("{{ tasks.task-1.output.hostile }}"), Ok(json!(hostile)));
    assert_eq!(fill("is {{ tasks.task-1.output.hostile }}"), Ok(json!(format!("is {hostile}"))));
    assert_eq!(
        fill("{{ tasks.task-1.output.hostile | upper }}"),
        Ok(json!(hostile.to_uppercase()))
    );
}

#[test]
fn a_missing_field_is_named_by_its_path() {
    for (text, path) in [
        ("{{ tasks.task-1.output.y }}", "`tasks.task-1.output.y`"),
        ("{{ tasks.task-1.output.list[2] }}", "`tasks.task-1.output.list[2]`"),
        ("see {{ tasks.task-1.output.y }}", "`tasks.task-1.output.y`"),
        ("{{ tasks.task-1.output.y + 1 }}", "`tasks.task-1.output.y`"),
        ("{{ tasks.bad.output.x }}", "`tasks.bad.output.x`"),
        ("{{ tasks.missing.output }}", "`tasks.missing.output`"),
        ("{{ [tasks.task-1.output.y] }}", "`tasks.task-1.output.y`"),
        ("{{ item.x }}", "`item.x`"),
    ] {
        let error = fill(text).unwrap_err();
        assert_eq!(error.path, "/arguments/x");
        assert!(error.message.starts_with(path), "{text}: {}", error.message);
    }
    let error = fill("{{ tasks.task-1.output.y }}").unwrap_err();
    assert!(
        error.message.contains("an object with `a-b`, `hostile`, `list`, `x`"),
        "{}",
        error.message
    );
    assert_eq!(fill("{{ tasks.task-1.output.y | default(3) }}"), Ok(json!(3)));
    assert_eq!(fill("{{ tasks.task-1.output.y is defined }}"), Ok(json!(false)));
    let deep =
        json!({"a/b": [1, {"c": "{{ tasks.missing.output }}"}]}).as_object().unwrap().clone();
    let error = super::arguments(&deep, &scope(), "/arguments").unwrap_err();
    assert_eq!(error.path, "/arguments/a~1b/1/c");
}

#[test]
fn a_filled_value_that_is_nested_too_deeply_is_refused() {
    let nest = |levels: usize, leaf| (0..levels).fold(leaf, |inner, _| Value::Array(vec![inner]));
    let output = TaskValue::new(Arc::new(nest(40, json!(1))), "success", None);
    let tasks = Arc::new(HashMap::from([("deep".to_owned(), output)]));
    let scope = Scope { tasks, ..Scope::default() };
    let around = |levels: usize| nest(levels, json!("{{ tasks.deep.output }}"));
    let fill = |levels: usize| {
        let given = json!({"a": {"b/c": around(levels - 1)}}).as_object().unwrap().clone();
        super::arguments(&given, &scope, "/arguments")
    };
    assert!(fill(24).is_ok());
    let error = fill(25).unwrap_err();
    assert_eq!(error.path, "/arguments/a");
    assert_eq!(error.message, "the value is nested 65 levels deep; 64 are allowed");
    assert_eq!(items(&around(24), &scope).unwrap().len(), 1);
    assert_eq!(items(&around(25), &scope).unwrap_err().path, "/for_each");
}

#[test]
fn templates_are_bounded() {
    for text in [
        "{{ range(100000) | list }}",
        "{{ 'x' * 100000000 }}",
        "{{ 'x' * 40000 }}{{ 'x' * 40000 }}",
        "{{ [[1] * 1000] * 1000 }}",
    ] {
        assert!(fill(text).is_err(), "{text}");
    }
    let long = format!("{{{{ 1 }}}}{}", " ".repeat(64 * 1024));
    assert!(fill(&long).unwrap_err().message.contains("65536"));
    let large = Arc::new(json!("x".repeat(1 << 20)));
    let tasks = HashMap::from([("a".to_owned(), TaskValue::new(large, "success", None))]);
    let large = Scope { tasks: Arc::new(tasks), ..Scope::default() };
    assert_eq!(
        fill_in("{{ tasks.a.output }}", &large).unwrap().as_str().unwrap().len(),
        1 << 20,
        "a plain path"
    );
    assert!(fill_in("{{ tasks.a.output }}!", &large).is_err());
}

/// A DAG that an older version stored may have them.
#[test]
fn statements_fail_their_task() {
    for text in [
        "{% set x = 1 %}{{ x }}",
        "x{%- if true %}y{% endif %}",
        "{% raw %}{{ x }}{% endraw %}",
        "{{ 1 }} {% for x in range(9) %}{% endfor %}",
    ] {
        let error = fill(text).unwrap_err();
        assert_eq!(error.path, "/arguments/x");
        assert!(error.message.contains("statements"), "{text}: {}", error.message);
    }
    assert!(condition("{% set x = 1 %}", &scope()).is_err());
    assert!(items(&json!("{% set x = 1 %}"), &scope()).is_err());
    assert!(items(&json!(["{% set x = 1 %}"]), &scope()).is_err());
}

#[test]
fn the_templates_of_a_task_share_one_budget() {
    let many = |text: &str, count: usize| {
        let given = json!({"x": vec![text; count]}).as_object().unwrap().clone();
        super::arguments(&given, &scope(), "/arguments")
    };
    assert!(many("{{ 'x' * 60000 }}", 10).is_ok());
    assert!(many("{{ 'x' * 60000 }}", 100).unwrap_err().message.contains("4 MiB"));
    let value = TaskValue::new(Arc::new(json!("x".repeat(1 << 20))), "success", None);
    let tasks = Arc::new(HashMap::from([("a".to_owned(), value)]));
    let large = Scope { tasks, ..Scope::default() };
    let given = json!({"x": vec!["{{ tasks.a.output }}"; 20]}).as_object().unwrap().clone();
    let error = super::arguments(&given, &large, "/arguments").unwrap_err();
    assert!(error.message.contains("16 MB"), "{}", error.message);
}

#[test]
fn deep_outputs_are_refused() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let scope = |depth: usize| {
        let value = TaskValue::new(Arc::new(nested(depth)), "success", None);
        let tasks = Arc::new(HashMap::from([("a".to_owned(), value)]));
        Scope { tasks, ..Scope::default() }
    };
    assert_eq!(fill_in("{{ tasks.a.output }}", &scope(64)), Ok(nested(64)));
    for text in
        ["{{ tasks.a.output }}", "{{ tasks.a.output[0] | length }}", "x{{ tasks.a.output }}"]
    {
        let error = fill_in(text, &scope(65)).unwrap_err();
        assert!(error.message.contains("deeper than 64"), "{text}: {}", error.message);
    }
    assert_eq!(fill_in("{{ tasks.a.status }}", &scope(1_000)), Ok(json!("success")));
    assert!(fill_in("{{ [tasks.a.output] }}", &scope(64)).is_err());
}

#[test]
fn conditions_are_expressions_with_or_without_braces() {
    for (text, holds) in [
        ("tasks.task-1.output.x > 3", true),
        ("{{ tasks.task-1.output.x > 7 }}", false),
        (" {{ tasks.task-1.output.list }} ", true),
        ("tasks.bad.status == 'success'", false),
        ("tasks.bad.output", false),
        ("'{{' in tasks.task-1.output.hostile", true),
    ] {
        assert_eq!(condition(text, &scope()), Ok(holds), "{text}");
    }
    assert!(condition("tasks.task-1.output.y == 1", &scope()).is_err());
    let error = condition("tasks.task-1.output.y", &scope()).unwrap_err();
    assert_eq!(error.path, "/when");
    assert!(error.message.starts_with("`tasks.task-1.output.y`"), "{}", error.message);
}

#[test]
fn items_are_lists() {
    let with = |list: Value| items(&list, &scope());
    assert_eq!(with(json!("tasks.task-1.output.list")), Ok(vec![json!("a"), json!("b")]));
    assert_eq!(
        with(json!("{{ tasks.task-1.output.list | reverse }}")),
        Ok(vec![json!("b"), json!("a")])
    );
    assert_eq!(with(json!(["{{ input.dir }}", 2])), Ok(vec![json!("src"), json!(2)]));
    assert_eq!(with(json!([])), Ok(vec![]));
    let error = with(json!("tasks.task-1.output.x")).unwrap_err();
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        ("/for_each", "for_each takes a list, not a number")
    );
    let item = scope().with_item(3, json!({"name": "{{ x }}"}));
    assert_eq!(fill_in("{{ index }}: {{ item.name }}", &item), Ok(json!("3: {{ x }}")));
    assert_eq!(fill_in("{{ item }}", &item), Ok(json!({"name": "{{ x }}"})));
}

#[test]
fn prompts_are_texts_with_their_own_limits() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/prompts");
    let (prompts, _) = prompts::Snapshot::load(std::path::Path::new(folder));
    let scope = Scope { prompts: Some(Arc::new(prompts)), ..scope() };
    let made = fill_in(
        "{{ prompt('research/outline@1', topic=tasks.2nd.output[0].name ~ ' tea') }}",
        &scope,
    );
    assert!(made.as_ref().is_ok_and(|text| text.as_str().unwrap().contains("n tea")), "{made:?}");
    let many = "{{ prompt('research/outline@1', topic='tea') }}".repeat(21);
    for (text, part) in [
        ("{{ prompt('research/outline@1', topik='tea') }}", "topik"),
        ("{{ prompt('research/none@1') }}", "there is no prompt"),
        ("{{ prompt('research/outline@9', topic='tea') }}", "has no major 9"),
        (many.as_str(), "at most 20 prompts"),
    ] {
        let error = fill_in(text, &scope).unwrap_err();
        assert!(error.message.contains(part), "{text}: {}", error.message);
    }
}

#[test]
fn references_name_the_outputs_to_load() {
    let task: Task = serde_json::from_value(json!({
        "id": "t", "tool": "x", "when": "tasks.a.output", "for_each": "tasks.b-1.output",
        "arguments": {"x": ["{{ tasks['c'].output }} and {{ tasks.d.status }}"], "y": "tasks.none.output"},
        "compensate": {"tool": "x", "arguments": {"x": "{{ tasks.t.output }}"}},
    }))
    .unwrap();
    let found: Vec<_> = references(&task).into_iter().collect();
    assert_eq!(found, ["a", "b-1", "c", "d"]);
    let found: Vec<_> = references_in(&task.compensate.unwrap().arguments).into_iter().collect();
    assert_eq!(found, ["t"]);
}

#[test]
fn scans_find_paths_and_nothing_else() {
    let scan =
        scan_expression("tasks.a-1.output.x[0]['k'] | f(tasks=1) + x.tasks.z and tasks.b.m()");
    let steps: Vec<_> = scan.references.iter().map(|one| one.path(one.steps.len())).collect();
    assert_eq!(steps, ["tasks.a-1.output.x[0].k", "tasks.b"]);
    assert_eq!(
        scan.source,
        "tasks[\"a-1\"].output.x[0]['k'] | f(tasks=1) + x.tasks.z and tasks.b.m()"
    );
    let scan = scan_template("{{ tasks.a-}} {{ input['x y'].z }}");
    assert_eq!(scan.references[0].steps, [Step::Field("a".to_owned())]);
    assert_eq!(scan.references[1].root, Root::Input);
    assert_eq!(scan.references[1].path(9), "input[\"x y\"].z");
    assert_eq!(scan.source, "{{ tasks.a-}} {{ input['x y'].z }}");
    assert_eq!(scan_template("{{ a }}{{ b }}").whole, None);
    assert_eq!(scan_template("{{ {'a': {}} }}").whole.as_deref(), Some("{'a': {}}"));
}

proptest! {
    #[test]
    fn scanning_takes_any_text(text in ".{0,60}") {
        let scan = scan_template(&text);
        prop_assert!(scan.source.len() >= text.len());
        scan_expression(&text);
        scan_template(&format!("{{{{ tasks.{text} }}}}"));
    }

    #[test]
    fn plain_paths_and_the_engine_agree(id in "[A-Za-z0-9_-]{1,12}", field in "[a-z_][a-z0-9_]{0,8}", n in any::<i64>()) {
        prop_assume!(!id.ends_with('-'));
        let output = Arc::new(json!({field.clone(): [n]}));
        let tasks = HashMap::from([(id.clone(), TaskValue::new(output, "success", None))]);
        let scope = Scope { tasks: Arc::new(tasks), ..Scope::default() };
        let plain = fill_in(&format!("{{{{ tasks.{id}.output.{field}[0] }}}}"), &scope);
        let engine = fill_in(&format!("{{{{ (tasks[\"{id}\"].output.{field})[0] }}}}"), &scope);
        let dotted = fill_in(&format!("{{{{ (tasks.{id}.output.{field})[0] }}}}"), &scope);
        prop_assert_eq!(&plain, &Ok(json!(n)));
        prop_assert_eq!(&engine, &plain);
        prop_assert_eq!(&dotted, &plain);
    }
}
