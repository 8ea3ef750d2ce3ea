//! Damaged rows of runs, approvals and rules: each is named, and concerns no one else. SQLite only: there a test can write to
//! the database.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Gateway, SqliteConnection, eventually, on_postgres, send};

use crate::servers::approvals::{Reviewer, setup};
use crate::servers::support::wait_until_listed;

/// Executes a statement in the database of a gateway, as another program.
fn execute(gateway: &Gateway, sql: &str) {
    drop(SqliteConnection::execute(&gateway.folder().join(".powerstrip/powerstrip.db"), sql));
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str()).collect()
}

fn failure(answer: &testkit::Response) -> (u16, &Value, &Value, &str) {
    let error = &answer.body["errors"][0];
    let message = error["message"].as_str().unwrap_or_default();
    (answer.status, &error["code"], &error["retryable"], message)
}

/// Makes a call that needs approval, and leaves when it waits; returns the id of its approval.
async fn leave(reviewer: &Reviewer<'_>, text: &str) -> String {
    let input = json!({"text": text});
    let call = reviewer.gateway.call("pack.note", &input);
    let waits = eventually("the call waits", || async {
        let pending = reviewer.get("/v1/approvals").await.body;
        let pending = pending["approvals"].as_array()?;
        let own = pending.iter().find(|row| row["arguments"].to_string().contains(text))?;
        own["id"].as_str().map(str::to_owned)
    });
    tokio::select! {
        answer = call => panic!("the call did not wait for approval: {answer:?}"),
        id = waits => id,
    }
}

/// Its row is written together with the audit rows of all calls.
#[tokio::test]
async fn a_damaged_run_stops_no_other_call_and_no_restart() {
    if on_postgres() {
        return;
    }
    let gateway = Gateway::start().await;
    let call = async |gateway: &Gateway, run: &str| {
        let input = json!({"message": "x"});
        gateway.call_with("demo.echo", &input, &[("powerstrip-run", run)]).await.status
    };
    assert_eq!((call(&gateway, "r1").await, call(&gateway, "r2").await), (200, 200));
    let runs = gateway.get("/v1/runs").await.body;
    assert_eq!(ids(&runs["runs"]).len(), 2, "{runs:#}");
    let long = "{".repeat(300);
    execute(&gateway, &format!("UPDATE runs SET artifacts = '{long}' WHERE name = 'r1'"));
    for _ in 0..2 {
        assert_eq!((call(&gateway, "r1").await, call(&gateway, "r2").await), (200, 200));
        let listed = gateway.get("/v1/runs").await.body;
        assert_eq!(listed["runs"][0]["name"], "r2", "{listed:#}");
        assert_eq!(listed["damaged"][0]["column"], "artifacts", "{listed:#}");
        assert_eq!(gateway.get("/readyz").await.status, 200);
    }
    let listed = gateway.get("/v1/runs").await.body;
    let id = listed["damaged"][0]["id"].as_str().unwrap();
    let shown = gateway.get(&format!("/v1/runs/{id}")).await;
    let (status, code, retryable, message) = failure(&shown);
    assert_eq!((status, code, retryable), (500, &json!("INTERNAL"), &json!(false)), "{shown:?}");
    assert!(message.contains(id) && message.contains("artifacts"), "{message}");
    let command = gateway.run(&["runs"]).await;
    assert_eq!(command.code, Some(0), "{command:?}");
    assert!(command.stdout.contains("r2") && command.stderr.contains(id), "{command:?}");

    let gateway = gateway.restart().await;
    assert_eq!(call(&gateway, "r2").await, 200);
    assert_eq!(call(&gateway, "r1").await, 500, "only the damaged run fails");
}

