//! Limits at run time: large outputs, long lists, rates.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::workflows::support::{
    as_admin, call, ledger, pair, per_layer, ready, start, statuses, with_ledger, work,
};

const GATED: &str = "skills:\n  careful: { tools: ['t:deploy'], auto_approve: false }\n";

/// The largest output of a task.
const MAX_OUTPUT: usize = 16 << 20;

/// A tool whose output, as JSON, is as long as its argument says.
const BIG: &str = r#"
id: big.text
version: 1.0.0
description: Answers with a long text.
deterministic: false
inputSchema: { type: object, required: [bytes], properties: { bytes: { type: string } } }
outputSchema: { type: object, required: [text], properties: { text: { type: string } } }
limits: { maxOutputBytes: 33554432 }
execution: { kind: cli, cmd: [python3, -c, "import json, sys; print(json.dumps({'text': 'x' * (int(sys.argv[1]) - 11)}))", '{{ input.bytes }}'] }
"#;

#[tokio::test]
async fn an_output_of_16_mb_is_kept_and_a_larger_one_fails_its_task() {
    let limits = "limits: { max: { max_output_bytes: 32MB } }\n";
    let gateway = with_ledger(limits).file("tools/big.tool.yaml", BIG).start().await;
    ready(&gateway).await;
    let task = |id: &str, bytes: usize| json!({"id": id, "tool": "big.text", "on_error": "skip", "arguments": {"bytes": bytes.to_string()}});
    let length = json!({"id": "n", "tool": "t:work", "arguments": {"task": "n", "value": "{{ tasks.a.output.text | length }}"}});
    let tasks = json!([task("a", MAX_OUTPUT), task("b", MAX_OUTPUT + 1), length]);
    let input = json!({"workflow": {"tasks": tasks}, "config": {"wait_ms": 120_000}});
    let answer = call(&gateway, "execute_dag", input).await;
    let text = answer.to_string();
    let shown = &text[..text.len().min(1_000)];
    let ended = [pair("a", "success"), pair("b", "failed"), pair("n", "success")];
    assert_eq!(statuses(&answer["results"]), ended, "{shown}");
    assert_eq!(answer["results"][2]["output"]["value"], MAX_OUTPUT - 11, "{shown}");
    let error = &answer["results"][1]["error"];
    assert_eq!(error["code"], "UNSUPPORTED", "{error}");
    assert!(error["message"].as_str().unwrap().contains("larger than 16 MB"), "{error}");
    let reference = answer["results"][0]["output"]["ref_id"].as_str();
    let reference = reference.unwrap_or_else(|| panic!("{shown}"));
    let content = gateway.get(&format!("/v1/files/{reference}/content")).await;
    assert_eq!(content.body["text"].as_str().map(str::len), Some(MAX_OUTPUT - 11));
}

#[tokio::test]
async fn a_list_that_a_tool_returns_must_fit_into_the_workflow() {
    let gateway = start("").await;
    let tasks = |items: u64| {
        json!([
            {"id": "list", "tool": "t:work", "arguments": {"task": "list", "items": items}},
            {"id": "each", "tool": "demo.echo", "for_each": "{{ tasks.list.output.items }}", "arguments": {"message": "{{ item }}."}},
        ])
    };
    let run = async |items: u64| {
        let input = json!({"workflow": {"tasks": tasks(items)}, "config": {"wait_ms": 120_000}});
        call(&gateway, "execute_dag", input).await
    };
    let fits = run(499).await;
    assert_eq!(fits["status"], "complete", "{}", &fits.to_string()[..500]);
    assert_eq!(fits["results"][1]["output"].as_array().unwrap().len(), 499);
    for items in [500, 10_000] {
        let refused = run(items).await;
        assert_eq!(refused["status"], "failed");
        let error = &refused["results"][1]["error"];
        let expected = format!("there are {items} items, but only 499 more tasks fit");
        assert!(error["message"].as_str().unwrap().contains(&expected), "{error}");
        assert_eq!(error["details"]["path"], "/for_each", "{error}");
        assert_eq!(refused["results"][1].get("items"), None, "nothing of it runs");
    }
}

