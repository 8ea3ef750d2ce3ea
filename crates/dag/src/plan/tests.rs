mod arrangement;

use std::collections::HashMap;
use std::sync::Arc;

use schema::Schema;
use serde_json::{Value, json};

use super::limits::MAX_HINTS;
use super::{Fault, FaultCode, Plan, Reading, TaskPosition, ToolInfo, Tools, UnknownName};
use crate::paths::graph_of;

/// Tools with strict schemas, and the prompt `research/outline@2`.
struct Workshop {
    tools: HashMap<&'static str, ToolInfo>,
}

fn tool(id: &str, input: Value, output: Option<Value>, position: TaskPosition) -> ToolInfo {
    let schema = Schema::compile(&input).unwrap();
    ToolInfo {
        pinned: format!("{id}@1"),
        check_input: Arc::new(move |value, unknown| schema.known_violations(value, unknown)),
        output_schema: output.map(Arc::new),
        position,
        deterministic: false,
    }
}

fn workshop() -> Workshop {
    let search = json!({
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["pattern"],
        "additionalProperties": false,
    });
    let found = json!({
        "type": "object",
        "properties": {
            "files": {"type": "array", "items": {"type": "object", "properties": {"path": {"type": "string"}},
                "additionalProperties": false}},
            "count": {"type": "integer"},
        },
        "additionalProperties": false,
    });
    let any = json!({"type": "object"});
    let tools = [
        ("grep:search", tool("grep:search", search, Some(found), TaskPosition::Anywhere)),
        ("any:tool", tool("any:tool", any.clone(), None, TaskPosition::Anywhere)),
        (
            "powerstrip:complete_workflow",
            tool("powerstrip:complete_workflow", any.clone(), None, TaskPosition::End),
        ),
        (
            "powerstrip:search_tools",
            tool("powerstrip:search_tools", any, None, TaskPosition::Nowhere),
        ),
    ];
    Workshop { tools: HashMap::from(tools) }
}

impl Tools for Workshop {
    fn find(&self, name: &str) -> Result<ToolInfo, UnknownName> {
        let id = name.strip_suffix("@1").unwrap_or(name);
        self.tools.get(id).cloned().ok_or_else(|| UnknownName {
            message: format!("there is no tool `{name}`; did you mean `grep:search`?"),
            nearest: vec!["grep:search".to_owned(), "any:tool".to_owned()],
        })
    }

    fn prompt(&self, reference: &str) -> Result<String, UnknownName> {
        match reference {
            "research/outline" | "research/outline@2" => Ok("research/outline@2".to_owned()),
            other => Err(UnknownName {
                message: format!("there is no prompt `{other}`"),
                nearest: vec!["research/outline".to_owned()],
            }),
        }
    }
}

fn dag(tasks: Value) -> Reading {
    Reading::of_dag(&json!({"tasks": tasks}))
}

fn plan(tasks: Value) -> Plan {
    Plan::of(dag(tasks), &workshop()).unwrap()
}

/// The faults of a DAG as `code path`.
fn faults(tasks: Value) -> Vec<String> {
    let faults = Plan::of(dag(tasks), &workshop()).unwrap_err();
    faults.iter().map(show).collect()
}

fn show(fault: &Fault) -> String {
    format!("{} {}", json!(fault.code).as_str().unwrap(), fault.path)
}

/// The only fault of a DAG.
fn fault(tasks: Value) -> Fault {
    let faults = Plan::of(dag(tasks), &workshop()).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.into_iter().next().unwrap()
}

fn call(id: &str) -> Value {
    json!({"id": id, "tool": "any:tool"})
}

#[test]
fn values_that_could_not_be_read_again_or_have_long_keys_are_refused() {
    let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    let with = |arguments: Value| json!({"id": "a", "tool": "any:tool", "arguments": arguments});
    let mut each = with(json!({}));
    each["for_each"] = nest(65);
    let mut undone = with(json!({}));
    undone["compensate"] = json!({"tool": "any:tool", "arguments": {"y": nest(65)}});
    let long = "k".repeat(1_025);
    for (task, path) in [
        (with(json!({"x": nest(65)})), "/arguments/x"),
        (with(json!({"x": {long.clone(): ["{{ item"]}})), "/arguments/x"),
        (each, "/for_each"),
        (undone, "/compensate/arguments/y"),
    ] {
        let mut inner = task.clone();
        inner["id"] = "in".into();
        let found = faults(json!([task, {"id": "w", "workflow": {"tasks": [inner]}}]));
        let expected =
            [format!("limit /tasks/0{path}"), format!("limit /tasks/1/workflow/tasks/0{path}")];
        assert_eq!(found, expected);
    }
    let most = json!({"x": nest(64), "k".repeat(1_024): 1});
    let plan = plan(json!([with(most)]));
    let deeper = json!({"x": nest(65)}).as_object().unwrap().clone();
    let faults = plan.with_arguments("a", deeper, &workshop()).unwrap_err();
    assert_eq!(faults.iter().map(show).collect::<Vec<_>>(), ["limit /arguments/x"]);
    assert_eq!(faults[0].message, "the value is nested 65 levels deep; 64 are allowed");
}