#[tokio::test]
async fn a_damaged_audit_row_hides_no_other_call() {
    if on_postgres() {
        return;
    }
    let gateway = Gateway::start().await;
    assert_eq!(gateway.call("demo.echo", &json!({"message": "x"})).await.status, 200);
    let called = eventually("the call is listed", || async {
        let listed = gateway.get("/v1/calls?tool=demo.echo").await.body;
        listed["calls"].get(0).cloned()
    })
    .await;
    for columns in ["x'00', duration_us", "arguments, 'long'"] {
        let insert = "INSERT INTO audit_rows (trace, at_ms, kind, arguments, duration_us)";
        let select = format!("SELECT trace, at_ms, kind, {columns} FROM audit_rows");
        let number = &called["number"];
        execute(&gateway, &format!("{insert} {select} WHERE seq = {number}"));
    }
    let listed = gateway.get("/v1/calls?tool=demo.echo").await;
    assert_eq!((listed.status, &listed.body["calls"][0]), (200, &called), "{listed:?}");
    let damaged = &listed.body["damaged"];
    let columns: Vec<_> = [1, 0].map(|at| damaged[at]["column"].clone()).into();
    assert_eq!(columns, ["arguments", "duration_us"], "{damaged:#}");
    assert_eq!(damaged[0]["trace_id"], called["trace_id"], "{damaged:#}");
    let counted = gateway.get("/v1/overview").await;
    assert_eq!((counted.status, &counted.body["damaged"]), (200, &json!(1)), "{counted:?}");
    let trace = called["trace_id"].as_str().unwrap();
    let shown = gateway.get(&format!("/v1/calls/{trace}")).await;
    assert_eq!((shown.status, &shown.body["damaged"]), (200, &json!([damaged[1], damaged[0]])));
    let command = gateway.run(&["calls"]).await;
    assert_eq!(command.code, Some(0), "{command:?}");
    assert!(command.stdout.contains("demo.echo"), "{command:?}");
    assert!(command.stderr.contains("its arguments cannot be read"), "{command:?}");
}

#[tokio::test]
async fn a_damaged_approval_or_rule_does_not_refuse_the_start_and_allows_nothing() {
    if on_postgres() {
        return;
    }
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let ruled = leave(&reviewer, "ruled").await;
    let standing = json!({"decision": "approve", "standing": {}});
    assert_eq!(reviewer.decide(&ruled, &standing).await.status, 200);
    let any = json!({"decision": "approve", "standing": {"arguments": "any", "run": true}});
    let decide = async {
        let row = reviewer.waiting().await;
        reviewer.decide(row["id"].as_str().unwrap(), &any).await.status
    };
    let input = json!({"text": "in a run"});
    let call = gateway.call_with("pack.note", &input, &[("powerstrip-run", "r1")]);
    let (answer, decided) = tokio::join!(call, decide);
    assert_eq!((answer.status, decided), (200, 200), "{answer:?}");
    let first = leave(&reviewer, "first").await;
    let second = leave(&reviewer, "second").await;
    let database = gateway.folder().join(".powerstrip/powerstrip.db");
    let damage = format!(
        "UPDATE approvals SET definition = x'7b' WHERE id IN ('{first}', '{ruled}'); \
         UPDATE approvals SET deadline_ms = 'soon' WHERE id = '{first}'; \
         UPDATE approval_rules SET arguments_digest = NULL, run = NULL"
    );
    let gateway = gateway
        .restart_after(|_| {
            for statement in damage.split("; ") {
                drop(SqliteConnection::execute(&database, statement));
            }
        })
        .await;
    wait_until_listed(&gateway, "pack_note").await;

    let reviewer = Reviewer::of(&gateway);
    let waiting = reviewer.get("/v1/approvals").await.body;
    assert_eq!(ids(&waiting["approvals"]), [second.as_str()], "{waiting:#}");
    assert_eq!(waiting["damaged"], json!([{"id": first, "column": "definition"}]));
    let approve = reviewer.decide(&first, &json!({"decision": "approve"})).await;
    let shown = reviewer.get(&format!("/v1/approvals/{first}")).await;
    for answer in [approve, shown] {
        let (status, code, retryable, message) = failure(&answer);
        assert_eq!(
            (status, code, retryable),
            (500, &json!("INTERNAL"), &json!(false)),
            "{answer:?}"
        );
        assert!(message.contains(&first) && message.contains("definition"), "{message}");
    }
    let command = gateway.run(&["approvals"]).await;
    assert_eq!(command.code, Some(0), "{command:?}");
    assert!(command.stdout.contains(&second) && command.stderr.contains(&first), "{command:?}");
    let reject = json!({"decision": "reject"});
    assert_eq!(reviewer.decide(&second, &reject).await.status, 200, "the other one is decided");

    // What the damaged approval and the damaged rule were for is asked about again.
    for text in ["ruled", "first", "never seen"] {
        let input = json!({"text": text});
        let call = gateway.call("pack.note", &input);
        let (answer, _) = tokio::join!(call, reviewer.decide_next("reject"));
        assert_eq!(answer.status, 403, "{text}: {answer:?}");
    }
    let rules = reviewer.get("/v1/approvals/rules").await.body;
    let columns = [0, 1].map(|n| &rules["damaged"][n]["column"]);
    assert_eq!(columns, ["arguments_digest", "rule_digest"], "{rules:#}");
    assert_eq!(ids(&rules["rules"]).len(), 0, "{rules:#}");
    for id in ids(&rules["damaged"]) {
        let url = gateway.url(&format!("/v1/approvals/rules/{id}"));
        let remove = reqwest::Client::new().request(Method::DELETE, url);
        let removed = send(remove.bearer_auth(gateway.admin_token())).await;
        assert_eq!(removed.status, 200, "{removed:?}");
    }
    assert_eq!(reviewer.get("/v1/approvals/rules").await.body["damaged"], Value::Null);
}

