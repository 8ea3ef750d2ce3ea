//! A reference that a server issued can be used by the caller that received it, and by no other caller.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use builtin::control::STORE_ARTIFACT;
use proto::{Code, Failure, FileStrategy, Principal};
use runs::RunOf;
use serde_json::{Value, json};
use strip::agents::{Agent, Listing, Profiles, Skill};
use strip::servers::{ClientIdentity, Offering, Server};
use strip::{Answer, Job, Output, RateRules, Request, Settings};

use crate::support::{Fake, Setup, ask, code, principal, rate, settings, setup, tool};

/// A server that keeps one text.
pub(crate) struct TextServer {
    pub(crate) name: &'static str,
    pub(crate) keeps: Mutex<&'static str>,
}

#[async_trait]
impl Server for TextServer {
    fn name(&self) -> &str {
        self.name
    }

    fn offering(&self) -> Arc<Offering> {
        Arc::default()
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    async fn request(&self, _: &str, call: &Job) -> Result<Output, Failure> {
        let text = *self.keeps.lock().unwrap();
        Ok(Output::new(json!({"contents": [{"uri": call.input["uri"], "text": text}]})))
    }

    fn watch(&self, _: Option<&ClientIdentity>, _: BTreeSet<String>) {}
}

/// A tool that answers with a reference, and with a link by which it can be read.
fn issuing(server: &'static str) -> Fake {
    let issue = move |call: Job| {
        let reference = call.input["reference"].as_str().unwrap_or("item-7").to_owned();
        let more = "x".repeat(call.input["more"].as_u64().unwrap_or(0) as usize);
        let uri = format!("{server}://{reference}{more}");
        let native = json!({"content": [{"type": "resource_link", "uri": uri, "name": "it"}]});
        let output = Output::new(json!({"ref_id": reference}));
        Output { native: Some(Arc::new(native)), ..output }
    };
    tool(&format!("{server}:issue"), move |call| {
        let output = issue(call);
        Box::pin(async move { Ok(output) })
    })
    .with(|descriptor| descriptor.deterministic = false)
}

/// A tool that says what is in the files it is given.
fn taking(id: &str) -> Fake {
    let text = |data: &Value| {
        let bytes = BASE64_STANDARD.decode(data.as_str().unwrap()).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    tool(id, move |call| {
        let got = text(&call.input["file_data"]);
        Box::pin(async move { Ok(Output::new(json!({"got": got}))) })
    })
    .with(|descriptor| {
        descriptor.deterministic = false;
        descriptor.files = Some(FileStrategy::BinaryBase64.into());
        descriptor.input_schema = json!({"type": "object", "required": ["file_data"],
            "properties": {"file_data": {"type": "string"}, "file_type": {"type": "string"}}});
    })
}

/// Two servers that issue references, and a tool of a third that takes them.
pub(crate) async fn two_servers() -> (Setup, Arc<TextServer>, Arc<TextServer>) {
    let tools = vec![issuing("hr"), issuing("evil"), taking("far:take")];
    let setup = setup(tools).await.with_control();
    let server = |name, keeps| Arc::new(TextServer { name, keeps: Mutex::new(keeps) });
    let (hr, evil) = (server("hr", "what hr keeps"), server("evil", "what evil keeps"));
    for server in [&hr, &evil] {
        setup.strip.servers().publish(Arc::clone(server) as Arc<dyn Server>);
    }
    (setup, hr, evil)
}

pub(crate) async fn by(setup: &Setup, who: &Arc<Principal>, tool: &str, input: Value) -> Answer {
    let mut call = Request { principal: Arc::clone(who), ..ask(tool, input) };
    if tool == STORE_ARTIFACT {
        call.run = RunOf::Named("r".into());
    }
    setup.strip.call(call).await
}

fn got(answer: &Answer) -> &Value {
    &answer.result.as_ref().unwrap_or_else(|failure| panic!("{failure:?}"))["got"]
}

fn agent(name: &str) -> Arc<Principal> {
    let ann = principal("acme", "ann");
    Arc::new(Principal { agent: Some(name.to_owned()), ..Principal::clone(&ann) })
}

fn profiles(skills: &[(&str, &[&str], &[&str])]) -> Profiles {
    let mut profiles = Profiles::default();
    for (name, servers, tools) in skills {
        let skill = Skill {
            servers: servers.iter().map(|server| (*server).to_owned()).collect(),
            tools: tools.iter().map(|tool| tool.parse().unwrap()).collect(),
            auto_approve: true,
            approval_timeout: Duration::from_secs(30),
            approve: BTreeMap::new(),
        };
        profiles.skills.insert((*name).to_owned(), skill);
        let agent =
            Agent { skills: vec![(*name).to_owned()], listing: Listing::Whole, schemas: None };
        profiles.agents.insert((*name).to_owned(), agent);
    }
    profiles
}

/// Checks that every use of the reference is refused.
async fn refused(setup: &Setup, who: &Arc<Principal>, expected: Code) {
    for (tool, input) in [
        ("far:take", json!({"file_id": "item-7"})),
        ("far:take", json!({"source_ref_id": "item-7"})),
        (STORE_ARTIFACT, json!({"file_name": "a", "content_ref_id": "item-7"})),
    ] {
        let answer = by(setup, who, tool, input.clone()).await;
        assert_eq!(code(&answer), Some(expected), "{who:?} {tool} {input}: {:?}", answer.result);
    }
}

#[tokio::test]
async fn a_reference_is_valid_for_the_caller_that_received_it() {
    let (setup, ..) = two_servers().await;
    setup.strip.set_agents(profiles(&[
        ("insider", &["hr", "far"], &[]),
        ("clerk", &[], &["hr:issue", "far:*"]),
        ("outsider", &["far", "evil"], &[]),
    ]));
    let (ann, bob, eve) =
        (principal("acme", "ann"), principal("acme", "bob"), principal("globex", "ann"));
    for who in [&ann, &agent("insider"), &agent("clerk")] {
        by(&setup, who, "hr:issue", json!({})).await.result.unwrap();
        let answer = by(&setup, who, "far:take", json!({"file_id": "item-7"})).await;
        assert_eq!(got(&answer), "what hr keeps", "{who:?}");
    }
    // Neither another person of the tenant, nor the same one's other agent, nor another tenant.
    for who in [&bob, &agent("outsider"), &eve] {
        refused(&setup, who, Code::NotFound).await;
    }
    // A fetched copy is not served after the caller loses the right to the server.
    setup.strip.set_agents(profiles(&[("insider", &["far"], &[])]));
    refused(&setup, &agent("insider"), Code::NotFound).await;
    let reads = |row: &&store::AuditRow| &*row.tool == "hr:resources/read";
    let rows = setup.rows().await;
    let reads: Vec<_> = rows.iter().filter(reads).collect();
    assert_eq!(reads.len(), 3, "once for each caller, and each in the trail");
    assert!(reads.iter().all(|row| (&*row.decision, &*row.outcome) == ("ran", "OK")));
}

#[tokio::test]
async fn the_reading_of_a_reference_counts_against_the_rate() {
    let (setup, ..) = two_servers().await;
    let ann = principal("acme", "ann");
    // The third call is the use of the reference, and the fourth the request to the server.
    let rate = RateRules { principal: Some(rate(3, 3600).unwrap()), ..RateRules::default() };
    setup.strip.reconfigure(Settings { rate, ..settings() });
    by(&setup, &ann, "hr:issue", json!({})).await.result.unwrap();
    by(&setup, &ann, "hr:issue", json!({})).await.result.unwrap();
    let refused = by(&setup, &ann, "far:take", json!({"file_id": "item-7"})).await;
    assert_eq!(code(&refused), Some(Code::RateLimit), "{:?}", refused.result);
    let rows = setup.rows().await;
    let read = rows.iter().find(|row| &*row.tool == "hr:resources/read").unwrap();
    assert_eq!((&*read.decision, &*read.outcome), ("refused", "RATE_LIMIT"));
}

#[tokio::test]
async fn a_reference_that_two_servers_issued_is_neithers() {
    let (setup, ..) = two_servers().await;
    let ann = principal("acme", "ann");
    by(&setup, &ann, "hr:issue", json!({})).await.result.unwrap();
    by(&setup, &ann, "evil:issue", json!({})).await.result.unwrap();
    refused(&setup, &ann, Code::InvalidInput).await;
    let answer = by(&setup, &ann, "far:take", json!({"file_id": "item-7"})).await;
    let said = answer.result.unwrap_err().message;
    assert!(said.contains("more than one server") && said.contains("evil, hr"), "{said}");
    // A reference issued to one caller does not name a file for another.
    let bob = principal("acme", "bob");
    by(&setup, &bob, "hr:issue", json!({})).await.result.unwrap();
    let answer = by(&setup, &bob, "far:take", json!({"file_id": "item-7"})).await;
    assert_eq!(got(&answer), "what hr keeps");
}

#[tokio::test]
async fn links_that_are_too_long_are_not_remembered() {
    let (setup, ..) = two_servers().await;
    let ann = principal("acme", "ann");
    for (length, known) in [(1_000, true), (3_000, false)] {
        let input = json!({"reference": format!("n-{length}"), "more": length});
        by(&setup, &ann, "hr:issue", input).await.result.unwrap();
        let input = json!({"file_id": format!("n-{length}")});
        let answer = by(&setup, &ann, "far:take", input).await;
        assert_eq!(answer.result.is_ok(), known, "{length}");
    }
}