/// serde_json writes any depth, and reads 127 levels.
#[tokio::test]
async fn no_command_output_or_template_makes_a_workflow_that_cannot_be_read() {
    let gateway = start("").await;
    let nest =
        |levels: usize, leaf: Value| (0..levels).fold(leaf, |inner, _| Value::Array(vec![inner]));
    let mut a = work("a", &[]);
    a["arguments"]["value"] = nest(40, json!(1));
    a["compensate"] = json!({"tool": "t:undo", "arguments": {"task": "undo a"}});
    let mut b = work("b", &["a"]);
    b["arguments"]["value"] = nest(40, json!("{{ tasks.a.output.value }}"));
    b["on_error"] = "continue".into();
    let paused = call(&gateway, "execute_dag", per_layer(json!([a, b, work("c", &["b"])]))).await;
    let id = paused["workflow_id"].clone();
    let deep = nest(100, json!(1));
    let modify =
        json!({"workflow_id": id, "task_id": "c", "arguments": {"task": "c", "value": deep}});
    let mut more = work("d", &["b"]);
    more["arguments"]["value"] = deep.clone();
    let inject = json!({"workflow_id": id, "tasks": [more]});
    for (tool, input) in [("modify_args", modify), ("inject_tasks", inject)] {
        let refused = call(&gateway, tool, input).await;
        let fault = &refused["error"]["data"]["faults"][0];
        assert_eq!(fault["code"], "limit", "{tool}: {refused}");
        let message = fault["message"].as_str().unwrap();
        assert!(message.contains("100 levels deep; 64 are allowed"), "{tool}: {message}");
    }
    let next = call(&gateway, "continue", json!({"workflow_id": id})).await;
    let error = &next["layer_results"][0]["error"];
    assert_eq!(error["code"], "INVALID_INPUT", "{next:#}");
    assert!(error["message"].as_str().unwrap().contains("80 levels deep; 64 are"), "{error}");

    let gateway = gateway.restart().await;
    ready(&gateway).await;
    let report = call(&gateway, "workflow_status", json!({"workflow_id": id})).await;
    assert_eq!(report["state"], "paused", "{report:#}");
    let abort = json!({"workflow_id": id, "reason": "enough"});
    assert_eq!(call(&gateway, "abort", abort).await["status"], "aborted");
    assert_eq!(ledger(&gateway), ["a", "undo a"]);
}

/// The number of items that ran, and of lists that were refused.
fn fan_out(results: &Value) -> (usize, usize) {
    let results = results.as_array().unwrap();
    let ran = results.iter().filter_map(|result| result["items"].as_array());
    let refused = results.iter().filter(|result| {
        let message = result["error"]["message"].as_str().unwrap_or_default();
        message.contains("more tasks fit")
    });
    (ran.map(Vec::len).sum(), refused.count())
}

#[tokio::test]
async fn lists_of_one_layer_in_sub_workflows_and_injected_tasks_share_the_limit() {
    let gateway = start("").await;
    let list = |items: u64| json!({"id": "list", "tool": "t:work", "arguments": {"task": "list", "items": items}});
    let each = |id: &str| json!({"id": id, "tool": "demo.echo", "on_error": "skip", "for_each": "tasks.list.output.items", "arguments": {"message": "."}});
    let run = async |tasks: Value| {
        let config = json!({"wait_ms": 120_000, "per_layer_validation": true});
        let first =
            call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}, "config": config}))
                .await;
        let next = json!({"workflow_id": first["workflow_id"], "wait_ms": 120_000});
        call(&gateway, "continue", next).await
    };
    let six = json!([list(150), each("a"), each("b"), each("c"), each("d"), each("e"), each("f")]);
    assert_eq!(fan_out(&run(six).await["layer_results"]), (450, 3));

    let inner = json!({"id": "in", "tool": "demo.echo", "for_each": "input.list", "arguments": {"message": "."}});
    let nested = json!([list(300), {
        "id": "each", "on_error": "skip", "for_each": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        "arguments": {"list": "{{ tasks.list.output.items }}"}, "workflow": {"tasks": [inner]},
    }]);
    let answer = run(nested).await;
    let items =
        answer["layer_results"][0]["items"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let done = items.iter().filter(|item| item["status"] == "success").count();
    assert_eq!((items.len(), done), (10, 1), "{items:#?}");

    let paused = run(json!([list(400), each("a")])).await;
    assert_eq!(fan_out(&paused["layer_results"]), (400, 0));
    let inject = async |gateway: &testkit::Gateway, count: usize| {
        let more: Vec<_> = (0..count).map(|n| work(&format!("t{n}"), &[])).collect();
        call(gateway, "inject_tasks", json!({"workflow_id": paused["workflow_id"], "tasks": more}))
            .await
    };
    let refused = inject(&gateway, 100).await;
    let fault = &refused["error"]["data"]["faults"][0];
    assert!(fault["message"].as_str().unwrap().ends_with("this one has 501"), "{refused}");
    let gateway = gateway.restart().await;
    ready(&gateway).await;
    assert_eq!(inject(&gateway, 100).await["error"]["code"], -32602, "after a restart, too");
    assert_eq!(inject(&gateway, 99).await["status"], "replanned");
}