#[test]
fn all_faults_are_reported_at_once() {
    let found = faults(json!([
        {"id": "a", "tool": "grep:serch", "depends_on": ["missing"]},
        {"id": "a", "tool": "grep:search", "arguments": {"pattern": 7, "limit": 0, "deep": true}},
        {"id": "c d", "tool": "any:tool", "when": "tasks.a.output ==", "arguments": {
            "x": "{{ tasks.z.output }}", "y": "{{ 1 | lenght }}", "z": "{{ who }}"}},
        {"id": "e", "tool": "any:tool", "retry": {"max": 11}, "depends_on": ["f"]},
        {"id": "f", "tool": "any:tool", "arguments": {"x": "{{ tasks.e.output }}"}},
        {"id": "g", "tool": "any:tool", "workflow": {"tasks": []}, "timeout_ms": 0},
        {"id": "h", "tool": "any:tool", "argumnts": {}, "on_error": "explode", "depends_on": "a", "when": null},
        {"id": "i", "retry": {"max": -1}, "workflow": {"nme": "x", "tasks": [
            {"id": "j", "tool": "grep:serch", "on_eror": "skip"}, 7]}},
    ]));
    let expected = [
        "unknown_tool /tasks/0/tool",
        "bad_arguments /tasks/1/arguments",
        "bad_arguments /tasks/1/arguments/limit",
        "bad_arguments /tasks/1/arguments/pattern",
        "bad_expression /tasks/2/when",
        "bad_expression /tasks/2/arguments/y",
        "bad_reference /tasks/2/arguments/z",
        "limit /tasks/3/retry/max",
        "unknown_tool /tasks/5",
        "limit /tasks/5/timeout_ms",
        "bad_arguments /tasks/5/timeout_ms",
        "limit /tasks/5/workflow/tasks",
        "duplicate_id /tasks/1/id",
        "limit /tasks/2/id",
        "unknown_dependency /tasks/0/depends_on/0",
        "bad_reference /tasks/2/arguments/x",
        "cycle /tasks",
        "bad_arguments /tasks/6/argumnts",
        "bad_arguments /tasks/6/on_error",
        "bad_arguments /tasks/6/depends_on",
        "bad_arguments /tasks/7/retry",
        "bad_arguments /tasks/7/workflow/nme",
        "unknown_tool /tasks/7/workflow/tasks/0/tool",
        "bad_arguments /tasks/7/workflow/tasks/0/on_eror",
        "bad_arguments /tasks/7/workflow/tasks/1",
        "unknown_tool /tasks/7/workflow/tasks/1",
        "limit /tasks/7/workflow/tasks/1/id",
    ];
    let sort = |list: &mut Vec<String>| list.sort();
    let (mut found, mut expected) = (found, expected.map(ToOwned::to_owned).to_vec());
    sort(&mut found);
    sort(&mut expected);
    assert_eq!(found, expected);
    for (value, path) in [(json!([]), ""), (json!({}), "/tasks"), (json!({"tasks": {}}), "/tasks")]
    {
        let found = Plan::of(Reading::of_dag(&value), &workshop()).unwrap_err();
        assert_eq!(found[0].path, path, "{value}");
    }
    let long = json!({"tasks": [{"id": "a", "tool": "any:tool", ("x".repeat(100_000)): 1}]});
    let found = Plan::of(Reading::of_dag(&long), &workshop()).unwrap_err();
    assert!(found[0].path.len() + found[0].message.len() < 2_000, "{found:?}");
}

#[test]
fn cycles_are_named_in_order() {
    let found = fault(json!([
        {"id": "a", "tool": "any:tool", "depends_on": ["b"]},
        {"id": "b", "tool": "any:tool", "arguments": {"x": "{{ tasks.c.output }}"}},
        {"id": "c", "tool": "any:tool", "when": "tasks.a.status == 'success'"},
    ]));
    assert_eq!(found.message, "cycle: a → b → c → a");
    let found =
        fault(json!([{"id": "a", "tool": "any:tool", "arguments": {"x": "{{ tasks.a.output }}"}}]));
    assert_eq!(found.message, "cycle: a → a");
}

