//! People who are asked by way of the client that waits, in both eras.

use std::sync::Arc;

use async_trait::async_trait;
use runs::RunFilter;
use serde_json::{Map, Value, json};
use strip::{AskError, AskMode, Client, LogLevel, Reply, Resume};

use crate::runs::{data, question, tools, works};
use crate::support::{principal, setup};

/// A caller whose person answers.
#[derive(Debug)]
pub(crate) struct Person {
    capabilities: Map<String, Value>,
    asking: AskMode,
    says: std::sync::Mutex<Vec<Value>>,
    asked: std::sync::Mutex<Vec<Value>>,
    /// The messages about its progress.
    progress: std::sync::Mutex<Vec<String>>,
}

impl Person {
    /// A person who is never asked, with a client of these capabilities.
    pub(crate) fn speaking(capabilities: Value) -> Arc<Self> {
        let Value::Object(capabilities) = capabilities else { panic!("{capabilities}") };
        Arc::new(Self {
            capabilities,
            asking: AskMode::Rounds,
            says: std::sync::Mutex::default(),
            asked: std::sync::Mutex::default(),
            progress: std::sync::Mutex::default(),
        })
    }

    pub(crate) fn new(asking: AskMode, mut says: Vec<Value>) -> Arc<Self> {
        says.reverse();
        Arc::new(Self {
            capabilities: Map::from_iter([("elicitation".to_owned(), json!({}))]),
            asking,
            says: says.into(),
            asked: std::sync::Mutex::default(),
            progress: std::sync::Mutex::default(),
        })
    }
}

impl Person {
    /// What it was asked.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    /// The notices about its progress.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.progress.lock().unwrap().clone()
    }
}

#[async_trait]
impl Client for Person {
    fn capabilities(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn meta(&self) -> &Map<String, Value> {
        &self.capabilities
    }

    fn ask_mode(&self) -> AskMode {
        self.asking
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn progress(&self, report: Map<String, Value>) {
        let message = report["message"].as_str().unwrap_or_default().to_owned();
        self.progress.lock().unwrap().push(message);
    }

    fn log_level(&self) -> Option<LogLevel> {
        None
    }

    fn log(&self, _message: Map<String, Value>) {}

    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        assert_eq!(method, "elicitation/create");
        self.asked.lock().unwrap().push(params);
        let said = self.says.lock().unwrap().pop();
        match said {
            Some(said) => Ok(said),
            None => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_client_of_an_earlier_era_is_asked_directly() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let says = vec![
        json!({"action": "accept", "content": {"value": "loud"}}),
        json!({"action": "accept", "content": {"value": "warm"}}),
    ];
    let person = Person::new(AskMode::Direct, says);
    let mut call = question("r");
    call.timeout = None;
    call.client = Some(person.clone());
    let answer = setup.strip.call(call).await;
    assert_eq!(data(&answer)["value"], json!("warm"), "{answer:?}");
    let asked = person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "what does not fit is asked again");
    assert_eq!(asked[0]["message"], json!("Which tone?"));
    assert_eq!(
        asked[0]["requestedSchema"]["properties"]["value"]["enum"],
        json!(["plain", "warm"])
    );
    assert!(asked[1]["message"].as_str().unwrap().contains("`plain`, `warm`"), "{asked:?}");
    assert!(
        !person.progress.lock().unwrap().is_empty(),
        "it is notified that a person is waited for"
    );

    // Another person may answer before the person at the client.
    works(&setup, "s", 2).await;
    let slow = Person::new(AskMode::Direct, Vec::new());
    let mut call = question("s");
    call.timeout = None;
    call.client = Some(slow.clone());
    let strip = Arc::clone(&setup.strip);
    let waits = tokio::spawn(async move { strip.call(call).await });
    let id = loop {
        let runs = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows;
        let waiting =
            runs.iter().find(|run| run.name.as_deref() == Some("s") && run.state == "waiting");
        if let Some(run) = waiting {
            break run.id.clone();
        }
        tokio::task::yield_now().await;
    };
    let boss = principal("acme", "boss");
    setup.strip.runs().answer(&boss, Some("acme"), (&id, "tone"), &json!("plain")).await.unwrap();
    assert_eq!(data(&waits.await.unwrap())["value"], json!("plain"));
}

#[tokio::test]
async fn a_client_of_the_newest_era_comes_back_with_the_answer() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let person = Person::new(AskMode::Rounds, Vec::new());
    let round = async |said: Option<Value>| {
        let mut call = question("r");
        call.client = Some(person.clone());
        call.resume = said.map(|said| {
            let responses = Map::from_iter([("answer".to_owned(), said)]);
            Arc::new(Resume { responses, state: None })
        });
        setup.strip.call(call).await
    };
    let asked = round(None).await;
    assert_eq!(asked.reply, Reply::NeedsInput);
    let request = &asked.native.as_ref().unwrap()["inputRequests"]["answer"];
    assert_eq!(request["method"], json!("elicitation/create"));
    let unfit = round(Some(json!({"action": "accept", "content": {}}))).await;
    assert_eq!(unfit.reply, Reply::NeedsInput, "{unfit:?}");
    let dismissed = round(Some(json!({"action": "cancel"}))).await;
    assert_eq!(data(&dismissed)["status"], json!("waiting"));
    let answered = round(Some(json!({"action": "accept", "content": {"value": "plain"}}))).await;
    assert_eq!(data(&answered)["value"], json!("plain"), "{answered:?}");
    assert_eq!(answered.reply, Reply::Done);

    works(&setup, "s", 2).await;
    let mut call = question("s");
    call.client = Some(Person::new(AskMode::Direct, vec![json!({"action": "decline"})]));
    assert_eq!(data(&setup.strip.call(call).await)["status"], json!("declined"));
}

/// As when a caller leaves while its question is written, or a person answers at that moment.
#[tokio::test]
async fn a_question_that_only_the_database_has_is_answered() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let first = setup.strip.call(question("r")).await;
    let id = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows.remove(0).id;
    let row = setup.database.run(None, &id).await.unwrap().unwrap();
    let mut asked = setup.database.run_questions(&id).await.unwrap().remove(0);
    assert_eq!(data(&first)["question_id"], json!(asked.id));
    asked.id = "another".to_owned();
    asked.slot_id = "other".to_owned();
    setup.database.ask_question(&row, &asked).await.unwrap();
    let boss = principal("acme", "boss");
    let answer = json!("plain");
    let settled =
        setup.strip.runs().answer(&boss, Some("acme"), (&id, "other"), &answer).await.unwrap();
    let settled = json!(settled);
    assert_eq!((&settled["question_id"], &settled["value"]), (&json!("another"), &answer));
}

#[tokio::test]
async fn a_question_with_a_key_can_be_waited_for_again() {
    let setup = setup(tools()).await.with_control();
    works(&setup, "r", 2).await;
    let ask = async || {
        let mut call = question("r");
        call.idempotency_key = Some("ask-1".to_owned());
        setup.strip.call(call).await
    };
    for _ in 0..2 {
        assert_eq!(data(&ask().await)["status"], json!("waiting"));
    }
    let id = setup.strip.runs().list(&RunFilter::default()).await.unwrap().rows.remove(0).id;
    let boss = principal("acme", "boss");
    let answer = json!("plain");
    setup.strip.runs().answer(&boss, Some("acme"), (&id, "tone"), &answer).await.unwrap();
    for _ in 0..2 {
        assert_eq!(data(&ask().await)["value"], answer);
    }
}
