//! Calls that a person must approve, with a real store behind them.

mod covered;
mod damaged;
mod fetched_files;
mod grants;
mod parked;
mod robust;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use approvals::{Approvals, DecideError, Decider, Decision, Terms, Verdict};
use files::NewFile;
use proto::{APPROVALS_DECIDE, Code, FileKind, Principal};
use serde_json::{Value, json};
use store::{ApprovalFilter, ApprovalRow, ApprovalState};
use strip::agents::{Profiles, Skill};
use strip::{Answer, Output, Request};

use crate::support::{Fake, Setup, ask, code, principal, setup, shared, tool};

pub(crate) struct Gate {
    pub(crate) setup: Setup,
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) runs: Arc<AtomicUsize>,
}

fn skill(tools: &str, seconds: f64) -> Skill {
    Skill {
        servers: BTreeSet::new(),
        tools: vec![tools.parse().unwrap()],
        auto_approve: false,
        approval_timeout: Duration::from_secs_f64(seconds),
        approve: BTreeMap::new(),
    }
}

fn writing(runs: &Arc<AtomicUsize>) -> Fake {
    let counted = Arc::clone(runs);
    tool("crm.write", move |call| {
        counted.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move { Ok(Output::new(json!({"wrote": *call.input}))) })
    })
    .with(|descriptor| descriptor.deterministic = false)
}

