//! What an agent may not use it cannot reach, and a tool that passes calls on is no way round a guard.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Code, Descriptor, Failure, Principal};
use serde_json::{Value, json};
use store::AuditRow;
use strip::agents::{Agent, ApprovalRule, Approve, Listing, Profiles, Skill};
use strip::{Answer, Job, Output, RateRules, Tool};

use crate::support::{
    Fake, Setup, ask, code, echo, principal, rate, settings, setup, setup_with, tool,
};

/// Forwards to the call that its input describes.
struct PassOn(Fake);

#[async_trait]
impl Tool for PassOn {
    fn descriptor(&self) -> &Descriptor {
        &self.0.descriptor
    }

    fn forwards_to(&self, input: &Value) -> Option<(String, Value)> {
        Some((input["id"].as_str()?.to_owned(), input["arguments"].clone()))
    }

    async fn run(&self, _: &Job) -> Result<Output, Failure> {
        Err(Failure::new(Code::InvalidInput, "it runs nothing itself"))
    }
}

fn passing_on(setup: &Setup) {
    setup.strip.catalog().publish("passing", vec![Arc::new(PassOn(echo("t.pass")))]);
}

fn skill(tools: &[&str]) -> Skill {
    Skill {
        servers: Default::default(),
        tools: tools.iter().map(|text| text.parse().unwrap()).collect(),
        auto_approve: true,
        approval_timeout: Duration::from_secs(300),
        approve: BTreeMap::new(),
    }
}

fn agents(all: &[(&str, &[&str])]) -> Profiles {
    let of = |name: &str| Agent {
        skills: vec![name.to_owned()],
        listing: Listing::Whole,
        schemas: None,
    };
    Profiles {
        skills: all.iter().map(|(name, tools)| ((*name).to_owned(), skill(tools))).collect(),
        agents: all.iter().map(|(name, _)| ((*name).to_owned(), of(name))).collect(),
    }
}

fn agent(name: &str) -> Arc<Principal> {
    let mut principal = Principal::clone(&principal("acme", "ann"));
    principal.agent = Some(name.to_owned());
    Arc::new(principal)
}

async fn call_as(setup: &Setup, name: &str, tool: &str, input: Value) -> Answer {
    let mut call = ask(tool, input);
    call.principal = agent(name);
    setup.strip.call(call).await
}

#[tokio::test]
async fn a_call_that_is_passed_on_is_the_other_tools_call() {
    let limits = RateRules {
        tools: BTreeMap::from([("t.rare".to_owned(), rate(1, 3600).unwrap())]),
        ..RateRules::default()
    };
    let strict =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let (echo, counted) = {
        let echo = echo("t.echo").with(|d| d.input_schema = strict);
        let runs = Arc::clone(&echo.runs);
        (echo, runs)
    };
    let setup = setup_with(
        strip::Settings { rate: limits, ..settings() },
        vec![echo, crate::support::echo("t.rare")],
    )
    .await;
    passing_on(&setup);
    let passed = |id: &str, arguments: Value| {
        setup.call("t.pass", json!({"id": id, "arguments": arguments}))
    };

    let answer = passed("t.echo", json!({"n": 1})).await;
    assert_eq!(&*answer.meta.tool, "t.echo");
    assert_eq!(*answer.result.unwrap(), json!({"echo": {"n": 1}}));
    setup.call("t.echo", json!({"n": 1})).await.result.unwrap();
    assert_eq!(
        counted.load(std::sync::atomic::Ordering::SeqCst),
        1,
        "one recorded answer for both"
    );
    assert_eq!(code(&passed("t.echo", json!({"n": "x"})).await), Some(Code::InvalidInput));
    assert_eq!(code(&passed("t.nothing", json!({})).await), Some(Code::NotFound));

    setup.call("t.rare", json!({"a": 1})).await.result.unwrap();
    assert_eq!(code(&passed("t.rare", json!({"a": 2})).await), Some(Code::RateLimit));
    let nested = passed("t.pass", json!({"id": "t.echo", "arguments": {"n": 1}})).await;
    assert_eq!(code(&nested), Some(Code::InvalidInput), "once is enough");

    let rows = setup.rows().await;
    let outcomes: Vec<_> = rows.iter().map(|row| (&*row.tool, &*row.decision)).collect();
    let expected = [
        ("t.pass", "failed"),
        ("t.rare", "refused"),
        ("t.rare", "ran"),
        ("t.nothing", "refused"),
        ("t.echo", "refused"),
        ("t.echo", "replayed"),
        ("t.echo", "ran"),
    ];
    assert_eq!(outcomes, expected, "one row for each, under the name of what was called");
}

