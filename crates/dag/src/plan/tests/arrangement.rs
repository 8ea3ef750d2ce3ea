use proptest::prelude::*;

use super::*;
use crate::paths::graph_of;
use crate::plan::Present;

fn layers(plan: &Plan) -> Vec<(&str, usize)> {
    plan.tasks.iter().map(|task| (task.task.id.as_str(), task.layer)).collect()
}

fn present(made: &Plan, from_layer: usize) -> Present {
    Present { size: graph_of(made).size(), from_layer }
}

fn tasks(list: Value) -> Reading {
    Reading::of_tasks(&list)
}

#[test]
fn templates_add_dependencies_everywhere() {
    let made = plan(json!([
        {"id": "d", "tool": "any:tool", "for_each": "tasks.c.output.list", "arguments": {"x": "{{ item.name }} {{ index }}"}},
        {"id": "c", "tool": "any:tool", "when": "{{ tasks.b.output.n > 1 }}"},
        {"id": "b", "tool": "any:tool", "arguments": {"deep": [{"x": "see {{ tasks.a.output }}"}]}},
        {"id": "a", "tool": "any:tool"},
        {"id": "e", "tool": "any:tool", "for_each": ["{{ tasks.d.output[0] }}"],
         "compensate": {"tool": "any:tool", "arguments": {"x": "{{ tasks.e.output }} {{ item }}"}}},
    ]));
    assert_eq!(layers(&made), [("d", 3), ("c", 2), ("b", 1), ("a", 0), ("e", 4)]);
}

#[test]
fn the_task_that_ends_the_run_comes_last() {
    let end = |id: &str| json!({"id": id, "tool": "powerstrip:complete_workflow"});
    let made =
        plan(json!([end("end"), call("a"), {"id": "b", "tool": "any:tool", "depends_on": ["a"]}]));
    assert_eq!(layers(&made), [("end", 2), ("a", 0), ("b", 1)]);
    assert!(made.tasks[0].depends_on.is_empty(), "it runs even if an optional task failed");
    let more = made.extend(tasks(json!([call("c")])), present(&made, 2), &workshop()).unwrap();
    assert_eq!(layers(&more), [("end", 3), ("a", 0), ("b", 1), ("c", 2)]);
    let twice =
        made.extend(tasks(json!([end("again")])), present(&made, 2), &workshop()).unwrap_err();
    assert_eq!(twice.iter().map(show).collect::<Vec<_>>(), ["limit /tasks"]);
    let after = json!([end("end"), {"id": "b", "tool": "any:tool", "depends_on": ["end"]}]);
    assert_eq!(faults(after), ["unknown_dependency /tasks/1/depends_on"]);
    let inner = json!([{"id": "sub", "workflow": {"tasks": [end("end")]}}]);
    assert_eq!(faults(inner), ["unknown_tool /tasks/0/workflow/tasks/0/tool"]);
    let items = json!([{"id": "end", "tool": "powerstrip:complete_workflow", "for_each": [1, 2]}]);
    assert_eq!(faults(items), ["unknown_tool /tasks/0/tool"]);
}

#[test]
fn injected_tasks_come_in_a_later_layer() {
    let made = plan(json!([call("a"), {"id": "b", "tool": "any:tool", "depends_on": ["a"]}]));
    let more = json!([
        {"id": "d", "tool": "any:tool", "arguments": {"x": "{{ tasks.c.output }}"}},
        {"id": "c", "tool": "any:tool", "arguments": {"x": "{{ tasks.a.output }}"}},
    ]);
    let more = made.extend(tasks(more), present(&made, 1), &workshop()).unwrap();
    assert_eq!(layers(&more), [("a", 0), ("b", 1), ("d", 2), ("c", 1)]);
    let taken = made.extend(tasks(json!([call("a")])), present(&made, 1), &workshop()).unwrap_err();
    assert_eq!(taken.iter().map(show).collect::<Vec<_>>(), ["duplicate_id /tasks/0/id"]);
    let many: Vec<_> = (0..499).map(|n| call(&format!("t{n}"))).collect();
    let many = made.extend(tasks(json!(many)), present(&made, 1), &workshop()).unwrap_err();
    assert!(many[0].message.contains("501"), "{many:?}");
}

