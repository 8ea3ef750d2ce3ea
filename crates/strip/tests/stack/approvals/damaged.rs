//! Approvals of which the stored arguments are not those that would run.

use std::sync::Arc;
use std::time::Duration;

use approvals::Terms;
use proto::Code;
use serde_json::{Map, json};
use store::{ApprovalRow, ApprovalState};
use strip::{AskMode, Reply, Request, Resume};

use super::{Gate, write};
use crate::asking::Person;
use crate::support::code;

const APPROVE: &str = "approve";
const REJECT: &str = "reject";

fn decision(word: &str) -> serde_json::Value {
    json!({"action": "accept", "content": {"decision": word}})
}

fn with_client(person: &Arc<Person>) -> Request {
    Request { client: Some(person.clone()), ..write(1) }
}

impl Gate {
    /// The approval of a call whose caller has left, with other arguments than the call's.
    async fn damaged(&self, call: Request) -> ApprovalRow {
        self.approvals.set_terms(Terms { elicitation: true, ..Terms::default() });
        let row = self.abandoned(call).await;
        let (id, arguments) = ("damaged".to_owned(), Some("{\"n\":2}".to_owned()));
        let damaged = ApprovalRow { id, arguments, ..row.clone() };
        self.reject(&row.id, "replaced").await.unwrap();
        self.approvals.mark_reported(&row.id).await.unwrap();
        drop(self.approvals.create(&damaged, Duration::from_secs(30)).await.unwrap());
        self.approvals.release(&damaged.id);
        damaged
    }

    /// Waits for the notice to the person's client that the decision was not accepted.
    async fn wait_for_refusal(person: &Person) {
        let says_why = |text: &String| text.contains("your decision was not accepted");
        while !person.notices().iter().any(says_why) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_person_who_approves_a_damaged_call_reads_the_reason_and_is_not_asked_again() {
    let gate = Gate::within(30.0).await;
    let damaged = gate.damaged(write(1)).await;
    let person = Person::new(AskMode::Direct, vec![decision(APPROVE); 10]);
    let call = gate.begin(with_client(&person));
    Gate::wait_for_refusal(&person).await;
    assert!(!call.is_finished(), "it waits for a decision that counts");
    let asked = person.asked();
    assert_eq!(asked.len(), 1);
    let message = asked[0]["message"].as_str().unwrap();
    assert!(message.contains("not those that would run"), "{message}");
    gate.reject(&damaged.id, "it is damaged").await.unwrap();
    assert_eq!((code(&call.await.unwrap()), gate.runs()), (Some(Code::Denied), 0));
    assert_eq!(person.asked().len(), 1);
}

#[tokio::test]
async fn a_person_at_the_client_rejects_a_damaged_call() {
    let gate = Gate::within(30.0).await;
    let damaged = gate.damaged(write(1)).await;
    let person = Person::new(AskMode::Direct, vec![decision(REJECT)]);
    let answer = gate.setup.strip.call(with_client(&person)).await;
    assert_eq!((code(&answer), gate.runs()), (Some(Code::Denied), 0));
    assert_eq!(gate.state(&damaged.id).await, ApprovalState::Rejected);
}

#[tokio::test]
async fn a_caller_that_repeats_its_call_with_a_refused_decision_is_not_asked_again() {
    let gate = Gate::within(30.0).await;
    let damaged = gate.damaged(write(1)).await;
    let repeated = |word: Option<&str>| {
        let responses = word.map(|word| ("powerstrip.approval".to_owned(), decision(word)));
        let responses = Map::from_iter(responses);
        let resume = Resume { responses, state: None };
        let resume = (!resume.responses.is_empty()).then(|| Arc::new(resume));
        let person = Person::new(AskMode::Rounds, Vec::new());
        (Request { client: Some(person.clone()), resume, ..write(1) }, person)
    };
    let answer = gate.setup.strip.call(repeated(None).0).await;
    assert_eq!(answer.reply, Reply::NeedsInput);
    let (call, person) = repeated(Some(APPROVE));
    let call = gate.begin(call);
    Gate::wait_for_refusal(&person).await;
    assert!(!call.is_finished(), "it waits for a decision that counts");
    gate.reject(&damaged.id, "it is damaged").await.unwrap();
    assert_eq!((code(&call.await.unwrap()), gate.runs()), (Some(Code::Denied), 0));
    assert_eq!(gate.state(&damaged.id).await, ApprovalState::Rejected);
}