#[test]
fn only_the_first_faults_come_with_a_similar_name() {
    let text = "{{ tasks.find-2.output }} ".repeat(300);
    let tasks = json!([
        {"id": "find-1", "tool": "any:tool"},
        {"id": "use", "tool": "any:tool", "arguments": {"text": text}},
        {"id": "after", "tool": "any:tool", "depends_on": ["find-3", "find-4"]},
    ]);
    let faults = Plan::of(dag(tasks), &workshop()).unwrap_err();
    let hinted = faults.iter().filter(|fault| fault.message.contains("did you mean")).count();
    assert!(faults.len() > 300 && hinted == MAX_HINTS, "{hinted} of {}", faults.len());
}

#[test]
fn unknown_tools_come_with_the_nearest_names() {
    let found = fault(json!([{"id": "a", "tool": "grep:serch"}]));
    assert_eq!(found.code, FaultCode::UnknownTool);
    assert!(found.message.contains("`grep:search`") && found.message.contains("`any:tool`"));
    let found = fault(json!([
        {"id": "a", "tool": "any:tool", "compensate": {"tool": "grep:serch"}}
    ]));
    assert_eq!(show(&found), "unknown_tool /tasks/0/compensate/tool");
    let found = fault(json!([{"id": "a", "tool": "powerstrip:search_tools"}]));
    assert!(found.message.contains("cannot be a task"), "{}", found.message);
}

#[test]
fn references_are_checked_against_the_output_schema() {
    let with = |text: &str| {
        json!([
            {"id": "find-1", "tool": "grep:search", "arguments": {"pattern": "x"}},
            {"id": "all", "tool": "grep:search", "arguments": {"pattern": "{{ item }}"}, "for_each": ["a", "b"]},
            {"id": "sub", "arguments": {"dir": "x"}, "workflow": {"tasks": [
                {"id": "in", "tool": "grep:search", "arguments": {"pattern": "{{ input.dir }}"}}]}},
            {"id": "use", "tool": "any:tool", "arguments": {"x": text}},
        ])
    };
    for good in [
        "{{ tasks.find-1.output.files[0].path }}",
        "{{ tasks.find-1.output.files.0.path }}",
        "{{ tasks[\"find-1\"].output['count'] + 1 }}",
        "{{ tasks.find-1.output.files | map(attribute='path') | join(', ') }}",
        "{{ tasks.find-1.status }} {{ tasks.find-1.error.code }}",
        "{{ tasks.all.output[1].files }}",
        "{{ tasks.sub.output.in.files[2] }}",
        "{# {{ tasks.missing.output }} #}x",
        "{{ 'tasks.missing.output' }}",
        "{{ {'tasks': tasks.all.output}.tasks | length }}",
    ] {
        let made = Plan::of(dag(with(good)), &workshop());
        assert!(made.is_ok(), "{good}: {made:?}");
    }
    for (bad, part) in [
        ("{{ tasks.find-1.output.fils }}", "did you mean `files`?"),
        (
            "{{ tasks.find-1.output.files[0].name }}",
            "`tasks.find-1.output.files[0].name` cannot exist",
        ),
        ("{{ tasks.find-1.output.count.x }}", "cannot exist"),
        ("{{ tasks.find-1.output.files.path }}", "cannot exist"),
        ("n: {{ tasks.find-1.output.total + 1 }}", "`tasks.find-1.output.total` cannot exist"),
        ("{{ tasks.all.output.files }}", "a list, because of `for_each`"),
        ("{{ tasks.sub.output.out }}", "the ids of its tasks"),
        ("{{ tasks.sub.output.in.total }}", "cannot exist"),
        ("{{ tasks.find-2.output }}", "did you mean `find-1`?"),
        ("{{ tasks.find-1 }}", "`output`, `status` and `error`"),
        ("{{ tasks.find-1.result }}", "`output`, `status` and `error`"),
        ("{{ tasks.find-1.status.x }}", "the status is a text"),
        ("{{ tasks.find-1.error.kind }}", "an error has"),
        ("{{ tasks | length }}", "name one task"),
        ("{{ item }}", "for_each"),
        ("{{ input.x }}", "sub-workflow"),
        ("{{ task.find }}", "did you mean `tasks`?"),
        ("{{ prompt('research/outlin') }}", "`research/outline`"),
        ("{{ prompt(tasks.sub.output.in.count) }}", "takes the name as a text"),
    ] {
        let found = fault(with(bad));
        assert_eq!(show(&found), "bad_reference /tasks/3/arguments/x", "{bad}");
        assert!(found.message.contains(part), "{bad}: {}", found.message);
    }
    let with_list = |list: &str| {
        let mut tasks = with("x");
        tasks[3]["for_each"] = list.into();
        tasks
    };
    for good in
        ["tasks.find-1.output.files", "{{ tasks.all.output }}", "tasks.find-1.error.details", "[1]"]
    {
        let made = Plan::of(dag(with_list(good)), &workshop());
        assert!(made.is_ok(), "{good}: {made:?}");
    }
    for (bad, part) in [
        ("tasks.find-2.output", "did you mean `find-1`?"),
        ("{{ tasks.find-1.output.fils }}", "did you mean `files`?"),
        ("tasks.find-1.output.fils | sort", "did you mean `files`?"),
        ("{{ tasks.find-1.output.count }}", "`tasks.find-1.output.count` is never one"),
        ("tasks.find-1.output", "is never one"),
        ("tasks.sub.output", "is never one"),
        ("tasks.find-1.status", "is never one"),
        ("item", "only the arguments"),
        ("input.x", "sub-workflow"),
        ("fils", "there is no `fils` here"),
    ] {
        let found = fault(with_list(bad));
        assert_eq!(show(&found), "bad_reference /tasks/3/for_each", "{bad}");
        assert!(found.message.contains(part), "{bad}: {}", found.message);
    }
    for bad in [
        "{{ tasks. }}",
        "{{ 1 is prim }}",
        "{{ x",
        "{% if %}",
        "{% include 'x' %}",
        "{% if 1 %}x{% endif %}",
        "{%- set x = 1 -%}",
        "{% raw %}x{% endraw %}",
        "{# c #}{% set x = 1 %}",
        "{{ 1 }}{%",
        &format!("{{{{ {}1 }}}}", "not ".repeat(5_000)),
    ] {
        let found = faults(with(bad));
        assert_eq!(found[0], "bad_expression /tasks/3/arguments/x", "{bad}");
    }
    let mut tasks = with("x");
    tasks[2]["workflow"]["tasks"][0]["when"] = json!("{% set x = 1 %}");
    tasks[3]["for_each"] = json!("{% set x = 1 %}[1]");
    tasks[3]["compensate"] = json!({"tool": "any:tool", "arguments": {"x": ["{% set x = 1 %}"]}});
    let found = faults(tasks);
    for path in [
        "bad_expression /tasks/2/workflow/tasks/0/when",
        "bad_expression /tasks/3/for_each",
        "bad_expression /tasks/3/compensate/arguments/x/0",
    ] {
        assert!(found.iter().any(|found| found == path), "{path}: {found:?}");
    }
}