#[test]
fn new_arguments_refer_to_earlier_layers_only() {
    let made = plan(json!([
        call("a"),
        {"id": "b", "tool": "grep:search", "arguments": {"pattern": "{{ tasks.a.output }}"}},
        {"id": "c", "tool": "any:tool", "depends_on": ["b"]},
    ]));
    let with = |arguments: Value| {
        made.with_arguments("b", arguments.as_object().unwrap().clone(), &workshop())
    };
    let plain = with(json!({"pattern": "x"})).unwrap();
    assert_eq!(plain.tasks[1].task.arguments["pattern"], "x");
    assert_eq!(layers(&plain), layers(&made), "layers stay as they are");
    for (bad, code) in [
        (json!({"pattern": "{{ tasks.c.output }}"}), FaultCode::BadReference),
        (json!({"pattern": "{{ tasks.b.output }}"}), FaultCode::BadReference),
        (json!({"pattern": 3}), FaultCode::BadArguments),
        (json!({"pattern": "{{ | }}"}), FaultCode::BadExpression),
    ] {
        let found = with(bad.clone()).unwrap_err();
        assert_eq!(found.iter().map(|fault| fault.code).collect::<Vec<_>>(), [code], "{bad}");
    }
    let missing = made.with_arguments("z", serde_json::Map::new(), &workshop()).unwrap_err();
    assert_eq!(missing[0].path, "/task_id");
}

/// Tasks that refer to others by `depends_on` or by a template.
fn any_dag() -> impl Strategy<Value = Vec<(Vec<usize>, Vec<usize>)>> {
    let few = || prop::collection::vec(0_usize..14, 0..3);
    prop::collection::vec((few(), few()), 1..14)
}

fn build(edges: &[(Vec<usize>, Vec<usize>)]) -> Value {
    let name = |n: &usize| format!("t-{}", n % edges.len());
    let tasks = edges.iter().enumerate().map(|(at, (declared, used))| {
        let texts: Vec<_> = used.iter().map(|n| format!("{{{{ tasks.{}.output.x }}}}", name(n))).collect();
        let declared: Vec<_> = declared.iter().map(name).collect();
        json!({"id": format!("t-{at}"), "tool": "any:tool", "depends_on": declared, "arguments": {"x": texts}})
    });
    tasks.collect()
}

proptest! {
    #[test]
    fn every_dag_is_layered_or_its_cycle_is_named(edges in any_dag()) {
        match Plan::of(dag(build(&edges)), &workshop()) {
            Ok(plan) => {
                for (at, task) in plan.tasks.iter().enumerate() {
                    let all = edges[at].0.iter().chain(&edges[at].1).map(|n| n % edges.len());
                    let mut all: Vec<_> = all.collect();
                    all.sort_unstable();
                    all.dedup();
                    let mut found = task.depends_on.clone();
                    found.sort_unstable();
                    prop_assert_eq!(&found, &all);
                    let above = found.iter().map(|other| plan.tasks[*other].layer + 1).max();
                    prop_assert_eq!(task.layer, above.unwrap_or(0));
                }
                prop_assert_eq!(Plan::of(plan.dag().into(), &workshop()), Ok(plan));
            }
            Err(faults) => {
                for fault in faults {
                    prop_assert_eq!(fault.code, FaultCode::Cycle);
                    let names: Vec<_> = fault.message["cycle: ".len()..].split(" → ").collect();
                    prop_assert_eq!(names.first(), names.last());
                    for pair in names.windows(2) {
                        let at = |name: &str| name["t-".len()..].parse::<usize>().unwrap();
                        let (from, to) = (at(pair[0]), at(pair[1]));
                        let edge = &edges[from];
                        prop_assert!(edge.0.iter().chain(&edge.1).any(|n| n % edges.len() == to));
                    }
                }
            }
        }
    }

    #[test]
    fn extending_never_moves_what_is_there(edges in any_dag(), more in any_dag(), from in 0_usize..20) {
        let Ok(made) = Plan::of(dag(build(&edges)), &workshop()) else { return Ok(()) };
        let names = |n: &usize| format!("t-{}", n % edges.len());
        let new = more.iter().enumerate().map(|(at, (declared, _))| {
            let declared: Vec<_> = declared.iter().map(names).collect();
            json!({"id": format!("new-{at}"), "tool": "any:tool", "depends_on": declared})
        });
        let extended = made.extend(tasks(new.collect()), present(&made, from), &workshop()).unwrap();
        prop_assert_eq!(&extended.tasks[..made.tasks.len()], &made.tasks[..]);
        for task in &extended.tasks[made.tasks.len()..] {
            let above = task.depends_on.iter().map(|other| extended.tasks[*other].layer + 1).max();
            prop_assert_eq!(task.layer, above.unwrap_or(0).max(from));
        }
    }

    #[test]
    fn any_text_is_planned_without_a_panic(text in "[ -~]{0,30}", braces in any::<bool>()) {
        let text = if braces { format!("{{{{ tasks.a.{text} }}}}") } else { text };
        let tasks = json!([
            call("a"),
            {"id": "b", "tool": "any:tool", "arguments": {"x": text}, "when": text, "for_each": text},
        ]);
        let _ = Plan::of(dag(tasks), &workshop());
    }
}
