//! `kill -9` of the gateway during side-effecting calls: a retry with the same key never runs the tool twice.
//!
//! The tool appends a line to a file and syncs it, so the file shows how often it ran, independently of the gateway.
#![expect(clippy::disallowed_methods, reason = "a test is a client of the gateway")]

use std::path::Path;
use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};
use store::{AuditFilter, AuditRow, Database};
use testkit::{Gateway, Response, SqliteConnection, eventually, on_postgres};

use crate::boundary::packs::python;

/// Appends the given name, syncs, sleeps for the given time, and answers with a unique value.
const ACT: &str = "import json, os, sys, time, uuid
input = json.loads(sys.stdin.readline())['input']
ledger = os.open(input['ledger'], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
os.write(ledger, (input['name'] + '\\n').encode())
os.fsync(ledger)
time.sleep(input.get('sleep', 0))
print(json.dumps({'id': str(uuid.uuid4())}))
";

struct Setup {
    gateway: Gateway,
    ledger: tempfile::TempDir,
}

impl Setup {
    /// A gateway whose tool is declared with `more`.
    async fn start(more: &str, config: &str) -> Self {
        let ledger = tempfile::tempdir().expect("a folder");
        let root = ledger.path().display();
        let caps =
            format!("deterministic: false\ncaps: {{ files: {{ write: ['{root}'] }} }}\n{more}");
        let files = python("t.act", ACT, &caps);
        let gateway = files
            .iter()
            .fold(Gateway::with().config(config), |gateway, (path, text)| gateway.file(path, text))
            .start()
            .await;
        Self { gateway, ledger }
    }

    fn input(&self, name: &str, sleep: f64) -> Value {
        json!({"ledger": self.ledger.path().join("ledger"), "name": name, "sleep": sleep})
    }

    /// How often the tool ran with a name.
    fn effects(&self, name: &str) -> usize {
        effects(self.ledger.path(), name)
    }

    fn all_effects(&self) -> usize {
        let ledger = std::fs::read_to_string(self.ledger.path().join("ledger"));
        ledger.unwrap_or_default().lines().count()
    }

    async fn act(&self, name: &str, sleep: f64) -> Response {
        let key = [("idempotency-key", name)];
        self.gateway.call_with("t.act", &self.input(name, sleep), &key).await
    }

    /// Sends a call without waiting for its answer; returns when it has taken effect.
    async fn act_and_look(&self, name: &str, headers: &[(&str, &str)]) {
        let mut call = Client::new().post(self.gateway.url("/mcp/tool/t.act"));
        for (name, value) in headers {
            call = call.header(*name, *value);
        }
        let call = call.json(&self.input(name, 60.0));
        tokio::spawn(async move { call.send().await });
        eventually("the tool has acted", || async { (self.effects(name) == 1).then_some(()) })
            .await;
    }

    /// Kills the gateway and starts it again on the same data.
    async fn crash(self) -> Self {
        Self { gateway: crash(self.gateway).await, ledger: self.ledger }
    }

    async fn rows(&self) -> Vec<AuditRow> {
        let database =
            Database::open(&self.gateway.folder().join(".powerstrip")).await.expect("it opens");
        let rows = database.audit_rows(AuditFilter::default()).await.expect("rows");
        database.close().await;
        rows
    }
}

fn effects(folder: &Path, name: &str) -> usize {
    let ledger = std::fs::read_to_string(folder.join("ledger")).unwrap_or_default();
    ledger.lines().filter(|line| *line == name).count()
}

async fn crash(gateway: Gateway) -> Gateway {
    let pid = rustix::process::Pid::from_raw(gateway.pid().cast_signed()).expect("a process id");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it can be killed");
    gateway.restart().await
}

fn outcome(answer: &Response) -> (u16, &Value, &Value, &Value) {
    let error = &answer.body["errors"][0];
    (answer.status, &error["code"], &error["details"]["outcome"], &error["retryable"])
}

#[tokio::test]
async fn a_recorded_answer_survives_a_crash() {
    let setup = Setup::start("", "").await;
    let first = setup.act("order", 0.0).await;
    assert_eq!(first.status, 200, "{}", first.body);
    let setup = setup.crash().await;
    let again = setup.act("order", 0.0).await;
    assert_eq!(again.body["data"], first.body["data"], "{}", again.body);
    assert_eq!(setup.effects("order"), 1);
    let key = [("idempotency-key", "order")];
    let other = setup.gateway.call_with("t.act", &setup.input("x", 0.0), &key).await;
    assert_eq!(other.body["errors"][0]["code"], "INVALID_INPUT", "one key, other arguments");
    assert_eq!(setup.effects("x"), 0);
}

/// SQLite only: there a test can write to the database.
#[tokio::test]
async fn a_call_whose_record_is_damaged_is_not_repeated_and_not_retryable() {
    if on_postgres() {
        return;
    }
    let setup = Setup::start("", "").await;
    assert_eq!(setup.act("order", 0.0).await.status, 200);
    let database = setup.gateway.folder().join(".powerstrip/powerstrip.db");
    let Setup { gateway, ledger } = setup;
    let damage = "UPDATE call_records SET arguments = x'00'";
    let gateway =
        gateway.restart_after(|_| drop(SqliteConnection::execute(&database, damage))).await;
    let setup = Setup { gateway, ledger };
    let again = setup.act("order", 0.0).await;
    let damaged = (500, &json!("INTERNAL"), &json!("unknown"), &json!(false));
    assert_eq!(outcome(&again), damaged, "{}", again.body);
    assert!(again.body["errors"][0]["message"].to_string().contains("new key"), "{}", again.body);
    assert_eq!(setup.effects("order"), 1);
}

#[tokio::test]
async fn an_interrupted_call_is_not_repeated() {
    let setup = Setup::start("", "").await;
    setup.act_and_look("order", &[("idempotency-key", "order")]).await;
    let setup = setup.crash().await;
    let retried = setup.act("order", 60.0).await;
    let unknown = (503, &json!("UNAVAILABLE"), &json!("unknown"), &json!(false));
    assert_eq!(outcome(&retried), unknown, "{}", retried.body);
    assert_eq!(setup.effects("order"), 1);
    let rows = setup.rows().await;
    let interrupted: Vec<_> = rows.iter().filter(|row| row.decision == "interrupted").collect();
    assert_eq!(interrupted.len(), 1, "{rows:?}");
    assert_eq!(
        (&*interrupted[0].tool, interrupted[0].blame.as_deref()),
        ("t.act", Some("gateway"))
    );
}

#[tokio::test]
async fn an_idempotent_tool_is_repeated_after_a_crash() {
    let setup = Setup::start("annotations: { idempotentHint: true }", "").await;
    setup.act_and_look("order", &[("idempotency-key", "order")]).await;
    let setup = setup.crash().await;
    tokio::select! {
        answer = setup.act("order", 60.0) => panic!("{}", answer.body),
        () = eventually("it runs again", || async { (setup.effects("order") == 2).then_some(()) }) => {}
    }
}

#[tokio::test]
async fn an_approval_is_spent_before_the_tool_runs() {
    const GATED: &str =
        "skills: { asked: { tools: [t.act], auto_approve: false, approval_timeout: 60s } }";
    let setup = Setup::start("", GATED).await;
    let admin = async |gateway: &Gateway, id: &str, decision: Option<Value>| -> Value {
        let url = gateway.url(&format!("/v1/approvals{id}"));
        let client = Client::new();
        let request = match decision {
            Some(decision) => client.post(url).json(&decision),
            None => client.get(url),
        };
        let request = request.bearer_auth(gateway.admin_token());
        request.send().await.expect("an answer").json().await.expect("JSON")
    };
    let approved = async {
        let id = eventually("the call waits", || async {
            let waiting = admin(&setup.gateway, "", None).await;
            waiting["approvals"][0]["id"].as_str().map(|id| format!("/{id}"))
        })
        .await;
        admin(&setup.gateway, &id, Some(json!({"decision": "approve"}))).await;
        id
    };
    let key = [("idempotency-key", "order")];
    let (id, ()) = tokio::join!(approved, setup.act_and_look("order", &key));
    let setup = setup.crash().await;
    let row = admin(&setup.gateway, &id, None).await;
    assert_eq!(row["state"], "consumed", "{row}");
    // No approval is requested for a call that could not run.
    let retried = setup.act("order", 60.0).await;
    let unknown = (503, &json!("UNAVAILABLE"), &json!("unknown"), &json!(false));
    assert_eq!(outcome(&retried), unknown, "{}", retried.body);
    assert_eq!(setup.effects("order"), 1);
    let rows = setup.rows().await;
    assert_eq!(rows.iter().filter(|row| row.decision == "interrupted").count(), 1, "{rows:?}");
}

#[tokio::test]
async fn an_interrupted_call_without_a_key_is_audited() {
    let setup = Setup::start("", "").await;
    setup.act_and_look("order", &[]).await;
    // No caller waits for this row; it is written at the latest with the row of a later call.
    assert_eq!(setup.act("other", 0.0).await.status, 200);
    let setup = setup.crash().await;
    let rows = setup.rows().await;
    assert_eq!(rows.iter().filter(|row| row.decision == "interrupted").count(), 1, "{rows:?}");
}

/// Kills the gateway repeatedly while calls have taken effect and are not answered.
#[tokio::test]
async fn no_idempotency_key_runs_twice_across_repeated_crashes() {
    const KILLS: usize = 3;
    let mut setup = Setup::start("", "limits: { idempotency: 1h }").await;
    let mut answers: Vec<Option<Value>> = vec![None; 32];
    for round in 0..=KILLS {
        let calls = answers.iter().enumerate().map(|(number, known)| {
            let name = format!("order {number}");
            let (url, input) = (setup.gateway.url("/mcp/tool/t.act"), setup.input(&name, 0.2));
            let known = known.clone();
            async move {
                let call = Client::new().post(url).header("idempotency-key", &name).json(&input);
                let answer: Value = call.send().await.ok()?.json().await.ok()?;
                if let Some(known) = &known {
                    assert_eq!(answer["data"], *known, "{name}: the answer stays the same");
                }
                (answer["ok"] == true).then(|| answer["data"].clone())
            }
        });
        let calls = futures_util::stream::iter(calls).buffered(4).collect::<Vec<_>>();
        let pid = rustix::process::Pid::from_raw(setup.gateway.pid().cast_signed()).expect("an id");
        let enough = setup.all_effects() + 5;
        let killed = async {
            if round == KILLS {
                return;
            }
            while setup.all_effects() < enough {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("killed");
        };
        let (got, ()) = tokio::join!(calls, killed);
        for (known, got) in answers.iter_mut().zip(got) {
            if got.is_some() {
                *known = got;
            }
        }
        if round < KILLS {
            setup.gateway = setup.gateway.restart().await;
        }
    }
    for (number, known) in answers.iter().enumerate() {
        let effects = setup.effects(&format!("order {number}"));
        assert!(effects <= 1, "order {number} acted {effects} times");
        assert!(
            known.is_none() || effects == 1,
            "order {number} was answered without taking effect"
        );
    }
    assert!(answers.iter().any(Option::is_some), "some calls were answered");
}