#[tokio::test]
async fn an_agent_reaches_nothing_more_through_another_tool() {
    let setup = setup(vec![echo("t.own"), echo("t.other")]).await;
    passing_on(&setup);
    setup.strip.set_agents(agents(&[("a", &["t.own", "t.pass"]), ("b", &["t.other"])]));
    let pass = |id: &str| json!({"id": id, "arguments": {}});
    call_as(&setup, "a", "t.pass", pass("t.own")).await.result.unwrap();
    let hidden = call_as(&setup, "a", "t.pass", pass("t.other")).await;
    let absent = call_as(&setup, "a", "t.pass", pass("t.othxr")).await;
    let words = |answer: &Answer| answer.result.as_ref().err().unwrap().message.clone();
    assert_eq!(code(&hidden), Some(Code::NotFound));
    assert_eq!(words(&hidden).replace("t.other", ""), words(&absent).replace("t.othxr", ""));
    assert!(!words(&absent).contains("t.other"), "nor is it suggested");
    assert_eq!(code(&call_as(&setup, "b", "t.pass", pass("t.other")).await), Some(Code::NotFound));
}

#[tokio::test]
async fn agents_do_not_share_recorded_answers() {
    let noisy = tool("t.noisy", |call| {
        Box::pin(async move { Ok(Output::new(json!({"agent": call.request().principal.agent}))) })
    });
    let setup = setup(vec![noisy]).await;
    setup.strip.set_agents(agents(&[("a", &["*"]), ("b", &["*"])]));
    for name in ["a", "b", "a"] {
        let answer = call_as(&setup, name, "t.noisy", json!({})).await;
        assert_eq!(*answer.result.unwrap(), json!({"agent": name}));
    }
    let without_agent = setup.call("t.noisy", json!({})).await;
    assert_eq!(*without_agent.result.unwrap(), json!({"agent": null}));
    let outcomes = |row: AuditRow| (row.caller.agent.clone(), row.decision.into_owned());
    let decisions: Vec<_> = setup.rows().await.into_iter().map(outcomes).collect();
    let row = |agent: Option<&str>, decision: &str| (agent.map(str::to_owned), decision.to_owned());
    let expected = [
        row(None, "ran"),
        row(Some("a"), "replayed"),
        row(Some("b"), "ran"),
        row(Some("a"), "ran"),
    ];
    assert_eq!(decisions, expected);
}

#[tokio::test]
async fn the_strictest_skill_is_known_for_every_tool() {
    let setup = setup(vec![echo("crm.read"), echo("crm.write"), echo("web.get")]).await;
    let asking = Skill {
        auto_approve: false,
        approval_timeout: Duration::from_secs(60),
        approve: BTreeMap::from([("crm.read".parse().unwrap(), Approve::Never)]),
        ..skill(&["crm.*"])
    };
    let mut profiles = agents(&[("open", &["*"])]);
    profiles.skills.insert("asking".to_owned(), asking);
    let mut changes = setup.strip.catalog().changes();
    changes.borrow_and_update();
    setup.strip.set_agents(profiles.clone());
    assert!(changes.has_changed().unwrap(), "clients are notified");
    changes.borrow_and_update();
    setup.strip.set_agents(profiles);
    assert!(!changes.has_changed().unwrap(), "but not for nothing");
    let rule = |id: &str| setup.strip.approval_rule(&id.parse().unwrap());
    assert_eq!(rule("crm.read"), ApprovalRule::Free);
    assert_eq!(rule("crm.write"), ApprovalRule::Asked { timeout: Duration::from_secs(60) });
    assert_eq!(rule("web.get"), ApprovalRule::Free);
}

#[tokio::test]
async fn successful_tools_are_remembered_for_each_caller() {
    let failing =
        tool("t.fails", |_| Box::pin(async { Err(Failure::new(Code::Unavailable, "not today")) }));
    let setup = setup(vec![echo("t.echo"), failing]).await;
    setup.call("t.echo", json!({})).await.result.unwrap();
    assert_eq!(code(&setup.call("t.fails", json!({})).await), Some(Code::Unavailable));
    let used = setup.strip.recent_tools(&principal("acme", "ann"));
    assert_eq!(used, [("t.echo".parse().unwrap(), 1.0)]);
    assert!(setup.strip.recent_tools(&agent("a")).is_empty());
}