/// Sixty calls whose arguments have 30 kB each wait for a person.
#[tokio::test]
async fn arguments_that_do_not_fit_are_read_at_their_approval() {
    let gateway = start(GATED).await;
    let text = "x".repeat(30_000);
    let items: Vec<_> = (0..60).collect();
    let tasks = json!([{"id": "each", "tool": "t:deploy", "for_each": items, "arguments": {"task": "t{{ index }}", "value": text}}]);
    let paused = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    assert_eq!(paused["checkpoint_type"], "approval_required", "{:.500}", paused.to_string());
    let decisions = paused["decisions"].as_array().unwrap();
    assert_eq!(decisions.len(), 60);
    let whole = |decision: &&Value| decision["arguments"]["value"] == text;
    assert!(decisions.iter().any(|decision| whole(&decision)), "those that fit are there");
    let cut = decisions.iter().find(|decision| !whole(decision)).unwrap();
    assert_eq!(cut["arguments"]["omitted"], true, "{cut}");
    let (method, path) = cut["arguments"]["read"].as_str().unwrap().split_once(' ').unwrap();
    assert_eq!((method, path.ends_with(cut["approval_id"].as_str().unwrap())), ("GET", true));
    let approval = as_admin(&gateway, reqwest::Method::GET, path, &Value::Null).await;
    let arguments = approval.body["arguments"].as_str().unwrap_or_else(|| panic!("{approval:?}"));
    assert!(arguments.contains(&text), "a person sees all of it: {arguments}");
    let id = json!({"workflow_id": paused["workflow_id"]});
    let report = call(&gateway, "workflow_status", id.clone()).await;
    assert_eq!(report["checkpoint"]["decisions"].as_array().unwrap().len(), 60);
    let abort = json!({"workflow_id": paused["workflow_id"], "reason": "r".repeat(1_000_000)});
    assert_eq!(call(&gateway, "abort", abort).await["status"], "aborted");
}

/// The answer of the layer just fits, and the report has its tasks and events besides.
#[tokio::test]
async fn a_report_of_an_answer_that_just_fits_has_references() {
    let gateway = start("").await;
    let task = |n: usize| json!({"id": format!("t{n}"), "tool": "t:work", "arguments": {"task": "x", "bytes": 16_850}});
    let tasks: Vec<_> = (0..61).map(task).collect();
    let answer = call(&gateway, "execute_dag", per_layer(json!(tasks))).await;
    let size = answer.to_string().len();
    assert!((1_030_000..1_044_480).contains(&size), "{size} bytes");
    assert!(!answer.to_string().contains("ref_id"));
    let id = json!({"workflow_id": answer["workflow_id"]});
    let report = call(&gateway, "workflow_status", id.clone()).await;
    let results = report["checkpoint"]["layer_results"].as_array();
    let results = results.unwrap_or_else(|| panic!("{:.500}", report.to_string()));
    assert!(results.iter().any(|result| result["output"]["ref_id"].is_string()));
    assert!(results.iter().all(|result| result["output"].get("omitted").is_none()));
    assert_eq!(call(&gateway, "continue", id.clone()).await["status"], "complete");
    let report = call(&gateway, "workflow_status", id).await;
    assert_eq!(report["state"], "ended", "{:.500}", report.to_string());
    assert_eq!(report["checkpoint"]["results"].as_array().unwrap().len(), 61);
}

#[tokio::test]
async fn rate_limits_hold_for_tasks() {
    let gateway = start("limits: { rate: { tools: { 't:work': 2/10m } } }\n").await;
    let soft = |id: &str| {
        let mut task = work(id, &[]);
        task["on_error"] = "skip".into();
        task
    };
    let tasks = json!([soft("a"), soft("b"), soft("c")]);
    let answer = call(&gateway, "execute_dag", json!({"workflow": {"tasks": tasks}})).await;
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let (done, refused): (Vec<&Value>, Vec<_>) =
        results.iter().partition(|result| result["status"] == "success");
    assert_eq!((done.len(), refused.len()), (2, 1), "{answer:#}");
    assert_eq!(refused[0]["error"]["code"], "RATE_LIMIT", "{answer:#}");
    assert_eq!(refused[0]["error"]["retryable"], true, "{answer:#}");
    assert_eq!(ledger(&gateway).len(), 2);
}

/// More than stay in memory: those that pause leave it at once, and are read from the database for their next command.
#[tokio::test]
async fn a_hundred_paused_workflows_all_go_on() {
    let gateway = start("").await;
    let layers = || per_layer(json!([work("a", &[]), work("b", &["a"])]));
    let started = join_all((0..100).map(|_| call(&gateway, "execute_dag", layers()))).await;
    assert!(started.iter().all(|answer| answer["status"] == "layer_complete"), "{started:#?}");
    let ids = started.iter().map(|answer| json!({"workflow_id": answer["workflow_id"]}));
    let ended = join_all(ids.map(|id| call(&gateway, "continue", id))).await;
    let done = |answer: &Value| statuses(&answer["layer_results"]) == [pair("b", "success")];
    assert_eq!(ended.iter().filter(|answer| done(answer)).count(), 100, "{:#}", ended[0]);
}