#[tokio::test]
async fn an_approval_that_shows_another_call_is_never_approved_and_lets_nothing_through() {
    if on_postgres() {
        return;
    }
    let gateway = setup("").await;
    let reviewer = Reviewer::of(&gateway);
    let change = |id: &str, what: &str| {
        execute(&gateway, &format!("UPDATE approvals SET {what} WHERE id = '{id}'"));
    };
    for (text, what) in [("one", "tool = 'demo.echo'"), ("two", "definition = x'00'")] {
        let id = leave(&reviewer, text).await;
        change(&id, what);
        let listed = reviewer.get("/v1/approvals").await.body;
        assert_eq!(ids(&listed["damaged"]), [id.as_str()], "{listed:#}");
        let approved = reviewer.decide(&id, &json!({"decision": "approve"})).await;
        let (status, code, _, message) = failure(&approved);
        assert_eq!((status, code), (500, &json!("INTERNAL")), "{approved:?}");
        assert!(message.contains("reject it"), "{message}");
        let rejected = reviewer.decide(&id, &json!({"decision": "reject"})).await;
        assert_eq!((rejected.status, &rejected.body["state"]), (200, &json!("rejected")));
        let again = reviewer.decide(&id, &json!({"decision": "reject"})).await;
        assert_eq!(again.status, 409, "{again:?}");
    }

    let arguments = "arguments = '{\"text\":\"other\"}'";
    for (text, what) in [("three", "files = '[{}]'"), ("four", arguments)] {
        let id = leave(&reviewer, text).await;
        assert_eq!(reviewer.decide(&id, &json!({"decision": "approve"})).await.status, 200);
        change(&id, what);
        let input = json!({"text": text});
        let call = gateway.call("pack.note", &input);
        let (answer, row) = tokio::join!(call, reviewer.decide_next("reject"));
        assert_eq!(answer.status, 403, "{what}: the call asks again: {answer:?}");
        assert_ne!(row["id"], json!(id));
    }

    let id = leave(&reviewer, "five").await;
    change(&id, "owner = 'x'");
    let rejected = gateway.run(&["approvals", "reject", &id[..8]]).await;
    assert_eq!(rejected.code, Some(0), "{rejected:?}");
}
