//! The page of a workflow's run.

use reqwest::StatusCode;
use serde_json::{Value, json};
use testkit::{Gateway, GuardedGateway, eventually};

use crate::dashboard::support::{Person, gateway};

/// Starts a workflow that pauses after each layer, and returns the page of its run.
async fn paused(gateway: &Gateway, workflow: Value) -> String {
    let input = json!({"workflow": workflow, "config": {"per_layer_validation": true}});
    let answer = gateway.call("powerstrip:execute_dag", &input).await.body;
    assert_eq!(answer["data"]["status"], "layer_complete", "{answer:#}");
    let id = answer["data"]["workflow_id"].as_str().unwrap();
    format!("/dashboard/runs/run_{}", id.replace('-', ""))
}

fn echo(id: &str, after: &[&str]) -> Value {
    json!({"id": id, "tool": "demo.echo", "depends_on": after, "arguments": {"message": format!("said by {id}")}})
}

#[tokio::test]
async fn the_page_of_a_run_draws_its_workflow_and_exports_it() {
    let gateway = gateway().start().await;
    let task = |id: &str, after: &[&str]| {
        json!({"id": id, "tool": "demo.echo", "depends_on": after,
            "arguments": {"message": format!("<b>{id}</b>")}})
    };
    let input = json!({"workflow": {"tasks": [task("first", &[]), task("second", &["first"])]},
        "config": {"per_layer_validation": true}});
    let answer = gateway.call("powerstrip:execute_dag", &input).await.body;
    assert_eq!(answer["data"]["status"], "layer_complete", "{answer:#}");
    let id = answer["data"]["workflow_id"].as_str().unwrap();
    let run = format!("run_{}", id.replace('-', ""));

    let person = Person::signed_in(&gateway).await;
    let listed = person.get("/dashboard/runs").await.text;
    assert!(listed.contains(&run), "{listed}");
    let page = person.get(&format!("/dashboard/runs/{run}")).await.text;
    for part in [
        "2 tasks in 2 layers",
        "id=\"task-first\"",
        "node pending",
        "waiting to continue with task second",
        "1 of 2 tasks done",
        "Output of the last layer",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("&lt;b&gt;first") && !page.contains("<b>first"), "{page}");
    let export = format!("/dashboard/runs/{run}/graph.svg");
    assert!(page.contains(&export), "{page}");
    let drawn = person.get(&export).await;
    assert_eq!(drawn.status, StatusCode::OK);
    assert!(drawn.text.starts_with("<svg") && drawn.text.contains("second"), "{}", drawn.text);
    let missing =
        person.get("/dashboard/runs/run_00000000000000000000000000000000/graph.svg").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_workflow_is_steered_on_its_page_and_shows_its_result() {
    let gateway = gateway().start().await;
    let tasks = [echo("first", &[]), echo("second", &["first"]), echo("extra", &["first"])];
    let place = paused(&gateway, json!({"name": "Morning <report>", "tasks": tasks})).await;
    let person = Person::signed_in(&gateway).await;
    let listed = person.get("/dashboard/runs").await.text;
    for part in ["Morning &lt;report&gt;", "waiting to continue"] {
        assert!(listed.contains(part), "{part}: {listed}");
    }
    let page = person.get(&format!("{place}?task=first")).await.text;
    let open = "id=\"task-first\" open";
    for part in ["Continue", "Abort…", "Skip task", open, "class=\"timeline\"", "attempt 1: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("Retry task"), "nothing failed: {page}");

    let (csrf, steer) = (person.csrf(), format!("{place}/steer"));
    let foreign = person.post(&steer, &[("csrf", "made up"), ("do", "continue")]).await;
    assert_eq!(foreign.status, StatusCode::FORBIDDEN);
    let skipped = person.post(&steer, &[("csrf", &csrf), ("do", "skip"), ("task", "extra")]).await;
    assert_eq!(skipped.status, StatusCode::SEE_OTHER, "{}", skipped.text);
    let unknown = person.post(&steer, &[("csrf", &csrf), ("do", "skip"), ("task", "none")]).await;
    assert!(unknown.status.is_client_error(), "{}", unknown.text);
    for _ in 0..2 {
        let done = person.post(&steer, &[("csrf", &csrf), ("do", "continue")]).await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    }
    let page = person.get(&place).await.text;
    let (result, tasks) = (page.find("said by second"), page.find("id=\"tasks\""));
    assert!(result.is_some() && result < tasks, "the result comes first: {page}");
    assert!(page.contains("complete") && !page.contains("Abort…"), "{page}");
    eventually("commands are audited", || async {
        let calls = person.get("/dashboard/calls").await.text;
        calls.contains("powerstrip:continue").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_failed_task_is_shown_first_and_can_be_retried_and_the_workflow_aborted() {
    let gateway = gateway().start().await;
    let failing = json!({"id": "order", "tool": "orders.create", "arguments": {"customer": "{{ tasks.first.output.message }}", "lines": "{{ [] }}"}});
    let mut other = failing.clone();
    other["id"] = json!("other");
    let after = echo("after", &["order"]);
    let place =
        paused(&gateway, json!({"tasks": [echo("first", &[]), failing, other, after]})).await;
    let person = Person::signed_in(&gateway).await;
    let (csrf, steer) = (person.csrf(), format!("{place}/steer"));
    person.post(&steer, &[("csrf", &csrf), ("do", "continue")]).await;
    let page = person.get(&place).await.text;
    let (head, _) = page.split_once("id=\"tasks\"").unwrap();
    for part in [
        "INVALID_INPUT",
        "task=order#",
        "task=other#",
        "Retry task",
        "tasks that need a failed one are skipped",
    ] {
        assert!(head.contains(part), "{part}: {page}");
    }
    assert!(page.contains("waiting for a decision: tasks order, other failed"), "{page}");
    assert!(page.contains("1 of 4 tasks done, 2 failed"), "{page}");
    assert!(page.contains("demo.echo 20"), "it is called by its first tool and time: {page}");
    let retried = person.post(&steer, &[("csrf", &csrf), ("do", "retry"), ("task", "order")]).await;
    assert_eq!(retried.status, StatusCode::SEE_OTHER, "{}", retried.text);
    let page = person.get(retried.header("location")).await.text;
    assert!(page.contains("was called again and failed again"), "{page}");
    assert!(page.contains("2 attempts"), "{page}");
    let aborted = person.post(&steer, &[("csrf", &csrf), ("do", "abort"), ("reason", "")]).await;
    assert_eq!(aborted.status, StatusCode::SEE_OTHER, "{}", aborted.text);
    let page = person.get(&place).await.text;
    assert!(page.contains("aborted") && page.contains(">not run<"), "{page}");
}

#[tokio::test]
async fn an_approval_is_reached_from_the_run_and_leads_back() {
    let gateway = gateway().start().await;
    let task = json!({"id": "publish", "tool": "demo.echo", "arguments": {"message": "to <all>"},
        "approval": {"reason": "everyone reads it"}});
    let input = json!({"workflow": {"name": "Newsletter", "tasks": [task]}});
    let answer = gateway.call("powerstrip:execute_dag", &input).await.body;
    let id = answer["data"]["workflow_id"].as_str().unwrap().to_owned();
    let place = format!("/dashboard/runs/run_{}", id.replace('-', ""));
    let person = Person::signed_in(&gateway).await;
    let page = person.get(&place).await.text;
    let (head, _) = page.split_once("Abort…").unwrap();
    for part in ["everyone reads it", "to &lt;all&gt;", "demo.echo", "Review and decide"] {
        assert!(head.contains(part), "{part}: {page}");
    }
    let (before, _) = head.split_once("\">Review and decide").unwrap();
    let approval = before.rsplit_once("href=\"").unwrap().1.to_owned();
    let page = person.get(&approval).await.text;
    assert!(page.contains(&format!("href=\"{place}\"")) && page.contains("Newsletter"), "{page}");
    let shown = gateway.run(&["workflows", "show", &id]).await;
    assert!(shown.ok().contains("everyone reads it"), "{shown:?}");
    let csrf = person.csrf();
    let decision = [("csrf", csrf.as_str()), ("decision", "reject"), ("reason", "too early")];
    person.post(&approval, &decision).await;
    let decided = person.get(&approval).await.text;
    assert!(decided.contains("Back to Newsletter"), "{decided}");
    eventually("the page says what is possible", || async {
        let page = person.get(&place).await.text;
        page.contains("powerstrip:replan").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_workflow_runs_again_with_changes() {
    let gateway = gateway().start().await;
    let tasks = json!({"name": "twice", "tasks": [echo("only", &[])]});
    let input = json!({"workflow": tasks});
    let answer = gateway.call("powerstrip:execute_dag", &input).await.body;
    assert_eq!(answer["data"]["status"], "complete", "{answer:#}");
    let id = answer["data"]["workflow_id"].as_str().unwrap().replace('-', "");
    let place = format!("/dashboard/runs/run_{id}/again");
    let person = Person::signed_in(&gateway).await;
    let form = person.get(&place).await.text;
    assert!(form.contains("name: twice") && form.contains("said by only"), "{form}");
    assert!(form.find("id: only") < form.find("tool: demo.echo"), "{form}");
    assert!(form.find("tool: demo.echo") < form.find("arguments:"), "{form}");
    assert!(!form.contains("depends_on"), "{form}");
    let csrf = person.csrf();
    let fields = |dag: &'static str| {
        [("csrf", csrf.clone()), ("key", "k1".to_owned()), ("dag", dag.to_owned())]
    };
    let post = async |dag: &'static str| {
        let fields = fields(dag);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        person.post(&place, &fields).await
    };
    let refused = post("tasks: [{id: a, tool: none.such}]").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused.text.matches("/tasks/0/tool").count(), 1, "{}", refused.text);
    assert!(refused.text.contains("none.such"), "{}", refused.text);
    let dag = "name: thrice\ntasks: [{id: only, tool: demo.echo, arguments: {message: changed}}]";
    let started = post(dag).await;
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
    let other = started.header("location").to_owned();
    assert!(!other.contains(&id), "{other}");
    assert_eq!(
        post(dag).await.header("location"),
        other,
        "a form that is sent twice starts one workflow"
    );
    let page = person.get(&other).await.text;
    assert!(page.contains("thrice") && page.contains("changed"), "{page}");
}

#[tokio::test]
async fn only_the_owner_and_operators_steer_a_workflow() {
    let setup = GuardedGateway::start(gateway(), "").await;
    let scopes = "tools:read tools:call runs:read";
    let token = |name: &str| setup.token(json!({"org": "acme", "sub": name, "scope": scopes}));
    let bearer = format!("Bearer {}", token("ann"));
    let tasks = [echo("first", &[]), echo("second", &["first"])];
    let input = json!({"workflow": {"tasks": tasks}, "config": {"per_layer_validation": true}});
    let headers = [("authorization", bearer.as_str())];
    let started = setup.gateway.call_with("powerstrip:execute_dag", &input, &headers).await.body;
    let id = started["data"]["workflow_id"].as_str().unwrap().replace('-', "");
    let place = format!("/dashboard/runs/run_{id}");
    let go_on = async |person: &Person<'_>| {
        let csrf = person.csrf();
        let fields = [("csrf", csrf.as_str()), ("do", "continue")];
        person.post(&format!("{place}/steer"), &fields).await.status
    };

    let bob = Person::with(&setup.gateway, &token("bob")).await;
    let page = bob.get(&place).await.text;
    assert!(page.contains("Only its owner and operators") && !page.contains("Abort…"), "{page}");
    assert_eq!(go_on(&bob).await, StatusCode::NOT_FOUND);
    let reader = setup.token(json!({"org": "acme", "sub": "ann", "scope": "runs:read"}));
    let reader = Person::with(&setup.gateway, &reader).await;
    assert!(!reader.get(&place).await.text.contains("Abort…"));
    assert_eq!(go_on(&reader).await, StatusCode::FORBIDDEN);
    let ann = Person::with(&setup.gateway, &token("ann")).await;
    assert!(ann.get(&place).await.text.contains("Abort…"));
    assert_eq!(go_on(&ann).await, StatusCode::SEE_OTHER);
    let operator = Person::signed_in(&setup.gateway).await;
    assert_eq!(go_on(&operator).await, StatusCode::SEE_OTHER);
    assert!(ann.get(&place).await.text.contains("said by second"));
}

#[tokio::test]
async fn an_intent_is_planned_on_a_page_and_runs_from_it() {
    let gateway = gateway().start().await;
    let person = Person::signed_in(&gateway).await;
    let page = "/dashboard/workflows/new";
    assert!(person.get(page).await.text.contains("What should be done?"));
    let csrf = person.csrf();
    let intent = "Echo a message with demo.echo";
    let fields = [("csrf", csrf.as_str()), ("intent", intent), ("do", "plan")];
    let planned = person.post(page, &fields).await;
    assert_eq!(planned.status, StatusCode::OK);
    for part in ["task-demo-echo", "<svg", "missing:string:task-demo-echo:message", "confidence"] {
        assert!(planned.text.contains(part), "{part}: {}", planned.text);
    }
    let tasks = r#"[{"id": "task-demo-echo", "tool": "demo.echo", "arguments": {}}]"#;
    let given = [
        ("csrf", csrf.as_str()),
        ("intent", intent),
        ("tasks", tasks),
        ("missing:string:task-demo-echo:message", "hello"),
        ("do", "run"),
    ];
    let started = person.post(page, &given).await;
    assert_eq!(started.status, StatusCode::SEE_OTHER, "{}", started.text);
    assert!(started.header("location").starts_with("/dashboard/runs/run_"));
    let wrong = [("csrf", csrf.as_str()), ("intent", "Water the tomatoes"), ("do", "plan")];
    assert_eq!(person.post(page, &wrong).await.status, StatusCode::UNPROCESSABLE_ENTITY);
}