#[test]
fn a_sub_workflow_sees_only_its_own_tasks_and_input() {
    let sub = |text: &str| {
        json!([
            {"id": "out", "tool": "any:tool"},
            {"id": "sub", "arguments": {"dir": "{{ tasks.out.output }}"}, "workflow": {"tasks": [
                {"id": "in", "tool": "any:tool", "arguments": {"x": text}}]}},
        ])
    };
    let made = plan(sub("{{ input.dir }}"));
    assert_eq!(made.tasks[1].depends_on, [0]);
    assert_eq!(made.layers(), 2);
    let found = fault(sub("{{ input.dirr }}"));
    assert_eq!(show(&found), "bad_reference /tasks/1/workflow/tasks/0/arguments/x");
    assert!(found.message.contains("did you mean `dir`?"));
    assert!(
        fault(sub("{{ tasks.out.output }}")).message.contains("the sub-workflow has no task `out`")
    );
}

#[test]
fn arguments_are_checked_as_far_as_they_are_known() {
    let with = |arguments: Value| json!([{"id": "a", "tool": "any:tool"}, {"id": "b", "tool": "grep:search", "arguments": arguments}]);
    for good in [
        json!({"pattern": "{{ tasks.a.output }}", "limit": "{{ tasks.a.output.n }}"}),
        json!({"pattern": "x {{ tasks.a.output }}"}),
    ] {
        assert!(Plan::of(dag(with(good.clone())), &workshop()).is_ok(), "{good}");
    }
    for (bad, path) in [
        (json!({}), ""),
        (json!({"pattern": "x", "limit": "10"}), "/limit"),
        (json!({"pattern": "x", "limit": "{{ tasks.a.output }}0"}), "/limit"),
        (json!({"pattern": ["{{ tasks.a.output }}"]}), "/pattern"),
        (json!({"limit": "{{ tasks.a.output }}"}), ""),
        (json!({"pattern": "{{ tasks.a.output }}", "more": 1}), ""),
    ] {
        let found = fault(with(bad.clone()));
        assert_eq!(show(&found), format!("bad_arguments /tasks/1/arguments{path}"), "{bad}");
    }
    let undo = json!([{"id": "a", "tool": "any:tool", "compensate": {"tool": "grep:search", "arguments": {"pattern": 1}}}]);
    assert_eq!(show(&fault(undo)), "bad_arguments /tasks/0/compensate/arguments/pattern");
}