impl Gate {
    async fn within(seconds: f64) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let setup = setup(vec![writing(&runs)]).await;
        Self::at(setup, runs, seconds).await
    }

    async fn at(setup: Setup, runs: Arc<AtomicUsize>, seconds: f64) -> Self {
        Self::gating(setup, runs, "crm.*", seconds).await
    }

    async fn gating(setup: Setup, runs: Arc<AtomicUsize>, tools: &str, seconds: f64) -> Self {
        let approvals =
            Approvals::open(setup.database.clone(), setup.clock.clone(), setup.commits.clone())
                .await
                .unwrap();
        setup.strip.set_approvals(Arc::clone(&approvals));
        let skills = BTreeMap::from([("writes".to_owned(), skill(tools, seconds))]);
        setup.strip.set_agents(Profiles { skills, agents: BTreeMap::new() });
        Self { setup, approvals, runs }
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn begin(&self, call: Request) -> tokio::task::JoinHandle<Answer> {
        let strip = Arc::clone(&self.setup.strip);
        tokio::spawn(async move { strip.call(call).await })
    }

    /// What is left of a call whose caller has gone away while it waited.
    async fn abandoned(&self, call: Request) -> ApprovalRow {
        let left = self.begin(call);
        let row = self.waits(1).await.remove(0);
        left.abort();
        let _ = left.await;
        row
    }

    async fn pending(&self) -> Vec<ApprovalRow> {
        let state = Some(ApprovalState::Pending);
        let filter = ApprovalFilter { state, limit: 1_000, ..ApprovalFilter::default() };
        self.approvals.list(&filter).await.unwrap().rows
    }

    /// Waits until so many are pending.
    async fn waits(&self, count: usize) -> Vec<ApprovalRow> {
        loop {
            let rows = self.pending().await;
            if rows.len() == count {
                return rows;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until there is an approval, whatever its state.
    async fn asked(&self) -> ApprovalRow {
        let filter = ApprovalFilter { limit: 1, ..ApprovalFilter::default() };
        loop {
            if let Some(row) = self.approvals.list(&filter).await.unwrap().rows.pop() {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn approve(&self, id: &str) -> Result<ApprovalRow, DecideError> {
        self.approvals.decide(id, &Decider::Operator, Decision::once(Verdict::Approve, None)).await
    }

    async fn reject(&self, id: &str, reason: &str) -> Result<ApprovalRow, DecideError> {
        let decision = Decision::once(Verdict::Reject, Some(reason.to_owned()));
        self.approvals.decide(id, &Decider::Operator, decision).await
    }

    async fn state(&self, id: &str) -> ApprovalState {
        self.approvals.get(None, id).await.unwrap().unwrap().state
    }
}

/// An approval as doors and commands show it.
pub(crate) fn view(row: &ApprovalRow) -> Value {
    serde_json::to_value(approvals::ApprovalView::from(row.clone())).unwrap()
}

fn write(n: u64) -> Request {
    ask("crm.write", json!({"n": n}))
}

#[tokio::test]
async fn a_gated_call_runs_when_a_person_approves_it_and_only_then() {
    let gate = Gate::within(30.0).await;
    let call = gate.begin(write(1));
    let rows = gate.waits(1).await;
    let row = &rows[0];
    assert_eq!(gate.runs(), 0);
    assert_eq!(
        (&*row.tool, &*row.owner, row.arguments.as_deref()),
        ("crm.write", "ann", Some(r#"{"n":1}"#))
    );
    gate.approve(&row.id).await.unwrap();
    let answer = call.await.unwrap();
    assert_eq!(answer.result.unwrap()["wrote"], json!({"n": 1}));
    assert_eq!((gate.runs(), gate.state(&row.id).await), (1, ApprovalState::Consumed));
    let rows = gate.setup.rows().await;
    assert_eq!(rows.iter().map(|row| &*row.decision).collect::<Vec<_>>(), ["ran", "approved"]);
    assert_eq!(rows[0].trace, rows[1].trace, "who decided is found by the call's trace");
}

#[tokio::test]
async fn a_rejection_comes_back_with_the_reviewers_words() {
    let gate = Gate::within(30.0).await;
    let call = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    gate.reject(&row.id, "not this customer").await.unwrap();
    let answer = call.await.unwrap();
    assert_eq!((code(&answer), gate.runs()), (Some(Code::Denied), 0));
    let failure = answer.result.unwrap_err();
    assert!(failure.message.contains("not this customer"), "{failure}");
}

#[tokio::test]
async fn no_answer_means_rejected() {
    let gate = Gate::within(0.1).await;
    let answer = gate.setup.call("crm.write", json!({"n": 1})).await;
    assert_eq!((code(&answer), gate.runs()), (Some(Code::Denied), 0));
    let failure = answer.result.unwrap_err();
    assert!(failure.message.contains("no decision"), "{failure}");
    let row = gate.approvals.list(&ApprovalFilter { limit: 9, ..ApprovalFilter::default() }).await;
    let row = row.unwrap().rows.remove(0);
    assert_eq!(row.state, ApprovalState::Expired);
    assert!(matches!(gate.approve(&row.id).await, Err(DecideError::Over(_))), "too late");
}

#[tokio::test]
async fn fifty_deciders_and_the_deadline_race_to_exactly_one_outcome() {
    for round in 0..6_u64 {
        let gate = Arc::new(Gate::within(0.08).await);
        let call = gate.begin(write(1));
        let id = gate.asked().await.id;
        tokio::time::sleep(Duration::from_millis(20 + round * 12)).await;
        let deciders: Vec<_> = (0..50)
            .map(|n| {
                let (gate, id) = (Arc::clone(&gate), id.clone());
                tokio::spawn(async move {
                    match n % 2 {
                        0 => gate.approve(&id).await.is_ok(),
                        _ => gate.reject(&id, "no").await.is_ok(),
                    }
                })
            })
            .collect();
        let mut won = 0;
        for decider in deciders {
            won += usize::from(decider.await.unwrap());
        }
        let answer = call.await.unwrap();
        let state = gate.state(&id).await;
        let ran = gate.runs();
        match state {
            ApprovalState::Consumed => assert!(won == 1 && ran == 1 && answer.result.is_ok()),
            ApprovalState::Rejected => assert!(won == 1 && ran == 0 && answer.result.is_err()),
            ApprovalState::Expired => assert!(won == 0 && ran == 0 && answer.result.is_err()),
            other => panic!("{other} after {won} decisions and {ran} runs"),
        }
    }
}

#[tokio::test]
async fn an_approval_covers_exactly_what_was_shown_and_once() {
    let gate = Gate::within(30.0).await;
    let row = gate.abandoned(write(1)).await;
    gate.approve(&row.id).await.unwrap();
    assert_eq!(gate.runs(), 0, "the caller is gone, so nothing runs");

    // Other arguments, another caller, another agent: each must ask for itself.
    let other = gate.begin(write(2));
    let mut bobs = write(1);
    bobs.principal = principal("acme", "bob");
    let bobs = gate.begin(bobs);
    let mut agents = write(1);
    agents.principal =
        Arc::new(Principal { agent: None, ..Principal::clone(&principal("other", "ann")) });
    let agents = gate.begin(agents);
    gate.waits(3).await;
    assert_eq!(gate.runs(), 0);

    let answer = gate.setup.strip.call(write(1)).await;
    assert_eq!((code(&answer), gate.runs()), (None, 1), "the next identical call uses it");
    assert_eq!(gate.state(&row.id).await, ApprovalState::Consumed);
    let again = gate.begin(write(1));
    gate.waits(4).await;
    assert_eq!(gate.runs(), 1, "single use");
    for call in [other, bobs, agents, again] {
        call.abort();
    }
}

#[tokio::test]
async fn a_repeat_of_an_abandoned_call_takes_its_place_and_equal_calls_at_once_each_need_their_own()
{
    let gate = Gate::within(30.0).await;
    let first = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    let second = gate.begin(write(1));
    let rows = gate.waits(2).await;
    first.abort();
    let _ = first.await;
    let repeated = gate.begin(write(1));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(gate.pending().await.len(), 2, "it took the place of the first");
    gate.approve(&row.id).await.unwrap();
    assert!(repeated.await.unwrap().result.is_ok());
    assert_eq!(gate.runs(), 1, "one approval, one run");
    let other = rows.iter().find(|other| other.id != row.id).unwrap();
    gate.reject(&other.id, "once is enough").await.unwrap();
    assert_eq!(code(&second.await.unwrap()), Some(Code::Denied));
}

#[tokio::test]
async fn a_caller_that_left_gets_the_rejection_once_when_it_calls_again() {
    let gate = Gate::within(30.0).await;
    let row = gate.abandoned(write(1)).await;
    gate.reject(&row.id, "never").await.unwrap();
    let repeated = gate.setup.strip.call(write(1)).await;
    assert!(repeated.result.unwrap_err().message.contains("never"));
    let again = gate.begin(write(1));
    gate.waits(1).await;
    again.abort();
}

#[tokio::test]
async fn a_caller_that_cancels_stops_waiting_and_its_timeout_does_not_run_meanwhile() {
    let gate = Gate::within(30.0).await;
    let mut call = write(1);
    // More than all but the waiting takes, on a busy machine too.
    call.timeout = Some(Duration::from_millis(700));
    let patient = gate.begin(call);
    let row = gate.waits(1).await.remove(0);
    tokio::time::sleep(Duration::from_millis(800)).await;
    gate.approve(&row.id).await.unwrap();
    assert!(patient.await.unwrap().result.is_ok());

    let call = write(2);
    let cancel = call.cancel.clone();
    let cancelled = gate.begin(call);
    let row = gate.waits(1).await.remove(0);
    cancel.cancel();
    assert_eq!(code(&cancelled.await.unwrap()), Some(Code::Unavailable));
    assert_eq!((gate.state(&row.id).await, gate.runs()), (ApprovalState::Pending, 1));
}

#[tokio::test]
async fn pending_approvals_and_their_deadlines_survive_a_restart_and_a_clock_set_back() {
    // Long enough that both are seen to wait, and the first is approved, on a busy machine too.
    let gate = Gate::within(5.0).await;
    let left = gate.begin(write(1));
    let other = gate.begin(write(2));
    let rows = gate.waits(2).await;
    for call in [left, other] {
        call.abort();
        let _ = call.await;
    }
    let of =
        |n: u64| rows.iter().find(|row| row.arguments == Some(format!("{{\"n\":{n}}}"))).unwrap();
    // A second life, whose clock shows a day earlier.
    let clock = proto::Clock::manual(1_800_000_000_000 - 86_400_000);
    let database = gate.setup.database.clone();
    let reborn = Approvals::open(database, clock, gate.setup.commits.clone()).await.unwrap();
    let tending = tokio::spawn({
        let reborn = Arc::clone(&reborn);
        async move { reborn.tend().await }
    });
    let decision = Decision::once(Verdict::Approve, None);
    reborn.decide(&of(1).id, &Decider::Operator, decision).await.unwrap();
    let began = std::time::Instant::now();
    while reborn.get(None, &of(2).id).await.unwrap().unwrap().state == ApprovalState::Pending {
        assert!(began.elapsed() < Duration::from_secs(14), "setting the clock gains no time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(reborn.get(None, &of(2).id).await.unwrap().unwrap().state, ApprovalState::Expired);
    tending.abort();
}

#[tokio::test]
async fn a_clock_set_forward_expires_approvals_for_all_deciders() {
    let gate = Gate::within(30.0).await;
    let call = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    gate.setup.clock.advance(Duration::from_secs(31));
    assert!(matches!(gate.approve(&row.id).await, Err(DecideError::Over(_))));
    assert_eq!(code(&call.await.unwrap()), Some(Code::Denied));
    assert_eq!((gate.state(&row.id).await, gate.runs()), (ApprovalState::Expired, 0));
}

#[tokio::test]
async fn a_tool_that_changed_while_a_person_thought_is_not_run() {
    let gate = Gate::within(30.0).await;
    let call = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    let changed =
        writing(&gate.runs).with(|tool| tool.description = "Writes elsewhere.".to_owned());
    gate.setup.strip.catalog().publish("tests", shared(vec![changed]));
    gate.approve(&row.id).await.unwrap();
    let answer = call.await.unwrap();
    assert_eq!((code(&answer), gate.runs()), (Some(Code::Denied), 0));
    let again = gate.begin(write(1));
    let now = gate.waits(1).await.remove(0);
    assert_ne!(now.definition, row.definition, "a person is asked about what it is now");
    again.abort();
}

#[tokio::test]
async fn agents_cannot_approve_their_own_calls() {
    let gate = Gate::within(30.0).await;
    let decides = |subject: &str, agent: Option<&str>, scopes: &[&str]| {
        Decider::Person(Arc::new(Principal {
            agent: agent.map(str::to_owned),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
            ..Principal::clone(&principal("acme", subject))
        }))
    };
    let yes = || Decision::once(Verdict::Approve, None);
    let first = gate.begin(write(1));
    let row = gate.waits(1).await.remove(0);
    let agent = decides("ann", Some("bot"), &[APPROVALS_DECIDE]);
    assert!(matches!(gate.approvals.decide(&row.id, &agent, yes()).await, Err(DecideError::Agent)));
    let unscoped = decides("ann", None, &[]);
    assert!(matches!(
        gate.approvals.decide(&row.id, &unscoped, yes()).await,
        Err(DecideError::Agent)
    ));
    let Decider::Person(other_tenant) = decides("ann", None, &[APPROVALS_DECIDE]) else { panic!() };
    let other_tenant =
        Principal { tenant: proto::TenantId::new("globex"), ..Principal::clone(&other_tenant) };
    let other_tenant = Decider::Person(Arc::new(other_tenant));
    let refused = gate.approvals.decide(&row.id, &other_tenant, yes()).await;
    assert!(matches!(refused, Err(DecideError::Unknown(_))), "another tenant's is not there");
    assert_eq!(gate.state(&row.id).await, ApprovalState::Pending);
    // The call's credential could not decide, so this is another one of the same person.
    let ann = decides("ann", None, &[APPROVALS_DECIDE]);
    gate.approvals.decide(&row.id, &ann, yes()).await.unwrap();
    assert!(first.await.unwrap().result.is_ok());

    let mut call = write(2);
    let Decider::Person(mighty) = &ann else { panic!() };
    call.principal = Arc::clone(mighty);
    let second = gate.begin(call);
    let row = gate.waits(1).await.remove(0);
    let own = gate.approvals.decide(&row.id, &ann, yes()).await;
    assert!(
        matches!(own, Err(DecideError::OwnCall)),
        "a credential does not decide about its own call"
    );
    let bob = decides("bob", None, &[APPROVALS_DECIDE]);
    gate.approvals.decide(&row.id, &bob, yes()).await.unwrap();
    assert!(second.await.unwrap().result.is_ok());
}

#[tokio::test]
async fn one_caller_cannot_flood_the_reviewers() {
    let gate = Gate::within(30.0).await;
    gate.approvals.set_terms(Terms { max_waiting: 3, ..Terms::default() });
    let calls: Vec<_> = (0..3).map(|n| gate.begin(write(n))).collect();
    gate.waits(3).await;
    assert_eq!(code(&gate.setup.strip.call(write(9)).await), Some(Code::RateLimit));
    for call in calls {
        call.abort();
    }
}

#[tokio::test]
async fn a_gated_call_is_refused_without_approvals() {
    let runs = Arc::new(AtomicUsize::new(0));
    let setup = setup(vec![writing(&runs)]).await;
    let skills = BTreeMap::from([("writes".to_owned(), skill("crm.*", 1.0))]);
    setup.strip.set_agents(Profiles { skills, agents: BTreeMap::new() });
    let answer = setup.call("crm.write", json!({"n": 1})).await;
    assert_eq!((code(&answer), runs.load(Ordering::SeqCst)), (Some(Code::Denied), 0));
}

#[tokio::test]
async fn the_files_of_a_call_are_shown_with_it() {
    let gate = Gate::within(30.0).await;
    let call = write(1);
    let bytes = futures_util::stream::iter([Ok("what is in it".into())]);
    let new = NewFile::new(FileKind::File, "cv.txt");
    let file = gate.setup.strip.files().put(&call.principal, new, bytes).await.unwrap();
    let strange = format!("file_{}", "0".repeat(32));
    let input = json!({"n": 1, "documents": [{"file_id": file.id}, strange]});
    let call = gate.begin(Request { input: Arc::new(input), ..call });
    let row = gate.waits(1).await.remove(0);
    let shown = view(&row);
    let hash = files::hex(&file.sha256);
    let expected = json!([{"id": file.id, "name": "cv.txt", "size": 13, "sha256": hash}]);
    assert_eq!(shown["files"], expected);
    call.abort();
}