#[test]
fn names_are_pinned() {
    let made = plan(json!([
        {"id": "a", "tool": "any:tool", "arguments": {"x": "{{ prompt('research/outline', topic=prompt(\"research/outline@2\")) }}"},
         "compensate": {"tool": "any:tool", "arguments": {"x": "{{ tasks.a.output.id }}"}}},
    ]));
    let task = &made.tasks[0].task;
    assert_eq!(task.tool.as_deref(), Some("any:tool@1"));
    let text = "{{ prompt('research/outline@2', topic=prompt(\"research/outline@2\")) }}";
    assert_eq!(task.arguments["x"], text);
    assert_eq!(task.compensate.as_ref().unwrap().tool, "any:tool@1");
    assert!(made.tasks[0].depends_on.is_empty(), "a task may undo itself with its own output");
    assert_eq!(
        Plan::of(made.dag().into(), &workshop()),
        Ok(made.clone()),
        "a pinned plan plans to itself"
    );
    let stored = serde_json::to_value(&made).unwrap();
    assert_eq!(serde_json::from_value::<Plan>(stored).unwrap(), made);
}

#[test]
fn limits_are_refused_with_their_number() {
    let calls = |count: usize| (0..count).map(|n| call(&format!("t{n}"))).collect::<Vec<_>>();
    let size = |tasks: Value| graph_of(&plan(tasks)).size();
    let chain = |count: usize| {
        let task = |n: usize| {
            let before: Vec<_> = n.checked_sub(1).map(|n| format!("t{n}")).into_iter().collect();
            json!({"id": format!("t{n}"), "tool": "any:tool", "depends_on": before})
        };
        (0..count).map(task).collect::<Vec<_>>()
    };
    let items = |count: usize| {
        let items: Vec<_> = (0..count).collect();
        json!([{"id": "a", "tool": "any:tool", "for_each": items}])
    };
    let nested = |depth: usize| {
        let inner = (0..depth)
            .fold(call("a"), |inner, _| json!({"id": "a", "workflow": {"tasks": [inner]}}));
        json!([inner])
    };
    assert_eq!(size(json!(calls(500))), 500);
    assert_eq!(plan(json!(chain(100))).layers(), 100);
    assert_eq!(size(items(500)), 500);
    assert_eq!(size(nested(3)), 4);
    let widest = json!([{"id": "a", "for_each": [1, 2], "workflow": {"tasks": calls(249)}}]);
    assert_eq!(size(widest), 500);
    assert!(plan(json!([call(&"x".repeat(100))])).tasks.len() == 1);
    let too_wide = json!([{"id": "a", "for_each": [1, 2], "workflow": {"tasks": calls(250)}}]);
    for (bad, path, part) in [
        (json!(calls(501)), "/tasks", "501"),
        (json!([]), "/tasks", "1 to 500"),
        (json!(chain(101)), "/tasks", "at most 100 layers; this one has 101"),
        (items(10_000), "/tasks", "10000"),
        (too_wide, "/tasks", "502"),
        (
            nested(4),
            "/tasks/0/workflow/tasks/0/workflow/tasks/0/workflow/tasks/0/workflow",
            "at most 3 deep",
        ),
        (json!([call(&"x".repeat(101))]), "/tasks/0/id", "1 to 100"),
        (json!([call("")]), "/tasks/0/id", "1 to 100"),
        (json!([call("a.b")]), "/tasks/0/id", "letters, digits"),
        (
            json!([{"id": "a", "tool": "any:tool", "retry": {"max": 1, "backoff_ms": 60_001}}]),
            "/tasks/0/retry/backoff_ms",
            "60000 ms",
        ),
        (
            json!([{"id": "a", "tool": "any:tool", "arguments": {"x": format!("{{{{ 1 }}}}{}", "x".repeat(65_536))}}]),
            "/tasks/0/arguments/x",
            "65536 are allowed",
        ),
    ] {
        let found = fault(bad);
        assert_eq!(
            (found.code, found.path.as_str()),
            (FaultCode::Limit, path),
            "{}",
            found.message
        );
        assert!(found.message.contains(part), "{}", found.message);
    }
}
